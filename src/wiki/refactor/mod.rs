//! Moving and deleting pages without breaking what points at them. Pure: from the model to a [`Plan`]; staging it is one
//! call more, and nothing is written here.
//!
//! Links are replaced by their bytes, in the style they are written in; every other byte of a page stays. Each page that was
//! changed is parsed again, and a plan in which a link would not lead where it must is refused.

use std::collections::BTreeMap;

use super::Wiki;
use crate::bundle::{Error, Staged, Write};
use crate::okf::edit::{self, Splice};
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Link, Page, Target};
use index::{entry_line, with_entry};
use links::{redirected, verify};

mod index;
mod links;
mod merge;
mod split;
#[cfg(test)]
mod tests;
mod unlink;

pub(crate) use links::{link_path, styled};
pub use merge::plan_merge;
pub use split::plan_split;
pub use unlink::plan_unlink;

/// What is to be done, as data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// From, to.
    pub moves: Vec<(BundlePath, BundlePath)>,
    pub deletes: Vec<BundlePath>,
    /// New text of pages, by the path they have after the moves.
    pub edits: BTreeMap<BundlePath, String>,
    /// Sentences for the person: what is left as it is and may break.
    pub notes: Vec<String>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefactorError {
    /// With the one that was meant, when it can be told.
    #[error("{0}: there is no such file or folder in the bundle{advice}", advice = meant(.1.as_ref()))]
    Absent(BundlePath, Option<BundlePath>),
    #[error("{0}: there is a file or folder of that name already")]
    Taken(BundlePath),
    #[error("{0}: the bundle itself cannot be moved or deleted")]
    Root(BundlePath),
    #[error("a folder cannot be moved into itself")]
    IntoItself,
    #[error("{0} is a folder; delete its files one by one")]
    Folder(BundlePath),
    #[error("{0} is no page; only pages can be merged or split")]
    NotAPage(BundlePath),
    #[error("{0} is part of the bundle's structure and cannot be merged or split")]
    Reserved(BundlePath),
    #[error("{0}: a page cannot be merged into itself")]
    IntoItselfMerged(BundlePath),
    #[error("{page}: there is no heading {heading:?}; it has: {there}")]
    NoHeading { page: BundlePath, heading: String, there: String },
    #[error("{page}: several headings are called {heading:?}; name one by its anchor: {there}")]
    ManyHeadings { page: BundlePath, heading: String, there: String },
    #[error(
        "{page}: the heading {heading:?} stands in a list or quote; only a section of the page itself can be split off"
    )]
    InnerHeading { page: BundlePath, heading: String },
    #[error("{page}: {what} cannot be edited as it is written; change it by hand first")]
    Unwritable { page: BundlePath, what: String },
    #[error("{page}: the link to {target} cannot be written anew without doubt; change it by hand first")]
    Unsafe { page: BundlePath, target: String },
}

impl Plan {
    /// Stages the plan: moves, then edits, then deletions. Stops at the first that a rule or the bundle refuses.
    pub fn stage(&self, staged: &Staged) -> Result<(), Error> {
        for (from, to) in &self.moves {
            staged.rename(from, to)?;
        }
        for (path, text) in &self.edits {
            staged.write(path, text.as_bytes())?;
        }
        self.deletes.iter().try_for_each(|path| staged.delete(path))
    }
}

/// Moves a page, another file, or a folder with all that is in it. Links to what moves, links in it, and the entry in the
/// folder's index follow.
pub fn plan_move(wiki: &Wiki, from: &BundlePath, to: &BundlePath) -> Result<Plan, RefactorError> {
    if from.is_root() || to.is_root() {
        return Err(RefactorError::Root(BundlePath::root()));
    }
    if from != to && to.is_within(from) {
        return Err(RefactorError::IntoItself);
    }
    let pages = wiki.pages().map(|page| &page.path);
    let moves: Vec<(BundlePath, BundlePath)> = pages
        .chain(wiki.files())
        .filter(|path| path.is_within(from))
        .map(|path| (path.clone(), relocate(path, from, to)))
        .collect();
    if moves.is_empty() || from == to {
        return Err(if from == to { RefactorError::Taken(to.clone()) } else { absent(wiki, from) });
    }
    // Only the letter case or Unicode form changes: the same place on some file systems.
    if wiki.exists(to) && from.fold_key() != to.fold_key() {
        return Err(RefactorError::Taken(to.clone()));
    }
    let mut plan = Plan { moves, ..Plan::default() };
    plan.moves.sort();
    plan.moves.dedup();
    let mut entry = None;
    for page in wiki.pages() {
        let at = relocate(&page.path, from, to);
        let mut splices = Vec::new();
        for link in &page.links {
            if let Some(text) = redirected(page, &at, link, from, to) {
                splices.push(Splice::new(link.destination_span, text));
            }
        }
        let expected: Vec<Target> = page.links.iter().map(|link| expected(link, from, to)).collect();
        // The entry of a page that leaves its folder goes to the new folder's index.
        let leaves = page.path.reserved() == Some(Reserved::Index)
            && from.parent() != to.parent()
            && page.path.parent() == from.parent()
            && from.is_markdown();
        let taken = if leaves { entry_line(page, from) } else { None };
        if let Some(line) = taken
            && let Some(index) = to.parent().and_then(|folder| folder.join("index.md").ok())
            && wiki.page(&index).is_some()
        {
            let mut text = line.of(&page.text).trim_end().to_owned();
            let link = page.links.iter().find(|l| line.start <= l.span.start && l.span.end <= line.end);
            if let Some(destination) = link.map(|l| l.destination_span.of(&page.text))
                && let Some(start) = text.find(destination)
            {
                let new = styled(destination, &to.relative_to_page(&index), false);
                text.replace_range(start..start + destination.len(), &new);
                splices.retain(|s| s.span.start < line.start || s.span.end > line.end);
                splices.push(Splice::delete(line));
                entry = Some((index, text));
            }
        } else if splices.is_empty() {
            continue;
        }
        if splices.is_empty() {
            continue;
        }
        let moved_entry = taken.is_some() && entry.is_some();
        let text = edit::apply(&page.text, splices);
        if !moved_entry {
            verify(page, &at, &text, &expected)?;
        }
        plan.edits.insert(at, text);
    }
    if let Some((index, line)) = entry {
        let before = match plan.edits.get(&index) {
            Some(text) => text.clone(),
            None => wiki.page(&index).map(|page| page.text.to_string()).unwrap_or_default(),
        };
        plan.edits.insert(index, with_entry(&before, &line));
    }
    for (path, _) in wiki.problems() {
        plan.notes.push(format!("{path} cannot be read as a page; links in it stay as they are"));
    }
    Ok(plan)
}

