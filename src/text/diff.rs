//! Line and word differences of two texts, as data: views colour it, [`unified`] prints it.
//!
//! A line is compared with its line end, so that a changed line end or final newline is a difference.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

use super::Span;

/// Lines of context around a change.
pub const CONTEXT: usize = 3;

/// After this long the search for a small difference gives way to a coarse one, which is right as well.
const PATIENCE: Duration = Duration::from_millis(500);

/// Most pairs of lines that are compared word by word in one block of changes.
const MAX_PAIRS: usize = 400;

/// Longest line that gets emphasis, in bytes.
const MAX_EMPHASIS: usize = 4096;

/// Least share of common text, in percent, that makes an old and a new line a pair.
const MIN_LIKENESS: usize = 40;

/// How two texts are compared, by their lines alone: what is found must be found again. In large ones the time of the better
/// choice grows with lines times changes, so lines that stand once on each side lead there.
pub fn algorithm(old: &[&str], new: &[&str]) -> Algorithm {
    const LARGE: usize = 4000;
    if old.len() + new.len() > LARGE { Algorithm::Patience } else { Algorithm::Histogram }
}

/// A run of changed lines with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of the hunk in the old and new text, from 1 (0 when that side has no line).
    pub old_start: usize,
    pub new_start: usize,
    pub old_len: usize,
    pub new_len: usize,
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub change: Change,
    /// Line numbers from 1; none on the side where the line does not stand.
    pub old: Option<usize>,
    pub new: Option<usize>,
    /// Without its line end.
    pub text: String,
    /// What ended the line; none at the end of a file without final newline.
    pub ending: Option<Ending>,
    /// Byte ranges of `text` that differ from the paired line of the other side; empty on context and on
    /// unpaired lines.
    pub emphasis: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    Context,
    Removed,
    Added,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// Hunks that turn `old` into `new`; empty when they are the same.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let deadline = Instant::now() + PATIENCE;
    let ops = capture_diff_slices_deadline(algorithm(&old, &new), &old, &new, Some(deadline));
    group_diff_ops(ops, CONTEXT).iter().filter_map(|group| hunk(&old, &new, group, deadline)).collect()
}

/// Applies `hunks` of [`hunks`], or some of them, to the text they were made from. `None` when one does not fit.
pub fn apply(old: &str, hunks: &[Hunk]) -> Option<String> {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut out = String::with_capacity(old.len());
    let mut at = 0;
    for hunk in hunks {
        let start = hunk.old_start.saturating_sub(1);
        out.extend(lines.get(at..start)?.iter().copied());
        at = start;
        for line in &hunk.lines {
            let ending = line.ending.map_or("", Ending::as_str);
            if line.change != Change::Added {
                let there = lines.get(at)?.strip_prefix(line.text.as_str())?;
                if there != ending {
                    return None;
                }
                at += 1;
            }
            if line.change != Change::Removed {
                out.push_str(&line.text);
                out.push_str(ending);
            }
        }
    }
    out.extend(lines.get(at..)?.iter().copied());
    Some(out)
}

/// A git-style patch of one file: `diff --git`, mode lines for creation and deletion, `---`/`+++` and hunks, that
/// `git apply` takes. `None` on a side means that the file does not exist there. Empty when nothing changes.
pub fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    if old == new {
        return String::new();
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let (a, b) = (quoted("a/", path), quoted("b/", path));
    let mut out = format!("diff --git {a} {b}\n");
    if old.is_none() {
        out.push_str("new file mode 100644\n");
    }
    if new.is_none() {
        out.push_str("deleted file mode 100644\n");
    }
    let hunks = hunks(old.unwrap_or(""), new.unwrap_or(""));
    if hunks.is_empty() {
        return out;
    }
    // A tab ends a name with blanks, as git writes it, lest the rest be taken for a date.
    let tab = if path.contains(' ') { "\t" } else { "" };
    let side = |name: &str, there: bool| if there { format!("{name}{tab}") } else { "/dev/null".to_owned() };
    // Writing into a String does not fail.
    let _ = writeln!(out, "--- {}\n+++ {}", side(&a, old.is_some()), side(&b, new.is_some()));
    for hunk in &hunks {
        let old = range(hunk.old_start, hunk.old_len);
        let _ = writeln!(out, "@@ -{old} +{} @@", range(hunk.new_start, hunk.new_len));
        for line in &hunk.lines {
            out.push(match line.change {
                Change::Context => ' ',
                Change::Removed => '-',
                Change::Added => '+',
            });
            out.push_str(&line.text);
            out.push_str(line.ending.map_or("\n\\ No newline at end of file\n", Ending::as_str));
        }
    }
    out
}

