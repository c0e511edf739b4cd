//! What the rules say of small bundles.

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
    lint(&load(files), &Options { profile: Some(profile) })
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
fn codes_and_names_are_unique_and_in_order() {
    let codes: Vec<&str> = registry::ALL.iter().map(|rule| rule.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable_by_key(|code| ("BFLSGTHP".find(&code[..1]), *code));
    sorted.dedup();
    assert_eq!(codes, sorted);
    let names: std::collections::BTreeSet<&str> = registry::ALL.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), codes.len());
    assert_eq!(Rule::find("l001"), Rule::find("link-broken"));
    let table = registry::table();
    assert!(
        table.contains("  L001  link-broken          error    hint     a link's target does not exist\n"),
        "{table}"
    );
    assert!(table.contains("  L002  link-absolute        error    -        "), "{table}");
    assert_eq!(table.lines().count(), registry::ALL.len() + 1);
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
    for rule in registry::ALL {
        let row = format!("| {} | {} | {}/{} |", rule.code, rule.name, letter(rule.wiki), letter(rule.okf));
        assert!(text.contains(&row), "{row}");
    }
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

// B

#[test]
fn an_empty_bundle_is_one_error() {
    assert_eq!(codes(&[], Profile::Wiki), ["B001"]);
    assert_eq!(codes(&[("/raw/a.md", "x"), ("/notes.txt", "x")], Profile::Okf), ["B001"]);
}

#[test]
fn bytes_and_characters_that_are_no_text_are_named_in_whole_sentences() {
    for character in ['\u{1}', '\u{7f}', '\u{fffe}'] {
        let found = of_page(&format!("---\ntype: \"a{character}b\"\n---\n"));
        let said = format!(
            "frontmatter is not a YAML mapping: a value holds the character U+{:04X}, which YAML allows nowhere; take it out",
            u32::from(character)
        );
        assert_eq!(found.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), [said]);
    }
    let found = of_page("---\ntype: @a\n---\n");
    assert!(found[0].message.ends_with("a value starts with `@`, which YAML reserves; quote the value"));
}

#[test]
fn one_bad_entry_is_one_finding() {
    let bundle = MemoryBundle::new([("/index.md", "* [A](a.md)\n")]).unwrap();
    bundle.write(&path("/a.md"), b"caf\xe9\n").unwrap();
    let report = lint(&Wiki::load(&bundle).unwrap(), &Options { profile: Some(Profile::Wiki) });
    assert_eq!(places(&report), ["B002 a.md 1:1"]);
    let said = &report.findings[0].message;
    assert!(
        said.starts_with("not UTF-8 text: byte ")
            && said.ends_with(", counted from 0, is not valid; save it as UTF-8"),
        "{said}"
    );
    assert_eq!(report.findings[0].data["offset"], 3);
}

// F

#[test]
fn a_missing_block_replaces_the_field_findings() {
    let found = of_page("# A\n");
    assert_eq!(found.iter().map(|f| f.rule.code).collect::<Vec<_>>(), ["F001"]);
}

#[test]
fn fields_are_found_missing_empty_or_of_the_wrong_kind() {
    let found = of_page("---\ntype: [A, B]\ntitle: ''\ntimestamp: 2026-07-19\n---\n");
    let rows: Vec<_> = found
        .iter()
        .map(|f| (f.rule.code, f.data["field"].as_str().unwrap(), f.line, f.message.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("F004", "description", 1, "recommended field `description` is missing"),
            ("F003", "type", 2, "required field `type` is not a string"),
            ("F004", "title", 3, "recommended field `title` is empty"),
        ]
    );
}

#[test]
fn a_type_counts_only_at_the_top_and_only_when_it_says_something() {
    for front in
        ["parameters:\n  - type: integer", "type: ~", "type: '  '", "type: null", "type: 7", "type: true"]
    {
        let text = GOOD.replace("type: Concept", front);
        let codes: Vec<_> = of_page(&text).iter().map(|f| f.rule.code).collect();
        assert_eq!(codes, ["F003"], "{front}");
    }
}

