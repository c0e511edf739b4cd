//! Page facts: what one parse of a page yields. Everything else (findings, graph, search, views)
//! derives from these and never parses the page again (invariant I7).

use std::sync::Arc;

use super::fields;
use super::frontmatter::Frontmatter;
use super::hash::ContentHash;
use super::link::Link;
use super::markdown;
use super::path::BundlePath;
use crate::text::{LineIndex, Span};

/// The facts of one page. A pure function of its path and bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub path: BundlePath,
    pub hash: ContentHash,
    pub text: Arc<str>,
    pub lines: LineIndex,
    /// A byte-order mark stands first.
    pub bom: bool,
    pub frontmatter: Frontmatter,
    /// The markdown after the frontmatter.
    pub body: Span,
    pub headings: Vec<Heading>,
    /// Body links in document order, then the path-valued frontmatter fields.
    pub links: Vec<Link>,
    pub footnotes: Vec<Footnote>,
    /// Runs of prose (text events, adjacent ones joined; outside code, comments and frontmatter) that hold `.md`: where an
    /// index may name a page without linking it.
    pub mentions: Vec<Span>,
    /// Explicit anchors besides the headings' own: `{#id}`, `id="…"` and `<a name="…">`; sorted, each once.
    pub ids: Vec<String>,
    /// Places in `headings`, sorted by slug.
    by_slug: Vec<u32>,
    /// Fenced code blocks in document order.
    pub fences: Vec<Span>,
    /// Entries of an `index.md`; empty for any other page.
    pub entries: Vec<IndexEntry>,
    /// Words of prose outside code, for display.
    pub words: usize,
}

/// A heading outside code, comments and quotes' raw text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Plain text without markup.
    pub text: String,
    /// GitHub's anchor, unique in the page (`-1`, `-2` for doubles).
    pub slug: String,
    /// The heading's source, marker included, line end excluded.
    pub span: Span,
}

/// A footnote definition or reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footnote {
    pub label: String,
    pub span: Span,
    pub definition: bool,
}

/// A list item of a catalogue that holds a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// The item without lists nested in it, from its marker.
    pub span: Span,
    /// Where its first link starts.
    pub link: usize,
}

impl Page {
    /// Parses a page. Never fails: a broken page yields the facts that can be had.
    pub fn parse(path: BundlePath, text: Arc<str>) -> Self {
        let hash = ContentHash::of(text.as_bytes());
        Self::of_known_hash(path, text, hash)
    }

    /// [`Self::parse`] for a text whose hash is at hand.
    pub fn of_known_hash(path: BundlePath, text: Arc<str>, hash: ContentHash) -> Self {
        let bom = text.starts_with('\u{feff}');
        let frontmatter = Frontmatter::parse(&text);
        let start = match frontmatter.block {
            Some(block) => block.end,
            None if bom => '\u{feff}'.len_utf8(),
            None => 0,
        };
        let body = Span::new(start, text.len());
        let facts = markdown::read(&path, &text, body);
        let mut links = facts.links;
        links.extend(fields::links(&path, &text, &frontmatter));
        let mut ids = facts.ids;
        ids.sort_unstable();
        ids.dedup();
        let mut by_slug: Vec<u32> = (0..).take(facts.headings.len()).collect();
        by_slug.sort_by_key(|at| facts.headings.get(*at as usize).map(|heading| &heading.slug));
        Self {
            hash,
            lines: LineIndex::new(&text),
            bom,
            body,
            headings: facts.headings,
            links,
            footnotes: facts.footnotes,
            mentions: facts.mentions,
            ids,
            by_slug,
            fences: facts.fences,
            entries: facts.entries,
            words: facts.words,
            frontmatter,
            path,
            text,
        }
    }

    /// `title` of the frontmatter, else the first heading of level 1, else the file's stem.
    pub fn title(&self) -> &str {
        self.frontmatter
            .text("title")
            .or_else(|| self.headings.iter().find(|h| h.level == 1).map(|h| h.text.as_str()))
            .unwrap_or_else(|| self.path.stem())
    }

    /// `type` of the frontmatter.
    pub fn kind(&self) -> Option<&str> {
        self.frontmatter.text("type")
    }

    /// Whether `fragment` names a heading or an explicit id of this page. Takes the logarithm of their number, for a page
    /// of many headings is linked many times.
    pub fn has_anchor(&self, fragment: &str) -> bool {
        let slug = |at: &u32| self.headings.get(*at as usize).map_or("", |heading| heading.slug.as_str());
        // The empty fragment and `top` are the top of every document (HTML, 7.4.6.4).
        fragment.is_empty()
            || self.by_slug.binary_search_by(|at| slug(at).cmp(fragment)).is_ok()
            || self.ids.binary_search_by(|id| id.as_str().cmp(fragment)).is_ok()
            || fragment.eq_ignore_ascii_case("top")
    }

    /// Every name that [`Self::has_anchor`] knows by this page, in an order that is the page's own.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        let slugs = self.headings.iter().map(|heading| heading.slug.as_str());
        slugs.chain(self.ids.iter().map(String::as_str))
    }

    pub fn body_text(&self) -> &str {
        self.body.of(&self.text)
    }
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
