//! G: how pages hang together, and pages that are one concept twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lint::Profile;
use crate::lint::context::{Context, Data, Findings, fold, named, named_paths, tree_order};
use crate::lint::registry::{DUPLICATE_SLUG, DUPLICATE_TITLE, ISLAND, ORPHAN};
use crate::okf::frontmatter::Value;
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Page};
use crate::text::Span;

pub fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut slugs: BTreeMap<&str, Vec<&BundlePath>> = BTreeMap::new();
    let mut titles: BTreeMap<String, Vec<(&Page, &str)>> = BTreeMap::new();
    for page in context.concepts() {
        if context.wiki.backlinks(&page.path).next().is_none() {
            findings.whole(&ORPHAN, &page.path, "orphan: no other page links to it", []);
        }
        slugs.entry(page.path.name()).or_default().push(&page.path);
        if let Some(title) = title(page) {
            titles.entry(fold(title)).or_default().push((page, title));
        }
    }
    for (slug, mut paths) in slugs {
        paths.sort_by(|a, b| tree_order(a, b));
        if let [first, others @ ..] = paths.as_slice()
            && !others.is_empty()
        {
            let (message, data) = doubles("slug", slug, others);
            findings.whole(&DUPLICATE_SLUG, first, message, data);
        }
    }
    for mut pages in titles.into_values() {
        pages.sort_by(|a, b| tree_order(&a.0.path, &b.0.path));
        if let [(first, shown), others @ ..] = pages.as_slice()
            && !others.is_empty()
        {
            let others: Vec<&BundlePath> = others.iter().map(|(page, _)| &page.path).collect();
            let (message, data) = doubles("title", shown, &others);
            let span = first.frontmatter.get("title").map_or(Span::default(), |node| node.span);
            findings.at(&DUPLICATE_TITLE, first, span, message, data);
        }
    }
    islands(context, findings);
}

/// Message and data of one finding on the first of several pages.
fn doubles(what: &'static str, name: &str, others: &[&BundlePath]) -> (String, Data<2>) {
    let list = named(others.iter().map(|path| path.relative()));
    let message = format!("same {what} in several pages: \"{name}\" is also {list}");
    (message, [(what, name.into()), ("others", named_paths(others))])
}

/// Concept pages that hang together and that no way from any index leads to. A bundle without an index has no way in, and
/// so no island.
fn islands(context: &Context<'_>, findings: &mut Findings) {
    let wiki = context.wiki;
    let indexes: Vec<&Page> = wiki
        .pages()
        .map(|page| &**page)
        .filter(|page| page.path.reserved() == Some(Reserved::Index))
        .collect();
    if indexes.is_empty() {
        return;
    }
    let mut reached: HashSet<&BundlePath> = HashSet::new();
    spread(context, indexes.iter().copied(), &mut reached);
    if context.profile == Profile::Wiki {
        let mentioned = mentioned(context, &indexes, &reached);
        spread(context, mentioned.into_iter(), &mut reached);
    }
    let cut_off: HashMap<&BundlePath, usize> = context
        .concepts()
        .map(|page| &page.path)
        .filter(|path| !reached.contains(path))
        .enumerate()
        .map(|(number, path)| (path, number))
        .collect();
    if cut_off.is_empty() {
        return;
    }
    // Links both ways between them.
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); cut_off.len()];
    for (path, number) in &cut_off {
        for other in wiki.page(path).into_iter().flat_map(|page| targets(context, page)) {
            if let Some(other) = cut_off.get(&other.path).filter(|other| *other != number) {
                edges.get_mut(*number).into_iter().for_each(|list| list.push(*other));
                edges.get_mut(*other).into_iter().for_each(|list| list.push(*number));
            }
        }
    }
    let mut paths: Vec<(&usize, &BundlePath)> =
        cut_off.iter().map(|(path, number)| (number, *path)).collect();
    paths.sort_unstable();
    for island in components(&edges) {
        let mut pages: Vec<&BundlePath> =
            island.iter().filter_map(|number| paths.get(*number)).map(|(_, path)| *path).collect();
        pages.sort_by(|a, b| tree_order(a, b));
        if let [first, others @ ..] = pages.as_slice()
            && !others.is_empty()
        {
            let list = named(others.iter().map(|path| path.relative()));
            let message = format!("island: no way from an index leads here, nor to {list}");
            findings.whole(&ISLAND, first, message, [("pages", named_paths(&pages))]);
        }
    }
}

/// Adds to `reached` these pages and all that can be reached from them.
fn spread<'a>(
    context: &Context<'a>,
    from: impl Iterator<Item = &'a Page>,
    reached: &mut HashSet<&'a BundlePath>,
) {
    let mut waiting: Vec<&Page> = from.filter(|page| reached.insert(&page.path)).collect();
    while let Some(page) = waiting.pop() {
        waiting.extend(targets(context, page).filter(|target| reached.insert(&target.path)));
    }
}

/// The pages that the links of a page open.
fn targets<'a>(context: &Context<'a>, page: &'a Page) -> impl Iterator<Item = &'a Page> + use<'a> {
    let wiki = context.wiki;
    page.links
        .iter()
        .filter_map(|link| link.target.path())
        .filter_map(|path| wiki.landing(path))
        .map(|page| &**page)
}

/// Pages not yet reached whose bare file name stands in their folder's index.
fn mentioned<'a>(
    context: &Context<'a>,
    indexes: &[&'a Page],
    reached: &HashSet<&'a BundlePath>,
) -> Vec<&'a Page> {
    let mut folders: HashMap<BundlePath, Vec<&Page>> = HashMap::new();
    for page in context.concepts().filter(|page| !reached.contains(&page.path)) {
        if let Some(folder) = page.path.parent() {
            folders.entry(folder).or_default().push(page);
        }
    }
    let mut found = Vec::new();
    for index in indexes {
        let pages = index.path.parent().and_then(|folder| folders.remove(&folder)).unwrap_or_default();
        let names: Vec<&str> = pages.iter().map(|page| page.path.name()).collect();
        let mentioned = super::mention::names_in(index, &names);
        found.extend(pages.into_iter().filter(|page| mentioned.contains(page.path.name())));
    }
    found
}

/// The sets of numbers that edges (each in both lists) hold together, in the order of their first number.
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; edges.len()];
    let mut found = Vec::new();
    for start in 0..edges.len() {
        let mut members = Vec::new();
        let mut waiting = vec![start];
        while let Some(number) = waiting.pop() {
            if seen.get_mut(number).is_none_or(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            members.push(number);
            waiting.extend(edges.get(number).into_iter().flatten());
        }
        if !members.is_empty() {
            found.push(members);
        }
    }
    found
}

/// The title that the page declares, not one that is made up for display.
fn title(page: &Page) -> Option<&str> {
    match &page.frontmatter.get("title")?.value {
        Value::String(text) | Value::Number(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}
