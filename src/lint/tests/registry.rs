//! The registry: that it is the published table, and that its examples are what they say.

use std::collections::BTreeMap;

use super::*;
use crate::lint::registry::{ALL, table};

#[test]
fn codes_and_names_are_unique_and_in_order() {
    let codes: Vec<&str> = ALL.iter().map(|rule| rule.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable_by_key(|code| ("BFLSGTHP".find(&code[..1]), *code));
    sorted.dedup();
    assert_eq!(codes, sorted);
    let names: std::collections::BTreeSet<&str> = ALL.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), codes.len());
    assert_eq!(Rule::find("l001"), Rule::find("link-broken"));
    let table = table();
    assert!(
        table.contains("  L001  link-broken          error    hint     a link's target does not exist\n"),
        "{table}"
    );
    assert!(table.contains("  L002  link-absolute        error    -        "), "{table}");
    assert_eq!(table.lines().count(), ALL.len() + 1);
}

#[test]
fn the_table_agrees_with_the_published_one() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/reference/lint.md");
    let Ok(text) = std::fs::read_to_string(file) else {
        eprintln!("SKIPPED: {file} is not there");
        return;
    };
    let letter = |level: Option<Level>| match level {
        Some(Level::Error) => "E",
        Some(Level::Warning) => "W",
        Some(Level::Hint) => "H",
        None => "–",
    };
    for rule in ALL {
        let row = format!("| {} | {} | {}/{} |", rule.code, rule.name, letter(rule.wiki), letter(rule.okf));
        let published = text.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("{row}"));
        let fix = published.split('|').nth(5).unwrap().trim();
        let first = fix.split([' ', ':']).next().filter(|word| !word.is_empty()).unwrap_or("none");
        // Fixes that the text below the table gives to rules which have none in it.
        let first = match rule.code {
            "F002" => "safe",
            "L001" | "L003" | "L009" => "unsafe",
            _ => first,
        };
        assert_eq!(first, rule.fix.as_str(), "{row}");
    }
    let published = text.lines().filter(|line| {
        line.starts_with("| ") && line.get(3..6).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    });
    assert_eq!(published.count(), ALL.len());
}

/// Judged by other means: the examples describe a file that no text can hold.
const NOT_TEXT: [&str; 2] = ["B002", "B003"];

