//! The in-memory model of one bundle: its pages, what else lies in it, and who links to whom.
//!
//! Built in parallel, updated page by page; any sequence of updates gives the same model as building anew (invariant I7).
//! Cheap to clone: a clone is a snapshot that later updates do not touch.

mod graph;
pub mod passages;
pub mod refactor;
mod scan;
mod scope;
mod update;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bundle::{Error, ErrorKind, Read};
use crate::okf::{BundlePath, Link, Page};
use graph::Graph;
use scan::{Pages, Part, Scanner};
use scope::Scope;

pub use scope::IGNORE_FILE;

/// The model of one bundle.
///
/// Each map is shared with the snapshots taken of it and copied when it changes while one is alive; the pages themselves
/// are never copied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wiki {
    pages: Arc<Pages>,
    problems: Arc<BTreeMap<BundlePath, Error>>,
    files: Arc<BTreeSet<BundlePath>>,
    folders: Arc<BTreeSet<BundlePath>>,
    opaque: Arc<BTreeSet<BundlePath>>,
    links: Arc<BTreeSet<BundlePath>>,
    scope: Arc<Scope>,
    graph: Graph,
}

/// Folders that a model does not look into, and what it takes for a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outlook {
    opaque: Arc<BTreeSet<BundlePath>>,
    scope: Arc<Scope>,
    /// Folders that cannot be listed.
    closed: Vec<BundlePath>,
}

impl Wiki {
    /// Reads a whole bundle. Only an unreadable root is an error; any other bad entry is a problem of the model.
    pub fn load(bundle: &dyn Read) -> Result<Self, Error> {
        Self::load_knowing(bundle, &Pages::new())
    }

    fn load_knowing(bundle: &dyn Read, known: &Pages) -> Result<Self, Error> {
        let scope = read_scope(bundle);
        let part = Scanner { bundle, scope: &scope, known }.whole()?;
        let mut graph = Graph::default();
        for page in part.pages.values() {
            graph.replace(None, Some(page));
        }
        let Part { pages, problems, files, folders, opaque, links } = part;
        Ok(Self {
            pages: Arc::new(pages),
            problems: Arc::new(problems),
            files: Arc::new(files),
            folders: Arc::new(folders),
            opaque: Arc::new(opaque),
            links: Arc::new(links),
            scope: Arc::new(scope),
            graph,
        })
    }

    /// Pages in path order, reserved files included.
    pub fn pages(&self) -> impl Iterator<Item = &Arc<Page>> {
        self.pages.values()
    }

    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    pub fn page(&self, path: &BundlePath) -> Option<&Arc<Page>> {
        self.pages.get(path)
    }

    /// What a link to `path` opens: the page, or a folder's `index.md`.
    pub fn landing(&self, path: &BundlePath) -> Option<&Arc<Page>> {
        self.page(path).or_else(|| {
            let index = path.join("index.md").ok()?;
            self.page(&index)
        })
    }

    /// Files that should be pages and cannot be read as such, and folders that cannot be listed.
    pub fn problems(&self) -> impl Iterator<Item = (&BundlePath, &Error)> {
        self.problems.iter()
    }

    pub fn problem(&self, path: &BundlePath) -> Option<&Error> {
        self.problems.get(path)
    }

    /// Whether a file (page or not) or folder of this path is in the bundle. What lies below a folder that is not entered
    /// (dot-folders, `node_modules`, linked folders, folders that cannot be listed) is not known and counts as there.
    pub fn exists(&self, path: &BundlePath) -> bool {
        path.is_root() || self.holds(path) || self.is_hidden(path)
    }

    /// Whether a page, a file, a folder or a problem of this path is in the model: as [`Self::exists`], without what is only
    /// taken to be there.
    pub fn holds(&self, path: &BundlePath) -> bool {
        self.pages.contains_key(path)
            || self.files.contains(path)
            || self.folders.contains(path)
            || self.problems.contains_key(path)
    }

    /// What the model does not look at. Two models with equal outlooks say of a path that neither holds the same.
    pub fn outlook(&self) -> Outlook {
        let closed = self.problems.keys().filter(|path| self.folders.contains(*path)).cloned().collect();
        Outlook { opaque: self.opaque.clone(), scope: self.scope.clone(), closed }
    }

    /// Whether it is, or lies below, a folder that the model does not look into.
    fn is_hidden(&self, path: &BundlePath) -> bool {
        let text = path.as_str();
        let above =
            text.match_indices('/').filter_map(|(at, _)| text.get(..at)).filter(|prefix| !prefix.is_empty());
        self.opaque.contains(text) || above.clone().any(|prefix| self.opaque.contains(prefix)) || {
            !self.problems.is_empty()
                && above
                    .clone()
                    .any(|prefix| self.problems.contains_key(prefix) && self.folders.contains(prefix))
        }
    }

    /// Whether a regular file of this path would be a page: `.md`, no source, not ignored.
    pub fn would_be_page(&self, path: &BundlePath) -> bool {
        self.scope.is_page(path)
    }

    /// Every file that is no page: sources, assets, anything else.
    pub fn files(&self) -> impl Iterator<Item = &BundlePath> {
        self.files.iter()
    }

    /// Every folder that is looked into, without the bundle itself.
    pub fn folders(&self) -> impl Iterator<Item = &BundlePath> {
        self.folders.iter()
    }

    /// Pages that link to `path`, by body link or path-valued field, without itself; in path order. The path need not exist.
    pub fn backlinks(&self, path: &BundlePath) -> impl Iterator<Item = &BundlePath> {
        self.graph.sources(path)
    }

    /// What the page at `path` links to within the bundle, each target once, without itself, existing or not; in path order.
    pub fn outgoing(&self, path: &BundlePath) -> impl Iterator<Item = &BundlePath> {
        self.page(path).map(|page| graph::targets(page)).unwrap_or_default().into_iter()
    }

    /// Every link to `target` from another page, with its page.
    pub fn links_to<'a>(&'a self, target: &'a BundlePath) -> impl Iterator<Item = (&'a Arc<Page>, &'a Link)> {
        self.backlinks(target).filter_map(|source| self.page(source)).flat_map(move |page| {
            page.links.iter().filter(|link| link.target.path() == Some(target)).map(move |link| (page, link))
        })
    }
}

fn read_scope(bundle: &dyn Read) -> Scope {
    BundlePath::parse(IGNORE_FILE)
        .ok()
        .and_then(|path| bundle.read(&path).ok())
        .map(Scope::new)
        .unwrap_or_default()
}

/// Whether an error says that nothing stands at a path.
fn is_absent(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
