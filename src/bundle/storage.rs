//! The traits every backend implements. The agents see one tree, the bundle at `/`.
//!
//! Calls may block; whoever must not wait calls them on another thread.

use std::sync::Arc;

use rayon::prelude::*;

use super::error::{Error, ErrorKind};
use super::glob::Pattern;
use super::grep::{self, Grep, GrepResult};
use super::walk;
use crate::okf::{BundlePath, ContentHash};

/// Largest file that is read, in bytes.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Deepest folder and most entries that a walk visits.
pub const MAX_DEPTH: usize = 64;
pub const MAX_ENTRIES: usize = 200_000;

/// What a directory entry is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryKind {
    File,
    Directory,
    /// Listed, never opened: what it is (`"FIFO"`, `"socket"`, `"device"`, `"symlink out of the bundle"`,
    /// `"dangling symlink"`, `"symlink loop"`, `"symlink that cannot be followed"`, `"name is not UTF-8"`, `"name holds
    /// a backslash"`).
    Special(&'static str),
}

/// One directory entry. A symbolic link within the bundle is listed as what it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: BundlePath,
    pub kind: EntryKind,
    /// Bytes; 0 for all but files.
    pub len: u64,
    /// It is a symbolic link (to something inside the bundle unless `Special`).
    pub link: bool,
}

/// Facts about one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub kind: EntryKind,
    pub len: u64,
}

/// Reading a bundle.
pub trait Read: Send + Sync {
    /// Entries of one folder sorted by name, dot names included.
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error>;

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error>;

    /// The whole file, at most [`MAX_FILE`] bytes.
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error>;

    /// The whole file, at most `most` bytes: for a source, which may be larger than [`MAX_FILE`]. A backend without its own reads
    /// no more than that.
    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        let bytes = self.read_bytes(path)?;
        if bytes.len() as u64 > most { Err(Error::too_large(path, most)) } else { Ok(bytes) }
    }

    /// The whole file as UTF-8, every byte kept (byte-order mark, line ends).
    fn read(&self, path: &BundlePath) -> Result<String, Error> {
        String::from_utf8(self.read_bytes(path)?).map_err(|e| {
            let offset = e.utf8_error().valid_up_to();
            Error::new(
                ErrorKind::NotText { offset },
                path,
                format!("not UTF-8 text (first bad byte at offset {offset})"),
            )
        })
    }

    /// The bytes of the file at `path` when no symbolic link leads there; `None` when one does, or it cannot be read so:
    /// [`Read::read_bytes`] says why.
    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        if self.resolve(path) == *path { self.read_bytes(path).ok() } else { None }
    }

    /// [`Read::read_bytes`] of each, in the order asked for, several at once.
    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        paths.par_iter().map(|path| self.read_bytes(path)).collect()
    }

    fn exists(&self, path: &BundlePath) -> Result<bool, Error> {
        match self.stat(path) {
            Ok(_) => Ok(true),
            Err(e) if e.kind == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Where `path` leads when symbolic links within the bundle are followed: itself where there are none, or where
    /// it leads nowhere.
    fn resolve(&self, path: &BundlePath) -> BundlePath {
        path.clone()
    }

    /// Whether a file could be written, deleted or moved at this path, or the error that would say why not: it is a
    /// folder or a special file, something above it is a file, or a symbolic link is on the way.
    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        check_name(path)?;
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|f| !f.is_root()) {
            match self.stat(&above) {
                Ok(Stat { kind: EntryKind::Directory, .. }) => break,
                Ok(_) => return Err(Error::below_file(path, &above)),
                Err(e) if e.kind == ErrorKind::NotFound => folder = above.parent(),
                Err(e) => return Err(e),
            }
        }
        match self.stat(path) {
            Ok(Stat { kind: EntryKind::Directory, .. }) => Err(Error::is_directory(path)),
            Ok(Stat { kind: EntryKind::Special(what), .. }) => Err(Error::special(path, what)),
            Ok(Stat { kind: EntryKind::File, .. }) => Ok(()),
            Err(e) if e.kind == ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Every entry below `folder` in path order, folders included. Links to folders and dot-folders are listed and
    /// not entered (start in a dot-folder to see it). A folder that cannot be listed, and whatever [`MAX_DEPTH`] and
    /// [`MAX_ENTRIES`] leave out, stands in the second list.
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        walk::walk(self, folder, walk::Bounds::default())
    }

    /// Files below `folder` whose path matches `pattern`, in path order. Without `/` in the pattern the name is matched
    /// at any depth; with one, the path relative to `folder`; a leading `/` anchors at the bundle. `* ? [..] {a,b} **`.
    fn glob(&self, pattern: &str, folder: &BundlePath) -> Result<Vec<BundlePath>, Error> {
        let pattern = Pattern::new(pattern)?;
        let (entries, _) = self.walk(folder)?;
        Ok(entries
            .into_iter()
            .filter(|e| e.kind == EntryKind::File && pattern.matches(&e.path, folder))
            .map(|e| e.path)
            .collect())
    }

    /// Lines that hold the query, in path and line order.
    fn grep(&self, query: &Grep) -> Result<GrepResult, Error> {
        grep::search(self, query)
    }
}

