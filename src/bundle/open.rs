//! A bundle that was opened, wherever it lies: a folder of this machine, an archive, object storage, or a caller's own
//! backend. Knows what else than reading and writing the place allows: watching, naming it, all-or-nothing changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::apply::{Applied, apply};
#[cfg(feature = "archives")]
use super::archive;
use super::change::{ChangeKind, ChangeSet, Decisions};
use super::error::{Error, ErrorKind};
use super::git::{self, Committed};
use super::grep::{Grep, GrepResult};
use super::ledger::record::Origin;
use super::ledger::{Keep, Ledger, Recovery};
use super::local::LocalBundle;
#[cfg(feature = "remote")]
use super::object::{self, ObjectBundle};
use super::storage::{Entry, Read, Stat, Write};
use super::watch::{Changed, Watcher};
use crate::okf::{BundlePath, ContentHash};

/// What the workbench and the commands work on. Cheap to clone; every clone is the same bundle.
#[derive(Clone)]
pub struct Bundle {
    backend: Arc<dyn Write>,
    folder: Option<Arc<LocalBundle>>,
    #[cfg(feature = "remote")]
    objects: Option<Arc<ObjectBundle>>,
    poll: Duration,
    ledger: Option<Arc<Ledger>>,
    commits: bool,
    label: Arc<str>,
}

/// Whether this process may write; see [`Bundle::claim`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It may; what a crash had cut off was made good.
    Ours(Recovery),
    /// Another process has the bundle.
    Taken,
}

/// How often a store is looked through for what others changed, unless told otherwise.
pub const POLL: Duration = Duration::from_secs(30);

