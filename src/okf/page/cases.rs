//! What a parse must and must not see in the shared lint cases; skipped where they are absent.

use std::path::Path;

use super::tests::check;
use crate::okf::frontmatter::YamlErrorKind;
use crate::okf::{BundlePath, LinkKind, Page, Target, log, schema, timestamp};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/lint-cases");

/// The page at `path` (`L01/a.md`), seen as page of a bundle that is the case's folder.
fn page(path: &str) -> Page {
    let text = std::fs::read_to_string(Path::new(CASES).join(path)).unwrap();
    let (_, inside) = path.split_once('/').unwrap();
    let page = Page::parse(BundlePath::parse(inside).unwrap(), text.into());
    check(&page);
    page
}

/// Where the links of a page lead: a path, else the destination in brackets.
fn targets(path: &str) -> Vec<String> {
    let page = page(path);
    page.links
        .iter()
        .map(|link| match &link.target {
            Target::Path { path, fragment: None, .. } => path.to_string(),
            Target::Path { path, fragment: Some(fragment), .. } => format!("{path}#{fragment}"),
            Target::Anchor(fragment) => format!("#{fragment}"),
            _ => format!("<{}>", link.destination),
        })
        .collect()
}

fn absent() -> bool {
    let absent = !Path::new(CASES).is_dir();
    if absent {
        eprintln!("skipped: no lint cases beside the repository");
    }
    absent
}

#[test]
fn links_of_the_cases() {
    if absent() {
        return;
    }
    for (path, want) in [
        ("L01/a.md", vec![]),
        ("L02/a.md", vec![]),
        ("L03/a.md", vec![]),
        ("L04/index.md", vec!["/a.md"]),
        ("L05/index.md", vec!["/my page.md"]),
        ("L07/index.md", vec!["/foo_(bar).md"]),
        ("L08/a.md", vec!["/b.md", "/missing.md", "/c.md"]),
        ("L10/a.md", vec!["/img/missing.png"]),
        ("L11/a.md", vec!["/missing.md", "/b.md"]),
        ("L12/a.md", vec![]),
        ("L13/a.md", vec![]),
        ("L14/a.md", vec!["/missing.md", "/missing2.md", "/missing3.md"]),
        ("L16/index.md", vec!["/a.md"]),
        ("L18/sub/b.md", vec!["<../../a.md>", "<../../../../a.md>"]),
        ("L19/a.md", vec!["/b.md#no-such", "#nor-this"]),
        ("L22/a.md", vec![]),
        ("L25/a.md", vec!["<b>", "<missing page>"]),
        ("L26/index.md", vec![]),
        ("L27/a.md", vec![]),
        ("L28/a.md", vec!["<>", "<>"]),
        ("F01/a.md", vec!["/missing.md", "/b.md", "/b.md"]),
        ("F02/a.md", vec!["<https://example.com/x>"]),
        ("F06/a.md", vec!["/docs/b.md", "/docs/c.md"]),
        ("F08/a.md", vec!["/b, c.md"]),
        ("X01/wiki/a.md", vec![]),
    ] {
        assert_eq!(targets(path), want, "{path}");
    }
    assert!(
        page("L23/index.md").links.iter().all(|l| matches!(l.target, Target::Path { absolute: true, .. }))
    );
    assert!(page("L25/a.md").links.iter().all(|l| l.kind == LinkKind::Wikilink));
    assert!(page("X11/a.md").links.iter().any(|l| matches!(l.target, Target::Path { folder: true, .. })));
    for name in ["a", "b", "c", "d"] {
        let page = page(&format!("F20/{name}.md"));
        assert!(page.links.iter().all(|l| l.target == Target::External), "F20/{name}.md");
    }
    for name in ["a", "b"] {
        let page = page(&format!("F21/{name}.md"));
        assert!(page.links.iter().all(|l| matches!(l.target, Target::Name(_))), "F21/{name}.md");
    }
    assert!(page("L19/b.md").has_anchor("real-heading"));
}

#[test]
fn frontmatter_of_the_cases() {
    if absent() {
        return;
    }
    for whole in ["F13/a.md", "F14/a.md", "F16/a.md", "F18/a.md", "F05/a.md", "T03/a.md", "X06/a.md"] {
        assert_eq!(page(whole).kind(), Some("Concept"), "{whole}");
    }
    assert!(page("F16/a.md").bom);
    assert_eq!(page("T03/a.md").frontmatter.text("timestamp"), Some("2026-07-19T10:30:00Z"));
    for none in ["F04/a.md", "F10/a.md", "F10/b.md", "F26/a.md"] {
        assert_eq!(page(none).kind(), None, "{none}");
    }
    for (broken, kind) in [
        ("F11/a.md", YamlErrorKind::Syntax),
        ("F11/b.md", YamlErrorKind::Syntax),
        ("F11/c.md", YamlErrorKind::Syntax),
        ("F11/d.md", YamlErrorKind::UnquotedColon),
        ("F12/a.md", YamlErrorKind::NotMapping),
    ] {
        assert_eq!(page(broken).frontmatter.error.map(|e| e.kind), Some(kind), "{broken}");
    }
    let doubled = page("F24/a.md");
    assert_eq!(doubled.frontmatter.entries.iter().filter(|e| e.key == "title").count(), 2);
    let stamped = page("X03/a.md");
    let span = stamped.frontmatter.get("timestamp").unwrap().span;
    assert_eq!(&stamped.text[span.start - 12..span.end], "\ntimestamp: 19/07/2026");
}

#[test]
fn dates_logs_and_types_of_the_cases() {
    if absent() {
        return;
    }
    for (name, want) in [("a", false), ("b", false), ("c", true), ("d", true)] {
        let page = page(&format!("T02/{name}.md"));
        let stamp = page.frontmatter.text("timestamp").unwrap();
        assert_eq!(timestamp::is_iso(stamp), want, "{stamp}");
    }
    let entries = log::entries(&page("G01/log.md"));
    assert!(!entries.iter().any(|e| e.heading.contains("Section of the page")), "{entries:?}");
    let declared = |path| schema::declared_types(&page(path)).unwrap_or_default();
    assert_eq!(declared("Y01/AGENTS.md"), ["Concept"]);
    assert_eq!(declared("Y03/AGENTS.md"), ["Concept", "Entity"]);
    assert_eq!(declared("Y05/AGENTS.md"), ["concept", "CONCEPT"]);
}
