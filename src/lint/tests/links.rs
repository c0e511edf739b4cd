//! Links and paths.

use super::*;

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
        ("k.md?x=1#top", "/k.md"),
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
        "[1](https://x.y/z) [2](MAILTO:a@b) [3](//host/x) [4]() [5](<>) [6](#a) <https://x.y> [7](tel:1) [8](?q)\n\n# A",
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
        "link differs from the file only in letter case: ../cafe\u{301}.md; write ../Café.md"
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

#[test]
fn a_fragment_names_a_heading_or_an_explicit_id() {
    let b = page("B", "# Real heading\n\n# Real heading\n\n<a name=\"old\"></a>\n\n## Über 日本 {#own}\n");
    let good = "[1](b.md#real-heading) [2](b.md#real-heading-1) [3](b.md#old) [4](b.md#own) [5](b.md#top) \
                [6](b.md#%C3%BCber-日本) [7](b.md#) [8](x.pdf#page=3) [9](b.md#real-heading:~:text=x) [10](#here)\n\n\
                # Here\n";
    let wrong = "[x](b.md#no-such) [y](#nor-this) [z](<b.md#Real heading>) [i](.#nowhere)\n";
    let (good, wrong) = (page("A", good), page("C", wrong));
    let files = [
        ("/index.md", "[a](a.md) [b](b.md#gone) [c](c.md)"),
        ("/a.md", good.as_str()),
        ("/b.md", &b),
        ("/c.md", &wrong),
        ("/x.pdf", ""),
    ];
    let report = judge(&files, Profile::Wiki);
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| {
            let text = files.iter().find(|(path, _)| *path == f.path.as_str()).unwrap().1;
            (f.rule.code, f.path.relative(), f.span.unwrap().of(text), f.data["target"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("L005", "c.md", "#no-such", "b.md#no-such"),
            ("L005", "c.md", "#nor-this", "#nor-this"),
            ("L005", "c.md", "#Real heading", "b.md#Real heading"),
            ("L005", "c.md", "#nowhere", ".#nowhere"),
            ("L005", "index.md", "#gone", "b.md#gone"),
        ]
    );
    assert_eq!(
        report.findings[2].message,
        "no heading of b.md has the anchor #Real heading; did you mean #real-heading?"
    );
}

#[test]
fn many_links_to_a_page_of_many_headings_take_linear_time() {
    let headings: String = (0..20_000).map(|n| format!("# H {n}\n")).collect();
    let links: String = (0..20_000).map(|n| format!("[x](#h-{n})\n")).collect();
    let text = page("A", &format!("{headings}\n{links}"));
    let start = std::time::Instant::now();
    assert_eq!(of_page(&text), []);
    // Searching each link's heading from the first would take minutes in this build.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn another_letter_case_is_a_warning_with_the_file_that_is_meant() {
    let text = page("A", "[1](B.md) [2](SUB/c.PDF) ![3](sub/I.png) [4](d.md)");
    let text = text.replace("title: A", "title: A\nsources: [B.MD]");
    let b = page("B", "x");
    let files = [
        ("/index.md", "[a](a.md) [b](b.md)"),
        ("/a.md", text.as_str()),
        ("/b.md", &b),
        ("/sub/c.pdf", ""),
        ("/sub/i.png", ""),
        // Two that could be meant: none is.
        ("/x/D.md", "x"),
    ];
    let report = judge(&files[..5], Profile::Wiki);
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule.code, f.data["target"].as_str().unwrap(), f.data.get("actual")))
        .map(|(code, target, actual)| (code, target, actual.and_then(|a| a.as_str())))
        .collect();
    assert_eq!(
        rows,
        [
            ("L007", "B.MD", Some("b.md")),
            ("L007", "B.md", Some("b.md")),
            ("L007", "SUB/c.PDF", Some("sub/c.pdf")),
            ("L007", "sub/I.png", Some("sub/i.png")),
            ("L001", "d.md", None),
        ]
    );
    let both = [("/index.md", "[x](C.TXT)"), ("/c.txt", ""), ("/C.txt", "")];
    assert_eq!(codes(&both, Profile::Wiki), ["B004", "L001"], "which one is meant is anybody's guess");
}

