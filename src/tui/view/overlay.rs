//! The smaller overlays: help, findings, what was written, questions, the reason of a rejection.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::{help, paint};
use crate::lint::{Finding, Level};
use crate::okf::BundlePath;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::composer;
use crate::tui::state::layout::{self, overlay_box};
use crate::tui::state::picker::Picker;
use crate::tui::state::problems::{Problems, Row};
use crate::tui::state::review::{Part, Summary};
use crate::tui::state::{Body, Overlay, Question, Sheet, State};
use crate::tui::theme::Theme;

/// The box of this overlay, also when another one lies on it.
pub fn area(state: &State, this: &dyn Fn(&Overlay) -> bool) -> Rect {
    let on_top = state.overlays.last().is_some_and(this);
    if on_top { overlay_box(state).unwrap_or_default() } else { Rect::default() }
}

pub fn help(state: &State, top: usize, of: Layer, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Help { .. }));
    let title = Line::styled(" Keys ", theme.title);
    let inner = paint::sheet(buffer, area, &title, &Line::styled(" Esc closes ", theme.dim), theme);
    let text = padded(inner);
    let rows = help::rows(&state.fixed, of, usize::from(text.width));
    for (row, line) in rows.iter().skip(top).take(usize::from(text.height)).enumerate() {
        paint::line(buffer, text, row, line);
    }
    paint::scrollbar(buffer, area, top, rows.len(), theme, true);
}

/// One column of air on both sides.
pub fn padded(area: Rect) -> Rect {
    Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(2), ..area }
}

pub fn problems(state: &State, problems: &Problems, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Problems(_)));
    let Problems { rows, selected, .. } = problems;
    let counts = state.counts.get(&BundlePath::root()).copied().unwrap_or_default();
    let title = Line::from(vec![
        Span::styled(" Findings ", theme.title),
        Span::styled(format!("{}E ", counts.errors), theme.error),
        Span::styled(format!("{}W ", counts.warnings), theme.warning),
        Span::styled(format!("{}H ", counts.hints), theme.hint),
    ]);
    let right = Line::styled(format!(" {}/{} ", (selected + 1).min(rows.len()), rows.len()), theme.dim);
    let inner = paint::sheet(buffer, area, &title, &right, theme);
    if rows.is_empty() {
        let text = if state.report.is_some() {
            "No findings: the bundle is clean."
        } else {
            "Reading the bundle…"
        };
        paint::line(buffer, padded(inner), 0, &Line::styled(text, theme.success));
        return;
    }
    let top = state.problems_top();
    for (index, row) in rows.iter().enumerate().skip(top).take(usize::from(inner.height)) {
        let Some(finding) = state.problem(*row) else { continue };
        let line = finding_line(finding, *row, usize::from(inner.width), theme);
        paint::line(buffer, inner, index - top, &line);
        if index == *selected {
            paint::row_style(buffer, inner, index - top, theme.selected);
        }
    }
    paint::scrollbar(buffer, area, top, rows.len(), theme, true);
}

fn finding_line(finding: &Finding, row: Row, columns: usize, theme: &Theme) -> Line<'static> {
    let letter = match finding.level {
        Level::Error => "E",
        Level::Warning => "W",
        Level::Hint => "H",
    };
    let room = (columns / 2).min(44);
    // The end of a place matters most: the page and its line.
    let path = || match finding.path.is_root() {
        true => "the bundle".to_owned(),
        false => format!("{}:{}", Safe::line(finding.path.relative()), finding.line),
    };
    let place = match row {
        Row::One(_) => paint::shorten(&path(), room),
        Row::Member(_) => format!("  {}", paint::shorten(&path(), room.saturating_sub(2))),
        Row::Group { count, open, .. } => {
            width::truncate(&format!("{} {count} places", if open { "▾" } else { "▸" }), room)
        }
    };
    let pad = room.saturating_sub(width::width(&place));
    let line = Line::from(vec![
        Span::styled(format!(" {letter} "), theme.level(finding.level)),
        Span::styled(format!("{} ", finding.rule.code), theme.level(finding.level)),
        Span::styled(place, if matches!(row, Row::Group { .. }) { theme.strong } else { theme.text }),
        Span::raw(" ".repeat(pad + 1)),
        Span::styled(Safe::line(&finding.message).into_string(), theme.text),
    ]);
    paint::cut(&line, columns)
}

