//! The small bundles with known right answers next to the repository, judged in both profiles. Skips when they are absent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use wikiwright::bundle::{FileChange, LocalBundle, Read, Rules};
use wikiwright::lint::fix::{self, Request};
use wikiwright::lint::{self, Options, Profile};
use wikiwright::wiki::Wiki;

/// Rule, path, and the value that tells findings of the rule apart (empty when it has none).
type Expected = &'static [(&'static str, &'static str, &'static str)];

const NONE: Expected = &[];

/// Case, findings in profile `wiki`, findings in profile `okf` (version 0.2).
const CASES: &[(&str, Expected, Expected)] = &[
    ("L01", NONE, NONE),
    ("L02", NONE, NONE),
    ("L03", NONE, NONE),
    ("L04", NONE, NONE),
    ("L05", NONE, NONE),
    ("L07", NONE, NONE),
    (
        "L08",
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
    ),
    ("L10", &[("L009", "a.md", "img/missing.png")], &[("L009", "a.md", "img/missing.png")]),
    (
        "L11",
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
        &[("L001", "a.md", "missing.md"), ("S002", "index.md", "")],
    ),
    ("L12", NONE, NONE),
    ("L13", NONE, NONE),
    (
        "L14",
        &[("L001", "a.md", "missing.md"), ("L001", "a.md", "missing2.md"), ("L001", "a.md", "missing3.md")],
        &[("L001", "a.md", "missing.md"), ("L001", "a.md", "missing2.md"), ("L001", "a.md", "missing3.md")],
    ),
    ("L16", NONE, NONE),
    (
        "L18",
        &[("L006", "sub/b.md", "../../../../a.md"), ("L006", "sub/b.md", "../../a.md")],
        &[("L006", "sub/b.md", "../../../../a.md"), ("L006", "sub/b.md", "../../a.md")],
    ),
    (
        "L19",
        &[("L005", "a.md", "#nor-this"), ("L005", "a.md", "b.md#no-such")],
        &[("L005", "a.md", "#nor-this"), ("L005", "a.md", "b.md#no-such")],
    ),
    ("L22", NONE, NONE),
    ("L23", &[("L002", "index.md", "/a.md")], NONE),
    (
        "L24",
        &[("L001", "index.md", "not-yet.md"), ("S004", "index.md", "not-yet.md")],
        &[("L001", "index.md", "not-yet.md"), ("S004", "index.md", "not-yet.md")],
    ),
    (
        "L25",
        &[
            ("G001", "b.md", ""),
            ("L008", "a.md", "b"),
            ("L008", "a.md", "missing page"),
            ("L008", "index.md", "b"),
            ("S002", "index.md", ""),
        ],
        &[
            ("G001", "b.md", ""),
            ("L008", "a.md", "b"),
            ("L008", "a.md", "missing page"),
            ("L008", "index.md", "b"),
            ("S002", "index.md", ""),
        ],
    ),
    (
        "L26",
        &[("G001", "b.md", ""), ("S002", "index.md", "")],
        &[("G001", "b.md", ""), ("S002", "index.md", "")],
    ),
    ("L27", NONE, NONE),
    ("L28", NONE, NONE),
    // That the page is an orphan on other systems follows, as the reference says too.
    (
        "L30",
        &[("G001", "cafe\u{301}.md", ""), ("L007", "index.md", "café.md"), ("S002", "index.md", "")],
        &[("G001", "cafe\u{301}.md", ""), ("L007", "index.md", "café.md"), ("S002", "index.md", "")],
    ),
    ("F01", &[("L003", "a.md", "missing.md"), ("L004", "a.md", "/b.md")], &[("L003", "a.md", "missing.md")]),
    ("F02", NONE, NONE),
    ("F04", &[("F003", "a.md", "type")], &[("F003", "a.md", "type")]),
    ("F05", NONE, &[("F001", "AGENTS.md", "")]),
    ("F06", NONE, NONE),
    // In CommonMark a destination with a blank is no link, and in profile `okf` only a link is a mention.
    ("F08", NONE, &[("S002", "index.md", "")]),
    (
        "F10",
        &[("F003", "a.md", "type"), ("F003", "b.md", "type")],
        &[("F003", "a.md", "type"), ("F003", "b.md", "type")],
    ),
    (
        "F11",
        &[("F002", "a.md", ""), ("F002", "b.md", ""), ("F002", "c.md", ""), ("F002", "d.md", "")],
        &[("F002", "a.md", ""), ("F002", "b.md", ""), ("F002", "c.md", ""), ("F002", "d.md", "")],
    ),
    ("F12", &[("F002", "a.md", "")], &[("F002", "a.md", "")]),
    ("F13", NONE, NONE),
    ("F14", NONE, NONE),
    ("F16", &[("B005", "a.md", "")], &[("B005", "a.md", "")]),
    ("F18", NONE, &[("F001", "AGENTS.md", "")]),
    ("F20", NONE, NONE),
    ("F21", NONE, NONE),
    ("F22", &[("S003", "index.md", "")], &[("S003", "index.md", ""), ("S003", "sub/index.md", "")]),
    (
        "F23",
        &[("F001", "README.md", ""), ("G001", "README.md", ""), ("S002", "index.md", "")],
        &[
            ("F001", "AGENTS.md", ""),
            ("F001", "README.md", ""),
            ("G001", "README.md", ""),
            ("S002", "index.md", ""),
        ],
    ),
    ("F24", &[("F007", "a.md", "title")], &[("F007", "a.md", "title")]),
    ("F26", &[("F003", "a.md", "type")], &[("F001", "AGENTS.md", ""), ("F003", "a.md", "type")]),
    ("F27", &[("F004", "a.md", "timestamp")], NONE),
    (
        "F28",
        NONE,
        &[
            ("P001", "a.md", "generated.at"),
            ("P001", "a.md", "generated.by"),
            ("P001", "a.md", "stale_after"),
            ("P001", "a.md", "verified.at"),
            ("P001", "a.md", "verified.by"),
            ("P004", "a.md", "stabel"),
        ],
    ),
    // A month and an ordinal day are no full date; a leap second and lower case letters are.
    (
        "T02",
        &[("F005", "a.md", "2026-07"), ("F005", "b.md", "2026-200")],
        &[("F005", "a.md", "2026-07"), ("F005", "b.md", "2026-200")],
    ),
    ("T03", NONE, NONE),
    (
        "X01",
        &[("G001", "wiki/b.md", ""), ("G002", "a.md", "a.md"), ("S002", "wiki/index.md", "")],
        &[("G001", "wiki/b.md", ""), ("G002", "a.md", "a.md"), ("S002", "wiki/index.md", "")],
    ),
    ("X03", &[("F005", "a.md", "19/07/2026")], &[("F005", "a.md", "19/07/2026")]),
    (
        "X04",
        &[("F005", "a.md", "19/07/2026"), ("F005", "b.md", "19/07/2026")],
        &[("F005", "a.md", "19/07/2026"), ("F005", "b.md", "19/07/2026")],
    ),
    ("X06", &[("L002", "a.md", "/b.md"), ("S002", "index.md", "")], &[("S002", "index.md", "")]),
    ("X07", &[("B002", "b.md", "82"), ("L002", "a.md", "/b.md")], &[("B002", "b.md", "82")]),
    (
        "X10",
        &[("F005", "a.md", "07/04/2026"), ("F005", "b.md", "Q3 2026")],
        &[("F005", "a.md", "07/04/2026"), ("F005", "b.md", "Q3 2026")],
    ),
    ("X11", &[("L002", "a.md", "/a.md"), ("L002", "a.md", "/sub/"), ("L002", "sub/b.md", "/sub/")], NONE),
    ("S01", NONE, NONE),
    ("S09", &[("B002", "a.md", "82")], &[("B002", "a.md", "82")]),
    ("S11", NONE, NONE),
    ("S12", NONE, NONE),
    ("S13", &[("B004", "A.MD", "")], &[("B004", "A.MD", "")]),
    ("I01", &[("S002", "index.md", "")], &[("S002", "index.md", "")]),
    // The two pages link each other.
    (
        "I03",
        &[("G004", "bar.md", ""), ("S002", "index.md", "")],
        &[("G004", "bar.md", ""), ("S002", "index.md", "")],
    ),
    (
        "I04",
        &[
            ("G004", "bar.md", ""),
            ("L001", "index.md", "foo"),
            ("L008", "index.md", "bar"),
            ("S002", "index.md", ""),
        ],
        &[
            ("G004", "bar.md", ""),
            ("L001", "index.md", "foo"),
            ("L008", "index.md", "bar"),
            ("S002", "index.md", ""),
        ],
    ),
    ("Y01", NONE, &[("F001", "AGENTS.md", "")]),
    ("Y03", &[("T001", "a.md", "frontmatter")], &[("F001", "AGENTS.md", "")]),
    ("Y04", &[("S003", "index.md", "")], &[("F001", "AGENTS.md", ""), ("S003", "index.md", "")]),
    ("Y05", &[("T002", "a.md", "Concept")], &[("F001", "AGENTS.md", "")]),
    ("G01", NONE, &[("H001", "log.md", "")]),
    ("G02", &[("H001", "log.md", "")], &[("H001", "log.md", "")]),
    ("G03", &[("H001", "log.md", "")], NONE),
    ("D01", &[("G002", "v1/install.md", "install.md")], &[("G002", "v1/install.md", "install.md")]),
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
                "F003" | "F004" | "F006" | "F007" | "P001" => "field",
                "F005" | "P004" => "value",
                code if code.starts_with('L') || code == "S004" => "target",
                "B002" => "offset",
                "B003" | "H002" => "kind",
                "G002" => "slug",
                "G003" => "title",
                "T001" | "T002" => "type",
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

fn rows(expected: Expected) -> Vec<(String, String, String)> {
    expected.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

#[test]
fn each_case_gets_the_right_answer() {
    let Some(folder) = cases() else { return };
    let mut wrong = Vec::new();
    for (case, wiki, okf) in CASES {
        for (profile, expected) in [(Profile::Wiki, *wiki), (Profile::Okf, *okf)] {
            let (found, expected) = (findings(&folder.join(case), profile), rows(expected));
            if found != expected {
                wrong.push(format!("{case} {profile:?}: found {found:?}, right is {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines that only one side has, in order; line ends count.
fn changed_lines(old: &str, new: &str) -> Vec<String> {
    use similar::{ChangeTag, TextDiff};
    let diff = TextDiff::from_lines(old, new);
    let changes = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal);
    changes
        .map(|change| {
            let sign = if change.tag() == ChangeTag::Delete { '-' } else { '+' };
            format!("{sign}{}", change.value().strip_suffix('\n').unwrap_or(change.value()))
        })
        .collect()
}

fn fixes(bundle: &Path, profile: Profile, all: bool) -> Vec<(String, Vec<String>)> {
    let base: Arc<dyn Read> = Arc::new(LocalBundle::open(bundle).unwrap());
    let today = Some(jiff::civil::date(2026, 12, 1));
    let options = Options { profile: Some(profile), today, ..Options::default() };
    let rules = Rules::manager(true);
    let request = Request { base: base.clone(), rules: &rules, options: &options, all, wanted: &|_| true };
    let outcome = fix::run(Wiki::load(&*base).unwrap(), &request);
    assert_eq!(outcome.refused, BTreeMap::new());
    let of = |file: &FileChange| {
        let (before, after) = file.texts().unwrap();
        (file.path.relative().to_owned(), changed_lines(before.unwrap_or_default(), after.unwrap()))
    };
    outcome.changes.files.iter().map(of).collect()
}

#[test]
fn each_case_is_fixed_as_it_should_be_and_no_other_is_touched() {
    let Some(folder) = cases() else { return };
    let mut wrong = Vec::new();
    for (case, ..) in CASES {
        for all in [false, true] {
            let found = fixes(&folder.join(case), Profile::Wiki, all);
            let listed =
                |wanted: bool| FIXES.iter().find(|(id, unsafely, _)| id == case && *unsafely == wanted);
            let right = if all { listed(true).or(listed(false)) } else { listed(false) };
            let right: Vec<(String, Vec<String>)> = right
                .map_or(&[][..], |(_, _, files)| *files)
                .iter()
                .map(|(path, lines)| {
                    ((*path).to_owned(), lines.iter().map(|line| (*line).to_owned()).collect())
                })
                .collect();
            if found != right {
                wrong.push(format!(
                    "{case} {}: made {found:?}, right is {right:?}",
                    if all { "all" } else { "safe" }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_case_is_left_out() {
    let Some(folder) = cases() else { return };
    let text = fs::read_to_string(folder.join("cases.json")).unwrap();
    let all: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let ids = all.iter().map(|case| (case["id"].as_str().unwrap(), case.get("made_by_test").is_some()));
    let (made, stand): (Vec<_>, Vec<_>) = ids.partition(|(_, made)| *made);
    let sorted = |ids: Vec<&'static str>| ids.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    let of = |ids: Vec<(&str, bool)>| ids.into_iter().map(|(id, _)| id.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(sorted(CASES.iter().map(|case| case.0).collect()), of(stand));
    assert_eq!(sorted(MADE.iter().map(|case| case.0).collect()), of(made));
}

const GOOD: &str =
    "---\ntype: Concept\ntitle: T\ndescription: D\ntimestamp: 2026-07-19T10:30:00Z\n---\n\nx\n";

/// Files, and the lines of each that change.
type FixedFiles = &'static [(&'static str, &'static [&'static str])];

/// Case, whether unsafe fixes are made too, and in profile `wiki` the lines of each file that `--fix` takes out (`-`) and puts
/// in (`+`), in order. Unsafe fixes make the safe ones too; what is not here stays as it is.
const FIXES: &[(&str, bool, FixedFiles)] = &[
    ("L08", false, &[("index.md", &["+* [B](b.md) - D", "+* [C](c.md) - D"])]),
    ("L11", false, &[("index.md", &["+* [B](b.md) - D"])]),
    ("L23", false, &[("index.md", &["-* [A](/a.md)", "+* [A](a.md)"])]),
    ("L24", true, &[("index.md", &["-* [later](not-yet.md)"])]),
    // The wikilink becomes the entry; no second one is added.
    (
        "L25",
        false,
        &[
            (
                "a.md",
                &[
                    "-see [[b|the B page]] and [[missing page]]",
                    "+see [the B page](b.md) and [[missing page]]",
                ],
            ),
            ("index.md", &["-[[b]]", "+[b](b.md)"]),
        ],
    ),
    ("L26", false, &[("index.md", &["+", "+* [B](b.md) - D"])]),
    ("L30", false, &[("index.md", &["-* [A](caf\u{e9}.md)", "+* [A](cafe\u{301}.md)"])]),
    ("F01", false, &[("a.md", &["-  - /b.md", "+  - b.md"])]),
    ("F11", false, &[("d.md", &["-title: D: two: colons", "+title: 'D: two: colons'"])]),
    ("F16", false, &[("a.md", &["-\u{feff}---", "+---"])]),
    ("F23", false, &[("index.md", &["+* [Hi](README.md)"])]),
    (
        "T02",
        true,
        &[
            ("a.md", &["-timestamp: 2026-07", "+timestamp: 2026-12-01T00:00:00Z"]),
            ("b.md", &["-timestamp: 2026-200", "+timestamp: 2026-12-01T00:00:00Z"]),
        ],
    ),
    // The examples in code stay.
    ("X01", false, &[("wiki/index.md", &["+* [B](b.md) - D"])]),
    ("X03", false, &[("a.md", &["-timestamp: 19/07/2026", "+timestamp: 2026-07-19T00:00:00Z"])]),
    (
        "X04",
        false,
        &[
            ("a.md", &["-timestamp: \"19/07/2026\"", "+timestamp: \"2026-07-19T00:00:00Z\""]),
            ("b.md", &["-timestamp:  19/07/2026", "+timestamp:  2026-07-19T00:00:00Z"]),
        ],
    ),
    ("X06", false, &[("a.md", &["-[x](/b.md)\r", "+[x](b.md)\r"]), ("index.md", &["+* [B](b.md) - D"])]),
    ("X07", false, &[("a.md", &["-[x](/b.md)", "+[x](b.md)"])]),
    (
        "X10",
        true,
        &[
            ("a.md", &["-timestamp: 07/04/2026", "+timestamp: 2026-04-07T00:00:00Z"]),
            ("b.md", &["-timestamp: Q3 2026", "+timestamp: 2026-12-01T00:00:00Z"]),
        ],
    ),
    (
        "X11",
        false,
        &[
            ("a.md", &["-[s](/sub/) [t](/a.md)", "+[s](sub/) [t](a.md)"]),
            ("sub/b.md", &["-[s](/sub/)", "+[s](./)"]),
        ],
    ),
    ("I01", false, &[("index.md", &["+* [F](foo.md) - D"])]),
    ("I03", false, &[("index.md", &["+", "+* [B](bar.md) - D", "+* [F](foo.md) - D"])]),
    // The broken entry means foo.md: no second one is added.
    ("I04", false, &[("index.md", &["-* [[bar]]", "+* [bar](bar.md)"])]),
    ("I04", true, &[("index.md", &["-* [Foo](foo)", "-* [[bar]]", "+* [Foo](foo.md)", "+* [bar](bar.md)"])]),
];

/// Cases that no folder can hold: how each is made, and its findings in profile `wiki`.
type Made = (&'static str, fn(&Bundle), Expected);

const MADE: &[Made] = &[
    // The findings that `--fix` starts from: a page that cannot be written is judged like any other.
    (
        "X08",
        |bundle| {
            bundle.page("a.md", "A", "[x](/b.md)").page("b.md", "B", "[x](/a.md)").index(&["a.md", "b.md"]);
            bundle.bar("b.md", 0o444);
        },
        &[("L002", "a.md", "/b.md"), ("L002", "b.md", "/a.md")],
    ),
    (
        "X09",
        |bundle| {
            bundle.page("raw/a.md", "A", "[x](/wiki/b.md)").page("wiki/b.md", "B", "x");
            bundle.file("wiki/index.md", "* [a](a.md)\n* [b](b.md)\n").link("../raw/a.md", "wiki/a.md");
        },
        &[("L002", "wiki/a.md", "/wiki/b.md")],
    ),
    (
        "S02",
        |bundle| {
            bundle.page("a.md", "A", "x").index(&["a.md"]).link("gone.md", "b.md");
        },
        &[("B003", "b.md", "not-regular")],
    ),
    (
        "S03",
        |bundle| {
            bundle.page("a.md", "A", "x").index(&["a.md"]).link("b.md", "b.md");
        },
        &[("B003", "b.md", "not-regular")],
    ),
    (
        "S04",
        |bundle| {
            bundle.page("a.md", "A", "x").index(&["a.md"]).link(".", "again");
        },
        NONE,
    ),
    (
        "S05",
        |bundle| {
            bundle.page("a.md", "A", "x").page("b.md", "B", "x").index(&["a.md", "b.md"]).bar("b.md", 0o000);
        },
        &[("B003", "b.md", "denied")],
    ),
    (
        "S06",
        |bundle| {
            bundle.page("a.md", "A", "x").page("sub/b.md", "B", "x").index(&["a.md"]).bar("sub", 0o000);
        },
        &[("B003", "sub", "denied")],
    ),
    // What lies in a folder that cannot be read is not known, and not called broken.
    (
        "S14",
        |bundle| {
            bundle.page("a.md", "A", "[b](secret/b.md)").page("secret/b.md", "B", "x").index(&["a.md"]);
            bundle.bar("secret", 0o000);
        },
        &[("B003", "secret", "denied")],
    ),
    (
        "S07",
        |bundle| {
            bundle.page("a.md", "A", "x").index(&["a.md"]);
            fs::write(bundle.0.path().join(OsStr::from_bytes(b"caf\xe9.md")), GOOD).unwrap();
        },
        &[("B003", "caf\u{fffd}.md", "not-regular")],
    ),
    (
        "S08",
        |bundle| {
            bundle.page("a.md", "A", "x").index(&["a.md"]);
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
            rustix::fs::mknodat(rustix::fs::CWD, bundle.0.path().join("x.md"), kind, mode, 0).unwrap();
        },
        &[("B003", "x.md", "not-regular")],
    ),
    (
        "P01",
        |bundle| {
            bundle.page("a.md", "A", &"[".repeat(600_000)).index(&["a.md"]);
        },
        NONE,
    ),
];

/// A bundle that a case is made in.
struct Bundle(TempDir);

impl Bundle {
    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn page(&self, path: &str, title: &str, body: &str) -> &Self {
        self.file(
            path,
            &GOOD.replace("title: T", &format!("title: {title}")).replace("x\n", &format!("{body}\n")),
        )
    }

    fn index(&self, names: &[&str]) -> &Self {
        self.file(
            "index.md",
            &names.iter().map(|name| format!("* [{name}]({name}) - d\n")).collect::<String>(),
        )
    }

    fn link(&self, to: &str, path: &str) -> &Self {
        symlink(to, self.0.path().join(path)).unwrap();
        self
    }

    fn bar(&self, path: &str, mode: u32) -> &Self {
        fs::set_permissions(self.0.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }
}

#[test]
fn what_no_folder_can_hold_gets_the_right_answer_too() {
    let mut wrong = Vec::new();
    for (case, make, expected) in MADE {
        let bundle = Bundle(TempDir::new().unwrap());
        make(&bundle);
        let barred = expected.iter().find(|(_, _, kind)| *kind == "denied").map(|(_, path, _)| *path);
        let readable = |path: &str| {
            let path = bundle.0.path().join(path);
            fs::read_dir(&path).is_ok() || fs::read(&path).is_ok()
        };
        if barred.is_some_and(readable) {
            eprintln!("SKIPPED: {case}: this user may read everything");
        } else {
            let found = findings(bundle.0.path(), Profile::Wiki);
            if found != rows(expected) {
                wrong.push(format!("{case}: found {found:?}, right is {expected:?}"));
            }
        }
        barred.into_iter().for_each(|path| {
            bundle.bar(path, 0o700);
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// X08: a page that nobody may write is said and left; the other is fixed.
#[test]
fn a_read_only_page_stays_and_the_others_are_fixed() {
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let bundle = Bundle(folder);
    bundle.page("a.md", "A", "[x](/b.md)").page("b.md", "B", "[x](/a.md)").index(&["a.md", "b.md"]);
    bundle.bar("b.md", 0o444);
    let output = lint_fix(bundle.0.path(), home.path());
    let read = |name: &str| fs::read_to_string(bundle.0.path().join(name)).unwrap();
    assert!(read("a.md").ends_with("[x](b.md)\n") && read("b.md").ends_with("[x](/a.md)\n"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("fixed a.md:8:5: L002 link-absolute: /b.md becomes b.md\n"), "{out}");
    assert!(out.contains("b.md:8:5: error L002") && !out.contains("fixed b.md"), "{out}");
    assert!(err.contains("cannot write /b.md: the file is read-only"), "{err}");
    assert_eq!(output.status.code(), Some(1));
}

/// X09: a page that is a link into `raw/` is not written through.
#[test]
fn a_source_behind_a_link_stays() {
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let bundle = Bundle(folder);
    bundle.page("raw/a.md", "A", "[x](/wiki/b.md)").page("wiki/b.md", "B", "x");
    bundle.file("wiki/index.md", "* [a](a.md)\n* [b](b.md)\n").link("../raw/a.md", "wiki/a.md");
    let before = fs::read(bundle.0.path().join("raw/a.md")).unwrap();
    let output = lint_fix(bundle.0.path(), home.path());
    assert_eq!(fs::read(bundle.0.path().join("raw/a.md")).unwrap(), before);
    assert!(fs::symlink_metadata(bundle.0.path().join("wiki/a.md")).unwrap().is_symlink());
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("not fixed: /raw/a.md: permission denied"), "{err}");
    assert_eq!(output.status.code(), Some(1));
}

fn lint_fix(bundle: &Path, home: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikiwright"));
    command.arg("lint").arg(bundle).args(["--fix", "--profile", "wiki"]);
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").env("HOME", home).output().unwrap()
}

/// A large wiki with many things that look like faults to a regular expression and are none.
#[test]
fn a_clean_bundle_has_no_finding() {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/oracle/gen_bundle.py"));
    let folder = TempDir::new().unwrap();
    let bundle = folder.path().join("clean");
    let made = Command::new("python3").arg(script).arg("600").arg(&bundle).arg("--clean").output();
    if !script.is_file() || !made.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {} is not there or does not run", script.display());
        return;
    }
    assert_eq!(findings(&bundle, Profile::Wiki), rows(NONE));
}

#[test]
fn every_difference_from_the_reference_is_pinned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    let mut folders = vec![root.join("src"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&fs::read_to_string(entry).unwrap());
            }
        }
    }
    let text = fs::read_to_string(root.join("tests/lint/differences.md")).unwrap();
    let mut pinned = 0;
    for row in text.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let tests = row.trim_end_matches([' ', '|']).rsplit_once(" | ").unwrap().1;
        for name in tests.split(", ") {
            let name = name.trim_matches('`');
            assert!(sources.contains(&format!("fn {name}()")), "{name}");
            pinned += 1;
        }
    }
    assert!(pinned > 40, "{pinned}");
}
