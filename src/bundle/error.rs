//! Storage errors as values with a kind, so that callers decide by kind and people read the text.

use crate::okf::{BundlePath, ContentHash, PathError};

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    NotFound,
    /// A permission rule, or the system, forbids it.
    Denied,
    Exists,
    IsDirectory,
    NotADirectory,
    /// A FIFO, socket, device, or a symbolic link that leads out of the bundle or in a circle.
    NotRegular,
    TooLarge,
    /// Not UTF-8; `offset` is the first bad byte.
    NotText {
        offset: usize,
    },
    /// The file is not what it was when it was read.
    Conflict,
    Outside,
    /// The arguments make no sense together (empty search text, nothing to change).
    Invalid,
    Io,
}

/// A failed access. Its text names the bundle path, never a path of the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Error {
    pub kind: ErrorKind,
    pub path: String,
    /// A sentence for people and models that says what to do.
    pub message: String,
}

impl Error {
    pub fn new(kind: ErrorKind, path: &BundlePath, message: impl Into<String>) -> Self {
        Self { kind, path: path.as_str().to_owned(), message: message.into() }
    }

    pub fn not_found(path: &BundlePath) -> Self {
        Self::new(
            ErrorKind::NotFound,
            path,
            "no such file or folder; list the folder that should hold it, or search for the name",
        )
    }

    pub fn is_directory(path: &BundlePath) -> Self {
        Self::new(ErrorKind::IsDirectory, path, "is a folder; name a file in it")
    }

    pub fn not_a_directory(path: &BundlePath) -> Self {
        Self::new(ErrorKind::NotADirectory, path, "is a file, not a folder; read it instead")
    }

    pub fn below_file(path: &BundlePath, file: &BundlePath) -> Self {
        Self::new(
            ErrorKind::NotADirectory,
            path,
            format!("{file} is a file, so nothing can lie below it; choose another folder"),
        )
    }

    pub fn exists(path: &BundlePath) -> Self {
        Self::new(
            ErrorKind::Exists,
            path,
            "exists already; choose another name, or change the file that is there",
        )
    }

    /// `what` as in [`super::EntryKind::Special`].
    pub fn special(path: &BundlePath, what: &str) -> Self {
        Self::new(ErrorKind::NotRegular, path, format!("is no regular file ({what}) and is not opened"))
    }

    /// A write whose way leads over the symbolic link `link`.
    pub fn through_link(path: &BundlePath, link: &BundlePath) -> Self {
        let message = if path == link {
            "is a symbolic link and is not changed through it; change the file that it points to".to_owned()
        } else {
            format!(
                "{link} is a symbolic link and nothing is changed through it; use the folder that it points to"
            )
        };
        Self::new(ErrorKind::Denied, path, message)
    }

    /// A write without a look, where the rules say [`super::Mode::Ask`].
    pub fn must_be_looked_at(path: &BundlePath) -> Self {
        let text = "your rules want each change of it looked at; change it in the workbench";
        Self::new(ErrorKind::Denied, path, text)
    }

    /// It has more than `most` bytes.
    pub fn too_large(path: &BundlePath, most: u64) -> Self {
        let mebibytes = most / (1024 * 1024);
        Self::new(
            ErrorKind::TooLarge,
            path,
            format!("larger than {mebibytes} MiB, the most that is read or written; split it"),
        )
    }

    /// The file is not what a change started from.
    pub fn conflict(path: &BundlePath, expected: Option<ContentHash>, found: Option<ContentHash>) -> Self {
        let message = match (expected, found) {
            (None, _) => "was made by somebody else since the change was proposed; read it and propose again",
            (Some(_), None) => "was deleted since the change was proposed; propose again",
            (Some(_), Some(_)) => "changed on disk since the change was proposed; read it and propose again",
        };
        Self::new(ErrorKind::Conflict, path, message)
    }

    /// A text that is no bundle path.
    pub fn path(text: &str, error: &PathError) -> Self {
        Self { kind: ErrorKind::Outside, path: text.to_owned(), message: error.to_string() }
    }
}
