//! Writing to a local bundle: by temporary file, fsync, rename and fsync of the folder.
//!
//! Every step happens in a folder that was reached from the directory handle component by component without following
//! a link, so no swap can lead a write elsewhere. A link is never written through nor replaced. Must not decide what
//! may be written: that is `permission`'s and the reviewer's business.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{LocalBundle, READ_FLAGS, system_failure};
use crate::bundle::error::{Error, ErrorKind};
use crate::bundle::storage::{MAX_FILE, Write, check_name, check_size};
use crate::bundle::walk::TEMPORARY;
use crate::okf::{BundlePath, ContentHash};

#[cfg(test)]
mod tests;

/// A folder that is open, reached without following links, and the folders that were made on the way there.
struct Folder {
    fd: OwnedFd,
    /// Outermost first.
    made: Vec<BundlePath>,
}

/// Whether missing folders are made on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    Fail,
}

/// A write that is ready: its bytes lie on the disk beside their place. Dropped without [`Prepared::land`], it leaves
/// nothing behind.
pub(in crate::bundle) struct Prepared<'a> {
    bundle: &'a LocalBundle,
    folder: Folder,
    path: BundlePath,
    expected: Option<ContentHash>,
    /// None once it has landed.
    temporary: Option<String>,
}

impl Prepared<'_> {
    /// Moves it to its place, where what was expected must still stand.
    pub(in crate::bundle) fn land(mut self) -> Result<(), Error> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        move_in(&self.folder.fd, &self.path, Some(self.expected), temporary)?;
        self.temporary = None;
        confirm(&self.folder.fd, &self.path)
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::unlinkat(&self.folder.fd, temporary, AtFlags::empty());
            self.bundle.remove_folders(&self.folder.made);
        }
    }
}

/// The lock on a bundle; it ends with this value or its process.
pub(in crate::bundle) struct Taken {
    _fd: Option<OwnedFd>,
}

/// Which mode, owner and attributes a file gets that stood nowhere before.
#[derive(Clone, Copy, Default)]
pub(in crate::bundle) struct Like<'a> {
    /// Those of this file, when it is there: the other half of a move.
    pub file: Option<&'a BundlePath>,
    /// Otherwise this mode: a file that was deleted comes back.
    pub mode: Option<u32>,
}

/// What a file gets besides its bytes.
struct Facts {
    mode: u32,
    /// User and group.
    owner: Option<(u32, u32)>,
    /// The open file whose attributes it gets.
    attributes: Option<OwnedFd>,
}

/// What stands at a path, links not followed.
enum Found {
    Nothing,
    File(Stat),
}

