//! Merging a page into another: its text becomes a section there, and what led to it leads to the section.

use std::collections::{BTreeMap, BTreeSet};

use super::index::entry_line;
use super::links::{Goal, aimed, goal, inline, is_defined_elsewhere, is_writable, verify_goals};
use super::{Plan, RefactorError, page_of, place_of};
use crate::okf::edit::{self, Splice};
use crate::okf::frontmatter::{Node, Value};
use crate::okf::path::Reserved;
use crate::okf::slug::Slugs;
use crate::okf::{BundlePath, Link, LinkKind, Page, Target, scalar};
use crate::text::Span;
use crate::wiki::Wiki;

/// Fields that say something of the page itself and have no place in another.
const OWN: [&str; 10] = [
    "type",
    "title",
    "description",
    "timestamp",
    "tags",
    "sources",
    "generated",
    "verified",
    "status",
    "stale_after",
];

/// Merges `from` into `into`: its body becomes the last section there, under its title, its headings one level or more down;
/// tags and sources are added; links to it lead to the section or to the heading that they meant; its index entries go, and
/// so does the page. What is not carried over is named.
pub fn plan_merge(wiki: &Wiki, from: &BundlePath, into: &BundlePath) -> Result<Plan, RefactorError> {
    if from == into {
        return Err(RefactorError::IntoItselfMerged(from.clone()));
    }
    let (source, target) = (page_of(wiki, from)?, page_of(wiki, into)?);
    let section = Section::new(source, target);
    let moved = |new: Goal| -> Goal {
        if new.0 == *from { (into.clone(), Some(section.anchor(new.1.as_deref()))) } else { new }
    };
    let mut plan = Plan { deletes: vec![from.clone()], ..Plan::default() };
    for page in wiki.pages().filter(|page| page.path != *from) {
        let mut splices = Vec::new();
        let entry = (page.path.reserved() == Some(Reserved::Index)).then(|| entry_line(page, from)).flatten();
        splices.extend(entry.map(Splice::delete));
        let mut expected = Vec::new();
        for link in &page.links {
            if entry.is_some_and(|line| line.start <= link.span.start && link.span.end <= line.end) {
                continue;
            }
            let old = goal(page, link);
            let new = old.clone().map(moved);
            let stays = old == new || !is_writable(link) || own_source(page, link, from, into);
            if !stays && let Some(text) = new.as_ref().and_then(|new| aimed(page, link, &page.path, new)) {
                splices.push(Splice::new(link.destination_span, text));
            }
            if link.kind == LinkKind::Wikilink && names(link, from) {
                let place = place_of(page, link);
                plan.notes.push(format!("{place}: this wikilink to {} stays as it is", from.stem()));
            }
            if !matches!(link.kind, LinkKind::Field(_)) {
                expected.push(if stays { old } else { new });
            }
        }
        if page.path == *into {
            plan.notes.extend(fields(source, page, &section.labels, &moved, &mut splices)?);
            let body = section.written(source, page, &moved, &mut expected)?;
            let end = page.text.trim_end().len();
            splices.push(Splice::new(Span::new(end, page.text.len()), body));
        }
        if !splices.is_empty() {
            let text = edit::apply(&page.text, splices);
            verify_goals(&page.path, &text, &expected)?;
            plan.edits.insert(page.path.clone(), text);
        }
    }
    Ok(plan)
}

/// An entry of `sources` in the page that the other one goes into: it would be its own source.
fn own_source(page: &Page, link: &Link, from: &BundlePath, into: &BundlePath) -> bool {
    page.path == *into
        && link.kind == LinkKind::Field("sources".to_owned())
        && link.target.path() == Some(from)
}

/// Whether a wikilink means a page by its file name.
fn names(link: &Link, page: &BundlePath) -> bool {
    matches!(&link.target, Target::Name(name) if name.trim_end_matches(".md") == page.stem())
}

/// The merged page's text as a section.
struct Section {
    /// Written above the text; none when the text has its own first heading.
    heading: Option<String>,
    /// Levels that its headings go down.
    shift: u8,
    anchor: String,
    /// New anchors by old ones.
    anchors: BTreeMap<String, String>,
    /// New footnote labels by old ones, for those that the other page has too.
    labels: BTreeMap<String, String>,
}

