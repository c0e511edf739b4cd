//! `MATRIX.md` says which test stands for which row of the fault plan. It is made of the tests' names:
//! `UPDATE_MATRIX=1 cargo nextest run --locked matrix` writes it anew.

use std::path::{Path, PathBuf};

/// Every row of the plan: id, what is done to the program, after `=` tests whose names do not begin with the id, after `|` what
/// is not tested and why.
const ROWS: &str = include_str!("rows.txt");

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Every test: name, file, and whether only the `faults` profile runs it.
fn tests() -> Vec<(String, String, bool)> {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    sources(&root().join("tests"), &mut files);
    files.sort();
    let name = regex::Regex::new(r"^(?:async )?fn (\w+)\(").unwrap();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let (mut test, mut ignored) = (false, false);
        for line in text.lines() {
            let line = line.trim();
            if line == "#[test]" || line.starts_with("#[tokio::test") {
                (test, ignored) = (true, false);
            }
            ignored |= line.starts_with("#[ignore");
            if let Some(named) = name.captures(line)
                && std::mem::take(&mut test)
            {
                found.push((named[1].to_owned(), place.clone(), ignored));
            }
        }
    }
    found
}

#[test]
fn the_matrix_names_every_row_and_its_tests() {
    let tests = tests();
    let mut text = String::from(
        "# Faults and their tests\n\n\
         Made from the tests' names by the test in `matrix.rs`; do not edit. A test's name begins with the id of its row.\n\
         One row alone: `cargo nextest run --locked -E 'test(d05_)' --run-ignored all`. Tests marked with * need root, strace\n\
         or minutes; `cargo nextest run --locked -P faults --run-ignored only` runs them. What a machine lacks is said on\n\
         standard error in a line that begins with `SKIPPED`.\n\n\
         | id | what | tests |\n|---|---|---|\n",
    );
    let mut ids = Vec::new();
    for row in ROWS.lines() {
        let (id, rest) = row.split_once(' ').unwrap();
        let (rest, why) = rest.split_once(" | ").map_or((rest, None), |(what, why)| (what, Some(why)));
        let (what, others) = rest.split_once(" = ").unwrap_or((rest, ""));
        let others: Vec<&str> = others.split_whitespace().collect();
        let start = format!("{}_", id.to_lowercase());
        let named =
            tests.iter().filter(|(name, ..)| name.starts_with(&start) || others.contains(&name.as_str()));
        let mut cell: Vec<String> = named
            .map(|(name, file, ignored)| format!("`{name}`{} in {file}", if *ignored { "*" } else { "" }))
            .collect();
        assert!(cell.len() >= others.len(), "{id}: a test of {others:?} is not there");
        match why {
            Some(why) => cell.push(format!("Not tested: {why}")),
            None if cell.is_empty() => cell.push("later".to_owned()),
            None => {}
        }
        text.push_str(&format!("| {id} | {what} | {} |\n", cell.join("<br>")));
        ids.push(start);
    }
    // t10 to t21 and t51 to t65 are numbers of another list.
    let id = regex::Regex::new(r"^([a-su-z]\d\d|t0\d|t2[2-9]|t[34]\d)_").unwrap();
    let unknown = |name: &str| id.find(name).is_some_and(|start| !ids.iter().any(|id| id == start.as_str()));
    let unknown: Vec<_> = tests.iter().filter(|(name, ..)| unknown(name)).collect();
    assert!(unknown.is_empty(), "tests of rows that rows.txt does not know: {unknown:?}");
    let file = root().join("tests/faults/MATRIX.md");
    if std::env::var_os("UPDATE_MATRIX").is_some() {
        std::fs::write(file, text).unwrap();
    } else {
        let now = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(now, text, "tests/faults/MATRIX.md; see the top of this test");
    }
}
