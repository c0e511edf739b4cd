//! Replacing one text by another in a file, byte for byte elsewhere. Pure.
//!
//! A model sees CRLF files as it likes to; so `\r\n` and `\n` match each other, and what is put in takes the line ends of
//! the place it goes to. When nothing matches so, one place that differs only in a declared way ([`Leniency`]) is taken, and
//! the result says which. Anything else is an error that shows the nearest place.

use std::collections::HashMap;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::typography;

/// What to replace by what.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replacement<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// Every occurrence.
    pub all: bool,
    /// The occurrence that starts at this line, from 1.
    pub line: Option<usize>,
}

/// The text after the replacement.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub count: usize,
    /// First and last line changed, from 1, in the new text.
    pub lines: (usize, usize),
    /// How the place differed from what was asked for, when it did.
    pub lenient: Vec<Leniency>,
}

/// A difference that is forgiven where it leaves one place only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leniency {
    /// Tabs for spaces, or another number of them, at the start of a line that is indented in both.
    Indent,
    /// White space at the end of a line.
    LineEnd,
    /// Typographic quotes, dashes and spaces for plain ones.
    Typography,
    /// Accents composed or not (Unicode NFC).
    Composition,
}

impl Leniency {
    const ALL: [Self; 4] = [Self::Indent, Self::LineEnd, Self::Typography, Self::Composition];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Indent => "indentation",
            Self::LineEnd => "white space at line ends",
            Self::Typography => "typographic quotes, dashes or spaces",
            Self::Composition => "composed accents",
        }
    }
}

/// Longest file, in lines, that is searched for the nearest place.
const MAX_HINT: usize = 20_000;
/// Places that an ambiguous edit is shown.
const MAX_CANDIDATES: usize = 20;

