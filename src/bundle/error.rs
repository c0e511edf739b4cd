//! Storage errors as values with a kind, so that callers decide by kind and people read the text.

use crate::okf::{BundlePath, PathError};

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
        Self::new(ErrorKind::NotFound, path, "no such file")
    }

    /// A text that is no bundle path.
    pub fn path(text: &str, error: &PathError) -> Self {
        Self { kind: ErrorKind::Outside, path: text.to_owned(), message: error.to_string() }
    }
}
