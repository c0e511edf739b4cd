//! What the rules say of small bundles.

mod fields;
mod files;
mod graph;
mod links;
mod log;
mod provenance;
mod registry;
mod report;
mod structure;
mod types;

use std::sync::Arc;

use super::*;
use crate::bundle::{MemoryBundle, Read, Rules, Staged, Write};

const GOOD: &str = "---\ntype: Concept\ntitle: T\ndescription: D\ntimestamp: 2026-07-19T10:30:00Z\n---\n\n";

/// A page that has no fault of its own, with this title and body.
fn page(title: &str, body: &str) -> String {
    format!("{}{body}\n", GOOD.replace("title: T", &format!("title: {title}")))
}

fn load(files: &[(&str, &str)]) -> Wiki {
    Wiki::load(&MemoryBundle::new(files.iter().copied()).unwrap()).unwrap()
}

fn judge(files: &[(&str, &str)], profile: Profile) -> Report {
    lint(&load(files), &Options { profile: Some(profile), ..Options::default() })
}

/// `CODE path line:column` of every finding.
fn places(report: &Report) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|f| format!("{} {} {}:{}", f.rule.code, f.path.relative(), f.line, f.column))
        .collect()
}

fn codes(files: &[(&str, &str)], profile: Profile) -> Vec<&'static str> {
    judge(files, profile).findings.iter().map(|f| f.rule.code).collect()
}

/// The findings of one page `a.md` with this text, in a folder whose index links it.
fn of_page(text: &str) -> Vec<Finding> {
    judge(&[("/index.md", "* [A](a.md)\n"), ("/a.md", text)], Profile::Wiki).findings
}

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

#[test]
fn a_sound_wiki_has_no_finding() {
    let a = page("A", "See [b](b.md).");
    let b = page("B", "See [a](a.md).");
    let files = [
        ("/AGENTS.md", "# Schema\n\n## Types\n\n- `Concept`\n"),
        ("/raw/source.md", "no page"),
        ("/wiki/index.md", "# Index\n\n* [Concepts](concepts/index.md)\n"),
        ("/wiki/log.md", "# Log\n\n## [2026-07-19] ingest | Source\n"),
        ("/wiki/concepts/index.md", "* [A](a.md) - d\n* [B](b.md) - d\n"),
        ("/wiki/concepts/a.md", &a),
        ("/wiki/concepts/b.md", &b),
    ];
    let report = lint(&load(&files), &Options::default());
    assert_eq!((report.profile, report.okf_version, report.pages), (Profile::Wiki, "0.1", 6));
    assert_eq!(places(&report), [""; 0]);
}

#[test]
fn auto_sees_the_convention_by_its_folders() {
    let profile = |files: &[(&str, &str)]| Profile::detect(&load(files));
    assert_eq!(profile(&[("/wiki/a.md", ""), ("/AGENTS.md", "")]), Profile::Wiki);
    assert_eq!(profile(&[("/wiki/a.md", ""), ("/raw/x.pdf", "")]), Profile::Wiki);
    assert_eq!(profile(&[("/wiki/a.md", "")]), Profile::Okf);
    assert_eq!(profile(&[("/AGENTS.md", ""), ("/raw/x.pdf", "")]), Profile::Okf);
    assert_eq!(profile(&[("/wiki", "a file"), ("/AGENTS.md", "")]), Profile::Okf);
}

#[test]
fn the_root_index_says_the_version() {
    let version = |index: &str| judge(&[("/index.md", index)], Profile::Okf).okf_version;
    assert_eq!(version("---\nokf_version: \"0.1\"\n---\n"), "0.1");
    assert_eq!(version("---\nokf_version: 0.1\n---\n"), "0.1");
    assert_eq!(version("---\nokf_version: \"0.2\"\n---\n"), "0.2");
    assert_eq!(version("# Index\n"), "0.2");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "---\n",
            "type: ",
            "title: é: x",
            "timestamp: ",
            "sources: [",
            "sources:\n  - id: a\n    resource: a.md\n",
            "type: Attested Computation\n",
            "generated: {by: ",
            "verified: ",
            "status: deprecated\n",
            "stale_after: 2000-01-01\n",
            "[^a]",
            "[^a]: ",
            "# Computation\n",
            "* ",
            "{",
            "}",
            "]",
            "\n",
            "\r\n",
            "# ",
            "## [2026-07-19] ",
            "| ",
            "[x](",
            ")",
            "<",
            ">",
            "../",
            "/",
            "a.md",
            "b.md",
            "gone.md",
            "`",
            "```\n",
            "<!--",
            "-->",
            "[[",
            "]]",
            "![",
            "[r]: ",
            "\u{feff}",
            "ü",
            "\u{0}",
            "\\",
            "&amp;",
            "%2e%2e/",
            "#f",
            "?q",
            "\t",
            "    ",
            "<a href=\"",
            "\"",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// Whatever the pages hold: no panic, one order, and places that lie in the page they name.
        #[test]
        fn any_text_is_judged_and_every_place_is_real(texts in prop::collection::vec(markdown(), 4)) {
            let names = ["/index.md", "/a.md", "/log.md", "/AGENTS.md"];
            let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
            let wiki = load(&files);
            for profile in [Profile::Wiki, Profile::Okf] {
                let options = Options { profile: Some(profile), ..Options::default() };
                let report = lint(&wiki, &options);
                prop_assert_eq!(&report, &lint(&wiki.clone(), &options));
                for finding in &report.findings {
                    prop_assert_eq!(finding.rule.level(profile), Some(finding.level));
                    prop_assert!((finding.line, finding.column) <= (finding.end_line, finding.end_column));
                    let Some(span) = finding.span else { continue };
                    let page = wiki.page(&finding.path).unwrap();
                    prop_assert!(page.text.get(span.start..span.end).is_some(), "{:?}", finding);
                    let line = page.text.split('\n').nth(finding.line as usize - 1).unwrap();
                    prop_assert!(finding.column as usize <= line.chars().count() + 1, "{:?}", finding);
                }
            }
        }
    }
}
