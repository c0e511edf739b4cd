//! Who links to whom, kept up page by page at the cost of that page's own links.

use std::collections::HashMap;
use std::sync::Arc;

use crate::okf::{BundlePath, Page};

/// Sources by target. Targets need not exist: a page that appears finds its backlinks waiting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// In path order, each once.
    inbound: Arc<HashMap<BundlePath, Arc<Vec<BundlePath>>>>,
}

/// What a page links to, in path order, each target once, without itself.
pub fn targets(page: &Page) -> Vec<&BundlePath> {
    let all = page.links.iter().filter_map(|link| link.target.path());
    let mut targets: Vec<&BundlePath> = all.filter(|target| **target != page.path).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
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
            for target in old.iter().filter(|target| new.binary_search(target).is_err()) {
                if let Some(sources) = inbound.get_mut(*target) {
                    let left = Arc::make_mut(sources);
                    if let Ok(at) = left.binary_search(&page.path) {
                        left.remove(at);
                    }
                    if left.is_empty() {
                        inbound.remove(*target);
                    }
                }
            }
        }
        if let Some(page) = after {
            for target in new.iter().filter(|target| old.binary_search(target).is_err()) {
                let sources = Arc::make_mut(inbound.entry((*target).clone()).or_default());
                // A whole bundle comes in path order.
                if sources.last().is_none_or(|last| *last < page.path) {
                    sources.push(page.path.clone());
                } else if let Err(at) = sources.binary_search(&page.path) {
                    sources.insert(at, page.path.clone());
                }
            }
        }
    }

    /// Pages that link to `target`, in path order, without itself.
    pub fn sources(&self, target: &BundlePath) -> impl Iterator<Item = &BundlePath> {
        self.inbound.get(target).into_iter().flat_map(|sources| sources.iter())
    }
}
