//! A whole session in a terminal: ingest, reject one change with a reason, edit another, approve the rest, take it all back.

use super::demo::{demo, focus_chat};
use super::support::bundle::snapshot;
use super::support::pty::{ENTER, F9};

#[test]
fn ingest_reject_edit_approve_undo() {
    let (mut screen, bundle) = demo();
    let before = snapshot(&bundle);
    focus_chat(&mut screen);
    screen.send("/ingest");
    screen.wait_for("› /ingest");
    screen.send(ENTER);
    // The source that no page takes up comes first.
    screen.wait_for("Ingest a source");
    screen.wait("the new source", |text| text.contains("raw/la-rance.md") && text.contains("new"));
    screen.send(ENTER);
    screen.wait_for("Review: 13 files");
    screen.wait_for("If all of it is written: 0 errors, 0 warnings");

    // The first file is a new page, the second its line in the index.
    screen.wait_for("# Bulb turbine");
    screen.send("i");
    screen.wait_for("Ctrl-S");
    screen.send("EDITED ");
    screen.wait_for("EDITED");
    screen.send("\x13");
    screen.wait_for("1 approved");
    screen.send("n");
    screen.send("x");
    screen.wait_for("Why? The manager reads this");
    screen.send("keep the index short");
    screen.send(ENTER);
    screen.wait_for("1 rejected");
    screen.send("A");
    screen.wait_for("y  yes");
    screen.send("y");
    screen.wait_for("━ Written ");
    let page = std::fs::read_to_string(bundle.join("wiki/concepts/bulb-turbine.md")).unwrap();
    assert!(page.contains("EDITED "), "{page}");
    assert!(bundle.join("wiki/entities/la-rance.md").exists());
    screen.send(ENTER);
    screen.wait_for("Outcome of the review");
    screen.wait_for("plays a script");
    // What the manager was told stands folded in the conversation, and whole in what is written of it.
    screen.send("/export told.md");
    screen.wait_for("› /export told.md");
    screen.send(ENTER);
    screen.wait_for("told.md");
    let told = screen.home().join("told.md");
    screen.wait("the exported conversation", |_| told.exists());
    let told = std::fs::read_to_string(told).unwrap();
    assert!(told.contains("keep the index short"), "{told}");
    // The history says what was asked, not that it was approved.
    screen.send(F9);
    screen.wait("the instruction in the history", |text| {
        text.contains("What was applied") && text.contains("Ingest raw/la-rance.md")
    });
    screen.send("\x1b");
    screen.wait_gone("What was applied");
    screen.send("/undo");
    screen.wait_for("› /undo");
    screen.send(ENTER);
    screen.wait_for("Taken back.");
    assert_eq!(snapshot(&bundle), before);
    screen.send(ENTER);
    screen.send("\x11");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
}
