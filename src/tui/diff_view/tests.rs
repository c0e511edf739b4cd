//! Rows of a change.

use std::sync::Arc;

use super::*;
use crate::bundle::ChangeKind;
use crate::okf::BundlePath;

fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
    FileChange {
        path: BundlePath::parse("/a.md").unwrap(),
        kind: ChangeKind::Modify,
        before: before.map(|t| Arc::from(t.as_bytes())),
        after: after.map(|t| Arc::from(t.as_bytes())),
    }
}

fn text(view: &Diff) -> Vec<String> {
    view.lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
}

fn unified(change: &FileChange, columns: u16) -> Diff {
    render(change, &Replaced::new(), Look { columns, ..Look::default() }, &Theme::plain())
}

#[test]
fn signs_numbers_and_hunk_heads() {
    let view = unified(&change(Some("a\nb\n"), Some("a\nc\n")), 40);
    assert_eq!(text(&view), ["@@ -1,2 +1,2 @@", " 1   a", " 2 - b", " 2 + c"]);
    assert_eq!(view.hunks.first(), Some(&(2..4)));
}

#[test]
fn each_run_of_changed_lines_is_a_hunk_and_folded_lines_are_counted() {
    let before: String = (1..=30).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n10\n", "\nten\n").replace("\n12\n", "\n").replace("\n30\n", "\nend\n");
    let file = change(Some(&before), Some(&after));
    let view = unified(&file, 40);
    let rows = text(&view);
    assert_eq!(rows[0], "⋯ 6 unchanged lines are not shown");
    assert_eq!(rows[1], "@@ -7,9 +7,8 @@");
    assert_eq!((&rows[5][..], &rows[6][..], &rows[8][..]), ("10 - 10", "10 + ten", "12 - 12"));
    assert_eq!(view.hunks.len(), 3);
    assert_eq!(view.hunks[..2], [5..7, 8..9]);
    assert!(rows.contains(&"⋯ 11 unchanged lines are not shown".to_owned()), "{rows:?}");
    let look = Look { columns: 40, whole: true, ..Look::default() };
    let whole = text(&render(&file, &Replaced::new(), look, &Theme::plain()));
    assert!(!whole.iter().any(|row| row.contains("not shown")) && whole.len() > 30, "{whole:?}");
}

#[test]
fn t54_nothing_is_cut_and_line_ends_are_named() {
    let long = format!("{}\r\nend", "x".repeat(50));
    let file = change(None, Some(&long));
    for split in [false, true] {
        let look = Look { columns: 40, split, ..Look::default() };
        let rows = text(&render(&file, &Replaced::new(), look, &Theme::plain()));
        assert_eq!(rows.iter().map(|r| r.matches('x').count()).sum::<usize>(), 50);
        assert!(rows.iter().any(|r| r.ends_with('␍')), "{rows:?}");
        assert!(rows.join(" ").contains("(no line end)"), "{rows:?}");
        assert!(rows.iter().all(|r| width::width(r) <= 40), "{rows:?}");
    }
}

#[test]
fn hidden_characters_are_named() {
    let view = unified(&change(Some(""), Some("\u{feff}a\u{202e}b\tc  \n")), 40);
    assert!(text(&view).iter().any(|r| r.contains("<U+FEFF>a<U+202E>b→   c··")), "{:?}", text(&view));
}

#[test]
fn t58_a_carriage_return_is_a_mark_and_wipes_nothing() {
    let view = unified(&change(Some("one\n"), Some("one\r\n")), 40);
    let rows = text(&view);
    assert!(rows.contains(&" 1 - one".to_owned()) && rows.contains(&" 1 + one␍".to_owned()), "{rows:?}");
    assert!(rows.iter().all(|r| !r.contains('\r')));
}

#[test]
fn t59_a_change_of_line_ends_alone_is_named() {
    let view = unified(&change(Some("a\r\nb\r\n"), Some("a\nb\n")), 40);
    assert_eq!(text(&view)[0], "only line ends change");
}

#[test]
fn side_by_side_puts_versions_of_a_line_next_to_each_other() {
    let file = change(Some("the old mill turns\ngone\n"), Some("new\nthe new mill turns\n"));
    let look = Look { columns: 61, split: true, ..Look::default() };
    let view = render(&file, &Replaced::new(), look, &Theme::plain());
    let rows = text(&view);
    let with = |part: &str| rows.iter().find(|r| r.contains(part)).unwrap();
    assert!(with("the old mill").contains("│  2 + the new mill turns"), "{rows:?}");
    assert!(with("gone").ends_with('│'), "{rows:?}");
    assert!(rows.iter().all(|r| width::width(r) <= 61), "{rows:?}");
}