impl LocalBundle {
    /// [`crate::bundle::Read::writable`].
    pub(super) fn check_target(&self, path: &BundlePath) -> Result<(), Error> {
        check_name(path)?;
        match self.folder_of(path, Missing::Fail) {
            Ok(folder) => look(&folder.fd, path).map(|_| ()),
            Err(e) if e.kind == ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Opens the folder that holds `path`.
    fn folder_of(&self, path: &BundlePath, missing: Missing) -> Result<Folder, Error> {
        let fail = |errno: Errno| system_failure(path, &errno.into());
        let mut fd = open_folder(&self.dir, ".").map_err(fail)?;
        let mut made = Vec::new();
        let mut at = BundlePath::root();
        let parent = path.parent().unwrap_or_else(BundlePath::root);
        for name in parent.components() {
            at = at.join(name).map_err(|e| Error::path(path.as_str(), &e))?;
            let next = match open_folder(&fd, name) {
                Err(Errno::NOENT) if missing == Missing::Make => {
                    match fs::mkdirat(&fd, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) => made.push(at.clone()),
                        Err(Errno::EXIST) => {}
                        Err(errno) => {
                            self.remove_folders(&made);
                            return permits(&fd, &at, false).and(Err(folder_failure(path, &at, errno)));
                        }
                    }
                    fs::fsync(&fd).and_then(|()| open_folder(&fd, name))
                }
                result => result,
            };
            fd = match next {
                Ok(next) => next,
                Err(errno) => {
                    self.remove_folders(&made);
                    return Err(match (errno, stat(&fd, name).map(|s| FileType::from_raw_mode(s.st_mode))) {
                        (_, Ok(FileType::Symlink)) => Error::through_link(path, &at),
                        (Errno::NOTDIR, _) => Error::below_file(path, &at),
                        _ => fail(errno),
                    });
                }
            };
        }
        Ok(Folder { fd, made })
    }

    /// Takes back folders that were made for a write that failed; one that is not empty any more stays.
    fn remove_folders(&self, made: &[BundlePath]) {
        for folder in made.iter().rev() {
            if let Ok(parent) = self.folder_of(folder, Missing::Fail) {
                let _ = fs::unlinkat(&parent.fd, folder.name(), AtFlags::REMOVEDIR);
            }
        }
    }

    /// Puts `bytes` at `path`. `expected`: `None` for whatever is there; otherwise the content that must be there,
    /// `Some(None)` for nothing.
    fn put(
        &self,
        path: &BundlePath,
        expected: Option<Option<ContentHash>>,
        bytes: &[u8],
    ) -> Result<(), Error> {
        check_name(path)?;
        check_size(path, bytes.len())?;
        let folder = self.folder_of(path, Missing::Make)?;
        let result = put_in(&folder.fd, path, expected, bytes);
        if result.is_err() {
            self.remove_folders(&folder.made);
        }
        result
    }

    /// Does all of a [`Write::replace`] but the rename. A new file is made `like` another.
    pub(in crate::bundle) fn prepare(
        &self,
        path: &BundlePath,
        expected: Option<ContentHash>,
        bytes: &[u8],
        like: Like<'_>,
    ) -> Result<Prepared<'_>, Error> {
        check_name(path)?;
        check_size(path, bytes.len())?;
        let facts = match expected {
            None => self.facts_like(like)?,
            Some(_) => None,
        };
        let folder = self.folder_of(path, Missing::Make)?;
        match stage_in(&folder.fd, path, Some(expected), bytes, facts) {
            Ok(temporary) => {
                let (path, temporary) = (path.clone(), Some(temporary));
                Ok(Prepared { bundle: self, folder, path, expected, temporary })
            }
            Err(e) => {
                self.remove_folders(&folder.made);
                Err(e)
            }
        }
    }

    fn facts_like(&self, like: Like<'_>) -> Result<Option<Facts>, Error> {
        if let Some(file) = like.file
            && let Ok(folder) = self.folder_of(file, Missing::Fail)
            && let Found::File(stat) = look(&folder.fd, file)?
        {
            return Facts::of(&folder.fd, file, &stat).map(Some).map_err(|e| system_failure(file, &e));
        }
        Ok(like.mode.map(|mode| Facts { mode, owner: None, attributes: None }))
    }

    /// Permission bits of the file at `path`; none when there is none.
    pub(in crate::bundle) fn mode_of(&self, path: &BundlePath) -> Option<u32> {
        let folder = self.folder_of(path, Missing::Fail).ok()?;
        match look(&folder.fd, path) {
            Ok(Found::File(stat)) => Some(stat.st_mode & 0o777),
            _ => None,
        }
    }

    /// Whether the file at `path` has more names than this one (hard links). They keep what they show when it is replaced.
    pub(in crate::bundle) fn has_other_names(&self, path: &BundlePath) -> bool {
        let found = self.folder_of(path, Missing::Fail).and_then(|folder| look(&folder.fd, path));
        matches!(found, Ok(Found::File(stat)) if stat.st_nlink > 1)
    }

