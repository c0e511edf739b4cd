//! Where a finding's file is, for services that know the repository and not the bundle.

use std::path::{Component, Path, PathBuf};

use crate::bundle;
use crate::lint::Finding;

/// The bundle's folder as the repository's root sees it: empty when they are one. Annotations name files from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// `bundle` as it was named on the command line, seen from `workspace`, an absolute path. A bundle elsewhere (outside
    /// the workspace, in an archive or a store) has none: its files are named from its own root.
    pub fn new(bundle: &Path, workspace: &Path) -> Self {
        if bundle::is_address(bundle) || (bundle::is_archive(bundle) && !bundle.is_dir()) {
            return Self::default();
        }
        let whole = plain(&workspace.join(bundle));
        let inside = whole.strip_prefix(plain(workspace)).ok().and_then(Path::to_str);
        Self(inside.map(|path| path.replace('\\', "/")).unwrap_or_default())
    }

    /// The file of a finding; none when it is about the whole bundle.
    pub fn file(&self, finding: &Finding) -> Option<String> {
        (!finding.path.is_root()).then(|| self.join(finding.path.relative()))
    }

    /// The folder of the bundle: `.` when it is the repository.
    pub fn folder(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    fn join(&self, path: &str) -> String {
        if self.0.is_empty() { path.to_owned() } else { format!("{}/{path}", self.0) }
    }
}

/// Without `.` and, as far as names alone tell, without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            _ => plain.push(part),
        }
        plain
    })
}
