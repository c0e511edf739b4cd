//! The workbench in a terminal, without a model.

use std::path::Path;

use super::support::bundle;
use super::support::pty::{ENTER, F1, F8, Screen, Start};

pub const CLEAN: &str = "✓ no findings";

/// Opened on `bundle` and past the first lint.
pub fn open(bundle: &Path) -> Screen {
    let screen = Start::new(&[bundle.to_str().unwrap()]).spawn();
    screen.wait("the first lint", |text| text.contains(CLEAN) || text.contains("E "));
    screen
}

pub fn replace(page: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(page, text.replace(from, to)).unwrap();
}

#[test]
fn it_shows_tree_page_agent_and_lint_counts() {
    let bundle = bundle::small();
    let screen = open(bundle.path());
    let text = screen.wait_for(CLEAN);
    for part in ["wiki/index.md", "sail.md", "notes.md", "manager", "no model", "OPENAI_API_KEY"] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn a_page_that_appears_or_vanishes_moves_tree_and_count() {
    let bundle = bundle::small();
    let screen = open(bundle.path());
    screen.wait_for(CLEAN);
    let page = bundle.path().join("wiki/concepts/rudder.md");
    std::fs::write(&page, "# No frontmatter\n").unwrap();
    screen.wait("the new page", |text| text.contains("rudder.md") && text.contains("1E"));
    std::fs::remove_file(&page).unwrap();
    screen.wait("it gone", |text| !text.contains("rudder.md") && text.contains(CLEAN));
}

#[test]
fn the_list_of_findings_leads_to_the_place() {
    let bundle = bundle::small();
    replace(&bundle.path().join("wiki/concepts/hull.md"), "sail.md", "mast.md");
    let mut screen = open(bundle.path());
    screen.wait_for("1E");
    screen.send(F8);
    let text = screen.wait_for("Findings");
    assert!(text.contains("L001") && text.contains("mast.md"), "{text}");
    screen.send(ENTER);
    screen.wait_for(" wiki/concepts/hull.md");
}

#[test]
fn help_lists_the_keys_and_closes() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.send(F1);
    screen
        .wait("the keys", |text| text.contains(" Keys ") && text.contains("Ctrl-R") && text.contains("quit"));
    screen.send(F1);
    screen.wait_gone(" Keys ");
}

#[test]
fn quitting_leaves_the_terminal_as_it_was() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    assert!(screen.modes().0, "the alternate screen is on");
    screen.send("q");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
}

#[test]
fn a_signal_ends_it_with_the_terminal_restored() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let bundle = bundle::small();
        let mut screen = open(bundle.path());
        screen.signal(signal);
        assert_eq!(screen.wait_exit().exit_code(), code, "{signal}");
        screen.assert_restored();
    }
}

#[test]
fn a_terminal_that_goes_away_ends_it() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.hang_up();
    assert_eq!(screen.wait_exit().exit_code(), 129);
}

#[test]
fn nothing_is_drawn_while_nothing_happens() {
    let bundle = bundle::small();
    let screen = open(bundle.path());
    // The last frame may still be on its way; then silence must hold for a while.
    std::thread::sleep(std::time::Duration::from_millis(700));
    let before = screen.bytes().len();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(screen.bytes().len(), before);
}

#[test]
fn a_terminal_too_small_says_so_and_recovers() {
    let bundle = bundle::small();
    let screen = open(bundle.path());
    screen.wait_for(CLEAN);
    screen.resize(20, 5);
    screen.wait_for("too small");
    screen.resize(1, 1);
    screen.resize(100, 30);
    screen.wait_for(CLEAN);
}

#[test]
fn it_starts_in_a_terminal_of_one_cell_and_quits() {
    let bundle = bundle::small();
    let mut screen = Start::new(&[bundle.path().to_str().unwrap()]).size(1, 1).spawn();
    screen.wait("the alternate screen", |text| text.starts_with('t'));
    screen.resize(100, 30);
    screen.wait_for(CLEAN);
    screen.resize_drawn(1, 1);
    screen.send("q");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
}

#[test]
fn without_a_path_it_opens_the_bundle_around_the_current_folder() {
    let bundle = bundle::small();
    let screen = Start::new(&[]).cwd(&bundle.path().join("wiki/concepts")).spawn();
    screen.wait_for(CLEAN);
    screen.wait_for("wiki/index.md");
}

#[test]
fn a_folder_that_was_replaced_is_marked_until_it_is_back() {
    let bundle = bundle::small();
    let place = tempfile::tempdir().unwrap();
    let (root, away) = (place.path().join("w"), place.path().join("away"));
    bundle::copy(bundle.path(), &root);
    let mut screen = Start::new(&[root.to_str().unwrap()]).spawn();
    screen.wait_for("no findings");
    std::fs::rename(&root, &away).unwrap();
    bundle::copy(bundle.path(), &root);
    screen.wait_for("is gone or was replaced");
    // The sentence goes with the next key; the mark stays.
    screen.send("j");
    screen.wait_for("folder gone: open it again");
    std::fs::remove_dir_all(&root).unwrap();
    std::fs::write(away.join("wiki/concepts/hull.md"), "no frontmatter\n").unwrap();
    std::fs::rename(&away, &root).unwrap();
    screen.wait_gone("folder gone");
    screen.wait_for("1E");
}

#[test]
fn a_key_in_the_same_moment_as_a_resize_is_read() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    for round in 0..20 {
        screen.resize(100 + round, 30);
        screen.send(F1);
        screen.wait_for(" Keys ");
        screen.send(F1);
        screen.resize(100 + round, 31);
        screen.wait_gone(" Keys ");
    }
}

#[test]
fn a_paste_that_never_ends_gives_the_keys_back() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.send("c\x1b[200~never closed");
    let began = std::time::Instant::now();
    screen.wait_for("never closed");
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    screen.send(F1);
    screen.wait_for(" Keys ");
}

#[test]
fn a_large_paste_without_marks_is_one_insertion() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.send("c");
    screen.wait_for("F1 help");
    let began = std::time::Instant::now();
    screen.send(&"Some line of text that somebody pasted.\r".repeat(7500));
    screen.wait_for("[pasted ");
    assert!(began.elapsed().as_secs() < 8, "{:?}", began.elapsed());
    screen.send(F1);
    screen.wait_for(" Keys ");
}

#[test]
fn a_key_right_after_a_large_paste_counts_for_itself() {
    // Part of the paste may be under way when the key comes.
    for pause in [5, 45] {
        let bundle = bundle::small();
        let mut screen = open(bundle.path());
        screen.send("c");
        screen.wait_for("F1 help");
        for lines in [3955, 1050, 2495] {
            screen.send(&"Some line of text that somebody pasted.\r".repeat(lines));
            std::thread::sleep(std::time::Duration::from_millis(pause));
        }
        screen.send(F1);
        screen.wait_for(" Keys ");
    }
}
