//! Which entries of a bundle are pages, which are only files, and which folders are not entered. Pure.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::okf::BundlePath;

/// The file at the bundle's root that names what is no page, in gitignore syntax.
pub const IGNORE_FILE: &str = "/.okfignore";

/// Folders of the wiki convention that hold sources and images. Only these paths are special: a folder of
/// the same name deeper down is a folder like any other.
const SOURCE_FOLDERS: [&str; 3] = ["/raw", "/assets", "/wiki/assets"];

/// Whether a folder of this name is not entered: nothing in it is a page, and it may hold a whole package cache.
pub fn is_opaque(folder: &BundlePath) -> bool {
    folder.name().starts_with('.') || folder.name() == "node_modules"
}

/// What `.okfignore` says. A line that is no pattern is passed over.
#[derive(Debug, Clone)]
pub struct Scope {
    text: String,
    rules: Gitignore,
}

impl Default for Scope {
    fn default() -> Self {
        Self { text: String::new(), rules: Gitignore::empty() }
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Scope {
    pub fn new(text: String) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for line in text.trim_start_matches('\u{feff}').lines() {
            let _ = builder.add_line(None, line);
        }
        let rules = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { text, rules }
    }

    /// Whether a regular file of this path is a page.
    pub fn is_page(&self, path: &BundlePath) -> bool {
        path.is_markdown() && !in_source_folder(path) && !self.ignores(path)
    }

    /// As git reads it: what lies in an ignored folder cannot be taken back.
    fn ignores(&self, path: &BundlePath) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let relative = path.relative();
        let folders = relative.match_indices('/').filter_map(|(at, _)| relative.get(..at));
        folders
            .map(|folder| (folder, true))
            .chain([(relative, false)])
            .any(|(prefix, is_folder)| self.rules.matched(Path::new(prefix), is_folder).is_ignore())
    }
}

fn in_source_folder(path: &BundlePath) -> bool {
    SOURCE_FOLDERS.iter().any(|folder| {
        path.as_str().strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(scope: &Scope, path: &str) -> bool {
        scope.is_page(&BundlePath::parse(path).unwrap())
    }

    #[test]
    fn only_the_bundles_own_raw_and_assets_hold_no_pages() {
        let scope = Scope::default();
        for source in ["/raw/a.md", "/raw/deep/a.md", "/assets/a.md", "/wiki/assets/a.md"] {
            assert!(!page(&scope, source), "{source}");
        }
        for normal in ["/concepts/raw/a.md", "/wiki/raw/a.md", "/wiki/concepts/assets/a.md", "/rawish/a.md"] {
            assert!(page(&scope, normal), "{normal}");
        }
    }

    #[test]
    fn okfignore_is_read_as_git_reads_it() {
        let scope = Scope::new("# drafts\ndrafts/\n*.tmp.md\n!keep.tmp.md\n/top.md\n".to_owned());
        for ignored in ["/drafts/a.md", "/x/drafts/deep/a.md", "/a.tmp.md", "/drafts/keep.tmp.md", "/top.md"]
        {
            assert!(!page(&scope, ignored), "{ignored}");
        }
        for kept in ["/a.md", "/x/keep.tmp.md", "/x/top.md"] {
            assert!(page(&scope, kept), "{kept}");
        }
    }
}
