//! Markdown as styled rows, with the places of its links and headings. Pure: what is on screen at a width is a
//! function of the text, the width and the theme. Every character passes `text::Safe`; nothing is fetched or run.

mod flow;
mod header;
mod table;
mod walk;

#[cfg(test)]
mod tests;

use ratatui::text::Line;

use super::theme::Theme;
use crate::okf::{BundlePath, Link, Page, Target};

/// Rows of a text and what stands in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    pub lines: Vec<Line<'static>>,
    /// In reading order.
    pub links: Vec<RenderedLink>,
    /// Row and slug of each heading.
    pub headings: Vec<(usize, String)>,
    /// For each row, the byte of the source that it begins with.
    pub rows: Vec<usize>,
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

/// Narrowest width that is laid out; below, rows are cut by whoever draws them.
const MIN_WIDTH: u16 = 8;

/// A page with its frontmatter in short. `broken` says which links lead nowhere.
pub fn render_page(page: &Page, width: u16, theme: &Theme, broken: &dyn Fn(&Link) -> bool) -> Rendered {
    let mut canvas = flow::Canvas::new(width.max(MIN_WIDTH), theme);
    header::draw(&mut canvas, page, broken);
    walk::draw(&mut canvas, page.body_text(), page.body.start, &walk::Facts::Page { page, broken });
    let mut rendered = canvas.finish();
    if rendered.lines.is_empty() {
        rendered.lines.push(Line::styled("This page is empty.", theme.dim));
        rendered.rows.push(0);
    }
    rendered
}

/// A text that is no page, for example an answer. Links are read as written at the bundle's root.
pub fn render_text(text: &str, width: u16, theme: &Theme) -> Rendered {
    let mut canvas = flow::Canvas::new(width.max(MIN_WIDTH), theme);
    let root = BundlePath::root();
    let at = root.join("answer.md").unwrap_or(root);
    walk::draw(&mut canvas, text, 0, &walk::Facts::Text { at: &at });
    canvas.finish()
}
