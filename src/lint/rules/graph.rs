//! G: how pages hang together, and pages that are one concept twice.

use std::collections::BTreeSet;

use crate::lint::context::{Context, Data, Findings, named, named_paths};
use crate::lint::registry::{DUPLICATE_SLUG, DUPLICATE_TITLE, ISLAND, ORPHAN};
use crate::okf::frontmatter::Value;
use crate::okf::{BundlePath, Page};
use crate::text::Span;

/// Judges whether another page links to a concept page.
pub fn check_orphan(context: &Context<'_>, path: &BundlePath, findings: &mut Findings) {
    if context.wiki.backlinks(path).next().is_none() {
        findings.whole(&ORPHAN, path, "orphan: no other page links to it", []);
    }
}

/// Judges the concept pages of one file name, in tree order.
pub fn check_slug(pages: &[BundlePath], findings: &mut Findings) {
    if let [first, others @ ..] = pages
        && !others.is_empty()
    {
        let (message, data) = doubles("slug", first.name(), others);
        findings.whole(&DUPLICATE_SLUG, first, message, data);
    }
}

/// Judges the concept pages whose titles fold to one, in tree order.
pub fn check_title(context: &Context<'_>, pages: &[BundlePath], findings: &mut Findings) {
    if let [first, others @ ..] = pages
        && !others.is_empty()
        && let Some(first) = context.wiki.page(first)
        && let Some(shown) = title(first)
    {
        let (message, data) = doubles("title", shown, others);
        let span = first.frontmatter.get("title").map_or(Span::default(), |node| node.span);
        findings.at(&DUPLICATE_TITLE, first, span, message, data);
    }
}

/// Message and data of one finding on the first of several pages.
fn doubles(what: &'static str, name: &str, others: &[BundlePath]) -> (String, Data<2>) {
    let list = named(others.iter().map(BundlePath::relative));
    let message = format!("same {what} in several pages: \"{name}\" is also {list}");
    (message, [(what, name.into()), ("others", named_paths(others))])
}

/// Judges concept pages that hang together and that no way from any index leads to, in tree order.
pub fn check_island(pages: &[BundlePath], findings: &mut Findings) {
    if let [first, others @ ..] = pages
        && !others.is_empty()
    {
        let list = named(others.iter().map(BundlePath::relative));
        let message = format!("island: no way from an index leads here, nor to {list}");
        findings.whole(&ISLAND, first, message, [("pages", named_paths(pages))]);
    }
}

/// What the links of a page lead to, each once, without itself.
pub fn targets(page: &Page) -> BTreeSet<&BundlePath> {
    page.links.iter().filter_map(|link| link.target.path()).filter(|path| **path != page.path).collect()
}

/// The title that the page declares, not one that is made up for display.
pub fn title(page: &Page) -> Option<&str> {
    match &page.frontmatter.get("title")?.value {
        Value::String(text) | Value::Number(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}