#[test]
fn reserved_pages_need_no_fields_and_their_timestamps_are_checked() {
    let files = [("/index.md", "---\ntimestamp: yesterday\n---\n"), ("/log.md", ""), ("/AGENTS.md", "")];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["F005 index.md 2:12"]);
}

#[test]
fn a_value_with_a_colon_is_named_in_words() {
    let found = of_page("---\ntype: Concept\ntitle: Rust: the book\n---\n");
    assert_eq!(found[0].rule.code, "F002");
    assert_eq!(
        found[0].message,
        "frontmatter is not valid YAML: the value of `title` holds `: ` and must stand in quotes"
    );
    assert_eq!((found.len(), found[0].line), (1, 3));
}

#[test]
fn a_timestamp_may_be_a_bare_date_or_a_yaml_number() {
    for good in ["2026-07-19", "20260719", "\"2026-07-19T10:30:00Z\"", "2026-07-19 10:30 # last edit"] {
        let text = GOOD.replace("2026-07-19T10:30:00Z", good);
        assert_eq!(of_page(&text), [], "{good}");
    }
    for (bad, value) in
        [("19/07/2026", "19/07/2026"), ("'Q3 2026'", "Q3 2026"), ("[2026]", "[2026]"), ("7", "7")]
    {
        let found = of_page(&GOOD.replace("2026-07-19T10:30:00Z", bad));
        assert_eq!((found.len(), found[0].rule.code), (1, "F005"), "{bad}");
        assert_eq!(found[0].data["value"], value);
    }
}

// L

#[test]
fn a_link_finding_points_at_the_destination_in_characters() {
    let report = judge(
        &[("/index.md", "é [A](a.md) [ü](gone.md \"title\") [r]\n\n[r]: <also gone.md>\n"), ("/a.md", GOOD)],
        Profile::Wiki,
    );
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule.code, f.line, f.column, f.end_column, f.data["target"].as_str().unwrap()))
        .collect();
    assert_eq!(rows, [("L001", 1, 17, 24, "gone.md"), ("L001", 3, 7, 19, "also gone.md")]);
}

#[test]
fn each_occurrence_is_a_finding() {
    let text = page("A", "[x](gone.md) [x](gone.md)");
    assert_eq!(of_page(&text).len(), 2);
}

#[test]
fn code_comments_and_escapes_hold_no_links() {
    let text = page(
        "A",
        "`[x](no.md)` \\[x\\](no.md) <!-- [x](no.md) -->\n\n```\n[x](no.md)\n```\n\n    [x](no.md)\n",
    );
    assert_eq!(of_page(&text), []);
}

#[test]
fn titles_angles_parentheses_escapes_and_queries_are_no_part_of_the_path() {
    let spellings = [
        ("b.md \"title\"", "/b.md"),
        ("<c d.md>", "/c d.md"),
        ("e_(f).md", "/e_(f).md"),
        ("g%20h.md", "/g h.md"),
        ("b\\_i.md", "/b_i.md"),
        ("b&amp;j.md", "/b&j.md"),
        ("k.md?x=1#y", "/k.md"),
    ];
    for (written, file) in spellings {
        let index = format!("[x]({written})");
        assert_eq!(codes(&[("/index.md", &index), (file, GOOD)], Profile::Wiki), [""; 0], "{written}");
        assert_eq!(codes(&[("/index.md", &index)], Profile::Wiki), ["L001"], "{written}");
    }
}

#[test]
fn external_empty_and_fragment_links_are_left_alone() {
    let text = page(
        "A",
        "[1](https://x.y/z) [2](MAILTO:a@b) [3](//host/x) [4]() [5](<>) [6](#a) <https://x.y> [7](tel:1) [8](?q)",
    );
    assert_eq!(of_page(&text), []);
}

#[test]
fn html_links_are_links() {
    let report = judge(
        &[("/index.md", "<a href=\"a.md\">A</a> <a href='gone.md'>x</a>\n"), ("/a.md", GOOD)],
        Profile::Wiki,
    );
    // The page is linked and so no orphan; the bare index entry counts too.
    assert_eq!(places(&report), ["L001 index.md 1:31"]);
}

