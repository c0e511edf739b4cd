use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

use super::{ChangeKind, ChangeSet, FileChange};
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn change(text: &str, kind: ChangeKind, before: Option<&[u8]>, after: Option<&[u8]>) -> FileChange {
    FileChange { path: path(text), kind, before: before.map(Arc::from), after: after.map(Arc::from) }
}

/// Applies the patch at `root`; `None` when there is no git.
fn git_apply(root: &Path, patch: &str) -> Option<()> {
    use std::io::Write;
    let mut git = Command::new("git")
        .args(["apply", "--verbose", "-"])
        .current_dir(root)
        .env("GIT_CEILING_DIRECTORIES", root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{patch}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

#[test]
fn git_apply_takes_the_patch() {
    let temp = TempDir::new().unwrap();
    let long: String = (1..60).map(|n| format!("line {n}\n")).collect();
    let edited = long.replace("line 7\n", "seven\n").replace("line 50\n", "");
    let changes = ChangeSet {
        id: 1,
        files: vec![
            change("/asset.png", ChangeKind::Delete, Some(b"\x89PNG\xFF"), None),
            change("/wiki/a b.md", ChangeKind::Modify, Some(b"one\ntwo"), Some(b"one\nzwei\n")),
            change("/wiki/crlf.md", ChangeKind::Modify, Some(b"a\r\nb\r\n"), Some(b"a\r\nB\r\n")),
            change("/wiki/empty.md", ChangeKind::Create, None, Some(b"")),
            change("/wiki/long.md", ChangeKind::Modify, Some(long.as_bytes()), Some(edited.as_bytes())),
            change("/wiki/new/deep.md", ChangeKind::Create, None, Some(b"new, no final newline")),
            change("/wiki/old.md", ChangeKind::Delete, Some(b"bye\n"), None),
            change(
                "/wiki/to.md",
                ChangeKind::Rename { from: path("/wiki/from.md") },
                Some(b"moved\n"),
                Some(b"moved and changed\n"),
            ),
            change("/wiki/\u{FC}n\u{EF}.md", ChangeKind::Modify, Some(b"u\n"), Some(b"v\n")),
        ],
    };
    for file in &changes.files {
        let at = match &file.kind {
            ChangeKind::Rename { from } => from,
            _ => &file.path,
        };
        let at = temp.path().join(at.relative());
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        if let Some(before) = &file.before {
            std::fs::write(at, before).unwrap();
        }
    }
    let patch = changes.patch();
    assert!(patch.contains("\"asset.png\" is not text and is left out"));
    if git_apply(temp.path(), &patch).is_none() {
        eprintln!("skipped: no git");
        return;
    }
    for file in changes.files.iter().filter(|f| f.path.name() != "asset.png") {
        let found = std::fs::read(temp.path().join(file.path.relative())).ok();
        assert_eq!(found.as_deref(), file.after.as_deref(), "{}", file.path);
    }
    assert!(!temp.path().join("wiki/from.md").exists());
    assert!(temp.path().join("asset.png").exists());
}

#[test]
fn an_empty_set_is_an_empty_patch() {
    assert_eq!(ChangeSet::default().patch(), "");
}
