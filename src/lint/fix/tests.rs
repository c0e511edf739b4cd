//! What each fix writes and what it leaves alone.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::bundle::{MemoryBundle, Read, Rules};
use crate::lint::{Level, Profile, lint};

const HEAD: &str = "---\ntype: Concept\ntitle: T\ndescription: D\ntimestamp: 2026-07-19T10:30:00Z\n---\n\n";

fn page(title: &str, body: &str) -> String {
    format!("{}{body}\n", HEAD.replace("title: T", &format!("title: {title}")))
}

fn options(profile: Profile) -> Options {
    let today = jiff::civil::date(2026, 12, 1);
    Options { profile: Some(profile), today: Some(today), ..Options::default() }
}

/// A bundle, fixed; the texts of what was changed.
fn fix(files: &[(&str, &str)], profile: Profile, all: bool) -> (BTreeMap<String, String>, Outcome) {
    let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files.iter().copied()).unwrap());
    let wiki = Wiki::load(&*base).unwrap();
    let request =
        Request { base, rules: &Rules::manager(true), options: &options(profile), all, wanted: &|_| true };
    let outcome = run(wiki, &request);
    let changed = outcome.changes.files.iter().map(|file| {
        let text = String::from_utf8(file.after.as_deref().unwrap().to_vec()).unwrap();
        (file.path.relative().to_owned(), text)
    });
    (changed.collect(), outcome)
}

/// The text of `a.md` after its fixes, in a small wiki of sound pages.
fn mended(text: &str, all: bool) -> String {
    let (b, spaced, twin) = (page("B", "# Part two"), page("My page", ""), page("Twin", ""));
    let files = [
        ("/index.md", "* [A](a.md)\n* [B](b.md)\n* [Sub](sub/index.md)\n"),
        ("/a.md", text),
        ("/b.md", &b),
        ("/sub/index.md", "* [x](<my page.md>)\n* [t](twin.md)\n* [u](unique.md)\n* [o](../other/twin.md)\n"),
        ("/sub/my page.md", &spaced),
        ("/sub/unique.md", &spaced),
        ("/sub/twin.md", &twin),
        ("/other/index.md", "* [t](twin.md)\n"),
        ("/other/twin.md", &twin),
        ("/raw/Report 1.pdf", ""),
    ];
    let (mut changed, _) = fix(&files, Profile::Wiki, all);
    let after = changed.remove("a.md").unwrap_or_else(|| text.to_owned());
    assert_eq!(changed, BTreeMap::new());
    after
}

fn body(text: &str, all: bool) -> String {
    let (head, crlf) = (page("A", ""), text.contains('\r'));
    let head = head.trim_end().to_owned() + "\n\n";
    let head = if crlf { head.replace('\n', "\r\n") } else { head };
    mended(&format!("{head}{text}"), all).strip_prefix(&head).unwrap().to_owned()
}

#[test]
fn absolute_links_become_relative_in_their_own_style() {
    for (before, after) in [
        ("[x](/b.md)", "[x](b.md)"),
        (
            "[x](/b.md)\r\nline\r\n[y](/b.md#part-two 'T')\r\n",
            "[x](b.md)\r\nline\r\n[y](b.md#part-two 'T')\r\n",
        ),
        ("[x](/sub/)", "[x](sub/)"),
        ("[x](/)", "[x](./)"),
        ("[x](</sub/my page.md>)", "[x](<sub/my%20page.md>)"),
        ("[x](/sub/my%20page.md?q)", "[x](sub/my%20page.md?q)"),
        ("[x][r] [r]\n\n[r]: /b.md 'T'", "[x][r] [r]\n\n[r]: b.md 'T'"),
        ("<a href=\"/b.md\">x</a>", "<a href=\"b.md\">x</a>"),
        (
            "`[x](/b.md)`\n\n    [x](/b.md)\n\nText <!-- [x](/b.md) --> [x](/b.md)",
            "`[x](/b.md)`\n\n    [x](/b.md)\n\nText <!-- [x](/b.md) --> [x](b.md)",
        ),
        ("[x](/gone.md)", "[x](/gone.md)"),
        ("https://e.com/b.md [/b.md](/b.md)", "https://e.com/b.md [/b.md](b.md)"),
    ] {
        assert_eq!(body(before, false), after, "{before}");
    }
}