fn range(start: usize, len: usize) -> String {
    if len == 1 { start.to_string() } else { format!("{start},{len}") }
}

/// A path as git writes it with its default `core.quotePath`: bytes that are not printable ASCII, quotes and
/// backslashes are escaped, and then the whole is in quotes.
fn quoted(prefix: &str, path: &str) -> String {
    if path.bytes().all(|b| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\')) {
        return format!("{prefix}{path}");
    }
    let mut out = format!("\"{prefix}");
    for byte in path.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            7 => out.push_str("\\a"),
            8 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            11 => out.push_str("\\v"),
            12 => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

fn hunk(old: &[&str], new: &[&str], group: &[DiffOp], deadline: Instant) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let (old_start, new_start) = (first.old_range().start, first.new_range().start);
    let old_len = last.old_range().end - old_start;
    let new_len = last.new_range().end - new_start;
    let mut lines = Vec::with_capacity(old_len + new_len);
    for op in group {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            for (i, text) in old.get(old_range.clone())?.iter().enumerate() {
                let numbers = (Some(old_range.start + i + 1), Some(new_range.start + i + 1));
                lines.push(line(Change::Context, numbers, text, Vec::new()));
            }
            continue;
        }
        let (removed, added) = (old.get(old_range.clone())?, new.get(new_range.clone())?);
        let block = block_until(removed, added, (old_range.start, new_range.start), deadline);
        lines.extend(block.removed);
        lines.extend(block.added);
    }
    Some(Hunk {
        old_start: if old_len == 0 { old_start } else { old_start + 1 },
        new_start: if new_len == 0 { new_start } else { new_start + 1 },
        old_len,
        new_len,
        lines,
    })
}

/// A run of changed lines, and which of them are versions of each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    pub removed: Vec<DiffLine>,
    pub added: Vec<DiffLine>,
    /// Places in `removed` and `added`, both ascending.
    pub pairs: Vec<(usize, usize)>,
}

/// What a hunk is made of, in order.
pub enum Part {
    /// A line that is the same on both sides.
    Same(DiffLine),
    Changed(Block),
}

/// The parts of a hunk that begins with these lines of the two texts, from 0. After `patience` no more lines are compared word by
/// word.
pub fn parts(removed: &str, added: &str, at: (usize, usize), patience: Duration) -> Vec<Part> {
    let removed: Vec<&str> = removed.split_inclusive('\n').collect();
    let added: Vec<&str> = added.split_inclusive('\n').collect();
    let deadline = Instant::now() + patience;
    let mut parts = Vec::new();
    for op in capture_diff_slices_deadline(algorithm(&removed, &added), &removed, &added, Some(deadline)) {
        let (old, new) = (op.old_range(), op.new_range());
        let start = (at.0 + old.start, at.1 + new.start);
        let (gone, come) = (removed.get(old).unwrap_or_default(), added.get(new).unwrap_or_default());
        if op.tag() == DiffTag::Equal {
            let same =
                gone.iter().enumerate().map(|(n, text)| context(text, start.0 + n + 1, start.1 + n + 1));
            parts.extend(same.map(Part::Same));
        } else {
            parts.push(Part::Changed(block_until(gone, come, start, deadline)));
        }
    }
    parts
}

/// A line as it stands on both sides; numbers from 1.
pub fn context(text: &str, old: usize, new: usize) -> DiffLine {
    line(Change::Context, (Some(old), Some(new)), text, Vec::new())
}

