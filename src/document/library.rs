//! Documents as the rest of the program asks for them: each converted once, its text kept by content in the person's cache
//! folder and never in a bundle (invariant I9), and shown in parts that say what is left.

use std::fs;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::child::Converter;
use super::{Converted, Error, Progress, check_size};
use crate::bundle::{self, EntryKind, Read};
use crate::okf::{BundlePath, ContentHash};

/// Characters of a document that an agent is shown at once, where the person says nothing else.
pub const MAX_CHARS: usize = 200_000;

/// What is kept of converted texts, in bytes; the longest unused go first.
const MAX_KEPT: u64 = 512 * super::MIB;

/// Goes into the name of what is kept: another one makes it converted anew. To be raised with every change of a converter's output.
const EDITION: &str = concat!(env!("CARGO_PKG_VERSION"), "-2");

/// Where sources lie in a bundle.
const SOURCES: &str = "raw";

/// Converts documents, and keeps what came of them. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    converter: Converter,
    /// None: nothing is kept.
    folder: Option<PathBuf>,
    /// Characters that an agent is shown at once.
    pub max_chars: usize,
}

impl Documents {
    /// `folder` is made when something is to be kept.
    pub fn new(converter: Converter, folder: Option<PathBuf>) -> Self {
        Self { converter, folder, max_chars: MAX_CHARS }
    }

    /// The text of a document named `name`, from what is kept or from a conversion. Blocks for as long as that takes.
    pub fn read(
        &self,
        bytes: &[u8],
        name: &str,
        cancel: &CancellationToken,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Converted, Error> {
        let place = self.folder.as_ref().map(|folder| folder.join(kept_name(bytes, name)));
        if let Some(kept) = place.as_deref().and_then(take) {
            return Ok(kept);
        }
        let converted = self.converter.convert_blocking(bytes, name, cancel, progress)?;
        if let (Some(folder), Some(place)) = (&self.folder, &place)
            && let Err(error) = keep(folder, place, &converted)
        {
            // It only costs the next reader a conversion.
            tracing::debug!(%error, folder = %folder.display(), "a converted document is not kept");
        }
        Ok(converted)
    }

    /// The text of the document at `path`. Blocks.
    pub fn open(
        &self,
        bundle: &dyn Read,
        path: &BundlePath,
        cancel: &CancellationToken,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Source, Fault> {
        let bytes = self.bytes(bundle, path)?;
        let converted = self
            .read(&bytes, path.name(), cancel, progress)
            .map_err(|error| Fault::Document { path: path.clone(), error })?;
        Ok(Source { bytes, converted })
    }

    fn bytes(&self, bundle: &dyn Read, path: &BundlePath) -> Result<Vec<u8>, Fault> {
        let stat = bundle.stat(path)?;
        if stat.kind == EntryKind::File {
            check_size(stat.len, &self.converter.limits)
                .map_err(|error| Fault::Document { path: path.clone(), error })?;
        }
        Ok(bundle.read_large(path, self.converter.limits.input)?)
    }
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub bytes: Vec<u8>,
    pub converted: Converted,
}

/// Why a document of a bundle has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Bundle(#[from] bundle::Error),
    #[error("{path}: {error}")]
    Document { path: BundlePath, error: Error },
}

/// Of a name only the extension bears on how a content is read.
fn kept_name(bytes: &[u8], name: &str) -> String {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let plain = extension.len() <= 8 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    format!("{}-{EDITION}-{}.json", ContentHash::of(bytes), if plain { &extension } else { "" })
}

/// What is kept at a place, if it can be read.
fn take(place: &Path) -> Option<Converted> {
    let text = fs::read(place).ok()?;
    let kept = serde_json::from_slice(&text).ok()?;
    // So that it is not among the longest unused.
    _ = fs::File::open(place).and_then(|file| file.set_modified(SystemTime::now()));
    Some(kept)
}

/// Puts a text in its place in one step: another instance reads either nothing or all of it.
fn keep(folder: &Path, place: &Path, converted: &Converted) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(std::io::BufWriter::new(&mut file), converted)?;
    file.flush()?;
    file.persist(place).map_err(|error| error.error)?;
    prune(folder, MAX_KEPT)
}

/// Takes out the longest unused until at most `most` bytes are left.
fn prune(folder: &Path, most: u64) -> std::io::Result<()> {
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
        .collect();
    let mut sum: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    kept.sort();
    for (_, bytes, path) in kept {
        if sum <= most {
            break;
        }
        fs::remove_file(path)?;
        sum -= bytes;
    }
    Ok(())
}

/// The source that a person or a model names: `x.pdf`, `raw/x.pdf` and `/raw/x.pdf` are one file. The error is a sentence.
pub fn source(text: &str) -> Result<BundlePath, String> {
    let text = text.trim();
    let refused = |why: String| format!("`{text}`: {why}. Documents are read from /{SOURCES} only.");
    let root = BundlePath::root();
    let folder = root.join(SOURCES).map_err(|e| refused(e.to_string()))?;
    let first = text.split('/').find(|part| !matches!(*part, "" | "."));
    let start = if text.starts_with('/') || first == Some(SOURCES) { &root } else { &folder };
    let path = start.join(text).map_err(|e| refused(e.to_string()))?;
    match path.is_within(&folder) && path != folder {
        true => Ok(path),
        false => Err(refused(format!("not below /{SOURCES}"))),
    }
}