    /// Takes away temporary files that a process which is gone left beside `path`.
    pub(in crate::bundle) fn sweep(&self, path: &BundlePath) {
        let Ok(folder) = self.folder_of(path, Missing::Fail) else { return };
        let Ok(entries) = fs::Dir::read_from(&folder.fd) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_bytes().starts_with(TEMPORARY.as_bytes()) {
                let _ = fs::unlinkat(&folder.fd, name, AtFlags::empty());
            }
        }
    }

    /// Takes the bundle for this process's writes as long as the answer lives; none when another one has it. On a file
    /// system that knows no locks there is no protection: whoever asks gets it.
    pub(in crate::bundle) fn take(&self) -> Option<Taken> {
        // A handle of its own: that of the bundle only names a folder and cannot carry a lock.
        let Ok(fd) = open_folder(&self.dir, ".") else { return Some(Taken { _fd: None }) };
        match fs::flock(&fd, fs::FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => None,
            _ => Some(Taken { _fd: Some(fd) }),
        }
    }

    /// Whether a [`Write::remove`] would succeed, as far as that can be told without doing it.
    pub(in crate::bundle) fn removable(&self, path: &BundlePath, expected: ContentHash) -> Result<(), Error> {
        check_name(path)?;
        let gone = || Error::conflict(path, Some(expected), None);
        let folder = self
            .folder_of(path, Missing::Fail)
            .map_err(|e| if e.kind == ErrorKind::NotFound { gone() } else { e })?;
        let Found::File(_) = look(&folder.fd, path)? else { return Err(gone()) };
        expect(&folder.fd, path, Some(expected))?;
        permits(&folder.fd, path, true)
    }

    fn unlink(&self, path: &BundlePath, expected: Option<ContentHash>) -> Result<(), Error> {
        check_name(path)?;
        let folder = self.folder_of(path, Missing::Fail)?;
        if let Found::Nothing = look(&folder.fd, path)? {
            return Err(match expected {
                Some(_) => Error::conflict(path, expected, None),
                None => Error::not_found(path),
            });
        }
        if let Some(hash) = expected {
            expect(&folder.fd, path, Some(hash))?;
        }
        fs::unlinkat(&folder.fd, path.name(), AtFlags::empty())
            .and_then(|()| fs::fsync(&folder.fd))
            .map_err(|errno| folder_failure(path, path, errno))
    }
}

impl Write for LocalBundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        self.put(path, None, bytes)
    }

    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.unlink(path, None)
    }

    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        check_name(from)?;
        check_name(to)?;
        let source = self.folder_of(from, Missing::Fail)?;
        if let Found::Nothing = look(&source.fd, from)? {
            return Err(Error::not_found(from));
        }
        let target = self.folder_of(to, Missing::Make)?;
        let result = match look(&target.fd, to) {
            Ok(Found::File(_)) => Err(Error::exists(to)),
            Err(e) if e.kind == ErrorKind::IsDirectory => Err(Error::exists(to)),
            Ok(Found::Nothing) => move_new(&source.fd, from.name(), &target.fd, to.name())
                .map_err(|errno| folder_failure(to, to, errno)),
            Err(e) => Err(e),
        };
        if result.is_err() {
            self.remove_folders(&target.made);
            return result;
        }
        // The new name first: after a power cut the file may stand at both places, never at none.
        fs::fsync(&target.fd)
            .and_then(|()| fs::fsync(&source.fd))
            .map_err(|errno| system_failure(to, &errno.into()))
    }

    fn replace(&self, path: &BundlePath, expected: Option<ContentHash>, bytes: &[u8]) -> Result<(), Error> {
        self.put(path, Some(expected), bytes)
    }

    fn remove(&self, path: &BundlePath, expected: ContentHash) -> Result<(), Error> {
        self.unlink(path, Some(expected))
    }
}

/// A failure to put `entry` into its folder or take it out; when that is forbidden, the folder forbids it.
fn folder_failure(path: &BundlePath, entry: &BundlePath, errno: Errno) -> Error {
    match (errno, entry.parent()) {
        (Errno::ACCESS | Errno::PERM, Some(folder)) => Error::new(
            ErrorKind::Denied,
            path,
            format!("the folder {folder} cannot be written to; check its permissions"),
        ),
        _ => system_failure(path, &errno.into()),
    }
}

fn open_folder(at: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(at, name, flags, Mode::empty())
}

fn stat(at: impl AsFd, name: &str) -> Result<Stat, Errno> {
    fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// What stands at `path` in its folder; an error for all that is no place for a file.
fn look(folder: impl AsFd, path: &BundlePath) -> Result<Found, Error> {
    let stat = match stat(folder, path.name()) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        Err(errno) => return Err(system_failure(path, &errno.into())),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Found::File(stat)),
        FileType::Symlink => Err(Error::through_link(path, path)),
        FileType::Directory => Err(Error::is_directory(path)),
        FileType::Fifo => Err(Error::special(path, "FIFO")),
        FileType::Socket => Err(Error::special(path, "socket")),
        _ => Err(Error::special(path, "device")),
    }
}

