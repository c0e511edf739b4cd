//! Tables: columns as wide as they need and as the width allows; below what is readable, one entry under the other.

use pulldown_cmark::Alignment;
use ratatui::text::Span;

use super::flow::{Canvas, Run, longest_word, natural, wrap};
use crate::text::width;

/// Narrowest column that is still readable.
const MIN_COLUMN: usize = 6;
/// Rows beyond this are counted, not drawn.
const MAX_ROWS: usize = 5000;
const BETWEEN: &str = " │ ";

#[derive(Debug, Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    /// Cells by row; the first row is the head.
    pub rows: Vec<Vec<Vec<Run>>>,
}

impl Table {
    pub fn draw(&self, canvas: &mut Canvas<'_>) {
        let columns = self.rows.first().map_or(0, Vec::len);
        if columns == 0 {
            return;
        }
        match self.widths(columns, canvas.room()) {
            Some(widths) => self.grid(canvas, &widths),
            None => self.records(canvas),
        }
        if self.rows.len() > MAX_ROWS {
            let note = format!("… {} more rows", self.rows.len() - MAX_ROWS);
            canvas.row(vec![Span::styled(note, canvas.theme.dim)]);
        }
    }

    /// A width for every column, or none when they do not fit side by side.
    fn widths(&self, columns: usize, room: usize) -> Option<Vec<usize>> {
        let cells = |column: usize| self.rows.iter().take(MAX_ROWS).filter_map(move |r| r.get(column));
        let wanted: Vec<usize> =
            (0..columns).map(|c| cells(c).map(|cell| natural(cell)).max().unwrap_or(0).max(1)).collect();
        let least: Vec<usize> = (0..columns)
            .map(|c| cells(c).map(|cell| longest_word(cell)).max().unwrap_or(0).clamp(1, MIN_COLUMN))
            .collect();
        let room = room.checked_sub(BETWEEN.len().min(3) * (columns - 1))?;
        if wanted.iter().sum::<usize>() <= room {
            return Some(wanted);
        }
        if columns > 6 || least.iter().sum::<usize>() > room || room / columns < MIN_COLUMN {
            return None;
        }
        // The widest gives way until all fit.
        let mut widths = wanted;
        let mut over = widths.iter().sum::<usize>().saturating_sub(room);
        while over > 0 {
            let second = {
                let mut sorted = widths.clone();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                let top = sorted.first().copied().unwrap_or(0);
                sorted.into_iter().find(|w| *w < top).unwrap_or(0)
            };
            let top = widths.iter().copied().max().unwrap_or(0);
            let many = widths.iter().filter(|w| **w == top).count();
            let step = (top - second).min(over.div_ceil(many)).max(1);
            let mut moved = false;
            for (width, least) in widths.iter_mut().zip(&least) {
                if *width == top && over > 0 {
                    let step = step.min(over).min(width.saturating_sub(*least));
                    *width -= step;
                    over -= step;
                    moved |= step > 0;
                }
            }
            if !moved {
                return None;
            }
        }
        Some(widths)
    }

    fn grid(&self, canvas: &mut Canvas<'_>, widths: &[usize]) {
        let theme = canvas.theme;
        for (index, row) in self.rows.iter().take(MAX_ROWS).enumerate() {
            let cells: Vec<Vec<Vec<Run>>> = widths
                .iter()
                .enumerate()
                .map(|(c, w)| wrap(row.get(c).map_or(&[], Vec::as_slice), *w))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            if let Some(offset) = row.iter().flatten().map(|r| r.offset).next() {
                canvas.at(offset);
            }
            for line in 0..height {
                let mut runs = Vec::new();
                for (column, width) in widths.iter().enumerate() {
                    if column > 0 {
                        runs.push(filler(BETWEEN.to_owned(), theme.border));
                    }
                    let part = cells.get(column).and_then(|c| c.get(line)).cloned().unwrap_or_default();
                    let used: usize = part.iter().map(|r| width::width(&r.text)).sum();
                    let pad = width.saturating_sub(used);
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => pad,
                        Some(Alignment::Center) => pad / 2,
                        _ => 0,
                    };
                    runs.push(filler(" ".repeat(before), theme.text));
                    runs.extend(part);
                    if column + 1 < widths.len() {
                        runs.push(filler(" ".repeat(pad - before), theme.text));
                    }
                }
                canvas.runs(&runs);
            }
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
                canvas.row(vec![Span::styled(rule.join("─┼─"), theme.border)]);
            }
        }
    }

    /// Each row as a block of `head: value` lines.
    fn records(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme;
        let Some((head, rows)) = self.rows.split_first() else { return };
        for (index, row) in rows.iter().take(MAX_ROWS).enumerate() {
            if index > 0 {
                let rule = "─".repeat(canvas.room().min(24));
                canvas.row(vec![Span::styled(rule, theme.border)]);
            }
            for (column, cell) in row.iter().enumerate().filter(|(_, c)| natural(c) > 0) {
                let offset = cell.first().map_or(0, |r| r.offset);
                let mut runs: Vec<Run> = head
                    .get(column)
                    .into_iter()
                    .flatten()
                    .map(|r| Run { style: theme.dim, link: None, offset, ..r.clone() })
                    .collect();
                runs.push(Run { text: ": ".to_owned(), style: theme.dim, link: None, offset });
                runs.extend(cell.iter().cloned());
                canvas.push(Span::raw(""), Span::raw("  "));
                canvas.paragraph(&runs);
                canvas.pop();
            }
        }
    }
}

fn filler(text: String, style: ratatui::style::Style) -> Run {
    Run { text, style, link: None, offset: 0 }
}
