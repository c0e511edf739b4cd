//! Proposed changes and what a person decided about them, as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::okf::{BundlePath, ContentHash};
use crate::text::diff::unified;

pub mod oddity;

#[cfg(test)]
mod tests;

/// Everything that is staged, file by file in path order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// Grows with every staged write: two sets with the same id hold the same changes.
    pub id: u64,
    pub files: Vec<FileChange>,
}

/// The proposed change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: BundlePath,
    pub kind: ChangeKind,
    /// Content when it was first touched; none when it did not exist.
    pub before: Option<Arc<[u8]>>,
    /// Proposed content; none for a deletion.
    pub after: Option<Arc<[u8]>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Create,
    Modify,
    Delete,
    /// A file moved from this path, perhaps changed too. The old path is part of this change, not another.
    Rename {
        from: BundlePath,
    },
}

impl FileChange {
    /// Hash of the content that the change starts from.
    pub fn base(&self) -> Option<ContentHash> {
        self.before.as_deref().map(ContentHash::of)
    }

    /// Identity of what a reviewer was shown: path, kind, before and after. An approval must repeat it.
    pub fn shown(&self) -> ContentHash {
        let mut text = Vec::new();
        // Every part with its length or a fixed one, so that no two changes spell the same bytes.
        let mut part = |tag: u8, bytes: &[u8]| {
            text.push(tag);
            text.extend((bytes.len() as u64).to_le_bytes());
            text.extend(bytes);
        };
        match &self.kind {
            ChangeKind::Create => part(0, b""),
            ChangeKind::Modify => part(1, b""),
            ChangeKind::Delete => part(2, b""),
            ChangeKind::Rename { from } => part(3, from.as_str().as_bytes()),
        }
        part(4, self.path.as_str().as_bytes());
        for side in [&self.before, &self.after] {
            match side {
                Some(bytes) => part(5, ContentHash::of(bytes).to_string().as_bytes()),
                None => part(6, b""),
            }
        }
        ContentHash::of(&text)
    }

    /// What was done once it is written, in words: `deleted wiki/a.md`.
    pub fn done(&self) -> String {
        let path = self.path.relative();
        match &self.kind {
            ChangeKind::Create => format!("created {path}"),
            ChangeKind::Modify => format!("changed {path}"),
            ChangeKind::Delete => format!("deleted {path}"),
            ChangeKind::Rename { from } => format!("renamed {} to {path}", from.relative()),
        }
    }

    /// Both sides as text, `None` where the side does not exist; `Err` when one is not UTF-8.
    pub fn texts(&self) -> Result<(Option<&str>, Option<&str>), std::str::Utf8Error> {
        Ok((
            self.before.as_deref().map(std::str::from_utf8).transpose()?,
            self.after.as_deref().map(std::str::from_utf8).transpose()?,
        ))
    }
}

/// How it is said that proposed files are not decided yet: `1 file waits`, `13 files wait`.
pub fn waiting(files: usize) -> String {
    if files == 1 { "1 file waits".to_owned() } else { format!("{files} files wait") }
}

impl ChangeSet {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn file(&self, path: &BundlePath) -> Option<&FileChange> {
        self.files.iter().find(|f| f.path == *path)
    }

    /// A patch of the whole set that `git apply` takes at the bundle's root. A renamed file is deleted and created in
    /// it. Content that is not text has no place in such a patch: a line says which file is left out.
    pub fn patch(&self) -> String {
        let mut patch = String::new();
        for file in &self.files {
            let Ok((before, after)) = file.texts() else {
                // git skips what stands before the next header.
                patch.push_str(&format!("{:?} is not text and is left out\n", file.path.relative()));
                continue;
            };
            match &file.kind {
                ChangeKind::Rename { from } => {
                    patch.push_str(&unified(from.relative(), before, None));
                    patch.push_str(&unified(file.path.relative(), None, after));
                }
                _ => patch.push_str(&unified(file.path.relative(), before, after)),
            }
        }
        patch
    }
}

/// What was decided about one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Decision {
    #[default]
    Pending,
    /// `shown` is [`FileChange::shown`] of what the person saw.
    Approved {
        shown: ContentHash,
    },
    Rejected {
        reason: String,
    },
}

/// Decisions by path.
pub type Decisions = BTreeMap<BundlePath, Decision>;
