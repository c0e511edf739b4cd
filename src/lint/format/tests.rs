use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;
use crate::lint::registry::{ALL, BUNDLE_EMPTY, LINK_BROKEN, ORPHAN};
use crate::lint::{Level, Profile, Report, Rule};
use crate::okf::BundlePath;
use crate::text::Span;

fn finding(
    rule: &'static Rule,
    level: Level,
    path: &str,
    span: Option<(usize, usize)>,
    message: &str,
) -> Finding {
    let mut data = Map::new();
    data.insert("target".to_owned(), Value::from("gone.md"));
    Finding {
        rule,
        level,
        path: BundlePath::parse(path).unwrap(),
        span: span.map(|(start, end)| Span { start, end }),
        line: span.map_or(1, |_| 3),
        column: span.map_or(1, |(start, _)| u32::try_from(start).unwrap()),
        end_line: span.map_or(1, |_| 3),
        end_column: span.map_or(1, |(_, end)| u32::try_from(end).unwrap()),
        message: message.to_owned(),
        data: data.into(),
        fix: None,
    }
}

fn report(findings: Vec<Finding>) -> Report {
    Report { profile: Profile::Wiki, okf_version: "0.1", pages: 2, findings, fixed: Vec::new() }
}

fn sample() -> Report {
    report(vec![
        finding(&BUNDLE_EMPTY, Level::Error, "/", None, "no pages"),
        finding(&LINK_BROKEN, Level::Error, "/wiki/a b, ü.md", Some((8, 15)), "broken link: gone.md"),
        finding(&LINK_BROKEN, Level::Warning, "/wiki/a b, ü.md", Some((28, 35)), "broken link: gone.md"),
        finding(&ORPHAN, Level::Hint, "/wiki/b.md", None, "100%\n::error::no\rno"),
    ])
}

fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_bundle_is_named_from_the_workspace() {
    for (bundle, prefix) in [
        ("docs/wiki", "docs/wiki"),
        ("./docs/../docs/wiki/", "docs/wiki"),
        ("/repo/docs", "docs"),
        (".", "."),
        ("/repo", "."),
        ("/elsewhere", "."),
        ("../elsewhere", "."),
        ("s3://bucket/docs", "."),
    ] {
        assert_eq!(Prefix::new(Path::new(bundle), Path::new("/repo")).folder(), prefix, "{bundle}");
    }
}

#[test]
fn github_annotations_are_escaped_and_name_place_and_rule_once() {
    let prefix = Prefix::new(Path::new("docs"), Path::new("/repo"));
    let text = written(|out| github(&sample(), &prefix, out));
    assert_eq!(
        text,
        "::error title=B001 bundle-empty::no pages\n\
         ::error file=docs/wiki/a b%2C ü.md,line=3,col=8,endLine=3,endColumn=15,title=L001 link-broken::broken link: gone.md\n\
         ::warning file=docs/wiki/a b%2C ü.md,line=3,col=28,endLine=3,endColumn=35,title=L001 link-broken::broken link: gone.md\n\
         ::notice file=docs/wiki/b.md,line=1,col=1,title=G001 orphan::100%25%0A::error::no%0Dno\n\
         2 errors, 1 warning, 1 hint in 2 pages (profile wiki): B001 1, G001 1, L001 2\n"
    );
}

/// Keys that an object may have in SARIF 2.1.0, as far as they are used here; those with a `!` it must have.
fn assert_object(value: &Value, keys: &[&str]) {
    let object = value.as_object().unwrap();
    for key in keys.iter().filter_map(|key| key.strip_prefix('!')) {
        assert!(object.contains_key(key), "{key} is missing: {value}");
    }
    for key in object.keys() {
        assert!(keys.iter().any(|known| known.trim_start_matches('!') == key), "{key} is not known: {value}");
    }
}

