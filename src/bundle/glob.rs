//! File patterns: one meaning for the glob tool, the grep filter and the command line. Matches paths only; what exists
//! is the walk's business.

use globset::{GlobBuilder, GlobMatcher};

use super::error::{Error, ErrorKind};
use crate::okf::BundlePath;

/// A compiled pattern. Dots are ordinary characters, letter case counts, `*` and `?` stop at `/`.
#[derive(Debug)]
pub struct Pattern {
    matcher: GlobMatcher,
    scope: Scope,
}

/// What the pattern is compared with.
#[derive(Debug, PartialEq, Eq)]
enum Scope {
    /// No `/` in the pattern: the file's name, at any depth.
    Name,
    /// The path relative to the searched folder.
    Folder,
    /// A leading `/`: the path from the bundle.
    Bundle,
}

impl Pattern {
    /// Compiles `pattern`; kind `Invalid` when it is none, `Outside` when it steps up.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let error =
            |kind, message: &str| Error { kind, path: pattern.to_owned(), message: message.to_owned() };
        if pattern.is_empty() {
            return Err(error(ErrorKind::Invalid, "the pattern is empty; write for example *.md"));
        }
        if pattern.split('/').any(|part| part == "..") {
            return Err(error(ErrorKind::Outside, "a pattern may not hold ..; name the folder to search in"));
        }
        let trimmed = pattern.trim_start_matches("./");
        let (text, scope) = match trimmed.strip_prefix('/') {
            Some(rest) => (rest, Scope::Bundle),
            None if trimmed.contains('/') => (trimmed, Scope::Folder),
            None => (trimmed, Scope::Name),
        };
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|e| error(ErrorKind::Invalid, &format!("not a file pattern: {}", e.kind())))?;
        Ok(Self { matcher: glob.compile_matcher(), scope })
    }

    /// Whether `path`, found below `folder`, matches.
    pub fn matches(&self, path: &BundlePath, folder: &BundlePath) -> bool {
        match self.scope {
            Scope::Name => self.matcher.is_match(path.name()),
            Scope::Bundle => self.matcher.is_match(path.relative()),
            Scope::Folder => {
                let below = path.relative().strip_prefix(folder.relative()).unwrap_or(path.relative());
                self.matcher.is_match(below.trim_start_matches('/'))
            }
        }
    }
}
