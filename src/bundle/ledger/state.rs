//! The ledger's files: in the user's state folder, never in the bundle (invariant I9), for the user's eyes alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::okf::ContentHash;

/// The state folder of one bundle.
#[derive(Debug, Clone)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn exists(&self) -> bool {
        self.0.is_dir()
    }

    /// Makes the folder and those in it, mode 0700, down to the disk: were the folder lost, the journal in it would be too.
    pub fn make(&self) -> io::Result<()> {
        let wanted = [self.0.join("blobs"), self.0.join("history")];
        let all = wanted.iter().flat_map(|folder| folder.ancestors());
        let mut holders: Vec<&Path> =
            all.filter(|folder| !folder.exists()).filter_map(Path::parent).collect();
        holders.sort();
        holders.dedup();
        for folder in &wanted {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        holders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).try_for_each(sync_folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Puts a file there for good: temporary file, fsync, rename, fsync of the folder. Mode 0600.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(name);
        let temporary = path.with_extension("tmp");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        sync_folder(path.parent().unwrap_or(&self.0))
    }

    /// `None` when it is not there.
    pub fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Takes a file away for good; nothing is done when it is not there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.0.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
            Ok(()) => sync_folder(path.parent().unwrap_or(&self.0)),
        }
    }

    /// Keeps content under its hash.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<ContentHash> {
        let hash = ContentHash::of(bytes);
        let name = format!("blobs/{hash}");
        // Content that is there already is the same content; one that was cut by a crash is not there, but a `.tmp`.
        if !self.0.join(&name).exists() {
            self.put(&name, bytes)?;
        }
        Ok(hash)
    }

    /// Content kept under this hash; an error of kind `InvalidData` when the file is not what its name says.
    pub fn kept(&self, hash: &str) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.0.join("blobs").join(hash))?;
        if ContentHash::of(&bytes).to_string() == hash {
            Ok(bytes)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "kept content is damaged"))
        }
    }

    /// Names in one of its folders, sorted.
    pub fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        match fs::read_dir(self.0.join(folder)) {
            Ok(entries) => {
                for entry in entries {
                    names.extend(entry?.file_name().into_string().ok());
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        names.sort();
        Ok(names)
    }

    /// Bytes of one file.
    pub fn size(&self, name: &str) -> u64 {
        fs::metadata(self.0.join(name)).map_or(0, |facts| facts.len())
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
