//! Tables: writing them, and resolving merged cells, which markdown has not.

/// A merged cell is repeated in at most this many rows and columns; what spans more is a title or a rule.
const REPEAT: usize = 64;
/// A larger grid keeps its merged cells where they begin.
const CELLS: usize = 1_000_000;

/// A markdown table; the first row is its header. Rows are filled to the widest.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut markdown = String::new();
    for (number, row) in rows.iter().enumerate() {
        markdown.push('|');
        for column in 0..width {
            markdown.push(' ');
            markdown.push_str(&row.get(column).map(|cell| cell_text(cell)).unwrap_or_default());
            markdown.push_str(" |");
        }
        markdown.push('\n');
        if number == 0 {
            markdown.push_str(&format!("|{}\n", " --- |".repeat(width)));
        }
    }
    markdown
}

/// In one line, its pipes escaped.
fn cell_text(cell: &str) -> String {
    let line = cell.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.contains('|') { line.replace('|', "\\|") } else { line }
}

/// A cell that may cover others.
pub(super) trait Cell: Clone + Default {
    /// Columns and rows, each at least 1.
    fn span(&self) -> (usize, usize);
    /// Makes it cover itself only.
    fn shrink(&mut self);
    /// Whether it is short enough to be repeated.
    fn is_short(&self) -> bool;
}

/// Repeats each merged cell in every place it covers, so that a row says all by itself. Cells are laid out as HTML does it:
/// each in the first free place of its row. A row of nothing but cells that the next one repeats is left without cells.
pub(super) fn resolve<C: Cell>(rows: &mut Vec<Vec<C>>) {
    if !rows.iter().flatten().any(|cell| cell.span() != (1, 1)) {
        return;
    }
    let height = rows.len();
    let width = rows.iter().map(|row| row.iter().map(|cell| cell.span().0).sum::<usize>()).max().unwrap_or(0);
    if height.saturating_mul(width) > CELLS {
        return;
    }
    let mut grid: Vec<Vec<Option<C>>> = vec![Vec::new(); height];
    let mut said_below = vec![false; height];
    for (y, row) in std::mem::take(rows).into_iter().enumerate() {
        let mut x = 0;
        if let Some(said) = said_below.get_mut(y) {
            let repeated = |cell: &C| {
                let (columns, lines) = cell.span();
                lines > 1 && columns <= REPEAT && lines <= REPEAT && cell.is_short()
            };
            *said = y + 1 < height && !row.is_empty() && row.iter().all(repeated);
        }
        for mut cell in row {
            while grid.get(y).and_then(|line| line.get(x)).is_some_and(Option::is_some) {
                x += 1;
            }
            let (columns, lines) = cell.span();
            let repeat = columns <= REPEAT && lines <= REPEAT && cell.is_short();
            cell.shrink();
            for down in 0..lines.min(height - y) {
                for right in 0..columns {
                    let first = (down, right) == (0, 0);
                    let copy = if first || repeat { cell.clone() } else { C::default() };
                    let Some(line) = grid.get_mut(y + down) else { continue };
                    if line.len() <= x + right {
                        line.resize(x + right + 1, None);
                    }
                    if let Some(place) = line.get_mut(x + right) {
                        place.get_or_insert(copy);
                    }
                }
            }
            x += columns;
        }
    }
    let line = |(line, said): (Vec<Option<C>>, bool)| match said {
        true => Vec::new(),
        false => line.into_iter().map(Option::unwrap_or_default).collect(),
    };
    *rows = grid.into_iter().zip(said_below).map(line).collect();
}

#[cfg(test)]
mod tests {
    use super::{Cell, resolve, table};

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Letter(&'static str, usize, usize);

    impl Cell for Letter {
        fn span(&self) -> (usize, usize) {
            (self.1, self.2)
        }
        fn shrink(&mut self) {
            (self.1, self.2) = (1, 1);
        }
        fn is_short(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_merged_cell_is_repeated_where_it_covers() {
        let mut rows = vec![
            vec![Letter("a", 2, 1), Letter("b", 1, 2)],
            vec![Letter("c", 1, 2), Letter("d", 1, 1)],
            vec![Letter("e", 2, 9)],
        ];
        resolve(&mut rows);
        let text: Vec<String> = rows.iter().map(|row| row.iter().map(|cell| cell.0).collect()).collect();
        assert_eq!(text, ["aab", "cdb", "cee"]);
    }

    #[test]
    fn a_row_of_nothing_but_row_headings_is_said_by_the_rows_below() {
        let mut rows = vec![
            vec![Letter("a", 1, 1), Letter("b", 1, 1)],
            vec![Letter("c", 1, 3)],
            vec![Letter("d", 1, 1)],
            vec![Letter("e", 1, 1)],
        ];
        resolve(&mut rows);
        let text: Vec<String> = rows.iter().map(|row| row.iter().map(|cell| cell.0).collect()).collect();
        assert_eq!(text, ["ab", "", "cd", "ce"]);
    }

    #[test]
    fn a_span_of_many_columns_is_kept_once() {
        let mut rows = vec![vec![Letter("a", 65, 1)], vec![Letter("b", 1, 1)]];
        resolve(&mut rows);
        assert_eq!(rows[0].iter().filter(|cell| cell.0 == "a").count(), 1);
        let mut huge = vec![vec![Letter("a", 2_000_000, 1)]];
        resolve(&mut huge);
        assert_eq!(huge[0].len(), 1);
    }

    #[test]
    fn a_table_is_filled_and_escaped() {
        let rows = vec![vec!["a|b".to_owned(), "c\nd".to_owned()], vec!["e".to_owned()]];
        assert_eq!(table(&rows), "| a\\|b | c d |\n| --- | --- |\n| e |  |\n");
    }
}
