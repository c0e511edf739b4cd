//! Laying runs of styled text into rows behind the marks of lists and quotes.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Rendered, RenderedLink};
use crate::okf::Target;
use crate::text::{Safe, width};
use crate::tui::theme::Theme;

/// Deeper lists and quotes are drawn at this depth, so that a text keeps room.
const MAX_DEPTH: usize = 8;

/// Text of one style. `\n` in it breaks the line.
#[derive(Debug, Clone)]
pub struct Run {
    pub text: String,
    pub style: Style,
    /// Index in the canvas's links.
    pub link: Option<usize>,
    /// Byte of the source.
    pub offset: usize,
}

/// What stands before the rows of a block.
#[derive(Debug, Clone)]
struct Prefix {
    first: Span<'static>,
    rest: Span<'static>,
    used: bool,
}

pub struct Canvas<'a> {
    pub theme: &'a Theme,
    out: Rendered,
    width: u16,
    prefixes: Vec<Prefix>,
    /// Prefixes beyond the depth that is drawn.
    hidden: usize,
    /// A blank row comes before the next block.
    gap: bool,
    offset: usize,
}

impl<'a> Canvas<'a> {
    pub fn new(width: u16, theme: &'a Theme) -> Self {
        Self {
            theme,
            out: Rendered::default(),
            width,
            prefixes: Vec::new(),
            hidden: 0,
            gap: false,
            offset: 0,
        }
    }

    pub fn finish(mut self) -> Rendered {
        self.out.links.retain(|l| !l.spans.is_empty());
        self.out
    }

    /// Where the following rows come from.
    pub fn at(&mut self, offset: usize) {
        self.offset = offset;
    }

    pub fn link(&mut self, link: usize, target: Target, destination: String) -> usize {
        self.out.links.push(RenderedLink { link, target, destination, spans: Vec::new() });
        self.out.links.len() - 1
    }

    pub fn heading(&mut self, slug: String) {
        self.out.headings.push((self.out.lines.len(), slug));
    }

    pub fn push(&mut self, first: Span<'static>, rest: Span<'static>) {
        if self.prefixes.len() >= MAX_DEPTH {
            self.hidden += 1;
        } else {
            self.prefixes.push(Prefix { first, rest, used: false });
        }
    }

    /// Ends the innermost block; its mark is drawn even when it held nothing.
    pub fn pop(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
            return;
        }
        if self.prefixes.last().is_some_and(|p| !p.used && !p.first.content.trim().is_empty()) {
            self.row(Vec::new());
        }
        self.prefixes.pop();
    }

    /// Asks for a blank row before the next block.
    pub fn gap(&mut self) {
        self.gap = !self.out.lines.is_empty();
    }

    pub fn no_gap(&mut self) {
        self.gap = false;
    }

    /// Draws the blank row that was asked for. A list item's mark waits for its text.
    pub fn open(&mut self) {
        if std::mem::take(&mut self.gap) {
            let spans: Vec<Span<'static>> =
                self.prefixes.iter().filter(|p| p.used).map(|p| p.rest.clone()).collect();
            let blank = spans.iter().all(|s| s.content.trim().is_empty());
            self.out.lines.push(if blank { Line::default() } else { Line::from(spans) });
            self.out.rows.push(self.offset);
        }
    }

    /// Columns left for text.
    pub fn room(&self) -> usize {
        let used: usize = self.prefixes.iter().map(|p| p.rest.width()).sum();
        usize::from(self.width).saturating_sub(used).max(4)
    }

    /// One row behind the prefixes. Returns the columns that they take.
    pub fn row(&mut self, spans: Vec<Span<'static>>) -> usize {
        let mut all = Vec::with_capacity(spans.len() + self.prefixes.len());
        for prefix in &mut self.prefixes {
            all.push(if prefix.used { prefix.rest.clone() } else { prefix.first.clone() });
            prefix.used = true;
        }
        let columns = all.iter().map(Span::width).sum();
        all.extend(spans);
        self.out.lines.push(Line::from(all));
        self.out.rows.push(self.offset);
        columns
    }

    /// Says that a link covers columns of the last row.
    pub fn cover(&mut self, link: usize, start: usize, end: usize) {
        let row = self.out.lines.len().saturating_sub(1);
        let clamp = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        if let Some(link) = self.out.links.get_mut(link) {
            match link.spans.last_mut() {
                Some((at, columns)) if *at == row && usize::from(columns.end) == start => {
                    columns.end = clamp(end)
                }
                _ => link.spans.push((row, clamp(start)..clamp(end))),
            }
        }
    }

    /// A paragraph: wrapped rows.
    pub fn paragraph(&mut self, runs: &[Run]) {
        for row in wrap(runs, self.room()) {
            if let Some(offset) = row.first().map(|r| r.offset) {
                self.offset = offset;
            }
            self.runs(&row);
        }
    }

    /// One row of runs that is known to fit.
    pub fn runs(&mut self, row: &[Run]) {
        let spans = row.iter().map(|r| Span::styled(r.text.clone(), r.style)).collect();
        let mut column = self.row(spans);
        for run in row {
            let end = column + width::width(&run.text);
            if let Some(link) = run.link
                && end > column
            {
                self.cover(link, column, end);
            }
            column = end;
        }
    }
}

/// Breaks runs into rows of at most `columns`. At least one row.
pub fn wrap(runs: &[Run], columns: usize) -> Vec<Vec<Run>> {
    let mut rows = Vec::new();
    let mut text = String::new();
    let mut marks: Vec<(usize, &Run)> = Vec::new();
    let flush = |text: &mut String, marks: &mut Vec<(usize, &Run)>, rows: &mut Vec<Vec<Run>>| {
        for range in width::wrap(text, columns) {
            let mut row = Vec::new();
            let mut start = 0;
            for (end, run) in marks.iter() {
                let (a, b) = (range.start.max(start), range.end.min(*end));
                if a < b {
                    row.push(Run {
                        text: text.get(a..b).unwrap_or_default().to_owned(),
                        style: run.style,
                        link: run.link,
                        offset: run.offset + (a - start),
                    });
                }
                start = *end;
            }
            rows.push(row);
        }
        text.clear();
        marks.clear();
    };
    for run in runs {
        for (index, part) in run.text.split('\n').enumerate() {
            if index > 0 {
                flush(&mut text, &mut marks, &mut rows);
            }
            text.push_str(Safe::line(part).as_str());
            marks.push((text.len(), run));
        }
    }
    flush(&mut text, &mut marks, &mut rows);
    rows
}

/// Columns of the longest line.
pub fn natural(runs: &[Run]) -> usize {
    let text: String = runs.iter().map(|r| Safe::block(&r.text).into_string()).collect();
    text.split('\n').map(width::width).max().unwrap_or(0)
}

/// Columns of the longest word.
pub fn longest_word(runs: &[Run]) -> usize {
    let text: String = runs.iter().map(|r| Safe::block(&r.text).into_string()).collect();
    text.split_whitespace().map(width::width).max().unwrap_or(0)
}
