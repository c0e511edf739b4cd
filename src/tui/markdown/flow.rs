//! Laying runs of styled text into rows behind the marks of lists and quotes.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::{Rendered, RenderedLink};
use crate::okf::Target;
use crate::text::{Safe, width};
use crate::tui::theme::Theme;

/// Deeper lists and quotes are drawn at this depth. Marks never take more than half of the width either.
const MAX_DEPTH: usize = 64;

/// Most marks of items without room for their indentation that stand before one text.
const MAX_MARKS: usize = 8;

/// Stands for a character that is wider than the room there is.
const TOO_WIDE: &str = "□";

/// Text of one style. `\n` in it breaks the line.
#[derive(Debug, Clone)]
pub struct Run {
    pub text: String,
    pub style: Style,
    /// Index in the canvas's links.
    pub link: Option<usize>,
    /// Where it stands in the source.
    pub source: Range<usize>,
}

impl Run {
    pub fn new(text: impl Into<String>, style: Style, source: Range<usize>) -> Self {
        Self { text: text.into(), style, link: None, source }
    }

    fn len(&self) -> usize {
        width::width(&self.text)
    }
}

/// Where a line may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// At blanks, which go.
    Words,
    /// Anywhere; nothing goes.
    Anywhere,
}

/// What stands before the rows of a block.
#[derive(Debug, Clone)]
struct Prefix {
    first: Span<'static>,
    rest: Span<'static>,
    columns: usize,
    used: bool,
}

/// How a mark that was pushed is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    /// There was no room to indent by it: it stands in the text, as the one with this number.
    Inline,
    Nowhere,
}

pub struct Canvas<'a> {
    pub theme: &'a Theme,
    out: Rendered,
    width: usize,
    prefixes: Vec<Prefix>,
    /// Of every mark that is open, how it is drawn.
    places: Vec<Place>,
    /// Marks that wait for the next text.
    waiting: Vec<Run>,
    /// A blank row comes before the next block.
    gap: bool,
    /// Something stands above the first row.
    continued: bool,
    offset: usize,
}

impl<'a> Canvas<'a> {
    pub fn new(width: u16, theme: &'a Theme) -> Self {
        Self {
            theme,
            out: Rendered::default(),
            width: usize::from(width.max(1)),
            prefixes: Vec::new(),
            places: Vec::new(),
            waiting: Vec::new(),
            gap: false,
            continued: false,
            offset: 0,
        }
    }

    /// A canvas for what comes below other blocks.
    pub fn below(width: u16, theme: &'a Theme) -> Self {
        Self { gap: true, continued: true, ..Self::new(width, theme) }
    }

