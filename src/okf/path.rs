//! The only path type above the storage backends (invariant I1).
//!
//! A [`BundlePath`] is absolute, `/`-separated and normalised, with `/` the bundle itself. Parsing
//! refuses what would leave the bundle, so a value of this type never does. It says nothing about
//! what exists.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;

/// Longest path and longest component accepted, in bytes: the limits of Linux file systems.
const MAX_PATH: usize = 4096;
const MAX_COMPONENT: usize = 255;

/// Why a text is no path inside the bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path leaves the bundle")]
    Outside,
    #[error("the path holds a NUL character")]
    Nul,
    #[error("the path is too long")]
    TooLong,
    #[error("the path holds a backslash; use / between folders")]
    Backslash,
}

/// A reserved file name and its part in a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reserved {
    /// `index.md`: a folder's catalogue.
    Index,
    /// `log.md`: the history.
    Log,
    /// `AGENTS.md`: the bundle's own schema.
    Agents,
}

/// An absolute, normalised path inside a bundle.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BundlePath(Arc<str>);

impl BundlePath {
    /// The bundle itself, `/`.
    pub fn root() -> Self {
        Self(Arc::from("/"))
    }

    /// Parses a path as a person or a model writes it: a leading `/` is optional and means the
    /// bundle. `.` and empty components vanish, `..` steps up and may not step out. Nothing is
    /// expanded or decoded: `~` and `%2e` are ordinary characters.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Self::root().join(text)
    }

    /// Resolves `relative` from this folder. A leading `/` starts at the bundle instead.
    pub fn join(&self, relative: &str) -> Result<Self, PathError> {
        if relative.contains('\0') {
            return Err(PathError::Nul);
        }
        if relative.contains('\\') {
            return Err(PathError::Backslash);
        }
        let start = if relative.starts_with('/') || self.is_root() { "" } else { self.as_str() };
        let mut path = String::with_capacity(start.len() + 1 + relative.len());
        path.push_str(start);
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    let parent = path.rfind('/').ok_or(PathError::Outside)?;
                    path.truncate(parent);
                }
                part if part.len() > MAX_COMPONENT => return Err(PathError::TooLong),
                part => {
                    path.push('/');
                    path.push_str(part);
                }
            }
        }
        if path.len() > MAX_PATH {
            return Err(PathError::TooLong);
        }
        Ok(if path.is_empty() { Self::root() } else { Self(Arc::from(path)) })
    }

    /// Resolves `relative` as a link written in this page: from the page's folder.
    pub fn resolve(&self, relative: &str) -> Result<Self, PathError> {
        self.parent().unwrap_or_else(Self::root).join(relative)
    }

    /// With the leading `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Without the leading `/`: how reports and people write it. The bundle itself is `""`.
    pub fn relative(&self) -> &str {
        self.0.strip_prefix('/').unwrap_or(&self.0)
    }

    /// The place in a page: `/wiki/a.md#b`.
    pub fn with_fragment(&self, fragment: Option<&str>) -> String {
        fragment.map_or_else(|| self.to_string(), |fragment| format!("{self}#{fragment}"))
    }

    pub fn is_root(&self) -> bool {
        &*self.0 == "/"
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative().split('/').filter(|c| !c.is_empty())
    }

    /// The folder that holds it; none for the bundle itself.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let (parent, _) = self.0.rsplit_once('/')?;
        Some(if parent.is_empty() { Self::root() } else { Self(Arc::from(parent)) })
    }

    /// Last component; `""` for the bundle itself.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// The name without its last extension.
    pub fn stem(&self) -> &str {
        match self.name().rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => self.name(),
        }
    }

    /// The last extension as written, without its dot.
    pub fn extension(&self) -> Option<&str> {
        match self.name().rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => Some(extension),
            _ => None,
        }
    }

    pub fn is_markdown(&self) -> bool {
        self.extension() == Some("md")
    }

    pub fn reserved(&self) -> Option<Reserved> {
        match self.name() {
            "index.md" => Some(Reserved::Index),
            "log.md" => Some(Reserved::Log),
            "AGENTS.md" => Some(Reserved::Agents),
            _ => None,
        }
    }

    /// Whether it is `folder` or below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path from the folder of `page` to this one, with `..` where needed: how the wiki
    /// convention writes links.
    pub fn relative_to_page(&self, page: &Self) -> String {
        let folder = page.parent().unwrap_or_else(Self::root);
        let from: Vec<&str> = folder.components().collect();
        let to: Vec<&str> = self.components().collect();
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let mut parts = vec![".."; from.len() - shared];
        parts.extend(to.iter().skip(shared));
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    /// Equal for paths that a case-insensitive or normalising file system cannot hold apart.
    pub fn fold_key(&self) -> String {
        if self.0.is_ascii() {
            return self.0.to_ascii_lowercase();
        }
        self.0.nfc().flat_map(char::to_lowercase).nfc().collect()
    }
}