/// Replaces `old` by `new`; `old` must stand in `text` once unless `all` or `line`. `Err` is a sentence for the model.
pub fn replace(text: &str, wanted: &Replacement<'_>) -> Result<Edited, String> {
    if wanted.old.is_empty() {
        return Err("old_string is empty; say what to replace.".to_owned());
    }
    let (flat, removed) = flatten(text);
    let (old, new) = (wanted.old.replace("\r\n", "\n"), wanted.new.replace("\r\n", "\n"));
    if old == new {
        return Err("old_string and new_string are the same; nothing was changed.".to_owned());
    }
    let found: Vec<usize> = flat.match_indices(&old).map(|(at, _)| at).collect();
    if found.is_empty() {
        return lenient(text, &flat, &old, &new, wanted.line);
    }
    let found = choose(&flat, found, wanted)?;
    // Offsets in the flat text, moved by the carriage returns taken out before them.
    let original = |at: usize| at + removed.partition_point(|r| *r < at);
    let mut out = String::with_capacity(text.len() + new.len());
    let mut from = 0;
    let mut lines = (usize::MAX, 0);
    for at in &found {
        let (start, end) = (original(*at), original(at + old.len()));
        out.push_str(text.get(from..start).unwrap_or_default());
        let first = line_of(&out, out.len());
        let replaced = text.get(start..end).unwrap_or_default();
        out.push_str(&with_line_ends(&new, replaced, text));
        lines = (lines.0.min(first), lines.1.max(line_of(&out, out.len())));
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(Edited { text: out, count: found.len(), lines, lenient: Vec::new() })
}

/// The occurrences that are meant.
fn choose(flat: &str, found: Vec<usize>, wanted: &Replacement<'_>) -> Result<Vec<usize>, String> {
    if let Some(line) = wanted.line {
        let here: Vec<usize> = found.iter().copied().filter(|at| line_of(flat, *at) == line).collect();
        return match here.len() {
            1 => Ok(here),
            0 => Err(format!("old_string does not start at line {line}. {}", candidates(flat, &found))),
            many => Err(format!(
                "old_string stands {many} times in line {line}. Give more of the text around the one you mean."
            )),
        };
    }
    match found.len() {
        many if many > 1 && !wanted.all => Err(format!(
            "old_string stands there {many} times. {}Give more of the text around the one you mean, its `line`, or replace_all.",
            candidates(flat, &found)
        )),
        _ => Ok(found),
    }
}

/// The places, one a line, as a model can tell them apart.
fn candidates(flat: &str, found: &[usize]) -> String {
    let mut text = "It starts at lines:\n".to_owned();
    for at in found.iter().take(MAX_CANDIDATES) {
        let line = line_of(flat, *at);
        let whole: String = flat.lines().nth(line - 1).unwrap_or_default().chars().take(200).collect();
        text.push_str(&format!("{line}: {whole}\n"));
    }
    if found.len() > MAX_CANDIDATES {
        text.push_str(&format!("and {} more\n", found.len() - MAX_CANDIDATES));
    }
    text
}

/// `new` with the line ends of what it replaces, or of the file where that is one line.
fn with_line_ends(new: &str, replaced: &str, file: &str) -> String {
    let crlf = if replaced.contains('\n') { replaced.contains("\r\n") } else { file.contains("\r\n") };
    if crlf { new.replace('\n', "\r\n") } else { new.to_owned() }
}

/// The one place that differs in declared ways only. Lines that the edit does not change keep their bytes.
fn lenient(text: &str, flat: &str, old: &str, new: &str, line: Option<usize>) -> Result<Edited, String> {
    let (haystack, needle) = (Folded::new(text, &Leniency::ALL), Folded::new(old, &Leniency::ALL));
    if needle.text.trim().is_empty() {
        return Err(missing(flat, old));
    }
    let mut places: Vec<Range<usize>> = haystack
        .text
        .match_indices(&needle.text)
        .filter_map(|(at, m)| haystack.span(at..at + m.len()))
        .collect();
    if let Some(line) = line {
        places.retain(|place| line_of(text, place.start) == line);
    }
    let place = match places.as_slice() {
        [] => return Err(missing(flat, old)),
        [one] => one.clone(),
        many => {
            let starts: Vec<usize> = many.iter().map(|place| place.start).collect();
            return Err(format!(
                "old_string does not stand in the file exactly, and {} places are like it. {}Read them again.",
                many.len(),
                candidates(text, &starts)
            ));
        }
    };
    let region = text.get(place.clone()).unwrap_or_default();
    let needed = |way: &Leniency| {
        let others: Vec<Leniency> = Leniency::ALL.into_iter().filter(|other| other != way).collect();
        Folded::new(region, &others).text != Folded::new(old, &others).text
    };
    let lenient: Vec<Leniency> = Leniency::ALL.into_iter().filter(needed).collect();
    let replaced = carried_over(region, old, new, text);
    let out = [text.get(..place.start), Some(&replaced), text.get(place.end..)]
        .map(Option::unwrap_or_default)
        .concat();
    if out == text {
        return Err("The file says this already; nothing was changed.".to_owned());
    }
    let last = place.start + replaced.len();
    let lines = (line_of(&out, place.start), line_of(&out, last));
    Ok(Edited { text: out, count: 1, lines, lenient })
}

/// `new` for `region`, which is `old` but for declared differences: lines that `old` and `new` share stay as they are in the
/// file, and new lines are indented as the file indents.
fn carried_over(region: &str, old: &str, new: &str, file: &str) -> String {
    let there: Vec<&str> = region.split_inclusive('\n').collect();
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut indents = HashMap::new();
    for (line, wanted) in there.iter().zip(&old) {
        indents.entry(indent(wanted)).or_insert(indent(line));
    }
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut out: String = there.iter().take(before).copied().collect();
    for line in new.iter().take(new.len() - after).skip(before) {
        let own = indent(line);
        let body = line.get(own.len()..).unwrap_or_default();
        out.push_str(&with_line_ends(&[indents.get(own).unwrap_or(&own), body].concat(), region, file));
    }
    out.extend(there.iter().skip(there.len().saturating_sub(after)).copied());
    out
}

fn indent(line: &str) -> &str {
    let body = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - body.len()).unwrap_or_default()
}

