//! What a rule is about, in the registry's words.

use ratatui::buffer::Buffer;
use ratatui::text::Line;

use super::{overlay, paint};
use crate::lint::{Rule, format};
use crate::text::{Safe, width};
use crate::tui::state::{Overlay, State};
use crate::tui::theme::Theme;

/// All rows at this many columns.
pub fn rows(rule: &Rule, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let text = format::explanation(rule);
    let row = |line: &str| {
        // Examples are indented.
        let style = if line.starts_with(' ') { theme.code } else { theme.text };
        let safe = Safe::line(line).into_string();
        let ranges = width::wrap(&safe, usize::from(columns));
        let part = |range: std::ops::Range<usize>| {
            Line::styled(safe.get(range).unwrap_or_default().to_owned(), style)
        };
        let rows: Vec<Line<'static>> = ranges.into_iter().map(part).collect();
        if rows.is_empty() { vec![Line::default()] } else { rows }
    };
    let mut rows: Vec<Line<'static>> = text.lines().flat_map(row).collect();
    if let Some(first) = rows.first_mut() {
        first.style = theme.strong;
    }
    rows
}

pub fn draw(state: &State, rule: &Rule, top: usize, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = overlay::area(state, &|o| matches!(o, Overlay::Explanation { .. }));
    let title = Line::styled(format!(" {} ", rule.code), theme.title);
    let inner = paint::sheet(buffer, area, &title, &Line::styled(" Esc closes ", theme.dim), theme);
    let text = overlay::padded(inner);
    let rows = rows(rule, text.width, theme);
    for (row, line) in rows.iter().skip(top).take(usize::from(text.height)).enumerate() {
        paint::line(buffer, text, row, line);
    }
    paint::scrollbar(buffer, area, top, rows.len(), theme, true);
}
