//! Commits in real repositories.

use std::path::Path;

use super::*;
use crate::bundle::{Bundle, Decision, FileChange, LocalBundle, Read as _};

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn git(at: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=A Person", "-c", "user.email=person@example.org"])
        .args(arguments)
        .current_dir(at)
        .output()
        .unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A repository without a commit, with room for a bundle in `docs/wiki`.
fn empty() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path();
    git(at, &["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "A Person"), ("user.email", "person@example.org")] {
        git(at, &["config", key, value]);
    }
    std::fs::create_dir_all(at.join("docs/wiki")).unwrap();
    temp
}

/// A repository with a bundle in `docs/wiki`, and the person's other work in it.
fn repository() -> tempfile::TempDir {
    let temp = empty();
    let at = temp.path();
    for (name, text) in [
        ("docs/wiki/a.md", "a\n"),
        ("docs/wiki/old é.md", "old\n"),
        ("code.txt", "code\n"),
        (".gitignore", "*.tmp.md\n"),
    ] {
        std::fs::write(at.join(name), text).unwrap();
    }
    git(at, &["add", "."]);
    git(at, &["commit", "-qm", "Start"]);
    temp
}

fn change(name: &str, kind: ChangeKind, before: Option<&str>, after: Option<&str>) -> FileChange {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().into());
    FileChange { path: path(name), kind, before: bytes(before), after: bytes(after) }
}

fn set() -> ChangeSet {
    let files = vec![
        change("/a.md", ChangeKind::Modify, Some("a\n"), Some("A\r\n")),
        change("/b \"x\".md", ChangeKind::Create, None, Some("b\n")),
        change("/new.md", ChangeKind::Rename { from: path("/old é.md") }, Some("old\n"), Some("new\n")),
        change("/x.tmp.md", ChangeKind::Create, None, Some("ignored\n")),
    ];
    ChangeSet { id: 1, files }
}

fn apply(at: &Path, changes: &ChangeSet) -> crate::bundle::Applied {
    let folder = LocalBundle::open(&at.join("docs/wiki")).unwrap();
    let bundle = Bundle::from(std::sync::Arc::new(folder)).committing(true);
    let decisions = changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() }));
    let origin = Origin {
        who: "manager".into(),
        model: Some("m-1".into()),
        message: "two\nlines".into(),
        ..Origin::default()
    };
    bundle.apply(changes, &decisions.collect(), &origin)
}

#[test]
fn a_set_becomes_a_commit_of_its_files_and_of_nothing_else() {
    let temp = repository();
    let at = temp.path();
    // Half of the person's work is staged, half is not.
    std::fs::write(at.join("code.txt"), "more\n").unwrap();
    git(at, &["add", "code.txt"]);
    std::fs::write(at.join("code.txt"), "more still\n").unwrap();
    let applied = apply(at, &set());
    assert_eq!(applied.failed, []);
    let name = git(at, &["rev-parse", "--short=7", "HEAD"]);
    assert_eq!(applied.notes, [format!("Committed as {}.", name.trim())]);
    assert_eq!(
        git(at, &["-c", "core.quotePath=false", "show", "--format=%an%n%B", "--name-status", "-z", "HEAD"])
            .replace('\0', "|"),
        "A Person\nChanged a.md and 3 more\n\ntwo lines\n\nWikiwright-Role: manager\nWikiwright-Model: m-1\n|\nM|docs/wiki/a.md|A|docs/wiki/b \"x\".md|A|docs/wiki/new.md|D|docs/wiki/old é.md|"
    );
    assert_eq!(git(at, &["cat-file", "-p", "HEAD:docs/wiki/a.md"]), "A\r\n");
    assert_eq!(git(at, &["status", "--porcelain"]), "MM code.txt\n", "the work of the person is as it was");
    let trailers = git(at, &["log", "-1", "--format=%(trailers:only)"]);
    assert_eq!(trailers.trim(), "Wikiwright-Role: manager\nWikiwright-Model: m-1");
    git(at, &["fsck", "--strict"]);
}