#[test]
fn absolute_paths_in_fields_become_relative_and_keep_their_quotes() {
    let with = |field: &str| page("A", "").replace("title: A", &format!("title: A\n{field}"));
    for (before, after) in [
        ("resource: /b.md # c", "resource: b.md # c"),
        ("resource: '/b.md'", "resource: 'b.md'"),
        ("resource: /raw/Report 1.pdf", "resource: raw/Report 1.pdf"),
        ("sources:\n  - /b.md\n  - \"/sub/twin.md\"", "sources:\n  - b.md\n  - \"sub/twin.md\""),
        ("sources: [/b.md, b.md]", "sources: [b.md, b.md]"),
        ("other: &x /b.md\nresource: *x", "other: &x /b.md\nresource: b.md"),
        ("resource: &x /b.md\nother: *x", "resource: &x /b.md\nother: *x"),
    ] {
        assert_eq!(mended(&with(before), false), with(after), "{before}");
    }
}

#[test]
fn letter_case_and_unicode_form_are_taken_from_the_file() {
    assert_eq!(body("[x](B.md#part-two)", false), "[x](b.md#part-two)");
    assert_eq!(body("[x](Sub/Unique.MD)", false), "[x](sub/unique.md)");
    let index = "* [A](caf\u{e9}.md)\n";
    let files = [("/index.md", index), ("/cafe\u{301}.md", &page("A", ""))];
    let (changed, _) = fix(&files, Profile::Wiki, false);
    assert_eq!(changed["index.md"], "* [A](cafe\u{301}.md)\n");
}

#[test]
fn a_broken_link_is_redirected_only_when_asked_and_never_guessed() {
    for (before, after) in [
        ("[x](unique.md#part)", "[x](sub/unique.md#part)"),
        ("[x](b)", "[x](b.md)"),
        ("[x](unique)", "[x](sub/unique.md)"),
    ] {
        assert_eq!(body(before, false), before);
        assert_eq!(body(before, true), after);
    }
    for ambiguous in ["[x](twin.md)", "[x](gone.md)", "[x](deep/twin.md)"] {
        assert_eq!(body(ambiguous, true), ambiguous);
    }
    let from_root = page("S", "[t](sub/twin.md)").replace("title: S", "title: S\nsources: [sub/twin.md]");
    let files = [
        ("/index.md", "* [s](sub/index.md)"),
        ("/sub/index.md", "* [s](s.md)\n* [t](twin.md)\n"),
        ("/sub/s.md", &from_root),
        ("/sub/twin.md", &page("Twin", "")),
    ];
    assert!(fix(&files, Profile::Wiki, false).0.is_empty());
    let (changed, _) = fix(&files, Profile::Wiki, true);
    assert_eq!(changed["sub/s.md"], from_root.replace("sub/twin.md", "twin.md"));
}

#[test]
fn wikilinks_that_name_one_page_become_links() {
    for (before, after) in [
        ("[[b]]", "[b](b.md)"),
        ("[[B|B & snake_case]]", "[B & snake_case](b.md)"),
        ("[[unique]] [[twin]] [[gone]]", "[unique](sub/unique.md) [[twin]] [[gone]]"),
        ("| [[b\\|x]] |\n|---|\n", "| [x](b.md) |\n|---|\n"),
        ("[[b#Part two]]", "[b#Part two](b.md#part-two)"),
        ("[[b#Other]]", "[[b#Other]]"),
        ("![[b]]", "![[b]]"),
        ("[see [[b]]](b.md)", "[see [[b]]](b.md)"),
    ] {
        assert_eq!(body(before, false), after, "{before}");
    }
    assert_eq!(body("[[b#Other]]", true), "[b#Other](b.md#other)");
}

