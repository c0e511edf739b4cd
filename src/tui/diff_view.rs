//! One proposed change as rows: line numbers, signs, the words that differ; unified or side by side. Hides nothing without
//! saying so: long lines are wrapped, folded lines are counted, control and invisible characters are shown by name.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::event::Diff;
use super::theme::Theme;
use crate::bundle::FileChange;
use crate::bundle::hunk::{FileHunk, HunkId};
use crate::text::diff::{self, Block, CONTEXT, Change, DiffLine, Ending, Part};
use crate::text::{Safe, width};

mod syntax;
#[cfg(test)]
mod tests;

use syntax::Syntax;

/// How long words are compared in all the hunks of a file together.
const PATIENCE: Duration = Duration::from_millis(60);

/// How a change is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    pub columns: u16,
    /// Before on the left, after on the right.
    pub split: bool,
    /// All lines of the file, not only those around a change.
    pub whole: bool,
}

/// Texts of the person in place of the proposed ones.
pub type Replaced = BTreeMap<HunkId, String>;

/// Rows of `change`, with the person's own texts where there are any.
pub fn render(change: &FileChange, replaced: &Replaced, look: Look, theme: &Theme) -> Diff {
    let mut rows = Rows::new(look, theme);
    let Ok((before, after)) = change.texts() else {
        let size = |side: &Option<std::sync::Arc<[u8]>>| side.as_ref().map_or(0, |s| s.len());
        rows.note(
            &format!(
                "not text: {} bytes before, {} bytes after; it cannot be shown line by line",
                size(&change.before),
                size(&change.after)
            ),
            theme.warning,
        );
        return rows.diff;
    };
    let hunks = change.hunks();
    if hunks.is_empty() {
        let both = before.is_some() && after.is_some();
        rows.note(if both { "the content stays the same" } else { "an empty file" }, theme.dim);
        return rows.diff;
    }
    if change.is_line_ends_only() {
        rows.note("only line ends change", theme.warning);
    }
    let sides = [before, after].map(|side| Syntax::of(&change.path, side.unwrap_or_default(), theme));
    rows.syntax = sides.into();
    let lines: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let last = hunks.last().map_or(1, |h| h.old.end.max(h.new.end) + CONTEXT);
    rows.digits = last.to_string().len().max(2);
    let (heads, keys) = (change.head_lines(), change.changed_keys());
    let margin = if look.whole { lines.len() } else { CONTEXT };
    let deadline = Instant::now() + PATIENCE;
    let mut at = 0;
    let mut rest = hunks.as_slice();
    while let Some(first) = rest.first() {
        // Hunks whose surroundings meet stand in one group.
        let meets = |pair: &[FileHunk]| match pair {
            [a, b] => b.old.start.saturating_sub(a.old.end) > 2 * margin,
            _ => false,
        };
        let count = rest.windows(2).position(meets).map_or(rest.len(), |i| i + 1);
        let (group, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        rest = later;
        let Some(end) = group.last() else { break };
        let from = first.old.start.saturating_sub(margin).max(at);
        let to = (end.old.end + margin).min(lines.len());
        rows.folded(from - at);
        let moved = |old: usize, hunk: &FileHunk, after: bool| match after {
            true => (hunk.new.end + old).saturating_sub(hunk.old.end),
            false => (hunk.new.start + old).saturating_sub(hunk.old.start),
        };
        let mut head = format!(
            "@@ -{},{} +{},{} @@",
            if to > from { from + 1 } else { 0 },
            to - from,
            moved(from, first, false) + 1,
            moved(to, end, true) - moved(from, first, false),
        );
        let in_head = |h: &FileHunk| h.old.start < heads.0 || h.new.start < heads.1;
        if !keys.is_empty() && group.iter().any(in_head) {
            head.push_str(&format!(" frontmatter: {}", keys.join(", ")));
        }
        rows.note(&head, theme.hunk);
        at = from;
        for hunk in group {
            for old in at..hunk.old.start {
                let text = lines.get(old).copied().unwrap_or_default();
                rows.context(&diff::context(text, old + 1, moved(old, hunk, false) + 1));
            }
            let own = replaced.get(&hunk.id);
            let after = own.unwrap_or(&hunk.after);
            // The person's text is no part of either side.
            rows.own = own.map(|text| (hunk.new.start, Syntax::of(&change.path, text, theme)));
            let left = deadline.saturating_duration_since(Instant::now());
            let start = rows.diff.lines.len();
            for part in diff::parts(&hunk.before, after, (hunk.old.start, hunk.new.start), left) {
                match part {
                    Part::Same(line) => rows.context(&line),
                    Part::Changed(block) => rows.block(&block),
                }
            }
            if rows.diff.lines.len() == start {
                rows.note("  (nothing stands here any more)", theme.dim);
            }
            rows.diff.hunks.push(start..rows.diff.lines.len());
            rows.own = None;
            at = hunk.old.end;
        }
        for old in at..to {
            let text = lines.get(old).copied().unwrap_or_default();
            rows.context(&diff::context(text, old + 1, moved(old, end, true) + 1));
        }
        at = to;
    }
    rows.folded(lines.len() - at);
    rows.diff
}

struct Rows<'a> {
    look: Look,
    theme: &'a Theme,
    digits: usize,
    diff: Diff,
    /// Of the text before and after.
    syntax: (Syntax, Syntax),
    /// Of the person's text at hand, which begins at this line.
    own: Option<(usize, Syntax)>,
}

