//! Where quoted words stand in a page, and which words of a prose answer are quoted. Pure.

use pulldown_cmark::{Event, Options, Parser, TagEnd};
use unicode_normalization::UnicodeNormalization as _;

use crate::okf::Page;
use crate::okf::slug::slugify;
use crate::text::{Span, typography};

/// Fewer words in quotes are a term or a name, not a passage.
const MIN_WORDS: usize = 4;

/// Where the words stand in the page, as it is written or as it is shown: line ends, runs of blanks and the shape of quotes
/// and dashes do not count. A quote with an omission (`…`) stands when its parts do, in order. Of several places one below the
/// heading `section` is taken.
pub fn passage(page: &Page, section: Option<&str>, quote: &str) -> Option<Span> {
    let quote = Folded::of(quote.char_indices().map(|(_, c)| (c, Span::new(0, 0)))).text.replace("...", "…");
    let quote = quote.trim_matches('"').trim();
    let parts: Vec<&str> = quote.split('…').map(str::trim).filter(|part| !part.is_empty()).collect();
    let from = section.and_then(|section| heading(page, section)).map_or(0, |span| span.start);
    let shown = || shown(page.body_text(), page.body.start);
    let written = || page.text.char_indices().map(|(at, c)| (c, Span::new(at, at + c.len_utf8())));
    let texts: [&dyn Fn() -> Folded; 2] = [&|| Folded::of(shown().into_iter()), &|| Folded::of(written())];
    texts.iter().find_map(|text| {
        let text = text();
        text.find(&parts, from).or_else(|| text.find(&parts, 0))
    })
}

/// The heading that a citation means, by its anchor or its words.
pub fn heading(page: &Page, section: &str) -> Option<Span> {
    let section = section.trim_start_matches('#').trim();
    let wanted = slugify(section);
    let fits = |slug: &str, text: &str| slug == section || slug == wanted || slugify(text) == wanted;
    page.headings.iter().find(|h| fits(&h.slug, &h.text)).map(|h| h.span)
}

/// The quotation that stands before byte `end` of a prose, in the same paragraph or as a block quote right above it, and after byte
/// `start`.
pub fn quoted_before(text: &str, start: usize, end: usize) -> Option<String> {
    let text = text.get(start..end)?;
    let blocks: Vec<&str> = text.split("\n\n").filter(|block| !block.trim().is_empty()).collect();
    let own = blocks.last()?;
    if let Some(found) = in_quotes(own).pop() {
        return Some(found);
    }
    let is_quote = |block: &&&str| block.trim_start().starts_with('>');
    let block = blocks.iter().rev().take(2).find(is_quote)?;
    let lines = block.lines().filter_map(|line| line.trim_start().strip_prefix('>')).map(str::trim);
    let words = lines.collect::<Vec<_>>().join(" ");
    is_passage(&words).then_some(words)
}

/// The quotation that stands after byte `end` in the same paragraph, when no other page is named there: the next one begins at byte
/// `next`.
pub fn quoted_after(text: &str, end: usize, next: usize) -> Option<String> {
    let rest = text.get(end..)?;
    let stop = rest.find("\n\n").unwrap_or(rest.len());
    if end + stop > next {
        return None;
    }
    in_quotes(rest.get(..stop)?).into_iter().next()
}

/// The passages that stand in quotation marks.
fn in_quotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (at, c) in text.char_indices() {
        let closes = matches!(c, '\u{201c}' | '\u{201d}' | '»' | '«' | '"');
        match open {
            Some(from) if closes => {
                let words = text.get(from..at).unwrap_or_default().trim();
                if is_passage(words) {
                    found.push(words.to_owned());
                }
                open = None;
            }
            None if closes || c == '\u{201e}' => open = Some(at + c.len_utf8()),
            _ => {}
        }
    }
    found
}

fn is_passage(words: &str) -> bool {
    words.split_whitespace().count() >= MIN_WORDS
}

/// The characters of a body as they are shown, each with where it stands in the page; the body begins at byte `start`.
fn shown(markdown: &str, start: usize) -> Vec<(char, Span)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    let mut out = Vec::with_capacity(markdown.len());
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Text(piece) | Event::Code(piece) => {
                let source = markdown.get(range.clone()).unwrap_or_default();
                match source.find(piece.as_ref()) {
                    Some(within) => {
                        let at = start + range.start + within;
                        let place = |(i, c): (usize, char)| (c, Span::new(at + i, at + i + c.len_utf8()));
                        out.extend(piece.char_indices().map(place));
                    }
                    // Written otherwise (an entity): all of it stands for each of its characters.
                    None => {
                        let whole = Span::new(start + range.start, start + range.end);
                        out.extend(piece.chars().map(|c| (c, whole)));
                    }
                }
            }
            // Emphasis within a word ends without a gap.
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Strikethrough) => {}
            Event::SoftBreak | Event::HardBreak | Event::End(_) => {
                out.push((' ', Span::new(start + range.end, start + range.end)));
            }
            _ => {}
        }
    }
    out
}

/// A text in the form in which it is compared.
struct Folded {
    text: String,
    /// For each byte of `text` where its character stands in the source.
    places: Vec<Span>,
}

impl Folded {
    fn of(chars: impl Iterator<Item = (char, Span)>) -> Self {
        let mut folded = Self { text: String::new(), places: Vec::new() };
        let mut word: Vec<(char, Span)> = Vec::new();
        for (c, place) in chars {
            if c.is_whitespace() {
                folded.word(&word);
                word.clear();
            } else {
                word.push((c, place));
            }
        }
        folded.word(&word);
        folded
    }

    fn word(&mut self, word: &[(char, Span)]) {
        let (Some((_, first)), Some((_, last))) = (word.first(), word.last()) else { return };
        if !self.text.is_empty() {
            self.push(' ', *first);
        }
        let composed: Vec<char> = word.iter().map(|(c, _)| *c).nfc().collect();
        let whole = Span::new(first.start, last.end);
        let same = composed.len() == word.len();
        for (at, c) in composed.into_iter().enumerate() {
            // A composed character is some of the word; the word is near enough.
            let place = word.get(at).filter(|_| same).map_or(whole, |(_, place)| *place);
            self.push(typography::plain(c), place);
        }
    }

    fn push(&mut self, c: char, place: Span) {
        self.text.push(c);
        self.places.extend(std::iter::repeat_n(place, c.len_utf8()));
    }

    /// From the first of `parts` to the last, when they stand in this order after byte `from` of the source.
    fn find(&self, parts: &[&str], from: usize) -> Option<Span> {
        let mut at = self.places.iter().position(|place| place.start >= from)?;
        let mut whole: Option<Span> = None;
        for part in parts {
            let found = at + self.text.get(at..)?.find(part)?;
            at = found + part.len();
            let (first, last) = (self.places.get(found)?, self.places.get(at.checked_sub(1)?)?);
            whole = Some(Span::new(whole.map_or(first.start, |whole| whole.start), last.end));
        }
        whole
    }
}
