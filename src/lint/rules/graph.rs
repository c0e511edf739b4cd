//! G: how pages hang together, and pages that are one concept twice.

use std::collections::BTreeMap;

use crate::lint::context::{Context, Findings, fold, named, named_paths, tree_order};
use crate::lint::registry::{DUPLICATE_SLUG, DUPLICATE_TITLE, ORPHAN, Rule};
use crate::okf::frontmatter::Value;
use crate::okf::{BundlePath, Page};

pub fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut slugs: BTreeMap<&str, Vec<&BundlePath>> = BTreeMap::new();
    let mut titles: BTreeMap<String, Vec<(&BundlePath, &str)>> = BTreeMap::new();
    for page in context.concepts() {
        if context.wiki.backlinks(&page.path).next().is_none() {
            findings.whole(&ORPHAN, &page.path, "orphan: no other page links to it", []);
        }
        slugs.entry(page.path.name()).or_default().push(&page.path);
        if let Some(title) = title(page) {
            titles.entry(fold(title)).or_default().push((&page.path, title));
        }
    }
    for (slug, mut paths) in slugs {
        paths.sort_by(|a, b| tree_order(a, b));
        report(&DUPLICATE_SLUG, "slug", slug, &paths, findings);
    }
    for mut pages in titles.into_values() {
        pages.sort_by(|a, b| tree_order(a.0, b.0));
        let paths: Vec<&BundlePath> = pages.iter().map(|(path, _)| *path).collect();
        let shown = pages.first().map_or("", |(_, title)| title);
        report(&DUPLICATE_TITLE, "title", shown, &paths, findings);
    }
}

/// One finding on the first of several pages.
fn report(
    rule: &'static Rule,
    what: &'static str,
    name: &str,
    paths: &[&BundlePath],
    findings: &mut Findings,
) {
    if let [first, others @ ..] = paths
        && !others.is_empty()
    {
        let list = named(others.iter().map(|path| path.relative()));
        let message = format!("same {what} in several pages: \"{name}\" is also {list}");
        findings.whole(rule, first, message, [(what, name.into()), ("others", named_paths(others))]);
    }
}

/// The title that the page declares, not one that is made up for display.
fn title(page: &Page) -> Option<&str> {
    match &page.frontmatter.get("title")?.value {
        Value::String(text) | Value::Number(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}
