use std::os::unix::fs::symlink;
use std::sync::Arc;

use proptest::prelude::*;

use super::Staged;
use crate::bundle::conformance::open_rules;
use crate::bundle::merge::Rebased;
use crate::bundle::{
    ChangeKind, ChangeSet, Decision, Decisions, Entry, EntryKind, ErrorKind, LocalBundle, MemoryBundle, Read,
    Rules, Write, apply,
};
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn staged() -> (Arc<MemoryBundle>, Staged) {
    let base = Arc::new(
        MemoryBundle::new([
            ("/wiki/a.md", "a"),
            ("/wiki/b.md", "b"),
            ("/raw/s.md", "s"),
            ("/AGENTS.md", "x"),
        ])
        .unwrap(),
    );
    (base.clone(), Staged::new(base, Rules::manager(true)))
}

fn kinds(changes: &ChangeSet) -> Vec<(&str, ChangeKind)> {
    changes.files.iter().map(|f| (f.path.as_str(), f.kind.clone())).collect()
}

fn approve_all(changes: &ChangeSet) -> Decisions {
    changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect()
}

#[test]
fn nothing_reaches_the_base() {
    let (base, staged) = staged();
    staged.write(&path("/wiki/a.md"), b"new").unwrap();
    staged.delete(&path("/wiki/b.md")).unwrap();
    assert_eq!(base.read(&path("/wiki/a.md")).unwrap(), "a");
    assert!(base.exists(&path("/wiki/b.md")).unwrap());
    assert_eq!(
        kinds(&staged.changes()),
        [("/wiki/a.md", ChangeKind::Modify), ("/wiki/b.md", ChangeKind::Delete)]
    );
}

#[test]
fn changes_that_come_to_nothing_are_left_out() {
    let (base, staged) = staged();
    staged.write(&path("/wiki/a.md"), b"a").unwrap();
    staged.write(&path("/wiki/new.md"), b"n").unwrap();
    staged.delete(&path("/wiki/new.md")).unwrap();
    staged.rename(&path("/wiki/b.md"), &path("/wiki/c.md")).unwrap();
    staged.rename(&path("/wiki/c.md"), &path("/wiki/b.md")).unwrap();
    assert!(staged.changes().is_empty());
    base.write(&path("/wiki/a.md"), b"edited outside").unwrap();
    assert_eq!(staged.read(&path("/wiki/a.md")).unwrap(), "edited outside", "the base shows through");
}

#[test]
fn the_starting_content_is_that_of_the_first_touch() {
    let (base, staged) = staged();
    staged.write(&path("/wiki/a.md"), b"one").unwrap();
    base.write(&path("/wiki/a.md"), b"edited outside").unwrap();
    staged.write(&path("/wiki/a.md"), b"two").unwrap();
    let changes = staged.changes();
    assert_eq!(changes.files[0].texts().unwrap(), (Some("a"), Some("two")));
}

#[test]
fn the_id_grows_with_every_write_and_discard() {
    let (_, staged) = staged();
    let mut last = staged.changes().id;
    let mut grown = || {
        let now = staged.changes().id;
        let grown = now > last;
        last = now;
        grown
    };
    staged.write(&path("/wiki/a.md"), b"1").unwrap();
    assert!(grown());
    staged.write(&path("/wiki/a.md"), b"1").unwrap();
    assert!(grown());
    staged.read(&path("/wiki/a.md")).unwrap();
    assert!(!grown());
    staged.discard(&path("/wiki/a.md"));
    assert!(grown());
    staged.rename(&path("/wiki/a.md"), &path("/wiki/c.md")).unwrap();
    assert!(grown());
    staged.delete(&path("/wiki/b.md")).unwrap();
    assert!(grown());
}

#[test]
fn a_renamed_file_is_one_change() {
    let (_, staged) = staged();
    staged.rename(&path("/wiki/a.md"), &path("/wiki/m.md")).unwrap();
    staged.rename(&path("/wiki/m.md"), &path("/wiki/n.md")).unwrap();
    staged.write(&path("/wiki/n.md"), b"changed too").unwrap();
    let changes = staged.changes();
    assert_eq!(kinds(&changes), [("/wiki/n.md", ChangeKind::Rename { from: path("/wiki/a.md") })]);
    assert_eq!(changes.files[0].texts().unwrap(), (Some("a"), Some("changed too")));
    staged.discard(&path("/wiki/n.md"));
    assert!(staged.changes().is_empty());
    assert_eq!(staged.read(&path("/wiki/a.md")).unwrap(), "a");
}

