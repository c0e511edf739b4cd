//! Folders and catalogues.

use super::*;

#[test]
fn an_index_mentions_by_link_or_by_whole_word() {
    let pages: Vec<String> = (0..5).map(|n| page(&format!("T{n}"), "x")).collect();
    let index = "[a](a.md), b.md, barfoo.md, `d.md`, <!-- e.md -->";
    let files = [
        ("/index.md", index),
        ("/a.md", pages[0].as_str()),
        ("/b.md", &pages[1]),
        ("/foo.md", &pages[2]),
        ("/d.md", &pages[3]),
        ("/e.md", &pages[4]),
        ("/x/index.md", "[](../a.md) [](../b.md) [](../foo.md) [](../d.md) [](../e.md)"),
    ];
    let stale = |profile| {
        let report = judge(&files, profile);
        assert_eq!(report.findings.len(), 1, "{:?}", places(&report));
        report.findings[0].data["pages"].clone()
    };
    assert_eq!(stale(Profile::Wiki), serde_json::json!(["d.md", "e.md", "foo.md"]));
    assert_eq!(
        stale(Profile::Okf),
        serde_json::json!(["b.md", "d.md", "e.md", "foo.md"]),
        "a mention is a link"
    );
}

#[test]
fn a_folder_without_index_is_named_by_the_index_it_lacks() {
    let (a, b) = (page("A", "[b](b.md)"), page("B", "[a](a.md)"));
    let files = [("/sub/a.md", a.as_str()), ("/sub/b.md", &b), ("/only-reserved/log.md", "")];
    let report = judge(&files, Profile::Wiki);
    assert_eq!(places(&report), ["S001 sub/index.md 1:1"]);
    assert_eq!(report.findings[0].data["pages"], serde_json::json!(["a.md", "b.md"]));
    assert_eq!(codes(&files, Profile::Okf), [""; 0]);
}
