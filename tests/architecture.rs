//! Reads the source and fails where it has left the plan: an import against the arrows between rooms, file access outside the
//! rooms that own it, a file that outgrew its room or does not say what it owns, a lint switched off.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Each room and what it may import. `lib` and `main` name rooms freely.
const ROOMS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("okf", &["text"]),
    ("bundle", &["text", "okf"]),
    // It reads sources through the bundle's backend, in one place for agents, command and workbench.
    ("document", &["text", "okf", "bundle"]),
    ("wiki", &["text", "okf", "bundle"]),
    ("lint", &["text", "okf", "bundle", "wiki"]),
    ("search", &["text", "okf", "document", "bundle", "wiki"]),
    ("agent", &["text", "okf", "document", "bundle", "wiki", "lint", "search"]),
    ("tui", &["text", "okf", "document", "bundle", "wiki", "lint", "search", "agent"]),
    ("config", &["text", "okf", "document", "bundle", "wiki", "lint", "search", "agent", "tui"]),
    ("cli", &["text", "okf", "document", "bundle", "wiki", "lint", "search", "agent", "tui", "config"]),
];

/// Rooms that touch files. Test code is exempt.
const FILE_ROOMS: &[&str] = &["bundle", "document", "search", "config", "cli"];

const MAX_LINES: usize = 800;

struct Source {
    /// Below `src/` or `tests/`, with `/`.
    path: String,
    text: String,
    /// Compiled for tests only: a `tests.rs`, or declared under `#[cfg(test)]`.
    test: bool,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let test = path.ends_with("/tests.rs") || path.contains("/tests/");
        Self { path: path.to_owned(), text: text.to_owned(), test }
    }

    /// `bundle` for `bundle/local.rs` and `bundle.rs`.
    fn room(&self) -> &str {
        self.path.split('/').next().unwrap().trim_end_matches(".rs")
    }

    fn is_test(&self) -> bool {
        self.test
    }

    /// Paths, without `.rs`, of the files that this one declares under `#[cfg(test)]`.
    fn test_modules(&self) -> Vec<String> {
        let declared = Regex::new(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);").unwrap();
        let folder = self.module().join("/");
        declared.captures_iter(&self.text).map(|hit| format!("{folder}/{}", &hit[1])).collect()
    }

    /// Modules from the crate's root to this file.
    fn module(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = self.path.trim_end_matches(".rs").split('/').collect();
        if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
            parts.pop();
        }
        parts
    }

    /// Without line comments and without inline test modules, which stand at the end of a file.
    fn code(&self) -> String {
        let inline_tests =
            Regex::new(r"(?m)^#\[cfg\(test\)\]\s*\n(?:#\[.*\]\n)*(?:pub(?:\([a-z]+\))? )?mod \w+ \{")
                .unwrap();
        let end = inline_tests.find(&self.text).map_or(self.text.len(), |m| m.start());
        self.text[..end]
            .lines()
            .map(|line| match line.trim_start().starts_with("//") {
                true => "",
                false => line.split_once(" // ").map_or(line, |(code, _)| code),
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Rooms that the code names by a path from the crate's root.
    fn imports(&self) -> BTreeSet<String> {
        let code = self.code();
        let mut found = BTreeSet::new();
        let path = Regex::new(r"\bcrate::(?:(\w+)|(\{))").unwrap();
        for hit in path.captures_iter(&code) {
            match (hit.get(1), hit.get(2)) {
                (Some(name), _) => {
                    found.insert(name.as_str().to_owned());
                }
                (_, Some(brace)) => found.extend(first_names(&code[brace.end()..])),
                _ => {}
            }
        }
        // `super::super::room` from a file that lies shallow enough reaches the root too.
        let upwards = Regex::new(r"\b((?:super::)+)(?:(\w+)|(\{))").unwrap();
        for hit in upwards.captures_iter(&code) {
            if hit[1].matches("super").count() < self.module().len() {
                continue;
            }
            match hit.get(2) {
                Some(name) => {
                    found.insert(name.as_str().to_owned());
                }
                None => found.extend(first_names(&code[hit.get(0).unwrap().end()..])),
            }
        }
        found
    }
}

/// The first path component of each entry of a `{…}` list whose opening brace was just read.
fn first_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(String::new()),
            c if depth == 0 => names.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    names.iter().map(|n| n.trim().split("::").next().unwrap().trim().to_owned()).collect()
}

fn wrong_arrows(source: &Source) -> Vec<String> {
    let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| *room == source.room()) else {
        return match source.room() {
            "lib" | "main" => Vec::new(),
            room => vec![format!("{}: the room `{room}` is not in the table of this test", source.path)],
        };
    };
    if source.is_test() {
        return Vec::new();
    }
    let rooms: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    source
        .imports()
        .iter()
        .filter(|name| rooms.contains(name.as_str()) && name != room && !allowed.contains(&name.as_str()))
        .map(|name| format!("{}: `{room}` may not import `{name}`", source.path))
        .collect()
}

fn stray_file_access(source: &Source) -> Vec<String> {
    if FILE_ROOMS.contains(&source.room()) || source.is_test() {
        return Vec::new();
    }
    let access =
        Regex::new(r"\b(std::fs|std::\{[^;]*\bfs\b|tokio::fs|tokio::\{[^;]*\bfs\b|tempfile|cap_std)\b")
            .unwrap();
    access
        .find_iter(&source.code())
        .map(|hit| format!("{}: `{}` belongs in {}", source.path, hit.as_str(), FILE_ROOMS.join(", ")))
        .collect()
}

