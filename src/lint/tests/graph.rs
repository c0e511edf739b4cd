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
    assert_eq!(places(&report), ["G002 x/a.md 1:1", "G003 x/a.md 1:1"]);
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
