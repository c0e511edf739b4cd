//! Frontmatter edits: what they write, and what they leave alone.

use super::*;
use proptest::prelude::*;

fn appended(page: &str, key: &str, items: &[&str]) -> Option<String> {
    let items: Vec<String> = items.iter().map(|&item| item.to_owned()).collect();
    append(page, &Frontmatter::parse(page), key, &items).map(|splice| apply(page, [splice]))
}

fn set_to(page: &str, key: &str, value: &str) -> Option<String> {
    set(page, &Frontmatter::parse(page), key, value).map(|splice| apply(page, [splice]))
}

fn without(page: &str, key: &str, nth: usize) -> Option<String> {
    remove_item(page, &Frontmatter::parse(page), key, nth).map(|splice| apply(page, [splice]))
}

#[test]
fn a_list_takes_items_in_the_style_it_is_written_in() {
    for (before, after) in [
        ("---\ntags: [a]\n---\n", "---\ntags: [a, x, y]\n---\n"),
        ("---\ntags: [ a , ]\n---\n", "---\ntags: [ a ,x, y ]\n---\n"),
        ("---\ntags: []\n---\n", "---\ntags: [x, y]\n---\n"),
        (
            "---\r\ntags:\r\n- a # c\r\n- b\r\nk: 1\r\n---\r\n",
            "---\r\ntags:\r\n- a # c\r\n- b\r\n- x\r\n- y\r\nk: 1\r\n---\r\n",
        ),
        ("---\ntags:\n    -   a\n---\n", "---\ntags:\n    -   a\n    - x\n    - y\n---\n"),
        ("---\ntags: a\n---\n", "---\ntags: [a, x, y]\n---\n"),
        ("---\ntags:\n---\n", "---\ntags: [x, y]\n---\n"),
        ("---\nk: 1\n---\nB\n", "---\nk: 1\ntags: [x, y]\n---\nB\n"),
    ] {
        assert_eq!(appended(before, "tags", &["x", "y"]).as_deref(), Some(after), "{before}");
    }
    assert_eq!(
        appended("---\nk: 1\n---\n", "sources", &["{ id: a }"]).unwrap(),
        "---\nk: 1\nsources:\n  - { id: a }\n---\n"
    );
    for broken in [
        "---\ntags: {a: 1}\n---\n",
        "---\n{tags: [a]}\n---\n",
        "---\nk: [\n---\n",
        "no block\n",
        "---\nk: 1\n",
    ] {
        assert_eq!(appended(broken, "tags", &["x"]), None, "{broken}");
    }
}

#[test]
fn a_key_is_set_where_it_stands_or_at_the_end() {
    for (before, after) in [
        ("---\nk: 'a' # c\nz: 1\n---\n", "---\nk: v # c\nz: 1\n---\n"),
        ("---\nk:\nz: 1\n---\n", "---\nk: v\nz: 1\n---\n"),
        ("---\nz: 1\n---\nB", "---\nz: 1\nk: v\n---\nB"),
        ("B\r\n", "---\r\nk: v\r\n---\r\n\r\nB\r\n"),
        ("\u{feff}B\n", "\u{feff}---\nk: v\n---\n\nB\n"),
        ("---\nk: |\n  a\n  b\nz: 1\n---\n", "---\nk: v\nz: 1\n---\n"),
    ] {
        assert_eq!(set_to(before, "k", "v").as_deref(), Some(after), "{before}");
    }
    assert_eq!(set_to("---\n{k: 1}\n---\n", "k", "v"), None);
    assert_eq!(set_to("---\nk: [\n---\n", "k", "v"), None);
}

#[test]
fn an_item_is_taken_out_with_its_comma_or_line() {
    for (before, nth, after) in [
        ("---\ns: [a, b, c]\n---\n", 0, "---\ns: [b, c]\n---\n"),
        ("---\ns: [a, b, c]\n---\n", 2, "---\ns: [a, b]\n---\n"),
        ("---\ns:\n  - a\n  - id: b\n    x: 1\n  - c\n---\n", 1, "---\ns:\n  - a\n  - c\n---\n"),
        ("---\nk: 1\ns: [a]\n---\n", 0, "---\nk: 1\n---\n"),
        ("---\nk: 1\ns: a\n---\n", 0, "---\nk: 1\n---\n"),
        ("---\ns:\n- a\nk: 1\n---\n", 0, "---\nk: 1\n---\n"),
    ] {
        assert_eq!(without(before, "s", nth).as_deref(), Some(after), "{before} {nth}");
    }
    assert_eq!(without("---\ns: [a]\n---\n", "s", 3), None);
}

proptest! {
    /// Whatever a list looks like, it reads back as the old items and the new ones, and other keys stay.
    #[test]
    fn an_appended_list_reads_back(
        old in prop::collection::vec("[a-z:#' -]{0,6}", 0..4),
        new in prop::collection::vec("[a-z:#'\"\\[ -]{1,6}", 1..3),
        style in 0..3u8,
        crlf: bool,
    ) {
        let written: Vec<String> = old.iter().map(|t| scalar::written(t)).collect();
        let list = match style {
            0 => format!("s: [{}]\n", written.join(", ")),
            1 => written.iter().fold("s:\n".to_owned(), |all, item| all + &format!("  - {item}\n")),
            _ => written.iter().fold("s:\n".to_owned(), |all, item| all + &format!("- {item}  # c\n")),
        };
        let mut page = format!("---\na: 1\n{list}z: 'x: y'\n---\nBody\n");
        if crlf {
            page = page.replace('\n', "\r\n");
        }
        let items: Vec<String> = new.iter().map(|t| scalar::written(t)).collect();
        let splice = append(&page, &Frontmatter::parse(&page), "s", &items).unwrap();
        let after = apply(&page, [splice]);
        let read = Frontmatter::parse(&after);
        prop_assert_eq!(&read.error, &None, "{}", after);
        let want: Vec<&str> = old.iter().chain(&new).map(String::as_str).collect();
        prop_assert_eq!(read.strings("s"), want, "{}", &after);
        prop_assert_eq!(read.text("z"), Some("x: y"));
        prop_assert_eq!(after.matches('\n').count() == after.matches("\r\n").count(), crlf || !after.contains('\n'));
    }
}
