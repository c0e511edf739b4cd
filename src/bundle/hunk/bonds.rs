//! Which parts of a set need each other: a new page and the lines that link to it, a deleted page and the lines that
//! linked to it. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{FileDecision, HunkDecision, HunkId, Verdicts};
use crate::bundle::change::{ChangeKind, ChangeSet, Decision};
use crate::okf::{BundlePath, Page};

/// A hunk that needs another file of the set, or is needed by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bond {
    pub path: BundlePath,
    pub hunk: HunkId,
    pub other: BundlePath,
    pub kind: BondKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BondKind {
    /// The hunk puts in a link to `other`, which the set creates.
    Links,
    /// The hunk takes out a link to `other`, which the set deletes.
    Frees,
}

/// All bonds of a set, in path order of the hunks' files.
pub fn bonds(changes: &ChangeSet) -> Vec<Bond> {
    let mut created = BTreeSet::new();
    let mut deleted = BTreeSet::new();
    for file in &changes.files {
        match &file.kind {
            ChangeKind::Create => {
                created.insert(file.path.clone());
            }
            ChangeKind::Delete => {
                deleted.insert(file.path.clone());
            }
            ChangeKind::Rename { from } => {
                created.insert(file.path.clone());
                deleted.insert(from.clone());
            }
            ChangeKind::Modify => {}
        }
    }
    let mut found = Vec::new();
    if created.is_empty() && deleted.is_empty() {
        return found;
    }
    for file in changes.files.iter().filter(|file| file.path.is_markdown()) {
        let Ok((before, after)) = file.texts() else { continue };
        let hunks = file.hunks();
        let new = links(&file.path, after, &created);
        let old = links(&file.path, before, &deleted);
        for hunk in &hunks {
            let mut add = |other: &BundlePath, kind| {
                let bond = Bond { path: file.path.clone(), hunk: hunk.id, other: other.clone(), kind };
                if *other != file.path && !found.contains(&bond) {
                    found.push(bond);
                }
            };
            let within = |range: &std::ops::Range<usize>, line: usize| range.contains(&line);
            new.iter()
                .filter(|(line, _)| within(&hunk.new, *line))
                .for_each(|(_, o)| add(o, BondKind::Links));
            old.iter()
                .filter(|(line, _)| within(&hunk.old, *line))
                .for_each(|(_, o)| add(o, BondKind::Frees));
        }
    }
    found
}

/// Line, from 0, and target of each link to one of `targets`.
fn links(path: &BundlePath, text: Option<&str>, targets: &BTreeSet<BundlePath>) -> Vec<(usize, BundlePath)> {
    let Some(text) = text.filter(|_| !targets.is_empty()) else { return Vec::new() };
    let page = Page::parse(path.clone(), Arc::from(text));
    let line = |offset| page.lines.position(&page.text, offset).line.saturating_sub(1) as usize;
    let target = |link: &crate::okf::Link| {
        let target = link.target.path().filter(|target| targets.contains(*target))?;
        Some((line(link.span.start), target.clone()))
    };
    page.links.iter().filter_map(target).collect()
}

/// What of a set would land.
pub trait Lands {
    /// Whether the file is created, moved here or deleted as proposed.
    fn file(&self, path: &BundlePath) -> bool;
    fn hunk(&self, path: &BundlePath, hunk: HunkId) -> bool;
}

impl Lands for Verdicts {
    fn file(&self, path: &BundlePath) -> bool {
        match self.get(path) {
            Some(FileDecision::Whole(decision)) => matches!(decision, Decision::Approved { .. }),
            Some(FileDecision::Hunks { hunks, .. }) => hunks.values().any(lands),
            None => false,
        }
    }

    fn hunk(&self, path: &BundlePath, hunk: HunkId) -> bool {
        match self.get(path) {
            Some(FileDecision::Hunks { hunks, .. }) => hunks.get(&hunk).is_some_and(lands),
            _ => self.file(path),
        }
    }
}

fn lands(decision: &HunkDecision) -> bool {
    matches!(decision, HunkDecision::Approved | HunkDecision::Replaced { .. })
}

