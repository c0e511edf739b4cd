//! The tree pane: which folders are open, which row is chosen, and the rows that follow from the model.

use std::collections::{BTreeMap, BTreeSet};

use crate::bundle::{ChangeKind, ChangeSet};
use crate::okf::BundlePath;
use crate::wiki::Wiki;

/// Up to so many rows, a bundle opens with every folder unfolded.
const UNFOLD_ALL: usize = 36;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    Folder {
        open: bool,
    },
    Page,
    /// A page that cannot be read.
    Unreadable,
    /// Anything that is no page.
    File,
}

/// What is staged for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Something below this folder.
    Inside,
    Created,
    Modified,
    Deleted,
    Renamed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub path: BundlePath,
    pub depth: usize,
    pub kind: RowKind,
    pub mark: Option<Mark>,
}

#[derive(Debug, Default)]
pub struct Tree {
    pub open: BTreeSet<BundlePath>,
    pub rows: Vec<Row>,
    pub selected: usize,
    /// First visible row.
    pub top: usize,
    /// The choice that was last scrolled into view, so that the wheel may leave it.
    pub settled: usize,
    unfolded: bool,
}

impl Tree {
    pub fn row(&self) -> Option<&Row> {
        self.rows.get(self.selected)
    }

    /// Makes the rows anew and keeps the selection on its path, or near it when that is gone.
    pub fn rebuild(&mut self, wiki: &Wiki, staged: &ChangeSet) {
        let marks = marks(staged);
        let mut children: BTreeMap<BundlePath, Vec<(bool, BundlePath, RowKind)>> = BTreeMap::new();
        let mut put = |path: &BundlePath, kind: RowKind| {
            if let Some(parent) = path.parent() {
                let file = !matches!(kind, RowKind::Folder { .. });
                children.entry(parent).or_default().push((file, path.clone(), kind));
            }
        };
        let mut known: BTreeSet<&BundlePath> = BTreeSet::new();
        let mut folders: BTreeSet<BundlePath> = wiki.folders().cloned().collect();
        for page in wiki.pages() {
            known.insert(&page.path);
            put(&page.path, RowKind::Page);
        }
        for (path, _) in wiki.problems() {
            if known.insert(path) {
                put(path, RowKind::Unreadable);
            }
        }
        for path in wiki.files() {
            if known.insert(path) {
                put(path, RowKind::File);
            }
        }
        for file in &staged.files {
            if known.insert(&file.path) {
                put(&file.path, if file.path.is_markdown() { RowKind::Page } else { RowKind::File });
                folders.extend(ancestors(&file.path));
            }
        }
        folders.remove(&BundlePath::root());
        if !self.unfolded {
            self.unfolded = true;
            if folders.len() + known.len() <= UNFOLD_ALL {
                self.open.extend(folders.iter().cloned());
            } else {
                self.open.extend(folders.iter().filter(|f| f.name() == "wiki").cloned());
            }
        }
        for folder in &folders {
            put(folder, RowKind::Folder { open: self.open.contains(folder) });
        }
        for list in children.values_mut() {
            // Folders first, then the catalogue of the folder, then the rest by name.
            list.sort_by(|a, b| {
                (a.0, a.1.name() != "index.md", a.1.name()).cmp(&(b.0, b.1.name() != "index.md", b.1.name()))
            });
        }
        let chosen = self.row().map(|r| r.path.clone());
        let mut rows = Vec::new();
        let mut stack: Vec<(usize, &(bool, BundlePath, RowKind))> =
            children.get(&BundlePath::root()).into_iter().flatten().rev().map(|c| (0, c)).collect();
        while let Some((depth, (_, path, kind))) = stack.pop() {
            rows.push(Row { path: path.clone(), depth, kind: *kind, mark: marks.get(path).copied() });
            if *kind == (RowKind::Folder { open: true }) {
                stack.extend(children.get(path).into_iter().flatten().rev().map(|c| (depth + 1, c)));
            }
        }
        self.rows = rows;
        if let Some(chosen) = chosen {
            self.select(&chosen);
        }
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
    }

    /// Chooses the row of this path, or of the nearest folder above it that is shown.
    pub fn select(&mut self, path: &BundlePath) {
        let mut at = Some(path.clone());
        while let Some(path) = at {
            if let Some(index) = self.rows.iter().position(|r| r.path == path) {
                self.selected = index;
                return;
            }
            at = path.parent();
        }
    }

    /// Unfolds the folders above a path; the rows follow with the next [`Self::rebuild`].
    pub fn reveal(&mut self, path: &BundlePath) {
        self.open.extend(ancestors(path));
    }
}

fn ancestors(path: &BundlePath) -> impl Iterator<Item = BundlePath> {
    std::iter::successors(path.parent(), BundlePath::parent).filter(|p| !p.is_root())
}

fn marks(staged: &ChangeSet) -> BTreeMap<BundlePath, Mark> {
    let mut marks = BTreeMap::new();
    for file in &staged.files {
        for folder in ancestors(&file.path) {
            marks.entry(folder).or_insert(Mark::Inside);
        }
        let mark = match &file.kind {
            ChangeKind::Create => Mark::Created,
            ChangeKind::Modify => Mark::Modified,
            ChangeKind::Delete => Mark::Deleted,
            ChangeKind::Rename { from } => {
                marks.insert(from.clone(), Mark::Deleted);
                Mark::Renamed
            }
        };
        marks.insert(file.path.clone(), mark);
    }
    marks
}
