//! Decisions by hunk.

use super::*;
use crate::bundle::{MemoryBundle, Read, apply};
use proptest::prelude::*;

fn path() -> BundlePath {
    BundlePath::parse("/wiki/a.md").unwrap()
}

fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
    let kind = match (before, after) {
        (None, _) => ChangeKind::Create,
        (_, None) => ChangeKind::Delete,
        _ => ChangeKind::Modify,
    };
    let bytes = |text: Option<&str>| text.map(|t| Arc::from(t.as_bytes()));
    FileChange { path: path(), kind, before: bytes(before), after: bytes(after) }
}

fn set(file: FileChange) -> ChangeSet {
    ChangeSet { id: 1, files: vec![file] }
}

fn decide(file: &FileChange, decisions: &[HunkDecision]) -> Verdicts {
    let hunks = file.hunks().iter().map(|h| h.id).zip(decisions.iter().cloned()).collect();
    Verdicts::from([(path(), FileDecision::Hunks { shown: file.shown(), hunks })])
}

fn text(change: &FileChange) -> String {
    String::from_utf8(change.after.as_deref().unwrap().to_vec()).unwrap()
}

use HunkDecision::{Approved, PutOff};

fn rejected() -> HunkDecision {
    HunkDecision::Rejected { reason: "no".into() }
}

#[test]
fn each_hunk_goes_its_own_way() {
    let file = change(Some("a\nb\nc\nd\ne\nf\ng\n"), Some("A\nb\nC\nd\nE\nf\nG\n"));
    let own = HunkDecision::Replaced { text: "mine\n".into() };
    let resolved = resolve(&set(file.clone()), &decide(&file, &[Approved, rejected(), PutOff, own]));
    assert_eq!(text(&resolved.changes.files[0]), "A\nb\nc\nd\ne\nf\nmine\n");
    let left = resolved.left[&path()].as_ref().unwrap();
    assert_eq!(left.before.as_deref(), Some(&b"A\nb\nc\nd\ne\nf\nmine\n"[..]));
    assert_eq!(text(left), "A\nb\nc\nd\nE\nf\nmine\n");
    assert_eq!(
        (resolved.rejected[0].hunk.before.as_str(), resolved.rejected[0].reason.as_str()),
        ("c\n", "no")
    );
    assert_eq!(resolved.replaced[0].2, "mine\n");
}

#[test]
fn the_id_of_a_hunk_outlives_the_decision_of_others() {
    let file = change(Some("a\nb\nc\nb\n"), Some("a\nX\nc\nX\n"));
    let hunks = file.hunks();
    assert_eq!(hunks.len(), 2);
    assert_ne!(hunks[0].id, hunks[1].id, "equal hunks are told apart");
    let file = change(Some("a\nb\nc\nd\n"), Some("A\nb\nC\nd\n"));
    let resolved = resolve(&set(file.clone()), &decide(&file, &[Approved, PutOff]));
    let left = resolved.left[&path()].as_ref().unwrap();
    assert_eq!(left.hunks()[0].id, file.hunks()[1].id);
}

#[test]
fn the_frontmatter_is_a_hunk_of_its_own_and_its_keys_are_named() {
    let file = change(
        Some("---\ntitle: A\ngone: x\n---\n# A\n"),
        Some("---\ntitle: B\ntags: [t]\nend: y\n---\n# B\n"),
    );
    let hunks = file.hunks();
    assert_eq!(hunks.len(), 2);
    assert_eq!((hunks[0].old.clone(), hunks[1].old.clone()), (1..3, 4..5));
    assert_eq!(file.changed_keys(), ["title changed", "tags added", "end added", "gone removed"]);
    // A page that gets a frontmatter: its text stays apart from it.
    let file = change(Some("# A\n"), Some("---\ntype: T\n---\n# B\n"));
    let hunks = file.hunks();
    assert_eq!(hunks.iter().map(|h| h.after.as_str()).collect::<Vec<_>>(), ["---\ntype: T\n---\n", "# B\n"]);
    let resolved = resolve(&set(file.clone()), &decide(&file, &[Approved, rejected()]));
    assert_eq!(text(&resolved.changes.files[0]), "---\ntype: T\n---\n# A\n");
    assert_eq!(change(None, Some("---\ntype: T\n---\n# B\n")).hunks().len(), 1, "a new page is one");
}

#[test]
fn a_stale_picture_is_refused_as_a_whole() {
    let file = change(Some("a\n"), Some("b\n"));
    let verdicts = decide(&file, &[Approved]);
    let newer = change(Some("a\n"), Some("c\n"));
    let resolved = resolve(&set(newer), &verdicts);
    let bundle = MemoryBundle::new([("/wiki/a.md", "a\n")]).unwrap();
    let applied = apply(&bundle, &resolved.changes, &resolved.decisions);
    assert_eq!((applied.landed.len(), applied.failed.len()), (0, 1));
    assert_eq!(bundle.read(&path()).unwrap(), "a\n");
    let gone = resolve(&ChangeSet::default(), &verdicts);
    assert_eq!(apply(&bundle, &gone.changes, &gone.decisions).failed.len(), 1);
}