/// A sentence for each page whose bonds would be torn.
pub fn stranded(changes: &ChangeSet, bonds: &[Bond], lands: &dyn Lands) -> Vec<String> {
    // A file that was moved goes by its new name in the set.
    let goes = |path: &BundlePath| {
        let moved = |kind: &ChangeKind| matches!(kind, ChangeKind::Rename { from } if from == path);
        match changes.files.iter().find(|file| moved(&file.kind)) {
            Some(file) => lands.file(&file.path),
            None => lands.file(path),
        }
    };
    let (mut dangling, mut left, mut alone) = (Torn::new(), Torn::new(), Torn::new());
    for bond in bonds {
        let hunk = lands.hunk(&bond.path, bond.hunk);
        match bond.kind {
            BondKind::Links if hunk && !lands.file(&bond.other) => {
                dangling.entry(&bond.path).or_default().insert(&bond.other);
            }
            BondKind::Frees if !hunk && goes(&bond.other) => {
                left.entry(&bond.path).or_default().insert(&bond.other);
            }
            BondKind::Links if !hunk && lands.file(&bond.other) => {
                alone.entry(&bond.other).or_default().insert(&bond.path);
            }
            _ => {}
        }
    }
    // One link is enough for a page not to be alone.
    let links = |bond: &Bond| bond.kind == BondKind::Links && lands.hunk(&bond.path, bond.hunk);
    alone.retain(|page, _| !bonds.iter().any(|bond| bond.other == **page && links(bond)));
    let names = |paths: &BTreeSet<&BundlePath>| {
        paths.iter().map(|path| path.relative()).collect::<Vec<_>>().join(", ")
    };
    let are = |paths: &BTreeSet<&BundlePath>| if paths.len() == 1 { "is" } else { "are" };
    let dangling = dangling.iter().map(|(page, others)| {
        format!("{} would link to {}, which {} not written.", page.relative(), names(others), are(others))
    });
    let left = left.iter().map(|(page, others)| {
        format!("{} would still link to {}, which {} gone then.", page.relative(), names(others), are(others))
    });
    let alone = alone.iter().map(|(page, from)| {
        format!("{} would be written without the links to it in {}.", page.relative(), names(from))
    });
    dangling.chain(left).chain(alone).collect()
}

/// Pages, and the others to which their bonds are torn.
type Torn<'a> = BTreeMap<&'a BundlePath, BTreeSet<&'a BundlePath>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::FileChange;

    fn path(text: &str) -> BundlePath {
        BundlePath::parse(text).unwrap()
    }

    fn file(at: &str, kind: ChangeKind, before: Option<&str>, after: Option<&str>) -> FileChange {
        let bytes = |text: Option<&str>| text.map(|t| Arc::from(t.as_bytes()));
        FileChange { path: path(at), kind, before: bytes(before), after: bytes(after) }
    }

    fn set() -> ChangeSet {
        ChangeSet {
            id: 1,
            files: vec![
                file(
                    "/wiki/index.md",
                    ChangeKind::Modify,
                    Some("# Index\n\n- [A](a.md)\n- [Old](old.md)\n"),
                    Some("# Index\n\n- [New](new.md)\n- [A](a.md)\n"),
                ),
                file("/wiki/new.md", ChangeKind::Create, None, Some("# New\n")),
                file("/wiki/old.md", ChangeKind::Delete, Some("# Old\n"), None),
            ],
        }
    }

    struct But<'a>(&'a [BundlePath], &'a [HunkId]);

    impl Lands for But<'_> {
        fn file(&self, path: &BundlePath) -> bool {
            !self.0.contains(path)
        }
        fn hunk(&self, _: &BundlePath, hunk: HunkId) -> bool {
            !self.1.contains(&hunk)
        }
    }

    #[test]
    fn a_new_page_and_its_index_line_are_bound_and_a_deleted_page_and_the_line_that_goes() {
        let set = set();
        let bonds = bonds(&set);
        let told: Vec<_> = bonds.iter().map(|b| (b.other.as_str(), b.kind)).collect();
        assert_eq!(told, [("/wiki/new.md", BondKind::Links), ("/wiki/old.md", BondKind::Frees)]);
        assert!(stranded(&set, &bonds, &But(&[], &[])).is_empty());
    }

    #[test]
    fn what_a_decision_would_strand_is_said() {
        let set = set();
        let bonds = bonds(&set);
        let hunks: Vec<HunkId> = set.files[0].hunks().iter().map(|h| h.id).collect();
        assert_eq!(
            stranded(&set, &bonds, &But(&[path("/wiki/new.md")], &[])),
            ["wiki/index.md would link to wiki/new.md, which is not written."]
        );
        assert_eq!(
            stranded(&set, &bonds, &But(&[], &hunks)),
            [
                "wiki/index.md would still link to wiki/old.md, which is gone then.",
                "wiki/new.md would be written without the links to it in wiki/index.md."
            ]
        );
    }
}
