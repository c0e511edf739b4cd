//! A bundle in a folder of this machine, reached only beneath one directory handle (invariant I1).
//!
//! Reading follows symbolic links that stay inside the bundle; the kernel refuses the others while it opens (openat2
//! where there is one), so no swap between a check and an open can lead out. Only regular files are opened, without
//! blocking. No error names a path of the host. Writing lives in `local/write.rs`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, FileTypeExt, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::fs::{self, Mode, ResolveFlags};
use rustix::io::Errno;

use super::error::{Error, ErrorKind};
use super::storage::{Entry, EntryKind, MAX_FILE, Read, Stat};
use super::walk::TEMPORARY;
use crate::okf::BundlePath;

pub(super) mod write;

#[cfg(test)]
mod tests;

/// How a file is opened to be read: a FIFO does not block, a terminal does not become ours, a child does not inherit.
const READ_FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder opened as a bundle.
#[derive(Debug)]
pub struct LocalBundle {
    root: PathBuf,
    dir: Dir,
}

impl LocalBundle {
    /// Opens `root`. Fails when it is no folder or cannot be read. The error names `root` as it was given.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let fail = |kind, message: &str| Error {
            kind,
            path: root.display().to_string(),
            message: message.to_owned(),
        };
        let absolute = std::path::absolute(root)
            .map_err(|_| fail(ErrorKind::NotFound, "no such folder; name a folder of markdown pages"))?;
        let dir = Dir::open_ambient_dir(&absolute, ambient_authority()).and_then(|dir| {
            dir.entries()?;
            Ok(dir)
        });
        match dir {
            Ok(dir) => Ok(Self { root: absolute, dir }),
            Err(e) => Err(match e.kind() {
                std::io::ErrorKind::NotFound => {
                    fail(ErrorKind::NotFound, "no such folder; name a folder of markdown pages")
                }
                std::io::ErrorKind::NotADirectory => {
                    fail(ErrorKind::NotADirectory, "is not a folder; name the folder that holds the pages")
                }
                std::io::ErrorKind::PermissionDenied => fail(
                    ErrorKind::Denied,
                    "the system does not let you read this folder; check its permissions",
                ),
                _ => fail(ErrorKind::Io, &format!("cannot be opened: {}", reason(&e))),
            }),
        }
    }

    /// The folder on this machine, absolute, for the watcher, the editor and titles.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the folder that was opened still stands at [`LocalBundle::root`].
    pub fn is_in_place(&self) -> bool {
        let (Ok(here), Ok(opened)) = (std::fs::metadata(&self.root), self.dir.dir_metadata()) else {
            return false;
        };
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        (here.dev(), here.ino()) == (opened.dev(), opened.ino())
    }

    /// The bundle around `start`. The nearest folder upwards that holds `AGENTS.md` or a `wiki/` folder, or else an
    /// `index.md`; as folders of a bundle have an `index.md` each, of several that lie directly in one another the
    /// outermost is meant.
    pub fn discover(start: &Path) -> Option<PathBuf> {
        let start = std::path::absolute(start).ok()?;
        let mut candidate: Option<&Path> = None;
        for folder in start.ancestors() {
            if folder.join("AGENTS.md").is_file() || folder.join("wiki").is_dir() {
                return Some(folder.to_path_buf());
            }
            if folder.join("index.md").is_file() {
                candidate = Some(folder);
            } else if candidate.is_some() {
                break;
            }
        }
        candidate.map(Path::to_path_buf)
    }

    /// Opens a regular file and checks type and size on the open file, which a swap can no longer change.
    fn open_file(&self, path: &BundlePath, most: u64) -> Result<(cap_std::fs::File, Metadata), Error> {
        let inner = inner(path);
        // Looking first keeps devices unopened: opening one can have effects.
        self.require_file(path, &self.dir.metadata(inner).map_err(|e| self.failure(path, &e))?, most)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(READ_FLAGS.bits().cast_signed());
        let file = self.dir.open_with(inner, &options).map_err(|e| self.failure(path, &e))?;
        let metadata = file.metadata().map_err(|e| self.failure(path, &e))?;
        self.require_file(path, &metadata, most)?;
        Ok((file, metadata))
    }

    /// What exists at `path` without a symbolic link in it, where the kernel can tell by itself.
    #[cfg(target_os = "linux")]
    fn open_plain(&self, path: &BundlePath, flags: OFlags) -> Option<cap_std::fs::File> {
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let file = fs::openat2(&self.dir, inner(path), flags | OFlags::CLOEXEC, Mode::empty(), how);
        Some(cap_std::fs::File::from_std(file.ok()?.into()))
    }

    #[cfg(not(target_os = "linux"))]
    fn open_plain(&self, _: &BundlePath, _: OFlags) -> Option<cap_std::fs::File> {
        None
    }

    /// The content of an open file that was `len` bytes long.
    fn content(
        &self,
        path: &BundlePath,
        file: cap_std::fs::File,
        len: u64,
        most: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        // It may grow while it is read: one byte over the cap tells.
        file.take(most + 1).read_to_end(&mut bytes).map_err(|e| self.failure(path, &e))?;
        if bytes.len() as u64 > most {
            return Err(Error::too_large(path, most));
        }
        Ok(bytes)
    }

    fn require_file(&self, path: &BundlePath, metadata: &Metadata, most: u64) -> Result<(), Error> {
        match kind(metadata.file_type()) {
            EntryKind::File if metadata.len() > most => Err(Error::too_large(path, most)),
            EntryKind::File => Ok(()),
            EntryKind::Directory => Err(Error::is_directory(path)),
            EntryKind::Special(what) => Err(Error::special(path, what)),
        }
    }

    /// What a failed access means.
    fn failure(&self, path: &BundlePath, error: &std::io::Error) -> Error {
        if let Some(what) = self.broken_link(path, error) {
            return Error::special(path, what);
        }
        if escapes(error) {
            return Error::special(path, "symlink out of the bundle");
        }
        system_failure(path, error)
    }

    /// What is wrong with the link at `path`, when that is why following it failed.
    fn broken_link(&self, path: &BundlePath, error: &std::io::Error) -> Option<&'static str> {
        if !self.dir.symlink_metadata(inner(path)).ok()?.file_type().is_symlink() {
            return None;
        }
        if escapes(error) {
            return Some("symlink out of the bundle");
        }
        match Errno::from_io_error(error) {
            Some(Errno::NOENT | Errno::NOTDIR) => Some("dangling symlink"),
            Some(Errno::LOOP) => Some("symlink loop"),
            _ => None,
        }
    }

    fn entry(&self, folder: &BundlePath, entry: &cap_std::fs::DirEntry) -> Option<Entry> {
        let name = entry.file_name();
        let name = match name.to_str() {
            Some(name) if name.starts_with(TEMPORARY) => return None,
            Some(name) if name.contains('\\') => {
                return special_name(folder, &name.replace('\\', "\u{FFFD}"), "name holds a backslash");
            }
            Some(name) => name,
            None => return special_name(folder, &name.to_string_lossy(), "name is not UTF-8"),
        };
        let path = folder.join(name).ok()?;
        let file_type = match entry.file_type() {
            Ok(file_type) if !file_type.is_symlink() && file_type != FileType::unknown() => file_type,
            // A link, or a file system that does not tell kinds apart in its folders.
            _ => {
                let own = self.dir.symlink_metadata(inner(&path)).ok()?;
                if own.file_type().is_symlink() {
                    return Some(match self.dir.metadata(inner(&path)) {
                        Ok(target) => {
                            let kind = kind(target.file_type());
                            let len = length(&kind, &target);
                            Entry { path, kind, len, link: true }
                        }
                        Err(e) => {
                            let what =
                                self.broken_link(&path, &e).unwrap_or("symlink that cannot be followed");
                            Entry { path, kind: EntryKind::Special(what), len: 0, link: true }
                        }
                    });
                }
                own.file_type()
            }
        };
        let kind = kind(file_type);
        let len = match kind {
            // Gone since the folder was read: not there.
            EntryKind::File => entry.metadata().ok()?.len(),
            _ => 0,
        };
        Some(Entry { path, kind, len, link: false })
    }
}