#[test]
fn absolute_paths_are_a_defect_of_the_convention_and_the_form_of_the_specification() {
    let index = "[a](/a.md) [gone](/gone.md)\n";
    let text = GOOD.replace("title", "sources: [/index.md, /gone.md]\ntitle");
    let files = [("/index.md", index), ("/a.md", &text)];
    let wiki = judge(&files, Profile::Wiki);
    let rules: Vec<_> = wiki.findings.iter().map(|f| (f.rule.code, f.level)).collect();
    assert_eq!(
        rules,
        [("L004", Level::Error), ("L004", Level::Error), ("L002", Level::Error), ("L002", Level::Error)]
    );
    let okf = judge(&files, Profile::Okf);
    let rules: Vec<_> = okf.findings.iter().map(|f| (f.rule.code, f.level)).collect();
    assert_eq!(rules, [("L003", Level::Hint), ("L001", Level::Hint)]);
}

#[test]
fn a_link_that_is_only_written_wrongly_is_not_called_broken() {
    let (a, b) = (page("A", "x"), page("B", "x"));
    let message = |link: &str| {
        let text = page("C", &format!("[x](<{link}>)"));
        let files = [
            ("/index.md", "[a](policies/a.md) [b](Café.md) [c](c/c.md)"),
            ("/policies/index.md", "[a](a.md)"),
            ("/policies/a.md", a.as_str()),
            ("/Café.md", b.as_str()),
            ("/c/index.md", "[c](c.md)"),
            ("/c/c.md", text.as_str()),
        ];
        let report = judge(&files, Profile::Wiki);
        assert_eq!(report.findings.len(), 1, "{:?}", places(&report));
        report.findings[0].message.clone()
    };
    assert_eq!(
        message("policies/a.md"),
        "link resolves from the bundle root, not from this page: policies/a.md; write ../policies/a.md"
    );
    assert_eq!(
        message("../cafe\u{301}.md"),
        "link differs from the file in letter case or Unicode form: ../cafe\u{301}.md; write ../Café.md"
    );
    assert_eq!(message("../policies/a"), "broken link: ../policies/a; did you mean ../policies/a.md?");
    assert_eq!(message("a"), "link is the slug of a page, not its path: a; write ../policies/a.md");
    assert_eq!(message("nowhere.md"), "broken link: nowhere.md");
}

#[test]
fn paths_in_fields_are_read_as_yaml_and_prose_is_left_alone() {
    let text = GOOD.replace(
        "title",
        "resource: Interview, March 2026\nsources:\n  - gone.md\n  - \"also gone.md\"  # why\n  - https://x.y/z\ntitle",
    );
    let found = of_page(&text);
    let rows: Vec<_> = found
        .iter()
        .map(|f| (f.rule.code, f.data["field"].as_str().unwrap(), f.data["target"].as_str().unwrap(), f.line))
        .collect();
    assert_eq!(rows, [("L003", "sources", "gone.md", 5), ("L003", "sources", "also gone.md", 6)]);
}

#[test]
fn a_link_out_of_the_bundle_is_named_so_in_both_profiles() {
    let text = page("A", "[x](../../a.md)");
    for profile in [Profile::Wiki, Profile::Okf] {
        assert_eq!(codes(&[("/index.md", "[a](a.md)"), ("/a.md", &text)], profile), ["L006"]);
    }
}

#[test]
fn sources_assets_and_folders_exist() {
    let text = page("A", "[1](../raw/x.pdf) [2](assets/i.png) [3](../raw/) [4](.) [5](../.github/x.yml)");
    let files = [
        ("/raw/x.pdf", ""),
        ("/wiki/assets/i.png", ""),
        ("/.github/x.yml", ""),
        ("/wiki/index.md", "[a](a.md)"),
        ("/wiki/a.md", &text),
    ];
    assert_eq!(codes(&files, Profile::Wiki), [""; 0]);
}

#[test]
fn reference_links_are_links_wherever_their_definition_stands() {
    let a = page(
        "A",
        "See [the B page][b], [gone] and [c][].\n\n[b]: b.md\n[gone]: gone.md\n[c]: c.md \"title\"",
    );
    let (b, c) = (page("B", "x"), page("C", "x"));
    let files =
        [("/index.md", "[](a.md) b.md c.md"), ("/a.md", a.as_str()), ("/b.md", b.as_str()), ("/c.md", &c)];
    assert_eq!(places(&judge(&files, Profile::Wiki)), ["L001 a.md 11:9"]);
}

