//! Proposed files that no wiki needs: named like a program, starting like a script, or not where pages are. They may be
//! meant, so they are marked for the person who decides and not refused.

use super::{ChangeKind, FileChange};
use crate::bundle::Read;
use crate::okf::BundlePath;

/// Endings, in lower case, of files that some system runs, loads or follows.
const PROGRAMS: [&str; 49] = [
    "app", "appimage", "apk", "bash", "bat", "bin", "cgi", "class", "cmd", "com", "command", "cpl", "csh",
    "deb", "desktop", "dll", "dylib", "elf", "exe", "fish", "hta", "jar", "js", "jse", "ksh", "lnk", "lua",
    "mjs", "msi", "php", "pif", "pl", "plist", "ps1", "psm1", "py", "pyc", "rb", "reg", "rpm", "run", "scpt",
    "scr", "service", "sh", "so", "sys", "vbs", "zsh",
];

/// Whether the bundle follows the wiki convention, where pages lie in `wiki/`: the folder beside `AGENTS.md` or `raw/`.
pub fn keeps_pages_in_wiki(bundle: &dyn Read) -> bool {
    let there = |path: &str| {
        BundlePath::parse(path).is_ok_and(|path| bundle.exists(&path).is_ok_and(|exists| exists))
    };
    there("/wiki") && (there("/AGENTS.md") || there("/raw"))
}

impl FileChange {
    /// Why a person should look twice, as the end of a sentence that starts with the file. `wiki`: pages lie in `wiki/`.
    pub fn oddity(&self, wiki: bool) -> Option<&'static str> {
        let path = &self.path;
        let written = self.kind != ChangeKind::Delete;
        let ending = path.extension().map(str::to_lowercase);
        if written && ending.is_some_and(|ending| PROGRAMS.contains(&ending.as_str())) {
            return Some("is named like a program, and nothing in a wiki is run");
        }
        if written && self.after.as_deref().is_some_and(|bytes| bytes.starts_with(b"#!")) {
            return Some("starts like a script, and nothing in a wiki is run");
        }
        let from = match &self.kind {
            ChangeKind::Rename { from } => Some(from),
            _ => None,
        };
        let outside = |path: &BundlePath| {
            let reserved = path.reserved().is_some() && path.parent().is_some_and(|folder| folder.is_root());
            path.components().next() != Some("wiki") && !reserved
        };
        if wiki && (outside(path) || from.is_some_and(outside)) {
            return Some("lies outside wiki/, where the pages are");
        }
        if written && (path.extension().is_none() || !wiki && !path.is_markdown()) {
            return Some("is no markdown page");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn odd(path: &str, kind: ChangeKind, text: &str, wiki: bool) -> Option<&'static str> {
        let after = (kind != ChangeKind::Delete).then(|| Arc::from(text.as_bytes()));
        FileChange { path: BundlePath::parse(path).unwrap(), kind, before: None, after }.oddity(wiki)
    }

    #[test]
    fn programs_scripts_and_what_lies_elsewhere_is_odd() {
        for (path, text, wiki, wanted) in [
            ("/wiki/a.md", "# A", true, None),
            ("/wiki/deep/index.md", "# A", true, None),
            ("/wiki/table.csv", "a,b", true, None),
            ("/AGENTS.md", "# A", true, None),
            ("/log.md", "# A", true, None),
            ("/wiki/foo.exe", "MZ", true, Some("program")),
            ("/wiki/FOO.EXE", "MZ", true, Some("program")),
            ("/wiki/a.md.sh", "ls", true, Some("program")),
            ("/tables/x.bat", "dir", false, Some("program")),
            ("/wiki/a.md", "#!/bin/sh\n", true, Some("script")),
            ("/etc/passwd", "root", true, Some("outside wiki/")),
            ("/etc/index.md", "# A", true, Some("outside wiki/")),
            ("/wikis/a.md", "# A", true, Some("outside wiki/")),
            ("/raw/a.md", "# A", true, Some("outside wiki/")),
            ("/README.md", "# A", true, Some("outside wiki/")),
            ("/wiki/Makefile", "all:", true, Some("no markdown page")),
            ("/etc/passwd", "root", false, Some("no markdown page")),
            ("/tables/x.csv", "a,b", false, Some("no markdown page")),
            ("/tables/x.md", "# X", false, None),
        ] {
            let found = odd(path, ChangeKind::Create, text, wiki);
            let right = match (found, wanted) {
                (Some(found), Some(wanted)) => found.contains(wanted),
                (found, wanted) => found == wanted,
            };
            assert!(right, "{path} {text:?} {wiki}: {found:?}");
        }
    }

    #[test]
    fn a_deletion_is_odd_only_elsewhere_and_a_move_from_elsewhere_too() {
        assert_eq!(odd("/wiki/foo.exe", ChangeKind::Delete, "", true), None);
        assert!(odd("/raw/source.txt", ChangeKind::Delete, "", true).is_some());
        let from = BundlePath::parse("/raw/a.md").unwrap();
        assert!(odd("/wiki/a.md", ChangeKind::Rename { from }, "# A", true).is_some());
    }

    #[test]
    fn pages_lie_in_wiki_where_the_convention_is_kept() {
        use crate::bundle::MemoryBundle;
        for (files, kept) in [
            (&["/wiki/a.md", "/AGENTS.md"][..], true),
            (&["/wiki/a.md", "/raw/s.txt"], true),
            (&["/wiki/a.md"], false),
            (&["/a.md", "/AGENTS.md"], false),
        ] {
            let bundle = MemoryBundle::new(files.iter().map(|path| (*path, "x"))).unwrap();
            assert_eq!(keeps_pages_in_wiki(&bundle), kept, "{files:?}");
        }
    }
}