#[test]
fn a_new_file_just_moves() {
    let (_, staged) = staged();
    staged.write(&path("/wiki/new.md"), b"n").unwrap();
    staged.rename(&path("/wiki/new.md"), &path("/wiki/newer.md")).unwrap();
    assert_eq!(kinds(&staged.changes()), [("/wiki/newer.md", ChangeKind::Create)]);
    assert!(!staged.exists(&path("/wiki/new.md")).unwrap());
}

#[test]
fn a_new_file_at_the_old_path_of_a_rename_makes_two_changes() {
    let (_, staged) = staged();
    staged.rename(&path("/wiki/a.md"), &path("/wiki/z.md")).unwrap();
    staged.write(&path("/wiki/a.md"), b"stub").unwrap();
    assert_eq!(
        kinds(&staged.changes()),
        [("/wiki/a.md", ChangeKind::Modify), ("/wiki/z.md", ChangeKind::Create)]
    );
}

#[test]
fn a_rename_onto_a_deleted_file_changes_that_file() {
    let (_, staged) = staged();
    staged.delete(&path("/wiki/b.md")).unwrap();
    staged.rename(&path("/wiki/a.md"), &path("/wiki/b.md")).unwrap();
    let expected = [("/wiki/a.md", ChangeKind::Delete), ("/wiki/b.md", ChangeKind::Modify)];
    assert_eq!(kinds(&staged.changes()), expected);
    staged.discard(&path("/wiki/b.md"));
    assert_eq!(kinds(&staged.changes()), [("/wiki/a.md", ChangeKind::Delete)]);
}

#[test]
fn rules_hold_for_every_kind_of_write() {
    let (_, staged) = staged();
    let denied =
        |result: Result<(), crate::bundle::Error>| assert_eq!(result.unwrap_err().kind, ErrorKind::Denied);
    denied(staged.write(&path("/raw/s.md"), b""));
    denied(staged.write(&path("/raw/.hidden"), b""));
    denied(staged.delete(&path("/raw/s.md")));
    denied(staged.delete(&path("/raw")));
    denied(staged.delete(&BundlePath::root()));
    denied(staged.rename(&path("/raw/s.md"), &path("/wiki/s.md")));
    denied(staged.rename(&path("/wiki/a.md"), &path("/raw/a.md")));
    denied(staged.rename(&path("/wiki/a.md"), &path("/.git/hooks/x")));
    denied(staged.write(&path("/.workbench/config.toml"), b""));
    denied(staged.writable(&path("/raw/x.md")));
    assert_eq!(staged.write(&path("/wiki/CON.md"), b"").unwrap_err().kind, ErrorKind::Invalid);
    assert_eq!(
        staged.rename(&path("/wiki/a.md"), &path("/a\u{202E}.md")).unwrap_err().kind,
        ErrorKind::Invalid
    );
    assert!(staged.changes().is_empty());
    let reader = Staged::new(staged.base().clone(), Rules::reader());
    denied(reader.write(&path("/wiki/.x.md"), b""));
    denied(reader.write(&path("/wiki/a.md"), b""));
}

#[test]
fn a_file_that_is_badly_named_already_can_be_changed() {
    let base = Arc::new(MemoryBundle::new([("/wiki/what?.md", "w")]).unwrap());
    let staged = Staged::new(base, Rules::manager(true));
    staged.write(&path("/wiki/what?.md"), b"better").unwrap();
    staged.rename(&path("/wiki/what?.md"), &path("/wiki/what.md")).unwrap();
    assert_eq!(staged.changes().files.len(), 1);
}

#[test]
fn what_is_staged_while_changes_land_stays_pending() {
    let (base, staged) = staged();
    staged.write(&path("/wiki/a.md"), b"one").unwrap();
    staged.write(&path("/wiki/new.md"), b"n").unwrap();
    staged.write(&path("/wiki/b.md"), b"refused").unwrap();
    let shown = staged.changes();
    let mut decisions = approve_all(&shown);
    decisions.insert(path("/wiki/b.md"), Decision::Rejected { reason: "no".into() });
    staged.write(&path("/wiki/a.md"), b"two").unwrap();
    let applied = apply(&*base, &shown, &decisions);
    staged.settle(&shown, &applied);
    let left = staged.changes();
    assert_eq!(kinds(&left), [("/wiki/a.md", ChangeKind::Modify)]);
    assert_eq!(left.files[0].texts().unwrap(), (Some("one"), Some("two")));
    assert_eq!(apply(&*base, &left, &approve_all(&left)).landed, [path("/wiki/a.md")]);
}

