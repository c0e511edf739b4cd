//! Conversations that are kept: listed, gone on with, and run again.

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};
use super::support::pty::Start;

fn said(home: &tempfile::TempDir, arguments: &[&str]) -> Said {
    run(wikiwright(home.path()).args(arguments))
}

#[test]
fn bad_names_of_conversations_are_said() {
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    let path = folder.path().to_str().unwrap();
    let none = said(&home, &["sessions", path]);
    assert_eq!(
        (none.code, none.err.contains("no conversation on this bundle yet")),
        (Some(0), true),
        "{}",
        none.err
    );
    let file = folder.path().join("AGENTS.md");
    let foreign = said(&home, &["replay", file.to_str().unwrap()]);
    assert_eq!(
        (foreign.code, foreign.err.contains("is no kept conversation")),
        (Some(2), true),
        "{}",
        foreign.err
    );
    let missing = said(&home, &["replay", "none.jsonl"]);
    assert_eq!(
        (missing.code, missing.err.contains("none.jsonl cannot be read")),
        (Some(2), true),
        "{}",
        missing.err
    );
}

#[test]
fn the_workbench_says_when_there_is_nothing_to_go_on_with() {
    let folder = bundle::small();
    let path = folder.path().to_str().unwrap();
    for (arguments, part) in [
        (&[path, "--continue"][..], "there is no conversation on this bundle"),
        (&[path, "--resume", "2020"], "no conversation on this bundle has an id"),
    ] {
        let screen = Start::new(arguments).spawn();
        screen.wait_for(part);
    }
}
