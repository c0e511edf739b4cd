//! The small bundles with known right answers next to the repository, judged in both profiles. Skips when they are absent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::path::{Path, PathBuf};

use wikiwright::bundle::LocalBundle;
use wikiwright::lint::{self, Options, Profile};
use wikiwright::wiki::Wiki;

/// Rule, path, and the value that tells findings of the rule apart (empty when it has none).
type Expected = &'static [(&'static str, &'static str, &'static str)];

const NONE: Expected = &[];

/// Case, findings in profile `wiki`, findings in profile `okf` (none: rules that decide the case there do not exist yet).
const CASES: &[(&str, Expected, Option<Expected>)] = &[
    ("L01", NONE, Some(NONE)),
    ("L02", NONE, Some(NONE)),
    ("L03", NONE, Some(NONE)),
    ("L04", NONE, Some(NONE)),
    ("L05", NONE, Some(NONE)),
    ("L07", NONE, Some(NONE)),
    (
        "L08",
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
        Some(&[("L001", "a.md", "missing.md"), ("S002", "index.md", "")]),
    ),
    (
        "L11",
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
        Some(&[("L001", "a.md", "missing.md"), ("S002", "index.md", "")]),
    ),
    ("L12", NONE, Some(NONE)),
    ("L13", NONE, Some(NONE)),
    (
        "L14",
        &[("L001", "a.md", "missing.md"), ("L001", "a.md", "missing2.md"), ("L001", "a.md", "missing3.md")],
        Some(&[
            ("L001", "a.md", "missing.md"),
            ("L001", "a.md", "missing2.md"),
            ("L001", "a.md", "missing3.md"),
        ]),
    ),
    ("L16", NONE, Some(NONE)),
    (
        "L18",
        &[("L006", "sub/b.md", "../../../../a.md"), ("L006", "sub/b.md", "../../a.md")],
        Some(&[("L006", "sub/b.md", "../../../../a.md"), ("L006", "sub/b.md", "../../a.md")]),
    ),
    ("L22", NONE, Some(NONE)),
    ("L23", &[("L002", "index.md", "/a.md")], Some(NONE)),
    ("L24", &[("L001", "index.md", "not-yet.md")], Some(&[("L001", "index.md", "not-yet.md")])),
    (
        "L25",
        &[("G001", "b.md", ""), ("S002", "index.md", "")],
        Some(&[("G001", "b.md", ""), ("S002", "index.md", "")]),
    ),
    (
        "L26",
        &[("G001", "b.md", ""), ("S002", "index.md", "")],
        Some(&[("G001", "b.md", ""), ("S002", "index.md", "")]),
    ),
    ("L27", NONE, Some(NONE)),
    ("L28", NONE, Some(NONE)),
    (
        "F01",
        &[("L003", "a.md", "missing.md"), ("L004", "a.md", "/b.md")],
        Some(&[("L003", "a.md", "missing.md")]),
    ),
    ("F02", NONE, Some(NONE)),
    ("F04", &[("F003", "a.md", "type")], Some(&[("F003", "a.md", "type")])),
    ("F05", NONE, Some(&[("F001", "AGENTS.md", "")])),
    ("F06", NONE, Some(NONE)),
    ("F08", NONE, None),
    (
        "F10",
        &[("F003", "a.md", "type"), ("F003", "b.md", "type")],
        Some(&[("F003", "a.md", "type"), ("F003", "b.md", "type")]),
    ),
    (
        "F11",
        &[("F002", "a.md", ""), ("F002", "b.md", ""), ("F002", "c.md", ""), ("F002", "d.md", "")],
        Some(&[("F002", "a.md", ""), ("F002", "b.md", ""), ("F002", "c.md", ""), ("F002", "d.md", "")]),
    ),
    ("F12", &[("F002", "a.md", "")], Some(&[("F002", "a.md", "")])),
    ("F13", NONE, Some(NONE)),
    ("F14", NONE, Some(NONE)),
    ("F16", NONE, Some(NONE)),
    ("F18", NONE, Some(&[("F001", "AGENTS.md", "")])),
    ("F20", NONE, Some(NONE)),
    ("F21", NONE, Some(NONE)),
    ("F22", NONE, None),
    (
        "F23",
        &[("F001", "README.md", ""), ("G001", "README.md", ""), ("S002", "index.md", "")],
        Some(&[
            ("F001", "AGENTS.md", ""),
            ("F001", "README.md", ""),
            ("G001", "README.md", ""),
            ("S002", "index.md", ""),
        ]),
    ),
    ("F26", &[("F003", "a.md", "type")], Some(&[("F001", "AGENTS.md", ""), ("F003", "a.md", "type")])),
    ("F27", &[("F004", "a.md", "timestamp")], Some(NONE)),
    // A month and an ordinal day are no full date; a leap second and lower case letters are.
    (
        "T02",
        &[("F005", "a.md", "2026-07"), ("F005", "b.md", "2026-200")],
        Some(&[("F005", "a.md", "2026-07"), ("F005", "b.md", "2026-200")]),
    ),
    ("T03", NONE, Some(NONE)),
    ("S01", NONE, Some(NONE)),
    ("S09", &[("B002", "a.md", "82")], Some(&[("B002", "a.md", "82")])),
    ("S11", NONE, Some(NONE)),
    ("S12", NONE, Some(NONE)),
    ("I01", &[("S002", "index.md", "")], Some(&[("S002", "index.md", "")])),
    ("I03", &[("S002", "index.md", "")], Some(&[("S002", "index.md", "")])),
    (
        "I04",
        &[("L001", "index.md", "foo"), ("S002", "index.md", "")],
        Some(&[("L001", "index.md", "foo"), ("S002", "index.md", "")]),
    ),
    ("Y01", NONE, Some(&[("F001", "AGENTS.md", "")])),
    ("Y03", &[("T001", "a.md", "frontmatter")], None),
    ("Y04", NONE, None),
    ("Y05", &[("T002", "a.md", "Concept")], None),
    ("G01", NONE, Some(&[("H001", "log.md", "")])),
    ("G02", &[("H001", "log.md", "")], Some(&[("H001", "log.md", "")])),
    ("G03", &[("H001", "log.md", "")], Some(NONE)),
    ("D01", &[("G002", "v1/install.md", "install.md")], Some(&[("G002", "v1/install.md", "install.md")])),
];

