//! Which file names an index mentions in prose, as whole words.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::okf::Page;

const EXTENSION: &str = ".md";

/// Those of `names` (all ending in `.md`) that stand in the page's prose as whole words: `barfoo.md`, `x/foo.md` and
/// `foo.md.bak` do not mention `foo.md`. Takes time linear in the page.
pub fn names_in<'n>(page: &Page, names: &[&'n str]) -> HashSet<&'n str> {
    let known = Names::new(names);
    let mut found = HashSet::new();
    for run in &page.mentions {
        known.find(run.of(&page.text), &mut found);
    }
    found
}

/// Names to look for, by their last word: a name may hold spaces.
struct Names<'n> {
    by_last_word: HashMap<&'n str, Vec<&'n str>>,
    /// Lengths of the last words in bytes, ascending. No look back goes further than the longest, so that a run of
    /// megabytes without a space costs no more than its length.
    lengths: Vec<usize>,
}

impl<'n> Names<'n> {
    fn new(names: &[&'n str]) -> Self {
        let mut by_last_word: HashMap<&str, Vec<&str>> = HashMap::new();
        for name in names {
            let last = name.rsplit(char::is_whitespace).next().unwrap_or(name);
            by_last_word.entry(last).or_default().push(name);
        }
        let lengths: BTreeSet<usize> = by_last_word.keys().map(|word| word.len()).collect();
        Self { by_last_word, lengths: lengths.into_iter().collect() }
    }

    fn find(&self, prose: &str, found: &mut HashSet<&'n str>) {
        for (at, _) in prose.match_indices(EXTENSION) {
            let (before, after) = prose.split_at_checked(at + EXTENSION.len()).unwrap_or((prose, ""));
            if !ends_word(after) {
                continue;
            }
            for length in &self.lengths {
                let parts =
                    before.len().checked_sub(*length).and_then(|start| before.split_at_checked(start));
                if let Some((head, word)) = parts
                    && starts_word(head)
                {
                    self.take(word, before, found);
                }
            }
        }
    }

    fn take(&self, word: &str, before: &str, found: &mut HashSet<&'n str>) {
        for name in self.by_last_word.get(word).into_iter().flatten() {
            if before.strip_suffix(name).is_some_and(starts_word) {
                found.insert(name);
            }
        }
    }
}

/// Whether what stands before a name lets it begin there: no word goes on, except in scripts that do not set words apart
/// by spaces, and no folder but the own one.
fn starts_word(before: &str) -> bool {
    let own = before.strip_suffix("./").unwrap_or(before);
    own.chars().next_back().is_none_or(|c| !in_word(c))
}

/// Whether what follows a name lets it end there: a full stop does when no word goes on after it.
fn ends_word(after: &str) -> bool {
    let mut rest = after.chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        Some(c) => !in_word(c),
    }
}

fn in_word(c: char) -> bool {
    (c.is_alphanumeric() && !is_unspaced(c))
        || matches!(c, '_' | '-' | '.' | '/' | '+' | '~' | '%' | '@' | '&' | '=' | '#')
}

/// Letters of scripts that run words together: Thai and Lao, Myanmar, Khmer, Chinese and Japanese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentions(prose: &str, name: &str) -> bool {
        let mut found = HashSet::new();
        Names::new(&[name]).find(prose, &mut found);
        found.contains(name)
    }

    #[test]
    fn only_whole_words_are_mentions() {
        for prose in [
            "foo.md",
            "see foo.md.",
            "(foo.md)",
            "foo.md, bar",
            "\"foo.md\"",
            "./foo.md",
            "foo.md: why",
            "x foo.md",
        ] {
            assert!(mentions(prose, "foo.md"), "{prose}");
        }
        for prose in
            ["barfoo.md", "x/foo.md", "foo.md.bak", "foo.mdx", "a-foo.md", "foo.md/x", "foo", "../foo.md"]
        {
            assert!(!mentions(prose, "foo.md"), "{prose}");
        }
    }

    #[test]
    fn names_with_spaces_and_scripts_without_them() {
        assert!(mentions("open my page.md now", "my page.md"));
        assert!(!mentions("open tummy page.md now", "my page.md"));
        assert!(!mentions("open page.md now", "my page.md"));
        assert!(mentions("参见概念.md。", "概念.md"));
        assert!(mentions("参见foo.md是", "foo.md"));
        assert!(!mentions("éfoo.md", "foo.md"));
        assert!(!mentions("foo.mdé", "foo.md"));
    }
}