impl Read for LocalBundle {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let open = if folder.is_root() { self.dir.entries() } else { self.dir.read_dir(inner(folder)) };
        let open = open.map_err(|e| match Errno::from_io_error(&e) {
            Some(Errno::NOTDIR) => match self.stat(folder) {
                Ok(Stat { kind: EntryKind::Special(what), .. }) => Error::special(folder, what),
                Ok(_) => Error::not_a_directory(folder),
                Err(e) => e,
            },
            _ => self.failure(folder, &e),
        })?;
        let mut entries = Vec::new();
        for entry in open {
            let entry = entry.map_err(|e| self.failure(folder, &e))?;
            entries.extend(self.entry(folder, &entry));
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        match self.dir.metadata(inner(path)) {
            Ok(metadata) => {
                let kind = kind(metadata.file_type());
                Ok(Stat { len: length(&kind, &metadata), kind })
            }
            Err(e) => match self.broken_link(path, &e) {
                Some(what) => Ok(Stat { kind: EntryKind::Special(what), len: 0 }),
                None => Err(self.failure(path, &e)),
            },
        }
    }

    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        if let Some(bytes) = self.read_plain(path) {
            return Ok(bytes);
        }
        self.read_large(path, MAX_FILE)
    }

    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        let (file, metadata) = self.open_file(path, most)?;
        self.content(path, file, metadata.len(), most)
    }

    fn read_plain(&self, path: &BundlePath) -> Option<Vec<u8>> {
        // Looking first, as in `open_file`, and beneath the folder too: a path by name would follow a link in its middle out.
        self.require_file(path, &self.open_plain(path, OFlags::PATH)?.metadata().ok()?, MAX_FILE).ok()?;
        let file = self.open_plain(path, READ_FLAGS)?;
        let metadata = file.metadata().ok()?;
        self.require_file(path, &metadata, MAX_FILE).ok()?;
        self.content(path, file, metadata.len(), MAX_FILE).ok()
    }

    fn resolve(&self, path: &BundlePath) -> BundlePath {
        if self.open_plain(path, OFlags::PATH).is_some() {
            return path.clone();
        }
        // What does not exist yet lies where its nearest existing folder leads.
        let mut missing: Vec<&str> = Vec::new();
        let mut at = path.clone();
        loop {
            if let Ok(found) = self.dir.canonicalize(inner(&at)) {
                let found = found.to_str().and_then(|text| BundlePath::parse(text).ok());
                let whole = found
                    .and_then(|f| missing.iter().rev().try_fold(f, |folder, name| folder.join(name)).ok());
                return whole.unwrap_or_else(|| path.clone());
            }
            missing.extend(path.components().nth(at.components().count().saturating_sub(1)));
            match at.parent() {
                Some(parent) => at = parent,
                None => return path.clone(),
            }
        }
    }

    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        self.check_target(path)
    }
}

