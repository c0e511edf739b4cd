//! Which file names an index mentions in prose, as whole words.

use std::collections::{HashMap, HashSet};

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
}

impl<'n> Names<'n> {
    fn new(names: &[&'n str]) -> Self {
        let mut by_last_word: HashMap<&str, Vec<&str>> = HashMap::new();
        for name in names {
            let last = name.rsplit(char::is_whitespace).next().unwrap_or(name);
            by_last_word.entry(last).or_default().push(name);
        }
        Self { by_last_word }
    }

    fn find(&self, prose: &str, found: &mut HashSet<&'n str>) {
        for (at, _) in prose.match_indices(EXTENSION) {
            let (before, after) = prose.split_at_checked(at + EXTENSION.len()).unwrap_or((prose, ""));
            if !ends_word(after) {
                continue;
            }
            let start =
                before.char_indices().rev().find(|(_, c)| !in_word(*c)).map_or(0, |(i, c)| i + c.len_utf8());
            let word = before.get(start..).unwrap_or("");
            let own_folder = word.strip_prefix("./").unwrap_or(word);
            self.take(own_folder, before, found);
            // Where words are not set apart by spaces, the name may start at any character of the run.
            let inner = own_folder.char_indices().skip(1).filter(|(i, _)| {
                own_folder.get(..*i).and_then(|t| t.chars().next_back()).is_some_and(|c| !c.is_ascii())
            });
            for (i, _) in inner {
                self.take(own_folder.get(i..).unwrap_or(""), before, found);
            }
        }
    }

    fn take(&self, word: &str, before: &str, found: &mut HashSet<&'n str>) {
        for name in self.by_last_word.get(word).into_iter().flatten() {
            let whole = before.strip_suffix(name).is_some_and(|rest| {
                name.len() == word.len() || !rest.chars().next_back().is_some_and(in_word)
            });
            if whole {
                found.insert(name);
            }
        }
    }
}

/// Whether what follows a name lets it end there: a full stop does when no word goes on after it.
fn ends_word(after: &str) -> bool {
    let mut rest = after.chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        Some(c) if c.is_ascii() => !in_word(c),
        Some(_) => true,
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '~' | '%' | '@' | '&' | '=' | '#')
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
    }
}
