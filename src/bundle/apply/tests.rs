use std::os::unix::fs::symlink;
use std::sync::Arc;

use tempfile::TempDir;

use super::apply;
use crate::bundle::{
    ChangeKind, ChangeSet, Decision, Decisions, ErrorKind, FileChange, LocalBundle, MemoryBundle, Read,
    Rules, Staged, Write,
};
use crate::okf::{BundlePath, ContentHash};

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn change(text: &str, kind: ChangeKind, before: Option<&str>, after: Option<&str>) -> FileChange {
    let bytes = |side: Option<&str>| side.map(|text| Arc::from(text.as_bytes()));
    FileChange { path: path(text), kind, before: bytes(before), after: bytes(after) }
}

fn approve(changes: &ChangeSet) -> Decisions {
    changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect()
}

fn set(files: Vec<FileChange>) -> ChangeSet {
    ChangeSet { id: 1, files }
}

fn bundle() -> MemoryBundle {
    MemoryBundle::new([("/a.md", "a"), ("/b.md", "b"), ("/c.md", "c")]).unwrap()
}

#[test]
fn approved_files_land_and_deletions_come_last() {
    let target = bundle();
    let changes = set(vec![
        change("/a.md", ChangeKind::Delete, Some("a"), None),
        change("/b.md", ChangeKind::Modify, Some("b"), Some("bb")),
        change("/d.md", ChangeKind::Rename { from: path("/c.md") }, Some("c"), Some("cc")),
        change("/e.md", ChangeKind::Create, None, Some("e")),
    ]);
    let applied = apply(&target, &changes, &approve(&changes));
    assert_eq!(applied.landed, [path("/b.md"), path("/d.md"), path("/e.md"), path("/a.md")]);
    assert!(applied.failed.is_empty() && applied.rejected.is_empty() && applied.pending.is_empty());
    assert!(!target.exists(&path("/a.md")).unwrap() && !target.exists(&path("/c.md")).unwrap());
    assert_eq!(target.read(&path("/b.md")).unwrap(), "bb");
    assert_eq!(target.read(&path("/d.md")).unwrap(), "cc");
}

#[test]
fn every_file_is_accounted_for() {
    let target = bundle();
    let changes = set(vec![
        change("/a.md", ChangeKind::Modify, Some("a"), Some("aa")),
        change("/b.md", ChangeKind::Modify, Some("b"), Some("bb")),
        change("/c.md", ChangeKind::Modify, Some("c"), Some("cc")),
        change("/d.md", ChangeKind::Create, None, Some("d")),
    ]);
    let mut decisions = approve(&changes);
    decisions.remove(&path("/a.md"));
    decisions.insert(path("/b.md"), Decision::Rejected { reason: "too long".into() });
    decisions.insert(path("/c.md"), Decision::Pending);
    decisions.insert(path("/gone.md"), Decision::Approved { shown: ContentHash::of(b"") });
    let applied = apply(&target, &changes, &decisions);
    assert_eq!(applied.landed, [path("/d.md")]);
    assert_eq!(applied.rejected, [(path("/b.md"), "too long".to_owned())]);
    assert_eq!(applied.pending, [path("/a.md"), path("/c.md")]);
    let failed: Vec<_> = applied.failed.iter().map(|(p, e)| (p.as_str(), e.kind)).collect();
    assert_eq!(failed, [("/gone.md", ErrorKind::NotFound)]);
    assert_eq!(target.read(&path("/a.md")).unwrap(), "a");
}

#[test]
fn an_approval_of_something_else_is_refused() {
    let target = bundle();
    let seen = change("/a.md", ChangeKind::Modify, Some("a"), Some("harmless"));
    let held = set(vec![change("/a.md", ChangeKind::Modify, Some("a"), Some("harmful"))]);
    let decisions = Decisions::from([(path("/a.md"), Decision::Approved { shown: seen.shown() })]);
    let applied = apply(&target, &held, &decisions);
    assert_eq!(applied.failed[0].1.kind, ErrorKind::Conflict);
    assert_eq!(target.read(&path("/a.md")).unwrap(), "a");
}

#[test]
fn h35_a_decision_counts_once() {
    let target = bundle();
    let changes = set(vec![
        change("/a.md", ChangeKind::Modify, Some("a"), Some("a\nmore")),
        change("/b.md", ChangeKind::Delete, Some("b"), None),
        change("/n.md", ChangeKind::Create, None, Some("n")),
    ]);
    assert_eq!(apply(&target, &changes, &approve(&changes)).landed.len(), 3);
    let state = || {
        target
            .walk(&BundlePath::root())
            .unwrap()
            .0
            .into_iter()
            .map(|entry| {
                let text = target.read(&entry.path).ok();
                (entry.path, text)
            })
            .collect::<Vec<_>>()
    };
    let once = state();
    let again = apply(&target, &changes, &approve(&changes));
    assert_eq!((again.landed.len(), again.failed.len()), (0, 3), "{again:?}");
    assert_eq!(state(), once);
}