impl<'a> Rows<'a> {
    fn new(look: Look, theme: &'a Theme) -> Self {
        Self { look, theme, digits: 2, diff: Diff::default(), syntax: Default::default(), own: None }
    }

    /// Rows of a line as it stands on one side.
    fn cell(&self, line: &DiffLine, after: bool, columns: usize) -> Vec<Vec<Span<'static>>> {
        let number = if after { line.new } else { line.old };
        let at = number.unwrap_or_default().saturating_sub(1);
        let syntax = match &self.own {
            Some((start, own)) if after => own.line(at.saturating_sub(*start)),
            _ if after => self.syntax.1.line(at),
            _ => self.syntax.0.line(at),
        };
        cell(line, number, self.digits, columns, self.theme, syntax)
    }

    fn columns(&self) -> usize {
        usize::from(self.look.columns)
    }

    /// Columns of one side.
    fn half(&self) -> usize {
        self.columns().saturating_sub(3) / 2
    }

    fn note(&mut self, text: &str, style: Style) {
        let text = Safe::line(text).into_string();
        for range in width::wrap(&text, self.columns().max(8)) {
            let part = text.get(range).unwrap_or_default().to_owned();
            self.diff.lines.push(Line::styled(part, style));
        }
    }

    fn folded(&mut self, count: usize) {
        if count > 0 {
            let lines = if count == 1 { "line is" } else { "lines are" };
            let text = format!("⋯ {count} unchanged {lines} not shown");
            self.diff.lines.push(Line::styled(text, self.theme.dim));
        }
    }

    fn context(&mut self, line: &DiffLine) {
        if self.look.split {
            self.beside(Some(line), Some(line));
        } else {
            self.unified(line);
        }
    }

    fn block(&mut self, block: &Block) {
        if !self.look.split {
            block.removed.iter().chain(&block.added).for_each(|line| self.unified(line));
            return;
        }
        let (mut left, mut right) = (0, 0);
        let end = (block.removed.len(), block.added.len());
        for (i, j) in block.pairs.iter().copied().chain([end]) {
            while left < i || right < j {
                let side = |at: usize, end: usize, lines: &'_ [DiffLine]| {
                    if at < end { lines.get(at).cloned() } else { None }
                };
                let (a, b) = (side(left, i, &block.removed), side(right, j, &block.added));
                left += usize::from(left < i);
                right += usize::from(right < j);
                self.beside(a.as_ref(), b.as_ref());
            }
            if (i, j) != end {
                self.beside(block.removed.get(i), block.added.get(j));
                (left, right) = (i + 1, j + 1);
            }
        }
    }

    fn unified(&mut self, line: &DiffLine) {
        let rows = self.cell(line, line.change != Change::Removed, self.columns());
        self.diff.lines.extend(rows.into_iter().map(Line::from));
    }

    fn beside(&mut self, left: Option<&DiffLine>, right: Option<&DiffLine>) {
        let half = self.half();
        let rows = |line: Option<&DiffLine>, after: bool| {
            line.map(|line| self.cell(line, after, half)).unwrap_or_default()
        };
        let (left, right) = (rows(left, false), rows(right, true));
        let count = left.len().max(right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        for _ in 0..count {
            let mut spans = left.next().unwrap_or_default();
            let used: usize = spans.iter().map(Span::width).sum();
            spans.push(Span::raw(" ".repeat(half.saturating_sub(used))));
            spans.push(Span::styled(" │ ", self.theme.border));
            spans.extend(right.next().unwrap_or_default());
            self.diff.lines.push(Line::from(spans));
        }
    }
}