#[test]
fn a_change_proposed_anew_survives_the_rejection_of_the_old_one() {
    let (base, staged) = staged();
    staged.write(&path("/wiki/a.md"), b"one").unwrap();
    let shown = staged.changes();
    staged.write(&path("/wiki/a.md"), b"better").unwrap();
    let decisions = Decisions::from([(path("/wiki/a.md"), Decision::Rejected { reason: "no".into() })]);
    staged.settle(&shown, &apply(&*base, &shown, &decisions));
    assert_eq!(staged.read(&path("/wiki/a.md")).unwrap(), "better");
}

#[test]
fn links_of_the_base_show_what_is_pending_behind_them_and_are_not_written_through() {
    let temp = tempfile::TempDir::new().unwrap();
    let root = temp.path();
    std::fs::create_dir_all(root.join("wiki/b")).unwrap();
    std::fs::create_dir(root.join("raw")).unwrap();
    std::fs::write(root.join("wiki/b/c.md"), "old").unwrap();
    symlink("b/c.md", root.join("wiki/alias.md")).unwrap();
    symlink("b", root.join("wiki/d")).unwrap();
    symlink("../raw", root.join("wiki/r")).unwrap();
    let staged = Staged::new(Arc::new(LocalBundle::open(root).unwrap()), Rules::manager(true));
    staged.write(&path("/wiki/b/c.md"), b"newer").unwrap();
    staged.write(&path("/wiki/b/e.md"), b"e").unwrap();
    assert_eq!(staged.read(&path("/wiki/alias.md")).unwrap(), "newer");
    assert_eq!(staged.read(&path("/wiki/d/e.md")).unwrap(), "e");
    let listed = staged.list(&path("/wiki/d")).unwrap();
    let listed: Vec<(&str, u64)> = listed.iter().map(|e| (e.path.as_str(), e.len)).collect();
    assert_eq!(listed, [("/wiki/d/c.md", 5), ("/wiki/d/e.md", 1)]);
    for alias in ["/wiki/alias.md", "/wiki/d/c.md", "/wiki/d/new.md", "/wiki/r/new.md"] {
        let error = staged.write(&path(alias), b"x").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{alias}");
        assert!(error.message.contains("is a symbolic link"), "{error}");
        assert_eq!(
            staged.rename(&path("/wiki/b/e.md"), &path(alias)).unwrap_err().kind,
            ErrorKind::Denied,
            "{alias}"
        );
    }
    assert_eq!(staged.delete(&path("/wiki/alias.md")).unwrap_err().kind, ErrorKind::Denied);
    staged.delete(&path("/wiki/b/c.md")).unwrap();
    let alias =
        staged.list(&path("/wiki")).unwrap().into_iter().find(|e| e.path == path("/wiki/alias.md")).unwrap();
    assert_eq!(alias.kind, EntryKind::Special("dangling symlink"));
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
}

const NAMES: [&str; 6] = ["/a.md", "/b.md", "/d/a.md", "/d/e/b.md", "/f/c.md", "/d.md"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        (name.clone(), 0..3u8).prop_map(|(n, c)| Step::Write(n, c)),
        name.clone().prop_map(Step::Delete),
        (name.clone(), name).prop_map(|(a, b)| Step::Rename(a, b)),
    ]
}

fn run(target: &dyn Write, step: &Step) -> Result<(), ErrorKind> {
    match step {
        Step::Write(name, content) => target.write(&path(NAMES[*name]), &[b'0' + content]),
        Step::Delete(name) => target.delete(&path(NAMES[*name])),
        Step::Rename(from, to) => target.rename(&path(NAMES[*from]), &path(NAMES[*to])),
    }
    .map_err(|e| e.kind)
}

fn files(bundle: &dyn Read) -> Vec<(Entry, Vec<u8>)> {
    let (entries, errors) = bundle.walk(&BundlePath::root()).unwrap();
    assert_eq!(errors, []);
    let files = entries.into_iter().filter(|e| e.kind == EntryKind::File);
    files.map(|e| (e.clone(), bundle.read_bytes(&e.path).unwrap())).collect()
}

proptest! {
    #[test]
    fn a_staged_bundle_reads_like_one_that_was_written_to(
        start in proptest::collection::vec(step(), 0..6),
        steps in proptest::collection::vec(step(), 0..14),
    ) {
        let (base, direct) = (Arc::new(MemoryBundle::default()), MemoryBundle::default());
        for step in &start {
            prop_assert_eq!(run(&*base, step), run(&direct, step));
        }
        let staged = Staged::new(base.clone(), open_rules());
        for step in &steps {
            prop_assert_eq!(run(&staged, step), run(&direct, step), "{:?}", step);
        }
        prop_assert_eq!(files(&staged), files(&direct));
        let changes = staged.changes();
        let before = staged.walk(&BundlePath::root()).unwrap();
        let applied = apply(&*base, &changes, &approve_all(&changes));
        prop_assert_eq!(&applied.failed, &vec![]);
        prop_assert_eq!(files(&*base), files(&direct));
        prop_assert_eq!(base.walk(&BundlePath::root()).unwrap(), before, "folders as well");
        staged.settle(&changes, &applied);
        prop_assert!(staged.changes().is_empty());
        prop_assert_eq!(files(&staged), files(&direct));
    }
}

