//! A bundle in object storage. A file is an object, a folder is what the names of objects have in common.
//!
//! Two writers cannot lose an update: what a change starts from is read with its version, and the store itself refuses
//! the write when the version is another by then. Deleting has no such condition in the store, so a file is first
//! replaced, on that condition, by a gravestone that every reader takes for no file, and only then taken away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, UpdateVersion};

use super::error::{Error, ErrorKind};
use super::storage::{
    Entry, EntryKind, MAX_DEPTH, MAX_ENTRIES, MAX_FILE, Read, Stat, Write, check_name, check_size,
};
use super::walk::TEMPORARY;
use crate::okf::{BundlePath, ContentHash};

pub mod address;
mod bridge;
mod fault;
pub mod poll;

use bridge::Bridge;

#[cfg(test)]
pub(super) mod served;
#[cfg(test)]
mod tests;

/// What stands in a file's place while it is being deleted. Its length alone makes a listing look twice.
pub const GRAVESTONE: &[u8] = b"wikiwright: this file was deleted; the object may be removed\n";

/// How long the one who deletes may take to remove the gravestone, and from when on others may take its place. The gap
/// allows for clocks that differ.
const BURIAL: Duration = Duration::from_secs(15);
const ABANDONED: Duration = Duration::from_secs(180);

/// Requests under way at once when many files are read.
const AT_ONCE: usize = 32;

/// Objects below one prefix of a store.
pub struct ObjectBundle {
    at: Arc<At>,
    bridge: Bridge,
}

/// The store and where the bundle begins in it.
struct At {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// A file's content and the version that a later write must still find.
struct Found {
    bytes: Vec<u8>,
    version: UpdateVersion,
    modified: SystemTime,
}

impl Found {
    fn is_gravestone(&self) -> bool {
        self.bytes == GRAVESTONE
    }
}

impl ObjectBundle {
    /// Sends no request yet. Fails when the system gives no thread.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: Path) -> Result<Self, Error> {
        let root = BundlePath::root();
        let bridge = Bridge::start()
            .map_err(|_| Error::new(ErrorKind::Io, &root, "the system gives no thread for the store"))?;
        Ok(Self { at: Arc::new(At { store, prefix }), bridge })
    }

    /// Refuses a place where nothing lies: most often a slip in the address.
    pub fn require_something(&self) -> Result<(), Error> {
        let root = BundlePath::root();
        match self.run(|at| async move { at.has_below(&BundlePath::root()).await }) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::new(
                ErrorKind::NotFound,
                &root,
                "nothing is stored there; check the address, or upload a bundle first",
            )),
            Err(e) if e.kind == ErrorKind::NotFound => Err(Error::new(
                ErrorKind::NotFound,
                &root,
                "there is no such bucket, or this account may not see it",
            )),
            Err(e) => Err(e),
        }
    }

    fn run<T, F>(&self, job: impl FnOnce(Arc<At>) -> F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let failed =
            || Error::new(ErrorKind::Io, &BundlePath::root(), "the request to the store was abandoned");
        self.bridge.wait(job(self.at.clone())).unwrap_or_else(|| Err(failed()))
    }

    /// Every file below `folder` by path with what tells its version, for the poller.
    fn versions(&self) -> Result<BTreeMap<BundlePath, (u64, Option<String>)>, Error> {
        let (objects, _) = self.run(|at| async move { at.objects(&BundlePath::root()).await })?;
        Ok(objects
            .into_iter()
            .filter(|(path, _)| !path.parent().is_some_and(|folder| hidden(&folder)))
            .map(|(path, meta)| (path, (meta.size, meta.e_tag.or(Some(meta.last_modified.to_string())))))
            .collect())
    }

    /// Puts `bytes` on the condition of `mode`; `Conflict` when somebody else was there first.
    fn put(
        &self,
        path: &BundlePath,
        expected: Option<ContentHash>,
        bytes: Vec<u8>,
        mode: PutMode,
    ) -> Result<UpdateVersion, Error> {
        let (here, wanted) = (path.clone(), mode.clone());
        let key = self.at.key(path)?;
        let put = self.run(move |at| async move {
            match at.store.put_opts(&key, bytes.into(), wanted.into()).await {
                Ok(result) => Ok(Some(UpdateVersion::from(result))),
                Err(
                    object_store::Error::Precondition { .. }
                    | object_store::Error::AlreadyExists { .. }
                    | object_store::Error::NotModified { .. },
                ) => Ok(None),
                // What was to be replaced is gone.
                Err(object_store::Error::NotFound { .. }) if mode != PutMode::Overwrite => Ok(None),
                Err(e) => Err(fault::explain(&here, &e)),
            }
        })?;
        match put {
            Some(version) => Ok(version),
            None => {
                let found = self.fetch(path)?.map(|found| ContentHash::of(&found.bytes));
                // It may be back to what was expected by now; it was not when it counted.
                Err(Error::conflict(path, expected, found))
            }
        }
    }

    /// The file with its version; none where no object lies. A gravestone is returned as one.
    fn fetch(&self, path: &BundlePath) -> Result<Option<Found>, Error> {
        let path = path.clone();
        self.run(move |at| async move { at.fetch(&path).await })
    }

    /// [`Self::fetch`] for a change that starts from the content `expected`.
    fn fetch_expected(&self, path: &BundlePath, expected: ContentHash) -> Result<Found, Error> {
        let found = self.fetch(path)?.filter(|found| !found.is_gravestone());
        let hash = found.as_ref().map(|found| ContentHash::of(&found.bytes));
        match found {
            Some(found) if hash == Some(expected) => Ok(found),
            _ => Err(Error::conflict(path, Some(expected), hash)),
        }
    }

    /// Puts a file where none may be. `now` judges how old a gravestone in its place is.
    fn create(&self, path: &BundlePath, bytes: &[u8], now: SystemTime) -> Result<(), Error> {
        let taken = match self.put(path, None, bytes.to_vec(), PutMode::Create) {
            Err(e) if e.kind == ErrorKind::Conflict => e,
            other => return other.map(|_| ()),
        };
        match self.fetch(path)? {
            Some(found) if found.is_gravestone() => {
                let age = now.duration_since(found.modified).unwrap_or_default();
                if age < ABANDONED {
                    let message = "is being deleted by somebody else; try again in a few minutes";
                    return Err(Error::new(ErrorKind::Conflict, path, message));
                }
                self.put(path, None, bytes.to_vec(), PutMode::Update(found.version)).map(|_| ())
            }
            _ => Err(taken),
        }
    }
}

