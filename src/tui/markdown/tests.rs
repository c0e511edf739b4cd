//! What markdown looks like, and that nothing is lost on the way.

use proptest::prelude::*;

use super::*;
use std::sync::Arc;

fn rows(text: &str, width: u16) -> Vec<String> {
    render_text(text, width, &Theme::plain())
        .lines
        .iter()
        .map(|l| l.to_string().trim_end().to_owned())
        .collect()
}

#[test]
fn blocks_stand_apart_by_one_blank_row() {
    assert_eq!(
        rows("# One\n\ntext\nmore\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> said\n\n---\n\nend", 20),
        [
            "One",
            "",
            "text more",
            "",
            "• a",
            "• b",
            "  • c",
            "",
            "1. x",
            "2. y",
            "",
            "▎ said",
            "",
            "────────────────────",
            "",
            "end"
        ]
    );
}

#[test]
fn paragraphs_wrap_behind_their_marks() {
    assert_eq!(rows("- one two three four\n- five", 10), ["• one two", "  three", "  four", "• five"]);
    assert_eq!(rows("> one two three", 10), ["▎ one two", "▎ three"]);
}

#[test]
fn loose_lists_and_code() {
    assert_eq!(rows("- a\n\n- b\n\n  more\n", 20), ["• a", "", "• b", "", "  more"]);
    assert_eq!(rows("```\na\n\n  b\n```\n", 20), ["│ a", "│", "│   b"]);
}

#[test]
fn tables_fit_or_become_records() {
    let table = "| a | number |\n|---|---:|\n| one | 1 |\n";
    assert_eq!(rows(table, 20), ["a   │ number", "────┼───────", "one │      1"]);
    let wide = "| first column | second column | third column |\n|-|-|-|\n| x | y | z |\n";
    assert_eq!(rows(wide, 20), ["first column: x", "second column: y", "third column: z"]);
}

#[test]
fn links_know_where_they_are_drawn() {
    let rendered = render_text("see [the long name](/wiki/a.md#b) now", 12, &Theme::plain());
    let link = &rendered.links[0];
    assert_eq!(link.target.path().unwrap().as_str(), "/wiki/a.md");
    assert_eq!(link.spans, [(0, 4..12), (1, 0..4)]);
}

#[test]
fn a_page_ties_its_links_and_headings_to_its_facts() {
    let text = "---\ntype: Concept\ndescription: Short.\n---\n\n# A\n\n[x](b.md) and [y](c.md)\n\n## A\n";
    let page = Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), Arc::from(text));
    let rendered = render_page(&page, 40, &Theme::plain(), &|l| l.destination == "c.md");
    let links: Vec<usize> = rendered.links.iter().map(|l| l.link).collect();
    assert_eq!(links, [0, 1]);
    let slugs: Vec<&str> = rendered.headings.iter().map(|(_, s)| s.as_str()).collect();
    assert_eq!(slugs, ["a", "a-1"]);
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert_eq!(&drawn[..2], ["Concept", "Short."]);
    assert!(drawn.iter().any(|l| l == "x and y ✗"), "{drawn:?}");
    assert_eq!(rendered.lines.len(), rendered.rows.len());
}

#[test]
fn deep_nesting_is_drawn_at_a_bounded_depth() {
    for text in [">".repeat(20_000), "- ".repeat(2000), "*".repeat(20_000), "[".repeat(2000)] {
        let rendered = render_text(&text, 20, &Theme::plain());
        assert!(rendered.lines.len() < 25_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_text_at_any_width_has_rows_that_fit_and_no_controls(
        text in "[a-c#*>|`\\[\\]()\\-\\n \u{1b}\u{202e}äß漢👩1.]{0,160}",
        width in 0u16..60,
    ) {
        let rendered = render_text(&text, width, &Theme::ansi());
        prop_assert_eq!(rendered.lines.len(), rendered.rows.len());
        for line in &rendered.lines {
            let shown = line.to_string();
            prop_assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", shown);
        }
        for (row, columns) in rendered.links.iter().flat_map(|l| &l.spans) {
            prop_assert!(*row < rendered.lines.len() && columns.start < columns.end);
        }
    }
}
