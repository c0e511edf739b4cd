//! Fixing, formatting and migrating from the command line.

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};

const PAGE: &str = "---\r\ntype: Concept\r\ntitle: A\r\ndescription: D\r\ntimestamp: \"19/07/2026\"\r\n---\r\n\r\n[b](/wiki/b.md) [m](moved.md)";

fn wiki() -> tempfile::TempDir {
    let page = |title: &str| {
        PAGE.split("\r\n\r\n")
            .next()
            .unwrap()
            .replace("title: A", &format!("title: {title}"))
            .replace("19/07/2026", "2026-07-19")
    };
    let (b, moved) = (page("B"), page("Moved"));
    bundle::with(&[
        ("AGENTS.md", "# Schema\n"),
        ("wiki/index.md", "* [A](a.md)\n* [B](b.md)"),
        ("wiki/a.md", PAGE),
        ("wiki/b.md", &format!("{b}\r\n[a](a.md)")),
        ("wiki/sub/index.md", "* [M](moved.md)\n"),
        ("wiki/sub/moved.md", &moved),
    ])
}

fn said(folder: &tempfile::TempDir, home: &tempfile::TempDir, arguments: &[&str]) -> Said {
    run(wikiwright(home.path()).arg(arguments[0]).arg(folder.path()).args(&arguments[1..]))
}

fn read(folder: &tempfile::TempDir, path: &str) -> String {
    std::fs::read_to_string(folder.path().join(path)).unwrap()
}

