use std::process::Command;

use proptest::prelude::*;

use super::*;

fn changed(old: &str, new: &str) -> Vec<(Change, String, Vec<String>)> {
    hunks(old, new)
        .into_iter()
        .flat_map(|h| h.lines)
        .filter(|l| l.change != Change::Context)
        .map(|l| {
            let marks = l.emphasis.iter().map(|s| s.of(&l.text).to_owned()).collect();
            (l.change, l.text, marks)
        })
        .collect()
}

#[test]
fn a_hunk_has_context_numbers_and_marks() {
    let old = "1\n2\n3\n4\nfive old words\n6\n7\n8\n9\n";
    let new = "1\n2\n3\n4\nfive new words\n6\n7\n8\n9\n";
    let hunks = hunks(old, new);
    assert_eq!(hunks.len(), 1);
    let hunk = &hunks[0];
    assert_eq!((hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len), (2, 7, 2, 7));
    let numbers: Vec<_> = hunk.lines.iter().map(|l| (l.old, l.new)).collect();
    assert_eq!(numbers[2..5], [(Some(4), Some(4)), (Some(5), None), (None, Some(5))]);
    assert_eq!(
        changed(old, new),
        [
            (Change::Removed, "five old words".to_owned(), vec!["old".to_owned()]),
            (Change::Added, "five new words".to_owned(), vec!["new".to_owned()]),
        ]
    );
}

#[test]
fn marks_survive_blocks_of_unlike_size() {
    let old = "the quick brown fox\n";
    let new = "something else here\nthe quick red fox\nand yet more lines\n日本\nfour\nfive\n";
    let marks: Vec<_> = changed(old, new).into_iter().filter(|c| !c.2.is_empty()).collect();
    assert_eq!(
        marks,
        [
            (Change::Removed, "the quick brown fox".to_owned(), vec!["brown".to_owned()]),
            (Change::Added, "the quick red fox".to_owned(), vec!["red".to_owned()]),
        ]
    );
}

#[test]
fn unlike_lines_are_no_pair() {
    assert!(changed("alpha beta\n", "gamma delta\n").iter().all(|c| c.2.is_empty()));
}

#[test]
fn line_ends_are_part_of_a_line() {
    assert!(hunks("a\n", "a\n").is_empty());
    let endings = |old: &str, new: &str| -> Vec<_> {
        hunks(old, new).into_iter().flat_map(|h| h.lines).map(|l| (l.change, l.ending)).collect()
    };
    assert_eq!(
        endings("a\r\n", "a\n"),
        [(Change::Removed, Some(Ending::CrLf)), (Change::Added, Some(Ending::Lf))]
    );
    assert_eq!(endings("a", "a\n"), [(Change::Removed, None), (Change::Added, Some(Ending::Lf))]);
    assert_eq!(endings("", "a"), [(Change::Added, None)]);
}

#[test]
fn far_changes_are_separate_hunks_and_apply_one_by_one() {
    let old: String = (0..30).map(|i| format!("{i}\n")).collect();
    let new = old.replace("3\n4\n", "3\nx\n").replace("25\n", "y\n");
    let hunks = hunks(&old, &new);
    assert_eq!(hunks.len(), 2);
    assert_eq!(apply(&old, &hunks), Some(new));
    assert_eq!(apply(&old, &hunks[1..]), Some(old.replace("25\n", "y\n")));
    assert_eq!(apply("other\n", &hunks), None);
}

#[test]
fn a_patch_is_written_as_git_writes_it() {
    let patch = unified("a b/c.md", Some("x\n"), Some("x\ny"));
    let want = "diff --git a/a b/c.md b/a b/c.md\n--- a/a b/c.md\t\n+++ b/a b/c.md\t\n@@ -1 +1,2 @@\n x\n+y\n\\ No newline at end of \
                file\n";
    assert_eq!(patch, want);
    let patch = unified("/é\t\"\\.md", None, Some("x\n"));
    let want = "diff --git \"a/\\303\\251\\t\\\"\\\\.md\" \"b/\\303\\251\\t\\\"\\\\.md\"\nnew file mode 100644\n--- /dev/null\n+++ \
                \"b/\\303\\251\\t\\\"\\\\.md\"\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(patch, want);
    assert_eq!(unified("x", Some("a"), Some("a")), "");
    assert_eq!(unified("x", None, None), "");
}

