//! S: folders and their `index.md`, and what the reserved files hold.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use crate::lint::Profile;
use crate::lint::context::{Context, Findings, named};
use crate::lint::registry::{INDEX_ENTRY_BROKEN, INDEX_MISSING, INDEX_STALE, RESERVED_MISUSED};
use crate::okf::frontmatter::{Entry, Value};
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, LinkKind, Page};
use crate::text::Span;

/// Judges a folder by the concept pages that lie directly in it.
pub fn check_folder(
    context: &Context<'_>,
    folder: &BundlePath,
    pages: &[BundlePath],
    findings: &mut Findings,
) {
    let Ok(index) = folder.join("index.md") else { return };
    if pages.is_empty() {
        return;
    }
    let names: Vec<&str> = pages.iter().map(BundlePath::name).collect();
    if let Some(page) = context.wiki.page(&index) {
        stale(context, page, &names, findings);
    } else if !context.wiki.exists(&index) {
        let count = names.len();
        let pages = if count == 1 { "1 page".to_owned() } else { format!("{count} pages") };
        let message = format!("index.md is missing: {pages} here and no catalogue");
        findings.whole(&INDEX_MISSING, &index, message, [("pages", list(&names))]);
    }
}

pub fn check_page(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    let Some(reserved @ (Reserved::Index | Reserved::Log)) = page.path.reserved() else { return };
    misused(context, page, reserved, findings);
    entries(context, page, findings);
}

/// A catalogue or history that says it is a concept, and frontmatter where the specification allows none.
fn misused(context: &Context<'_>, page: &Page, reserved: Reserved, findings: &mut Findings) {
    let front = &page.frontmatter;
    let name = page.path.name();
    // `type: Log` in a history says what the file is; the specification's own samples have it.
    let own = |value: &Value| reserved == Reserved::Log && value.as_str() == Some("Log");
    let concept = |entry: &&Entry| {
        entry.key == "type" && !super::fields::is_empty(&entry.value.value) && !own(&entry.value.value)
    };
    if let Some(entry) = front.entries.iter().find(concept) {
        let span = Span::new(entry.key_span.start, entry.value.span.end);
        let message = format!("{name} carries a concept: the name is reserved, so nobody reads it as one");
        findings.at(&RESERVED_MISUSED, page, span, message, []);
        return;
    }
    let only_root = context.profile == Profile::Okf && reserved == Reserved::Index;
    if let Some(block) = front.block.filter(|_| only_root && front.error.is_none())
        && page.path.as_str() != "/index.md"
    {
        let end = block.start + block.of(&page.text).trim_end().len();
        let message = "index.md has frontmatter: only the one at the bundle's root may, for `okf_version`";
        findings.at(&RESERVED_MISUSED, page, Span::new(block.start, end), message, []);
    }
}

/// Entries for pages that are nowhere. The link in them is broken besides: this is about the line that promises the page.
fn entries(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    if page.entries.is_empty() {
        return;
    }
    let in_body = page.links.iter().filter(|link| !matches!(link.kind, LinkKind::Field(_)));
    let links: HashMap<usize, _> = in_body.map(|link| (link.span.start, link)).collect();
    for entry in &page.entries {
        let Some(link) = links.get(&entry.link) else { continue };
        if super::links::is_gone(context, page, link) {
            let message = format!("index entry for a page that is gone: {}", link.destination);
            let data = [("target", link.destination.clone().into())];
            findings.at(&INDEX_ENTRY_BROKEN, page, entry.span, message, data);
        }
    }
}

fn stale(context: &Context<'_>, index: &Page, names: &[&str], findings: &mut Findings) {
    let folder = index.path.parent();
    let linked: HashSet<&str> = index
        .links
        .iter()
        .filter_map(|link| link.target.path())
        .filter(|target| target.parent() == folder)
        .map(BundlePath::name)
        .collect();
    let mut missing: Vec<&str> = names.iter().copied().filter(|name| !linked.contains(name)).collect();
    if !missing.is_empty() && context.profile == Profile::Wiki {
        let mentioned = super::mention::names_in(index, &missing);
        missing.retain(|name| !mentioned.contains(name));
    }
    if !missing.is_empty() {
        let message = format!("pages not in the index: {}", named(missing.iter().copied()));
        findings.whole(&INDEX_STALE, &index.path, message, [("pages", list(&missing))]);
    }
}

fn list(names: &[&str]) -> Json {
    names.iter().copied().collect()
}
