use super::*;
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

const PLAIN: Look = Look { color: false, wiki: false };

fn changes() -> ChangeSet {
    let file = |name: &str, kind, before: Option<&str>, after: Option<&str>| FileChange {
        path: path(name),
        kind,
        before: before.map(|t| t.as_bytes().into()),
        after: after.map(|t| t.as_bytes().into()),
    };
    ChangeSet {
        id: 1,
        files: vec![
            file("/a.md", ChangeKind::Create, None, Some("new\n")),
            file("/b.md", ChangeKind::Modify, Some("one\ntwo\n"), Some("one\n\x1b]0;evil\x07\n")),
            file("/c.md", ChangeKind::Delete, Some("old\n"), None),
        ],
    }
}

/// Decisions and what was printed.
fn answered(answers: &str) -> (Decisions, String) {
    let mut out = Vec::new();
    let decisions = ask(&changes(), PLAIN, &mut answers.as_bytes(), &mut out).unwrap();
    (decisions, String::from_utf8(out).unwrap())
}

#[test]
fn yes_approves_exactly_what_was_shown() {
    let (decisions, _) = answered("y\n");
    assert_eq!(decisions, approve_all(&changes()));
    assert_eq!(decisions[&path("/a.md")], Decision::Approved { shown: changes().files[0].shown() });
    assert_eq!(decisions.len(), 3);
}

#[test]
fn no_rejects_everything_with_the_reason() {
    let (decisions, _) = answered("N\nwrong source\n");
    assert_eq!(decisions, reject_all(&changes(), "wrong source"));
}

#[test]
fn file_by_file_decides_each_and_quit_leaves_the_rest_undecided() {
    let (decisions, _) = answered("f\nyes\nn\ntoo long\nq\n");
    assert_eq!(decisions.len(), 2);
    assert!(matches!(decisions[&path("/a.md")], Decision::Approved { .. }));
    assert_eq!(decisions[&path("/b.md")], Decision::Rejected { reason: "too long".to_owned() });
}

#[test]
fn the_end_of_the_input_approves_nothing() {
    assert!(answered("").0.is_empty());
    assert!(answered("f\n").0.is_empty());
    assert!(answered("what\nyeah\n").0.is_empty());
}

#[test]
fn the_diff_is_shown_before_the_question_and_cannot_drive_the_terminal() {
    let (_, shown) = answered("y\n");
    for part in ["new a.md", "+new", "-two", "deleted c.md", "3 files: 1 new, 1 changed, 1 deleted"] {
        assert!(shown.find(part).unwrap() < shown.find("Apply all?").unwrap(), "{part}");
    }
    assert!(!shown.contains('\x1b') && !shown.contains('\x07'), "{shown}");
}

#[test]
fn content_that_is_not_text_is_named_and_counted() {
    let changes = ChangeSet {
        id: 1,
        files: vec![FileChange {
            path: path("/x.bin"),
            kind: ChangeKind::Create,
            before: None,
            after: Some([0xff, 0xfe].as_slice().into()),
        }],
    };
    let mut out = Vec::new();
    show(&changes, PLAIN, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("not text: 0 bytes before, 2 after"));
}

#[test]
fn the_report_says_what_was_done_to_each_file() {
    let mut changes = changes();
    changes.files.push(FileChange {
        path: path("/e.md"),
        kind: ChangeKind::Rename { from: path("/d.md") },
        before: Some(b"d".as_slice().into()),
        after: Some(b"d".as_slice().into()),
    });
    let landed = changes.files.iter().map(|f| f.path.clone()).collect();
    let mut out = Vec::new();
    report(&changes, &Applied { landed, ..Applied::default() }, &mut out).unwrap();
    let said = String::from_utf8(out).unwrap();
    assert_eq!(said, "created a.md\nchanged b.md\ndeleted c.md\nrenamed d.md to e.md\n");
}

#[test]
fn a_file_that_no_wiki_needs_is_marked_where_it_is_shown_and_before_the_question() {
    let mut changes = changes();
    changes.files.retain(|f| f.kind == ChangeKind::Create);
    for name in ["/etc/passwd", "/wiki/foo.exe", "/wiki/good.md"] {
        let mut file = changes.files[0].clone();
        file.path = path(name);
        changes.files.push(file);
    }
    changes.files.remove(0);
    let look = Look { color: false, wiki: true };
    let mut out = Vec::new();
    ask(&changes, look, &mut "n\n\n".as_bytes(), &mut out).unwrap();
    let said = String::from_utf8(out).unwrap();
    let passwd = "lies outside wiki/, where the pages are";
    let program = "is named like a program, and nothing in a wiki is run";
    for part in [
        format!("new etc/passwd\n! This file {passwd}.\n"),
        format!("new wiki/foo.exe\n! This file {program}.\n"),
        format!("! etc/passwd {passwd}; look at it before you let it be written.\n"),
        format!("! wiki/foo.exe {program}; look at it before you let it be written.\nApply all?"),
        "new wiki/good.md\n@@".to_owned(),
    ] {
        assert!(said.contains(&part), "{part}\n{said}");
    }
}