#[test]
fn frontmatter_is_no_markdown_and_a_bracket_is_no_link() {
    let text =
        page("A", "[a](<b>/c) [x](two words.md) [y] (z.md)").replace("title", "note: '[x](no.md)'\ntitle");
    assert_eq!(of_page(&text), []);
}

#[test]
fn paths_inside_mappings_are_checked() {
    let text = GOOD.replace(
        "title: T",
        "title: T\nexecutor:\n  resource: gone/run.md\nsources:\n  - id: s\n    resource: gone/a.md\n    title: S",
    );
    let rows: Vec<_> = of_page(&text)
        .iter()
        .map(|f| (f.rule.code, f.data["field"].clone(), f.data["target"].clone()))
        .collect();
    assert_eq!(
        rows,
        [
            ("L003", "executor.resource".into(), "gone/run.md".into()),
            ("L003", "sources".into(), "gone/a.md".into())
        ]
    );
}

#[test]
fn dot_folders_are_not_judged() {
    let files = [("/index.md", "x"), ("/.claude/skills/x/SKILL.md", "x"), ("/a/.venv/LICENSE.md", "x")];
    assert_eq!(codes(&files, Profile::Wiki), [""; 0]);
}

// S

#[test]
fn an_index_mentions_by_link_or_by_whole_word() {
    let pages: Vec<String> = (0..5).map(|n| page(&format!("T{n}"), "x")).collect();
    let index = "[a](a.md), b.md, barfoo.md, `d.md`, <!-- e.md -->";
    let files = [
        ("/index.md", index),
        ("/a.md", pages[0].as_str()),
        ("/b.md", &pages[1]),
        ("/foo.md", &pages[2]),
        ("/d.md", &pages[3]),
        ("/e.md", &pages[4]),
        ("/x/index.md", "[](../a.md) [](../b.md) [](../foo.md) [](../d.md) [](../e.md)"),
    ];
    let stale = |profile| {
        let report = judge(&files, profile);
        assert_eq!(report.findings.len(), 1, "{:?}", places(&report));
        report.findings[0].data["pages"].clone()
    };
    assert_eq!(stale(Profile::Wiki), serde_json::json!(["d.md", "e.md", "foo.md"]));
    assert_eq!(
        stale(Profile::Okf),
        serde_json::json!(["b.md", "d.md", "e.md", "foo.md"]),
        "a mention is a link"
    );
}

#[test]
fn a_folder_without_index_is_named_by_the_index_it_lacks() {
    let (a, b) = (page("A", "[b](b.md)"), page("B", "[a](a.md)"));
    let files = [("/sub/a.md", a.as_str()), ("/sub/b.md", &b), ("/only-reserved/log.md", "")];
    let report = judge(&files, Profile::Wiki);
    assert_eq!(places(&report), ["S001 sub/index.md 1:1"]);
    assert_eq!(report.findings[0].data["pages"], serde_json::json!(["a.md", "b.md"]));
    assert_eq!(codes(&files, Profile::Okf), [""; 0]);
}

// G

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