/// `Conflict` unless the content of `path` in its folder has the hash `expected` (`None`: unless nothing is there).
fn expect(folder: impl AsFd, path: &BundlePath, expected: Option<ContentHash>) -> Result<(), Error> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | READ_FLAGS;
    let found = match fs::openat(&folder, path.name(), flags, Mode::empty()) {
        Ok(fd) => {
            // The type is that of the open file, whatever was swapped in before.
            let stat = fs::fstat(&fd).map_err(|errno| system_failure(path, &errno.into()))?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Err(Error::conflict(path, expected, None));
            }
            let mut bytes = Vec::new();
            File::from(fd)
                .take(MAX_FILE + 1)
                .read_to_end(&mut bytes)
                .map_err(|e| system_failure(path, &e))?;
            Some(ContentHash::of(&bytes))
        }
        Err(Errno::NOENT) => None,
        Err(Errno::LOOP) => return Err(Error::through_link(path, path)),
        Err(errno) => return Err(system_failure(path, &errno.into())),
    };
    if found == expected { Ok(()) } else { Err(Error::conflict(path, expected, found)) }
}

/// `Denied` when the system would refuse to put a file at `path` or, with `there`, to take away the one that is: told
/// before anything of a set is done. The bits of the file itself do not matter for that.
fn permits(folder: impl AsFd, path: &BundlePath, there: bool) -> Result<(), Error> {
    let writable = |name: &str| fs::accessat(&folder, name, Access::WRITE_OK, AtFlags::EACCESS);
    let refused = |errno: Errno, what: &BundlePath| {
        let why = match errno {
            Errno::ROFS => "it lies on a file system that is read-only; make that writable and apply again",
            Errno::PERM => "it is marked as unchangeable; take the mark away and apply again",
            _ => "its permissions do not let you write in it; change them and apply again",
        };
        let message = format!("{} cannot be changed: {why}", what.as_str());
        Err(Error::new(ErrorKind::Denied, path, message))
    };
    if let Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) = writable(".") {
        return refused(errno, &path.parent().unwrap_or_else(BundlePath::root));
    }
    match writable(path.name()) {
        Err(Errno::PERM) if there => refused(Errno::PERM, path),
        _ => Ok(()),
    }
}

/// The steps of a write within one open folder. Whatever fails, the old file is whole and no temporary file is left.
fn put_in(
    folder: &OwnedFd,
    path: &BundlePath,
    expected: Option<Option<ContentHash>>,
    bytes: &[u8],
) -> Result<(), Error> {
    let temporary = stage_in(folder, path, expected, bytes, None)?;
    move_in(folder, path, expected, &temporary).inspect_err(|_| {
        let _ = fs::unlinkat(folder, &temporary, AtFlags::empty());
    })?;
    confirm(folder, path)
}

/// Writes `bytes` to a temporary file beside `path`, down to the disk; its name. None is left when it fails. A new file
/// gets `facts`; one that replaces another gets that one's.
fn stage_in(
    folder: &OwnedFd,
    path: &BundlePath,
    expected: Option<Option<ContentHash>>,
    bytes: &[u8],
    facts: Option<Facts>,
) -> Result<String, Error> {
    let old = match look(folder, path)? {
        Found::File(stat) => Some(stat),
        Found::Nothing => None,
    };
    if let Some(expected) = expected {
        // Told before any work is done, and again when it is moved in.
        expect(folder, path, expected)?;
    }
    permits(folder, path, old.is_some())?;
    let facts = match &old {
        Some(stat) => Some(Facts::of(folder, path, stat).map_err(|e| system_failure(path, &e))?),
        None => facts,
    };
    let (temporary, file) =
        make_temporary(folder, facts.is_none()).map_err(|errno| folder_failure(path, path, errno))?;
    let filled = fill(&file, facts.as_ref(), bytes).and_then(|()| file.sync_all());
    match filled {
        Ok(()) => Ok(temporary),
        Err(e) => {
            let _ = fs::unlinkat(folder, &temporary, AtFlags::empty());
            Err(system_failure(path, &e))
        }
    }
}

/// Renames a staged file to its place, where `expected` must still stand.
fn move_in(
    folder: &OwnedFd,
    path: &BundlePath,
    expected: Option<Option<ContentHash>>,
    temporary: &str,
) -> Result<(), Error> {
    let fail = |errno: Errno| folder_failure(path, path, errno);
    match expected {
        Some(None) => match move_new(folder, temporary, folder, path.name()) {
            Err(Errno::EXIST) => Err(Error::conflict(path, None, Some(ContentHash::of(b"")))),
            result => result.map_err(fail),
        },
        Some(Some(hash)) => expect(folder, path, Some(hash))
            .and_then(|()| fs::renameat(folder, temporary, folder, path.name()).map_err(fail)),
        // A link or folder that was swapped in since it was looked at: the rename would replace the link itself,
        // which nothing outside notices; a folder refuses.
        None => fs::renameat(folder, temporary, folder, path.name()).map_err(fail),
    }
}