fn cases() -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/lint-cases"));
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    Some(folder.to_path_buf())
}

fn findings(bundle: &Path, profile: Profile) -> Vec<(String, String, String)> {
    let wiki = Wiki::load(&LocalBundle::open(bundle).unwrap()).unwrap();
    let report = lint::lint(&wiki, &Options { profile: Some(profile), ..Options::default() });
    let mut found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            let key = match finding.rule.code {
                "F003" | "F004" => "field",
                "F005" => "value",
                "L001" | "L002" | "L003" | "L004" | "L006" => "target",
                "B002" => "offset",
                "G002" => "slug",
                "G003" => "title",
                "T001" | "T002" => "type",
                "H002" => "kind",
                _ => "",
            };
            let value = finding.data.get(key).map(|value| match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string(),
            });
            (finding.rule.code.to_owned(), finding.path.relative().to_owned(), value.unwrap_or_default())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn each_case_gets_the_right_answer() {
    let Some(folder) = cases() else { return };
    let mut wrong = Vec::new();
    for (case, wiki, okf) in CASES {
        for (profile, expected) in [(Profile::Wiki, Some(*wiki)), (Profile::Okf, *okf)] {
            let Some(expected) = expected else { continue };
            let expected: Vec<_> =
                expected.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect();
            let found = findings(&folder.join(case), profile);
            if found != expected {
                wrong.push(format!("{case} {profile:?}: found {found:?}, right is {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_case_makes_the_linter_fail() {
    let Some(folder) = cases() else { return };
    let mut judged = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            for profile in [Profile::Wiki, Profile::Okf] {
                assert_eq!(
                    findings(&entry.path(), profile),
                    findings(&entry.path(), profile),
                    "deterministic"
                );
            }
            judged += 1;
        }
    }
    assert!(judged > CASES.len(), "{judged} folders");
}
