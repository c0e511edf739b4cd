//! The in-memory model of one bundle: its pages, what else lies in it, and who links to whom.
//!
//! Built in parallel, updated page by page; any sequence of updates gives the same model as building anew (invariant I7).
//! Cheap to clone: a clone is a snapshot that later updates do not touch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bundle::{Error, Read};
use crate::okf::{BundlePath, Page};

/// A file that should be a page and could not be read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub path: BundlePath,
    pub error: Error,
}

/// The model of one bundle.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wiki {
    pages: BTreeMap<BundlePath, Arc<Page>>,
    problems: BTreeMap<BundlePath, Error>,
    files: BTreeSet<BundlePath>,
    folders: BTreeSet<BundlePath>,
}

impl Wiki {
    /// Reads a whole bundle. Only an unreadable root is an error; any other bad entry is a [`Problem`].
    pub fn load(bundle: &dyn Read) -> Result<Self, Error> {
        let _ = bundle;
        unimplemented!("wiki helper")
    }

    /// Looks at these paths again: read, parse, replace or remove. A folder stands for everything below it. Returns
    /// the pages that changed, appeared or vanished; unchanged content (by hash) is not among them.
    pub fn update(&mut self, bundle: &dyn Read, paths: &[BundlePath]) -> Vec<BundlePath> {
        let _ = (bundle, paths);
        unimplemented!("wiki helper")
    }

    /// Pages in path order, reserved files included.
    pub fn pages(&self) -> impl Iterator<Item = &Arc<Page>> {
        self.pages.values()
    }

    pub fn page(&self, path: &BundlePath) -> Option<&Arc<Page>> {
        self.pages.get(path)
    }

    pub fn problems(&self) -> impl Iterator<Item = (&BundlePath, &Error)> {
        self.problems.iter()
    }

    /// Whether a file (page or not) or folder of this path is in the bundle.
    pub fn exists(&self, path: &BundlePath) -> bool {
        self.files.contains(path) || self.folders.contains(path)
    }

    /// Every file that is no page: sources, assets, anything else.
    pub fn files(&self) -> impl Iterator<Item = &BundlePath> {
        self.files.iter()
    }

    pub fn folders(&self) -> impl Iterator<Item = &BundlePath> {
        self.folders.iter()
    }

    /// Pages that link to `path`, by body link or path-valued field, without itself; in path order.
    pub fn backlinks(&self, path: &BundlePath) -> impl Iterator<Item = &BundlePath> {
        let _ = path;
        std::iter::empty()
    }
}