fn outgrown(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines <= MAX_LINES || source.is_test() {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines, at most {MAX_LINES}", source.path)]
}

fn silent(source: &Source) -> Vec<String> {
    if source.is_test() || source.text.starts_with("//!") {
        return Vec::new();
    }
    vec![format!("{}: does not open with `//!` saying what it owns", source.path)]
}

fn switched_off_lints(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    // `#![cfg_attr(test, allow(…))]` in lib.rs is the rule itself.
    let code =
        Regex::new(r"#!?\[cfg_attr\(\s*test,[^\]]*\]").unwrap().replace_all(&source.code(), "").into_owned();
    let attribute = Regex::new(
        r"#!?\[(?:cfg_attr\([^\]]*)?(?:allow|expect)\([^\]]*(unwrap_used|expect_used|indexing_slicing|string_slice|unsafe_code)",
    )
    .unwrap();
    attribute
        .captures_iter(&code)
        .map(|hit| format!("{}: switches `{}` off outside tests", source.path, &hit[1]))
        .collect()
}

fn sources(folder: &str) -> Vec<Source> {
    fn visit(root: &Path, folder: &Path, found: &mut Vec<Source>) {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                visit(root, &path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let relative = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push(Source::new(&relative, &std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    visit(&root, &root, &mut found);
    assert!(!found.is_empty(), "no source in {}", root.display());
    let tests: Vec<String> = found.iter().flat_map(Source::test_modules).collect();
    for source in &mut found {
        let module = source.module().join("/");
        source.test |= tests.iter().any(|t| module == *t || module.starts_with(&format!("{t}/")));
    }
    found
}

fn assert_none(folder: &str, rule: fn(&Source) -> Vec<String>) {
    let faults: Vec<String> = sources(folder).iter().flat_map(rule).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn rooms_import_only_what_lies_below_them() {
    assert_none("src", wrong_arrows);
}

#[test]
fn only_the_rooms_that_own_files_touch_them() {
    assert_none("src", stray_file_access);
}

#[test]
fn no_file_outgrows_its_room() {
    assert_none("src", outgrown);
    assert_none("tests", outgrown);
}

#[test]
fn every_file_says_what_it_owns() {
    assert_none("src", silent);
    assert_none("tests", silent);
}

#[test]
fn no_safety_lint_is_switched_off_outside_tests() {
    assert_none("src", switched_off_lints);
}

// The checks themselves: each must fire on what it forbids.

#[test]
fn an_arrow_the_wrong_way_is_found_in_every_spelling() {
    for text in [
        "use crate::tui::State;",
        "use crate::{okf::Page, tui::State};",
        "use crate::{\n    okf::{self, Page},\n    tui,\n};",
        "fn f() { crate::tui::run(); }",
        "use super::super::tui::State;",
        "use super::super::{tui, okf};",
    ] {
        let faults = wrong_arrows(&Source::new("wiki/graph.rs", text));
        assert_eq!(faults, ["wiki/graph.rs: `wiki` may not import `tui`"], "{text}");
    }
}

#[test]
fn allowed_imports_comments_and_tests_pass() {
    for text in [
        "use crate::bundle::Read;",
        "use crate::wiki::Wiki;",
        "//! See [`crate::tui`].",
        "use super::tui;",
        "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::tui::State;\n}\n",
    ] {
        assert_eq!(wrong_arrows(&Source::new("wiki/graph.rs", text)), Vec::<String>::new(), "{text}");
    }
    assert!(wrong_arrows(&Source::new("wiki/tests.rs", "use crate::tui::State;")).is_empty());
    assert_eq!(wrong_arrows(&Source::new("helpers/mod.rs", "")).len(), 1);
}

#[test]
fn file_access_is_found_outside_its_rooms() {
    for text in ["std::fs::read(p)", "use std::{fs, io};", "use cap_std::fs::Dir;", "tempfile::tempdir()"] {
        assert_eq!(stray_file_access(&Source::new("tui/mod.rs", text)).len(), 1, "{text}");
        assert!(stray_file_access(&Source::new("bundle/local.rs", text)).is_empty());
        assert!(stray_file_access(&Source::new("tui/tests.rs", text)).is_empty());
    }
    assert!(stray_file_access(&Source::new("tui/mod.rs", "use std::{fmt, io};")).is_empty());
}

#[test]
fn modules_declared_for_tests_are_told_from_others() {
    let source = Source::new("okf/page.rs", "mod facts;\n#[cfg(test)]\nmod cases;\n");
    assert_eq!(source.test_modules(), ["okf/page/cases"]);
    assert_eq!(Source::new("okf/mod.rs", "#[cfg(test)] mod cases;").test_modules(), ["okf/cases"]);
}

#[test]
fn long_silent_and_lenient_files_are_found() {
    let long = "//! x\n".repeat(MAX_LINES + 1);
    assert_eq!(outgrown(&Source::new("okf/a.rs", &long)).len(), 1);
    assert!(outgrown(&Source::new("okf/tests.rs", &long)).is_empty());
    assert_eq!(silent(&Source::new("okf/a.rs", "use std::io;")).len(), 1);
    for text in [
        "#[allow(clippy::unwrap_used)]",
        "#![allow(\n    clippy::indexing_slicing\n)]",
        "#[expect(clippy::string_slice)]",
    ] {
        assert_eq!(switched_off_lints(&Source::new("okf/a.rs", text)).len(), 1, "{text}");
    }
    let rule = "#![cfg_attr(\n    test,\n    allow(clippy::unwrap_used)\n)]";
    assert!(switched_off_lints(&Source::new("lib.rs", rule)).is_empty());
}