impl Section {
    fn new(source: &Page, target: &Page) -> Self {
        let first = source.headings.first();
        let own = first.filter(|h| {
            let before = source.text.get(source.body.start..h.span.start);
            h.level == 1 && before.is_some_and(|text| text.trim().is_empty())
        });
        let lowest = source.headings.iter().map(|h| h.level).min().unwrap_or(6);
        let shift = if own.is_some() { 1 } else { 3u8.saturating_sub(lowest) };
        let mut slugs = Slugs::default();
        for heading in &target.headings {
            slugs.unique(&heading.text);
        }
        let heading = own.is_none().then(|| source.title().split_whitespace().collect::<Vec<_>>().join(" "));
        let added = heading.as_ref().map(|title| slugs.unique(title));
        let anchors: BTreeMap<String, String> =
            source.headings.iter().map(|h| (h.slug.clone(), slugs.unique(&h.text))).collect();
        let anchor = added.or_else(|| anchors.get(&own?.slug).cloned()).unwrap_or_default();
        let taken: BTreeSet<&str> = target.footnotes.iter().map(|f| f.label.as_str()).collect();
        let all = |label: &str| taken.contains(label) || source.footnotes.iter().any(|f| f.label == label);
        let mut labels = BTreeMap::new();
        for footnote in source.footnotes.iter().filter(|f| taken.contains(f.label.as_str())) {
            let fresh = (1..).map(|n| format!("{}-{n}", footnote.label)).find(|label| !all(label));
            labels.entry(footnote.label.clone()).or_insert_with(|| fresh.unwrap_or_default());
        }
        Self { heading, shift, anchor, anchors, labels }
    }

    /// The anchor in the merged page for one in the old page, or for the page itself.
    fn anchor(&self, old: Option<&str>) -> String {
        let Some(old) = old else { return self.anchor.clone() };
        self.anchors.get(old).cloned().unwrap_or_else(|| old.to_owned())
    }

    /// What is put at the end of the page; adds where its links lead to `expected`.
    fn written(
        &self,
        source: &Page,
        target: &Page,
        moved: &dyn Fn(Goal) -> Goal,
        expected: &mut Vec<Option<Goal>>,
    ) -> Result<String, RefactorError> {
        let mut splices = Vec::new();
        for link in source.links.iter().filter(|l| !matches!(l.kind, LinkKind::Field(_))) {
            let old = goal(source, link);
            let new = old.clone().map(moved);
            let text = new
                .as_ref()
                .filter(|_| is_writable(link))
                .and_then(|new| aimed(source, link, &target.path, new));
            // The other page may define the same label, and the first definition holds.
            if is_defined_elsewhere(link) {
                splices.push(inline(source, link, text.clone())?);
            }
            if let Some(text) = text {
                splices.push(Splice::new(link.destination_span, text));
            }
            expected.push(new);
        }
        for heading in &source.headings {
            splices.extend(super::split::levelled(source, heading, i16::from(self.shift)));
        }
        for footnote in &source.footnotes {
            let start = footnote.span.start + "[^".len();
            let label = Span::new(start, start + footnote.label.len());
            if let Some(fresh) = self.labels.get(&footnote.label)
                && label.of(&source.text) == footnote.label
            {
                splices.push(Splice::new(label, fresh.clone()));
            }
        }
        let text = edit::apply(&source.text, splices);
        // No splice stands before the body.
        let body = text.get(source.body.start..).unwrap_or_default().trim();
        let body = match &self.heading {
            Some(heading) => format!("## {heading}\n\n{body}"),
            None => body.to_owned(),
        };
        let flat = body.replace("\r\n", "\n");
        Ok(format!("\n\n{}\n", flat.trim_end()).replace('\n', edit::line_end(&target.text)))
    }
}