#[test]
fn dates_are_written_anew_where_they_can_be_read() {
    let with = |line: &str| page("A", "").replace("timestamp: 2026-07-19T10:30:00Z", line);
    for (before, safe, all) in [
        ("timestamp: 19/07/2026", "timestamp: 2026-07-19T00:00:00Z", ""),
        ("timestamp:  \"19/07/2026\" # c", "timestamp:  \"2026-07-19T00:00:00Z\" # c", ""),
        ("timestamp: '2026/07/19 10:30'", "timestamp: '2026-07-19T10:30:00Z'", ""),
        (
            "old_timestamp: 19/07/2026\ntimestamp: 19/07/2026",
            "old_timestamp: 19/07/2026\ntimestamp: 2026-07-19T00:00:00Z",
            "",
        ),
        ("timestamp: >\n  19/07/2026", "timestamp: 2026-07-19T00:00:00Z", ""),
        ("timestamp: 07/04/2026", "", "timestamp: 2026-04-07T00:00:00Z"),
        ("timestamp: Q3 2026", "", "timestamp: 2026-12-01T00:00:00Z"),
        ("timestamp: [19/07/2026]", "", ""),
        ("a: &d 19/07/2026\ntimestamp: *d", "a: &d 19/07/2026\ntimestamp: 2026-07-19T00:00:00Z", ""),
    ] {
        let safe = if safe.is_empty() { before } else { safe };
        let all = if all.is_empty() { safe } else { all };
        assert_eq!(mended(&with(before), false), with(safe), "{before}");
        assert_eq!(mended(&with(before), true), with(all), "{before}");
    }
}

#[test]
fn values_that_hold_a_colon_are_put_in_quotes() {
    let with = |text: &str| page("A", "").replace("description: D", text);
    for (before, after) in [
        ("description: Margin: what remains # c", "description: 'Margin: what remains' # c"),
        ("description: it's: x\nresource: Interview: A", "description: 'it''s: x'\nresource: 'Interview: A'"),
        ("sources:\n  - title: Talk: A, B", "sources:\n  - title: 'Talk: A, B'"),
        ("description: a: b\nx: [", "description: a: b\nx: ["),
        ("description: a: b\n  more", "description: a: b\n  more"),
    ] {
        assert_eq!(mended(&with(before), false), with(after), "{before}");
        let (before, after) = (with(before).replace('\n', "\r\n"), with(after).replace('\n', "\r\n"));
        assert_eq!(mended(&before, false), after);
    }
    // What the block hid is mended in the same run.
    let hidden = with("description: a: b").replace("2026-07-19T10:30:00Z", "19/07/2026") + "[x](/b.md)";
    let shown =
        with("description: 'a: b'").replace("2026-07-19T10:30:00Z", "2026-07-19T00:00:00Z") + "[x](b.md)";
    assert_eq!(mended(&hidden, false), shown);
}

#[test]
fn a_byte_order_mark_goes_and_nothing_else() {
    let text = page("A", "x").replace('\n', "\r\n");
    let text = text.trim_end();
    assert_eq!(mended(&format!("\u{feff}{text}"), false), text);
}

#[test]
fn a_type_gets_its_declared_case_in_every_page() {
    let schema = "# Schema\n\n## Types\n\n- `Concept`\n- `Entity`\n- `entity`\n";
    let typed = |kind: &str| page("A", "").replace("type: Concept", &format!("type: {kind}"));
    let files = [
        ("/AGENTS.md", schema),
        ("/index.md", "a.md b.md c.md d.md"),
        ("/a.md", &typed("concept # c")),
        ("/b.md", &typed("\"concept\"")),
        ("/c.md", &typed("CONCEPT")),
        ("/d.md", &typed("ENTITY")),
    ];
    let (changed, outcome) = fix(&files, Profile::Wiki, false);
    let wanted = [("a.md", "Concept # c"), ("b.md", "\"Concept\""), ("c.md", "Concept")];
    assert_eq!(changed, wanted.map(|(path, kind)| (path.to_owned(), typed(kind))).into());
    assert_eq!(outcome.fixed.len(), 2);
    assert_eq!(outcome.fixed.iter().map(|f| f.files.len()).sum::<usize>(), 3);
}

