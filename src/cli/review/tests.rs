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

fn asked(changes: &ChangeSet, look: Look, answers: &str) -> (Resolved, String) {
    let mut out = Vec::new();
    let edit = |text: &str| Ok(text.to_uppercase());
    let mut talk = Talk { input: &mut answers.as_bytes(), out: &mut out, edit: &edit };
    let resolved = ask(changes, look, &mut talk).unwrap();
    (resolved, String::from_utf8(out).unwrap())
}

/// Decisions and what was printed.
fn answered(answers: &str) -> (Resolved, String) {
    asked(&changes(), PLAIN, answers)
}

#[test]
fn yes_approves_exactly_what_was_shown() {
    let (resolved, _) = answered("y\n");
    assert_eq!(resolved, approve_all(&changes()));
    let decisions = resolved.decisions;
    assert_eq!(decisions[&path("/a.md")], Decision::Approved { shown: changes().files[0].shown() });
    assert_eq!(decisions.len(), 3);
}

#[test]
fn no_rejects_everything_with_the_reason() {
    assert_eq!(answered("N\nwrong source\n").0, reject_all(&changes(), "wrong source"));
}

#[test]
fn hunk_by_hunk_decides_each_and_quit_leaves_the_rest_undecided() {
    let (resolved, _) = answered("h\nyes\nn\ntoo long\nq\n");
    let decisions = resolved.decisions;
    assert_eq!(decisions.len(), 2);
    assert!(matches!(decisions[&path("/a.md")], Decision::Approved { .. }));
    assert_eq!(decisions[&path("/b.md")], Decision::Rejected { reason: "too long".to_owned() });
}

fn one(before: &str, after: &str) -> ChangeSet {
    let file = FileChange {
        path: path("/wiki/a.md"),
        kind: ChangeKind::Modify,
        before: Some(before.as_bytes().into()),
        after: Some(after.as_bytes().into()),
    };
    ChangeSet { id: 1, files: vec![file] }
}

fn landing(resolved: &Resolved) -> &str {
    resolved.changes.files[0].texts().unwrap().1.unwrap()
}

#[test]
fn each_change_of_a_file_goes_its_own_way() {
    let set = one("a\nb\nc\nd\ne\nf\ng\n", "A\nb\nC\nd\nee\nf\nG\n");
    let (resolved, shown) = asked(&set, PLAIN, "h\ny\nn\nno source\ne\nl\n");
    assert_eq!(landing(&resolved), "A\nb\nc\nd\nEE\nf\ng\n");
    assert_eq!(resolved.rejected[0].reason, "no source");
    assert_eq!(resolved.left[&path("/wiki/a.md")].as_ref().unwrap().hunks().len(), 1);
    assert!(
        shown.contains("@@ -3,1 +3,1 @@\n a\n b\n-c\n+C\n d\n e\n f\n(2/4) Apply this change"),
        "{shown}"
    );
    let mut out = Vec::new();
    let applied = Applied { landed: vec![path("/wiki/a.md")], ..Applied::default() };
    report(&resolved, &applied, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "changed wiki/a.md, in part\nrejected 1 change of wiki/a.md\nwritten with your text: 1 change of wiki/a.md\nleft undecided in part: wiki/a.md\n"
    );
}

#[test]
fn the_rest_of_a_file_can_be_decided_at_once_and_a_decision_taken_back() {
    let set = one("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    assert_eq!(landing(&asked(&set, PLAIN, "h\nn\n\na\n").0), "a\nb\nC\nd\nE\n");
    assert_eq!(landing(&asked(&set, PLAIN, "h\ny\nd\nno\n").0), "A\nb\nc\nd\ne\n");
    assert_eq!(landing(&asked(&set, PLAIN, "h\n?\ny\ny\nk\nn\n\ny\n").0), "A\nb\nc\nd\nE\n");
}

#[test]
fn what_would_be_torn_apart_is_said_before_it_is_written() {
    let mut set = one("# A\n", "# A\n\n[new](new.md)\n");
    set.files.push(FileChange {
        path: path("/wiki/new.md"),
        kind: ChangeKind::Create,
        before: None,
        after: Some(b"# New\n".as_slice().into()),
    });
    let (resolved, shown) = asked(&set, PLAIN, "h\ny\nn\nno\nn\n");
    assert!(shown.contains("! wiki/a.md would link to wiki/new.md, which is not written.\n"), "{shown}");
    assert!(resolved.decisions.is_empty());
    assert_eq!(asked(&set, PLAIN, "h\ny\nn\nno\ny\n").0.decisions.len(), 2);
}

#[test]
fn changed_keys_of_the_frontmatter_are_named() {
    let set =
        one("---\ntype: A\ntitle: One\n---\n# One\n", "---\ntype: A\ntitle: Two\ntags: [x]\n---\n# One\n");
    let (_, shown) = asked(&set, PLAIN, "h\nq\n");
    assert!(shown.contains(" frontmatter: title changed, tags added\n"), "{shown}");
}

#[test]
fn the_end_of_the_input_approves_nothing() {
    assert!(answered("").0.decisions.is_empty());
    assert!(answered("h\n").0.decisions.is_empty());
    assert!(answered("what\nyeah\n").0.decisions.is_empty());
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
    let resolved = Resolved::whole(changes, Decisions::new());
    report(&resolved, &Applied { landed, ..Applied::default() }, &mut out).unwrap();
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
    let (_, said) = asked(&changes, look, "n\n\n");
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
