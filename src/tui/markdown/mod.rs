//! Markdown as styled rows, with the places of its links and headings. Pure: what is on screen at a width is a
//! function of the text, the width and the theme. Every character passes `text::Safe`; nothing is fetched or run.
//! No row is wider than the width, and what is too large to be laid out is cut with a word about it.

mod code;
mod facts;
mod flow;
mod header;
mod stream;
mod table;
mod walk;

#[cfg(test)]
mod tests;

use ratatui::style::Style;
use ratatui::text::Line;

pub use stream::Stream;

use super::theme::Theme;
use crate::okf::slug::Slugs;
use crate::okf::{BundlePath, Link, LinkKind, Page, Target, markdown};
use crate::text::Span;

/// Rows of a text and what stands in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    pub lines: Vec<Line<'static>>,
    /// In reading order.
    pub links: Vec<RenderedLink>,
    /// Row and slug of each heading.
    pub headings: Vec<(usize, String)>,
    /// For each row, the byte of the source that it begins with. Never less than that of the row above.
    pub rows: Vec<usize>,
    /// Of a page, what stands where, row by row.
    pub places: Vec<Place>,
}

/// A piece of text on screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub row: usize,
    pub columns: std::ops::Range<u16>,
    /// Where it stands in the source.
    pub source: Span,
}

/// A link on screen.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedLink {
    /// Index in [`Page::links`]; for a text without page facts, its number.
    pub link: usize,
    pub target: Target,
    pub destination: String,
    /// Rows and columns it covers; several when it is wrapped.
    pub spans: Vec<(usize, std::ops::Range<u16>)>,
}

/// A page with its frontmatter in short. `broken` says which links lead nowhere.
pub fn render_page(page: &Page, width: u16, theme: &Theme, broken: &dyn Fn(&Link) -> bool) -> Rendered {
    let mut canvas = flow::Canvas::new(width, theme);
    header::draw(&mut canvas, page, broken);
    let facts = facts::Facts::new(&page.links, &page.headings, 0, broken);
    walk::draw(&mut canvas, page.body_text(), page.body.start, &facts);
    let mut rendered = canvas.finish();
    if rendered.lines.is_empty() {
        let mut canvas = flow::Canvas::new(width, theme);
        canvas.note("This page is empty.".to_owned());
        rendered = canvas.finish();
    }
    rendered
}

/// A text that is no page, for example an answer. Links are read as written at the bundle's root.
pub fn render_text(text: &str, width: u16, theme: &Theme) -> Rendered {
    let part = Part { range: Span::new(0, text.len()), below: false, first_link: 0 };
    render_part(text, &part, width, theme, &mut Slugs::default()).0
}

/// Some top-level blocks of a text.
struct Part {
    range: Span,
    /// Other blocks stand above.
    below: bool,
    /// The number of its first link.
    first_link: usize,
}

/// What a part looks like, and how many links its source has.
fn render_part(text: &str, part: &Part, width: u16, theme: &Theme, slugs: &mut Slugs) -> (Rendered, usize) {
    let root = BundlePath::root();
    let at = root.join("answer.md").unwrap_or(root);
    let outline = markdown::outline(&at, text, part.range, slugs);
    let facts = facts::Facts::new(&outline.links, &outline.headings, part.first_link, &|_| false);
    let mut canvas =
        if part.below { flow::Canvas::below(width, theme) } else { flow::Canvas::new(width, theme) };
    walk::draw(&mut canvas, part.range.of(text), part.range.start, &facts);
    (Rendered { places: Vec::new(), ..canvas.finish() }, outline.links.len())
}

/// The style of a link, and the mark behind it that says the same without colour. The blank does not break.
fn link_look(link: &Link, broken: bool, theme: &Theme) -> (Style, &'static str) {
    match (&link.target, &link.kind) {
        _ if broken => (theme.link_broken, "\u{a0}✗"),
        (Target::External, _) => (theme.link, "↗"),
        (_, LinkKind::Wikilink) => (theme.dim, ""),
        (Target::Name(_), _) => (theme.text, ""),
        _ => (theme.link, ""),
    }
}

/// The first `bytes` of a text, or a little less.
fn head(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}
