//! Findings that are kept up against findings made anew.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::bundle::{MemoryBundle, Read as _, Write as _};
use crate::lint::lint;
use crate::okf::ContentHash;

const PATHS: [&str; 22] = [
    "/index.md",
    "/log.md",
    "/AGENTS.md",
    "/.okfignore",
    "/a.md",
    "/A.md",
    "/b.md",
    "/a.MD",
    "/wiki/index.md",
    "/wiki/a.md",
    "/wiki/b.md",
    "/wiki/caf\u{e9}.md",
    "/wiki/cafe\u{301}.md",
    "/wiki/sub/a.md",
    "/wiki/sub/b.md",
    "/wiki/sub/c.md",
    "/wiki/sub/index.md",
    "/wiki/Sub/a.md",
    "/wiki/assets/x.png",
    "/raw/a.md",
    "/wiki/index.md/a.md",
    "/.hidden/a.md",
];

const FRONT: [&str; 20] = [
    "type: Concept\n",
    "type: concept\n",
    "type: Note\n",
    "type: T1\n",
    "type: T2\n",
    "type: T3\n",
    "type: T4\n",
    "title: One\n",
    "title: ONE\n",
    "title: Two\n",
    "status: deprecated\n",
    "status: draft\n",
    "sources: [a.md]\n",
    "sources: [b.md, c.md]\n",
    "sources: [../a.md]\n",
    "sources: [/a.md, gone.md]\n",
    "stale_after: 2026-01-01\n",
    "resource: wiki/a.md\n",
    "okf_version: \"0.1\"\n",
    "okf_version: \"0.2\"\n",
];

const BODY: [&str; 27] = [
    "[a](a.md)\n\n",
    "[A](A.md)\n\n",
    "[b](b.md#one)\n\n",
    "[b](b.md#two)\n\n",
    "[c](c.md)\n\n",
    "[up](../a.md)\n\n",
    "[up](../index.md)\n\n",
    "[root](/wiki/a.md)\n\n",
    "[root](wiki/sub/a.md)\n\n",
    "[folder](sub/#one)\n\n",
    "[folder](sub)\n\n",
    "[folder](..)\n\n",
    "[slug](c)\n\n",
    "[slug](cafe\u{301}.md)\n\n",
    "[[c]]\n\n",
    "[[A]]\n\n",
    "[[sub/a]]\n\n",
    "![x](assets/X.png)\n\n",
    "![x](assets/x.png)\n\n",
    "[hidden](/.hidden/b.md)\n\n",
    "# One\n\n",
    "# Two\n\n",
    "* [a](a.md) - entry\n\n",
    "* [gone](gone.md) - entry\n\n",
    "See a.md, b.md.\n\n",
    "## Types\n\n- `Concept`\n- `Note`\n\n",
    "drafts/\nsub/\n",
];

