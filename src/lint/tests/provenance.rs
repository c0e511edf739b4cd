//! Where pages come from, and until when they hold.

use super::*;

/// Code, field (or the rule's own key) and the source of every finding of a page with these lines in its frontmatter.
fn found(front: &str, body: &str) -> Vec<(&'static str, String, String)> {
    let text = page("A", body).replace("title: A", &format!("title: A\n{front}"));
    let files = [("/index.md", "[a](a.md) [b](b.md)"), ("/a.md", text.as_str()), ("/b.md", &page("B", "x"))];
    let report = judge(&files, Profile::Okf);
    let row = |f: &Finding| {
        let key = f.data.values().next().and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        (f.rule.code, key, f.span.unwrap().of(&text).to_owned())
    };
    report.findings.iter().map(row).collect()
}

fn rows(rows: &[(&'static str, &str, &str)]) -> Vec<(&'static str, String, String)> {
    rows.iter().map(|(code, key, source)| (*code, (*key).to_owned(), (*source).to_owned())).collect()
}

#[test]
fn provenance_in_form_has_no_finding() {
    for front in [
        "generated: {by: agent/1.0, at: 2026-07-19T10:30:00Z}",
        "generated: {by: 'human:ada'}\nverified: {by: 'process:nightly', at: 2026-07-19T10:30:00+02:00}",
        "verified:\n  - {by: 'human:ada@x', at: 2026-07-19T10:30:00Z}\n  - {by: a/b/c}",
        "sources: [b.md, 'Interview, March 2026']",
        "sources:\n  - resource: b.md\n    title: B\n    author: team:x\n    usage_count: 12\n    last_modified: 2026-07-19\n    \
         usage_window: {from: 2026-01-01, to: 2026-02-01}",
        "usage_window: {from: 2026-01-01T00:00:00Z}\nstatus: draft\nstale_after: 2999-12-31",
        "generated:\nverified: []\nstatus:\nstale_after: ''",
    ] {
        assert_eq!(found(front, "x"), [], "{front}");
    }
}

#[test]
fn provenance_out_of_form_is_found_at_its_place() {
    for (front, field, source) in [
        ("generated: {at: 2026-07-19T10:30:00Z}", "generated.by", "{at: 2026-07-19T10:30:00Z}"),
        ("generated: me", "generated", "me"),
        ("generated: {by: someone}", "generated.by", "someone"),
        ("generated: {by: 'human:'}", "generated.by", "'human:'"),
        ("generated: {by: 'team:x/1'}", "generated.by", "'team:x/1'"),
        ("generated: {by: a/1, at: yesterday}", "generated.at", "yesterday"),
        ("generated: {by: a/1, at: 2026-07-19}", "generated.at", "2026-07-19"),
        ("verified: [{by: a/1, at: 2026-07-19}]", "verified.at", "2026-07-19"),
        ("verified: [yes]", "verified", "yes"),
        ("sources: [{title: x}]", "sources.resource", "{title: x}"),
        ("sources: [[b.md]]", "sources", "[b.md]"),
        ("sources: [{resource: b.md, usage_count: many}]", "sources.usage_count", "many"),
        ("sources: [{resource: b.md, last_modified: mid-May}]", "sources.last_modified", "mid-May"),
        ("usage_window: all of June", "usage_window", "all of June"),
        ("usage_window: {from: June}", "usage_window.from", "June"),
        ("stale_after: 2026-13-01", "stale_after", "2026-13-01"),
    ] {
        assert_eq!(found(front, "x"), rows(&[("P001", field, source)]), "{front}");
    }
}

#[test]
fn a_page_is_stale_from_the_instant_on() {
    let stale = |after: &str, today: &str, profile| {
        let text = GOOD.replace("title: T", &format!("title: T\nstale_after: {after}"));
        let wiki = load(&[("/index.md", "[a](a.md)"), ("/a.md", &text)]);
        let options =
            Options { profile: Some(profile), today: Some(today.parse().unwrap()), ..Options::default() };
        let report = lint(&wiki, &options);
        report.findings.iter().map(|f| (f.rule.code, f.level, f.data["since"].clone())).next()
    };
    let since = |level| Some(("P002", level, "2026-07-19".into()));
    assert_eq!(stale("2026-07-19", "2026-07-19", Profile::Okf), since(Level::Warning));
    assert_eq!(stale("2026-07-19", "2026-07-20", Profile::Wiki), since(Level::Hint));
    assert_eq!(stale("2026-07-19", "2026-07-18", Profile::Okf), None);
    assert_eq!(stale("2026-07-19T00:00:01Z", "2026-07-19", Profile::Okf), None);
    let earlier = stale("2026-07-19T01:00:00+02:00", "2026-07-19", Profile::Okf).unwrap();
    assert_eq!(earlier.2, "2026-07-19T01:00:00+02:00");
    assert_eq!(found("stale_after: 2000-01-01", "x"), rows(&[("P002", "2000-01-01", "2000-01-01")]));
}

#[test]
fn footnotes_and_sources_name_each_other() {
    let sources =
        "sources:\n  - {id: one, resource: b.md}\n  - {id: two, resource: b.md}\n  - {id: 3, resource: b.md}";
    let body = "x[^one] y[^tow] z[^tow] n[^3]\n\n[^one]: text\n[^own]: text\n";
    assert_eq!(
        found(sources, body),
        rows(&[("P003", "two", "two"), ("P003", "tow", "[^tow]"), ("P003", "own", "[^own]: text")])
    );
    assert_eq!(found("sources: [b.md]", body), [], "without ids footnotes are only notes");
    assert_eq!(found("sources: [{resource: b.md}]", body), []);
    assert_eq!(found(sources, "x"), [], "a page without footnotes cites in another way");
}

#[test]
fn a_status_is_one_of_three() {
    for (written, value) in
        [("stabel", "stabel"), ("Draft", "Draft"), ("[draft]", "[draft]"), ("true", "true")]
    {
        assert_eq!(found(&format!("status: {written}"), "x"), rows(&[("P004", value, written)]), "{written}");
    }
}

#[test]
fn a_link_to_a_deprecated_page_is_a_hint_but_not_from_a_catalogue_or_another() {
    let a = page("A", "[b](b.md) [c](c.md#top)").replace("title", "sources: [b.md]\ntitle");
    let b = page("B", "[b](b.md)").replace("title", "status: deprecated\ntitle");
    let c = page("C", "x");
    let d = b.replace("title: B", "title: D");
    let files = [("/index.md", "[](a.md) [](b.md) [](c.md) [](d.md)"), ("/log.md", "[b](b.md)")];
    let files = [&files[..], &[("/a.md", a.as_str()), ("/b.md", &b), ("/c.md", &c), ("/d.md", &d)]].concat();
    for profile in [Profile::Wiki, Profile::Okf] {
        let report = judge(&files, profile);
        assert_eq!(places(&report), ["P005 a.md 3:11", "P005 a.md 9:5"]);
        assert_eq!(report.findings[1].data["target"], "b.md");
    }
}

#[test]
fn a_computation_says_on_what_it_runs_and_has_one_text() {
    let judged = |front: &str, body: &str| {
        let text = page("A", body).replace("type: Concept", &format!("type: Attested Computation\n{front}"));
        let files = [("/index.md", "[a](a.md)"), ("/a.md", text.as_str()), ("/x.sql", "")];
        let report = judge(&files, Profile::Okf);
        let rows = report.findings.iter();
        rows.map(|f| {
            assert_eq!(f.rule.code, "P006");
            (f.data["field"].as_str().unwrap().to_owned(), f.span.unwrap().of(&text).to_owned())
        })
        .collect::<Vec<_>>()
    };
    let fence = "# Computation\n\n```sql\nselect 1\n```\n\n# Notes\n\n```\nother\n```";
    let run = "runtime: bigquery";
    assert_eq!(judged(run, fence), []);
    assert_eq!(judged("runtime: bigquery\ncomputation: x.sql", "x"), []);
    let kind = "Attested Computation".to_owned();
    assert_eq!(judged("", fence), [("runtime".to_owned(), kind.clone())]);
    assert_eq!(judged(run, "```\nselect 1\n```"), [("computation".to_owned(), kind)]);
    let both = judged("runtime: bigquery\ncomputation: x.sql", fence);
    assert_eq!(both, [("computation".to_owned(), "```sql\nselect 1\n```".to_owned())]);
    let two = "# Computation\n\n```\n1\n```\n\n## More\n\n```\n2\n```";
    assert_eq!(judged(run, two), [("computation".to_owned(), "```\n2\n```".to_owned())]);
}

#[test]
fn pages_that_derive_from_themselves_are_one_finding_a_circle() {
    let derived =
        |title: &str, from: &str| page(title, "x").replace("title", &format!("sources: [{from}]\ntitle"));
    let texts = [
        derived("A", "b.md"),
        derived("B", "d.md, c.md"),
        derived("C", "a.md"),
        derived("D", "e.md"),
        derived("E", "e.md"),
        derived("F", "a.md"),
    ];
    let names = ["/a.md", "/b.md", "/c.md", "/d.md", "/e.md", "/f.md"];
    let mut files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
    files.push(("/index.md", "[](a.md) [](b.md) [](c.md) [](d.md) [](e.md) [](f.md)"));
    let report = judge(&files, Profile::Okf);
    let rows: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.rule.code, f.path.relative(), f.message.as_str(), f.data["cycle"].clone()))
        .collect();
    let circle = serde_json::json!(["a.md", "b.md", "c.md"]);
    assert_eq!(
        rows,
        [
            ("P007", "a.md", "page derives from itself: a.md -> b.md -> c.md -> a.md", circle),
            ("P007", "e.md", "page derives from itself: e.md -> e.md", serde_json::json!(["e.md"])),
        ]
    );
    assert_eq!(report.findings[0].span.unwrap().of(&texts[0]), "b.md");
}