/// A part of a text, between two of its characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt<'a> {
    pub text: &'a str,
    /// Where it begins, in bytes of the whole.
    pub at: usize,
    /// Characters of the whole before it, up to its end, and in all.
    pub start: usize,
    pub end: usize,
    pub total: usize,
    /// Lines whose end is in it, from 1; and lines of the whole.
    pub lines: RangeInclusive<usize>,
    pub total_lines: usize,
}

/// At most `limit` characters from the `offset`-th on, to the end of a line where one ends in the second half. None when the text
/// ends before.
pub fn excerpt(text: &str, offset: usize, limit: usize) -> Option<Excerpt<'_>> {
    let total = text.chars().count();
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let from = places.nth(offset).filter(|_| offset < total)?;
    let rest = text.get(from..)?;
    let cut = rest.char_indices().nth(limit).map_or(rest.len(), |(at, _)| at);
    let mut part = rest.get(..cut)?;
    if cut < rest.len()
        && let Some(end) = part.rfind('\n').filter(|end| *end >= part.len() / 2)
    {
        part = part.get(..=end)?;
    }
    let before = text.get(..from)?.matches('\n').count();
    let ended = part.matches('\n').count();
    let end = offset + part.chars().count();
    let last = before + ended + usize::from(end == total && !part.ends_with('\n'));
    let total_lines = text.split_inclusive('\n').count();
    Some(Excerpt { text: part, at: from, start: offset, end, total, lines: before + 1..=last, total_lines })
}

impl Converted {
    /// The part of the document in which the byte `at` of the text lies.
    pub fn place_at(&self, at: usize) -> Option<&super::Place> {
        let after = self.positions.partition_point(|position| position.offset <= at);
        after.checked_sub(1).and_then(|index| self.positions.get(index)).map(|position| &position.place)
    }

    /// What it is and how much of it there is: `PDF, 12 pages`.
    pub fn measure(&self) -> String {
        let parts = match self.positions.last().map(|last| &last.place) {
            None => return self.kind.name().to_owned(),
            Some(super::Place::Page(_)) => "page",
            Some(super::Place::Slide(_)) => "slide",
            Some(super::Place::Sheet { .. }) => "sheet",
            Some(super::Place::Chapter(_)) => "chapter",
        };
        let count = self.positions.len();
        format!("{}, {count} {parts}{}", self.kind.name(), if count == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings_name_one_source_and_nothing_else_is_one() {
        for text in ["x.pdf", "raw/x.pdf", "/raw/x.pdf", " ./raw/./x.pdf "] {
            assert_eq!(source(text).unwrap().as_str(), "/raw/x.pdf", "{text}");
        }
        assert_eq!(source("2026/x.pdf").unwrap().as_str(), "/raw/2026/x.pdf");
        for text in
            ["/wiki/a.md", "../wiki/a.md", "raw/../AGENTS.md", "/raw", "raw", "", "/etc/passwd", "..", "a\0b"]
        {
            let error = source(text).unwrap_err();
            assert!(error.ends_with("Documents are read from /raw only."), "{text}: {error}");
        }
    }

    #[test]
    fn parts_follow_each_other_and_give_the_whole() {
        let text = "eins\nzwei ä\n\ndrei\nlange Zeile ohne Ende";
        for limit in 1..50 {
            let (mut offset, mut whole, mut line) = (0, String::new(), 0);
            while let Some(part) = excerpt(text, offset, limit) {
                assert!(part.end > part.start && part.text.chars().count() <= limit);
                assert_eq!(*part.lines.end() + 1 - part.lines.start(), part.lines.clone().count());
                assert!(*part.lines.start() == line + 1, "no line is left out");
                (offset, line) = (part.end, *part.lines.end());
                whole.push_str(part.text);
            }
            assert_eq!((whole.as_str(), line), (text, 5), "{limit}");
        }
        assert_eq!(excerpt(text, 39, 10), None);
        let part = excerpt(text, 0, 8).unwrap();
        assert_eq!(
            (part.text, part.end, part.total, part.lines, part.total_lines),
            ("eins\n", 5, 39, 1..=1, 5)
        );
        assert_eq!(excerpt("a\n", 0, 9).unwrap().lines, 1..=1);
    }

    #[test]
    fn the_longest_unused_texts_go_first() {
        let folder = tempfile::tempdir().unwrap();
        for (age, name) in [(30, "old"), (20, "middle"), (10, "new")] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        let left = || {
            let mut names: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        prune(folder.path(), 300).unwrap();
        assert_eq!(left(), ["middle", "new", "old"]);
        prune(folder.path(), 250).unwrap();
        assert_eq!(left(), ["middle", "new"]);
    }

    #[test]
    fn what_is_kept_is_named_by_content_and_extension() {
        assert_eq!(kept_name(b"a", "x.PDF"), kept_name(b"a", "other.pdf"));
        assert_ne!(kept_name(b"a", "x.csv"), kept_name(b"a", "x.txt"));
        assert_ne!(kept_name(b"a", "x.pdf"), kept_name(b"b", "x.pdf"));
        assert!(!kept_name(b"a", "x.pdf/../..").contains('/'));
    }
}