fn block_until(removed: &[&str], added: &[&str], at: (usize, usize), deadline: Instant) -> Block {
    let (mut in_removed, mut in_added, pairs) = emphasis(removed, added, deadline);
    let mut marks = |i: usize, side: bool| {
        if side { in_removed.remove(&i) } else { in_added.remove(&i) }.unwrap_or_default()
    };
    let mut block = Block { pairs, ..Block::default() };
    for (i, text) in removed.iter().enumerate() {
        block.removed.push(line(Change::Removed, (Some(at.0 + i + 1), None), text, marks(i, true)));
    }
    for (i, text) in added.iter().enumerate() {
        block.added.push(line(Change::Added, (None, Some(at.1 + i + 1)), text, marks(i, false)));
    }
    block
}

fn line(
    change: Change,
    numbers: (Option<usize>, Option<usize>),
    text: &str,
    emphasis: Vec<Span>,
) -> DiffLine {
    let (text, ending) = split_ending(text);
    DiffLine { change, old: numbers.0, new: numbers.1, text: text.to_owned(), ending, emphasis }
}

fn split_ending(line: &str) -> (&str, Option<Ending>) {
    if let Some(text) = line.strip_suffix("\r\n") {
        (text, Some(Ending::CrLf))
    } else if let Some(text) = line.strip_suffix('\n') {
        (text, Some(Ending::Lf))
    } else {
        (line, None)
    }
}

/// Marks by the number of a line in its block.
type Marks = HashMap<usize, Vec<Span>>;

/// What differs within the lines of a changed block that are versions of each other.
fn emphasis<'a>(
    removed: &[&'a str],
    added: &[&'a str],
    deadline: Instant,
) -> (Marks, Marks, Vec<(usize, usize)>) {
    let mut marks = (Marks::new(), Marks::new(), Vec::new());
    let fits = |lines: &[&str]| lines.iter().all(|line| line.len() <= MAX_EMPHASIS);
    if removed.is_empty() || added.is_empty() || removed.len() * added.len() > MAX_PAIRS {
        return marks;
    }
    if !fits(removed) || !fits(added) || Instant::now() > deadline {
        return marks;
    }
    if let ([old], [new]) = (removed, added)
        && let Some((in_old, in_new)) = one_change(split_ending(old).0, split_ending(new).0)
    {
        return (Marks::from([(0, in_old)]), Marks::from([(0, in_new)]), vec![(0, 0)]);
    }
    let words = |lines: &[&'a str]| -> Vec<Vec<&'a str>> {
        lines.iter().map(|l| split_ending(l).0.split_word_bounds().collect()).collect()
    };
    let (old, new) = (words(removed), words(added));
    marks.2 = pairs(&old, &new);
    for &(i, j) in &marks.2 {
        let (Some(old), Some(new)) = (old.get(i), new.get(j)) else { continue };
        let ops = capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline));
        let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        let (mut in_old, mut in_new) = (Vec::new(), Vec::new());
        for op in changed {
            push_span(&mut in_old, old, op.old_range());
            push_span(&mut in_new, new, op.new_range());
        }
        marks.0.insert(i, in_old);
        marks.1.insert(j, in_new);
    }
    marks
}

