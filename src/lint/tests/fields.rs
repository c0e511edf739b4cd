//! Frontmatter and fields.

use super::*;

#[test]
fn a_missing_block_replaces_the_field_findings() {
    let found = of_page("# A\n");
    assert_eq!(found.iter().map(|f| f.rule.code).collect::<Vec<_>>(), ["F001"]);
}

#[test]
fn fields_are_found_missing_empty_or_of_the_wrong_kind() {
    let found = of_page("---\ntype: [A, B]\ntitle: ''\ntimestamp: 2026-07-19\n---\n");
    let rows: Vec<_> = found
        .iter()
        .map(|f| (f.rule.code, f.data["field"].as_str().unwrap(), f.line, f.message.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("F004", "description", 1, "recommended field `description` is missing"),
            ("F003", "type", 2, "required field `type` is not a string"),
            ("F004", "title", 3, "recommended field `title` is empty"),
        ]
    );
}

#[test]
fn a_type_counts_only_at_the_top_and_only_when_it_says_something() {
    for front in
        ["parameters:\n  - type: integer", "type: ~", "type: '  '", "type: null", "type: 7", "type: true"]
    {
        let text = GOOD.replace("type: Concept", front);
        let codes: Vec<_> = of_page(&text).iter().map(|f| f.rule.code).collect();
        assert_eq!(codes, ["F003"], "{front}");
    }
}

#[test]
fn reserved_pages_need_no_fields_and_their_timestamps_are_checked() {
    let files = [("/index.md", "---\ntimestamp: yesterday\n---\n"), ("/log.md", ""), ("/AGENTS.md", "")];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["F005 index.md 2:12"]);
}

#[test]
fn a_value_with_a_colon_is_named_in_words() {
    let found = of_page("---\ntype: Concept\ntitle: Rust: the book\n---\n");
    assert_eq!(found[0].rule.code, "F002");
    assert_eq!(
        found[0].message,
        "frontmatter is not valid YAML: the value of `title` holds `: ` without quotes; put the whole value in quotes"
    );
    assert_eq!((found.len(), found[0].line), (1, 3));
}

#[test]
fn a_timestamp_may_be_a_bare_date_or_a_yaml_number() {
    for good in ["2026-07-19", "20260719", "\"2026-07-19T10:30:00Z\"", "2026-07-19 10:30 # last edit"] {
        let text = GOOD.replace("2026-07-19T10:30:00Z", good);
        assert_eq!(of_page(&text), [], "{good}");
    }
    for (bad, value) in
        [("19/07/2026", "19/07/2026"), ("'Q3 2026'", "Q3 2026"), ("[2026]", "[2026]"), ("7", "7")]
    {
        let found = of_page(&GOOD.replace("2026-07-19T10:30:00Z", bad));
        assert_eq!((found.len(), found[0].rule.code), (1, "F005"), "{bad}");
        assert_eq!(found[0].data["value"], value);
    }
}

#[test]
fn every_other_yaml_fault_says_what_and_where() {
    for (front, line, column, words) in [
        ("k:\n\t- tab", 3, 2, "a line is indented with a tab"),
        ("x: \"unterminated", 2, 4, "a quoted value is never closed"),
        ("tags: [a, b", 2, 7, "a list opened with `[` is never closed"),
        ("type:Concept", 2, 1, "the frontmatter is not a mapping"),
    ] {
        let found = of_page(&format!("---\n{front}\n---\n"));
        assert_eq!((found.len(), found[0].rule.code), (1, "F002"), "{front}");
        assert!(found[0].message.contains(words), "{}", found[0].message);
        assert_eq!((found[0].line, found[0].column), (line, column), "{front}: {}", found[0].message);
    }
}

#[test]
fn fields_have_the_kind_of_value_that_readers_expect() {
    for (front, field, source) in [
        ("tags: a, b", "tags", "a, b"),
        ("tags: [a, 2024]", "tags", "2024"),
        ("tags: [a, [b]]", "tags", "[b]"),
        ("sources: index.md", "sources", "index.md"),
        ("resource: [a]", "resource", "[a]"),
    ] {
        let text = GOOD.replace("title: T", &format!("title: T\n{front}"));
        let found = of_page(&text);
        assert_eq!((found.len(), found[0].rule.code), (1, "F006"), "{front}");
        assert_eq!(found[0].data["field"], field);
        assert_eq!(found[0].span.unwrap().of(&text), source);
    }
    for front in ["parameters: year", "executor: run.md", "attester: [x.py]"] {
        let text = GOOD.replace("title: T", &format!("title: T\n{front}"));
        assert_eq!(of_page(&text), [], "{front}: only a computation gives it a meaning");
        let found = of_page(&text.replace("Concept", "Attested Computation"));
        assert_eq!((found.len(), found[0].rule.code), (1, "F006"), "{front}");
    }
    let found = of_page(&GOOD.replace("title: T", "title: 1984"));
    assert_eq!(found[0].message, "`title` is a number and should be a text: put it in quotes");
    for good in ["tags: []", "tags:", "tags:\n- a\n- 'b, c'", "resource: ''", "sources:", "custom: {a: [1]}"]
    {
        assert_eq!(of_page(&GOOD.replace("title: T", &format!("title: T\n{good}"))), [], "{good}");
    }
}

#[test]
fn the_root_index_declares_a_version_and_nothing_else() {
    let index = "---\nokf_version: \"0.2\"\nowner: me\n---\n";
    assert_eq!(places(&judge(&[("/index.md", index)], Profile::Okf)), ["F006 index.md 3:1"]);
    assert_eq!(codes(&[("/index.md", index)], Profile::Wiki), [""; 0]);
}

#[test]
fn a_key_written_twice_is_found_at_any_depth() {
    let text = GOOD.replace(
        "title: T",
        "title: T\ntags: [a]\ntags: [b]\nx: {y: 1, y: 2}\nlist:\n  - a: &n {b: 1, b: 2}\n  - c: *n\n",
    );
    let found = of_page(&text);
    let rows: Vec<_> =
        found.iter().map(|f| (f.rule.code, f.data["field"].as_str().unwrap(), f.line, f.column)).collect();
    assert_eq!(rows, [("F007", "tags", 5, 1), ("F007", "x.y", 6, 11), ("F007", "list.a.b", 8, 18)]);
}

#[test]
fn comments_tags_and_quotes_are_no_part_of_a_value() {
    let text = "---\ntype: !!str Concept  # see AGENTS.md\ntitle: T\ndescription: D\ntimestamp: 2026-07-19  # last edit\n\
                sources: ['b, c.md', &x index.md]  # two\nmore: *x\n---\n";
    let files = [
        ("/AGENTS.md", "# Schema\n\n## Types\n\n- `Concept`\n"),
        ("/index.md", "[a](a.md)"),
        ("/a.md", text),
        ("/b, c.md", "---\ntype: Concept\n---\n"),
    ];
    let report = judge(&files, Profile::Wiki);
    assert_eq!(
        places(&report).iter().filter(|place| place.contains(" a.md")).count(),
        0,
        "{:?}",
        places(&report)
    );
}

#[test]
fn a_block_is_seen_however_its_lines_end() {
    let unended = GOOD.trim_end().to_owned();
    let blanks = GOOD.replace("---\n\n", "---  \n\n");
    let crlf = GOOD.replace('\n', "\r\n");
    for text in [unended, blanks, crlf] {
        assert_eq!(of_page(&text), [], "{text:?}");
    }
}