#[test]
fn a_missing_index_is_made() {
    let b = page("B: [x] *y*", "").replace("description: D", "description: |\n  One\n  [two](gone.md)");
    let b = b.replace("title: B: [x] *y*", "title: 'B: [x] *y*'");
    let files = [
        ("/index.md", "[notes](my-notes/)"),
        ("/my-notes/a:1.md", &page("A", "")),
        ("/my-notes/b.md", &b),
        ("/my-notes/log.md", "# Log\n"),
    ];
    let (changed, outcome) = fix(&files, Profile::Wiki, false);
    let index = "# My notes\n\n* [A](./a:1.md) - D\n* [B: \\[x\\] \\*y\\*](b.md) - One \\[two\\](gone.md)\n";
    assert_eq!(changed, [("my-notes/index.md".to_owned(), index.to_owned())].into());
    assert_eq!(outcome.fixed[0].message, "created with 2 entries");
    // Where the file would be no page it would mend nothing.
    let ignored = [("/.okfignore", "index.md\n"), ("/a.md", &*page("A", ""))];
    assert!(fix(&ignored, Profile::Wiki, false).0.is_empty());
}

#[test]
fn entries_are_added_where_the_list_ends() {
    let (a, b) = (page("A", ""), page("B", ""));
    for (before, after) in [
        ("# X\n\n- [A](a.md)\n\n## End\n", "# X\n\n- [A](a.md)\n- [B](b.md) - D\n\n## End\n"),
        ("* [A](a.md)", "* [A](a.md)\n* [B](b.md) - D"),
        ("* [A](a.md)\r\n  text\r\n", "* [A](a.md)\r\n  text\r\n* [B](b.md) - D\r\n"),
        ("", "* [A](a.md) - D\n* [B](b.md) - D\n"),
        ("# X", "# X\n\n* [A](a.md) - D\n* [B](b.md) - D"),
        ("# X\n", "# X\n\n* [A](a.md) - D\n* [B](b.md) - D\n"),
        ("a.md\n\n```\n* [B](b.md)\n```\n", "a.md\n\n```\n* [B](b.md)\n```\n\n* [B](b.md) - D\n"),
        (
            "* [A](a.md)\n  * [x](a.md)\n\n  more\n",
            "* [A](a.md)\n  * [x](a.md)\n\n  more\n\n* [B](b.md) - D\n",
        ),
        ("1. [A](a.md)\n", "1. [A](a.md)\n* [B](b.md) - D\n"),
        // Nothing can be added where all that follows is a comment or code.
        ("a.md <!-- x", "a.md <!-- x\n\n* [B](b.md) - D"),
        ("a.md\n\n```\n", "a.md\n\n```\n"),
        ("\u{feff}* [A](a.md)\n", "* [A](a.md)\n* [B](b.md) - D\n"),
    ] {
        let files = [("/index.md", before), ("/a.md", &*a), ("/b.md", &*b)];
        for profile in [Profile::Wiki, Profile::Okf] {
            if profile == Profile::Okf && before.starts_with("a.md") {
                continue;
            }
            let (mut changed, _) = fix(&files, profile, false);
            assert_eq!(
                changed.remove("index.md").as_deref().unwrap_or(before),
                after,
                "{profile:?} {before}"
            );
        }
    }
}

#[test]
fn the_entry_of_a_page_that_is_gone_is_dropped_only_when_asked() {
    for (before, after) in [
        ("* [A](a.md)\n* [X](gone.md) - x\n* [B](b.md)\n", "* [A](a.md)\n* [B](b.md)\n"),
        ("a.md b.md\r\n\r\n- [X](gone.md)", "a.md b.md\r\n\r\n"),
        ("a.md b.md\n\n* [X](gone.md)\n  * [A](a.md)\n", ""),
        ("b.md\n\n* [X](gone.md), [A](a.md)\n", ""),
        ("a.md b.md\n\n* [X](gone.md)\n  and more\n", ""),
    ] {
        let files = [("/index.md", before), ("/a.md", &*page("A", "")), ("/b.md", &*page("B", ""))];
        assert!(fix(&files, Profile::Wiki, false).0.is_empty(), "{before}");
        let (changed, _) = fix(&files, Profile::Wiki, true);
        let after = if after.is_empty() { before } else { after };
        assert_eq!(changed.get("index.md").map_or(before, String::as_str), after);
    }
}

