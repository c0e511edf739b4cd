//! Who links to whom, kept up page by page at the cost of that page's own links.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use crate::okf::{BundlePath, Page};

/// Parts that the graph is kept in: a change copies only those that it touches while a snapshot is alive.
const PARTS: u64 = 256;

/// Sources by target, in path order, each once.
type Inbound = HashMap<BundlePath, Arc<Vec<BundlePath>>>;

/// Targets need not exist: a page that appears finds its backlinks waiting.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    parts: Vec<Arc<Inbound>>,
}

impl Default for Graph {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Arc::default()).collect() }
    }
}

fn part_of(target: &BundlePath) -> usize {
    let mut hasher = DefaultHasher::new();
    target.hash(&mut hasher);
    usize::try_from(hasher.finish() % PARTS).unwrap_or(0)
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
        if let Some(page) = before {
            for target in old.iter().filter(|target| new.binary_search(target).is_err()) {
                let Some(part) = self.parts.get_mut(part_of(target)) else { continue };
                let inbound = Arc::make_mut(part);
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
                let Some(part) = self.parts.get_mut(part_of(target)) else { continue };
                let sources = Arc::make_mut(Arc::make_mut(part).entry((*target).clone()).or_default());
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
        self.parts
            .get(part_of(target))
            .and_then(|part| part.get(target))
            .into_iter()
            .flat_map(|sources| sources.iter())
    }
}
