//! The demo as a newcomer meets it: the scripted ingest, its review, the reader's citations. The script drives the loop, tools,
//! staging and review that a real model does.

use std::path::{Path, PathBuf};

use super::support::bundle::snapshot;
use super::support::command::{run, wikiwright};
use super::support::pty::{self, ENTER, F2, Screen, Start, TAB};

/// The demo opened, past the first lint; and the folder that it was copied to.
pub fn demo() -> (Screen, PathBuf) {
    let start = Start::new(&["demo"]).size(160, 45);
    let temporary = start.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let screen = start.env("TMPDIR", temporary.to_str().unwrap()).spawn();
    screen.wait_for("no findings");
    let copies: Vec<PathBuf> =
        std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    (screen, copies[0].join("tide-mills"))
}

pub fn focus_chat(screen: &mut Screen) {
    screen.send("c");
    screen.wait("the chat's mode", |text| text.contains(" MANAGER ") || text.contains(" READER "));
}

/// Takes the suggestion, sends it, and waits for the review to open by itself.
fn ingest(screen: &mut Screen) {
    focus_chat(screen);
    screen.wait_for("Ingest raw/la-rance.md");
    screen.send(ENTER);
    screen.wait_for("› Ingest raw/la-rance.md");
    screen.send(ENTER);
    screen.wait_for("Review: 13 files");
    screen.wait_for("If all of it is written: 0 errors, 0 warnings");
}

fn findings(bundle: &Path) -> usize {
    let home = tempfile::tempdir().unwrap();
    let said = run(wikiwright(home.path()).args(["lint", "--json"]).arg(bundle));
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    report["findings"].as_array().unwrap().len()
}

#[test]
fn it_says_that_the_model_is_scripted_and_where_the_copy_is() {
    let (screen, bundle) = demo();
    let text = screen.wait_for("scripted");
    assert!(text.contains(bundle.to_str().unwrap()), "{text}");
    assert_eq!(findings(&bundle), 0);
}

#[test]
fn an_ingest_writes_nothing_until_it_is_approved_and_leaves_a_clean_bundle() {
    let (mut screen, bundle) = demo();
    let before = snapshot(&bundle);
    ingest(&mut screen);
    let text = screen.text();
    assert!(
        text.contains("wiki/concepts/bulb-turbine.md") && text.contains("nothing is written yet"),
        "{text}"
    );
    assert_eq!(snapshot(&bundle), before);

    screen.send("A");
    screen.wait_for("13 files: ");
    screen.send("y");
    screen.wait_for("13 written");
    let page = std::fs::read_to_string(bundle.join("wiki/entities/la-rance.md")).unwrap();
    assert!(page.contains("24 of 10 MW"), "{page}");
    let log = std::fs::read_to_string(bundle.join("wiki/log.md")).unwrap();
    assert!(log.ends_with("working window.\n"), "{log}");
    assert_eq!(snapshot(&bundle).len(), before.len() + 5);
    assert_eq!(findings(&bundle), 0);

    screen.send(ENTER);
    screen.wait("the tree with the new page", |text| {
        text.contains("bulb-turbine.md") && !text.contains("written")
    });
    screen.send("\x11");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
    assert!(bundle.join("AGENTS.md").exists(), "the copy stays");
}

#[test]
fn one_file_approved_is_one_file_written_and_a_reason_reaches_the_manager() {
    let (mut screen, bundle) = demo();
    let before = snapshot(&bundle);
    ingest(&mut screen);
    // The first file in path order, once its diff is on screen.
    screen.wait_for("# Bulb turbine");
    screen.send("y");
    screen.wait_for("1 approved");
    screen.send("x");
    screen.wait_for("Why? The manager reads this");
    screen.send("keep the index short");
    screen.send(ENTER);
    screen.wait_for("1 rejected");
    screen.send(ENTER);
    // The page would stand there without its line in the index.
    screen.wait_for("Write what is approved all the same?");
    screen.send("y");
    screen.wait_for("1 written");
    let after = snapshot(&bundle);
    assert_eq!(after.len(), before.len() + 1);
    assert!(bundle.join("wiki/concepts/bulb-turbine.md").exists());
    screen.send(ENTER);
    screen.wait_for("keep the index short");
    screen.wait_for("plays a script");
}

#[test]
fn the_reader_cites_a_page_that_enter_opens() {
    let (mut screen, bundle) = demo();
    let before = snapshot(&bundle);
    focus_chat(&mut screen);
    screen.send(F2);
    screen.wait_for("How long can a tide mill grind on one tide?");
    screen.send(ENTER);
    screen.wait_for("› How long");
    screen.send(ENTER);
    screen.wait_for("two to four hours");
    screen.wait("the end of the turn", |text| !text.contains(" answering ") && !text.contains(" thinking "));
    screen.send(TAB);
    screen.wait_for("(Enter opens)");
    screen.send(ENTER);
    screen.wait_for(" wiki/concepts/working-window.md");
    assert_eq!(snapshot(&bundle), before);
}

#[test]
fn whatever_the_script_does_not_know_is_said_plainly() {
    let (mut screen, _) = demo();
    focus_chat(&mut screen);
    screen.send(F2);
    screen.wait_for("READER");
    screen.send("Who invented cheese?");
    screen.send(ENTER);
    screen.wait_for("scripted");
    screen.wait_for("plays a script");
}

#[test]
fn esc_parks_the_review_and_the_key_brings_it_back() {
    let (mut screen, bundle) = demo();
    let before = snapshot(&bundle);
    ingest(&mut screen);
    screen.send(pty::ESC);
    screen.wait_for("13 files wait");
    screen.wait_gone("Review: 13 files");
    screen.send("\x12");
    screen.wait_for("Review: 13 files");
    assert_eq!(snapshot(&bundle), before);
}