#[test]
fn proposals_move_along_with_a_base_that_changed_or_stay_as_conflicts() {
    let base = Arc::new(
        MemoryBundle::new([
            ("/merge.md", "1\n2\n3\n"),
            ("/clash.md", "1\n"),
            ("/done.md", "1\n"),
            ("/same.md", "1\n"),
        ])
        .unwrap(),
    );
    let staged = Staged::new(base.clone(), Rules::manager(true));
    for (at, text) in
        [("/merge.md", "ONE\n2\n3\n"), ("/clash.md", "a\n"), ("/done.md", "d\n"), ("/same.md", "s\n")]
    {
        staged.write(&path(at), text.as_bytes()).unwrap();
    }
    for (at, text) in [("/merge.md", "1\n2\nTHREE\n"), ("/clash.md", "b\n"), ("/done.md", "d\n")] {
        base.write(&path(at), text.as_bytes()).unwrap();
    }
    let moved = staged.rebase(false);
    let kinds: Vec<(&str, &str)> = moved
        .iter()
        .map(|(at, rebased)| {
            let kind = match rebased {
                Rebased::Merged(_) => "merged",
                Rebased::Done => "done",
                Rebased::Conflict(_) => "conflict",
                Rebased::Unchanged => "unchanged",
            };
            (at.as_str(), kind)
        })
        .collect();
    assert_eq!(kinds, [("/clash.md", "conflict"), ("/done.md", "done"), ("/merge.md", "merged")]);
    let changes = staged.changes();
    assert_eq!(changes.files.len(), 3, "what is done is no change any more");
    let merged = changes.file(&path("/merge.md")).unwrap();
    assert_eq!(merged.before.as_deref(), Some(&b"1\n2\nTHREE\n"[..]));
    assert_eq!(merged.after.as_deref(), Some(&b"ONE\n2\nTHREE\n"[..]));
    assert_eq!(staged.rebase(false).len(), 1, "only the conflict is left");
}

#[test]
fn a_name_that_was_freed_and_filled_anew_is_moved_from_once() {
    let base = Arc::new(MemoryBundle::new([("/d.md", "d\n")]).unwrap());
    let staged = Staged::new(base.clone(), open_rules());
    staged.write(&path("/c.md"), b"c\n").unwrap();
    staged.rename(&path("/d.md"), &path("/a.md")).unwrap();
    staged.rename(&path("/c.md"), &path("/d.md")).unwrap();
    staged.rename(&path("/d.md"), &path("/b.md")).unwrap();
    let changes = staged.changes();
    let kinds: Vec<_> = changes.files.iter().map(|f| (f.path.as_str(), f.kind.clone())).collect();
    assert_eq!(kinds, [("/a.md", ChangeKind::Rename { from: path("/d.md") }), ("/b.md", ChangeKind::Create)]);
    let applied = apply(&*base, &changes, &approve_all(&changes));
    assert_eq!(applied.failed, []);
    assert_eq!(base.read(&path("/a.md")).unwrap() + &base.read(&path("/b.md")).unwrap(), "d\nc\n");
}

#[test]
fn a_link_to_a_protected_name_is_not_a_way_around_the_rule() {
    let temp = tempfile::TempDir::new().unwrap();
    let root = temp.path();
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::create_dir_all(root.join("wiki")).unwrap();
    std::fs::write(root.join(".git/config"), "token").unwrap();
    symlink("../.git/config", root.join("wiki/alias.md")).unwrap();
    symlink("../.git", root.join("wiki/g")).unwrap();
    let staged = Staged::new(Arc::new(LocalBundle::open(root).unwrap()), Rules::reader());
    for at in ["/wiki/alias.md", "/wiki/g/config"] {
        assert_eq!(staged.read(&path(at)).unwrap_err().kind, ErrorKind::Denied, "{at}");
    }
    assert_eq!(staged.list(&path("/wiki/g")).unwrap_err().kind, ErrorKind::Denied);
    assert_eq!(staged.list(&path("/wiki")).unwrap(), []);
}
