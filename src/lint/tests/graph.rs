//! How pages hang together.

use super::*;

#[test]
fn a_link_to_oneself_is_not_inbound_and_a_source_is() {
    let a = page("A", "[me](a.md)");
    let b = GOOD.replace("title: T", "title: B\nresource: c.md");
    let c = page("C", "[b](b.md)");
    let files = [("/index.md", "a.md b.md c.md"), ("/a.md", a.as_str()), ("/b.md", &b), ("/c.md", &c)];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["G001 a.md 1:1"]);
}

#[test]
fn doubles_sit_on_the_first_page_in_folder_order() {
    let (one, two, three) = (page("Straße", "x"), page("STRASSE", "x"), page("Other", "x"));
    let files = [
        ("/index.md", "[](x/a.md) [](x-y/a.md) [](x/b.md)"),
        ("/x/index.md", "[](a.md) [](b.md)"),
        ("/x-y/index.md", "[](a.md)"),
        ("/x/a.md", one.as_str()),
        ("/x/b.md", &three),
        ("/x-y/a.md", &two),
    ];
    let report = judge(&files, Profile::Wiki);
    assert_eq!(places(&report), ["G002 x/a.md 1:1", "G003 x/a.md 3:8"]);
    assert_eq!(report.findings[0].data["slug"], "a.md");
    assert_eq!(report.findings[1].data["title"], "Straße");
    assert_eq!(report.findings[1].data["others"], serde_json::json!(["x-y/a.md"]));
}

#[test]
fn the_title_of_a_source_is_not_the_title_of_the_page() {
    let cited = |title: &str| {
        GOOD.replace(
            "title: T",
            &format!("title: {title}\nsources:\n  - resource: https://x.y\n    title: Shared"),
        )
    };
    let index = "[](a.md) [](b.md)";
    let (a, b) = (cited("A"), cited("B"));
    assert_eq!(codes(&[("/index.md", index), ("/a.md", &a), ("/b.md", &b)], Profile::Wiki), [""; 0]);
    let same = cited("A");
    assert_eq!(codes(&[("/index.md", index), ("/a.md", &a), ("/b.md", &same)], Profile::Wiki), ["G003"]);
}

#[test]
fn pages_that_only_link_each_other_are_an_island() {
    let texts: Vec<String> = ["[b](b.md)", "[a](a.md)", "[d](d.md)", "[e](e.md) [b](b.md)", "[c](c.md)", "x"]
        .iter()
        .enumerate()
        .map(|(n, body)| page(&format!("T{n}"), body))
        .collect();
    let mut files = vec![("/index.md", "[sub](sub/) [x](x.md)"), ("/x.md", texts[5].as_str())];
    let names = ["/sub/a.md", "/sub/b.md", "/sub/c.md", "/sub/d.md", "/sub/e.md"];
    files.extend(names.into_iter().zip(texts.iter().map(String::as_str)));
    let islands = |index: &str, profile| {
        let mut files = files.clone();
        files.push(("/sub/index.md", index));
        let report = judge(&files, profile);
        let found = report.findings.into_iter().filter(|f| f.rule.code == "G004");
        found.map(|f| (f.path.relative().to_owned(), f.data["pages"].clone())).collect::<Vec<_>>()
    };
    let all = serde_json::json!(["sub/a.md", "sub/b.md", "sub/c.md", "sub/d.md", "sub/e.md"]);
    assert_eq!(islands("# Index", Profile::Wiki), [("sub/a.md".to_owned(), all)]);
    let three = serde_json::json!(["sub/c.md", "sub/d.md", "sub/e.md"]);
    assert_eq!(islands("[b](b.md)", Profile::Okf), [("sub/c.md".to_owned(), three.clone())]);
    assert_eq!(islands("see b.md", Profile::Wiki), [("sub/c.md".to_owned(), three)], "a mention is a way in");
    assert_eq!(islands("[c](c.md)", Profile::Wiki), []);
}

#[test]
fn an_orphan_is_no_island_and_a_bundle_without_index_has_none() {
    let (a, b) = (page("A", "[b](b.md)"), page("B", "[a](a.md)"));
    let files = [("/a.md", a.as_str()), ("/b.md", &b)];
    assert_eq!(codes(&files, Profile::Okf), [""; 0]);
    let alone = page("A", "x");
    assert_eq!(codes(&[("/index.md", "x"), ("/a.md", &alone)], Profile::Okf), ["G001", "S002"]);
}

#[test]
fn a_link_in_code_keeps_no_orphan_alive() {
    let (a, b) = (page("A", "```\n[b](b.md)\n```\n\n`[b](b.md)` <!-- [b](b.md) -->"), page("B", "x"));
    let files = [("/index.md", "[a](a.md) `b.md`"), ("/a.md", a.as_str()), ("/b.md", &b)];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["G001 b.md 1:1", "S002 index.md 1:1"]);
}