/// Changing a bundle. Agents never hold a `Write` over a disk: only [`super::Staged`].
pub trait Write: Read {
    /// Creates or replaces a file with exactly these bytes; parent folders are made.
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error>;

    /// Removes one file; its folder stays.
    fn delete(&self, path: &BundlePath) -> Result<(), Error>;

    /// Moves one file; the new path must be free.
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error>;

    /// Like [`Write::write`], refused with `Conflict` unless the file's content still has the hash `expected` (`None`:
    /// unless it does not exist).
    fn replace(&self, path: &BundlePath, expected: Option<ContentHash>, bytes: &[u8]) -> Result<(), Error> {
        self.expect(path, expected)?;
        self.write(path, bytes)
    }

    /// Like [`Write::delete`], refused with `Conflict` unless the file's content still has the hash `expected`.
    fn remove(&self, path: &BundlePath, expected: ContentHash) -> Result<(), Error> {
        self.expect(path, Some(expected))?;
        self.delete(path)
    }

    /// `Conflict` unless the file's content has the hash `expected` (`None`: unless it does not exist).
    fn expect(&self, path: &BundlePath, expected: Option<ContentHash>) -> Result<(), Error> {
        let found = match self.read_bytes(path) {
            Ok(bytes) => Some(ContentHash::of(&bytes)),
            Err(e) if e.kind == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if found == expected { Ok(()) } else { Err(Error::conflict(path, expected, found)) }
    }
}

/// What no backend accepts as the name of a file.
pub(super) fn check_name(path: &BundlePath) -> Result<(), Error> {
    if path.is_root() {
        return Err(Error::is_directory(path));
    }
    if path.components().any(|name| name.starts_with(walk::TEMPORARY)) {
        return Err(Error::new(
            ErrorKind::Invalid,
            path,
            "names that start with .wikiwright- are kept for files half written; choose another",
        ));
    }
    Ok(())
}

/// Refuses content that could not be read back.
pub(super) fn check_size(path: &BundlePath, len: usize) -> Result<(), Error> {
    if len as u64 > MAX_FILE { Err(Error::too_large(path, MAX_FILE)) } else { Ok(()) }
}

impl<T: Read + ?Sized> Read for Arc<T> {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        (**self).list(folder)
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        (**self).stat(path)
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        (**self).read_bytes(path)
    }
    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        (**self).read_large(path, most)
    }
    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        (**self).read_plain(path)
    }
    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        (**self).read_all(paths)
    }
    fn read(&self, path: &BundlePath) -> Result<String, Error> {
        (**self).read(path)
    }
    fn exists(&self, path: &BundlePath) -> Result<bool, Error> {
        (**self).exists(path)
    }
    fn resolve(&self, path: &BundlePath) -> BundlePath {
        (**self).resolve(path)
    }
    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        (**self).writable(path)
    }
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        (**self).walk(folder)
    }
    fn glob(&self, pattern: &str, folder: &BundlePath) -> Result<Vec<BundlePath>, Error> {
        (**self).glob(pattern, folder)
    }
    fn grep(&self, query: &Grep) -> Result<GrepResult, Error> {
        (**self).grep(query)
    }
}
