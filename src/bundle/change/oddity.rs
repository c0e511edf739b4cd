//! Proposed files that no wiki needs: named like a program, starting like a script, or not where pages are. They may be
//! meant, so they are marked for the person who decides and not refused. So is a change of what a program may compute.

use super::{ChangeKind, FileChange};
use crate::bundle::Read;
use crate::okf::{BundlePath, Page};

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

/// The type of pages whose text some program runs, and the fields that say what and by whom (OKF 0.2).
const COMPUTATION: &str = "Attested Computation";
const RUN: [&str; 5] = ["runtime", "parameters", "computation", "executor", "attester"];

/// Whether a page says after the change that something else is computed, executed or attested. None: no such page.
pub fn changes_computation(path: &BundlePath, before: Option<&str>, after: Option<&str>) -> bool {
    let concerned = |text: &str| text.contains(COMPUTATION) || RUN.iter().any(|key| text.contains(key));
    if !path.is_markdown() || ![before, after].into_iter().flatten().any(concerned) {
        return false;
    }
    let parse = |text: Option<&str>| text.map(|text| Page::parse(path.clone(), text.into()));
    let (before, after) = (parse(before), parse(after));
    let is_one = |page: &Option<Page>| page.as_ref().is_some_and(|page| page.kind() == Some(COMPUTATION));
    let body = |page: &Option<Page>| page.as_ref().map(|page| page.body_text().to_owned());
    if (is_one(&before) || is_one(&after)) && body(&before) != body(&after) {
        return true;
    }
    let field = |page: &Option<Page>, key: &str| -> Option<String> {
        let page = page.as_ref()?;
        Some(page.frontmatter.get(key)?.span.of(&page.text).to_owned())
    };
    let keys = if is_one(&before) || is_one(&after) { &RUN[..] } else { &["executor", "attester"] };
    is_one(&before) != is_one(&after) || keys.iter().any(|key| field(&before, key) != field(&after, key))
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
        if let Ok((before, after)) = self.texts()
            && changes_computation(path, before, after)
        {
            return Some("changes what is computed, executed or attested");
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
    fn a_change_of_a_computation_its_executor_or_attester_is_odd() {
        let page = |extra: &str, body: &str| {
            format!("---\ntype: Attested Computation\nruntime: python\n{extra}---\n{body}")
        };
        let plain = "---\ntype: concept\n---\ntext\n";
        let path = BundlePath::parse("/wiki/a.md").unwrap();
        for (before, after, wanted) in [
            (page("", "x\n"), page("", "y\n"), true),
            (page("", "x\n"), page("attester: { resource: a }\n", "x\n"), true),
            (page("", "x\n"), page("title: T\n", "x\n"), false),
            (plain.to_owned(), page("", "x\n"), true),
            (plain.to_owned(), plain.replace("type", "executor: { resource: x }\ntype"), true),
            (plain.to_owned(), plain.replace("text", "the executor"), false),
        ] {
            assert_eq!(changes_computation(&path, Some(&before), Some(&after)), wanted, "{before} {after}");
        }
        assert!(changes_computation(&path, Some(&page("", "x")), None), "deleting one");
        let kind = ChangeKind::Create;
        assert!(odd("/wiki/a.md", kind, &page("", "x"), true).is_some_and(|why| why.contains("computed")));
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
