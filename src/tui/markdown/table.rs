//! Tables: columns as wide as they need and as the width allows; below what is readable, one entry under the other.

use pulldown_cmark::Alignment;
use ratatui::text::Span;

use super::flow::{Break, Canvas, Run, longest_word, natural, wrap};
use crate::text::width;

/// Narrowest column that is still readable.
const MIN_COLUMN: usize = 6;
/// Longest word that is kept whole where the width allows.
const MAX_WORD: usize = 24;
/// What lies beyond these is counted, not drawn.
pub const MAX_ROWS: usize = 2000;
pub const MAX_COLUMNS: usize = 200;
const BETWEEN: &str = " │ ";

#[derive(Debug, Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    /// Cells by row; the first row is the head.
    pub rows: Vec<Vec<Vec<Run>>>,
    /// Rows that were left out.
    pub more_rows: usize,
    /// Columns of the source, drawn or not.
    pub columns: usize,
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
        let more_columns = self.columns.saturating_sub(columns);
        if more_columns > 0 {
            canvas.note(format!("… {more_columns} more columns are not shown"));
        }
        if self.more_rows > 0 {
            canvas.note(format!("… {} more rows are not shown", self.more_rows));
        }
    }

    /// A width for every column, or none when they do not fit side by side.
    fn widths(&self, columns: usize, room: usize) -> Option<Vec<usize>> {
        let mut wanted = vec![1; columns];
        let mut least = vec![1; columns];
        for row in &self.rows {
            for ((cell, wanted), least) in row.iter().zip(&mut wanted).zip(&mut least) {
                *wanted = natural(cell).max(*wanted);
                if *least < MAX_WORD {
                    *least = longest_word(cell).clamp(*least, MAX_WORD);
                }
            }
        }
        let room = room.checked_sub(width::width(BETWEEN) * (columns - 1))?;
        if wanted.iter().sum::<usize>() <= room {
            return Some(wanted);
        }
        if least.iter().sum::<usize>() > room {
            least.iter_mut().for_each(|least| *least = (*least).min(MIN_COLUMN));
        }
        if least.iter().sum::<usize>() > room {
            return None;
        }
        // No column is wider than the highest cap with which all fit; what that leaves goes to the first that want it.
        let capped = |cap: usize| -> Vec<usize> {
            wanted.iter().zip(&least).map(|(wanted, least)| (*wanted).min(cap).max(*least)).collect()
        };
        let (mut fits, mut too_much) = (0, room + 1);
        while too_much - fits > 1 {
            let cap = fits.midpoint(too_much);
            if capped(cap).iter().sum::<usize>() <= room { fits = cap } else { too_much = cap }
        }
        let mut widths = capped(fits);
        let mut left = room.saturating_sub(widths.iter().sum());
        for (width, wanted) in widths.iter_mut().zip(&wanted) {
            if left > 0 && *width < *wanted {
                *width += 1;
                left -= 1;
            }
        }
        Some(widths)
    }

    fn grid(&self, canvas: &mut Canvas<'_>, widths: &[usize]) {
        let theme = canvas.theme;
        let rule = |line: &str, cross: &str| {
            let parts: Vec<String> = widths.iter().map(|w| line.repeat(*w)).collect();
            Span::styled(parts.join(&format!("{line}{cross}{line}")), theme.border)
        };
        // Rows of several lines run into each other without a line between.
        let cells_of = |row: &Vec<Vec<Run>>| -> Vec<Vec<Vec<Run>>> {
            let wrapped =
                |(c, w): (usize, &usize)| wrap(row.get(c).map_or(&[], Vec::as_slice), *w, Break::Words);
            widths.iter().enumerate().map(wrapped).collect()
        };
        let rows: Vec<Vec<Vec<Vec<Run>>>> = self.rows.iter().map(cells_of).collect();
        let height = |row: &Vec<Vec<Vec<Run>>>| row.iter().map(Vec::len).max().unwrap_or(1);
        let spaced = rows.iter().skip(1).any(|row| height(row) > 1);
        for (index, (row, source)) in rows.iter().zip(&self.rows).enumerate() {
            if let Some(run) = source.iter().flatten().next() {
                canvas.at(run.source.start);
            }
            if index == 1 {
                canvas.row(vec![rule("─", "┼")]);
            } else if index > 1 && spaced {
                canvas.row(vec![rule("┈", "┼")]);
            }
            for line in 0..height(row) {
                canvas.runs(&self.grid_line(row, line, widths, canvas.theme));
            }
        }
        if rows.len() == 1 {
            canvas.row(vec![rule("─", "┼")]);
        }
    }

    fn grid_line(
        &self,
        row: &[Vec<Vec<Run>>],
        line: usize,
        widths: &[usize],
        theme: &crate::tui::theme::Theme,
    ) -> Vec<Run> {
        let mut runs = Vec::new();
        let filler = |text: String, style| Run::new(text, style, 0..0);
        for (column, width) in widths.iter().enumerate() {
            if column > 0 {
                runs.push(filler(BETWEEN.to_owned(), theme.border));
            }
            let part = row.get(column).and_then(|c| c.get(line)).cloned().unwrap_or_default();
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
        runs.retain(|r| !r.text.is_empty());
        runs
    }

    /// Each row as a block of `head: value` lines.
    fn records(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme;
        let Some((head, rows)) = self.rows.split_first() else { return };
        if rows.is_empty() {
            let mut runs = Vec::new();
            for (index, cell) in head.iter().enumerate() {
                if index > 0 {
                    let start = cell.first().or(runs.last()).map_or(0, |r| r.source.start);
                    runs.push(Run::new(BETWEEN, theme.border, start..start));
                }
                runs.extend(cell.iter().cloned());
            }
            canvas.paragraph(&runs);
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                let rule = "─".repeat(canvas.room().min(24));
                canvas.row(vec![Span::styled(rule, theme.border)]);
            }
            for (column, cell) in row.iter().enumerate().filter(|(_, c)| natural(c) > 0) {
                let source = cell.first().map_or(0..0, |r| r.source.start..r.source.start);
                let mut runs: Vec<Run> = head
                    .get(column)
                    .into_iter()
                    .flatten()
                    .map(|r| Run::new(r.text.clone(), theme.dim, source.clone()))
                    .collect();
                if natural(&runs) > 0 {
                    runs.push(Run::new(": ", theme.dim, source));
                }
                runs.extend(cell.iter().cloned());
                canvas.push(Span::raw(""), Span::raw("  "), false);
                canvas.paragraph(&runs);
                canvas.pop();
            }
        }
    }
}
