//! Bundles that are wrong in ways that bundles are: each fault is said where the person looks, the rest keeps working,
//! nothing is written. What concerns paths and terminals stands with the commands and the workbench, endpoints with the model.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};
use super::support::pty::{F6, F8, Screen, Start};

fn lint(bundle: &Path) -> Said {
    let home = tempfile::tempdir().unwrap();
    run(wikiwright(home.path()).arg("lint").arg(bundle))
}

/// Opened and past the first lint.
fn open(bundle: &Path) -> Screen {
    let screen = Start::new(&[bundle.to_str().unwrap()]).spawn();
    screen.wait("the first lint", |text| text.contains("no findings") || text.contains("E "));
    screen
}

/// The findings list of the workbench holds all of `parts`, and the workbench still takes keys.
fn assert_listed(bundle: &Path, parts: &[&str]) {
    let mut screen = open(bundle);
    screen.send(F8);
    screen.wait(&format!("{parts:?}"), |text| parts.iter().all(|part| text.contains(part)));
    screen.send(F8);
    screen.wait_gone(" Findings ");
    screen.send("q");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
}

#[test]
fn an_empty_folder_opens_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let said = lint(folder.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("B001"), "{}", said.out);
    assert_listed(folder.path(), &["B001"]);
    let screen = open(folder.path());
    screen.wait("a hint", |text| text.contains("bundle") || text.contains("page"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn a_page_that_is_not_utf8_is_one_finding() {
    let bundle = bundle::small();
    std::fs::write(bundle.path().join("wiki/concepts/hull.md"), b"---\ntype: concept\n---\n\xff\xfe\n")
        .unwrap();
    let said = lint(bundle.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("hull.md") && said.out.contains("UTF-8"), "{}", said.out);
    assert_listed(bundle.path(), &["hull.md", "UTF-8"]);
}

#[test]
fn broken_yaml_is_one_finding_with_its_place() {
    let bundle = bundle::small();
    let page = bundle.path().join("wiki/concepts/hull.md");
    let text = std::fs::read_to_string(&page).unwrap().replace("title: Hull", "title: Hull: a float");
    std::fs::write(&page, text).unwrap();
    let said = lint(bundle.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("wiki/concepts/hull.md:3") && said.out.contains("F00"), "{}", said.out);
    assert_listed(bundle.path(), &["hull.md:3"]);
}

#[test]
fn a_symlink_out_of_the_bundle_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "# Secret words\n").unwrap();
    let bundle = bundle::small();
    symlink(outside.path().join("secret.md"), bundle.path().join("wiki/concepts/leak.md")).unwrap();
    symlink(outside.path(), bundle.path().join("wiki/concepts/more")).unwrap();
    let said = lint(bundle.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("leak.md"), "{}", said.out);
    assert!(!said.out.contains("Secret words") && !said.out.contains("secret.md"), "{}", said.out);
    assert_listed(bundle.path(), &["leak.md", "symlink"]);
}

#[test]
fn a_fifo_named_like_a_page_does_not_hang() {
    let bundle = bundle::small();
    let fifo = bundle.path().join("wiki/concepts/x.md");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let said = lint(bundle.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("x.md") && said.out.contains("FIFO"), "{}", said.out);
    assert_listed(bundle.path(), &["x.md", "FIFO"]);
}

#[test]
fn a_line_of_50_megabytes_is_one_finding() {
    let bundle = bundle::small();
    let mut page = std::fs::read(bundle.path().join("wiki/concepts/hull.md")).unwrap();
    page.resize(50 * 1024 * 1024, b'x');
    std::fs::write(bundle.path().join("wiki/concepts/hull.md"), page).unwrap();
    let said = lint(bundle.path());
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("hull.md") && said.out.contains("large"), "{}", said.out);
    assert_listed(bundle.path(), &["hull.md", "large"]);
}

#[test]
fn a_line_of_7_megabytes_can_be_read_and_left() {
    let bundle = bundle::small();
    let index = bundle.path().join("wiki/index.md");
    let text = format!("{}\n{}\n", std::fs::read_to_string(&index).unwrap(), "word ".repeat(1_400_000));
    std::fs::write(&index, text).unwrap();
    let mut screen = open(bundle.path());
    screen.wait_for("word word");
    screen.send(F6);
    screen.wait_for("PAGE");
    screen.send("G");
    screen.send("q");
    assert_eq!(screen.wait_exit().exit_code(), 0);
}

#[test]
fn names_and_pages_cannot_drive_the_terminal() {
    let evil = "\x1b]0;owned\x07\x1b[2J\u{202e}";
    let bundle = bundle::small();
    std::fs::write(
        bundle.path().join("wiki/index.md"),
        format!("# Wiki {evil}\n\n`{evil}`\n\n[x{evil}](concepts/index.md)\n\n```\n{evil}\n```\n"),
    )
    .unwrap();
    std::fs::write(bundle.path().join(format!("wiki/{}.md", "\x1b]0;owned\x07")), "# A\n").unwrap();
    let screen = open(bundle.path());
    screen.wait_for("Wiki");
    let bytes = screen.bytes();
    let raw = String::from_utf8_lossy(&bytes);
    assert!(!raw.contains("\x1b]0;owned") && !raw.contains('\u{202e}'), "{raw:?}");
    let said = lint(bundle.path());
    assert!(!said.out.contains(['\x1b', '\x07', '\u{202e}']), "{:?}", said.out);
}