/// Deletes one file and its index entries. What else points at it is named, and stays.
pub fn plan_delete(wiki: &Wiki, path: &BundlePath) -> Result<Plan, RefactorError> {
    if path.is_root() {
        return Err(RefactorError::Root(path.clone()));
    }
    let is_file = wiki.page(path).is_some() || wiki.files().any(|file| file == path);
    if !is_file {
        return Err(if wiki.exists(path) { RefactorError::Folder(path.clone()) } else { absent(wiki, path) });
    }
    let mut plan = Plan { deletes: vec![path.clone()], ..Plan::default() };
    for (page, link) in wiki.links_to(path) {
        if page.path == *path {
            continue;
        }
        let in_index = page.path.reserved() == Some(Reserved::Index);
        if let Some(line) = in_index.then(|| entry_line(page, path)).flatten()
            && line.start <= link.span.start
            && link.span.end <= line.end
        {
            plan.edits
                .entry(page.path.clone())
                .or_insert_with(|| edit::apply(&page.text, [Splice::delete(line)]));
            continue;
        }
        let place = page.lines.position(&page.text, link.span.start);
        plan.notes.push(format!(
            "{}:{}:{}: this link will be broken",
            page.path.relative(),
            place.line,
            place.column
        ));
    }
    Ok(plan)
}

fn relocate(path: &BundlePath, from: &BundlePath, to: &BundlePath) -> BundlePath {
    if !path.is_within(from) {
        return path.clone();
    }
    let rest = path.as_str().get(from.as_str().len()..).unwrap_or_default().trim_start_matches('/');
    // A path below a valid one, with components that were valid before.
    to.join(rest).unwrap_or_else(|_| to.clone())
}

/// What the link must mean afterwards.
fn expected(link: &Link, from: &BundlePath, to: &BundlePath) -> Target {
    match &link.target {
        Target::Path { path, absolute, folder, fragment } => Target::Path {
            path: relocate(path, from, to),
            absolute: *absolute,
            folder: *folder,
            fragment: fragment.clone(),
        },
        other => other.clone(),
    }
}

/// A page that is no part of the structure.
fn page_of<'a>(wiki: &'a Wiki, path: &BundlePath) -> Result<&'a Page, RefactorError> {
    if path.reserved().is_some() {
        return Err(RefactorError::Reserved(path.clone()));
    }
    match wiki.page(path) {
        Some(page) => Ok(page),
        None if wiki.exists(path) => Err(RefactorError::NotAPage(path.clone())),
        None => Err(absent(wiki, path)),
    }
}

fn meant(near: Option<&BundlePath>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

fn absent(wiki: &Wiki, path: &BundlePath) -> RefactorError {
    RefactorError::Absent(path.clone(), near(wiki, path).cloned())
}

/// The one file that a path which leads nowhere is a slip for: the same name in another folder, or nearly the same path.
fn near<'a>(wiki: &'a Wiki, path: &BundlePath) -> Option<&'a BundlePath> {
    /// Share of a path that must be right.
    const NEAR: f64 = 0.85;
    let all = || wiki.pages().map(|page| &page.path).chain(wiki.files());
    let named = path.name().to_lowercase();
    let same = |other: &&BundlePath| {
        let name = other.name().to_lowercase();
        name == named || name.strip_suffix(".md") == Some(named.as_str())
    };
    let mut named = all().filter(same);
    if let (Some(only), None) = (named.next(), named.next()) {
        return Some(only);
    }
    let likeness = |other: &BundlePath| strsim::normalized_damerau_levenshtein(other.as_str(), path.as_str());
    let nearest = all().map(|other| (likeness(other), other)).max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.filter(|(likeness, _)| *likeness >= NEAR).map(|(_, other)| other)
}

/// `wiki/a.md:3:11`
fn place_of(page: &Page, link: &Link) -> String {
    let place = page.lines.position(&page.text, link.span.start);
    format!("{}:{}:{}", page.path.relative(), place.line, place.column)
}
