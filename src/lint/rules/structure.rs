//! S: folders and their `index.md`.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::lint::Profile;
use crate::lint::context::{Context, Findings, named};
use crate::lint::registry::{INDEX_MISSING, INDEX_STALE};
use crate::okf::{BundlePath, Page};

pub fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut folders: BTreeMap<BundlePath, Vec<&str>> = BTreeMap::new();
    for page in context.concepts() {
        if let Some(folder) = page.path.parent() {
            folders.entry(folder).or_default().push(page.path.name());
        }
    }
    for (folder, names) in folders {
        let Ok(index) = folder.join("index.md") else { continue };
        if let Some(page) = context.wiki.page(&index) {
            stale(context, page, &names, findings);
        } else if !context.wiki.exists(&index) {
            let count = names.len();
            let pages = if count == 1 { "1 page".to_owned() } else { format!("{count} pages") };
            let message = format!("index.md is missing: {pages} here and no catalogue");
            findings.whole(&INDEX_MISSING, &index, message, [("pages", list(&names))]);
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

fn list(names: &[&str]) -> Value {
    names.iter().copied().collect()
}
