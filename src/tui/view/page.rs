//! The page pane: what was drawn of the page, from its first visible row.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::paint;
use crate::lint::Counts;
use crate::lint::Level;
use crate::text::{Safe, Span as Interval, width};
use crate::tui::markdown::{Place, RenderedLink};
use crate::tui::state::layout::page_text;
use crate::tui::state::page::Document;
use crate::tui::state::{Pane, State};
use crate::tui::theme::Theme;

pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let focused = state.focus == Pane::Page;
    let inner =
        paint::frame(buffer, area, &title(state, theme), &findings_title(state, theme), focused, theme);
    let text = page_text(area).intersection(inner);
    if let Some(why) = &state.page.missing {
        for (row, range) in width::wrap(why, usize::from(text.width)).into_iter().enumerate() {
            let part = why.get(range).unwrap_or_default().to_owned();
            paint::line(buffer, text, row, &Line::styled(part, theme.warning));
        }
        return;
    }
    let Some(rendered) = &state.page.rendered else {
        let why = match (&state.unreadable, &state.wiki) {
            (Some(_), _) => "The bundle cannot be read.",
            (None, None) => "Reading the bundle…",
            (None, Some(_)) => "",
        };
        paint::line(buffer, text, 0, &Line::styled(why, theme.dim));
        return;
    };
    let top = state.page.top;
    let height = usize::from(text.height);
    for (row, line) in rendered.lines.iter().skip(top).take(height).enumerate() {
        paint::line(buffer, text, row, line);
    }
    let quoted = quoted(state, top..top + height).map(|(row, columns)| (row, columns, theme.passage));
    for (row, columns, style) in quoted.chain(marks(state, theme, top..top + height)) {
        if let Some(row) = row.checked_sub(top) {
            paint::restyle(buffer, text, row, columns, style);
        }
    }
    if focused && let Some(link) = state.page.link.and_then(|l| rendered.links.get(l)) {
        for (row, columns) in &link.spans {
            if let Some(row) = row.checked_sub(top) {
                paint::restyle(buffer, text, row, columns.clone(), theme.link_focused);
            }
        }
    }
    paint::scrollbar(buffer, area, top, rendered.lines.len(), theme, focused);
    if rendered.lines.len() > height && area.height > 2 && area.width > 16 {
        let last = rendered.lines.len() - height;
        let label = if top == 0 {
            " top ".to_owned()
        } else if top >= last {
            " end ".to_owned()
        } else {
            format!(" {} % ", top * 100 / last)
        };
        let columns = u16::try_from(label.len()).unwrap_or(0);
        let at = Rect {
            x: (area.x + area.width).saturating_sub(columns + 2),
            y: area.y + area.height - 1,
            width: columns,
            height: 1,
        };
        paint::line(buffer, at, 0, &Line::styled(label, theme.dim));
    }
}

/// Rows and columns of the words that an answer quotes of the open page, within `rows`.
fn quoted(state: &State, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<u16>)> + '_ {
    let page = match (&state.page.document, &state.page.rendered) {
        (Some(Document::Page(page)), Some(rendered))
            if state.page.rendered_path.as_ref() == Some(&page.path) =>
        {
            Some((page, rendered))
        }
        _ => None,
    };
    let passage = state.page.passage.as_ref();
    let here = page.zip(passage).filter(|((page, _), (path, _))| page.path == *path);
    here.into_iter().flat_map(move |((page, rendered), (_, passage))| {
        let rows = rows.clone();
        let seen = rendered.places.iter().filter(move |place| rows.contains(&place.row));
        seen.filter_map(|place| Some((place.row, covered(&page.text, place, *passage)?)))
    })
}

