//! Small cases, one file each in `tests/lint/cases`, named for the rule and what is doubtful about it; and any bytes.
//!
//! A case is `why:` and a sentence, then sections, each after a line `--- KIND`:
//!
//! * `body`: the text of `wiki/concepts/page.md` below a sound frontmatter; `page`: the whole of that page.
//! * `file: PATH`: any other file. In a small sound wiki around them `wiki/concepts/index.md`, unless it is given, lists
//!   all pages of its folder; `bare` leaves that wiki out.
//! * `findings: wiki`, `findings: okf`, `findings: okf 0.1`: all that is found in this profile, on 2026-07-19, one a line
//!   in any order: `CODE [VALUE] [@ [PATH][:][LINE:COLUMN]]`. VALUE is the rule's key in `data`; without PATH it is
//!   `wiki/concepts/page.md`; lines of a `body` count from its first.
//! * `fixed [unsafe] [: PATH]`: what `--fix` (with `--unsafe-fixes`) makes of the page or file in the profile of the first
//!   `findings`, as a `body` where the page is one. All that safe fixes change is held, and all that unsafe ones change where
//!   one file is.
//!
//! `(escaped)` behind a kind: `\r`, `\\`, `\xNN` (a byte) and `\u{N}` (a character) stand for what cannot be seen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use wikiwright::bundle::{MemoryBundle, Rules, Write as _};
use wikiwright::lint::{Finding, FixKind, OkfVersion, Options, Profile, fix, lint, registry};
use wikiwright::okf::BundlePath;
use wikiwright::wiki::Wiki;

#[path = "lint/fuzz.rs"]
mod fuzz;

const PAGE: &str = "wiki/concepts/page.md";
const FRONT: &str = "---\ntype: Concept\ntitle: Page\ndescription: What it is about.\ntimestamp: 2026-07-19T10:30:00Z\n---\n\n";

#[derive(Default)]
struct Case {
    bare: bool,
    /// Lines that stand above a `body`.
    above: u32,
    files: Files,
    expected: Vec<(String, Vec<String>)>,
    /// Files that fixes change, with unsafe ones too or not.
    fixed: BTreeMap<bool, Files>,
}

type Files = BTreeMap<String, Vec<u8>>;

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(&rest.as_bytes()[..at]);
        let escape = &rest[at + 1..];
        rest = match escape.as_bytes()[0] {
            b'r' => {
                bytes.push(b'\r');
                &escape[1..]
            }
            b'x' => {
                bytes.push(u8::from_str_radix(&escape[1..3], 16).unwrap());
                &escape[3..]
            }
            b'u' => {
                let end = escape.find('}').unwrap();
                let c = char::from_u32(u32::from_str_radix(&escape[2..end], 16).unwrap()).unwrap();
                bytes.extend(c.to_string().as_bytes());
                &escape[end + 1..]
            }
            _ => {
                bytes.push(b'\\');
                &escape[1..]
            }
        };
    }
    bytes.extend(rest.as_bytes());
    bytes
}

fn parse(text: &str) -> Case {
    let mut case = Case::default();
    let mut sections = text.split("\n--- ");
    let why = sections.next().unwrap();
    assert!(why.starts_with("why: ") && !why.contains('\n'), "{why}");
    for section in sections {
        let (kind, content) = section.split_once('\n').unwrap_or((section, ""));
        // The line end before the next section belongs to it, the one before that to the text.
        let content =
            if content.is_empty() { String::new() } else { format!("{}\n", content.trim_end_matches('\n')) };
        let (kind, bytes) = match kind.strip_suffix(" (escaped)") {
            Some(kind) => (kind, unescape(&content)),
            None => (kind, content.clone().into_bytes()),
        };
        match kind.split_once(": ").unwrap_or((kind, "")) {
            ("bare", "") => case.bare = true,
            ("body", "") => {
                case.above = u32::try_from(FRONT.lines().count()).unwrap();
                case.files.insert(PAGE.to_owned(), [FRONT.as_bytes(), &bytes].concat());
            }
            ("page", "") => {
                case.files.insert(PAGE.to_owned(), bytes);
            }
            ("file", path) => {
                let path = if kind.contains('\\') { unescape(path) } else { path.as_bytes().to_vec() };
                case.files.insert(String::from_utf8(path).unwrap(), bytes);
            }
            ("findings", profile) => {
                let plain =
                    String::from_utf8(if content.contains("\\u{") { unescape(&content) } else { bytes });
                let lines = plain.unwrap().lines().map(str::to_owned).collect();
                case.expected.push((profile.to_owned(), lines));
            }
            (fixed @ ("fixed" | "fixed unsafe"), path) => {
                let above = if path.is_empty() && case.above > 0 { FRONT } else { "" };
                let path = if path.is_empty() { PAGE } else { path };
                let files = case.fixed.entry(fixed != "fixed").or_default();
                files.insert(path.to_owned(), [above.as_bytes(), &bytes].concat());
            }
            _ => panic!("unknown section {kind}"),
        }
    }
    case
}