/// A text as it is compared, with the way back to the bytes of each character.
struct Folded {
    text: String,
    /// Start in `text` of each piece, and its place in the original.
    pieces: Vec<(usize, Range<usize>)>,
}

impl Folded {
    fn new(text: &str, ways: &[Leniency]) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), pieces: Vec::new() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l));
            let kept =
                if ways.contains(&Leniency::LineEnd) { content.trim_end_matches(is_blank) } else { content };
            let mut at = 0;
            let lead = indent(kept).len();
            if ways.contains(&Leniency::Indent) && lead > 0 {
                folded.push(" ", start..start + lead);
                at = lead;
            }
            for (offset, cluster) in kept.get(at..).unwrap_or_default().grapheme_indices(true) {
                let from = start + at + offset;
                folded.push(&fold(cluster, ways), from..from + cluster.len());
            }
            if line.ends_with('\n') {
                folded.push("\n", start + kept.len()..start + line.len());
            }
            start += line.len();
        }
        folded
    }

    fn push(&mut self, text: &str, place: Range<usize>) {
        self.pieces.push((self.text.len(), place));
        self.text.push_str(text);
    }

    /// The bytes behind a part of the folded text; none when it cuts a character in two.
    fn span(&self, part: Range<usize>) -> Option<Range<usize>> {
        let first = self.pieces.binary_search_by_key(&part.start, |(at, _)| *at).ok()?;
        let end = self.pieces.partition_point(|(at, _)| *at < part.end);
        let whole = self.pieces.get(end).map_or(self.text.len(), |(at, _)| *at) == part.end;
        let (_, last) = self.pieces.get(end.checked_sub(1)?)?;
        let (_, start) = self.pieces.get(first)?;
        whole.then_some(start.start..last.end)
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

fn fold(cluster: &str, ways: &[Leniency]) -> String {
    let composed: String =
        if ways.contains(&Leniency::Composition) { cluster.nfc().collect() } else { cluster.to_owned() };
    if !ways.contains(&Leniency::Typography) {
        return composed;
    }
    composed.chars().map(typography::plain).collect()
}

/// The text with `\r\n` as `\n`, and for each `\r` taken out the flat offset of the `\n` it stood before.
fn flatten(text: &str) -> (String, Vec<usize>) {
    if !text.contains("\r\n") {
        return (text.to_owned(), Vec::new());
    }
    let mut flat = String::with_capacity(text.len());
    let mut removed = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.strip_suffix("\r\n") {
            Some(body) => {
                flat.push_str(body);
                removed.push(flat.len());
                flat.push('\n');
            }
            None => flat.push_str(line),
        }
    }
    (flat, removed)
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
}

/// Why nothing matched: the place that is most like it, and the first difference there.
fn missing(flat: &str, old: &str) -> String {
    if let Some(body) = old.strip_suffix('\n')
        && !body.is_empty()
        && flat.ends_with(body)
        && !flat.ends_with('\n')
    {
        return "old_string ends with a line break, the file does not. Leave the last line break out."
            .to_owned();
    }
    let lines: Vec<&str> = flat.lines().take(MAX_HINT).collect();
    let wanted: Vec<&str> = old.lines().collect();
    // A window is judged by how many of its lines agree when white space does not count.
    let key = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let keys: Vec<String> = lines.iter().map(|l| key(l)).collect();
    let sought: Vec<String> = wanted.iter().take(200).map(|l| key(l)).collect();
    let best = (0..lines.len())
        .map(|start| {
            let agree =
                sought.iter().zip(keys.iter().skip(start)).filter(|(a, b)| !a.is_empty() && a == b).count();
            (agree, start)
        })
        .filter(|(agree, _)| *agree > 0)
        .max_by_key(|(agree, start)| (*agree, std::cmp::Reverse(*start)));
    let nearest = match best {
        Some((_, start)) => Some(start),
        None => near_line(&lines, &wanted),
    };
    let Some(start) = nearest else {
        return "old_string does not stand in the file, nor anything like it. Read the file again."
            .to_owned();
    };
    let difference = wanted
        .iter()
        .enumerate()
        .map(|(i, line)| (start + i, *line, lines.get(start + i).copied().unwrap_or("(end of the file)")))
        .find(|(_, wanted, there)| wanted != there);
    match difference {
        Some((at, wanted, there)) => format!(
            "old_string does not stand in the file. The nearest place starts at line {}; line {} there is {there:?}, old_string has \
             {wanted:?}.",
            start + 1,
            at + 1
        ),
        None => format!(
            "old_string does not stand in the file as it is. The nearest place is at line {}; mind where its lines begin and end.",
            start + 1
        ),
    }
}