/// Adds tags and sources to the merged page's frontmatter; says what is not carried over.
fn fields(
    source: &Page,
    target: &Page,
    labels: &BTreeMap<String, String>,
    moved: &dyn Fn(Goal) -> Goal,
    splices: &mut Vec<Splice>,
) -> Result<Vec<String>, RefactorError> {
    let mut notes = Vec::new();
    let unwritable =
        |what: &str| RefactorError::Unwritable { page: target.path.clone(), what: format!("`{what}`") };
    let have = target.frontmatter.strings("tags");
    let tags = source.frontmatter.strings("tags").into_iter().filter(|tag| !have.contains(tag));
    let mut tags: Vec<String> = tags.map(scalar::written).collect();
    tags.dedup();
    if !tags.is_empty() {
        let splice = edit::append(&target.text, &target.frontmatter, "tags", &tags);
        splices.push(splice.ok_or_else(|| unwritable("tags"))?);
    }

    let resolved = |page: &Page, item: &Node| -> Option<BundlePath> {
        let value = item.value.get("resource").unwrap_or(item).value.as_str()?.to_owned();
        Target::of_source(&page.path, &value).path().cloned()
    };
    let empty = Vec::new();
    let list = |page: &'_ Page| {
        page.frontmatter.get("sources").map_or(empty.clone(), |node| edit::items(node).to_vec())
    };
    let there = list(target);
    let known: BTreeSet<BundlePath> = there.iter().filter_map(|item| resolved(target, item)).collect();
    let mut items = Vec::new();
    for item in list(source) {
        let path = resolved(source, &item);
        if path.as_ref().is_some_and(|path| known.contains(path) || *path == target.path)
            || there.iter().any(|other| other.value == item.value && path.is_none())
        {
            continue;
        }
        items.push(edit::flow(&rebased(&item.value, source, target, labels, moved)));
    }
    // The page that goes cannot be a source of what it becomes part of.
    let own = there.iter().position(|item| resolved(target, item).as_ref() == Some(&source.path));
    match (own, items.is_empty()) {
        (None, true) => {}
        (None, false) => splices.push(
            edit::append(&target.text, &target.frontmatter, "sources", &items)
                .ok_or_else(|| unwritable("sources"))?,
        ),
        (Some(nth), true) => splices.push(
            edit::remove_item(&target.text, &target.frontmatter, "sources", nth)
                .ok_or_else(|| unwritable("sources"))?,
        ),
        (Some(nth), false) => {
            let node = there.get(nth).ok_or_else(|| unwritable("sources"))?;
            splices.push(Splice::new(node.span, items.remove(0)));
            if !items.is_empty() {
                let splice = edit::append(&target.text, &target.frontmatter, "sources", &items);
                splices.push(splice.ok_or_else(|| unwritable("sources"))?);
            }
        }
    }

    let lost: Vec<&str> = source
        .frontmatter
        .entries
        .iter()
        .map(|entry| entry.key.as_str())
        .filter(|key| !OWN.contains(key) && target.frontmatter.get(key).is_none())
        .collect();
    if !lost.is_empty() {
        notes.push(format!(
            "{}: not carried over from its fields: {}",
            source.path.relative(),
            lost.join(", ")
        ));
    }
    Ok(notes)
}

/// A source as it must be written in the other page.
fn rebased(
    value: &Value,
    source: &Page,
    target: &Page,
    labels: &BTreeMap<String, String>,
    moved: &dyn Fn(Goal) -> Goal,
) -> Value {
    let path = |text: &str| match Target::of_source(&source.path, text) {
        Target::Path { path, absolute: false, fragment, .. } => {
            let (path, fragment) = moved((path, fragment));
            path.relative_to_page(&target.path) + &fragment.map(|f| format!("#{f}")).unwrap_or_default()
        }
        _ => text.to_owned(),
    };
    match value {
        Value::String(text) => Value::String(path(text.trim())),
        Value::Map(entries) => {
            let mut entries = entries.clone();
            for entry in &mut entries {
                let Value::String(text) = &entry.value.value else { continue };
                let new = match entry.key.as_str() {
                    "resource" => Some(path(text.trim())),
                    // What its footnotes are called now.
                    "id" => labels.get(text).cloned(),
                    _ => None,
                };
                if let Some(new) = new {
                    entry.value.value = Value::String(new);
                }
            }
            Value::Map(entries)
        }
        other => other.clone(),
    }
}
