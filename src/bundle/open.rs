//! A bundle that was opened, wherever it lies: a folder of this machine, or a caller's own backend. Knows what else than
//! reading and writing the place allows: watching, naming it, handing it to an editor.

use std::path::Path;
use std::sync::Arc;

use super::error::{Error, ErrorKind};
use super::grep::{Grep, GrepResult};
use super::local::LocalBundle;
use super::storage::{Entry, Read, Stat, Write};
use super::watch::{Changed, Watcher};
use crate::okf::{BundlePath, ContentHash};

/// What the workbench and the commands work on. Cheap to clone; every clone is the same bundle.
#[derive(Clone)]
pub struct Bundle {
    backend: Arc<dyn Write>,
    folder: Option<Arc<LocalBundle>>,
    label: Arc<str>,
}

/// Opens the bundle that `target` names: a folder.
pub fn open(target: &Path) -> Result<Bundle, Error> {
    LocalBundle::open(target).map(|folder| Bundle::from(Arc::new(folder)))
}

impl Bundle {
    /// A bundle over a caller's own backend. `label` names it on the screen and in reports.
    pub fn open(backend: Arc<dyn Write>, label: &str) -> Self {
        Self { backend, folder: None, label: Arc::from(label) }
    }

    /// A bundle that can only be read: every write is refused as `Denied` with `why`.
    pub fn read_only(backend: Arc<dyn Read>, label: &str, why: &'static str) -> Self {
        Self::open(Arc::new(Refusing { backend, why }), label)
    }

    /// The place as a person writes it: a path of this machine or an address without secrets.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The last part of the place: what a title shows.
    pub fn name(&self) -> &str {
        let trimmed = self.label.trim_end_matches('/');
        trimmed.rsplit_once('/').map_or(trimmed, |(_, name)| name)
    }

    /// The folder on this machine, where there is one: for the editor and for what only a file system can do.
    pub fn folder(&self) -> Option<&Arc<LocalBundle>> {
        self.folder.as_ref()
    }

    /// The bundle for whoever only reads.
    pub fn reader(&self) -> Arc<dyn Read> {
        self.backend.clone()
    }

    /// Tells of changes that others make, until the answer is dropped. `notify` is called from another thread. Blocks
    /// for as long as a walk of the bundle takes. A caller's own backend is not watched.
    pub fn watch(&self, notify: impl Fn(Changed) + Send + 'static) -> Watching {
        Watching { _folder: self.folder.as_ref().map(|folder| Watcher::start(folder.clone(), notify)) }
    }
}

impl From<Arc<LocalBundle>> for Bundle {
    fn from(folder: Arc<LocalBundle>) -> Self {
        let label = Arc::from(folder.root().to_string_lossy());
        Self { backend: folder.clone(), folder: Some(folder), label }
    }
}

/// Keeps [`Bundle::watch`] going; dropping it ends it.
pub struct Watching {
    _folder: Option<Watcher>,
}

impl Read for Bundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        self.backend.list(folder)
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        self.backend.stat(path)
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.backend.read_bytes(path)
    }
    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        self.backend.read_all(paths)
    }
    fn read(&self, path: &BundlePath) -> Result<String, Error> {
        self.backend.read(path)
    }
    fn exists(&self, path: &BundlePath) -> Result<bool, Error> {
        self.backend.exists(path)
    }
    fn resolve(&self, path: &BundlePath) -> BundlePath {
        self.backend.resolve(path)
    }
    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        self.backend.writable(path)
    }
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        self.backend.walk(folder)
    }
    fn glob(&self, pattern: &str, folder: &BundlePath) -> Result<Vec<BundlePath>, Error> {
        self.backend.glob(pattern, folder)
    }
    fn grep(&self, query: &Grep) -> Result<GrepResult, Error> {
        self.backend.grep(query)
    }
}

impl Write for Bundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        self.backend.write(path, bytes)
    }
    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.backend.delete(path)
    }
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        self.backend.rename(from, to)
    }
    fn replace(&self, path: &BundlePath, expected: Option<ContentHash>, bytes: &[u8]) -> Result<(), Error> {
        self.backend.replace(path, expected, bytes)
    }
    fn remove(&self, path: &BundlePath, expected: ContentHash) -> Result<(), Error> {
        self.backend.remove(path, expected)
    }
    fn expect(&self, path: &BundlePath, expected: Option<ContentHash>) -> Result<(), Error> {
        self.backend.expect(path, expected)
    }
}

/// Reads what it wraps and refuses to change it.
struct Refusing {
    backend: Arc<dyn Read>,
    why: &'static str,
}

impl Refusing {
    fn refuse(&self, path: &BundlePath) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Denied, path, self.why))
    }
}

impl Read for Refusing {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        self.backend.list(folder)
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        self.backend.stat(path)
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.backend.read_bytes(path)
    }
    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        self.backend.read_all(paths)
    }
    fn resolve(&self, path: &BundlePath) -> BundlePath {
        self.backend.resolve(path)
    }
    /// As if it could be written, so that a proposal can be made over it; only applying is refused.
    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        self.backend.writable(path)
    }
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        self.backend.walk(folder)
    }
}

impl Write for Refusing {
    fn write(&self, path: &BundlePath, _: &[u8]) -> Result<(), Error> {
        self.refuse(path)
    }
    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.refuse(path)
    }
    fn rename(&self, from: &BundlePath, _: &BundlePath) -> Result<(), Error> {
        self.refuse(from)
    }
    fn replace(&self, path: &BundlePath, _: Option<ContentHash>, _: &[u8]) -> Result<(), Error> {
        self.refuse(path)
    }
    fn remove(&self, path: &BundlePath, _: ContentHash) -> Result<(), Error> {
        self.refuse(path)
    }
}