/// Whether `target` is the address of a store (`s3://bucket/folder`) and no path of this machine.
pub fn is_address(target: &Path) -> bool {
    target.to_str().and_then(|text| text.split_once("://")).is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// Whether the name of `target` is that of an archive which this program can read.
#[cfg(feature = "archives")]
pub fn is_archive(target: &Path) -> bool {
    archive::Format::of(target).is_some()
}

#[cfg(not(feature = "archives"))]
pub fn is_archive(_: &Path) -> bool {
    false
}

/// Opens the bundle that `target` names: the address of a store, an archive (`.zip`, `.tar.gz`, `.tgz`), or a folder. The
/// path of an error is the target, without what could be secret in an address.
pub fn open(target: &Path) -> Result<Bundle, Error> {
    if is_address(target) {
        return remote(target);
    }
    // A folder may have any name.
    if !target.is_dir()
        && let Some(archive) = archive(target)
    {
        return archive;
    }
    LocalBundle::open(target).map(|folder| Bundle::from(Arc::new(folder)))
}

#[cfg(feature = "remote")]
fn remote(target: &Path) -> Result<Bundle, Error> {
    let place = object::address::parse(&target.to_string_lossy())?;
    let here = |e: Error| Error { path: place.label.clone(), ..e };
    let objects = Arc::new(ObjectBundle::new(place.store, place.prefix).map_err(here)?);
    objects.require_something().map_err(here)?;
    let bundle = Bundle::open(objects.clone(), &place.label);
    Ok(Bundle { objects: Some(objects), ..bundle })
}

#[cfg(not(feature = "remote"))]
fn remote(_: &Path) -> Result<Bundle, Error> {
    Err(Error {
        kind: ErrorKind::Invalid,
        path: "address".to_owned(),
        message: "this program was built without object storage (feature remote)".to_owned(),
    })
}

/// The bundle in an archive; none when the name is that of no archive.
#[cfg(feature = "archives")]
fn archive(target: &Path) -> Option<Result<Bundle, Error>> {
    let format = archive::Format::of(target)?;
    Some(
        archive::load(target, format)
            .map(|memory| Bundle::read_only(Arc::new(memory), &target.to_string_lossy(), archive::READ_ONLY)),
    )
}

#[cfg(not(feature = "archives"))]
fn archive(_: &Path) -> Option<Result<Bundle, Error>> {
    None
}

impl Bundle {
    /// A bundle over a caller's own backend. `label` names it on the screen and in reports.
    pub fn open(backend: Arc<dyn Write>, label: &str) -> Self {
        Self {
            backend,
            folder: None,
            #[cfg(feature = "remote")]
            objects: None,
            poll: POLL,
            ledger: None,
            commits: false,
            label: Arc::from(label),
        }
    }

    /// Looks through a store so often for what others changed; zero: never. Without effect on what is watched otherwise.
    pub fn poll_every(mut self, every: Duration) -> Self {
        self.poll = every;
        self
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

    /// With a ledger in `state`, a folder of its own: sets land all or nothing, and can be undone. Only a folder of this
    /// machine can have one; any other bundle stays as it is.
    pub fn remembering(mut self, state: PathBuf, keep: Keep) -> Self {
        self.ledger = self.folder.clone().map(|folder| Arc::new(Ledger::new(folder, state, keep)));
        self
    }

    /// Commits each applied set, if the bundle is a folder in a git repository; see [`git::commit`].
    pub fn committing(mut self, commits: bool) -> Self {
        self.commits = commits;
        self
    }

    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    /// Takes the bundle for this process's writes; without a ledger there is nothing to take.
    pub fn claim(&self) -> Result<Claim, Error> {
        let recovery =
            self.ledger.as_ref().map_or_else(|| Ok(Some(Recovery::default())), |ledger| ledger.open())?;
        Ok(recovery.map_or(Claim::Taken, Claim::Ours))
    }

    /// Writes the approved files of `changes`: all or none with a ledger, each for itself without.
    pub fn apply(&self, changes: &ChangeSet, decisions: &Decisions, origin: &Origin) -> Applied {
        let shared: Vec<&BundlePath> = match &self.folder {
            Some(folder) => changes
                .files
                .iter()
                .filter(|file| file.kind == ChangeKind::Modify && folder.has_other_names(&file.path))
                .map(|file| &file.path)
                .collect(),
            None => Vec::new(),
        };
        let mut applied = match &self.ledger {
            Some(ledger) => ledger.apply(changes, decisions, origin),
            None => apply(self, changes, decisions),
        };
        applied.notes.extend(shared.into_iter().filter(|path| applied.landed.contains(path)).map(|path| {
            let path = path.relative();
            format!(
                "{path} had other names (hard links); they keep the old text, here or outside the bundle."
            )
        }));
        if let Some(folder) = self.folder.as_ref().filter(|_| self.commits && !applied.landed.is_empty()) {
            applied.notes.extend(match git::commit(folder.root(), changes, &applied.landed, origin) {
                Ok(Committed::Yes(name)) => Some(format!("Committed as {name}.")),
                Ok(Committed::Nothing) => None,
                Err(why) => Some(format!("Written but not committed: {why}.")),
            });
        }
        applied
    }

    /// The bundle for whoever only reads.
    pub fn reader(&self) -> Arc<dyn Read> {
        self.backend.clone()
    }

    /// Tells of changes that others make, until the answer is dropped. `notify` is called from another thread. Blocks
    /// for as long as a walk of the bundle takes. A caller's own backend is not watched.
    pub fn watch(&self, notify: impl Fn(Changed) + Send + 'static) -> Watching {
        if let Some(folder) = &self.folder {
            return Watching::Folder(Watcher::start(folder.clone(), notify));
        }
        #[cfg(feature = "remote")]
        if let Some(objects) = &self.objects {
            return Watching::Store(object::poll::Poller::start(objects.clone(), self.poll, notify));
        }
        Watching::Nothing
    }
}

impl From<Arc<LocalBundle>> for Bundle {
    fn from(folder: Arc<LocalBundle>) -> Self {
        let bundle = Self::open(folder.clone(), &folder.root().to_string_lossy());
        Self { folder: Some(folder), ..bundle }
    }
}

/// Keeps [`Bundle::watch`] going; dropping it ends it.
pub enum Watching {
    Folder(Watcher),
    #[cfg(feature = "remote")]
    Store(object::poll::Poller),
    /// An archive does not change; of a caller's own backend nothing is known.
    Nothing,
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
    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        self.backend.read_large(path, most)
    }
    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        self.backend.read_plain(path)
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
    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        self.backend.read_large(path, most)
    }
    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        self.backend.read_plain(path)
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