/// What differs between two lines that have a beginning and an end of whole words in common, when that is enough to call them
/// versions of one line and what lies between has no word in common: the usual small change, found without comparing all words.
fn one_change(old: &str, new: &str) -> Option<(Vec<Span>, Vec<Span>)> {
    let head = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    // Back to the begin of the word in which they part. Blanks and graphic ASCII never join to one word or cluster.
    let starts = |at: usize| {
        let next = |text: &str| text.as_bytes().get(at).is_none_or(u8::is_ascii_graphic);
        let blank = at.checked_sub(1).is_none_or(|at| old.as_bytes().get(at) == Some(&b' '));
        blank && next(old) && next(new)
    };
    let head = (0..=head).rev().find(|at| starts(*at))?;
    let (old_rest, new_rest) = (old.get(head..)?, new.get(head..)?);
    let tail = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(|(a, b)| a == b).count();
    let ends = |tail: usize| {
        let before = |text: &str| {
            let at = text.len().checked_sub(tail + 1);
            at.and_then(|at| text.as_bytes().get(at)).is_none_or(u8::is_ascii_graphic)
        };
        let next = old_rest.as_bytes().get(old_rest.len() - tail).is_none_or(|byte| *byte == b' ');
        next && before(old_rest) && before(new_rest)
    };
    let tail = (0..=tail).rev().find(|tail| ends(*tail))?;
    let gone = old_rest.get(..old_rest.len() - tail)?;
    let come = new_rest.get(..new_rest.len() - tail)?;
    let kept = content(old) - content(gone);
    if 200 * kept < MIN_LIKENESS * (content(old) + content(new)) {
        return None;
    }
    // Blanks between words are in common as well.
    let blanks = |text: &str| text.bytes().any(|byte| byte.is_ascii_whitespace());
    let theirs: Vec<&str> = words(come).collect();
    if blanks(gone) && blanks(come) || words(gone).any(|word| theirs.contains(&word)) {
        return None;
    }
    let span =
        |text: &str| if text.is_empty() { Vec::new() } else { vec![Span::new(head, head + text.len())] };
    Some((span(gone), span(come)))
}

/// Without blanks.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_word_bounds().filter(|word| !word.trim().is_empty())
}

/// Bytes that are no blanks.
fn content(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

fn push_span(spans: &mut Vec<Span>, words: &[&str], range: std::ops::Range<usize>) {
    let len = |words: Option<&[&str]>| words.map_or(0, |w| w.iter().map(|w| w.len()).sum::<usize>());
    let start = len(words.get(..range.start));
    let end = start + len(words.get(range));
    if start < end {
        spans.push(Span::new(start, end));
    }
}

/// Which old line became which new one: the order-keeping choice with the most likeness in sum.
fn pairs(old: &[Vec<&str>], new: &[Vec<&str>]) -> Vec<(usize, usize)> {
    let columns = new.len() + 1;
    // Best sum of likeness for the first i old and j new lines, row by row.
    let mut best = vec![0usize; (old.len() + 1) * columns];
    let mut likeness_of = vec![0usize; old.len() * new.len()];
    let get = |table: &[usize], at: usize| table.get(at).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate() {
        for (j, b) in new.iter().enumerate() {
            let like = likeness(a, b);
            if let Some(cell) = likeness_of.get_mut(i * new.len() + j) {
                *cell = like;
            }
            let skip = get(&best, i * columns + j + 1).max(get(&best, (i + 1) * columns + j));
            let with = if like >= MIN_LIKENESS { get(&best, i * columns + j) + like } else { 0 };
            if let Some(cell) = best.get_mut((i + 1) * columns + j + 1) {
                *cell = skip.max(with);
            }
        }
    }
    let (mut i, mut j) = (old.len(), new.len());
    let mut pairs = Vec::new();
    while i > 0 && j > 0 {
        let here = get(&best, i * columns + j);
        if here == get(&best, (i - 1) * columns + j) {
            i -= 1;
        } else if here == get(&best, i * columns + j - 1) {
            j -= 1;
        } else {
            (i, j) = (i - 1, j - 1);
            pairs.push((i, j));
        }
    }
    pairs.reverse();
    pairs
}

/// Share of the text in words that both have, in percent; blanks do not count.
fn likeness(a: &[&str], b: &[&str]) -> usize {
    let content =
        |words: &[&str]| -> usize { words.iter().filter(|w| !w.trim().is_empty()).map(|w| w.len()).sum() };
    let total = content(a) + content(b);
    if total == 0 {
        return if a.is_empty() == b.is_empty() { 100 } else { 0 };
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in a.iter().filter(|w| !w.trim().is_empty()) {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0;
    for word in b {
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += word.len();
        }
    }
    200 * common / total
}

#[cfg(test)]
mod tests;
