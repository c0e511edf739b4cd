//! A bundle in memory, for tests and for callers who keep one elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::error::Error;
use super::storage::{Entry, EntryKind, MAX_FILE, Read, Stat, Write, check_size};
use crate::okf::BundlePath;

/// Files by path. As on a disk, a folder appears with the first file in it and stays when it becomes empty.
#[derive(Default)]
pub struct MemoryBundle {
    tree: RwLock<Tree>,
}

#[derive(Default)]
struct Tree {
    files: BTreeMap<BundlePath, Vec<u8>>,
    /// Without `/` itself.
    folders: BTreeSet<BundlePath>,
}

impl Tree {
    fn kind(&self, path: &BundlePath) -> Option<EntryKind> {
        if path.is_root() || self.folders.contains(path) {
            Some(EntryKind::Directory)
        } else {
            self.files.contains_key(path).then_some(EntryKind::File)
        }
    }

    fn insert(&mut self, path: &BundlePath, bytes: Vec<u8>) {
        let mut above = path.parent();
        while let Some(folder) = above.filter(|f| !f.is_root()) {
            above = folder.parent();
            self.folders.insert(folder);
        }
        self.files.insert(path.clone(), bytes);
    }
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

    /// Like `write`, for content that was there before: a file that is too large to be read is listed all the same.
    #[cfg(feature = "archives")]
    pub(super) fn place(&self, path: &BundlePath, bytes: Vec<u8>) -> Result<(), Error> {
        self.writable(path)?;
        self.tree_mut().insert(path, bytes);
        Ok(())
    }

    // A poisoned lock guards a map that is whole: no step below can panic between two changes.
    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for MemoryBundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let tree = self.tree();
        match tree.kind(folder) {
            Some(EntryKind::Directory) => {}
            Some(_) => return Err(Error::not_a_directory(folder)),
            None => return Err(Error::not_found(folder)),
        }
        let below = (Bound::Excluded(folder.clone()), Bound::Unbounded);
        let child = |path: &BundlePath| path.parent().as_ref() == Some(folder);
        // Everything below a folder is not quite one range (`/a-b` sorts between `/a` and `/a/x`), so take the
        // range of equal beginnings and sieve it.
        let begins = |path: &BundlePath| path.as_str().starts_with(folder.as_str());
        let files =
            tree.files.range(below.clone()).take_while(|(p, _)| begins(p)).filter(|(p, _)| child(p)).map(
                |(path, bytes)| Entry {
                    path: path.clone(),
                    kind: EntryKind::File,
                    len: bytes.len() as u64,
                    link: false,
                },
            );
        let folders = tree
            .folders
            .range(below)
            .take_while(|p| begins(p))
            .filter(|p| child(p))
            .map(|path| Entry { path: path.clone(), kind: EntryKind::Directory, len: 0, link: false });
        let mut entries: Vec<Entry> = files.chain(folders).collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let tree = self.tree();
        let kind = tree.kind(path).ok_or_else(|| Error::not_found(path))?;
        Ok(Stat { kind, len: tree.files.get(path).map_or(0, |bytes| bytes.len() as u64) })
    }

    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.read_large(path, MAX_FILE)
    }

    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        let tree = self.tree();
        match tree.files.get(path) {
            Some(bytes) if bytes.len() as u64 > most => Err(Error::too_large(path, most)),
            Some(bytes) => Ok(bytes.clone()),
            None if tree.kind(path).is_some() => Err(Error::is_directory(path)),
            None => Err(Error::not_found(path)),
        }
    }
}

impl Write for MemoryBundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        check_size(path, bytes.len())?;
        self.writable(path)?;
        self.tree_mut().insert(path, bytes.to_vec());
        Ok(())
    }

    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.writable(path)?;
        self.tree_mut().files.remove(path).map(|_| ()).ok_or_else(|| Error::not_found(path))
    }

    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        self.writable(from)?;
        if !self.exists(from)? {
            return Err(Error::not_found(from));
        }
        if self.exists(to)? {
            return Err(Error::exists(to));
        }
        self.writable(to)?;
        let mut tree = self.tree_mut();
        let bytes = tree.files.remove(from).ok_or_else(|| Error::not_found(from))?;
        tree.insert(to, bytes);
        Ok(())
    }
}
