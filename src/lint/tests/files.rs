//! What can be read, and what it is called.

use super::*;

#[test]
fn an_empty_bundle_is_one_error() {
    assert_eq!(codes(&[], Profile::Wiki), ["B001"]);
    assert_eq!(codes(&[("/raw/a.md", "x"), ("/notes.txt", "x")], Profile::Okf), ["B001"]);
}

#[test]
fn bytes_and_characters_that_are_no_text_are_named_in_whole_sentences() {
    for character in ['\u{1}', '\u{7f}', '\u{fffe}'] {
        let found = of_page(&format!("---\ntype: \"a{character}b\"\n---\n"));
        let said = format!(
            "frontmatter is not a YAML mapping: a value holds the character U+{:04X}, which YAML allows nowhere; take it out",
            u32::from(character)
        );
        assert_eq!(found.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), [said]);
    }
    let found = of_page("---\ntype: @a\n---\n");
    assert!(found[0].message.ends_with("a value starts with `@`, which YAML reserves; quote the value"));
}

#[test]
fn one_bad_entry_is_one_finding() {
    let bundle = MemoryBundle::new([("/index.md", "* [A](a.md)\n")]).unwrap();
    bundle.write(&path("/a.md"), b"caf\xe9\n").unwrap();
    let report =
        lint(&Wiki::load(&bundle).unwrap(), &Options { profile: Some(Profile::Wiki), ..Options::default() });
    assert_eq!(places(&report), ["B002 a.md 1:1"]);
    let said = &report.findings[0].message;
    assert!(
        said.starts_with("not UTF-8 text: byte ")
            && said.ends_with(", counted from 0, is not valid; save it as UTF-8"),
        "{said}"
    );
    assert_eq!(report.findings[0].data["offset"], 3);
}

#[test]
fn names_that_windows_cannot_hold_are_found_wherever_they_stand() {
    for (name, what) in [
        ("con.md", "`con` is kept for a device on Windows"),
        ("Com1.tar.md", "`Com1` is kept for a device on Windows"),
        ("a:b.md", "holds `:`, which Windows does not allow"),
        ("a\tb.md", "holds a control character"),
        ("data.", "ends in a dot or a blank, which Windows drops"),
        ("data ", "ends in a dot or a blank, which Windows drops"),
        ("nul/x.txt", "`nul` is kept for a device on Windows"),
    ] {
        let file = format!("/raw/{name}");
        let report = judge(&[("/index.md", "x"), (&file, GOOD)], Profile::Wiki);
        assert_eq!(report.findings.len(), 1, "{name:?}: {:?}", places(&report));
        let message = report.findings[0].message.clone();
        assert_eq!(message, format!("name {what}"));
    }
    for name in ["console.md", "com.md", "com10.md", "lpt0.md", "a.b", ".x", "ü (1).md", "auxiliary"] {
        let file = format!("/raw/{name}");
        assert_eq!(codes(&[("/index.md", "x"), (&file, "x")], Profile::Wiki), [""; 0], "{name}");
    }
}

#[test]
fn names_equal_but_for_case_or_form_clash_in_one_folder_only() {
    let files = [
        ("/index.md", "x"),
        ("/raw/a.txt", ""),
        ("/raw/A.txt", ""),
        ("/raw/caf\u{e9}", ""),
        ("/raw/cafe\u{301}", ""),
        ("/raw/Sub/x", ""),
        ("/raw/sub/x", ""),
        ("/raw/sub/deep/a.txt", ""),
    ];
    let report = judge(&files, Profile::Okf);
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule.code, f.path.relative(), f.data["other"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ("B004", "raw/a.txt", "raw/A.txt"),
            ("B004", "raw/caf\u{e9}", "raw/cafe\u{301}"),
            ("B004", "raw/sub", "raw/Sub"),
        ]
    );
}

#[test]
fn a_page_in_capitals_is_no_page_and_said_so() {
    let report = judge(&[("/index.md", "[A](A.MD)"), ("/A.MD", "x"), ("/raw/B.MD", "x")], Profile::Wiki);
    assert_eq!(places(&report), ["B004 A.MD 1:1"]);
}

#[test]
fn a_byte_order_mark_is_a_hint_and_the_page_is_read() {
    let text = format!("\u{feff}{GOOD}");
    let found = of_page(&text);
    assert_eq!((found.len(), found[0].rule.code, found[0].level), (1, "B005", Level::Hint));
    assert_eq!(found[0].span, Some(crate::text::Span::new(0, 3)));
}
