//! How much of a known text a conversion kept: words, their order, tables, headings. Words are compared, not bytes: case,
//! markdown and the width of characters do not count, and each Chinese, Japanese or Korean character is a word.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// Shares between 0 and 1; `None` where the known text has nothing of the kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub recall: Option<f64>,
    pub precision: Option<f64>,
    /// Three-word runs that came out.
    pub runs: Option<f64>,
    /// The longest part of the words that occur once in both that comes in the same order.
    pub order: Option<f64>,
    /// Table rows whose cells all stand in one row.
    pub rows: Option<f64>,
    /// Headings that are headings.
    pub headings: Option<f64>,
}

pub fn score(truth: &str, found: &str) -> Score {
    let (wanted, got) = (words(truth), words(found));
    let (wanted_runs, got_runs) = (runs(&wanted), runs(&got));
    let got_rows: Vec<Vec<String>> = rows(found);
    let wanted_rows = rows(truth);
    let wanted_headings = headings(truth);
    let got_headings: HashSet<String> = headings(found).into_iter().collect();
    Score {
        recall: share(common(&wanted, &got), wanted.len()),
        precision: share(common(&wanted, &got), got.len()),
        runs: share(common(&wanted_runs, &got_runs), wanted_runs.len()),
        order: order(&wanted, &got),
        rows: share(
            wanted_rows.iter().filter(|row| got_rows.iter().any(|got| holds(got, row))).count(),
            wanted_rows.len(),
        ),
        headings: share(
            wanted_headings.iter().filter(|heading| got_headings.contains(*heading)).count(),
            wanted_headings.len(),
        ),
    }
}

/// The mean of each share over those that have it.
pub fn mean(scores: &[Score]) -> Score {
    let of = |get: fn(&Score) -> Option<f64>| {
        let values: Vec<f64> = scores.iter().filter_map(get).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    Score {
        recall: of(|s| s.recall),
        precision: of(|s| s.precision),
        runs: of(|s| s.runs),
        order: of(|s| s.order),
        rows: of(|s| s.rows),
        headings: of(|s| s.headings),
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for share in [self.recall, self.precision, self.runs, self.order, self.rows, self.headings] {
            match share {
                Some(share) => write!(f, "  {share:.3}")?,
                None => write!(f, "      -")?,
            }
        }
        Ok(())
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn common<T: std::hash::Hash + Eq>(wanted: &[T], got: &[T]) -> usize {
    let mut left: HashMap<&T, usize> = HashMap::new();
    got.iter().for_each(|word| *left.entry(word).or_default() += 1);
    wanted
        .iter()
        .filter(|word| match left.get_mut(word) {
            Some(n) if *n > 0 => {
                *n -= 1;
                true
            }
            _ => false,
        })
        .count()
}

fn runs(words: &[String]) -> Vec<[&str; 3]> {
    words.windows(3).map(|w| [w[0].as_str(), w[1].as_str(), w[2].as_str()]).collect()
}

fn order(wanted: &[String], got: &[String]) -> Option<f64> {
    let once = |words: &[String]| {
        let mut at: HashMap<String, Option<usize>> = HashMap::new();
        for (index, word) in words.iter().enumerate() {
            at.entry(word.clone()).and_modify(|at| *at = None).or_insert(Some(index));
        }
        at
    };
    let places = once(got);
    let unique = once(wanted);
    let line: Vec<usize> = wanted
        .iter()
        .filter(|word| unique[*word].is_some())
        .filter_map(|word| places.get(word).copied().flatten())
        .collect();
    let mut tails: Vec<usize> = Vec::new();
    for place in &line {
        let at = tails.partition_point(|tail| tail < place);
        if at == tails.len() { tails.push(*place) } else { tails[at] = *place }
    }
    share(tails.len(), line.len())
}

/// Markup, and what stands in its place.
static MARKUP: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"(?s)<!--.*?-->", " "),
        (r"!\[([^\]]*)\]\([^)]*\)", " "),
        (r"\[([^\]]*)\]\([^)]*\)", "$1"),
        (r"</?[A-Za-z][^<>]*>", " "),
        (r"\\([\\`*_{}\[\]()#+\-.!|<>~$&])", "$1"),
        // Emphasis within a word parts no words.
        (r"[*`~\u{ad}\u{200b}]", ""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;|&#x20;|&#124;", " "),
        ("&amp;", "&"),
    ]
    .map(|(markup, text)| (Regex::new(markup).unwrap(), text))
    .into()
});

/// The text without its markup.
fn plain(text: &str) -> String {
    MARKUP
        .iter()
        .fold(text.to_owned(), |text, (markup, plain)| markup.replace_all(&text, *plain).into_owned())
}

pub fn words(text: &str) -> Vec<String> {
    let text: String = plain(text).nfkc().flat_map(char::to_lowercase).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let wide =
            matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF);
        if !wide && c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if wide {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The rows of pipe tables, each as its cells that are not blank, in words.
fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with('|') && line.len() > 2)
        .filter(|line| line.chars().any(|c| !"|-: ".contains(c)))
        .map(|line| {
            let line = line.replace("\\|", "\u{1}");
            line.split('|').map(|cell| words(cell).join(" ")).filter(|cell| !cell.is_empty()).collect()
        })
        .filter(|row: &Vec<String>| !row.is_empty())
        .collect()
}

fn holds(got: &[String], wanted: &[String]) -> bool {
    let mut left = got.to_vec();
    wanted.iter().all(|cell| match left.iter().position(|other| other == cell) {
        Some(at) => {
            left.remove(at);
            true
        }
        None => false,
    })
}

fn headings(text: &str) -> Vec<String> {
    let heading = Regex::new(r"^#{1,6} +(.*)$").unwrap();
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if let Some(hit) = heading.captures(line).filter(|_| !fenced) {
            found.push(words(&hit[1]).join(" "));
        }
    }
    found.retain(|heading| !heading.is_empty());
    found
}

#[test]
fn a_text_scores_full_against_itself_and_less_when_mangled() {
    let text = "# Head\n\nOne two three four five.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let same = score(text, text);
    for share in [same.recall, same.precision, same.runs, same.order, same.rows, same.headings] {
        assert_eq!(share, Some(1.0));
    }
    let mangled = score(text, "Head five four three two one. a 1 b 2 more");
    assert_eq!((mangled.rows, mangled.headings), (Some(0.0), Some(0.0)));
    assert_eq!(mangled.recall, Some(1.0));
    assert!(mangled.precision < Some(1.0) && mangled.order < Some(0.8) && mangled.runs < Some(0.2));
}

#[test]
fn markup_width_and_case_do_not_count() {
    assert_eq!(
        words("**Ｂｏｌｄ** [Link](http://x) <b>t</b> a\\_b 日本"),
        ["bold", "link", "t", "a", "b", "日", "本"]
    );
}