impl At {
    fn key(&self, path: &BundlePath) -> Result<Path, Error> {
        let key = match (self.prefix.as_ref(), path.relative()) {
            (prefix, "") => prefix.to_owned(),
            ("", relative) => relative.to_owned(),
            (prefix, relative) => format!("{prefix}/{relative}"),
        };
        Path::parse(key).map_err(|_| {
            Error::new(
                ErrorKind::Invalid,
                path,
                "object storage takes no control characters in a name; choose another",
            )
        })
    }

    /// The bundle's path of an object; none for what lies elsewhere and for names that no bundle path can hold.
    fn path(&self, key: &Path) -> Option<BundlePath> {
        let below = key.as_ref().strip_prefix(self.prefix.as_ref())?;
        // `team` is not the folder of `teamwork/x`.
        if !self.prefix.as_ref().is_empty() && !below.is_empty() && !below.starts_with('/') {
            return None;
        }
        BundlePath::root().join(below.trim_start_matches('/')).ok()
    }

    async fn fetch(&self, path: &BundlePath) -> Result<Option<Found>, Error> {
        self.fetch_large(path, MAX_FILE).await
    }

    async fn fetch_large(&self, path: &BundlePath, most: u64) -> Result<Option<Found>, Error> {
        let fail = |e| fault::explain(path, &e);
        // A name that no object can have is that of no file.
        let Ok(key) = self.key(path) else { return Ok(None) };
        if path.is_root() {
            return Ok(None);
        }
        let result = match self.store.get(&key).await {
            Ok(result) => result,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(e) => return Err(fail(e)),
        };
        if result.meta.size > most {
            return Err(Error::too_large(path, most));
        }
        let version =
            UpdateVersion { e_tag: result.meta.e_tag.clone(), version: result.meta.version.clone() };
        let modified = SystemTime::from(result.meta.last_modified);
        // The announced length may be wrong: count what comes.
        let mut bytes = Vec::with_capacity(usize::try_from(result.meta.size).unwrap_or(0));
        let mut stream = result.into_stream();
        while let Some(chunk) = stream.next().await {
            bytes.extend_from_slice(&chunk.map_err(fail)?);
            if bytes.len() as u64 > most {
                return Err(Error::too_large(path, most));
            }
        }
        Ok(Some(Found { bytes, version, modified }))
    }

    async fn read(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        match self.fetch_large(path, most).await? {
            Some(found) if !found.is_gravestone() => Ok(found.bytes),
            _ if self.has_below(path).await? => Err(Error::is_directory(path)),
            _ => Err(Error::not_found(path)),
        }
    }

    /// Whether something lies below this folder. The bundle itself counts as a folder elsewhere.
    async fn has_below(&self, folder: &BundlePath) -> Result<bool, Error> {
        let Ok(key) = self.key(folder) else { return Ok(false) };
        let mut objects = self.store.list(Some(&key));
        match objects.next().await {
            None => Ok(false),
            Some(Ok(_)) => Ok(true),
            Some(Err(e)) => Err(fault::explain(folder, &e)),
        }
    }

