//! The history: applied sets on the left, the chosen one drawn on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint;
use crate::bundle::ledger::record::Record;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::history::History;
use crate::tui::state::{State, layout};

pub fn draw(state: &State, history: &History, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = layout::overlay_area(state);
    let title = Line::styled(" What was applied ", theme.title);
    let inner = paint::sheet(buffer, area, &title, &Line::default(), theme);
    let keys = Rect { y: (inner.y + inner.height).saturating_sub(1), height: inner.height.min(1), ..inner };
    let hint = |action: Action, what: &str| {
        let key = state.fixed.keymap.hint(Layer::History, action).unwrap_or_default();
        vec![Span::styled(format!(" {key}"), theme.key), Span::styled(format!(" {what}"), theme.dim)]
    };
    let parts = vec![
        hint(Action::Undo, "take back"),
        hint(Action::Redo, "bring about again"),
        hint(Action::Down, "next set"),
        hint(Action::PageDown, "scroll"),
        hint(Action::Close, "close"),
    ];
    paint::line(buffer, keys, 0, &paint::fitting(parts, "  ", usize::from(keys.width), theme.dim));
    let (list, set) = layout::history(state);
    let said = match &history.records {
        None => "Reading the history…".to_owned(),
        Some(Err(why)) => Safe::line(why).into_string(),
        Some(Ok(records)) if records.is_empty() => "Nothing has been applied to this bundle yet.".to_owned(),
        Some(Ok(_)) => String::new(),
    };
    if !said.is_empty() {
        for (row, range) in
            width::wrap(&said, usize::from(inner.width.saturating_sub(2))).into_iter().enumerate()
        {
            let part = format!(" {}", said.get(range).unwrap_or_default());
            paint::line(buffer, inner, row, &Line::styled(part, theme.text));
        }
        return;
    }
    let height = usize::from(list.height);
    for (index, record) in history.list().iter().enumerate().skip(history.list_top).take(height) {
        let row = index - history.list_top;
        let line = record_line(state, history, record);
        paint::line(buffer, list, row, &paint::cut(&line, usize::from(list.width)));
        if index == history.selected {
            paint::row_style(buffer, list, row, theme.selected);
        }
    }
    let Some(record) = history.record() else { return };
    if set.x > list.x {
        for row in 0..height {
            let rule = Rect { x: set.x.saturating_sub(1), width: 1, ..list };
            paint::line(buffer, rule, row, &Line::styled("│", theme.border));
        }
    }
    let files = match record.steps.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let head = Line::from(vec![
        Span::styled(format!("── set {}, {files} ", record.id), theme.title),
        Span::styled(if history.is_taken_back(record) { "taken back " } else { "" }, theme.warning),
        Span::styled(Safe::line(&record.origin.message).into_string(), theme.text),
    ]);
    paint::line(buffer, set, 0, &paint::cut(&head, usize::from(set.width)));
    let text = Rect {
        x: set.x.saturating_add(1),
        y: set.y + 1,
        width: set.width.saturating_sub(1),
        height: set.height.saturating_sub(1),
    };
    match &history.drawn {
        Some((id, _, lines)) if *id == record.id => {
            let rows = usize::from(text.height);
            for (row, line) in lines.iter().skip(history.top).take(rows).enumerate() {
                paint::line(buffer, text, row, line);
            }
            if let Some(more) = lines.len().checked_sub(history.top + rows).filter(|more| *more > 0) {
                let label = format!(" ↓ {more} more ");
                let columns = u16::try_from(width::width(&label)).unwrap_or(0).min(text.width);
                let at = Rect {
                    x: text.x + text.width - columns,
                    y: (text.y + text.height).saturating_sub(1),
                    width: columns,
                    height: 1,
                };
                paint::line(buffer, at, 0, &Line::styled(label, theme.selected));
            }
        }
        _ => paint::line(buffer, text, 0, &Line::styled("drawing the set…", theme.dim)),
    }
}

/// `12 2026-01-02 15:04 manager`; `↶` marks a set that was taken back.
fn record_line(state: &State, history: &History, record: &Record) -> Line<'static> {
    let theme = &state.fixed.theme;
    let time: String = record.time.replace('T', " ").chars().take(16).collect();
    let mut who = record.origin.who.clone();
    if let Some(id) = record.origin.undoes.or(record.origin.redoes) {
        who.push_str(&format!(" of {id}"));
    }
    let back = if history.is_taken_back(record) { "↶ " } else { "  " };
    Line::from(vec![
        Span::styled(format!("{:>4} ", record.id), theme.title),
        Span::styled(back, theme.warning),
        Span::styled(format!("{} ", Safe::line(&time)), theme.dim),
        Span::styled(Safe::line(&who).into_string(), theme.text),
    ])
}
