//! The review overlay: what would change, hunk by hunk, with the verdict of the proposed bundle above; and the field in
//! which a text is edited.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::paint;
use crate::bundle::ChangeKind;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::State;
use crate::tui::state::edit::Editing;
use crate::tui::state::layout::{
    self, Tone, diff_text, review as review_regions, review_notes, verdict_rows,
};
use crate::tui::state::review::{Mark, Review, ReviewFile};
use crate::tui::theme::Theme;

pub fn draw(state: &State, buffer: &mut Buffer) {
    let Some(review) = &state.review else { return };
    let theme = &state.fixed.theme;
    let regions = review_regions(state);
    let (approved, rejected, open) = review.tally();
    let files = plural(review.files.len(), "file");
    let changes = plural(approved + rejected + open, "change");
    let wide = regions.outer.width >= 110;
    let (files, tally) = if wide {
        (format!("{files}, {changes}"), format!("{approved} approved, {rejected} rejected, {open} open "))
    } else {
        (files, format!("{approved}✓ {rejected}✗ {open}· "))
    };
    let title = Line::from(vec![
        Span::styled(format!(" Review: {files} "), theme.title),
        Span::styled(tally, theme.dim),
    ]);
    let right = if review.applying {
        Line::styled(" writing… ", theme.accent)
    } else if regions.outer.width >= 60 {
        Line::styled(" nothing is written yet ", theme.dim)
    } else {
        Line::default()
    };
    paint::sheet(buffer, regions.outer, &title, &right, theme);
    verdict(state, review, regions.verdict, buffer);
    list(state, review, regions.files, buffer);
    notes(state, regions.warning, buffer);
    diff(review, regions.diff, theme, buffer);
    if regions.diff.x > regions.files.x {
        let rule = Rect { x: regions.diff.x.saturating_sub(1), width: 1, ..regions.files };
        for row in 0..usize::from(rule.height) {
            paint::line(buffer, rule, row, &Line::styled("│", theme.border));
        }
    }
    keys(state, review, regions.keys, buffer);
}

/// What is said of the file at hand; what finds no room is said to be missing, and where it stands.
fn notes(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let (columns, height) = (usize::from(area.width), usize::from(area.height));
    let mut rows = Vec::new();
    for (tone, text) in review_notes(state) {
        for range in width::wrap(&text, columns) {
            let part = text.get(range).unwrap_or_default().to_owned();
            rows.push(Line::styled(part, tone_style(tone, theme)));
        }
    }
    let cut = rows.len() > height;
    for (row, line) in rows.iter().take(height).enumerate() {
        if cut && row + 1 == height {
            let key = state.fixed.keymap.hint(Layer::Review, Action::Verdict).unwrap_or_default();
            let more = format!("… ({key})");
            let mut line = paint::cut(line, columns.saturating_sub(width::width(&more)));
            line.push_span(Span::styled(more, theme.dim));
            paint::line(buffer, area, row, &line);
        } else {
            paint::line(buffer, area, row, line);
        }
    }
}