/// A small wiki without faults of its own, with the files of an example in it.
fn around(example: &str) -> Vec<(String, String)> {
    let margin = page("Margin over time", "# Net margin\n\n## Key points\n\nSee [page](page.md).");
    let sound = page("Page", "See [margin](margin.md).");
    let mut files: BTreeMap<String, String> = [
        ("/AGENTS.md", "# Schema\n\n## Types\n\n- `Concept`\n- `Attested Computation`\n"),
        ("/raw/report.pdf", ""),
        ("/wiki/assets/margin.png", ""),
        ("/wiki/index.md", "# Wiki\n\n* [Concepts](concepts/index.md)\n"),
        ("/wiki/log.md", "# Log\n\n## [2026-07-19] ingest | Report\n"),
        ("/wiki/concepts/index.md", "# Concepts\n\n* [Margin](margin.md)\n* [Page](page.md)\n"),
        ("/wiki/concepts/margin.md", margin.as_str()),
        ("/wiki/concepts/page.md", sound.as_str()),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .into();
    if example.starts_with("==> ") {
        for part in example.split("==> ").filter(|part| !part.is_empty()) {
            let (name, text) = part.split_once(" <==\n").unwrap();
            files.insert(format!("/{name}"), text.to_owned());
        }
    } else if example.trim_start_matches('\u{feff}').starts_with("---") {
        files.insert("/wiki/concepts/page.md".to_owned(), example.to_owned());
    } else {
        files.insert("/wiki/concepts/page.md".to_owned(), page("Page", example));
    }
    files.into_iter().collect()
}

#[test]
fn every_rule_says_why_and_shows_it() {
    for rule in ALL {
        for text in [rule.summary, rule.why, rule.bad, rule.good] {
            assert!(!text.trim().is_empty(), "{}", rule.code);
        }
        let sentences = rule.why.matches(". ").count() + 1;
        assert!(rule.why.ends_with('.') && sentences <= 2, "{}: {}", rule.code, rule.why);
        assert!(!rule.summary.ends_with('.') && rule.summary.len() <= 70, "{}: {}", rule.code, rule.summary);
    }
}

#[test]
fn the_bad_example_has_the_fault_and_the_good_one_has_not() {
    let mut wrong = Vec::new();
    for rule in ALL.iter().filter(|rule| !NOT_TEXT.contains(&rule.code)) {
        let profile = if rule.wiki.is_some() { Profile::Wiki } else { Profile::Okf };
        let has = |example: &str| {
            // The empty bundle is empty.
            let alone = rule.code == "B001";
            let files = around(example);
            let named = |path: &str| example.contains(&format!("==> {} <==", &path[1..]));
            let files: Vec<(&str, &str)> = files
                .iter()
                .filter(|(path, _)| !alone || named(path))
                .map(|(path, text)| (path.as_str(), text.as_str()))
                .collect();
            judge(&files, profile).by_rule().contains_key(rule.code)
        };
        if !has(rule.bad) {
            wrong.push(format!("{}: the bad example has no such fault", rule.code));
        }
        if has(rule.good) {
            wrong.push(format!("{}: the good example has the fault", rule.code));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_wiki_around_the_examples_is_sound() {
    let files = around("See [margin](margin.md).\n");
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(places(&judge(&files, Profile::Wiki)), [""; 0]);
}

/// What the registry says of a rule's fix is what the fixes of its bad example are, and they take the fault away.
#[test]
fn the_fix_of_the_bad_example_is_what_the_registry_says() {
    use crate::lint::fix::{Request, Safety, offers, run};
    let mut wrong = Vec::new();
    for rule in ALL.iter().filter(|rule| !NOT_TEXT.contains(&rule.code)) {
        let profile = if rule.wiki.is_some() { Profile::Wiki } else { Profile::Okf };
        let options = Options { profile: Some(profile), ..Options::default() };
        let judged = |example: &str| {
            let files = around(example);
            let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
            let wiki = load(&files);
            let report = lint(&wiki, &options);
            let own = report.findings.iter().filter(|finding| finding.rule == *rule);
            let best =
                offers(&wiki, &report, &options, own).into_iter().flatten().map(|fix| fix.safety).min();
            let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files).unwrap());
            let (rules, wanted) = (Rules::manager(true), |finding: &Finding| finding.rule == *rule);
            let all = best == Some(Safety::Unsafe);
            let outcome =
                run(wiki, &Request { base, rules: &rules, options: &options, all, wanted: &wanted });
            (best, outcome.report.by_rule().contains_key(rule.code))
        };
        // Redirecting wants a page that the link can be meant for.
        let example = match rule.code {
            "L001" => "See [margin](../margin.md).\n",
            "L003" => "---\ntype: Concept\ntitle: T\nsources: [../entities/margin.md]\n---\n",
            "L009" => "![x](wiki/assets/margin.png)\n",
            _ => rule.bad,
        };
        let found = match judged(example) {
            (None, true) => FixKind::None,
            (Some(Safety::Safe), false) => FixKind::Safe,
            (Some(Safety::Unsafe), false) => FixKind::Unsafe,
            other => {
                wrong.push(format!("{}: {other:?}", rule.code));
                continue;
            }
        };
        // The empty bundle is not empty here, so there is nothing to find.
        if found != rule.fix {
            wrong.push(format!("{}: {found:?} and not {:?}", rule.code, rule.fix));
        }
    }
    assert_eq!(wrong, ["B001: (None, false)"]);
}