#[test]
fn what_was_shown_covers_path_kind_and_both_sides() {
    let base = change("/a.md", ChangeKind::Modify, Some("a"), Some("b"));
    let others = [
        change("/b.md", ChangeKind::Modify, Some("a"), Some("b")),
        change("/a.md", ChangeKind::Create, Some("a"), Some("b")),
        change("/a.md", ChangeKind::Rename { from: path("/b.md") }, Some("a"), Some("b")),
        change("/a.md", ChangeKind::Modify, Some("x"), Some("b")),
        change("/a.md", ChangeKind::Modify, Some("a"), Some("x")),
        change("/a.md", ChangeKind::Modify, None, Some("b")),
        change("/a.md", ChangeKind::Modify, Some("a"), None),
        change("/a.md", ChangeKind::Modify, Some("b"), Some("a")),
    ];
    assert_eq!(base.shown(), base.clone().shown());
    for other in &others {
        assert_ne!(base.shown(), other.shown(), "{other:?}");
    }
}

#[test]
fn a_file_that_changed_in_the_meantime_is_a_conflict_and_the_others_land() {
    let target = bundle();
    let changes = set(vec![
        change("/a.md", ChangeKind::Modify, Some("a"), Some("aa")),
        change("/b.md", ChangeKind::Delete, Some("b"), None),
        change("/c.md", ChangeKind::Modify, Some("c"), Some("cc")),
        change("/m.md", ChangeKind::Rename { from: path("/r.md") }, Some("r"), Some("r")),
        change("/n.md", ChangeKind::Create, None, Some("n")),
        change("/o.md", ChangeKind::Create, None, Some("o")),
        change("/q.md", ChangeKind::Modify, Some("q"), Some("qq")),
        change("/t.md", ChangeKind::Rename { from: path("/s.md") }, Some("s"), Some("s")),
    ]);
    for (name, text) in [("/a.md", "edited"), ("/b.md", "edited"), ("/n.md", "made"), ("/r.md", "edited")] {
        target.write(&path(name), text.as_bytes()).unwrap();
    }
    target.write(&path("/s.md"), b"s").unwrap();
    target.write(&path("/t.md"), b"taken").unwrap();
    let applied = apply(&target, &changes, &approve(&changes));
    assert_eq!(applied.landed, [path("/c.md"), path("/o.md")]);
    let failed: Vec<_> = applied.failed.iter().map(|(p, e)| (p.as_str(), e.kind)).collect();
    let conflicts = ["/a.md", "/b.md", "/m.md", "/n.md", "/q.md", "/t.md"];
    assert_eq!(failed, conflicts.map(|p| (p, ErrorKind::Conflict)));
    for (name, text) in
        [("/a.md", "edited"), ("/b.md", "edited"), ("/n.md", "made"), ("/t.md", "taken"), ("/s.md", "s")]
    {
        assert_eq!(target.read(&path(name)).unwrap(), text);
    }
    assert!(!target.exists(&path("/m.md")).unwrap());
}

#[test]
fn a_change_that_contradicts_itself_is_refused() {
    let target = bundle();
    let changes = set(vec![
        change("/a.md", ChangeKind::Create, Some("a"), Some("x")),
        change("/b.md", ChangeKind::Delete, None, None),
        change("/z.md", ChangeKind::Modify, None, Some("x")),
    ]);
    let applied = apply(&target, &changes, &approve(&changes));
    assert_eq!(applied.failed.len(), 3);
    assert!(applied.failed.iter().all(|(_, e)| e.kind == ErrorKind::Invalid));
}

#[test]
fn c05_staged_changes_land_on_a_disk_and_a_swapped_link_does_not_lead_out() {
    let temp = TempDir::new().unwrap();
    let root = temp.path().join("bundle");
    std::fs::create_dir_all(root.join("wiki")).unwrap();
    std::fs::write(temp.path().join("outside.md"), "a").unwrap();
    for name in ["a.md", "b.md", "c.md"] {
        std::fs::write(root.join("wiki").join(name), "a").unwrap();
    }
    let local = Arc::new(LocalBundle::open(&root).unwrap());
    let staged = Staged::new(local.clone(), Rules::manager(true));
    staged.write(&path("/wiki/a.md"), b"swapped").unwrap();
    staged.write(&path("/wiki/b.md"), b"fine").unwrap();
    staged.rename(&path("/wiki/c.md"), &path("/wiki/deep/d.md")).unwrap();
    let changes = staged.changes();
    std::fs::remove_file(root.join("wiki/a.md")).unwrap();
    symlink("../../outside.md", root.join("wiki/a.md")).unwrap();
    let applied = apply(&*local, &changes, &approve(&changes));
    assert_eq!(applied.landed, [path("/wiki/b.md"), path("/wiki/deep/d.md")]);
    assert_eq!((applied.failed[0].0.as_str(), applied.failed[0].1.kind), ("/wiki/a.md", ErrorKind::Denied));
    assert_eq!(std::fs::read(temp.path().join("outside.md")).unwrap(), b"a");
    assert_eq!(local.read(&path("/wiki/deep/d.md")).unwrap(), "a");
    assert!(!local.exists(&path("/wiki/c.md")).unwrap());
}
