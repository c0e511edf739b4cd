//! What the composer offers to complete: commands after `/` at its beginning, files of the bundle after `@`. Knows no keys.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use super::command::Command;
use crate::okf::BundlePath;
use crate::wiki::Wiki;

/// Most that is offered at once.
const MOST: usize = 50;

/// What is offered, and what it would replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Characters before the caret that give way.
    pub typed: usize,
    /// The best first; never empty.
    pub offers: Vec<Offer>,
    pub selected: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    Command(Command),
    File(BundlePath),
}

impl Offer {
    /// What is put in.
    pub fn text(&self) -> String {
        match self {
            Self::Command(command) => format!("/{} ", command.name()),
            Self::File(path) => format!("@{} ", path.relative()),
        }
    }
}

/// Texts that fit `query` as a person would find them, the best first; all in their order for an empty query.
pub fn fuzzy<T, S: AsRef<str>>(query: &str, items: impl Iterator<Item = (S, T)>) -> Vec<T> {
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize, T)> = items
        .filter_map(|(text, item)| {
            let text = text.as_ref();
            let score = pattern.score(nucleo_matcher::Utf32Str::new(text, &mut buffer), &mut matcher)?;
            Some((score, text.len(), item))
        })
        .collect();
    if !query.is_empty() {
        // Of two that fit as well, the shorter is nearer to what was typed.
        found.sort_by_key(|(score, length, _)| (std::cmp::Reverse(*score), *length));
    }
    found.into_iter().map(|(.., item)| item).collect()
}

impl Completion {
    /// What can be completed at the caret, with `before` standing in its line; none when nothing can.
    pub fn at(row: usize, before: &str, wiki: Option<&Wiki>) -> Option<Self> {
        let token = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let offers: Vec<Offer> = if let Some(query) = token.strip_prefix('/') {
            if row > 0 || token.len() < before.len() || query.contains('/') {
                return None;
            }
            if Command::named(query).is_some_and(|command| command.name() == query) {
                return None;
            }
            let names = Command::ALL.iter().map(|command| (command.name(), *command));
            fuzzy(query, names).into_iter().map(Offer::Command).collect()
        } else {
            let query = token.strip_prefix('@')?;
            let wiki = wiki?;
            let mut files: Vec<&BundlePath> =
                wiki.pages().map(|page| &page.path).chain(wiki.files()).collect();
            files.sort_unstable();
            if files.iter().any(|path| path.relative() == query) {
                return None;
            }
            fuzzy(query, files.into_iter().map(|path| (path.relative(), path)))
                .into_iter()
                .take(MOST)
                .map(|path| Offer::File(path.clone()))
                .collect()
        };
        let typed = token.chars().count();
        (!offers.is_empty()).then_some(Self { typed, offers, selected: 0 })
    }

    pub fn step(&mut self, forward: bool) {
        let count = self.offers.len().max(1);
        self.selected = if forward { self.selected + 1 } else { self.selected + count - 1 } % count;
    }

    pub fn chosen(&self) -> Option<&Offer> {
        self.offers.get(self.selected)
    }
}

/// A message as it is sent: files named with `@` by their paths in the bundle.
pub fn spell_out(message: &str, wiki: Option<&Wiki>) -> String {
    let Some(wiki) = wiki else { return message.to_owned() };
    let known = |name: &str| {
        BundlePath::parse(&format!("/{name}"))
            .is_ok_and(|path| wiki.page(&path).is_some() || wiki.exists(&path))
    };
    let mut out = String::with_capacity(message.len());
    let mut begins = true;
    for (at, c) in message.char_indices() {
        if c == '@' && begins {
            let rest = message.get(at + 1..).unwrap_or_default();
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            // A name with blanks ends where a file does.
            let blanks = rest.match_indices(char::is_whitespace).take(8).map(|(end, _)| end);
            let ends = blanks.chain([word.len(), rest.trim_end().len()]);
            if ends.filter_map(|end| rest.get(..end)).any(|name| !name.is_empty() && known(name)) {
                out.push('/');
                begins = false;
                continue;
            }
        }
        begins = c.is_whitespace() || c == '(';
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::MemoryBundle;

    fn wiki() -> Wiki {
        let files = [
            ("/wiki/concepts/tide-mill.md", "# Tide mill\n"),
            ("/wiki/concepts/sea-gate.md", "# Sea gate\n"),
            ("/raw/a report.txt", "x\n"),
        ];
        Wiki::load(&MemoryBundle::new(files).unwrap()).unwrap()
    }

    fn offered(before: &str) -> Vec<String> {
        let wiki = wiki();
        let completion = Completion::at(0, before, Some(&wiki));
        completion.map(|c| c.offers.iter().map(Offer::text).collect()).unwrap_or_default()
    }

    #[test]
    fn commands_are_offered_at_the_beginning_only() {
        assert_eq!(offered("/").len(), Command::ALL.len());
        assert_eq!(offered("/rvw"), ["/review "]);
        assert_eq!(offered("/review"), Vec::<String>::new(), "nothing is left to complete");
        assert_eq!(offered("see /re"), Vec::<String>::new());
        assert_eq!(offered("/wiki/a"), Vec::<String>::new(), "a path");
        assert!(Completion::at(1, "/re", None).is_none());
    }

    #[test]
    fn files_are_offered_after_an_at_sign() {
        assert_eq!(offered("see @tdml"), ["@wiki/concepts/tide-mill.md "]);
        assert_eq!(offered("@rep"), ["@raw/a report.txt "]);
        assert_eq!(offered("me@rep"), Vec::<String>::new());
        assert_eq!(offered("@wiki/concepts/tide-mill.md"), Vec::<String>::new());
    }

    #[test]
    fn a_named_file_is_spelled_out_and_other_words_stay() {
        let wiki = wiki();
        let spelled = |text: &str| spell_out(text, Some(&wiki));
        assert_eq!(spelled("Read @wiki/concepts/tide-mill.md."), "Read /wiki/concepts/tide-mill.md.");
        assert_eq!(spelled("(@raw/a report.txt) now"), "(@raw/a report.txt) now", "no blank ends it");
        assert_eq!(spelled("ingest @raw/a report.txt"), "ingest /raw/a report.txt");
        assert_eq!(spelled("ask @nobody, a@b.c"), "ask @nobody, a@b.c");
    }
}
