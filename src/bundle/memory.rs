//! A bundle in memory, for tests and for callers who keep one elsewhere.

use std::collections::BTreeMap;
use std::sync::RwLock;

use super::error::Error;
use super::storage::{Entry, Read, Stat, Write};
use crate::okf::BundlePath;

/// Files by path; folders exist as long as a file is in them.
#[derive(Default)]
pub struct MemoryBundle {
    files: RwLock<BTreeMap<BundlePath, Vec<u8>>>,
}

impl MemoryBundle {
    /// From `(path, content)` pairs, for example `("/wiki/index.md", "# Index\n")`. Panics never: a text that is no bundle
    /// path is an error.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let bundle = Self::default();
        for (path, text) in files {
            let path = BundlePath::parse(path).map_err(|e| Error::path(path, &e))?;
            bundle.write(&path, text.as_bytes())?;
        }
        Ok(bundle)
    }
}

impl Read for MemoryBundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let _ = (folder, &self.files);
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

impl Write for MemoryBundle {
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