/// The case's files and, unless it is bare, the wiki around them.
fn bundle(case: &Case, profile: Profile) -> Arc<MemoryBundle> {
    let mut files = case.files.clone();
    if !case.bare {
        let mut give = |path: &str, text: &str| {
            files.entry(path.to_owned()).or_insert_with(|| text.as_bytes().to_vec());
        };
        // The specification knows no schema.
        if profile == Profile::Wiki {
            give("AGENTS.md", "# Schema\n\n## Types\n\n- `Concept`\n- `Attested Computation`\n");
        }
        give("raw/report.pdf", "x");
        give("wiki/assets/margin.png", "x");
        give("wiki/index.md", "# Wiki\n\n* [Concepts](concepts/index.md)\n");
        give(PAGE, &format!("{FRONT}Text.\n"));
        let margin =
            FRONT.replace("Page", "Margin") + "# Net margin\n\n## Key points\n\nSee [page](page.md).\n";
        give("wiki/concepts/margin.md", &margin);
        let names = files.keys().filter_map(|path| path.strip_prefix("wiki/concepts/"));
        let entries = names
            .filter(|name| name.ends_with(".md") && !name.contains('/') && *name != "log.md")
            .map(|name| format!("* [entry](<{}>)\n", name.replace('#', "%23")));
        let index = format!("# Concepts\n\n{}", entries.collect::<String>());
        files.entry("wiki/concepts/index.md".to_owned()).or_insert_with(|| index.into_bytes());
    }
    let bundle = MemoryBundle::default();
    for (path, bytes) in files {
        bundle.write(&BundlePath::parse(&path).unwrap(), &bytes).unwrap();
    }
    Arc::new(bundle)
}

fn value(finding: &Finding) -> String {
    let key = match finding.rule.code {
        "F003" | "F004" | "F006" | "F007" | "P001" | "P006" => "field",
        "F005" | "P004" => "value",
        "G002" => "slug",
        "G003" => "title",
        "T001" | "T002" => "type",
        "B002" => "offset",
        "H002" => "kind",
        "P003" => "label",
        code if code.starts_with('L') || matches!(code, "S004" | "P005") => "target",
        _ => return String::new(),
    };
    match finding.data.get(key) {
        Some(serde_json::Value::String(text)) => text.clone(),
        other => other.map(ToString::to_string).unwrap_or_default(),
    }
}

/// Whether an expectation means this finding.
fn means(expected: &str, finding: &Finding, above: u32) -> bool {
    let (what, place) = match expected.split_once(" @ ") {
        Some((what, place)) => (what, place),
        None => (expected, ""),
    };
    let (code, wanted) = what.split_once(' ').unwrap_or((what, ""));
    let is_position = |text: &str| {
        text.split_once(':').is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok())
    };
    let (path, position) = match place.match_indices(':').rev().nth(1) {
        _ if is_position(place) => ("", place),
        Some((at, _)) if is_position(&place[at + 1..]) => (&place[..at], &place[at + 1..]),
        _ => (place, ""),
    };
    let path = match path {
        "" => PAGE,
        path => path.trim_start_matches('/'),
    };
    let line =
        if finding.path.relative() == PAGE { finding.line.saturating_sub(above) } else { finding.line };
    finding.rule.code == code
        && finding.path.relative() == path
        && (wanted.is_empty() || value(finding) == wanted)
        && (position.is_empty() || position == format!("{line}:{}", finding.column))
}

/// The profile and what a run in it is told.
fn options(profile: &str) -> (Profile, Options) {
    let (profile, okf_version) = match profile {
        "wiki" => (Profile::Wiki, None),
        "okf" => (Profile::Okf, None),
        "okf 0.1" => (Profile::Okf, Some(OkfVersion::V0_1)),
        other => panic!("unknown profile {other}"),
    };
    let today = Some("2026-07-19".parse().unwrap());
    (profile, Options { profile: Some(profile), okf_version, today, ..Options::default() })
}

