//! One walk over the markdown events of a page's body: headings, links, footnotes, anchors, words.
//!
//! Iterative, so that nesting depth costs no stack, and linear in the number of events. Never turns on the parser's
//! metadata blocks (they swallow any `---` stretch), its wikilinks (they win over CommonMark's `[[1]](x.md)`) or
//! its heading attributes (they swallow `{braces}`).

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, OffsetIter, Options, Parser, Tag, TagEnd};

use super::destination;
use super::html::{self, HtmlTag};
use super::link::{Link, LinkKind, Target};
use super::page::{Footnote, Heading, IndexEntry};
use super::path::{BundlePath, Reserved};
use super::prose::{self, Found};
use super::slug::Slugs;
use crate::text::Span;

/// Longest link text kept, in bytes: nested images would otherwise copy theirs once a level.
const MAX_LINK_TEXT: usize = 2048;

/// What the body of a page holds.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub headings: Vec<Heading>,
    pub links: Vec<Link>,
    pub footnotes: Vec<Footnote>,
    /// Explicit ids: `{#id}` on headings, `id` of any HTML element and `name` of `<a>`.
    pub ids: Vec<String>,
    /// Runs of text, link text included, that hold `.md`.
    pub mentions: Vec<Span>,
    pub fences: Vec<Span>,
    pub entries: Vec<IndexEntry>,
    pub words: usize,
}

/// The markdown dialect of a page. Views that render a page should use the same.
pub fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
}

/// What a reader of a text can go to and follow.
#[derive(Debug, Default)]
pub struct Outline {
    pub headings: Vec<Heading>,
    /// In document order.
    pub links: Vec<Link>,
}

/// Headings and links of `part` of a text that is no page, read as if it stood in `page`. `slugs` goes on from the
/// parts before, so that a text read in parts at the borders of its blocks has the anchors of the whole.
pub fn outline(page: &BundlePath, text: &str, part: Span, slugs: &mut Slugs) -> Outline {
    let facts = read_with(page, text, part, slugs);
    Outline { headings: facts.headings, links: facts.links }
}

/// Reads the body, which is `body` of `text`, of `page`.
pub(super) fn read(page: &BundlePath, text: &str, body: Span) -> Facts {
    read_with(page, text, body, &mut Slugs::default())
}

fn read_with(page: &BundlePath, text: &str, body: Span, slugs: &mut Slugs) -> Facts {
    let source = body.of(text);
    let mut walk = Walk {
        page,
        source,
        base: body.start,
        facts: Facts::default(),
        open: Vec::new(),
        text: String::new(),
        anchor: None,
        heading: None,
        images: 0,
        in_code: false,
        run: None,
        html: None,
        in_word: false,
        slugs: std::mem::take(slugs),
        definitions: HashMap::new(),
        catalogue: page.reserved() == Some(Reserved::Index),
        items: Vec::new(),
    };
    let mut events = Parser::new_ext(source, options()).into_offset_iter();
    while let Some((event, range)) = events.next() {
        walk.event(event, range, &events);
    }
    walk.flush();
    // Links are found at their ends; nested ones would stand before the one around them.
    walk.facts.links.sort_by_key(|l| (l.span.start, std::cmp::Reverse(l.span.end)));
    walk.facts.entries.sort_by_key(|entry| entry.span.start);
    walk.facts.footnotes.sort_by_key(|f| (f.span.start, f.span.end));
    *slugs = walk.slugs;
    walk.facts
}

struct OpenLink {
    kind: LinkKind,
    /// Whether the destination stands in the link itself.
    inline: bool,
    destination: String,
    /// Found already: autolinks and definitions.
    place: Option<Range<usize>>,
    email: bool,
    collapsed: bool,
    start: usize,
    /// End of what stands inside so far.
    inner_end: usize,
    /// Where its text starts in [`Walk::text`].
    text_start: usize,
}

/// An `<a href>` that waits for its `</a>`.
struct OpenAnchor {
    link: usize,
    text_start: usize,
}

struct OpenHeading {
    level: u8,
    text: String,
}