#[test]
fn fixes_are_shown_made_and_taken_back() {
    let (folder, home) = (wiki(), tempfile::tempdir().unwrap());
    let shown = said(&folder, &home, &["lint", "--diff"]);
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(shown.out.starts_with("diff --git a/wiki/a.md b/wiki/a.md\n"), "{}", shown.out);
    assert!(
        shown.out.contains("+[b](b.md) [m](moved.md)") && shown.err.contains("2 fixes; nothing was changed"),
        "{} {}",
        shown.out,
        shown.err
    );
    assert!(shown.err.contains("nothing was changed. --fix makes them."), "{}", shown.err);
    let both = said(&folder, &home, &["lint", "--fix", "--diff"]);
    assert!(both.err.contains("--fix without --diff makes them."), "{}", both.err);
    assert_eq!(read(&folder, "wiki/a.md"), PAGE);

    let safe = said(&folder, &home, &["lint", "--fix"]);
    assert_eq!(safe.code, Some(1), "{}", safe.err);
    assert!(
        safe.out.contains("fixed wiki/a.md:8:5: L002 link-absolute: /wiki/b.md becomes b.md\n"),
        "{}",
        safe.out
    );
    assert!(safe.out.contains("1 error, 0 warnings, 0 hints, 2 fixed in"), "{}", safe.out);
    let fixed = PAGE.replace("/wiki/b.md", "b.md").replace("19/07/2026", "2026-07-19T00:00:00Z");
    assert_eq!(read(&folder, "wiki/a.md"), fixed);
    let again = said(&folder, &home, &["lint", "--fix"]);
    assert!(!again.out.contains("fixed"), "{}", again.out);
    for nothing in [&["lint", "--diff"][..], &["lint", "--fix", "--diff"]] {
        let nothing = said(&folder, &home, nothing);
        assert!(nothing.err.contains("Nothing to fix; nothing was changed."), "{}", nothing.err);
        assert!(nothing.out.is_empty() && !nothing.err.contains("makes"), "{}", nothing.err);
    }

    let json = said(&folder, &home, &["lint", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let fix = serde_json::json!({"safety": "unsafe", "message": "moved.md becomes sub/moved.md"});
    assert_eq!(json["findings"][0]["fix"], fix);

    let all = said(&folder, &home, &["lint", "--fix", "--unsafe-fixes", "--json"]);
    assert_eq!(all.code, Some(0), "{} {}", all.out, all.err);
    let json: serde_json::Value = serde_json::from_str(&all.out).unwrap();
    assert_eq!(json["fixed"][0]["rule"], "L001");
    assert_eq!(json["fixed"][0]["files"], serde_json::json!(["wiki/a.md"]));
    assert_eq!(json["summary"]["fixed"], 1);
    assert!(read(&folder, "wiki/a.md").ends_with("[m](sub/moved.md)"));

    let history = said(&folder, &home, &["history"]);
    assert!(history.out.contains("lint --fix"), "{}", history.out);
    for _ in 0..2 {
        assert_eq!(said(&folder, &home, &["undo", "--yes"]).code, Some(0));
    }
    assert_eq!(read(&folder, "wiki/a.md"), PAGE);
}

#[test]
fn unsafe_fixes_alone_do_nothing() {
    let (folder, home) = (wiki(), tempfile::tempdir().unwrap());
    let refused = said(&folder, &home, &["lint", "--unsafe-fixes"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("add --fix"), "{}", refused.err);
}

#[test]
fn frontmatter_is_formatted_and_nothing_else() {
    let text = "---\r\ntitle: A\r\n# kind\r\ntype: Concept\r\ntags:\r\n- a\r\n---\r\n* x  \r\nno end";
    let (folder, home) =
        (bundle::with(&[("a.md", text), ("index.md", "* [A](a.md)\n")]), tempfile::tempdir().unwrap());
    let check = said(&folder, &home, &["fmt", "--check"]);
    assert_eq!((check.code, check.out.as_str()), (Some(1), "would change a.md\n"));
    assert_eq!(read(&folder, "a.md"), text);
    let done = said(&folder, &home, &["fmt"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "changed a.md\n"), "{}", done.err);
    let formatted = "---\r\n# kind\r\ntype: Concept\r\ntitle: A\r\ntags: [a]\r\n---\r\n* x  \r\nno end";
    assert_eq!(read(&folder, "a.md"), formatted);
    assert_eq!(said(&folder, &home, &["fmt", "--check"]).code, Some(0));
    assert_eq!(said(&folder, &home, &["undo", "--yes"]).code, Some(0));
    assert_eq!(read(&folder, "a.md"), text);
}

#[test]
fn a_bundle_is_migrated_as_one_set() {
    let text = "---\ntype: Concept\ntitle: A\ndescription: D\ntimestamp: 2026-07-19\n---\n\n# Citations\n\n1. [B](b.md)\n";
    let b = text.split("\n# Citations").next().unwrap().replace("title: A", "title: B");
    let files = [("a.md", text), ("b.md", b.as_str()), ("index.md", "* [A](a.md)\n* [B](b.md)\n")];
    let (folder, home) = (bundle::with(&files), tempfile::tempdir().unwrap());
    let shown = said(&folder, &home, &["migrate", "--to", "0.2"]);
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(
        shown.out.contains("+generated: { by: process:unknown, at: 2026-07-19T00:00:00Z }"),
        "{}",
        shown.out
    );
    assert_eq!(read(&folder, "a.md"), text);
    let done = said(&folder, &home, &["migrate", "--to", "0.2", "--by", "human:ada", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(
        read(&folder, "a.md"),
        "---\ntype: Concept\ntitle: A\ndescription: D\ngenerated: { by: human:ada, at: 2026-07-19T00:00:00Z }\nsources:\n  - { title: B, resource: b.md }\n---\n"
    );
    assert!(read(&folder, "index.md").starts_with("---\nokf_version: \"0.2\"\n---\n"));
    let lint = said(&folder, &home, &["lint"]);
    assert_eq!(lint.code, Some(0), "{}", lint.out);
    assert!(lint.out.starts_with("0 errors, 0 warnings, 0 hints"), "{}", lint.out);
    let again = said(&folder, &home, &["migrate", "--to", "0.2", "--yes"]);
    assert!(again.err.contains("nothing to migrate"), "{}", again.err);
    assert_eq!(said(&folder, &home, &["undo", "--yes"]).code, Some(0));
    assert_eq!(read(&folder, "a.md"), text);
}