    async fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        if !path.is_root()
            && let Ok(key) = self.key(path)
        {
            match self.store.head(&key).await {
                Ok(meta) if meta.size == GRAVESTONE.len() as u64 && self.is_gone(path).await? => {}
                Ok(meta) => return Ok(Stat { kind: EntryKind::File, len: meta.size }),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => return Err(fault::explain(path, &e)),
            }
        }
        if path.is_root() || self.has_below(path).await? {
            return Ok(Stat { kind: EntryKind::Directory, len: 0 });
        }
        Err(Error::not_found(path))
    }

    /// Whether the object is a gravestone, or has gone meanwhile.
    async fn is_gone(&self, path: &BundlePath) -> Result<bool, Error> {
        Ok(self.fetch(path).await?.is_none_or(|found| found.is_gravestone()))
    }

    /// All objects below `folder`, at most [`MAX_ENTRIES`]; whether there are more.
    async fn objects(&self, folder: &BundlePath) -> Result<(Vec<(BundlePath, ObjectMeta)>, bool), Error> {
        let mut objects = self.store.list(Some(&self.key(folder)?));
        let mut found = Vec::new();
        while let Some(meta) = objects.next().await {
            let meta = meta.map_err(|e| fault::explain(folder, &e))?;
            let Some(path) = self.path(&meta.location) else { continue };
            if path == *folder || path.is_root() {
                continue;
            }
            if found.len() == MAX_ENTRIES {
                return Ok((found, true));
            }
            found.push((path, meta));
        }
        Ok((found, false))
    }

    /// One entry, unless the object is a gravestone. An empty object may be a mark that some tools leave for a folder.
    async fn entry(&self, path: BundlePath, len: u64) -> Result<Option<Entry>, Error> {
        let file = |kind| Some(Entry { path: path.clone(), kind, len, link: false });
        match len {
            0 => match self.fetch(&path).await? {
                Some(_) => Ok(file(EntryKind::File)),
                None => Ok(file(EntryKind::Directory)),
            },
            len if len == GRAVESTONE.len() as u64 && self.is_gone(&path).await? => Ok(None),
            _ => Ok(file(EntryKind::File)),
        }
    }

    /// Entries of objects by path, with the folders on the way from `start`, which is not among them.
    async fn entries(
        &self,
        start: &BundlePath,
        objects: Vec<(BundlePath, u64)>,
        errors: &mut Vec<Error>,
    ) -> Result<BTreeMap<BundlePath, Entry>, Error> {
        let depth = start.components().count();
        let mut folders: BTreeMap<BundlePath, Entry> = BTreeMap::new();
        let mut files = Vec::new();
        'objects: for (path, len) in objects {
            if path.components().any(|name| name.starts_with(TEMPORARY)) {
                continue;
            }
            let mut at = start.clone();
            let names: Vec<&str> = path.components().skip(depth).collect();
            for (below, name) in names.iter().enumerate() {
                if below + 1 == names.len() {
                    break;
                }
                let Ok(folder) = at.join(name) else { continue 'objects };
                at = folder;
                if !folders.contains_key(&at) {
                    let entry = Entry { path: at.clone(), kind: EntryKind::Directory, len: 0, link: false };
                    folders.insert(at.clone(), entry);
                    if below + 1 > MAX_DEPTH {
                        errors.push(Error::new(
                            ErrorKind::TooLarge,
                            &at,
                            format!("more than {MAX_DEPTH} folders deep; what lies below is left out"),
                        ));
                    }
                }
                if name.starts_with('.') || below + 1 > MAX_DEPTH {
                    continue 'objects;
                }
            }
            files.push((path, len));
        }
        // Only those whose length leaves a doubt cost a request.
        let mut entries =
            futures::stream::iter(files).map(|(path, len)| self.entry(path, len)).buffered(AT_ONCE);
        let mut found = Vec::new();
        while let Some(entry) = entries.next().await {
            found.extend(entry?);
        }
        for entry in found {
            match folders.get(&entry.path) {
                Some(folder) if folder.kind == EntryKind::Directory => {
                    if entry.len > 0 {
                        let message = "is a file and a folder at once in this store; the file is left out: rename one of them";
                        errors.push(Error::new(ErrorKind::Invalid, &entry.path, message));
                    }
                }
                _ => {
                    folders.insert(entry.path.clone(), entry);
                }
            }
        }
        Ok(folders)
    }

    async fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let not_there = || Error::not_found(folder);
        let key = self.key(folder).map_err(|_| not_there())?;
        let listed =
            self.store.list_with_delimiter(Some(&key)).await.map_err(|e| fault::explain(folder, &e))?;
        if listed.objects.is_empty() && listed.common_prefixes.is_empty() && !folder.is_root() {
            return match self.stat(folder).await?.kind {
                EntryKind::Directory => Ok(Vec::new()),
                _ => Err(Error::not_a_directory(folder)),
            };
        }
        let objects = listed
            .objects
            .iter()
            .filter_map(|meta| Some((self.path(&meta.location)?, meta.size)))
            .filter(|(path, _)| path != folder)
            .collect();
        let mut entries = self.entries(folder, objects, &mut Vec::new()).await?;
        for prefix in &listed.common_prefixes {
            let Some(path) = self.path(prefix).filter(|path| !path.name().starts_with(TEMPORARY)) else {
                continue;
            };
            entries.insert(path.clone(), Entry { path, kind: EntryKind::Directory, len: 0, link: false });
        }
        Ok(entries.into_values().collect())
    }

    async fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        let (objects, more) = self.objects(folder).await?;
        let mut errors = Vec::new();
        if objects.is_empty() {
            return match self.stat(folder).await?.kind {
                EntryKind::Directory => Ok((Vec::new(), errors)),
                _ => Err(Error::not_a_directory(folder)),
            };
        }
        if more {
            errors.push(Error::new(
                ErrorKind::TooLarge,
                folder,
                format!("the bundle holds more than {MAX_ENTRIES} files; the rest is left out"),
            ));
        }
        let objects = objects.into_iter().map(|(path, meta)| (path, meta.size)).collect();
        let entries = self.entries(folder, objects, &mut errors).await?;
        errors.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((entries.into_values().collect(), errors))
    }
}

