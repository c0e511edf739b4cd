//! A bundle in a folder of this machine, reached only beneath one directory handle (invariant I1).

use std::path::{Path, PathBuf};

use super::error::Error;
use super::storage::{Entry, Read, Stat, Write};
use crate::okf::BundlePath;

/// A folder opened as a bundle.
pub struct LocalBundle {
    root: PathBuf,
}

impl LocalBundle {
    /// Opens `root`. Fails when it is no folder or cannot be read.
    pub fn open(root: &Path) -> Result<Self, Error> {
        Ok(Self { root: root.to_path_buf() })
    }

    /// The folder on this machine, absolute, for the watcher, the editor and titles.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The bundle around `start`: the nearest folder upwards that holds `AGENTS.md`, a `wiki/` folder, or an `index.md`.
    pub fn discover(start: &Path) -> Option<PathBuf> {
        let _ = start;
        unimplemented!("bundle helper")
    }
}

impl Read for LocalBundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let _ = folder;
        unimplemented!("bundle helper")
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
}

impl Write for LocalBundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        let _ = (path, bytes);
        unimplemented!("bundle helper")
    }
    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        let _ = (from, to);
        unimplemented!("bundle helper")
    }
}