#[test]
fn protected_files_are_left_alone_and_said_so() {
    let index = "* [A](a.md)\n";
    let files = [("/raw/x.md", "x"), ("/index.md", index), ("/a.md", &*page("A", "[x](/raw/x.md)"))];
    let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files).unwrap());
    let all = crate::bundle::permission::Rule::folder(
        crate::bundle::Operation::Write,
        &BundlePath::root(),
        crate::bundle::Mode::Deny,
    );
    let rules = Rules::manager(true).after(&[all]);
    let request = Request {
        base: base.clone(),
        rules: &rules,
        options: &options(Profile::Wiki),
        all: true,
        wanted: &|_| true,
    };
    let outcome = run(Wiki::load(&*base).unwrap(), &request);
    assert!(outcome.changes.is_empty() && outcome.fixed.is_empty());
    let refused: Vec<&str> = outcome.refused.keys().map(BundlePath::relative).collect();
    assert_eq!(refused, ["a.md"]);
    assert_eq!(outcome.report.count(Level::Error), 1);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let text = page("A", "[x](/index.md)");
    let old = MemoryBundle::new([("/index.md", "* [A](a.md)\n"), ("/a.md", &*text)]).unwrap();
    let new =
        MemoryBundle::new([("/index.md", "* [A](a.md)\n"), ("/a.md", &*(text.clone() + "more"))]).unwrap();
    let (rules, wiki) = (Rules::manager(true), Wiki::load(&old).unwrap());
    let base: Arc<dyn Read> = Arc::new(new);
    let options = options(Profile::Wiki);
    let request =
        Request { base: base.clone(), rules: &rules, options: &options, all: false, wanted: &|_| true };
    let outcome = run(wiki.clone(), &request);
    assert!(outcome.changes.is_empty() && outcome.fixed.is_empty());
    assert_eq!(
        outcome.refused.values().map(|e| e.kind).collect::<Vec<_>>(),
        [crate::bundle::ErrorKind::Conflict]
    );
    let report = lint(&wiki, &options);
    let fix = offers(&wiki, &report, &options, &report.findings).into_iter().flatten().next().unwrap();
    assert!(change(&base, &rules, &wiki, &fix).is_err());
    let old: Arc<dyn Read> = Arc::new(old);
    assert_eq!(change(&old, &rules, &wiki, &fix).unwrap().files.len(), 1);
}