pub fn summary_rows(summary: &Summary, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let style = |part| match part {
        Part::Landed => theme.success,
        Part::Failed => theme.error,
        Part::Rejected => theme.warning,
        Part::Notes => theme.dim,
        Part::Pending => theme.staged,
        Part::Nothing => theme.text,
    };
    let line = |(part, text): (Part, String)| match text.char_indices().nth(MARK) {
        Some((at, _)) if text.starts_with("  ") => {
            let (mark, text) = text.split_at_checked(at).unwrap_or((&text, ""));
            Line::from(vec![
                Span::styled(mark.to_owned(), style(part)),
                Span::styled(text.to_owned(), theme.text),
            ])
        }
        _ => Line::styled(text, style(part)),
    };
    summary.rows(usize::from(columns)).into_iter().map(line).collect()
}

/// Characters of the mark before an item.
const MARK: usize = 4;

pub fn summary(state: &State, summary: &Summary, top: usize, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Summary { .. }));
    let title = if summary.landed.is_empty() { " Nothing was written " } else { " Written " };
    let title = Line::styled(title, theme.title);
    let key = |action| state.fixed.keymap.hint(Layer::Summary, action).unwrap_or_default();
    let right = match summary.undo {
        true => format!(" {} takes it back, Enter closes ", key(Action::Undo)),
        false => " Enter closes ".to_owned(),
    };
    let inner = paint::sheet(buffer, area, &title, &Line::styled(right, theme.dim), theme);
    let text = padded(inner);
    let rows = summary_rows(summary, text.width, theme);
    for (row, line) in rows.iter().skip(top).take(usize::from(text.height)).enumerate() {
        paint::line(buffer, text, row, line);
    }
    paint::scrollbar(buffer, area, top, rows.len(), theme, true);
}

/// Rows of a sheet in so many columns.
pub fn sheet_rows<'a>(sheet: &'a Sheet, columns: u16, theme: &Theme) -> Cow<'a, [Line<'static>]> {
    match &sheet.body {
        Body::Page { drawn: Some((_, lines)), .. } => Cow::Borrowed(lines),
        Body::Page { drawn: None, .. } => Cow::Owned(vec![Line::styled("drawing the page…", theme.dim)]),
        Body::List(items) => {
            let mut rows = Vec::new();
            for (mark, text) in items {
                let style = match *mark {
                    "− " => theme.success,
                    "  " => theme.text,
                    _ => theme.warning,
                };
                let room = usize::from(columns).saturating_sub(width::width(mark));
                for (nth, range) in width::wrap(text, room).into_iter().enumerate() {
                    let part = text.get(range).unwrap_or_default().to_owned();
                    let mark = if nth == 0 { mark } else { "  " };
                    rows.push(Line::from(vec![
                        Span::styled(mark.to_owned(), style),
                        Span::styled(part, style),
                    ]));
                }
            }
            Cow::Owned(rows)
        }
    }
}

pub fn sheet(state: &State, sheet: &Sheet, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Sheet(_)));
    let title = Line::styled(format!(" {} ", sheet.title), theme.title);
    let text = padded(paint::sheet(buffer, area, &title, &Line::styled(" Esc closes ", theme.dim), theme));
    let rows = sheet_rows(sheet, text.width, theme);
    for (row, line) in rows.iter().skip(sheet.top).take(usize::from(text.height)).enumerate() {
        paint::line(buffer, text, row, line);
    }
    paint::scrollbar(buffer, area, sheet.top, rows.len(), theme, true);
}

pub fn confirm(state: &State, question: &Question, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Confirm(_)));
    let inner = paint::sheet(buffer, area, &Line::styled(" Sure? ", theme.title), &Line::default(), theme);
    let text = padded(inner);
    for (row, line) in question.rows(usize::from(text.width)).into_iter().enumerate() {
        paint::line(buffer, text, row + 1, &Line::styled(line.to_owned(), theme.text));
    }
}