// T

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
    assert_eq!(places(&report), ["T002 b.md 2:7", "T001 c.md 2:7"]);
    assert_eq!(report.findings[0].data["declared"], "Concept");
    assert_eq!(report.findings[1].data["type"], "Person");
    assert_eq!(
        codes(&files, Profile::Okf),
        ["F001"],
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

// H

#[test]
fn log_headings_have_the_form_of_their_profile() {
    let log = "# Log\n\n## [2026-07-19] ingest | X\n\n## [2026-07-19] import | X\n\n## 2026-07-19\n\n## [2026-13-45] lint | X\n\n\
               ```\n## no heading\n```\n";
    let files = [("/wiki/log.md", log)];
    assert_eq!(
        places(&judge(&files, Profile::Wiki)),
        ["H002 wiki/log.md 5:1", "H001 wiki/log.md 7:1", "H001 wiki/log.md 9:1"]
    );
    assert_eq!(
        places(&judge(&files, Profile::Okf)),
        ["H001 wiki/log.md 3:1", "H001 wiki/log.md 5:1", "H001 wiki/log.md 9:1"]
    );
}

// The report

#[test]
fn a_proposed_bundle_is_judged_like_any_other() {
    let (a, b) = (page("A", "[b](b.md)"), page("B", "[a](a.md)"));
    let files = [("/index.md", "[](a.md) [](b.md)"), ("/a.md", a.as_str()), ("/b.md", &b)];
    let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files).unwrap());
    let options = Options { profile: Some(Profile::Wiki) };
    let before = lint(&Wiki::load(&base).unwrap(), &options);
    assert_eq!(places(&before), [""; 0]);

    let staged = Staged::new(base.clone(), Rules::manager(true));
    staged.write(&path("/c.md"), page("C", "new").as_bytes()).unwrap();
    staged.delete(&path("/b.md")).unwrap();
    let mut wiki = Wiki::load(&base).unwrap();
    wiki.update(&staged, &[path("/b.md"), path("/c.md")]);
    let after = lint(&wiki, &options);
    let (appeared, vanished) = delta(&before, &after);
    let appeared: Vec<_> = appeared.iter().map(|f| (f.rule.code, f.path.relative())).collect();
    assert_eq!(appeared, [("L001", "a.md"), ("G001", "c.md"), ("S002", "index.md"), ("L001", "index.md")]);
    assert_eq!(vanished.len(), 0);
    assert_eq!(wiki, Wiki::load(&staged).unwrap());
}

#[test]
fn a_moved_finding_is_the_same_and_one_more_of_a_kind_is_new() {
    let report = |body: &str| judge(&[("/index.md", body)], Profile::Wiki);
    let (before, after) = (report("[x](gone.md) [y](old.md)"), report("\n\n[x](gone.md)\n\n[x](gone.md)\n"));
    let (appeared, vanished) = delta(&before, &after);
    assert_eq!(
        appeared.iter().map(|f| (f.line, f.message.as_str())).collect::<Vec<_>>(),
        [(5, "broken link: gone.md")]
    );
    assert_eq!(vanished.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), ["broken link: old.md"]);
    assert_eq!(delta(&after, &after), (vec![], vec![]));
}

#[test]
fn folders_sum_up_what_is_below() {
    let files = [("/w/index.md", "[x](gone.md)"), ("/w/d/a.md", "x"), ("/w/d/index.md", "[](a.md)")];
    let counts = judge(&files, Profile::Wiki).counts_by_path();
    let count = |of: &str| counts.get(&path(of)).copied().unwrap_or_default();
    assert_eq!(count("/w/d/a.md"), Counts { errors: 1, ..Counts::default() });
    assert_eq!(count("/w/d"), count("/w/d/a.md"));
    assert_eq!(count("/w"), Counts { errors: 2, ..Counts::default() });
    assert_eq!(count("/"), count("/w"));
    assert_eq!(count("/w/d/index.md"), Counts::default());
    assert_eq!(count("/w").worst(), Some(Level::Error));
}

#[test]
fn foreign_text_is_made_safe_in_text_output_and_kept_in_json() {
    let files = [("/index.md", "[x](<go\u{202e}ne\u{1b}.md>)")];
    let report = judge(&files, Profile::Wiki);
    let mut out = Vec::new();
    format::text(&report, false, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("index.md:1:6: error L001 link-broken: broken link: go"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    assert!(text.ends_with("1 error, 0 warnings, 0 hints in 1 page (profile wiki): L001 1\n"), "{text}");

    let mut out = Vec::new();
    format::json(&report, "x", &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["findings"][0]["data"]["target"], "go\u{202e}ne\u{1b}.md");
    assert_eq!(json["summary"], serde_json::json!({"errors": 1, "warnings": 0, "hints": 0, "fixed": 0}));
    assert!(!out.contains(&0x1b));
}

#[test]
fn colours_are_only_around_what_is_ours() {
    let report = judge(&[], Profile::Okf);
    let mut out = Vec::new();
    format::text(&report, true, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("\u{1b}[1m<bundle>\u{1b}[0m"), "{text:?}");
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
                let options = Options { profile: Some(profile) };
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