#[test]
fn only_what_is_wanted_is_fixed() {
    let files = [("/index.md", "[a](/a.md)\n"), ("/a.md", &*page("A", "[[index]]"))];
    let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files).unwrap());
    let request = Request {
        base: base.clone(),
        rules: &Rules::manager(true),
        options: &options(Profile::Wiki),
        all: true,
        wanted: &|finding| finding.rule.code == "L002",
    };
    let outcome = run(Wiki::load(&*base).unwrap(), &request);
    assert_eq!(outcome.fixed.iter().map(|f| f.rule.code).collect::<Vec<_>>(), ["L002"]);
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---\n",
        "type: Concept\n",
        "type: concept\n",
        "title: é: x\n",
        "title: T\n",
        "description: a: b\n",
        "timestamp: 19/07/2026\n",
        "timestamp: \"Q3\"\n",
        "timestamp: &d 07/04/2026\n",
        "x: *d\n",
        "sources: [/a.md, b.md]\n",
        "resource: /sub/c.md\n",
        "\n",
        "\r\n",
        "\n\n",
        "# X\n",
        "* [A](a.md)\n",
        "* [G](gone.md)\n",
        "  * [C](/sub/c.md)",
        "- ",
        "[x](/a.md)",
        "[x](/sub/)",
        "[x](A.MD#f)",
        "[x](c.md)",
        "[x](<sub/c.md>)",
        "![i](/b.md)",
        "[r]: /b.md\n",
        "[y][r]",
        "<a href=\"/a.md\">",
        "`",
        "```\n",
        "<!--",
        "-->",
        "[[a]]",
        "[[c#x|y]]",
        "[[",
        "]]",
        "](",
        "\u{feff}",
        "ü",
        "\\",
        "&amp;",
        "a.md",
        "> ",
        "    ",
        "| ",
    ]);
    (any::<bool>(), prop::collection::vec(piece, 0..14)).prop_map(|(head, pieces)| {
        let head = if head { "---\ntype: Concept\ntitle: T\n---\n" } else { "" };
        head.to_owned() + &pieces.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the pages hold: fixing twice is fixing once, no error is new, what is outside the edits stays, and what is
    /// said to be fixed is.
    #[test]
    fn fixes_end_and_bring_no_error(texts in prop::collection::vec(text(), 5), crlf: bool, all: bool, okf: bool) {
        let names = ["/index.md", "/a.md", "/b.md", "/sub/c.md", "/sub/A.md"];
        let texts: Vec<String> = texts.into_iter().map(|t| if crlf { t.replace('\n', "\r\n") } else { t }).collect();
        let mut files: BTreeMap<&str, String> = names.into_iter().zip(texts).collect();
        files.insert("/AGENTS.md", "## Types\n\n`Concept`\n".to_owned());
        let profile = if okf { Profile::Okf } else { Profile::Wiki };
        fn pairs<'a>(files: &'a BTreeMap<&str, String>) -> Vec<(&'a str, &'a str)> {
            files.iter().map(|(path, text)| (*path, text.as_str())).collect()
        }
        let load = |files: &BTreeMap<&str, String>| Wiki::load(&MemoryBundle::new(pairs(files)).unwrap()).unwrap();
        let before = lint(&load(&files), &options(profile));
        let (changed, outcome) = fix(&pairs(&files), profile, all);
        let mut after = files.clone();
        let index = "/sub/index.md".to_owned();
        for (path, text) in &changed {
            let path = format!("/{path}");
            let old = files.get(path.as_str()).cloned().unwrap_or_default();
            if crlf && old.contains('\n') {
                prop_assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
            }
            let key = names.into_iter().find(|name| **name == path).unwrap_or(&index);
            after.insert(key, text.clone());
        }
        let report = lint(&load(&after), &options(profile));
        prop_assert_eq!(&report.findings, &outcome.report.findings);
        let uncovered = outcome.fixed.iter().filter(|f| f.rule.code == "F002").map(|f| &f.path).collect::<Vec<_>>();
        for finding in crate::lint::delta(&before, &report).0 {
            prop_assert!(finding.level != Level::Error || uncovered.contains(&&finding.path), "{:?}", finding);
        }
        let (again, second) = fix(&pairs(&after), profile, all);
        prop_assert_eq!((again, &second.fixed), (BTreeMap::new(), &Vec::new()));
        prop_assert_eq!(outcome.fixed.is_empty(), changed.is_empty());
    }

    /// One fix changes nothing but its own bytes.
    #[test]
    fn every_other_byte_stays(texts in prop::collection::vec(text(), 3)) {
        let names = ["/index.md", "/a.md", "/sub/c.md"];
        let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let wiki = Wiki::load(&MemoryBundle::new(files).unwrap()).unwrap();
        let options = options(Profile::Wiki);
        let report = lint(&wiki, &options);
        for (finding, fix) in report.findings.iter().zip(offers(&wiki, &report, &options, &report.findings)) {
            let Some(fix) = fix else { continue };
            prop_assert!(finding.rule.fix != crate::lint::FixKind::None);
            for (path, splices) in fix.edits {
                let text = wiki.page(&path).map(|page| page.text.to_string()).unwrap_or_default();
                let mut at = 0;
                for splice in &splices {
                    prop_assert!(splice.span.start >= at && text.get(splice.span.start..splice.span.end).is_some());
                    at = splice.span.end;
                    // A link's or value's own place, or whole lines of a catalogue.
                    let index = path.name() == "index.md";
                    let own = finding.span.is_some_and(|span| span.start <= splice.span.start && splice.span.end <= span.end);
                    prop_assert!(own || index || finding.rule.code == "F002", "{:?} {:?}", finding, splice);
                }
            }
        }
    }
}