/// What fixes make of a bundle: the files that they change, and the rules whose findings they mend.
fn fixed(bundle: &Arc<MemoryBundle>, options: &Options, all: bool) -> (Files, BTreeSet<&'static str>) {
    let rules = Rules { rules: Vec::new(), protect_dot_names: false };
    let request = fix::Request { base: bundle.clone(), rules: &rules, options, all, wanted: &|_| true };
    let outcome = fix::run(Wiki::load(&**bundle).unwrap(), &request);
    let files = outcome.changes.files.iter();
    let files = files.map(|f| (f.path.relative().to_owned(), f.after.as_deref().unwrap().to_vec())).collect();
    (files, outcome.fixed.iter().map(|fixed| fixed.rule.code).collect())
}

/// What is wrong with the findings of a case.
fn differences(case: &Case, profile: &str, expected: &[String]) -> Option<String> {
    let (profile, options) = options(profile);
    let wiki = Wiki::load(&*bundle(case, profile)).unwrap();
    let mut left = lint(&wiki, &options).findings;
    let mut missing = Vec::new();
    for line in expected {
        match left.iter().position(|finding| means(line, finding, case.above)) {
            Some(at) => {
                left.remove(at);
            }
            None => missing.push(line.as_str()),
        }
    }
    let more: Vec<String> = left
        .iter()
        .map(|f| {
            let line = if f.path.relative() == PAGE { f.line.saturating_sub(case.above) } else { f.line };
            format!(
                "{} {} @ {}:{line}:{} ({})",
                f.rule.code,
                value(f),
                f.path.relative(),
                f.column,
                f.message
            )
        })
        .collect();
    (!missing.is_empty() || !more.is_empty())
        .then(|| format!("{profile:?}: not found {missing:?}, found besides {more:?}"))
}

#[test]
fn every_case_has_the_findings_that_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint/cases");
    let (mut wrong, mut count) = (Vec::new(), 0);
    let (mut hit, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let case = parse(&fs::read_to_string(&path).unwrap());
        assert!(!case.expected.is_empty(), "{name} expects nothing");
        count += 1;
        let (code, _) = name.split_once('-').unwrap();
        for (profile, expected) in &case.expected {
            let hits = expected.iter().any(|line| line.starts_with(code));
            if hits {
                hit.insert(code.to_owned())
            } else {
                missed.insert(code.to_owned())
            };
            wrong.extend(differences(&case, profile, expected).map(|what| format!("{name} {what}")));
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
    // What cannot be read at all is held where there is a disk.
    let all: BTreeSet<String> =
        registry::ALL.iter().map(|rule| rule.code.to_owned()).filter(|code| code != "B003").collect();
    assert_eq!((hit, missed), (all.clone(), all));
}

#[test]
fn fixes_make_of_every_case_what_it_says_and_nothing_a_second_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint/cases");
    let (mut wrong, mut mended) = (Vec::new(), BTreeSet::new());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let case = parse(&fs::read_to_string(&path).unwrap());
        let (profile, options) = options(&case.expected[0].0);
        for all in [false, true] {
            let wanted = match case.fixed.get(&all) {
                Some(wanted) => wanted.clone(),
                None if all => continue,
                None => Files::new(),
            };
            let bundle = bundle(&case, profile);
            let (found, rules) = fixed(&bundle, &options, all);
            if found != wanted {
                let shown = |files: &Files| {
                    let shown = files
                        .iter()
                        .map(|(path, text)| format!("{path}: {:?}", String::from_utf8_lossy(text)));
                    shown.collect::<Vec<_>>().join(", ")
                };
                wrong.push(format!("{name} all={all}: made {}, right is {}", shown(&found), shown(&wanted)));
            }
            mended.extend(rules);
            for (path, text) in &found {
                bundle.write(&BundlePath::parse(path).unwrap(), text).unwrap();
            }
            let (again, _) = fixed(&bundle, &options, all);
            if !again.is_empty() {
                wrong.push(format!("{name} all={all}: fixed again: {:?}", again.keys()));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let with_fix = registry::ALL.iter().filter(|rule| rule.fix != FixKind::None).map(|rule| rule.code);
    assert_eq!(mended, with_fix.collect());
}
