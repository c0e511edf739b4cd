//! Byte ranges of a text and their line and column.

use serde::Serialize;

/// A half-open byte range `start..end` of a text. Always on character boundaries of the text it
/// was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The same range moved `by` bytes towards the end.
    pub fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// The text it covers, or `""` when it does not fit `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

/// A place as people count: lines and columns from 1, columns in Unicode characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Finds the line of a byte offset in logarithmic time. Lines end at `\n` only, so that it agrees
/// with grep and every editor; a `\r` before it belongs to the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// Inside long lines, about every [`MARK`] bytes: a byte offset and the characters of its line before it. Without
    /// them, as many places on one line of megabytes would be counted in quadratic time.
    marks: Vec<(u32, u32)>,
}

/// Bytes between marks.
const MARK: usize = 1024;

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut starts = vec![0];
        let mut marks = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if line.len() > MARK {
                let mut last = 0;
                for (characters, (at, _)) in line.char_indices().enumerate() {
                    if at - last >= MARK {
                        marks.push((count(start + at), count(characters)));
                        last = at;
                    }
                }
            }
            start += line.len();
            if line.ends_with('\n') {
                starts.push(count(start));
            }
        }
        Self { starts, marks }
    }

    /// Position of `offset` in `text`, which must be the text the index was made from. An offset
    /// past the end gives the end.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|s| *s as usize <= offset).saturating_sub(1);
        let start = self.starts.get(line).map_or(0, |s| *s as usize);
        let before = self.marks.partition_point(|(mark, _)| *mark as usize <= offset);
        let mark = before
            .checked_sub(1)
            .and_then(|at| self.marks.get(at))
            .map(|(at, n)| (*at as usize, *n as usize));
        let (from, counted) = mark.filter(|(at, _)| *at > start).unwrap_or((start, 0));
        let column = text.get(from..offset).map_or(0, |t| counted + t.chars().count());
        Position {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }

    /// Number of lines; a text that ends with `\n` has an empty last one.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Byte offset where the 1-based `line` starts.
    pub fn line_start(&self, line: u32) -> Option<usize> {
        self.starts.get((line as usize).checked_sub(1)?).map(|s| *s as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "äb\r\nc";
        let index = LineIndex::new(text);
        assert_eq!(index.position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(index.position(text, 2), Position { line: 1, column: 2 });
        assert_eq!(index.position(text, 5), Position { line: 2, column: 1 });
        assert_eq!(index.position(text, 99), Position { line: 2, column: 2 });
        assert_eq!(index.line_start(2), Some(5));
    }

    #[test]
    fn long_lines_are_counted_as_short_ones_are() {
        let text = format!("ä\n{}\n{}x", "aé𝄞".repeat(900), "ü".repeat(3000));
        let index = LineIndex::new(&text);
        assert!(index.marks.len() > 8);
        let (mut line, mut column) = (1, 1);
        for (offset, c) in text.char_indices() {
            assert_eq!(index.position(&text, offset), Position { line, column }, "{offset}");
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        assert_eq!(index.position(&text, text.len()), Position { line, column });
    }
}