/// One line as rows of so many columns at most.
fn cell(
    line: &DiffLine,
    number: Option<usize>,
    digits: usize,
    columns: usize,
    theme: &Theme,
    syntax: &[(Range<usize>, Style)],
) -> Vec<Vec<Span<'static>>> {
    let (sign, style, word) = match line.change {
        Change::Context => (' ', theme.text, theme.text),
        Change::Removed => ('-', theme.removed, theme.removed_word),
        Change::Added => ('+', theme.added, theme.added_word),
    };
    let (text, marks) = visible(line, style, word, syntax);
    let note = match line.ending {
        Some(Ending::Lf) => "",
        Some(Ending::CrLf) => "␍",
        None => " (no line end)",
    };
    let room = columns.saturating_sub(digits + 3).max(4);
    let pieces = width::wrap(&text, room);
    let count = pieces.len();
    let mut out = Vec::with_capacity(count);
    for (index, range) in pieces.into_iter().enumerate() {
        let label = match number {
            Some(number) if index == 0 => format!("{number:>digits$} {sign} "),
            _ if index == 0 => format!("{:digits$} {sign} ", ""),
            _ => format!("{:>digits$} {sign} ", "⋮"),
        };
        let mut spans = vec![Span::styled(label, if sign == ' ' { theme.dim } else { style })];
        let mut used = 0;
        let mut start = 0;
        for (end, style) in &marks {
            let (a, b) = (range.start.max(start), range.end.min(*end));
            if a < b {
                let part = text.get(a..b).unwrap_or_default().to_owned();
                used += width::width(&part);
                spans.push(Span::styled(part, *style));
            }
            start = *end;
        }
        let ends = index + 1 == count && !note.is_empty();
        let fits = used + width::width(note) <= room;
        if ends && fits {
            spans.push(Span::styled(note, theme.dim));
        }
        out.push(spans);
        if ends && !fits {
            let label = Span::styled(format!("{:>digits$} {sign} ", "⋮"), style);
            out.push(vec![label, Span::styled(note.trim_start(), theme.dim)]);
        }
    }
    out
}

/// The text of a line made safe, and up to where which style holds. Runs of equal style are made safe one by one, so that
/// emphasis survives. In a changed line blanks at its end, tabs and a byte-order mark show too.
fn visible(
    line: &DiffLine,
    style: Style,
    word: Style,
    syntax: &[(Range<usize>, Style)],
) -> (String, Vec<(usize, Style)>) {
    let mut text = String::new();
    let mut marks: Vec<(usize, Style)> = Vec::new();
    let changed = line.change != Change::Context;
    let trail = line.text.trim_end_matches([' ', '\t']).len();
    let mut push = |range: Range<usize>, style: Style| {
        let mut part = |range: Range<usize>, blank: bool| {
            let mut part = line.text.get(range).unwrap_or_default();
            if let Some(rest) = part.strip_prefix('\u{feff}') {
                text.push_str("<U+FEFF>");
                part = rest;
            }
            if changed && blank {
                part.chars().for_each(|c| text.push_str(if c == '\t' { "→   " } else { "·" }));
            } else if changed && part.contains('\t') {
                let parts = part.split('\t').map(|part| Safe::line(part).into_string());
                text.push_str(&parts.collect::<Vec<_>>().join("→   "));
            } else {
                text.push_str(Safe::line(part).as_str());
            }
        };
        part(range.start..range.end.min(trail).max(range.start), false);
        part(range.start.max(trail)..range.end.max(trail), true);
        marks.push((text.len(), style));
    };
    let length = line.text.len();
    let mut ends: Vec<usize> = line.emphasis.iter().flat_map(|span| [span.start, span.end]).collect();
    ends.extend(syntax.iter().flat_map(|(range, _)| [range.start.min(length), range.end.min(length)]));
    ends.push(length);
    ends.sort_unstable();
    ends.dedup();
    let mut from = 0;
    for end in ends {
        let differs = line.emphasis.iter().any(|span| span.start <= from && from < span.end);
        let within = syntax.iter().filter(|(range, _)| range.contains(&from));
        let own = within.fold(style, |style, (_, syntax)| style.patch(*syntax));
        push(from..end, if differs { word } else { own });
        from = end;
    }
    (text, marks)
}