/// A list item of a catalogue.
struct OpenItem {
    start: usize,
    /// Where a list nested in it starts.
    own_end: Option<usize>,
    /// Where its first link starts.
    link: Option<usize>,
}

struct Walk<'a> {
    page: &'a BundlePath,
    source: &'a str,
    base: usize,
    facts: Facts,
    open: Vec<OpenLink>,
    /// Plain text of the links that are open.
    text: String,
    anchor: Option<OpenAnchor>,
    heading: Option<OpenHeading>,
    images: usize,
    in_code: bool,
    /// Source of adjoining text events.
    run: Option<Range<usize>>,
    /// Pieces of the HTML block that is open.
    html: Option<Vec<Range<usize>>>,
    in_word: bool,
    slugs: Slugs,
    /// Destinations of reference definitions by the start of the definition.
    definitions: HashMap<usize, Option<Range<usize>>>,
    /// Whether list items are entries that somebody asks for.
    catalogue: bool,
    items: Vec<OpenItem>,
}

impl<'a> Walk<'a> {
    fn event(&mut self, event: Event<'a>, range: Range<usize>, events: &OffsetIter<'a>) {
        if !matches!(event, Event::Text(_)) {
            self.flush();
        }
        if !matches!(event, Event::End(TagEnd::Link | TagEnd::Image))
            && let Some(link) = self.open.last_mut()
        {
            link.inner_end = link.inner_end.max(range.end);
        }
        match event {
            Event::Text(text) => self.plain(&text, range),
            Event::Code(text) => {
                self.push_text(&text);
                self.in_word = false;
            }
            Event::SoftBreak | Event::HardBreak => {
                self.push_text(" ");
                self.in_word = false;
            }
            Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                self.start_link(false, link_type, &dest_url, &id, range, events);
            }
            Event::Start(Tag::Image { link_type, dest_url, id, .. }) => {
                self.images += 1;
                self.start_link(true, link_type, &dest_url, &id, range, events);
            }
            Event::End(TagEnd::Link) => self.end_link(&range),
            Event::End(TagEnd::Image) => {
                self.images = self.images.saturating_sub(1);
                self.end_link(&range);
            }
            Event::InlineHtml(_) => self.html_pieces(&[range]),
            Event::Html(_) => {
                if let Some(pieces) = &mut self.html {
                    pieces.push(range);
                }
            }
            Event::FootnoteReference(label) => self.footnote(&label, range, false),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {}
            block => self.block(block, range),
        }
    }

    fn block(&mut self, event: Event<'a>, range: Range<usize>) {
        self.in_word = false;
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_code = true;
                if matches!(kind, CodeBlockKind::Fenced(_)) {
                    let source = self.source.get(range.clone()).unwrap_or("");
                    self.facts.fences.push(self.span(range.start..range.start + source.trim_end().len()));
                }
            }
            Event::Start(Tag::Item) if self.catalogue => {
                self.items.push(OpenItem { start: range.start, own_end: None, link: None });
            }
            Event::Start(Tag::List(_)) => {
                if let Some(item) = self.items.last_mut() {
                    item.own_end.get_or_insert(range.start);
                }
            }
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::HtmlBlock) => self.html = Some(Vec::new()),
            Event::End(TagEnd::HtmlBlock) => {
                let pieces = self.html.take().unwrap_or_default();
                self.html_pieces(&pieces);
                self.close_anchor(None);
            }
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some(OpenHeading { level: level as u8, text: String::new() });
            }
            Event::End(TagEnd::Heading(_)) => {
                self.close_anchor(None);
                self.end_heading(range);
            }
            Event::Start(Tag::FootnoteDefinition(label)) => self.footnote(&label, range, true),
            Event::End(TagEnd::Item) => {
                self.close_anchor(None);
                self.end_item(&range);
            }
            Event::End(TagEnd::Paragraph | TagEnd::TableCell) => self.close_anchor(None),
            _ => {}
        }
    }

    fn plain(&mut self, text: &str, range: Range<usize>) {
        if self.in_code {
            return;
        }
        self.push_text(text);
        self.count_words(text);
        match &mut self.run {
            // A backslash escape leaves its backslash between two events.
            Some(run) if range.start == run.end || self.source.get(run.end..range.start) == Some("\\") => {
                run.end = range.end;
            }
            _ => {
                self.flush();
                self.run = Some(range);
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        if self.in_code {
            return;
        }
        if !self.open.is_empty() || self.anchor.is_some() {
            self.text.push_str(text);
        }
        if self.images == 0
            && let Some(heading) = &mut self.heading
        {
            heading.text.push_str(text);
        }
    }

    fn count_words(&mut self, text: &str) {
        if self.images > 0 {
            return;
        }
        for c in text.chars() {
            if c.is_ascii() {
                // As below, without the tables of Unicode: most text by far. U+000B is white in Unicode only.
                let blank = c.is_ascii_whitespace() || c == '\u{b}';
                let in_word = c.is_ascii_alphanumeric() || (self.in_word && !blank);
                self.facts.words += usize::from(in_word && !self.in_word);
                self.in_word = in_word;
                continue;
            }
            // Scripts without blanks between words are counted by the character, as word processors do.
            if matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{323af}')
            {
                self.facts.words += 1;
                self.in_word = false;
            } else if c.is_alphanumeric() {
                self.facts.words += usize::from(!self.in_word);
                self.in_word = true;
            } else if c.is_whitespace() {
                self.in_word = false;
            }
        }
    }

    fn start_link(
        &mut self,
        image: bool,
        link_type: LinkType,
        destination: &CowStr<'a>,
        label: &str,
        range: Range<usize>,
        events: &OffsetIter<'a>,
    ) {
        let (kind, inline, place) = match link_type {
            LinkType::Inline => (LinkKind::Inline, true, None),
            LinkType::Autolink | LinkType::Email => {
                (LinkKind::Autolink, false, Some(range.start + 1..range.end.saturating_sub(1)))
            }
            _ => {
                let definition = events.reference_definitions().get(label);
                let place = definition.and_then(|d| {
                    self.definitions
                        .entry(d.span.start)
                        .or_insert_with(|| destination::definition(self.source, d.span.clone(), &d.dest))
                        .clone()
                });
                (LinkKind::Reference, false, place)
            }
        };
        self.link_in_item(range.start);
        self.open.push(OpenLink {
            kind: if image { LinkKind::Image } else { kind },
            inline,
            destination: destination.to_string(),
            place,
            email: link_type == LinkType::Email,
            collapsed: link_type == LinkType::Collapsed,
            start: range.start,
            inner_end: range.start + 1 + usize::from(image),
            text_start: self.text.len(),
        });
    }

    fn end_link(&mut self, range: &Range<usize>) {
        let Some(link) = self.open.pop() else { return };
        // The parser leaves the `[]` of a collapsed reference out.
        let collapsed =
            link.collapsed && self.source.get(range.end..).is_some_and(|rest| rest.starts_with("[]"));
        let range = &(range.start..range.end + if collapsed { "[]".len() } else { 0 });
        if let Some(outer) = self.open.last_mut() {
            outer.inner_end = outer.inner_end.max(range.end);
        }
        let place = if link.inline {
            destination::inline(self.source, link.inner_end, range.end, &link.destination)
        } else {
            link.place
        };
        let text = head(self.text.get(link.text_start..).unwrap_or("")).trim().to_owned();
        if self.open.is_empty() && self.anchor.is_none() {
            self.text.clear();
        }
        let target = if link.email { Target::External } else { Target::of(self.page, &link.destination) };
        self.facts.links.push(Link {
            kind: link.kind,
            span: self.span(link.start..range.end),
            destination_span: self.span(place.unwrap_or(range.end..range.end)),
            text,
            destination: link.destination,
            target,
        });
    }

    fn end_heading(&mut self, range: Range<usize>) {
        let Some(heading) = self.heading.take() else { return };
        let (text, id) = split_id(heading.text.trim());
        let slug = self.slugs.unique(text);
        self.facts.ids.extend(id.map(str::to_owned));
        let source = self.source.get(range.clone()).unwrap_or("");
        let end = range.start + source.trim_end_matches(['\n', '\r', ' ', '\t']).len();
        self.facts.headings.push(Heading {
            level: heading.level,
            text: text.to_owned(),
            slug,
            span: self.span(range.start..end),
        });
    }

    fn end_item(&mut self, range: &Range<usize>) {
        let Some(item) = self.items.pop() else { return };
        let Some(link) = item.link else { return };
        let end = item.own_end.unwrap_or(range.end);
        // A nested item starts with its indentation.
        let own = self.source.get(item.start..end).unwrap_or("").trim_start_matches([' ', '\t']);
        let start = end - own.len();
        let span = self.span(start..start + own.trim_end().len());
        self.facts.entries.push(IndexEntry { span, link: self.base + link });
    }

    /// Notes the first link of the list item that is open.
    fn link_in_item(&mut self, start: usize) {
        if let Some(item) = self.items.last_mut()
            && item.own_end.is_none()
        {
            item.link.get_or_insert(start);
        }
    }

    fn footnote(&mut self, label: &str, range: Range<usize>, definition: bool) {
        let source = self.source.get(range.clone()).unwrap_or("");
        let end = range.start + source.trim_end().len();
        let span = self.span(range.start..end);
        self.facts.footnotes.push(Footnote { label: label.to_owned(), span, definition });
    }

    /// Looks through the run of plain text that has ended.
    fn flush(&mut self) {
        let Some(run) = self.run.take() else { return };
        if self.source.get(run.clone()).is_some_and(|text| text.contains(".md")) {
            self.facts.mentions.push(self.span(run.clone()));
        }
        if !self.open.is_empty() {
            return;
        }
        for found in prose::find(self.source, run) {
            match found {
                Found::Wikilink { range, target, label } => {
                    let inside = self.source.get(range.clone()).unwrap_or("");
                    let written = destination::unescape(self.source.get(target.clone()).unwrap_or(""));
                    let text = destination::unescape(self.source.get(label).unwrap_or(""));
                    self.facts.links.push(Link {
                        kind: LinkKind::Wikilink,
                        span: self.span(range.start..range.start + inside.len()),
                        destination_span: self.span(target),
                        text: head(text.trim()).to_owned(),
                        target: Target::of_wikilink(&written),
                        destination: written.into_owned(),
                    });
                }
                Found::Url(range) => {
                    let url = destination::unescape(self.source.get(range.clone()).unwrap_or(""));
                    self.facts.links.push(Link {
                        kind: LinkKind::Autolink,
                        span: self.span(range.clone()),
                        destination_span: self.span(range),
                        text: head(&url).to_owned(),
                        destination: url.into_owned(),
                        target: Target::External,
                    });
                }
                Found::Footnote { range, label } => {
                    let label = self.source.get(label).unwrap_or("").to_owned();
                    self.footnote(&label, range, false);
                }
            }
        }
    }

    /// Reads the tags of raw HTML that stands in pieces, as it does in a quote or a list.
    fn html_pieces(&mut self, pieces: &[Range<usize>]) {
        let source = self.source;
        let adjoining = pieces.iter().zip(pieces.iter().skip(1)).all(|(a, b)| a.end == b.start);
        match (pieces.first(), pieces.last()) {
            (Some(first), Some(last)) if adjoining => {
                let html = source.get(first.start..last.end).unwrap_or("");
                let start = first.start;
                self.html_tags(html, |range| Some(start + range.start..start + range.end));
            }
            _ => {
                let mut html = String::new();
                // Start in `html` and in the source, and the length.
                let mut map: Vec<(usize, usize, usize)> = Vec::new();
                for piece in pieces {
                    map.push((html.len(), piece.start, piece.len()));
                    html.push_str(source.get(piece.clone()).unwrap_or(""));
                }
                let place = |at: usize| {
                    let index = map.partition_point(|(start, ..)| *start <= at).checked_sub(1)?;
                    map.get(index).map(|(start, source, len)| source + (at - start).min(*len))
                };
                self.html_tags(&html, |range| {
                    let start = place(range.start)?;
                    let last = if range.is_empty() { start } else { place(range.end - 1)? + 1 };
                    Some(start..last)
                });
            }
        }
    }

    fn html_tags(&mut self, html: &str, place: impl Fn(&Range<usize>) -> Option<Range<usize>>) {
        // Text between the tags of a block; inline it comes as events.
        let mut text_from: Option<usize> = None;
        for tag in &html::tags(html) {
            let Some(range) = place(&tag.range) else { continue };
            if let Some(from) = text_from.replace(tag.range.end)
                && self.anchor.is_some()
                && let Some(between) = html.get(from..tag.range.start)
            {
                self.text.push_str(&destination::decode_entities(between));
            }
            if tag.closing {
                if tag.is("a") {
                    self.close_anchor(Some(range.end));
                }
                continue;
            }
            for (name, value) in &tag.attributes {
                let is_id =
                    name.eq_ignore_ascii_case("id") || (tag.is("a") && name.eq_ignore_ascii_case("name"));
                if is_id && let Some(id) = html.get(value.clone()).filter(|id| !id.is_empty()) {
                    self.facts.ids.push(destination::decode_entities(id).into_owned());
                }
            }
            self.html_link(html, tag, range, &place);
        }
    }

    fn html_link(
        &mut self,
        html: &str,
        tag: &HtmlTag<'_>,
        range: Range<usize>,
        place: &impl Fn(&Range<usize>) -> Option<Range<usize>>,
    ) {
        let (kind, attribute) = if tag.is("a") {
            (LinkKind::Html, tag.attribute("href"))
        } else if tag.is("img") {
            (LinkKind::Image, tag.attribute("src"))
        } else {
            return;
        };
        let Some(attribute) = attribute else { return };
        let raw = html.get(attribute.clone()).unwrap_or("");
        let trimmed = raw.trim_matches(|c: char| c.is_ascii_whitespace());
        let lead = raw.len() - raw.trim_start_matches(|c: char| c.is_ascii_whitespace()).len();
        let written = attribute.start + lead..attribute.start + lead + trimmed.len();
        // A value broken over lines of a quote has no one place.
        let Some(place) = place(&written).filter(|p| p.len() == written.len()) else { return };
        let destination = destination::decode_entities(trimmed).into_owned();
        let alt = tag.attribute("alt").filter(|_| kind == LinkKind::Image);
        let text = alt.and_then(|r| html.get(r)).map(|t| destination::decode_entities(t).into_owned());
        self.link_in_item(range.start);
        if kind == LinkKind::Html {
            self.close_anchor(None);
            self.anchor = Some(OpenAnchor { link: self.facts.links.len(), text_start: self.text.len() });
        }
        self.facts.links.push(Link {
            kind,
            span: self.span(range),
            destination_span: self.span(place),
            text: text.unwrap_or_default(),
            target: Target::of(self.page, &destination),
            destination,
        });
    }

    /// Gives an open `<a>` its text, and with `end` (of its `</a>`) its extent.
    fn close_anchor(&mut self, end: Option<usize>) {
        let Some(anchor) = self.anchor.take() else { return };
        let text = head(self.text.get(anchor.text_start..).unwrap_or("")).trim().to_owned();
        if self.open.is_empty() {
            self.text.clear();
        }
        if let (Some(link), Some(end)) = (self.facts.links.get_mut(anchor.link), end) {
            link.text = text;
            link.span.end = link.span.end.max(self.base + end);
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.base + range.start, self.base + range.end)
    }
}

/// The first [`MAX_LINK_TEXT`] bytes.
fn head(text: &str) -> &str {
    let mut end = text.len().min(MAX_LINK_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

/// Splits `Title {#id}` (Pandoc, kramdown) into its parts.
fn split_id(text: &str) -> (&str, Option<&str>) {
    let parts = text.strip_suffix('}').and_then(|rest| rest.rsplit_once("{#"));
    match parts {
        Some((title, inside)) if !inside.contains(['{', '}']) => {
            let id = inside.split_whitespace().next().filter(|id| !id.is_empty());
            (title.trim_end(), id)
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests;