#[test]
fn a_file_is_created_or_deleted_only_when_its_hunk_is_approved() {
    let created = change(None, Some("a\n"));
    let resolved = resolve(&set(created.clone()), &decide(&created, &[rejected()]));
    assert!(resolved.changes.files.is_empty() && resolved.left[&path()].is_none());
    let resolved = resolve(&set(created.clone()), &decide(&created, &[PutOff]));
    assert!(resolved.changes.files.is_empty());
    assert_eq!(resolved.left[&path()].as_ref(), Some(&created));
    let deleted = change(Some("a\n"), None);
    let resolved = resolve(&set(deleted.clone()), &decide(&deleted, &[Approved]));
    assert_eq!(resolved.changes.files, std::slice::from_ref(&deleted));
    let resolved = resolve(&set(deleted.clone()), &decide(&deleted, &[PutOff]));
    assert!(resolved.changes.files.is_empty());
    assert_eq!(resolved.left[&path()].as_ref(), Some(&deleted));
    let resolved = resolve(&set(deleted.clone()), &decide(&deleted, &[rejected()]));
    assert!(resolved.changes.files.is_empty() && resolved.left[&path()].is_none());
}

#[test]
fn a_change_of_line_ends_is_named() {
    assert!(change(Some("a\r\nb\r\n"), Some("a\nb\n")).is_line_ends_only());
    assert!(!change(Some("a\r\nb\r\n"), Some("a\nc\n")).is_line_ends_only());
    assert!(!change(Some("a\n"), Some("a\n")).is_line_ends_only());
}

proptest! {
    #[test]
    fn any_decisions_land_what_they_say(
        before in "([abc]{0,2}(\n|\r\n)){0,8}[ab]?",
        after in "([abc]{0,2}(\n|\r\n)){0,8}[ab]?",
        choices in prop::collection::vec(0..3u8, 12),
    ) {
        prop_assume!(before != after);
        let file = change(Some(&before), Some(&after));
        let decisions: Vec<HunkDecision> =
            choices.iter().map(|c| match c { 0 => Approved, 1 => rejected(), _ => PutOff }).collect();
        let resolved = resolve(&set(file.clone()), &decide(&file, &decisions));
        let bundle = MemoryBundle::new([("/wiki/a.md", before.as_str())]).unwrap();
        let applied = apply(&bundle, &resolved.changes, &resolved.decisions);
        prop_assert!(applied.failed.is_empty(), "{:?}", applied.failed);
        let now = bundle.read(&path()).unwrap();
        let hunks = file.hunks();
        let chosen = |hunk: &FileHunk| decisions[hunks.iter().position(|h| h.id == hunk.id).unwrap()].clone();
        if hunks.iter().all(|h| chosen(h) == Approved) {
            prop_assert_eq!(&now, &after);
        }
        if !hunks.iter().any(|h| chosen(h) == Approved) {
            prop_assert_eq!(&now, &before);
        }
        // What is left, once approved, and what was rejected, together make the proposal again.
        match &resolved.left[&path()] {
            Some(left) => prop_assert_eq!(left.before.as_deref(), Some(now.as_bytes())),
            None => prop_assert!(hunks.iter().all(|h| chosen(h) != PutOff)),
        }
    }
}

#[test]
fn frontmatter_is_decided_as_one_block() {
    let before = "---\ntype: concept\ntitle: A\ntags: [x]\n---\n\n# A\n\nOld.\n";
    let after = "---\ntype: entity\ntitle: A\ntags: [x, y]\n---\n\n# A\n\nNew.\n";
    let file = change(Some(before), Some(after));
    let hunks = file.hunks();
    let lines: Vec<_> = hunks.iter().map(|h| (h.old.clone(), h.new.clone())).collect();
    assert_eq!(lines, [(1..4, 1..4), (8..9, 8..9)]);
    let resolved = resolve(&set(file.clone()), &decide(&file, &[Approved, rejected()]));
    assert_eq!(text(resolved.changes.file(&path()).unwrap()), after.replace("New", "Old"));
    // A fence that goes, or comes: hunks stay apart and make the one text of the other.
    for (before, after) in [
        ("---\ntype: c\ntitle: A\n---\n# A\n", "x\ntype: c\n# A\n"),
        ("x\ntype: c\n# A\n", "---\ntype: c\ntitle: A\n---\n# A\n"),
    ] {
        let file = change(Some(before), Some(after));
        let hunks = file.hunks();
        assert!(hunks.is_sorted_by(|a, b| a.old.end <= b.old.start && a.new.end <= b.new.start), "{hunks:?}");
        let resolved = resolve(&set(file.clone()), &decide(&file, &vec![Approved; hunks.len()]));
        assert_eq!(text(resolved.changes.file(&path()).unwrap()), after);
    }
}

#[test]
fn many_changes_of_a_long_page_are_found_one_by_one_and_quickly() {
    let line = |number: usize, word: &str| format!("Line {number} tells of {word}.\n");
    let before: String = (0..15_000).map(|number| line(number, "the pond")).collect();
    let word = |number: usize| if number.is_multiple_of(3) { "the sea gate" } else { "the pond" };
    let after: String = (0..15_000).map(|number| line(number, word(number))).collect();
    let begin = std::time::Instant::now();
    let found = hunks(&before, &after, (0, 0));
    let took = begin.elapsed();
    assert_eq!(found.len(), 5_000);
    assert!(found.iter().all(|hunk| hunk.old.len() == 1 && hunk.new.len() == 1));
    // Some 0.1 s without optimisation; that time which grows with the square is many seconds.
    assert!(took.as_secs() < 3, "{took:?}");
}
