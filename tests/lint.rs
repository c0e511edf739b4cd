//! `wikiwright lint` as scripts see it: output, exit codes, and bundles that hold what no page should be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

const GOOD: &str =
    "---\ntype: Concept\ntitle: A\ndescription: D\ntimestamp: 2026-07-19T10:30:00Z\n---\n\nx\n";

fn bundle(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn sound() -> TempDir {
    bundle(&[("index.md", "# Index\n\n* [A](a.md)\n"), ("a.md", GOOD)])
}

fn lint(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("wikiwright").unwrap();
    command.arg("lint").arg(folder).env_remove("NO_COLOR");
    command
}

fn findings(folder: &Path, profile: &str) -> (i32, Vec<(String, String)>) {
    let output = lint(folder).args(["--json", "--profile", profile]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (output.status.code().unwrap(), rows.map(|row| (text(&row["rule"]), text(&row["path"]))).collect())
}

fn found(rule: &str, path: &str) -> Vec<(String, String)> {
    vec![(rule.to_owned(), path.to_owned())]
}

#[test]
fn a_sound_bundle_exits_zero() {
    let folder = sound();
    lint(folder.path()).assert().code(0).stdout("0 errors, 0 warnings, 0 hints in 2 pages (profile okf)\n");
}

#[test]
fn warnings_alone_exit_zero_and_an_error_one() {
    let folder = bundle(&[("index.md", "# Index\n"), ("a.md", GOOD)]);
    lint(folder.path()).args(["--profile", "wiki"]).assert().code(0).stdout(
        "a.md:1:1: warning G001 orphan: orphan: no other page links to it\n\
         index.md:1:1: warning S002 index-stale: pages not in the index: a.md\n\
         0 errors, 2 warnings, 0 hints in 2 pages (profile wiki): G001 1, S002 1\n",
    );
    fs::write(folder.path().join("index.md"), "[a](a.md)\n\n[gone](gone.md)\n").unwrap();
    lint(folder.path()).args(["--profile", "wiki"]).assert().code(1).stdout(
        "index.md:3:8: error L001 link-broken: broken link: gone.md\n\
         1 error, 0 warnings, 0 hints in 2 pages (profile wiki): L001 1\n",
    );
}

#[test]
fn json_has_every_key_that_programs_rely_on() {
    let folder = bundle(&[("wiki/index.md", "[gone](gone.md)\n"), ("AGENTS.md", "# Schema\n")]);
    let output = lint(folder.path()).args(["--format", "json"]).assert().code(1).get_output().stdout.clone();
    let json: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(
        json,
        json!({
            "bundle": folder.path().to_str().unwrap(),
            "profile": "wiki",
            "okf_version": "0.1",
            "pages": 2,
            "findings": [{
                "rule": "L001", "name": "link-broken", "level": "error", "path": "wiki/index.md",
                "line": 1, "column": 8, "end_line": 1, "end_column": 15,
                "message": "broken link: gone.md", "data": {"target": "gone.md"},
            }],
            "fixed": [],
            "summary": {"errors": 1, "warnings": 0, "hints": 0, "fixed": 0},
        })
    );
}

#[test]
fn what_is_no_folder_cannot_be_judged() {
    let folder = sound();
    for (path, what) in [("a.md", "this is not a folder"), ("nowhere", "there is no such folder")] {
        let path = folder.path().join(path);
        let message = format!("wikiwright: {}: {what}\n", path.display());
        lint(&path).assert().code(2).stdout("").stderr(predicates::str::starts_with(message));
    }
}

#[test]
fn an_empty_folder_is_an_error_and_not_a_failure() {
    let folder = bundle(&[]);
    assert_eq!(findings(folder.path(), "auto"), (1, found("B001", "<bundle>")));
}

#[test]
fn output_that_nobody_reads_ends_quietly() {
    let many: String = (0..20_000).map(|n| format!("[x](gone{n}.md)\n")).collect();
    let folder = bundle(&[("index.md", &many)]);
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("wikiwright"))
        .args(["lint", "--profile", "wiki"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn links_that_lead_nowhere_and_in_circles_are_one_finding_each() {
    let folder = sound();
    symlink("nowhere.md", folder.path().join("b.md")).unwrap();
    assert_eq!(findings(folder.path(), "wiki"), (1, found("B003", "b.md")));
    fs::remove_file(folder.path().join("b.md")).unwrap();
    symlink("b.md", folder.path().join("b.md")).unwrap();
    assert_eq!(findings(folder.path(), "wiki"), (1, found("B003", "b.md")));
}

#[test]
fn a_link_to_the_own_folder_is_not_followed_for_ever() {
    let folder = sound();
    symlink(".", folder.path().join("again")).unwrap();
    assert_eq!(findings(folder.path(), "wiki"), (0, vec![]));
}

#[test]
fn a_link_out_of_the_bundle_is_not_read() {
    let (folder, secret) = (sound(), bundle(&[("b.md", "secret")]));
    symlink(secret.path().join("b.md"), folder.path().join("b.md")).unwrap();
    symlink(secret.path(), folder.path().join("sub")).unwrap();
    let output = lint(folder.path()).args(["--json", "--profile", "wiki"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
    assert_eq!(findings(folder.path(), "wiki"), (1, found("B003", "b.md")));
}

#[test]
fn a_fifo_does_not_hang_the_run() {
    let folder = sound();
    let fifo = folder.path().join("x.md");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(findings(folder.path(), "wiki"), (1, found("B003", "x.md")));
}

#[test]
fn a_name_that_is_not_utf8_is_one_finding() {
    let folder = sound();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.md")), GOOD).unwrap();
    let (code, rows) = findings(folder.path(), "wiki");
    assert_eq!((code, rows.len(), rows[0].0.as_str()), (1, 1, "B003"));
}

#[test]
fn a_folder_named_like_a_page_is_no_page() {
    let folder = bundle(&[("index.md", "[A](a.md)"), ("a.md", GOOD), ("x.md/inner.txt", "x")]);
    assert_eq!(findings(folder.path(), "wiki"), (0, vec![]));
}

#[test]
fn files_that_may_not_be_read_are_findings_and_the_rest_is_judged() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = bundle(&[("index.md", "[A](a.md) [s](s/b.md)"), ("a.md", GOOD), ("s/b.md", GOOD)]);
    let bar = |path: &str, mode| {
        fs::set_permissions(folder.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    bar("a.md", 0o000);
    bar("s", 0o000);
    if fs::read(folder.path().join("a.md")).is_ok() {
        eprintln!("SKIPPED: this user may read everything");
    } else {
        let rows = [found("B003", "a.md"), found("B003", "s")].concat();
        assert_eq!(findings(folder.path(), "wiki"), (1, rows));
    }
    bar("s", 0o700);
}

#[test]
fn brackets_without_end_take_linear_time() {
    let brackets = format!("{GOOD}{}", "[".repeat(600_000));
    let folder = bundle(&[("index.md", "[A](a.md)"), ("a.md", &brackets)]);
    assert_eq!(findings(folder.path(), "wiki"), (0, vec![]));
}

#[test]
fn a_page_over_the_size_limit_is_one_finding() {
    let folder = sound();
    fs::File::create(folder.path().join("big.md")).unwrap().set_len(64 << 20).unwrap();
    let output = lint(folder.path()).args(["--json", "--profile", "wiki"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    assert_eq!(json["findings"][0]["data"], json!({"kind": "too-large"}));
}

#[test]
fn a_line_of_megabytes_with_many_findings_takes_linear_time() {
    let line = "[x](gone.md) ".repeat(200_000);
    let folder = bundle(&[("index.md", &line)]);
    let output = lint(folder.path()).args(["--profile", "wiki"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with(
            "index.md:1:5: error L001 link-broken: broken link: gone.md (and at 199999 more places"
        ),
        "{:.200}",
        text
    );
    assert!(text.ends_with("200000 errors, 0 warnings, 0 hints in 1 page (profile wiki): L001 200000\n"));
}
