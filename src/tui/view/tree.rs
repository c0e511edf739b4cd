//! The tree pane.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint;
use crate::lint::Counts;
use crate::text::{Safe, width};
use crate::tui::state::tree::{Mark, Row, RowKind};
use crate::tui::state::{Pane, State};
use crate::tui::theme::Theme;

pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let focused = state.focus == Pane::Tree;
    let title = Line::from(Span::styled(format!(" {} ", state.fixed.name), theme.title));
    let inner = paint::frame(buffer, area, &title, &Line::default(), focused, theme);
    if let Some(why) = &state.unreadable {
        paint::line(buffer, inner, 0, &Line::styled(why.clone(), theme.error));
        return;
    }
    if state.wiki.is_none() {
        let dots = ".".repeat(1 + usize::try_from(state.ticks % 3).unwrap_or(0));
        paint::line(buffer, inner, 0, &Line::styled(format!("reading the bundle{dots}"), theme.dim));
        return;
    }
    if state.tree.rows.is_empty() {
        paint::line(buffer, inner, 0, &Line::styled("nothing here yet", theme.dim));
        return;
    }
    let open = state.page.path.as_ref();
    let height = usize::from(inner.height);
    for (index, row) in state.tree.rows.iter().enumerate().skip(state.tree.top).take(height) {
        let line = row_line(state, row, usize::from(inner.width), Some(&row.path) == open, theme);
        paint::line(buffer, inner, index - state.tree.top, &line);
        if index == state.tree.selected {
            let style = if focused { theme.selected } else { theme.selected_inactive };
            paint::row_style(buffer, inner, index - state.tree.top, style);
        }
    }
    paint::scrollbar(buffer, area, state.tree.top, state.tree.rows.len(), theme, focused);
}

fn row_line(state: &State, row: &Row, columns: usize, open: bool, theme: &Theme) -> Line<'static> {
    let glyph = match row.kind {
        RowKind::Folder { open: true } => "▾ ",
        RowKind::Folder { open: false } => "▸ ",
        RowKind::Unreadable => "! ",
        RowKind::Page | RowKind::File => "  ",
    };
    let style = match row.kind {
        RowKind::Folder { .. } => theme.folder,
        RowKind::Unreadable => theme.error,
        RowKind::File => theme.dim,
        RowKind::Page if open => theme.strong,
        RowKind::Page => theme.text,
    };
    let (mark, mark_style) = match row.mark {
        None => ("", theme.text),
        Some(Mark::Inside) => (" •", theme.staged),
        Some(Mark::Created) => (" +", theme.added),
        Some(Mark::Modified) => (" ~", theme.staged),
        Some(Mark::Renamed) => (" →", theme.staged),
        Some(Mark::Deleted) => (" −", theme.removed),
    };
    let counts = state.counts.get(&row.path).copied().unwrap_or_default();
    let findings = counts_spans(counts, theme);
    let right: usize = findings.iter().map(Span::width).sum::<usize>() + width::width(mark);
    let indent = (row.depth * 2).min(columns / 2);
    let room = columns.saturating_sub(indent + 2 + right + 1);
    let name = width::truncate(Safe::line(row.path.name()).as_str(), room);
    let pad = columns.saturating_sub(indent + 2 + width::width(&name) + right);
    let mut spans = vec![
        Span::styled(format!("{}{glyph}", " ".repeat(indent)), style),
        Span::styled(name, style),
        Span::raw(" ".repeat(pad)),
    ];
    spans.extend(findings);
    spans.push(Span::styled(mark, mark_style));
    Line::from(spans)
}

/// `2E 1W` with letters, so that colour carries nothing alone; hints only where nothing is worse.
fn counts_spans(counts: Counts, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (count, letter, style) in [(counts.errors, 'E', theme.error), (counts.warnings, 'W', theme.warning)] {
        if count > 0 {
            let gap = if spans.is_empty() { "" } else { " " };
            spans.push(Span::styled(format!("{gap}{count}{letter}"), style));
        }
    }
    if spans.is_empty() && counts.hints > 0 {
        spans.push(Span::styled(format!("{}H", counts.hints), theme.hint));
    }
    spans
}