/// The content is in place; only its survival of a power cut is unknown when this fails.
fn confirm(folder: &OwnedFd, path: &BundlePath) -> Result<(), Error> {
    fs::fsync(folder).map_err(|errno| {
        let error = system_failure(path, &errno.into());
        Error::new(error.kind, path, format!("written, but the disk did not confirm it: {}", error.message))
    })
}

/// A new file in `folder` with a name nobody else takes. Until it has the mode of the file that it replaces, only its
/// owner may read it.
fn make_temporary(folder: &OwnedFd, new: bool) -> Result<(String, File), Errno> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mode = Mode::from_raw_mode(if new { 0o644 } else { 0o600 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{TEMPORARY}{}-{count}", std::process::id());
        match fs::openat(folder, name.as_str(), flags, mode) {
            Ok(fd) => return Ok((name, File::from(fd))),
            // Left behind by an earlier process of the same number.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
}

impl Facts {
    /// Those of the file at `path` in its folder, which has this `stat`.
    fn of(folder: &OwnedFd, path: &BundlePath, stat: &Stat) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | READ_FLAGS;
        let file = fs::openat(folder, path.name(), flags, Mode::empty())?;
        // Where another kind was swapped in since it was looked at, the move will refuse it.
        let regular = FileType::from_raw_mode(fs::fstat(&file)?.st_mode) == FileType::RegularFile;
        Ok(Self {
            // Without set-id bits: the new owner may be another.
            mode: stat.st_mode & 0o777,
            owner: Some((stat.st_uid, stat.st_gid)),
            attributes: regular.then_some(file),
        })
    }
}

/// Content, owner, group, mode and attributes.
fn fill(mut file: &File, facts: Option<&Facts>, bytes: &[u8]) -> std::io::Result<()> {
    file.write_all(bytes)?;
    let Some(facts) = facts else { return Ok(()) };
    if let Some((user, group)) = facts.owner {
        let mine = fs::fstat(file)?;
        if (mine.st_uid, mine.st_gid) != (user, group) {
            let (user, group) = (fs::Uid::from_raw(user), fs::Gid::from_raw(group));
            // Only root may give a file away; anybody else leaves it to themselves, as editors do.
            let _ = fs::fchown(file, Some(user), Some(group));
        }
    }
    fs::fchmod(file, Mode::from_raw_mode(facts.mode))?;
    facts.attributes.as_ref().map_or(Ok(()), |old| keep_attributes(old, file))
}

/// Gives `file` the attributes that people and their programs put on `old` (those named `user.`); the others are the
/// system's own business. A file system without attributes has none to keep.
#[cfg(target_os = "linux")]
fn keep_attributes(old: &OwnedFd, file: &File) -> std::io::Result<()> {
    /// The kernel's own bounds (`XATTR_LIST_MAX`, `XATTR_SIZE_MAX`), in bytes.
    const MOST: usize = 64 * 1024;

    let mut names = vec![0; MOST];
    let size = match fs::flistxattr(old, names.as_mut_slice()) {
        Err(Errno::NOTSUP) => return Ok(()),
        size => size?,
    };
    names.truncate(size);
    let mut value = vec![0; MOST];
    for name in names.split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        let size = match fs::fgetxattr(old, name, value.as_mut_slice()) {
            // Taken away in this moment.
            Err(Errno::NODATA) => continue,
            size => size?,
        };
        fs::fsetxattr(file, name, value.get(..size).unwrap_or_default(), fs::XattrFlags::empty())?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn keep_attributes(_: &OwnedFd, _: &File) -> std::io::Result<()> {
    Ok(())
}

/// Renames onto a name that must be free.
fn move_new(from: &OwnedFd, old: &str, to: &OwnedFd, new: &str) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    match fs::renameat_with(from, old, to, new, fs::RenameFlags::NOREPLACE) {
        // A file system without it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        result => return result,
    }
    // A hard link refuses a name that is taken.
    match fs::linkat(from, old, to, new, AtFlags::empty()) {
        Ok(()) => fs::unlinkat(from, old, AtFlags::empty()),
        // No hard links either: look, then rename.
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => match stat(to, new) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => fs::renameat(from, old, to, new),
            Err(errno) => Err(errno),
        },
        Err(errno) => Err(errno),
    }
}