fn tone_style(tone: Tone, theme: &Theme) -> Style {
    match tone {
        Tone::Plain => theme.text,
        Tone::Good => theme.success,
        Tone::Bad => theme.warning,
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn verdict(state: &State, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let columns = usize::from(area.width);
    match &review.verdict {
        None => paint::line(buffer, area, 0, &Line::styled(" judging the proposed bundle…", theme.dim)),
        Some(verdict) => {
            let (counts, new, gone) = (&verdict.counts, verdict.appeared.len(), verdict.vanished.len());
            let what = format!(" {} ", review.premise());
            let tinted = |count: usize, style| if count > 0 { style } else { theme.dim };
            let mut spans = vec![
                Span::styled(what, theme.text),
                Span::styled(
                    plural(counts.errors, "error"),
                    if counts.errors > 0 { theme.error } else { theme.success },
                ),
                Span::styled(
                    format!(", {}", plural(counts.warnings, "warning")),
                    if counts.warnings > 0 { theme.warning } else { theme.text },
                ),
                Span::styled(format!(", {}   ", plural(counts.hints, "hint")), theme.text),
            ];
            if new + gone == 0 {
                spans.push(Span::styled("no finding changes", theme.dim));
            } else {
                spans.push(Span::styled(format!("+{new} new"), tinted(new, theme.warning)));
                spans.push(Span::raw("  "));
                spans.push(Span::styled(format!("−{gone} healed"), tinted(gone, theme.success)));
            }
            if review.judging {
                spans.push(Span::styled("   judging…", theme.dim));
            }
            let mut line = Line::from(spans);
            if line.width() > columns {
                // The same in few letters, as the status line has it.
                let short = [
                    Span::styled(format!(" {}E", counts.errors), tinted(counts.errors, theme.error)),
                    Span::styled(format!(" {}W", counts.warnings), tinted(counts.warnings, theme.warning)),
                    Span::styled(format!(" {}H", counts.hints), theme.text),
                    Span::styled(format!("  +{new} new"), tinted(new, theme.warning)),
                    Span::styled(format!(" −{gone} healed"), tinted(gone, theme.success)),
                ];
                line = Line::from_iter(short);
            }
            paint::line(buffer, area, 0, &paint::cut(&line, columns));
        }
    }
    let rows = verdict_rows(review);
    let room = usize::from(area.height).saturating_sub(1);
    let all = state.fixed.keymap.hint(Layer::Review, Action::Verdict).unwrap_or_default();
    for (index, (tone, text)) in rows.iter().take(room).enumerate() {
        let left = rows.len().saturating_sub(room);
        let more = if index + 1 == room && left > 0 {
            format!("  (+{left} more: {all})")
        } else if width::width(text) + 3 > columns {
            format!("  ({all})")
        } else {
            String::new()
        };
        let line = Line::styled(format!("   {text}"), tone_style(*tone, theme));
        let mut line = paint::cut(&line, columns.saturating_sub(width::width(&more)));
        line.push_span(Span::styled(more, theme.dim));
        paint::line(buffer, area, index + 1, &line);
    }
}

fn list(state: &State, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let height = usize::from(area.height);
    for (index, file) in review.files.iter().enumerate().skip(review.list_top).take(height) {
        let row = index - review.list_top;
        paint::line(buffer, area, row, &file_line(state, review, file, usize::from(area.width)));
        if index == review.selected {
            paint::row_style(buffer, area, row, theme.selected);
        }
    }
    // What does not fit is counted.
    let below = review.files.len().saturating_sub(review.list_top + height);
    let above = review.list_top;
    let text = match (above, below) {
        (0, 0) => return,
        (0, below) => format!(" ↓ {below} "),
        (above, 0) => format!(" ↑ {above} "),
        (above, below) => format!(" ↑ {above} ↓ {below} "),
    };
    corner(buffer, area, &text, theme);
}

/// A label at the lower right corner.
fn corner(buffer: &mut Buffer, area: Rect, text: &str, theme: &Theme) {
    let columns = u16::try_from(width::width(text)).unwrap_or(0).min(area.width);
    let Some(y) = (area.y + area.height).checked_sub(1) else { return };
    let at = Rect { x: area.x + area.width - columns, y, width: columns, height: 1 };
    paint::line(buffer, at, 0, &Line::styled(text.to_owned(), theme.selected));
}

fn sign(mark: &Mark, theme: &Theme) -> (&'static str, Style) {
    match mark {
        Mark::Open => ("·", theme.dim),
        Mark::Approved => ("✓", theme.success),
        Mark::Rejected { .. } => ("✗", theme.error),
        Mark::Edited { .. } => ("✎", theme.accent),
        Mark::PutOff => ("…", theme.dim),
    }
}

/// Sign of a file: that of all its hunks, or that it is decided in part.
fn file_sign(file: &ReviewFile, theme: &Theme) -> (&'static str, Style) {
    let lands = |mark: &Mark| matches!(mark, Mark::Approved | Mark::Edited { .. });
    let kind = std::mem::discriminant::<Mark>;
    match file.marks.first() {
        Some(first) if file.marks.iter().all(|mark| kind(mark) == kind(first)) => sign(first, theme),
        Some(_) if file.marks.iter().all(lands) => sign(&Mark::Approved, theme),
        _ => ("◐", theme.accent),
    }
}

fn file_line(state: &State, review: &Review, file: &ReviewFile, columns: usize) -> Line<'static> {
    let theme = &state.fixed.theme;
    let (decision, decision_style) = file_sign(file, theme);
    let (kind, kind_style) = match &file.kind {
        ChangeKind::Create => ("new ", theme.added),
        ChangeKind::Modify => ("mod ", theme.staged),
        ChangeKind::Delete => ("del ", theme.removed),
        ChangeKind::Rename { .. } => ("mov ", theme.staged),
    };
    let odd = review.is_odd(file, state.keeps_pages_in_wiki());
    let bound = if review.partners(file, None).is_empty() { "" } else { "⇄ " };
    let stale = if file.stale { " changed on disk" } else { "" };
    let decided = file.marks.iter().filter(|mark| !matches!(mark, Mark::Open | Mark::PutOff)).count();
    let hunks = match file.marks.len() {
        _ if file.weighed.binary => " binary".to_owned(),
        1 => String::new(),
        count => format!(" {decided}/{count}"),
    };
    let by_file = review.verdict.as_ref().and_then(|verdict| verdict.by_file.get(&file.weighed.path));
    let (new, gone) = by_file.copied().unwrap_or_default();
    let part = |sign: char, count: usize| if count == 0 { String::new() } else { format!("{sign}{count}") };
    let lint = if new + gone == 0 { String::new() } else { " lint".to_owned() };
    let (new, gone) = (part('+', new), part('−', gone));
    let mark = if odd { "! " } else { "" };
    let tail: usize = [stale, &hunks, &lint, &new, &gone].into_iter().map(width::width).sum();
    let front = 1 + 2 + 4 + width::width(bound) + width::width(mark);
    let room = columns.saturating_sub(front + tail + 1);
    let name = paint::shorten(Safe::line(file.weighed.path.relative()).as_str(), room);
    let pad = room.saturating_sub(width::width(&name));
    Line::from(vec![
        Span::styled(format!(" {decision} "), decision_style),
        Span::styled(kind, kind_style),
        Span::styled(bound, theme.accent),
        Span::styled(mark, theme.warning),
        Span::styled(name, theme.text),
        Span::styled(stale, theme.warning),
        Span::raw(" ".repeat(pad)),
        Span::styled(hunks, theme.dim),
        Span::styled(lint, theme.dim),
        Span::styled(new, theme.warning),
        Span::styled(gone, theme.success),
    ])
}

fn diff(review: &Review, area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let Some(file) = review.file() else { return };
    let mut head = vec![Span::styled("── ", theme.title)];
    if file.marks.len() > 1 {
        head.push(Span::styled(format!("change {} of {} ", file.hunk + 1, file.marks.len()), theme.title));
    }
    let (mark, style) = match file.mark() {
        Mark::Open => ("undecided ", theme.dim),
        Mark::Approved => ("approved ", theme.success),
        Mark::Rejected { .. } => ("rejected ", theme.error),
        Mark::Edited { .. } => ("your text ", theme.accent),
        Mark::PutOff => ("put off ", theme.dim),
    };
    head.push(Span::styled(mark, style));
    match &file.kind {
        ChangeKind::Create => head.push(Span::styled("new file ", theme.added)),
        ChangeKind::Modify => {}
        ChangeKind::Delete => head.push(Span::styled("deleted ", theme.removed)),
        ChangeKind::Rename { from } => {
            head.push(Span::styled(format!("from {} ", Safe::line(from.relative())), theme.staged));
        }
    }
    if !file.weighed.binary {
        head.push(Span::styled(format!("+{} ", file.weighed.added), theme.added));
        head.push(Span::styled(format!("−{} ", file.weighed.removed), theme.removed));
    }
    let used: usize = head.iter().map(Span::width).sum();
    let room = usize::from(area.width).saturating_sub(used + 3);
    let name = paint::shorten(Safe::line(file.weighed.path.relative()).as_str(), room.max(8));
    head.insert(1, Span::styled(format!("{name} "), theme.title));
    let mut line = paint::cut(&Line::from(head), usize::from(area.width));
    let used = line.width();
    line.push_span(Span::styled("─".repeat(usize::from(area.width).saturating_sub(used)), theme.border));
    paint::line(buffer, area, 0, &line);
    let text = diff_text(area);
    let Some((_, diff)) = &file.diff else {
        paint::line(buffer, text, 0, &Line::styled(" drawing the change…", theme.dim));
        return;
    };
    let height = usize::from(text.height);
    let gutter = Rect { x: area.x, width: layout::GUTTER, y: text.y, height: text.height };
    let at_hand = file.rows();
    for (row, line) in diff.lines.iter().enumerate().skip(file.top).take(height) {
        let at = row - file.top;
        paint::line(buffer, text, at, line);
        let hunk = diff.hunks.partition_point(|rows| rows.end <= row);
        let rows = diff.hunks.get(hunk).filter(|rows| rows.contains(&row));
        if rows.is_none() && !diff.hunks.is_empty() {
            continue;
        }
        let bar = if at_hand.contains(&row) { "▌" } else { " " };
        let first = rows.map_or(row == 0, |rows| rows.start == row || at == 0);
        let (mark, style) = match (first, file.marks.get(hunk)) {
            (true, Some(mark)) => sign(mark, theme),
            _ => (" ", theme.dim),
        };
        let cells = Line::from(vec![Span::styled(bar, theme.accent), Span::styled(mark, style)]);
        paint::line(buffer, gutter, at, &cells);
    }
    if diff.lines.len() > file.top + height && height > 0 {
        let below = diff.lines.len() - file.top - height;
        corner(buffer, text, &format!(" ↓ {below} more "), theme);
    }
}

fn keys(state: &State, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let hint = |layer: Layer, action: Action, what: &str| {
        let key = state.fixed.keymap.hint(layer, action).unwrap_or_default();
        vec![Span::styled(key, theme.key), Span::styled(format!(" {what}"), theme.dim)]
    };
    let own = |action: Action, what: &str| hint(Layer::Review, action, what);
    let both = |one: Action, other: Action, what: &str| {
        let key = |action| state.fixed.keymap.hint(Layer::Review, action).unwrap_or_default();
        let keys = format!("{}/{}", key(one), key(other));
        vec![Span::styled(keys, theme.key), Span::styled(format!(" {what}"), theme.dim)]
    };
    let (approved, rejected, _) = review.tally();
    let apply = if approved + rejected > 0 {
        format!("write {approved}, reject {rejected}")
    } else {
        "write what is decided".to_owned()
    };
    let parts = vec![
        own(Action::Approve, "approve"),
        own(Action::Reject, "reject"),
        own(Action::EditHere, "edit"),
        own(Action::EditOutside, "editor"),
        own(Action::PutOff, "put off"),
        own(Action::Undecide, "undo"),
        own(Action::ApproveAll, "approve all"),
        own(Action::Apply, &apply),
        own(Action::Close, "later"),
        both(Action::HunkNext, Action::HunkPrevious, "change"),
        both(Action::FileNext, Action::FilePrevious, "file"),
        own(Action::ApproveFile, "approve file"),
        own(Action::RejectFile, "reject file"),
        own(Action::Preview, "page"),
        own(Action::Whole, if review.whole { "fold" } else { "all lines" }),
        own(Action::Split, if layout::split(state) { "unified" } else { "side by side" }),
        own(Action::Verdict, "findings"),
        both(Action::PageDown, Action::PageUp, "scroll"),
        both(Action::Down, Action::Up, "line"),
        both(Action::Top, Action::Bottom, "ends"),
        hint(Layer::Global, Action::Help, "all keys"),
    ];
    let at = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    for (row, line) in
        flow(parts, usize::from(at.width), usize::from(at.height), theme.dim).iter().enumerate()
    {
        paint::line(buffer, at, row, line);
    }
}

/// Parts in rows of so many columns; those that fit no row are dropped, but the last one.
fn flow(parts: Vec<Vec<Span<'static>>>, columns: usize, rows: usize, style: Style) -> Vec<Line<'static>> {
    const GAP: usize = 2;
    let size = |part: &[Span<'static>]| part.iter().map(Span::width).sum::<usize>();
    let mut parts = parts;
    let last = parts.pop().unwrap_or_default();
    let mut lines: Vec<Line<'static>> = vec![Line::default()];
    for part in parts {
        // The last row keeps room for the last part.
        let kept = if lines.len() == rows { size(&last) + GAP } else { 0 };
        let used = lines.last().map_or(0, Line::width);
        if used > 0 && used + GAP + size(&part) + kept > columns {
            if lines.len() == rows {
                break;
            }
            lines.push(Line::default());
        }
        append(&mut lines, part, GAP, style);
    }
    let used = lines.last().map_or(0, Line::width);
    if used + GAP + size(&last) > columns && lines.len() < rows {
        lines.push(Line::default());
    }
    append(&mut lines, last, GAP, style);
    lines
}

fn append(lines: &mut [Line<'static>], part: Vec<Span<'static>>, gap: usize, style: Style) {
    let Some(line) = lines.last_mut() else { return };
    if line.width() > 0 {
        line.push_span(Span::styled(" ".repeat(gap), style));
    }
    part.into_iter().for_each(|span| line.push_span(span));
}

/// Draws the field and says where the caret is.
pub fn edit(state: &State, edit: &Editing, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.fixed.theme;
    let path = Safe::line(edit.place.path.relative());
    let title = Line::styled(format!(" Your text for {path} "), theme.title);
    let keymap = &state.fixed.keymap;
    let key = |action| keymap.hint(Layer::Edit, action).unwrap_or_default();
    let right = format!(" {} takes it, {} goes back ", key(Action::Accept), key(Action::Close));
    let area = layout::overlay_area(state);
    paint::sheet(buffer, area, &title, &Line::styled(right, theme.dim), theme);
    let field = layout::edit_field(state).intersection(buffer.area);
    (&edit.field.area).render(field, buffer);
    let at = edit.field.area.screen_cursor();
    let (top, left) = edit.field.area.scroll_offset();
    let row = u16::try_from(at.row.checked_sub(usize::from(top))?).ok()?;
    let column = u16::try_from(at.col.checked_sub(usize::from(left))?).ok()?;
    let caret = Position { x: field.x.saturating_add(column), y: field.y.saturating_add(row) };
    field.contains(caret).then_some(caret)
}
