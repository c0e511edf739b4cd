//! The traits every backend implements. The agents see one tree, the bundle at `/`.
//!
//! Calls may block; whoever must not wait calls them on another thread.

use std::sync::Arc;

use super::error::{Error, ErrorKind};
use super::grep::{Grep, GrepResult};
use crate::okf::BundlePath;

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
    /// `"dangling symlink"`, `"symlink loop"`, `"name is not UTF-8"`).
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

    fn exists(&self, path: &BundlePath) -> Result<bool, Error> {
        match self.stat(path) {
            Ok(_) => Ok(true),
            Err(e) if e.kind == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Every entry below `folder` in path order, folders included, links to folders not entered. A folder that
    /// cannot be listed stands in the second list and the walk goes on.
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        let _ = folder;
        unimplemented!("bundle helper")
    }

    /// Files whose path matches `pattern`, in path order. Without `/` in the pattern the name is matched at any depth;
    /// with one, the path relative to `folder`; a leading `/` anchors at the bundle. `* ? [..] {a,b} **`.
    fn glob(&self, pattern: &str, folder: &BundlePath) -> Result<Vec<BundlePath>, Error> {
        let _ = (pattern, folder);
        unimplemented!("bundle helper")
    }

    /// Lines that hold the query, in path and line order.
    fn grep(&self, query: &Grep) -> Result<GrepResult, Error> {
        let _ = query;
        unimplemented!("bundle helper")
    }
}

/// Changing a bundle. Agents never hold a `Write` over a disk: only [`super::Staged`].
pub trait Write: Read {
    /// Creates or replaces a file with exactly these bytes; parent folders are made.
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error>;

    /// Removes one file.
    fn delete(&self, path: &BundlePath) -> Result<(), Error>;

    /// Moves one file; the new path must be free.
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error>;
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
    fn walk(&self, folder: &BundlePath) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        (**self).walk(folder)
    }
}