/// Rows and columns that a finding of the open page is about, and their look: links as a whole, body text where no link is
/// all of it. The worst come last, so that they are painted over the others. Only `rows` are looked at, for a page may have
/// tens of thousands of findings.
fn marks(state: &State, theme: &Theme, rows: Range<usize>) -> Vec<(usize, Range<u16>, Style)> {
    let (Some(Document::Page(page)), Some(rendered)) = (&state.page.document, &state.page.rendered) else {
        return Vec::new();
    };
    if state.page.rendered_path.as_ref() != Some(&page.path) {
        return Vec::new();
    }
    let links: Vec<(&RenderedLink, Interval)> = rendered
        .links
        .iter()
        .filter(|link| link.spans.iter().any(|(row, _)| rows.contains(row)))
        .filter_map(|link| Some((link, page.links.get(link.link)?.span)))
        .collect();
    let first = rendered.places.partition_point(|place| place.row < rows.start);
    let places: Vec<&Place> =
        rendered.places.iter().skip(first).take_while(|place| place.row < rows.end).collect();
    let seen = || links.iter().map(|(_, span)| *span).chain(places.iter().map(|place| place.source));
    let start = seen().map(|span| span.start).min().unwrap_or(0);
    let end = seen().map(|span| span.end).max().unwrap_or(0);
    let mut faults: Vec<(Level, Interval)> = state
        .findings_of(&page.path)
        .filter_map(|finding| Some((finding.level, finding.span?)))
        .filter(|(_, span)| span.start < span.end && span.start < end && start < span.end)
        .collect();
    faults.sort_unstable_by_key(|(level, span)| (std::cmp::Reverse(*level), span.start));
    let mut marks = Vec::new();
    let look = |level| theme.level(level).add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
    let around = |link: &Interval, span: &Interval| link.start <= span.start && span.end <= link.end;
    for (level, span) in &faults {
        if span.start < page.body.start || links.iter().any(|(_, link)| around(link, span)) {
            continue;
        }
        let covered = places.iter().filter_map(|place| Some((place.row, covered(&page.text, place, *span)?)));
        marks.extend(covered.map(|(row, columns)| (row, columns, look(*level))));
    }
    for (link, place) in &links {
        if let Some((level, _)) = faults.iter().rfind(|(_, span)| around(place, span)) {
            marks.extend(link.spans.iter().map(|(row, columns)| (*row, columns.clone(), look(*level))));
        }
    }
    marks
}

/// The columns of a piece of text that a span covers: all of them where it is not drawn as it is written.
fn covered(text: &str, place: &Place, span: Interval) -> Option<Range<u16>> {
    let (start, end) = (span.start.max(place.source.start), span.end.min(place.source.end));
    if start >= end {
        return None;
    }
    let columns = |from, to| Some(width::width(text.get(from..to)?));
    let all = usize::from(place.columns.end - place.columns.start);
    let part = columns(place.source.start, start).zip(columns(start, end));
    let Some((before, inside)) = part.filter(|_| columns(place.source.start, place.source.end) == Some(all))
    else {
        return Some(place.columns.clone());
    };
    let first = place.columns.start + u16::try_from(before).unwrap_or(u16::MAX);
    Some(first..first + u16::try_from(inside).unwrap_or(u16::MAX))
}

fn title(state: &State, theme: &Theme) -> Line<'static> {
    let Some(path) = state.page.path.as_ref() else {
        return Line::styled(" page ", theme.title);
    };
    let mut spans = vec![Span::styled(format!(" {} ", Safe::line(path.relative())), theme.title)];
    if let Some(Document::Page(page)) = &state.page.document
        && page.path == *path
        && let Some(kind) = page.kind()
    {
        spans.push(Span::styled(format!("{} ", Safe::line(kind)), theme.dim));
    }
    if state.staged.file(path).is_some() {
        spans.push(Span::styled("staged ", theme.staged));
    }
    Line::from(spans)
}

/// The findings of the open page: counts, and the rules when they are few.
fn findings_title(state: &State, theme: &Theme) -> Line<'static> {
    let Some(path) = state.page.path.as_ref() else { return Line::default() };
    let counts = Counts::of(state.findings_of(path));
    if counts.total() == 0 {
        return Line::default();
    }
    let mut codes: Vec<(Level, &str)> = state.findings_of(path).map(|f| (f.level, f.rule.code)).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut spans = vec![Span::raw(" ")];
    for (index, (level, code)) in codes.iter().take(4).enumerate() {
        let count = state.findings_of(path).filter(|f| f.rule.code == *code && f.level == *level).count();
        let gap = if index == 0 { "" } else { " " };
        let text = if count > 1 { format!("{gap}{code}×{count}") } else { format!("{gap}{code}") };
        spans.push(Span::styled(text, theme.level(*level)));
    }
    if codes.len() > 4 {
        spans.push(Span::styled(format!(" +{}", codes.len() - 4), theme.dim));
    }
    spans.push(Span::raw(" "));
    Line::from(spans)
}
