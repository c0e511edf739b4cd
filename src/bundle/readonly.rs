//! A handle that can only read, for whoever must not be given more (the reader role). Owns nothing else.

use std::sync::Arc;

use super::error::Error;
use super::grep::{Grep, GrepResult};
use super::storage::{Entry, Read, Stat};
use crate::okf::BundlePath;

/// Reads what it wraps and has no way to change it, nor to give the wrapped handle back (invariant I2).
///
/// ```
/// use std::sync::Arc;
/// use wikiwright::bundle::{MemoryBundle, Read, ReadOnly};
/// use wikiwright::okf::BundlePath;
///
/// let path = BundlePath::parse("/a.md").unwrap();
/// let bundle = ReadOnly::new(Arc::new(MemoryBundle::new([("/a.md", "text")]).unwrap()));
/// assert_eq!(bundle.read(&path).unwrap(), "text");
/// ```
///
/// Writing does not compile:
///
/// ```compile_fail,E0599
/// use std::sync::Arc;
/// use wikiwright::bundle::{MemoryBundle, ReadOnly, Write};
/// use wikiwright::okf::BundlePath;
///
/// let path = BundlePath::parse("/a.md").unwrap();
/// let bundle = ReadOnly::new(Arc::new(MemoryBundle::default()));
/// bundle.write(&path, b"text").unwrap();
/// ```
#[derive(Clone)]
pub struct ReadOnly(Arc<dyn Read>);

impl ReadOnly {
    pub fn new(bundle: Arc<dyn Read>) -> Self {
        Self(bundle)
    }
}

impl Read for ReadOnly {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        self.0.list(folder)
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        self.0.stat(path)
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.0.read_bytes(path)
    }
    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        self.0.read_large(path, most)
    }
    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        self.0.read_plain(path)
    }
    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        self.0.read_all(paths)
    }
    fn read(&self, path: &BundlePath) -> Result<String, Error> {
        self.0.read(path)
    }
    fn exists(&self, path: &BundlePath) -> Result<bool, Error> {
        self.0.exists(path)
    }
    fn resolve(&self, path: &BundlePath) -> BundlePath {
        self.0.resolve(path)
    }
    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        self.0.writable(path)
    }
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        self.0.walk(folder)
    }
    fn glob(&self, pattern: &str, folder: &BundlePath) -> Result<Vec<BundlePath>, Error> {
        self.0.glob(pattern, folder)
    }
    fn grep(&self, query: &Grep) -> Result<GrepResult, Error> {
        self.0.grep(query)
    }
}