    pub fn finish(mut self) -> Rendered {
        self.out.links.retain(|l| !l.spans.is_empty());
        // Places only grow, so that a row can be found by its place.
        let mut before = 0;
        for row in &mut self.out.rows {
            before = before.max(*row);
            *row = before;
        }
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

    /// Opens a block whose first row begins with `first` and whose others begin with `rest`. Where there is no room
    /// for it, `first` stands in the text if it `counts`, else nowhere.
    pub fn push(&mut self, first: Span<'static>, rest: Span<'static>, counts: bool) {
        let columns = width::width(&first.content).max(width::width(&rest.content));
        if self.prefixes.len() < MAX_DEPTH && self.taken() + columns <= self.width / 2 {
            self.prefixes.push(Prefix { first, rest, columns, used: false });
            self.places.push(Place::Before);
        } else if counts {
            if self.waiting.len() >= MAX_MARKS {
                self.waiting.remove(0);
            }
            self.waiting.push(Run::new(first.content, first.style, self.offset..self.offset));
            self.places.push(Place::Inline);
        } else {
            self.places.push(Place::Nowhere);
        }
    }

    /// Gives the innermost block another mark of the same width, if the mark was not drawn yet.
    pub fn remark(&mut self, mark: Span<'static>) -> bool {
        let columns = width::width(&mark.content);
        match (self.places.last(), self.prefixes.last_mut(), self.waiting.last_mut()) {
            (Some(Place::Before), Some(prefix), _) if !prefix.used && prefix.columns == columns => {
                prefix.first = mark;
                true
            }
            (Some(Place::Inline), _, Some(waiting)) if waiting.len() == columns => {
                (waiting.text, waiting.style) = (mark.content.into_owned(), mark.style);
                true
            }
            _ => false,
        }
    }

    /// Ends the innermost block; its mark is drawn even when it held nothing.
    pub fn pop(&mut self) {
        match self.places.pop() {
            Some(Place::Before) => {
                let unused =
                    self.prefixes.last().is_some_and(|p| !p.used && !p.first.content.trim().is_empty());
                if !self.waiting.is_empty() {
                    self.open();
                    self.paragraph(&[]);
                } else if unused {
                    self.open();
                    self.put(Vec::new());
                }
                self.prefixes.pop();
            }
            Some(Place::Inline) if !self.waiting.is_empty() => {
                self.open();
                self.paragraph(&[]);
            }
            _ => {}
        }
    }

    /// Asks for a blank row before the next block.
    pub fn gap(&mut self) {
        self.gap = self.continued || !self.out.lines.is_empty();
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

    fn taken(&self) -> usize {
        self.prefixes.iter().map(|p| p.columns).sum()
    }

    /// Columns left for text; at least one.
    pub fn room(&self) -> usize {
        self.width.saturating_sub(self.taken()).max(1)
    }

    /// One row behind the prefixes, of what is known to fit. Returns the columns that the prefixes take.
    pub fn row(&mut self, spans: Vec<Span<'static>>) -> usize {
        if !self.waiting.is_empty() {
            self.paragraph(&[]);
        }
        self.put(spans)
    }

    fn put(&mut self, spans: Vec<Span<'static>>) -> usize {
        let mut all = Vec::with_capacity(spans.len() + self.prefixes.len());
        for prefix in &mut self.prefixes {
            all.push(if prefix.used { prefix.rest.clone() } else { prefix.first.clone() });
            prefix.used = true;
        }
        let columns = all.iter().map(|s| width::width(&s.content)).sum();
        all.extend(spans);
        self.out.lines.push(Line::from(all));
        self.out.rows.push(self.offset);
        columns
    }

    /// Says that a link covers columns of the last row.
    fn cover(&mut self, link: usize, start: usize, end: usize) {
        let row = self.out.lines.len().saturating_sub(1);
        let clamp = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        if let Some(link) = self.out.links.get_mut(link) {
            match link.spans.last_mut() {
                Some((at, columns)) if *at == row && usize::from(columns.end) == start => {
                    columns.end = clamp(end);
                }
                _ => link.spans.push((row, clamp(start)..clamp(end))),
            }
        }
    }

    /// Notes where columns of the last row come from.
    fn locate(&mut self, run: &Run, start: usize, end: usize) {
        let clamp = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        // A run that was wrapped reaches to the end of the whole.
        let source =
            crate::text::Span::new(run.source.start, run.source.end.min(run.source.start + run.text.len()));
        if start < end && !source.is_empty() {
            let row = self.out.lines.len().saturating_sub(1);
            self.out.places.push(super::Place { row, columns: clamp(start)..clamp(end), source });
        }
    }

    /// A paragraph: wrapped rows.
    pub fn paragraph(&mut self, runs: &[Run]) {
        self.text(runs, Break::Words);
    }

    pub fn text(&mut self, runs: &[Run], how: Break) {
        let mut marks = std::mem::take(&mut self.waiting);
        let rows = if marks.is_empty() {
            wrap(runs, self.room(), how)
        } else {
            marks.extend_from_slice(runs);
            wrap(&marks, self.room(), how)
        };
        for (index, row) in rows.iter().enumerate() {
            // The first row is the block's, whose marks stand before its text.
            if let Some(first) = row.first().filter(|r| index > 0 || r.source.start < self.offset) {
                self.offset = first.source.start;
            }
            self.runs(row);
        }
    }

    /// One row of runs that is known to fit.
    pub fn runs(&mut self, row: &[Run]) {
        let spans = row.iter().map(|r| Span::styled(r.text.clone(), r.style)).collect();
        let mut column = self.row(spans);
        for run in row {
            let end = column + run.len();
            if let Some(link) = run.link
                && end > column
            {
                self.cover(link, column, end);
            }
            self.locate(run, column, end);
            column = end;
        }
    }

    /// A remark of the renderer's own.
    pub fn note(&mut self, text: String) {
        let style = self.theme.dim;
        self.paragraph(&[Run::new(text, style, self.offset..self.offset)]);
    }
}

/// Runs joined into one logical line, so that it is broken as one text.
#[derive(Default)]
struct Joined {
    text: String,
    parts: Vec<Part>,
}

/// What of a run stands in the line.
struct Part {
    run: usize,
    /// End in the line.
    end: usize,
    /// Where it begins within its run.
    skipped: usize,
}

impl Joined {
    fn push(&mut self, text: &str, run: usize, skipped: usize) {
        self.text.push_str(text);
        self.parts.push(Part { run, end: self.text.len(), skipped });
    }

    /// Moves the borders of runs to those of characters as people see them: an accent that starts a run belongs to
    /// the letter that ends the one before, on screen as in every measure.
    fn settle_borders(&mut self) {
        if self.parts.len() < 2 || self.text.is_ascii() {
            return;
        }
        let mut parts = self.parts.iter_mut().peekable();
        for (at, grapheme) in self.text.grapheme_indices(true) {
            let end = at + grapheme.len();
            while let Some(part) = parts.next_if(|p| p.end < end) {
                if part.end > at {
                    part.end = end;
                }
            }
        }
    }

    /// The rows of the line; it is empty afterwards.
    fn rows(&mut self, runs: &[Run], room: usize, how: Break, rows: &mut Vec<Vec<Run>>) {
        self.settle_borders();
        let ranges = match how {
            Break::Words => width::wrap(&self.text, room),
            Break::Anywhere => chop(&self.text, room),
        };
        let mut part_start = 0;
        let mut parts = self.parts.iter().peekable();
        for range in ranges {
            let mut row = Vec::new();
            let too_wide = width::width(self.text.get(range.clone()).unwrap_or_default()) > room;
            while let Some(part) = parts.peek() {
                let (a, b) = (range.start.max(part_start), range.end.min(part.end));
                if a < b
                    && (!too_wide || row.is_empty())
                    && let Some(run) = runs.get(part.run)
                {
                    let start = (run.source.start + part.skipped + (a - part_start)).min(run.source.end);
                    let text = self.text.get(a..b).unwrap_or_default();
                    row.push(Run {
                        text: if too_wide { TOO_WIDE.to_owned() } else { text.to_owned() },
                        style: run.style,
                        link: run.link,
                        source: start..run.source.end,
                    });
                }
                if part.end > range.end {
                    break;
                }
                part_start = part.end;
                parts.next();
            }
            rows.push(row);
        }
        self.text.clear();
        self.parts.clear();
    }
}

/// Breaks runs into rows of at most `room` columns. At least one row.
pub fn wrap(runs: &[Run], room: usize, how: Break) -> Vec<Vec<Run>> {
    let room = room.max(1);
    let mut rows = Vec::new();
    let mut line = Joined::default();
    for (index, run) in runs.iter().enumerate() {
        let mut skipped = 0;
        for (number, part) in Safe::block(&run.text).as_str().split('\n').enumerate() {
            if number > 0 {
                line.rows(runs, room, how, &mut rows);
            }
            line.push(part, index, skipped);
            skipped += part.len() + 1;
        }
    }
    line.rows(runs, room, how, &mut rows);
    rows
}

/// Cuts a line where `room` columns end, or behind a blank not far before that.
fn chop(text: &str, room: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Behind the last blank: where, and the columns since.
    let mut blank: Option<(usize, usize)> = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        let columns = width::width(grapheme);
        if used + columns > room && at > start {
            let (end, since) = blank.filter(|(_, since)| *since <= room / 3).unwrap_or((at, 0));
            rows.push(start..end);
            (start, used, blank) = (end, since, None);
        }
        used += columns;
        if let Some((_, since)) = &mut blank {
            *since += columns;
        }
        if grapheme == " " {
            blank = Some((at + grapheme.len(), 0));
        }
    }
    rows.push(start..text.len());
    rows
}

/// Columns of the longest line.
pub fn natural(runs: &[Run]) -> usize {
    joined(runs).split('\n').map(width::width).max().unwrap_or(0)
}

/// Columns of the longest piece that cannot be broken well: a word, or a wide character.
pub fn longest_word(runs: &[Run]) -> usize {
    let (mut longest, mut word) = (0, 0);
    for grapheme in joined(runs).graphemes(true) {
        let columns = width::width(grapheme);
        let whole = columns < 2 && !grapheme.chars().all(char::is_whitespace);
        word = if whole { word + columns } else { 0 };
        longest = longest.max(word).max(columns);
    }
    longest
}

fn joined(runs: &[Run]) -> String {
    runs.iter().map(|r| Safe::block(&r.text).into_string()).collect()
}
