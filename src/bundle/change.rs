//! Proposed changes and what a person decided about them, as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::okf::{BundlePath, ContentHash};

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
        unimplemented!("bundle helper")
    }

    /// Both sides as text, `None` where the side does not exist; `Err` when one is not UTF-8.
    pub fn texts(&self) -> Result<(Option<&str>, Option<&str>), std::str::Utf8Error> {
        Ok((
            self.before.as_deref().map(std::str::from_utf8).transpose()?,
            self.after.as_deref().map(std::str::from_utf8).transpose()?,
        ))
    }
}

impl ChangeSet {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn file(&self, path: &BundlePath) -> Option<&FileChange> {
        self.files.iter().find(|f| f.path == *path)
    }

    /// A patch of the whole set that `git apply` takes at the bundle's root.
    pub fn patch(&self) -> String {
        unimplemented!("bundle helper")
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