#[test]
fn git_apply_takes_every_patch_byte_for_byte() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: no git");
        return;
    }
    let sides: [Option<&str>; 9] = [
        None,
        Some(""),
        Some("a"),
        Some("a\n"),
        Some("a\r\nb\r\nc"),
        Some("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"),
        Some("a\nb\nX\nd\ne\nf\ng\nh\ni\nY"),
        Some("a\r\nb\nc\r\n\r\n"),
        Some("lone\rreturn\n-- a\n+++ b\n\u{c}\n"),
    ];
    for (i, old) in sides.iter().enumerate() {
        for (j, new) in sides.iter().enumerate() {
            let names = [
                "plain.md",
                "a b/my page.md",
                "é日.md",
                "q\"uo\\te.md",
                "tab\tname.md",
                "-dash b/ b.md",
                " lead.md",
            ];
            let name = names[(i + j) % names.len()];
            git_applies(name, *old, *new);
        }
    }
    for name in ["a b.md", "é.md", "tab\t.md", "\"q\".md", "x\u{7f}y.md"] {
        git_applies(name, None, Some("x\n"));
        git_applies(name, Some("x\n"), Some("y\n"));
        git_applies(name, Some("x\n"), None);
    }
}

fn git_applies(name: &str, old: Option<&str>, new: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    if let Some(old) = old {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, old).unwrap();
    }
    let patch = unified(name, old, new);
    if patch.is_empty() {
        assert_eq!(old, new);
        return;
    }
    let patch_file = folder.path().join("the.patch");
    std::fs::write(&patch_file, &patch).unwrap();
    let out = Command::new("git")
        .args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"])
        .arg(&patch_file)
        .current_dir(folder.path())
        .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
        .output()
        .unwrap();
    assert!(out.status.success(), "{name:?} {patch:?}: {}", String::from_utf8_lossy(&out.stderr));
    let now = std::fs::read(&file).ok();
    assert_eq!(now.as_deref(), new.map(str::as_bytes), "{patch:?}");
}

#[test]
fn a_large_rewrite_ends() {
    let old: String = (0..20_000).map(|i| format!("line {} {}\n", i % 7, i % 5)).collect();
    let new: String = (0..20_000).map(|i| format!("line {} {}\n", i % 5, i % 11)).collect();
    let hunks = hunks(&old, &new);
    assert_eq!(apply(&old, &hunks), Some(new));
    let long = "word ".repeat(1_000_000);
    assert_eq!(changed(&long, &format!("{long}x")).len(), 2);
}

proptest! {
    #[test]
    fn hunks_turn_old_into_new(old in "([ab]{0,2}(\n|\r\n|\r| )){0,30}", new in "([ab]{0,2}(\n|\r\n|\r| )){0,30}") {
        let hunks = hunks(&old, &new);
        prop_assert_eq!(apply(&old, &hunks), Some(new.clone()));
        for hunk in &hunks {
            let count = |change| hunk.lines.iter().filter(|l| l.change != change).count();
            prop_assert_eq!(count(Change::Added), hunk.old_len);
            prop_assert_eq!(count(Change::Removed), hunk.new_len);
            for line in &hunk.lines {
                let mut at = 0;
                for span in &line.emphasis {
                    prop_assert!(span.start >= at && span.start < span.end);
                    prop_assert!(line.text.get(span.start..span.end).is_some());
                    at = span.end;
                }
            }
        }
    }
}

/// The marked words of the only pair of two lines.
fn marked(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let (in_old, in_new, _) = emphasis(&[old], &[new], deadline);
    let words = |text: &str, marks: &Marks| -> Vec<String> {
        marks.get(&0).into_iter().flatten().map(|span| span.of(text).to_owned()).collect()
    };
    (words(old, &in_old), words(new, &in_new))
}

#[test]
fn a_small_change_of_a_line_is_marked_by_whole_words() {
    let of = |old: &str, new: &str| {
        let (old, new) = marked(old, new);
        (old.join("|"), new.join("|"))
    };
    let is = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    assert_eq!(of("It tells of the pond today.", "It tells of the sea gate today."), is("pond", "sea gate"));
    assert_eq!(of("the old pond", "the old ponder"), is("pond", "ponder"));
    assert_eq!(of("one two", "one two three"), is("", " three"));
    assert_eq!(of("one  two", "one two"), is("  ", " "));
    let (flood, ebb) = ("wenn morgens die Flut steigt", "wenn morgens die Ebbe kommt");
    assert_eq!(of(flood, ebb), is("Flut|steigt", "Ebbe|kommt"));
    assert_eq!(of("a é b", "a e\u{301} b"), is("é", "e\u{301}"));
    assert_eq!(of("x 日本 y", "x 日曜 y"), is("本", "曜"));
    assert_eq!(of("all other", "nothing same").0, "");
}