#[test]
fn nothing_of_the_repository_is_executed() {
    let temp = repository();
    let at = temp.path();
    let trap = format!("touch {}", at.join("executed").display());
    for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"] {
        use std::os::unix::fs::PermissionsExt as _;
        let file = at.join(".git/hooks").join(hook);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{trap}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(at.join("docs/wiki/.gitattributes"), "*.md filter=trap diff=trap\n").unwrap();
    for (key, value) in [
        ("filter.trap.clean", trap.as_str()),
        ("core.fsmonitor", &trap),
        ("commit.gpgSign", "true"),
        ("gpg.program", &trap),
        ("diff.trap.textconv", &trap),
        ("core.editor", &trap),
    ] {
        git(at, &["config", key, value]);
    }
    let applied = apply(at, &set());
    assert!(applied.notes[0].starts_with("Committed as "), "{:?}", applied.notes);
    assert!(!at.join("executed").exists());
}

#[test]
fn what_cannot_be_committed_is_written_all_the_same_and_said() {
    // No repository, and nothing that git should know.
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temp.path().join("docs/wiki")).unwrap();
    let one = ChangeSet { id: 1, files: vec![change("/x.tmp.md", ChangeKind::Create, None, Some("x\n"))] };
    assert_eq!(apply(temp.path(), &one).notes, Vec::<String>::new());
    let temp = repository();
    assert_eq!(apply(temp.path(), &one).notes, Vec::<String>::new());
    assert_eq!(git(temp.path(), &["rev-list", "--count", "HEAD"]), "1\n");

    let merging = repository();
    std::fs::write(merging.path().join(".git/MERGE_HEAD"), git(merging.path(), &["rev-parse", "HEAD"]))
        .unwrap();
    let locked = repository();
    std::fs::write(locked.path().join(".git/index.lock"), "").unwrap();
    let broken = repository();
    std::fs::write(broken.path().join(".git/HEAD"), "nonsense").unwrap();
    for (temp, part) in
        [(merging, "a merge is going on"), (locked, "index.lock"), (broken, "not a git repository")]
    {
        let applied = apply(temp.path(), &set());
        assert_eq!(applied.landed.len(), 4);
        let said = &applied.notes[0];
        assert!(said.starts_with("Written but not committed: ") && said.contains(part), "{said}");
        let bundle = LocalBundle::open(&temp.path().join("docs/wiki")).unwrap();
        assert_eq!(bundle.read(&path("/a.md")).unwrap(), "A\r\n");
    }
}

#[test]
fn the_first_commit_of_a_repository_and_modes_are_right() {
    let temp = empty();
    let at = temp.path();
    let create = ChangeSet { id: 1, files: vec![change("/a.md", ChangeKind::Create, None, Some("a\n"))] };
    assert!(apply(at, &create).notes[0].starts_with("Committed as "));
    assert_eq!(git(at, &["log", "--format=%s"]), "Created a.md\n");
    git(at, &["update-index", "--chmod=+x", "docs/wiki/a.md"]);
    git(at, &["commit", "-qm", "Run it"]);
    let edit =
        ChangeSet { id: 2, files: vec![change("/a.md", ChangeKind::Modify, Some("a\n"), Some("b\n"))] };
    apply(at, &edit);
    assert!(git(at, &["ls-tree", "HEAD", "docs/wiki/a.md"]).starts_with("100755 "));
    let delete = ChangeSet { id: 3, files: vec![change("/a.md", ChangeKind::Delete, Some("b\n"), None)] };
    apply(at, &delete);
    assert_eq!(
        git(at, &["log", "-1", "--format=%s", "--name-status"]),
        "Deleted a.md\n\nD\tdocs/wiki/a.md\n"
    );
    assert_eq!(git(at, &["status", "--porcelain"]), "");
}