/// Whether a walk stays out of this folder.
fn hidden(folder: &BundlePath) -> bool {
    folder.components().any(|name| name.starts_with('.'))
}

impl Read for ObjectBundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let folder = folder.clone();
        self.run(move |at| async move { at.list(&folder).await })
    }

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let path = path.clone();
        self.run(move |at| async move { at.stat(&path).await })
    }

    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.read_large(path, MAX_FILE)
    }

    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        let path = path.clone();
        self.run(move |at| async move { at.read(&path, most).await })
    }

    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        let wanted = paths.to_vec();
        let all = self.run(move |at| async move {
            let reads = wanted.into_iter().map(|path| {
                let at = at.clone();
                async move { at.read(&path, MAX_FILE).await }
            });
            Ok(futures::stream::iter(reads).buffered(AT_ONCE).collect::<Vec<_>>().await)
        });
        all.unwrap_or_else(|e| paths.iter().map(|_| Err(e.clone())).collect())
    }

    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        let folder = folder.clone();
        self.run(move |at| async move { at.walk(&folder).await })
    }
}

impl Write for ObjectBundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        check_size(path, bytes.len())?;
        self.writable(path)?;
        self.put(path, None, bytes.to_vec(), PutMode::Overwrite).map(|_| ())
    }

    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.writable(path)?;
        let found = self.fetch(path)?.filter(|found| !found.is_gravestone());
        let found = found.ok_or_else(|| Error::not_found(path))?;
        self.remove(path, ContentHash::of(&found.bytes))
    }

    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        self.writable(from)?;
        let found = self.fetch(from)?.filter(|found| !found.is_gravestone());
        let found = found.ok_or_else(|| Error::not_found(from))?;
        if self.exists(to)? {
            return Err(Error::exists(to));
        }
        self.writable(to)?;
        self.create(to, &found.bytes, SystemTime::now())?;
        let hash = ContentHash::of(&found.bytes);
        self.remove(from, hash).inspect_err(|_| {
            // The old file stays, so the new one must not.
            let _ = self.remove(to, hash);
        })
    }

    fn replace(&self, path: &BundlePath, expected: Option<ContentHash>, bytes: &[u8]) -> Result<(), Error> {
        check_size(path, bytes.len())?;
        self.writable(path)?;
        let Some(expected) = expected else { return self.create(path, bytes, SystemTime::now()) };
        let found = self.fetch_expected(path, expected)?;
        self.put(path, Some(expected), bytes.to_vec(), PutMode::Update(found.version)).map(|_| ())
    }

    fn remove(&self, path: &BundlePath, expected: ContentHash) -> Result<(), Error> {
        check_name(path)?;
        let found = self.fetch_expected(path, expected)?;
        self.put(path, Some(expected), GRAVESTONE.to_vec(), PutMode::Update(found.version))?;
        // From here on the file is deleted, whatever becomes of the gravestone. It is only removed while nobody else
        // may have taken its place.
        let key = self.at.key(path)?;
        let buried = self.run(move |at| async move {
            Ok(tokio::time::timeout(BURIAL, async move { at.store.delete(&key).await }).await)
        });
        if !matches!(buried, Ok(Ok(Ok(())))) {
            tracing::warn!("{path} was deleted; the object that says so stays in the store");
        }
        Ok(())
    }
}