/// Hashes and compares as its text, so that maps can be searched by text, ranges of a folder included.
impl std::borrow::Borrow<str> for BundlePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// Serialises without the leading `/`, as every report writes paths.
impl Serialize for BundlePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.relative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> BundlePath {
        BundlePath::parse(text).unwrap()
    }

    #[test]
    fn parse_normalises_and_refuses_what_leaves() {
        assert_eq!(path("wiki//a/./b.md").as_str(), "/wiki/a/b.md");
        assert_eq!(path("/").as_str(), "/");
        assert_eq!(path("").as_str(), "/");
        assert_eq!(path("a/../b").as_str(), "/b");
        assert_eq!(path("foo..bar.md").as_str(), "/foo..bar.md");
        assert_eq!(path("~/x").as_str(), "/~/x");
        for outside in ["..", "../s", "a/../../s", "/..", "a/b/../../../s"] {
            assert_eq!(BundlePath::parse(outside), Err(PathError::Outside), "{outside}");
        }
        assert_eq!(BundlePath::parse("a\0b"), Err(PathError::Nul));
        assert_eq!(BundlePath::parse("..\\s"), Err(PathError::Backslash));
        assert_eq!(BundlePath::parse(&"x".repeat(256)), Err(PathError::TooLong));
    }

    #[test]
    fn a_folder_with_the_same_prefix_is_not_inside() {
        assert!(path("/raw/x").is_within(&path("/raw")));
        assert!(path("/raw").is_within(&path("/raw")));
        assert!(!path("/rawish/x").is_within(&path("/raw")));
        assert!(path("/x").is_within(&BundlePath::root()));
    }

    #[test]
    fn names_and_parents() {
        let page = path("/wiki/concepts/foo.bar.md");
        assert_eq!((page.name(), page.stem(), page.extension()), ("foo.bar.md", "foo.bar", Some("md")));
        assert_eq!(page.parent(), Some(path("/wiki/concepts")));
        assert_eq!(path("/x").parent(), Some(BundlePath::root()));
        assert_eq!(BundlePath::root().parent(), None);
        assert_eq!(path("/.okf").extension(), None);
        assert_eq!(path("/wiki/index.md").reserved(), Some(Reserved::Index));
    }

    proptest! {
        #[test]
        fn a_relative_link_resolves_back(from in "(/[a-c]{1,2}){1,4}", to in "(/[a-c]{1,2}){1,4}") {
            let (from, to) = (path(&from), path(&to));
            prop_assert_eq!(from.resolve(&to.relative_to_page(&from)).unwrap(), to);
        }

        #[test]
        fn parsing_is_idempotent_and_stays_inside(text in "[a-c./ ~%]{0,40}") {
            if let Ok(parsed) = BundlePath::parse(&text) {
                prop_assert!(parsed.as_str().starts_with('/'));
                prop_assert!(parsed.components().all(|c| c != ".." && c != "."));
                prop_assert_eq!(BundlePath::parse(parsed.as_str()).unwrap(), parsed);
            }
        }
    }
}
