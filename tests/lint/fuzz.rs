//! Any bytes as a page: no panic, places inside the text, fixes that change nothing a second time, time that grows with the
//! text and not with its square.

use std::fmt::Write as _;
use std::time::Instant;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// What markdown, YAML and paths are made of.
const PIECES: [&str; 64] = [
    "---\n",
    "---",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "    ",
    " ",
    "- ",
    "* ",
    "1. ",
    "> ",
    "# ",
    "## ",
    "===\n",
    "```\n",
    "~~~\n",
    "`",
    "``",
    "[",
    "]",
    "(",
    ")",
    "[[",
    "]]",
    "[^",
    "]: ",
    "![",
    "<",
    ">",
    "<!--",
    "-->",
    "<a href=\"",
    "<img src='",
    "\"",
    "'",
    "\\",
    "&amp;",
    "&#x0;",
    "%2e",
    "%ff",
    "..",
    "/",
    "../",
    "a.md",
    "#a",
    "?q",
    ":",
    ": ",
    "{",
    "}",
    "&x ",
    "*x",
    "|\n",
    ">-\n",
    "type: ",
    "sources: ",
    "timestamp: 2026-",
    "[2026-07-19] ",
    "\u{feff}",
    "\u{301}",
    "\u{202e}",
    "日",
    "\0",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = || prop::collection::vec(select(&PIECES[..]), 0..60).prop_map(|p| p.concat().into_bytes());
    prop_oneof![
        4 => pieces(),
        2 => pieces().prop_map(|body| [b"---\n".as_slice(), &body].concat()),
        2 => (pieces(), pieces()).prop_map(|(front, body)| [b"---\n", &front[..], b"\n---\n", &body].concat()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => (pieces(), any::<u8>(), any::<prop::sample::Index>()).prop_map(|(mut bytes, byte, at)| {
            let at = at.index(bytes.len() + 1);
            bytes.insert(at, byte);
            bytes
        }),
    ]
}

fn judge(path: &str, bytes: &[u8], profile: Profile) -> (Wiki, Vec<Finding>) {
    let bundle = MemoryBundle::default();
    for (name, content) in [("/a.md", &b"# A\n"[..]), (path, bytes)] {
        bundle.write(&BundlePath::parse(name).unwrap(), content).unwrap();
    }
    let wiki = Wiki::load(&bundle).unwrap();
    let findings = lint(&wiki, &Options { profile: Some(profile), ..Options::default() }).findings;
    (wiki, findings)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_bytes_are_judged_and_every_place_is_inside_the_text(
        path in select(vec!["/b.md", "/index.md", "/log.md", "/AGENTS.md", "/sub/b.md"]),
        bytes in bytes(),
        profile in select(vec![Profile::Wiki, Profile::Okf]),
    ) {
        let (wiki, findings) = judge(path, &bytes, profile);
        for finding in findings {
            let Some(span) = finding.span else { continue };
            let page = wiki.page(&finding.path).expect("a place is in a page");
            prop_assert!(page.text.get(span.start..span.end).is_some(), "{finding:?}");
            prop_assert!((1, 1) <= (finding.line, finding.column), "{finding:?}");
            let start = (finding.line, finding.column);
            prop_assert!(start <= (finding.end_line, finding.end_column), "{finding:?}");
            prop_assert!(finding.end_line as usize <= page.text.matches('\n').count() + 1, "{finding:?}");
        }
        for link in wiki.pages().flat_map(|page| page.links.iter().map(move |link| (page, link))) {
            let (page, link) = link;
            prop_assert!(page.text.get(link.span.start..link.span.end).is_some(), "{link:?}");
            let destination = link.destination_span;
            prop_assert!(page.text.get(destination.start..destination.end).is_some(), "{link:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn fixes_of_any_bytes_change_nothing_a_second_time(
        path in select(vec!["/b.md", "/index.md", "/log.md", "/AGENTS.md", "/sub/b.md"]),
        bytes in bytes(),
        profile in select(vec!["wiki", "okf"]),
        all in any::<bool>(),
    ) {
        let bundle = Arc::new(MemoryBundle::default());
        let write = |path: &str, text: &[u8]| bundle.write(&BundlePath::parse(path).unwrap(), text).unwrap();
        write("/a.md", b"# A\n");
        write(path, &bytes);
        let (_, options) = options(profile);
        for (path, text) in fixed(&bundle, &options, all).0 {
            write(&path, &text);
        }
        prop_assert_eq!(fixed(&bundle, &options, all).0, Files::new());
    }
}

/// Texts that a careless reader needs the square of their length for.
#[test]
fn time_grows_with_the_text_and_not_with_its_square() {
    let numbered = |n: usize, line: fn(usize, &mut String)| {
        let mut text = String::new();
        (0..n).for_each(|i| line(i, &mut text));
        text
    };
    let shapes: [(&str, &dyn Fn(usize) -> String); 22] = [
        ("open brackets", &|n| "[".repeat(n)),
        ("open images", &|n| "![".repeat(n)),
        ("open wikilinks", &|n| "[[a".repeat(n)),
        ("open links", &|n| "[a](".repeat(n)),
        ("backticks", &|n| "`a".repeat(n)),
        ("emphasis", &|n| "*a_".repeat(n)),
        ("quotes", &|n| "> ".repeat(n.min(20_000))),
        ("lists", &|n| "* ".repeat(n.min(20_000))),
        ("comments", &|n| "<!--".repeat(n)),
        ("tags", &|n| "<a href=\"".repeat(n)),
        ("entities", &|n| "&amp".repeat(n)),
        ("broken links", &|n| "[a](b.md) ".repeat(n)),
        ("links of other case", &|n| "[a](A.md) ".repeat(n)),
        ("wikilinks", &|n| "[[b]] ".repeat(n)),
        ("equal headings", &|n| "# A\n\n".repeat(n)),
        ("missing anchors", &|n| "[a](#b)\n".repeat(n)),
        ("footnotes", &|n| "a[^1] ".repeat(n)),
        ("definitions", &|n| "[a]: b.md\n".repeat(n)),
        ("flow lists", &|n| format!("---\na: {}\n---\n", "[".repeat(n))),
        ("keys", &move |n| {
            format!("---\n{}---\n", numbered(n, |i, text| writeln!(text, "k{i}: 1").unwrap()))
        }),
        ("equal keys", &|n| format!("---\n{}---\n", "a: 1\n".repeat(n))),
        ("tabs", &|n| "\t".repeat(n)),
    ];
    let mut slow = Vec::new();
    for (name, make) in shapes {
        let took = |n: usize| {
            let text = make(n);
            // The best of three: other work on the machine only ever adds.
            (0..3)
                .map(|_| {
                    let start = Instant::now();
                    judge("/index.md", text.as_bytes(), Profile::Wiki);
                    start.elapsed()
                })
                .min()
                .unwrap()
        };
        let (small, large) = (took(2_000), took(16_000));
        // Eight times the text; its square would be 64 times. What is over in a moment tells nothing.
        if large.as_millis() > 200 && large > small * 32 {
            slow.push(format!("{name}: {small:?}, eight times as much {large:?}"));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
