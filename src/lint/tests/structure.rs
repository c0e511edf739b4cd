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

#[test]
fn a_catalogue_or_history_is_no_concept() {
    let concept = "---\ntype: Concept\ntitle: T\n---\n";
    let files = [
        ("/index.md", concept),
        ("/log.md", concept),
        ("/x/log.md", "---\ntype: Log\n---\n"),
        ("/AGENTS.md", concept),
        ("/sub/index.md", "---\nokf_version: \"0.2\"\n---\n"),
        ("/more/index.md", "---\ntype:\n---\n"),
    ];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["S003 index.md 2:1", "S003 log.md 2:1"]);
    let okf = judge(&files, Profile::Okf);
    let rows: Vec<_> =
        okf.findings.iter().filter(|f| f.rule.code == "S003").map(|f| (f.path.relative(), f.level)).collect();
    let error = Level::Error;
    assert_eq!(
        rows,
        [("index.md", error), ("log.md", error), ("more/index.md", error), ("sub/index.md", error)]
    );
    assert_eq!(codes(&[("/index.md", "---\nokf_version: \"0.2\"\n---\n")], Profile::Okf), [""; 0]);
}

#[test]
fn an_entry_for_a_page_that_is_nowhere_is_found_besides_its_link() {
    let index = "* [A](a.md)\n* [B](b.md) - gone\n  for good\n    * [C](c.md)\n* [D](D.md) - letter case\n* see `e.md`\n\n[F](f.md)\n";
    let (a, d) = (page("A", "x"), page("D", "x"));
    let files = [("/index.md", index), ("/a.md", a.as_str()), ("/d.md", &d)];
    let report = judge(&files, Profile::Wiki);
    let rows: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.rule.code == "S004")
        .map(|f| (f.span.unwrap().of(index), f.data["target"].as_str().unwrap()))
        .collect();
    assert_eq!(rows, [("* [B](b.md) - gone\n  for good", "b.md"), ("* [C](c.md)", "c.md")]);
    assert_eq!(report.by_rule()["L001"], 3, "the reference's error stays for each link");
}
