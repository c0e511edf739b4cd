//! Findings by path and by the part of the judgement they come from, so that one part can be judged again.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::lint::context::tree_order;
use crate::lint::{Finding, in_order};
use crate::okf::BundlePath;

/// What a finding was found by. Of one part, one path has the findings of one judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Page,
    Problem,
    Name,
    Folder,
    Orphan,
    Slug,
    Title,
    Type,
    Sprawl,
    Island,
    Circle,
}

/// A path that sorts as a tree shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InTree(BundlePath);

impl Ord for InTree {
    fn cmp(&self, other: &Self) -> Ordering {
        tree_order(&self.0, &other.0)
    }
}

impl PartialOrd for InTree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All findings.
#[derive(Debug, Clone, Default)]
pub struct Shelves(BTreeMap<InTree, Vec<(Part, Finding)>>);

impl Shelves {
    pub fn clear(&mut self, part: Part, path: &BundlePath) {
        let place = InTree(path.clone());
        if let Some(shelf) = self.0.get_mut(&place) {
            shelf.retain(|(of, _)| *of != part);
            if shelf.is_empty() {
                self.0.remove(&place);
            }
        }
    }

    pub fn put(&mut self, part: Part, findings: Vec<Finding>) {
        let mut findings = findings.into_iter().peekable();
        while let Some(first) = findings.next() {
            let path = first.path.clone();
            let shelf = self.0.entry(InTree(path.clone())).or_default();
            shelf.push((part, first));
            while let Some(next) = findings.next_if(|next| next.path == path) {
                shelf.push((part, next));
            }
            shelf.sort_by(|a, b| in_order(&a.1, &b.1).then(a.0.cmp(&b.0)));
        }
    }

    /// Every finding in the order of a report.
    pub fn all(&self) -> Vec<Finding> {
        self.0.values().flatten().map(|(_, finding)| finding.clone()).collect()
    }

    pub fn into_all(self) -> Vec<Finding> {
        self.0.into_values().flatten().map(|(_, finding)| finding).collect()
    }
}