/// Draws the field and says where the caret is.
pub fn reason(state: &State, line: &composer::Line, whole: bool, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Reason { .. }));
    let file = state.review.as_ref().and_then(|r| r.file())?;
    let path = Safe::line(file.weighed.path.relative());
    let what = match file.marks.len() {
        1 => format!(" Reject {path} "),
        _ if whole => format!(" Reject all of {path} "),
        count => format!(" Reject change {} of {count} in {path} ", file.hunk + 1),
    };
    let title = Line::styled(what, theme.title);
    let right = Line::styled(" Enter rejects, Esc goes back ", theme.dim);
    let within = paint::sheet(buffer, area, &title, &right, theme);
    let text = padded(within);
    paint::line(buffer, text, 0, &Line::styled("Why? The manager reads this (may stay empty):", theme.dim));
    let field = Rect { y: text.y + 2, height: 1, ..text };
    let room = usize::from(field.width).saturating_sub(3);
    // The end of a long reason is where the caret is.
    let mut shown = Safe::line(&line.text).into_string();
    while width::width(&shown) > room {
        shown = shown.chars().skip(1).collect();
    }
    let column = u16::try_from(2 + width::width(&shown)).unwrap_or(0);
    paint::line(
        buffer,
        field,
        0,
        &Line::from(vec![Span::styled("› ", theme.you), Span::styled(shown, theme.text)]),
    );
    Some(Position { x: field.x.saturating_add(column), y: field.y })
}

/// A list to choose from under the field that narrows it; says where the caret is.
pub fn picker(state: &State, picker: &Picker, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.fixed.theme;
    let area = area(state, &|o| matches!(o, Overlay::Picker(_)));
    let title = Line::styled(format!(" {} ", picker.title()), theme.title);
    let right = Line::styled(" Enter chooses, Esc closes ", theme.dim);
    let text = padded(paint::sheet(buffer, area, &title, &right, theme));
    let columns = usize::from(text.width);
    let filter = Safe::line(&picker.filter.text).into_string();
    let count = format!("{}/{}", picker.shown.len(), picker.list().len());
    let pad = columns.saturating_sub(2 + width::width(&filter) + width::width(&count));
    let caret = u16::try_from(2 + width::width(&filter)).unwrap_or(0);
    let field = Line::from(vec![
        Span::styled("› ", theme.you),
        Span::styled(filter, theme.text),
        Span::styled(format!("{}{count}", " ".repeat(pad)), theme.dim),
    ]);
    paint::line(buffer, text, 0, &paint::cut(&field, columns));
    let list = padded(layout::picker_list(area));
    let message = match &picker.choices {
        None => Some(("looking…".to_owned(), theme.dim)),
        Some(Err(why)) => Some((why.clone(), theme.error)),
        Some(Ok(all)) if all.is_empty() => Some((picker.nothing().to_owned(), theme.dim)),
        Some(Ok(_)) if picker.shown.is_empty() => Some(("Nothing fits.".to_owned(), theme.dim)),
        Some(Ok(_)) => None,
    };
    if let Some((message, style)) = message {
        let message = Safe::line(&message).into_string();
        for (row, range) in width::wrap(&message, columns).into_iter().enumerate() {
            let part = message.get(range).unwrap_or_default().to_owned();
            paint::line(buffer, list, row, &Line::styled(part, style));
        }
    }
    let top = layout::picker_top(picker, list);
    for (row, (at, choice)) in
        picker.shown.iter().enumerate().skip(top).take(usize::from(list.height)).enumerate()
    {
        let Some(choice) = picker.list().get(*choice) else { continue };
        let note = width::truncate(Safe::line(&choice.note).as_str(), columns / 2);
        let room = columns.saturating_sub(width::width(&note) + 2);
        let labels = picker.list().iter().map(|choice| choice.label.as_str());
        let label = paint::shorten_among(Safe::line(&choice.label).as_str(), labels, room);
        let pad = columns.saturating_sub(width::width(&label) + width::width(&note));
        let line = Line::from(vec![
            Span::styled(label, theme.text),
            Span::raw(" ".repeat(pad)),
            Span::styled(note, theme.dim),
        ]);
        paint::line(buffer, list, row, &line);
        if at == picker.selected {
            paint::row_style(buffer, list, row, theme.selected);
        }
    }
    Some(Position { x: text.x.saturating_add(caret), y: text.y })
}