/// The line most like the first wanted one, by shared words.
fn near_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let first = wanted.iter().find(|line| !line.trim().is_empty())?;
    let words: Vec<&str> = first.split_whitespace().collect();
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| (words.iter().filter(|word| line.contains(**word)).count(), at))
        .filter(|(shared, _)| *shared * 2 >= words.len().max(1) && *shared > 0)
        .max_by_key(|(shared, at)| (*shared, std::cmp::Reverse(*at)))
        .map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, String> {
        super::replace(text, &Replacement { old, new, all, line: None })
    }

    #[test]
    fn an_edit_of_a_crlf_file_changes_only_its_line() {
        let text = "a\r\nb\r\nc\r\nd";
        let edited = replace(text, "b\nc\n", "x\ny\nz\n", false).unwrap();
        assert_eq!(edited.text, "a\r\nx\r\ny\r\nz\r\nd");
        let edited = replace("\u{feff}a\r\nb\r\n", "b", "B", false).unwrap();
        assert_eq!(
            edited,
            Edited { text: "\u{feff}a\r\nB\r\n".into(), count: 1, lines: (2, 2), lenient: Vec::new() }
        );
    }

    #[test]
    fn a_mixed_file_keeps_each_line_end() {
        let edited = replace("a\nb\r\nc\n", "a\nb", "a\nB", false).unwrap();
        assert_eq!(edited.text, "a\nB\r\nc\n");
    }

    #[test]
    fn ambiguity_names_the_lines_and_replace_all_takes_them() {
        let problem = replace("x\ny\nx\n", "x", "z", false).unwrap_err();
        assert!(problem.contains("2 times") && problem.contains("1: x\n3: x\n"), "{problem}");
        let edited = replace("x\ny\nx\n", "x", "z", true).unwrap();
        assert_eq!((edited.text.as_str(), edited.count, edited.lines), ("z\ny\nz\n", 2, (1, 3)));
    }

    #[test]
    fn nothing_to_do_is_an_error() {
        assert!(replace("a", "", "b", true).unwrap_err().contains("empty"));
        assert!(replace("a\r\n", "a\n", "a\r\n", false).unwrap_err().contains("the same"));
    }

    #[test]
    fn a_near_miss_shows_the_place_and_the_first_difference() {
        let problem = replace("one\n\ttwo\nthree\n", "one\ntwo\nthree\n", "x", false).unwrap_err();
        assert!(problem.contains("line 2 there is \"\\ttwo\", old_string has \"two\""), "{problem}");
        let problem = replace("alpha\nlast", "last\n", "x\n", false).unwrap_err();
        assert!(problem.contains("Leave the last line break out"), "{problem}");
        assert!(replace("alpha", "omega", "x", false).unwrap_err().contains("nor anything like it"));
    }

    proptest! {
        #[test]
        fn every_byte_outside_the_place_stays(head in "[ab\r\n]{0,12}", tail in "[ab\r\n]{0,12}") {
            // The place is unique: no other part of the text holds its letter.
            let text = format!("{head}Q{tail}");
            let edited = replace(&text, "Q", "R", false).unwrap();
            prop_assert_eq!(edited.text, format!("{head}R{tail}"));
        }
    }
}