#[test]
fn keys_of_the_frontmatter_that_change_are_named() {
    let file = change(
        Some("---\ntitle: A\nold: x\n---\n\nText.\n"),
        Some("---\ntitle: B\ntags: [a]\n---\n\nText.\n"),
    );
    let head = &text(&unified(&file, 90))[0];
    assert!(head.ends_with("frontmatter: title changed, tags added, old removed"), "{head}");
}

#[test]
fn what_stays_in_a_block_of_frontmatter_is_shown_as_it_is() {
    let file = change(
        Some("---\ntype: A\ntitle: T\ntags: []\n---\n"),
        Some("---\ntype: B\ntitle: T\ntags: [a]\n---\n"),
    );
    let view = unified(&file, 90);
    assert_eq!((view.hunks.len(), view.hunks[0].clone()), (1, 2..7));
    let rows = text(&view);
    assert_eq!(
        rows[2..7],
        [" 2 - type: A", " 2 + type: B", " 3   title: T", " 4 - tags: []", " 4 + tags: [a]"]
    );
}

#[test]
fn the_persons_text_stands_where_the_proposed_stood() {
    let file = change(Some("a\nb\n"), Some("a\nc\n"));
    let replaced = Replaced::from([(file.hunks()[0].id, "mine\n".to_owned())]);
    let look = Look { columns: 40, ..Look::default() };
    let rows = text(&render(&file, &replaced, look, &Theme::plain()));
    assert!(rows.contains(&" 2 + mine".to_owned()) && !rows.contains(&" 2 + c".to_owned()), "{rows:?}");
}

/// The styles of a row, by the text that has them.
fn styles(view: &Diff, row: &str) -> Vec<(String, Style)> {
    let line = view.lines.iter().find(|line| line.to_string().contains(row)).unwrap();
    line.spans.iter().map(|span| (span.content.to_string(), span.style)).collect()
}

#[test]
fn the_source_is_coloured_by_what_its_parts_are() {
    let theme = Theme::ansi();
    let before = "---\ntitle: Old\n---\n\n# Head\n\nSee [a](b.md) and `c`.\n\n```rust\nfn x() {}\n```\n";
    let after = before.replace("Old", "New").replace("and", "or").replace("fn x() {}", "fn y() -> u8 { 1 }");
    for split in [false, true] {
        let look = Look { columns: 120, split, whole: true };
        let view = render(&change(Some(before), Some(&after)), &Replaced::new(), look, &theme);
        let has = |row: &str, text: &str, style: Style| {
            let found = styles(&view, row);
            assert!(found.iter().any(|(t, s)| t == text && *s == style), "{row}: {text}: {found:?}");
        };
        has("# Head", "# Head", theme.heading(1));
        has("See", "[a](b.md)", theme.removed.patch(theme.link));
        has("See", "`c`", theme.removed.patch(theme.code_type));
        has("See", "and", theme.removed_word);
        has("fn y", "fn", theme.added.patch(theme.code_keyword));
        has("- title", "title", theme.removed.patch(theme.code_keyword));
    }
}

#[test]
fn green_and_red_say_only_what_came_and_what_went() {
    let theme = Theme::ansi();
    let text = "```rust\nlet a = \"text\"; // why\n```\n\n**bold** <b>x</b>\n";
    let view = render(
        &change(Some(text), Some(&format!("{text}end\n"))),
        &Replaced::new(),
        Look { columns: 80, whole: true, ..Look::default() },
        &theme,
    );
    let told = [theme.added.fg, theme.removed.fg];
    for line in view.lines.iter().filter(|line| !line.to_string().contains("end")) {
        assert!(line.spans.iter().all(|s| !told.contains(&s.style.fg)), "{line:?}");
    }
}

#[test]
fn the_persons_text_is_coloured_as_what_it_is() {
    let theme = Theme::ansi();
    let file = change(Some("a\n"), Some("b\nc\n"));
    let hunk = file.hunks()[0].id;
    let replaced = Replaced::from([(hunk, "plain\n## Mine\n".to_owned())]);
    let look = Look { columns: 60, ..Look::default() };
    let view = render(&file, &replaced, look, &theme);
    let found = styles(&view, "## Mine");
    assert!(found.contains(&("## Mine".to_owned(), theme.added.patch(theme.heading(2)))), "{found:?}");
}
