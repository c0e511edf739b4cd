//! A bundle that was handed on as one file: `.zip`, `.tar.gz` or `.tgz`, unpacked into memory. Nothing is ever written to
//! a disk, and an archive that could be an attack is refused as a whole: names that lead elsewhere, links, devices, a
//! name twice, more content than a bundle has.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::error::{Error, ErrorKind};
use super::memory::MemoryBundle;
use super::storage::{EntryKind, Read as _};
use crate::okf::BundlePath;

mod budget;
mod tarball;
mod zipped;

use budget::{Budget, Metered};

#[cfg(test)]
pub(super) mod fixture;
#[cfg(test)]
mod tests;

/// Most content of an archive, in bytes.
pub const MAX_UNPACKED: u64 = 200 * 1024 * 1024;
/// Most bytes of content for each byte of the archive, and the content that may come before this is judged.
pub const MAX_RATIO: u64 = 100;
const SMALL: u64 = 1024 * 1024;
/// Most files and folders.
pub const MAX_ENTRIES: usize = 10_000;

/// What every write to one is answered with.
pub const READ_ONLY: &str = "an archive is read-only; unpack it and open the folder to change it";

/// How an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Zip,
    TarGz,
}

impl Format {
    /// By the file's name; none for all others.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        if name.ends_with(".zip") {
            Some(Self::Zip)
        } else if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
            Some(Self::TarGz)
        } else {
            None
        }
    }
}

/// Why an archive is not read; a sentence without the archive's name.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("cannot be read ({0}); it is damaged, or no archive of this kind")]
    Damaged(String),
    #[error("{0}")]
    Said(String),
}

/// What an archive holds, by path.
#[derive(Default)]
struct Contents {
    files: Vec<(BundlePath, Vec<u8>)>,
    entries: usize,
}

/// Unpacks the archive at `path`.
pub fn load(path: &Path, format: Format) -> Result<MemoryBundle, Error> {
    let fail = |kind, message: String| Error { kind, path: path.display().to_string(), message };
    let system = |e: &io::Error| match e.kind() {
        io::ErrorKind::NotFound => fail(ErrorKind::NotFound, "no such file".to_owned()),
        io::ErrorKind::PermissionDenied => {
            fail(ErrorKind::Denied, "the system does not let you read this file".to_owned())
        }
        _ => fail(ErrorKind::Io, "the system failed to read this file; try again".to_owned()),
    };
    // Opening a FIFO would wait for ever.
    let facts = std::fs::metadata(path).map_err(|e| system(&e))?;
    if !facts.is_file() {
        return Err(fail(ErrorKind::NotRegular, "is no regular file".to_owned()));
    }
    let file = File::open(path).map_err(|e| system(&e))?;
    let mut packed = Vec::new();
    file.take(MAX_UNPACKED + 1).read_to_end(&mut packed).map_err(|e| system(&e))?;
    unpack(&packed, format).map_err(|refusal| fail(ErrorKind::Invalid, refusal.to_string()))
}

fn unpack(packed: &[u8], format: Format) -> Result<MemoryBundle, Refusal> {
    let budget = Budget::of(packed.len() as u64)?;
    let contents = match format {
        Format::Zip => zipped::read(packed, &budget),
        Format::TarGz => tarball::read(packed, &budget),
    };
    // Where the budget ran out, whatever the reader made of it is not the reason.
    budget.check()?;
    contents?.into_bundle()
}

impl Contents {
    /// Counts an entry and judges its name. None: nothing to keep.
    fn enter(&mut self, name: &str) -> Result<Option<BundlePath>, Refusal> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(Refusal::Said(format!(
                "holds more than {MAX_ENTRIES} entries, the most that are read"
            )));
        }
        let refuse =
            |why: &str| Err(Refusal::Said(format!("holds the name {name:?}, which {why}; it is not opened")));
        if name.starts_with('/') {
            return refuse("is absolute");
        }
        if name.split(['/', '\\']).any(|part| part == "..") {
            return refuse("leads out of the archive");
        }
        match BundlePath::parse(name) {
            // What macOS adds beside the content.
            Ok(path) if path.is_root() || path.components().next() == Some("__MACOSX") => Ok(None),
            Ok(path) => Ok(Some(path)),
            Err(error) => refuse(&format!("no page can have: {error}")),
        }
    }

    /// The reason for what is neither a file nor a folder.
    fn special(name: &str, what: &str) -> Refusal {
        Refusal::Said(format!("holds {name:?}, which is a {what}; an archive with one is not opened"))
    }

    fn into_bundle(mut self) -> Result<MemoryBundle, Refusal> {
        self.files.sort_by(|a, b| a.0.cmp(&b.0));
        if self.files.is_empty() {
            return Err(Refusal::Said("holds no files".to_owned()));
        }
        let strip = self.wrapper();
        let bundle = MemoryBundle::default();
        for (path, bytes) in self.files {
            let path = match &strip {
                Some(top) => {
                    BundlePath::parse(path.relative().strip_prefix(top.as_str()).unwrap_or_default())
                        .map_err(|e| Refusal::Said(e.to_string()))?
                }
                None => path,
            };
            match bundle.stat(&path) {
                Ok(stat) if stat.kind == EntryKind::File => {
                    return Err(Refusal::Said(format!(
                        "holds {:?} twice; it is not opened",
                        path.relative()
                    )));
                }
                Ok(_) => {
                    let text =
                        format!("holds {:?} as a file and as a folder; it is not opened", path.relative());
                    return Err(Refusal::Said(text));
                }
                Err(_) => {}
            }
            bundle.place(&path, bytes).map_err(|e| {
                Refusal::Said(format!("holds {:?}, which has no place: {}", path.relative(), e.message))
            })?;
        }
        Ok(bundle)
    }

    /// The one folder that everything lies in, where the bundle begins in it and not above.
    fn wrapper(&self) -> Option<String> {
        let top = self.files.first()?.0.components().next()?.to_owned();
        let inside = |(path, _): &(BundlePath, Vec<u8>)| {
            let mut parts = path.components();
            parts.next() == Some(&top) && parts.next().is_some()
        };
        let begins = |depth: usize| {
            self.files.iter().any(|(path, _)| {
                let mut parts = path.components().skip(depth);
                matches!(
                    (parts.next(), parts.next()),
                    (Some("AGENTS.md" | "index.md"), None) | (Some("wiki"), Some(_))
                )
            })
        };
        (self.files.iter().all(inside) && !begins(0) && begins(1)).then_some(top)
    }
}

/// Reads one file within the budget.
fn content(reader: impl io::Read, budget: &Budget) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    Metered::new(reader, budget)
        .read_to_end(&mut bytes)
        .map_err(|e| Refusal::Damaged(e.kind().to_string()))?;
    Ok(bytes)
}