#[derive(Debug, Clone)]
enum Edit {
    Write(&'static str, Vec<u8>),
    Remove(&'static str),
    Rename(&'static str, &'static str),
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let front = proptest::option::weighted(0.8, prop::collection::vec(select(&FRONT[..]), 0..4));
    let body = prop::collection::vec(select(&BODY[..]), 0..5);
    (front, body, prop::bool::weighted(0.05)).prop_map(|(front, body, broken)| {
        let front = front.map_or(String::new(), |front| format!("---\n{}---\n\n", front.concat()));
        let mut text = (front + &body.concat()).into_bytes();
        text.extend(broken.then_some(0xff));
        text
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = || select(&PATHS[..]);
    prop_oneof![
        6 => (path(), text()).prop_map(|(path, text)| Edit::Write(path, text)),
        2 => path().prop_map(Edit::Remove),
        1 => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
    ]
}

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// Performs an edit and names the paths it touched. What cannot be done is not.
fn perform(bundle: &MemoryBundle, edit: &Edit) -> Vec<BundlePath> {
    match edit {
        Edit::Write(at, text) => {
            let _ = bundle.write(&path(at), text);
            vec![path(at)]
        }
        Edit::Remove(at) => {
            let bytes = bundle.read_bytes(&path(at)).unwrap_or_default();
            let _ = bundle.remove(&path(at), ContentHash::of(&bytes));
            vec![path(at)]
        }
        Edit::Rename(from, to) => {
            let _ = bundle.rename(&path(from), &path(to));
            vec![path(from), path(to)]
        }
    }
}

fn options() -> impl Strategy<Value = Options> {
    let profile = select(vec![None, Some(Profile::Wiki), Some(Profile::Okf)]);
    profile.prop_map(|profile| Options {
        profile,
        today: Some("2026-07-19".parse().unwrap()),
        ..Options::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_edits_give_the_findings_of_a_full_run(
        options in options(),
        before in prop::collection::vec((select(&PATHS[..]), text()), 0..14),
        rounds in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..8),
    ) {
        let bundle = MemoryBundle::default();
        for (at, text) in before {
            let _ = bundle.write(&path(at), &text);
        }
        let mut wiki = Wiki::load(&bundle).unwrap();
        let mut kept = Incremental::new(&wiki, &options);
        for edits in rounds {
            let paths: Vec<BundlePath> = edits.iter().flat_map(|edit| perform(&bundle, edit)).collect();
            let changed = wiki.update(&bundle, &paths);
            kept.update(&wiki, &changed);
            prop_assert_eq!(kept.report(), lint(&wiki, &options));
        }
    }
}

fn codes(report: &Report) -> Vec<(&'static str, String)> {
    report.findings.iter().map(|f| (f.rule.code, f.path.relative().to_owned())).collect()
}

/// The clock alone makes a page stale.
#[test]
fn a_page_becomes_stale_without_a_change() {
    let front = "---\ntype: T\ntitle: A\ndescription: D\nstale_after: 2026-07-20\n---\n";
    let bundle = MemoryBundle::new([("/a.md", front)]).unwrap();
    let wiki = Wiki::load(&bundle).unwrap();
    let day = |day: &str| Options { today: Some(day.parse().unwrap()), ..Options::default() };
    let mut kept = Incremental::new(&wiki, &day("2026-07-19"));
    assert_eq!(codes(&kept.report()), [("G001", "a.md".to_owned())]);
    kept.options = day("2026-07-20");
    kept.update(&wiki, &[]);
    assert_eq!(codes(&kept.report()), [("G001", "a.md".to_owned()), ("P002", "a.md".to_owned())]);
    kept.options = day("2026-07-19");
    kept.update(&wiki, &[]);
    assert_eq!(codes(&kept.report()), [("G001", "a.md".to_owned())]);
}

/// Only the pages that looked at what changed are judged again.
#[test]
fn an_edit_touches_only_what_looks_at_it() {
    let bundle = MemoryBundle::new([
        ("/index.md", "* [a](a.md)\n* [b](b.md)\n* [c](c.md)\n"),
        ("/a.md", "---\ntype: T\n---\n[b](b.md#one)\n"),
        ("/b.md", "---\ntype: T\n---\n# One\n"),
        ("/c.md", "---\ntype: T\n---\n[gone](d.md)\n"),
    ])
    .unwrap();
    let mut wiki = Wiki::load(&bundle).unwrap();
    let mut kept = Incremental::new(&wiki, &Options::default());
    assert_eq!(kept.asked.keys().map(BundlePath::as_str).collect::<Vec<_>>(), ["/c.md"]);
    bundle.write(&path("/b.md"), b"---\ntype: T\n---\n# Two\n").unwrap();
    let changed = wiki.update(&bundle, &[path("/b.md")]);
    kept.update(&wiki, &changed);
    assert!(codes(&kept.report()).contains(&("L005", "a.md".to_owned())));
    bundle.write(&path("/D.md"), b"---\ntype: T\n---\n").unwrap();
    let changed = wiki.update(&bundle, &[path("/D.md")]);
    kept.update(&wiki, &changed);
    assert!(codes(&kept.report()).contains(&("L007", "c.md".to_owned())));
    assert!(kept.asked.contains_key(&path("/c.md")), "the page may go again");
}
