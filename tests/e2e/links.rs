//! Links of a page in the workbench: following them, and what happens to a page that changes while it is read.

use super::support::bundle;
use super::support::pty::{self, ENTER, F6, TAB};
use super::workbench::{CLEAN, open, replace};

#[test]
fn a_link_is_followed_with_enter_and_back_returns() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.wait_for("wiki/index.md");
    screen.send(F6);
    screen.wait_for("PAGE");
    screen.send(TAB);
    screen.send(ENTER);
    screen.wait_for("wiki/concepts/index.md");
    screen.send(TAB);
    screen.send(ENTER);
    screen.wait_for("A sail drives the");
    screen.send(pty::BACKSPACE);
    screen.wait_for("wiki/concepts/index.md");
    screen.send(pty::BACKSPACE);
    screen.wait_for(" wiki/index.md");
}

#[test]
fn saving_a_page_elsewhere_moves_the_count_and_the_text() {
    let bundle = bundle::small();
    let mut screen = open(bundle.path());
    screen.wait_for(CLEAN);
    screen.send(F6);
    screen.send(TAB);
    screen.send(ENTER);
    screen.wait_for("wiki/concepts/index.md");
    screen.send(TAB);
    screen.send(ENTER);
    screen.wait_for("A sail drives the");
    let page = bundle.path().join("wiki/concepts/sail.md");
    replace(&page, "[hull](hull.md)", "[keel](keel.md)");
    // The broken link is an error, and nothing links to the hull but its index now.
    // Page and findings come each when it is ready.
    screen.wait("the count and the text", |text| text.contains("1E") && text.contains("keel"));
    replace(&page, "[keel](keel.md)", "[hull](hull.md)");
    screen.wait_for(CLEAN);
    screen.wait_gone("keel");
}