/// The path below the directory handle.
fn inner(path: &BundlePath) -> &str {
    if path.is_root() { "." } else { path.relative() }
}

fn kind(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_fifo() {
        EntryKind::Special("FIFO")
    } else if file_type.is_socket() {
        EntryKind::Special("socket")
    } else {
        EntryKind::Special("device")
    }
}

fn length(kind: &EntryKind, metadata: &Metadata) -> u64 {
    if *kind == EntryKind::File { metadata.len() } else { 0 }
}

/// An entry whose name no bundle path can hold, shown by the nearest name that one can.
fn special_name(folder: &BundlePath, shown: &str, what: &'static str) -> Option<Entry> {
    let path = folder.join(shown).ok()?;
    Some(Entry { path, kind: EntryKind::Special(what), len: 0, link: false })
}

/// cap-std's own refusal, which carries no number of the system.
fn escapes(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// A failure of the system as a sentence.
pub(super) fn system_failure(path: &BundlePath, error: &std::io::Error) -> Error {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) => Error::not_found(path),
        Some(Errno::ISDIR) => Error::is_directory(path),
        Some(Errno::EXIST) => Error::exists(path),
        Some(Errno::LOOP) => Error::special(path, "symlink loop"),
        Some(Errno::ACCESS | Errno::PERM) => {
            Error::new(ErrorKind::Denied, path, "the system forbids it; check the permissions of the file")
        }
        Some(Errno::NAMETOOLONG) => {
            Error::new(ErrorKind::Invalid, path, "the name is too long; choose a shorter one")
        }
        _ => Error::new(ErrorKind::Io, path, reason(error)),
    }
}

/// Why the system failed, without its paths.
fn reason(error: &std::io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::DQUOT) => "the disk is full; make room and try again".to_owned(),
        Some(Errno::ROFS) => "the file system is read-only; nothing can be written there".to_owned(),
        Some(Errno::MFILE | Errno::NFILE) => {
            "too many open files; close other programs and try again".to_owned()
        }
        Some(errno) => format!("the system failed ({errno}); try again"),
        None => format!("the system failed ({:?}); try again", error.kind()),
    }
}
