//! Who links to whom, kept up page by page at the cost of that page's own links.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::okf::{BundlePath, Page};

/// Sources by target. Targets need not exist: a page that appears finds its backlinks waiting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    inbound: Arc<BTreeMap<BundlePath, Arc<BTreeSet<BundlePath>>>>,
}

/// What a page links to, each target once, without itself.
pub fn targets(page: &Page) -> BTreeSet<&BundlePath> {
    page.links.iter().filter_map(|link| link.target.path()).filter(|target| **target != page.path).collect()
}

impl Graph {
    /// Takes `before` out and puts `after` in; either may be missing.
    pub fn replace(&mut self, before: Option<&Page>, after: Option<&Page>) {
        let old = before.map(targets).unwrap_or_default();
        let new = after.map(targets).unwrap_or_default();
        if old == new {
            return;
        }
        let inbound = Arc::make_mut(&mut self.inbound);
        if let Some(page) = before {
            for target in old.difference(&new) {
                if let Some(sources) = inbound.get_mut(*target) {
                    let left = Arc::make_mut(sources);
                    left.remove(&page.path);
                    if left.is_empty() {
                        inbound.remove(*target);
                    }
                }
            }
        }
        if let Some(page) = after {
            for target in new.difference(&old) {
                let sources = inbound.entry((*target).clone()).or_default();
                Arc::make_mut(sources).insert(page.path.clone());
            }
        }
    }

    /// Pages that link to `target`, in path order, without itself.
    pub fn sources(&self, target: &BundlePath) -> impl Iterator<Item = &BundlePath> {
        self.inbound.get(target).into_iter().flat_map(|sources| sources.iter())
    }
}
