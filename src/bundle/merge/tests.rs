//! Proposals over files that moved on.

use super::*;
use crate::okf::BundlePath;
use proptest::prelude::*;

fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
    let kind = match (before, after) {
        (None, _) => ChangeKind::Create,
        (_, None) => ChangeKind::Delete,
        _ => ChangeKind::Modify,
    };
    let bytes = |text: Option<&str>| text.map(|t| Arc::from(t.as_bytes()));
    FileChange { path: BundlePath::parse("/a.md").unwrap(), kind, before: bytes(before), after: bytes(after) }
}

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";

#[test]
fn d07_changes_of_different_lines_are_merged_and_proposed_anew() {
    let change = change(Some(BASE), Some("ONE\ntwo\nthree\nfour\nfive\n"));
    let now = "one\ntwo\nthree\nfour\nFIVE\n";
    let Rebased::Merged(merged) = rebase(&change, Some(now.as_bytes())) else { panic!() };
    assert_eq!(merged.before.as_deref(), Some(now.as_bytes()));
    assert_eq!(merged.after.as_deref(), Some(&b"ONE\ntwo\nthree\nfour\nFIVE\n"[..]));
    assert_ne!(merged.shown(), change.shown(), "it must be looked at again");
}

#[test]
fn d07_changes_of_the_same_line_are_a_conflict_with_all_three_sides() {
    let change = change(Some(BASE), Some("one\ntwo\nTHREE\nfour\nfive\n"));
    let Rebased::Conflict(conflicts) = rebase(&change, Some(b"one\ntwo\n3\nfour\nfive\n")) else { panic!() };
    assert_eq!(
        conflicts,
        [Conflict {
            base: Some("three\n".into()),
            proposed: Some("THREE\n".into()),
            now: Some("3\n".into())
        }]
    );
}

#[test]
fn nothing_to_do_is_told_from_something_to_do() {
    let edit = change(Some("a\n"), Some("b\n"));
    assert_eq!(rebase(&edit, Some(b"a\n")), Rebased::Unchanged);
    assert_eq!(rebase(&edit, Some(b"b\n")), Rebased::Done);
    assert_eq!(rebase(&change(Some("a\n"), None), None), Rebased::Done);
}

#[test]
fn d07_deletions_and_creations_that_meet_other_changes_are_conflicts_of_the_whole_file() {
    for (change, now) in [
        (change(Some("a\n"), Some("b\n")), None),
        (change(Some("a\n"), None), Some("c\n")),
        (change(Some("a\n"), Some("b\n")), Some("\u{0}\u{1}")),
    ] {
        let rebased = rebase(&change, now.map(str::as_bytes));
        let Rebased::Conflict(conflicts) = rebased else { panic!("{rebased:?}") };
        assert_eq!(conflicts.len(), 1);
    }
    assert!(matches!(rebase(&change(Some("a\n"), Some("b\n")), Some(b"\xff")), Rebased::Conflict(_)));
}

#[test]
fn where_changes_meet_the_proposal_stands_over_the_file_as_it_is_and_the_rest_of_both_is_kept() {
    let edit = change(Some(BASE), Some("ONE\ntwo\nTHREE\nfour\nfive\n"));
    let now = "one\ntwo\n3\nfour\nfive\nsix\n";
    let over_now = |change: &FileChange, now: Option<&str>| {
        over(change, now.map(str::as_bytes)).map(|after| String::from_utf8(after.to_vec()).unwrap())
    };
    assert_eq!(over_now(&edit, Some(now)).unwrap(), "ONE\ntwo\nTHREE\nfour\nfive\nsix\n");
    assert_eq!(over_now(&change(Some("a\n"), Some("b\n")), None).unwrap(), "b\n", "deleted meanwhile");
    assert_eq!(over_now(&change(Some("a\n"), None), Some("c\n")), None, "to be deleted all the same");
    assert_eq!(over_now(&change(None, Some("b\n")), Some("c\n")).unwrap(), "b\n", "made by both");
}

proptest! {
    #[test]
    fn a_merge_keeps_both_sides(
        head in "([ab]\n){1,4}", middle in "(m\n){2,4}", tail in "([cd]\n){1,4}", left in "(x\n){1,2}", right in "(y\n){1,2}",
    ) {
        let base = format!("{head}{middle}{tail}");
        let change = change(Some(&base), Some(&format!("{left}{base}")));
        let now = format!("{base}{right}");
        let Rebased::Merged(merged) = rebase(&change, Some(now.as_bytes())) else { panic!() };
        let both = format!("{left}{base}{right}");
        prop_assert_eq!(merged.after.as_deref(), Some(both.as_bytes()));
    }
}