#[test]
fn provenance_is_of_version_0_2() {
    let text = GOOD.replace("title: T", "title: T\nstatus: x\ngenerated: me\nstale_after: 2000-01-01");
    let codes = |version| {
        let wiki = load(&[("/index.md", "[a](a.md)"), ("/a.md", &text)]);
        let options = Options { profile: Some(Profile::Okf), okf_version: version, ..Options::default() };
        let report = lint(&wiki, &options);
        (report.okf_version, report.findings.iter().map(|f| f.rule.code).collect::<Vec<_>>())
    };
    assert_eq!(codes(Some(OkfVersion::V0_1)), ("0.1", vec![]));
    assert_eq!(codes(Some(OkfVersion::V0_2)), ("0.2", vec!["P004", "P001", "P002"]));
    assert_eq!(codes(None), ("0.2", vec!["P004", "P001", "P002"]));
}

#[test]
fn long_chains_of_sources_cost_no_stack() {
    let wiki: Vec<(String, String)> = (0..3_000)
        .map(|n| {
            let text = GOOD.replace("title: T", &format!("title: T{n}\nsources: [p{}.md]", (n + 1) % 3_000));
            (format!("/p{n}.md"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = wiki.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let report = judge(&files, Profile::Okf);
    let cycles: Vec<_> = report.findings.iter().filter(|f| f.rule.code == "P007").collect();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].data["cycle"].as_array().unwrap().len(), 10);
}
