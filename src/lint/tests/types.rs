//! The vocabulary.

use super::*;

#[test]
fn types_are_held_against_the_declared_list() {
    let typed = |title: &str, kind: &str| page(title, "x").replace("type: Concept", &format!("type: {kind}"));
    let (a, b, c) = (typed("A", "Concept"), typed("B", "concept"), typed("C", "Person # who"));
    let files = [
        ("/AGENTS.md", "## Types in use\n\n- `Concept`\n- `Entity`\n"),
        ("/index.md", "---\ntype: Directory\n---\n[](a.md) [](b.md) [](c.md)"),
        ("/a.md", a.as_str()),
        ("/b.md", &b),
        ("/c.md", &c),
    ];
    let report = judge(&files, Profile::Wiki);
    assert_eq!(places(&report), ["T002 b.md 2:7", "T001 c.md 2:7", "S003 index.md 2:1"]);
    assert_eq!(report.findings[0].data["declared"], "Concept");
    assert_eq!(report.findings[1].data["type"], "Person");
    assert_eq!(
        codes(&files, Profile::Okf),
        ["F001", "S003"],
        "the specification knows no list, and AGENTS.md as a concept"
    );
}

#[test]
fn many_types_without_a_list_are_sprawl() {
    let pages: Vec<String> =
        (0..7).map(|n| page(&format!("P{n}"), "x").replace("Concept", &format!("T{n}"))).collect();
    let names: Vec<String> = (0..7).map(|n| format!("/p{n}.md")).collect();
    let index: String = (0..7).map(|n| format!("[](p{n}.md) ")).collect();
    let mut files = vec![("/index.md", index.as_str())];
    files.extend(names.iter().zip(&pages).map(|(name, text)| (name.as_str(), text.as_str())));
    assert_eq!(codes(&files, Profile::Wiki), ["T003"]);
    files.pop();
    assert_eq!(codes(&files, Profile::Wiki), ["L001"], "six types are not many");
}
