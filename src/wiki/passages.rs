//! Passages of the pages that fit some words: a plain ranked search over sections, for a reader without a model.

use std::collections::HashMap;

use super::Wiki;
use crate::okf::{BundlePath, Page};

/// Longest text of a passage, in characters.
const LONG: usize = 240;

/// A part of a page under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub path: BundlePath,
    /// The heading's anchor; none before the first heading.
    pub fragment: Option<String>,
    /// The page's title, and the heading where it is another one.
    pub title: String,
    /// Where the words stand, on one line.
    pub text: String,
}

impl Passage {
    /// `/wiki/a.md#b`.
    pub fn place(&self) -> String {
        self.path.with_fragment(self.fragment.as_deref())
    }
}

/// Words of a question that say nothing about its subject.
const IDLE: &[&str] = &[
    "about", "and", "are", "can", "did", "does", "for", "from", "has", "have", "how", "into", "its", "that",
    "the", "their", "there", "they", "this", "was", "were", "what", "when", "where", "which", "who", "why",
    "with", "you", "is", "it", "in", "of", "on", "or", "to", "an", "as", "at", "be", "by", "do", "we",
];

/// The words of a text in lower case, without those that are too short to count.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1).map(str::to_lowercase)
}

/// Whether `word` is `wanted`, or has another ending.
fn fits(word: &str, wanted: &str) -> bool {
    let stem = |text: &str| -> String { text.trim_end_matches(['s', 'e', 'n']).to_owned() };
    word == wanted || (wanted.chars().count() > 3 && (word.starts_with(wanted) || stem(word) == stem(wanted)))
}

struct Section<'a> {
    page: &'a Page,
    heading: Option<usize>,
    text: &'a str,
    /// How often each wanted word stands in it, headings counted thrice.
    counts: Vec<usize>,
    length: usize,
}

/// The passages that fit `question` best, the best first. An ordinary BM25 over sections.
pub fn passages(wiki: &Wiki, question: &str, most: usize) -> Vec<Passage> {
    let all: Vec<String> = words(question).collect();
    let mut wanted: Vec<String> = all.iter().filter(|word| !IDLE.contains(&word.as_str())).cloned().collect();
    if wanted.is_empty() {
        wanted = all;
    }
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    let (mut count, mut total) = (0usize, 0usize);
    for page in wiki.pages().filter(|page| page.path.reserved().is_none()) {
        for section in sections_of(page, &wanted) {
            count += 1;
            total += section.length;
            if section.counts.iter().any(|count| *count > 0) {
                sections.push(section);
            }
        }
    }
    let in_sections: Vec<usize> = (0..wanted.len())
        .map(|word| sections.iter().filter(|s| s.counts.get(word).is_some_and(|c| *c > 0)).count())
        .collect();
    let mean = ratio(total, count).max(1.0);
    let mut scored: Vec<(f64, &Section<'_>)> = sections
        .iter()
        .map(|section| {
            let score = section.counts.iter().zip(&in_sections).map(|(times, known)| {
                let rare = (1.0 + ratio(count - known, 1) / (ratio(*known, 1) + 0.5)).ln();
                let times = ratio(*times, 1);
                rare * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * ratio(section.length, 1) / mean))
            });
            (score.sum(), section)
        })
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.page.path.cmp(&y.page.path)));
    // No page fills the list alone.
    let mut of_page: HashMap<&BundlePath, usize> = HashMap::new();
    scored.retain(|(_, section)| {
        let seen = of_page.entry(&section.page.path).or_default();
        *seen += 1;
        *seen <= 2
    });
    scored.iter().take(most).map(|(_, section)| passage(section, &wanted)).collect()
}

#[allow(clippy::cast_precision_loss)]
fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b.max(1) as f64
}

fn sections_of<'a>(page: &'a Page, wanted: &[String]) -> Vec<Section<'a>> {
    let starts = page.headings.iter().map(|heading| heading.span.start);
    let starts: Vec<usize> = std::iter::once(page.body.start).chain(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([page.body.end]);
    starts
        .iter()
        .zip(ends)
        .enumerate()
        .filter_map(|(at, (start, end))| {
            let text = page.text.get(*start..end)?;
            let heading = at.checked_sub(1);
            let mut counts = vec![0; wanted.len()];
            let mut length = 0;
            let mut note = |text: &str, weight: usize| {
                for word in words(text) {
                    length += 1;
                    for (count, wanted) in counts.iter_mut().zip(wanted) {
                        *count += if fits(&word, wanted) { weight } else { 0 };
                    }
                }
            };
            note(text, 1);
            let head =
                heading.and_then(|at| page.headings.get(at)).map_or("", |heading| heading.text.as_str());
            note(head, 2);
            (!text.trim().is_empty()).then_some(Section { page, heading, text, counts, length })
        })
        .collect()
}

fn passage(section: &Section<'_>, wanted: &[String]) -> Passage {
    let page = section.page;
    let heading = section.heading.and_then(|at| page.headings.get(at));
    let title = page.title().to_owned();
    let head = heading.map(|heading| heading.text.as_str()).filter(|head| *head != title);
    // The line with the most of the words, without the heading's own.
    let lines = section.text.lines().skip(usize::from(heading.is_some())).map(str::trim);
    let hits = |line: &str| {
        let has = |wanted: &&String| words(line).any(|word| fits(&word, wanted));
        wanted.iter().filter(has).count()
    };
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    // Of those alike the first: `max_by_key` takes the last.
    let best = lines.into_iter().rev().max_by_key(|line| hits(line)).unwrap_or_default();
    let text = best.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = text.chars().take(LONG).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    Passage {
        path: page.path.clone(),
        fragment: heading.map(|heading| heading.slug.clone()),
        title: head.map_or_else(|| title.clone(), |head| format!("{title} · {head}")),
        text: cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::MemoryBundle;

    fn found(question: &str) -> Vec<String> {
        let files = [
            (
                "/wiki/mill.md",
                "---\ntype: Concept\ntitle: Tide mill\n---\n\n# Tide mill\n\nDriven by water.\n\n## Pond\n\nThe pond holds the flood until the ebb.\n\n## Wheel\n\nThe wheel turns.\n",
            ),
            (
                "/wiki/gate.md",
                "---\ntype: Concept\ntitle: Sea gate\n---\n\n# Sea gate\n\nThe flood pushes it open.\n",
            ),
            ("/wiki/index.md", "# Index\n\n* [Tide mill](mill.md) - pond and wheel\n"),
        ];
        let wiki = Wiki::load(&MemoryBundle::new(files).unwrap()).unwrap();
        passages(&wiki, question, 5).iter().map(|p| format!("{}: {}", p.place(), p.text)).collect()
    }

    #[test]
    fn the_section_that_speaks_of_it_comes_first() {
        assert_eq!(
            found("What does the pond hold?")[0],
            "/wiki/mill.md#pond: The pond holds the flood until the ebb."
        );
        assert_eq!(found("wheels")[0], "/wiki/mill.md#wheel: The wheel turns.");
        assert_eq!(found("flood").len(), 2);
    }

    #[test]
    fn nothing_is_found_for_words_that_stand_nowhere() {
        assert_eq!(found("volcano"), Vec::<String>::new());
        assert_eq!(found("?!"), Vec::<String>::new());
    }
}
