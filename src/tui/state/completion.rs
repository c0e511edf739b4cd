//! What the composer offers to complete: commands after `/` at its beginning, files of the bundle after `@`. Knows no keys.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use super::command::Command;
use crate::okf::BundlePath;
use crate::text::Span;
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
            // A name with blanks needs an end.
            Self::File(path) if path.relative().contains(char::is_whitespace) => {
                format!("@\"{}\" ", path.relative())
            }
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
        let token = file_token(before)
            .unwrap_or_else(|| before.rsplit(char::is_whitespace).next().unwrap_or_default());
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
            let query = match query.strip_prefix('"') {
                Some(query) => query,
                None if files.iter().any(|path| path.relative() == query) => return None,
                // Words after a blank are the message's, unless they go on with a file's name.
                None if query.contains(char::is_whitespace) => {
                    let query = query.to_lowercase();
                    files.retain(|path| path.relative().to_lowercase().contains(&query));
                    &query.clone()
                }
                None => query,
            };
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

/// What stands before the caret from the last `@` that begins a word; none when its quotes are closed.
fn file_token(before: &str) -> Option<&str> {
    let begins = |at: usize| {
        before.get(..at).and_then(|b| b.chars().next_back()).is_none_or(|c| c.is_whitespace() || c == '(')
    };
    let at = before.rmatch_indices('@').map(|(at, _)| at).find(|at| begins(*at))?;
    let token = before.get(at..)?;
    let quotes = token.matches('"').count();
    (quotes == 0 || (quotes == 1 && token.starts_with("@\""))).then_some(token)
}

/// A file that a message names with `@`.
struct Named<'a> {
    /// Bytes of the message from the `@` on.
    span: Span,
    /// The path in the bundle, without quotes and `#heading`.
    name: &'a str,
    known: bool,
}

/// What a message names with `@`, in its order. A name with blanks stands in quotes or ends where a file does.
fn named<'a>(message: &'a str, wiki: &Wiki) -> Vec<Named<'a>> {
    let known = |name: &str| {
        let name = name.split_once('#').map_or(name, |(name, _)| name);
        BundlePath::parse(&format!("/{name}"))
            .is_ok_and(|path| wiki.page(&path).is_some() || wiki.exists(&path))
    };
    let mut all = Vec::new();
    let mut begins = true;
    for (at, c) in message.char_indices() {
        if c == '@' && begins {
            let rest = message.get(at + 1..).unwrap_or_default();
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(name, _)| name);
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            // A name with blanks ends where a file does.
            let blanks = rest.match_indices(char::is_whitespace).take(8).map(|(end, _)| end);
            let mut ends =
                blanks.chain([word.len(), rest.trim_end().len()]).filter_map(|end| rest.get(..end));
            let (name, length) = match quoted {
                Some(name) => (name, name.len() + 2),
                None => {
                    let name = ends.find(|name| !name.is_empty() && known(name)).unwrap_or(word);
                    (name, name.len())
                }
            };
            if !name.is_empty() {
                all.push(Named { span: Span::new(at, at + 1 + length), name, known: known(name) });
            }
        }
        begins = c.is_whitespace() || c == '(';
    }
    all
}

/// What a message names with `@` and is not in the bundle, each with the file that is nearest to it.
pub fn missing(message: &str, wiki: &Wiki) -> Vec<(String, Option<BundlePath>)> {
    let files = || wiki.pages().map(|page| &page.path).chain(wiki.files());
    let nearest = |name: &str| {
        let own = name.rsplit('/').next().unwrap_or(name);
        let stem = |text: &str| text.rsplit('/').next().unwrap_or(text).to_lowercase();
        let of = |query: &str| fuzzy(query, files().map(|path| (path.relative(), path))).into_iter().next();
        // Of a name that no file has in it letter by letter, the file whose name is most like it.
        let like = || {
            let scored = files().map(|path| (strsim::jaro_winkler(&stem(path.relative()), &stem(own)), path));
            scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, path)| path)
        };
        of(name).or_else(|| of(own)).or_else(like).cloned()
    };
    let unknown = named(message, wiki).into_iter().filter(|named| !named.known);
    unknown.map(|named| (named.name.to_owned(), nearest(named.name))).collect()
}