#[test]
fn sarif_has_the_shape_that_the_standard_requires() {
    let prefix = Prefix::new(Path::new("docs"), Path::new("/repo"));
    let log: Value = serde_json::from_str(&written(|out| sarif(&sample(), &prefix, out))).unwrap();
    assert_object(&log, &["$schema", "!version", "!runs"]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_object(run, &["!tool", "invocations", "columnKind", "!results", "properties"]);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_object(&run["tool"], &["!driver"]);
    assert_object(&run["tool"]["driver"], &["!name", "version", "semanticVersion", "!rules"]);
    assert_object(&run["invocations"][0], &["!executionSuccessful"]);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), ALL.len());
    for rule in rules {
        assert_object(
            rule,
            &["!id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
        );
        for text in ["shortDescription", "fullDescription", "help"] {
            assert_object(&rule[text], &["!text", "markdown"]);
        }
        assert_object(&rule["defaultConfiguration"], &["enabled", "level"]);
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(["none", "note", "warning", "error"].contains(&level), "{level}");
    }
    let results = run["results"].as_array().unwrap();
    let mut fingerprints = std::collections::HashSet::new();
    for result in results {
        assert_object(
            result,
            &["ruleId", "ruleIndex", "level", "!message", "locations", "partialFingerprints", "properties"],
        );
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], result["ruleId"]);
        assert_object(&result["message"], &["!text"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_object(place, &["!artifactLocation", "region"]);
        assert!(
            url::Url::parse("https://host/")
                .unwrap()
                .join(place["artifactLocation"]["uri"].as_str().unwrap())
                .is_ok()
        );
        for fingerprint in result["partialFingerprints"].as_object().unwrap().values() {
            assert!(
                fingerprints.insert(fingerprint.as_str().unwrap().to_owned()),
                "two results look the same"
            );
        }
    }
    assert_eq!(
        results.iter().map(|r| &r["level"]).collect::<Vec<_>>(),
        ["error", "error", "warning", "note"]
    );
    assert_eq!(results[0]["locations"][0]["physicalLocation"], json!({"artifactLocation": {"uri": "docs"}}));
    assert_eq!(
        results[1]["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": {"uri": "docs/wiki/a%20b%2C%20%C3%BC.md"},
            "region": {"startLine": 3, "startColumn": 8, "endLine": 3, "endColumn": 15},
        })
    );
}

#[test]
fn a_fault_that_moves_keeps_its_fingerprint() {
    let fingerprint = |line: u32| {
        let moved = Finding { line, ..finding(&LINK_BROKEN, Level::Error, "/a.md", Some((1, 2)), "x") };
        let text = written(|out| sarif(&report(vec![moved]), &Prefix::default(), out));
        let log: Value = serde_json::from_str(&text).unwrap();
        log["runs"][0]["results"][0]["partialFingerprints"].clone()
    };
    assert_eq!(fingerprint(1), fingerprint(20));
}

#[test]
fn statistics_count_rules_the_most_frequent_first() {
    assert_eq!(
        written(|out| statistics(&sample(), out)),
        "     2  error    L001  link-broken\n     1  error    B001  bundle-empty\n     1  hint     G001  orphan\n\
         2 errors, 1 warning, 1 hint in 2 pages (profile wiki): B001 1, G001 1, L001 2\n"
    );
    let rows: Value = serde_json::from_str(&written(|out| statistics_json(&sample(), out))).unwrap();
    assert_eq!(rows[0], json!({"rule": "L001", "name": "link-broken", "level": "error", "count": 2}));
}

#[test]
fn many_links_to_one_target_are_one_line_and_other_findings_never() {
    let many =
        |rule| report((0..30).map(|_| finding(rule, Level::Error, "/a.md", Some((1, 2)), "m")).collect());
    let lines = written(|out| text(&many(&LINK_BROKEN), false, out));
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.contains(": m (and at 29 more places; --format json names them)\n30 errors"), "{lines}");
    assert_eq!(written(|out| text(&many(&ORPHAN), false, out)).lines().count(), 31);
}

#[test]
fn every_rule_is_explained_with_level_reason_fix_and_both_examples() {
    for rule in ALL {
        let text = explanation(rule);
        for part in [rule.code, rule.name, rule.summary, rule.why, "At fault:\n\n    ", "Right:\n\n    "] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.lines().all(|line| line == line.trim_end()) && !text.contains('\u{feff}'), "{text:?}");
    }
    assert_eq!(
        explanation(&LINK_BROKEN),
        "L001 link-broken: a link's target does not exist\n\n\
         In profile wiki: error; in profile okf: hint.\n\n\
         Whoever follows it finds nothing, and the page it meant looks unlinked. The specification allows links to pages not yet written.\n\n\
         `lint --fix --unsafe-fixes` mends it: the meaning may change, so look at what it did.\n\n\
         At fault:\n\n    See [margin](margin-q3.md).\n\n\
         Right:\n\n    See [margin](margin.md).\n"
    );
    let rules: Value = serde_json::from_str(&written(|out| explain_json(&[&LINK_BROKEN], out))).unwrap();
    assert_eq!(rules[0]["levels"], json!({"wiki": "error", "okf": "hint"}));
}