#[test]
fn what_is_meant_is_named_to_programs_too() {
    let text = page("A", "[1](sub/b.md) [2](b) [3](old/b.md) [4](c) [5](../gone.md)");
    let (b, c) = (page("B", "x"), page("C", "x"));
    let files = [
        ("/index.md", "[a](x/a.md) [b](sub/b.md)"),
        ("/x/index.md", "[a](a.md) [c](c.md)"),
        ("/x/a.md", text.as_str()),
        ("/x/c.md", &c),
        ("/sub/index.md", "[b](b.md)"),
        ("/sub/b.md", &b),
    ];
    let report = judge(&files, Profile::Okf);
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule.code, f.data["target"].as_str().unwrap(), f.data.get("actual").cloned()))
        .collect();
    assert_eq!(
        rows,
        [
            ("L001", "sub/b.md", Some("sub/b.md".into())),
            ("L001", "b", Some("sub/b.md".into())),
            ("L001", "old/b.md", Some("sub/b.md".into())),
            ("L001", "c", Some("x/c.md".into())),
            ("L001", "../gone.md", None),
        ]
    );
    assert_eq!(
        report.findings[0].message,
        "link resolves from the bundle root, not from this page: sub/b.md; write /sub/b.md"
    );
}

#[test]
fn wikilinks_are_hints_that_say_what_to_write() {
    let text = page(
        "A",
        "[[b|the B page]] [[B]] [[sub/c]] [[two]] [[none]] [[#Part one]] ![[b]] [[b#Part two]] `[[no]]`",
    );
    let (b, c) = (page("B", "x"), page("C", "x"));
    let files = [
        ("/index.md", "[a](a.md) [b](b.md)"),
        ("/a.md", text.as_str()),
        ("/b.md", &b),
        ("/sub/index.md", "[c](c.md) [t](two.md)"),
        ("/sub/c.md", &c),
        ("/sub/two.md", &page("D", "x")),
        ("/more/index.md", "[t](two.md)"),
        ("/more/two.md", &page("E", "x")),
    ];
    let report = judge(&files, Profile::Wiki);
    let rows: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.rule.code == "L008")
        .map(|f| {
            let advice = f.message.split_once("does not have").unwrap().1.trim_start_matches([';', ',', ' ']);
            (f.span.unwrap().of(&text), f.data["target"].as_str().unwrap(), advice)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("[[b|the B page]]", "b", "write [the B page](b.md)"),
            ("[[B]]", "B", "write [B](b.md)"),
            ("[[sub/c]]", "sub/c", "write [sub/c](sub/c.md)"),
            ("[[two]]", "two", "and 2 pages have that name"),
            ("[[none]]", "none", "and no page has that name"),
            ("[[#Part one]]", "#Part one", "write [#Part one](#part-one)"),
            ("![[b]]", "b", "write [b](b.md)"),
            ("[[b#Part two]]", "b#Part two", "write [b#Part two](b.md#part-two)"),
        ]
    );
    assert!(report.findings.iter().all(|f| f.level != Level::Error));
}

#[test]
fn images_are_links_to_assets() {
    let text = page(
        "A",
        "![1](img/gone.png) <img src=\"gone.svg\"> ![2](i.png) ![3](data:image/png;base64,x) ![4](/i.png) ![5](../../x.png)",
    );
    let files = [("/index.md", "[a](a.md)"), ("/a.md", text.as_str()), ("/i.png", "")];
    assert_eq!(codes(&files, Profile::Wiki), ["L009", "L009", "L002", "L006"]);
    let okf = judge(&files, Profile::Okf);
    let rows: Vec<_> =
        okf.findings.iter().map(|f| (f.rule.code, f.level, f.data["target"].as_str().unwrap())).collect();
    assert_eq!(
        rows,
        [
            ("L009", Level::Warning, "img/gone.png"),
            ("L009", Level::Warning, "gone.svg"),
            ("L006", Level::Error, "../../x.png")
        ]
    );
}

#[test]
fn brackets_in_the_text_of_a_link_balance() {
    let text = page("A", "[see [1]](gone.md) [`a]b`](gone.md) [![alt](i.png)](gone.md)");
    let files = [("/index.md", "[a](a.md)"), ("/a.md", text.as_str()), ("/i.png", "")];
    assert_eq!(codes(&files, Profile::Wiki), ["L001", "L001", "L001"]);
}