/// A message as it is sent: files named with `@` by their paths in the bundle.
pub fn spell_out(message: &str, wiki: Option<&Wiki>) -> String {
    let Some(wiki) = wiki else { return message.to_owned() };
    let mut out = String::with_capacity(message.len());
    let mut done = 0;
    for Named { span, name, .. } in named(message, wiki).into_iter().filter(|named| named.known) {
        out.push_str(message.get(done..span.start).unwrap_or_default());
        let blank = name.contains(char::is_whitespace);
        out.push_str(&if blank { format!("\"/{name}\"") } else { format!("/{name}") });
        done = span.end;
    }
    out.push_str(message.get(done..).unwrap_or_default());
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
        assert_eq!(offered("@rep"), ["@\"raw/a report.txt\" "]);
        assert_eq!(offered("(@rep").len(), 1);
        for on in ["see @raw/a re", "@a Rep", "@\"rep", "@\"raw/a re"] {
            assert_eq!(offered(on), ["@\"raw/a report.txt\" "], "a blank in a name does not end it: {on}");
        }
        for ended in
            ["@raw/a report.txt", "@\"raw/a report.txt\"", "@wiki/concepts/tide-mill.md a rep", "@a b"]
        {
            assert_eq!(offered(ended), Vec::<String>::new(), "{ended}");
        }
        assert_eq!(offered("me@rep"), Vec::<String>::new());
        assert_eq!(offered("@wiki/concepts/tide-mill.md"), Vec::<String>::new());
    }

    #[test]
    fn a_named_file_is_spelled_out_and_other_words_stay() {
        let wiki = wiki();
        let spelled = |text: &str| spell_out(text, Some(&wiki));
        assert_eq!(spelled("Read @wiki/concepts/tide-mill.md."), "Read /wiki/concepts/tide-mill.md.");
        assert_eq!(spelled("(@raw/a report.txt) now"), "(@raw/a report.txt) now", "no blank ends it");
        assert_eq!(spelled("ingest @raw/a report.txt"), "ingest \"/raw/a report.txt\"");
        assert_eq!(spelled("in @\"raw/a report.txt\", it"), "in \"/raw/a report.txt\", it");
        assert_eq!(spelled("@wiki/concepts/sea-gate.md#how?"), "/wiki/concepts/sea-gate.md#how?");
        assert_eq!(spelled("ask @nobody, a@b.c"), "ask @nobody, a@b.c");
    }

    #[test]
    fn a_name_that_is_no_file_has_a_nearest_one() {
        let wiki = wiki();
        let nearest = |text: &str| -> Vec<(String, Option<String>)> {
            let named =
                |(name, path): (String, Option<BundlePath>)| (name, path.map(|p| p.relative().to_owned()));
            missing(text, &wiki).into_iter().map(named).collect()
        };
        let one = |name: &str, path: &str| vec![(name.to_owned(), Some(path.to_owned()))];
        assert_eq!(nearest("see @tide-mill, it"), one("tide-mill", "wiki/concepts/tide-mill.md"));
        assert_eq!(
            nearest("@wiki/documents/sea-gate.md"),
            one("wiki/documents/sea-gate.md", "wiki/concepts/sea-gate.md")
        );
        assert_eq!(
            nearest("@wiki/concepts/tide-mlil.md"),
            one("wiki/concepts/tide-mlil.md", "wiki/concepts/tide-mill.md")
        );
        assert_eq!(nearest("@\"raw/a reprt.txt\""), one("raw/a reprt.txt", "raw/a report.txt"));
        assert_eq!(nearest("ask @zzz"), [("zzz".to_owned(), None)]);
        assert_eq!(nearest("@wiki/concepts/sea-gate.md#how, @raw/a report.txt @wiki a@b.c @"), []);
    }
}
