//! Changes that others make: lost events, no watches left, storms, a root that goes away, our own echo.

use std::path::Path;
use std::time::{Duration, Instant};

use regex::Regex;

use super::e2e::bundle;
use super::e2e::pty::{Screen, Start, UP};
use super::support::{inside, skipped, wait};

const CLEAN: &str = "✓ no findings";

/// The workbench on `folder`, past its first lint.
fn workbench(folder: &Path) -> Screen {
    let screen = Start::new(&[folder.to_str().unwrap()]).spawn();
    screen.wait_for(CLEAN);
    screen
}

/// A page with exactly one error.
const BAD: &str = "# No frontmatter\n";

/// The error counts that the status line showed, in their order, each once in a row.
fn counts(screen: &Screen) -> Vec<usize> {
    let pattern = Regex::new(r"(\d+)E \d+W \d+H").unwrap();
    let mut parser = vt100::Parser::new(
        std::num::NonZeroU16::new(40).unwrap(),
        std::num::NonZeroU16::new(120).unwrap(),
        0,
    );
    let mut seen: Vec<usize> = Vec::new();
    // A frame ends with its last byte; looking after every few bytes would see halves of numbers.
    for piece in screen.bytes().split_inclusive(|b| *b == b'\x1b') {
        parser.process(piece);
        let text = parser.screen().contents();
        if let Some(hit) = text.lines().last().and_then(|line| pattern.captures(line)) {
            let count = hit[1].parse().unwrap();
            if seen.last() != Some(&count) {
                seen.push(count);
            }
        }
    }
    seen
}

#[test]
#[ignore = "half a minute; the faults profile runs it"]
fn w02_twenty_thousand_files_written_while_it_is_stopped_are_one_pass() {
    const FILES: usize = 20_000;
    let bundle = bundle::small();
    let storm = bundle.path().join("wiki/storm");
    std::fs::create_dir(&storm).unwrap();
    let screen = workbench(bundle.path());
    screen.signal("STOP");
    for n in 0..FILES {
        std::fs::write(storm.join(format!("p{n}.md")), BAD).unwrap();
    }
    screen.signal("CONT");
    let start = Instant::now();
    let wanted = format!("{FILES}E");
    while !screen.text().contains(&wanted) {
        assert!(start.elapsed() < Duration::from_secs(120), "{}", screen.text());
        std::thread::sleep(Duration::from_millis(50));
    }
    eprintln!("all {FILES} after {:?}", start.elapsed());
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(
        counts(&screen),
        [FILES],
        "counts between none and all would be passes between\n{}",
        screen.text()
    );
}

#[test]
#[ignore = "needs user namespaces; the faults profile runs it"]
fn w03_at_the_limit_of_watches_polling_takes_over_and_says_so() {
    // A user namespace has limits of its own, so the machine's stay as they are.
    if !inside(&["unshare", "-Ur"], "watch::w03_at_the_limit_of_watches_polling_takes_over_and_says_so") {
        return;
    }
    if let Err(e) = std::fs::write("/proc/sys/user/max_inotify_watches", "5") {
        return skipped(&format!("the limit of watches cannot be set here ({e})"));
    }
    let bundle = bundle::small();
    for n in 0..50 {
        std::fs::create_dir(bundle.path().join(format!("wiki/f{n:02}"))).unwrap();
    }
    let mut screen = Start::new(&[bundle.path().to_str().unwrap()]).size(200, 40).spawn();
    screen.wait("the notice", |text| text.contains("fs.inotify.max_user_watches"));
    // Any key takes the notice away, and the counts are there again.
    screen.send(UP);
    screen.wait_for(CLEAN);
    let page = bundle.path().join("wiki/f49/new.md");
    std::fs::write(&page, BAD).unwrap();
    let start = Instant::now();
    assert!(wait(Duration::from_secs(5), || screen.text().contains("1E ")), "{}", screen.text());
    std::fs::remove_file(&page).unwrap();
    assert!(wait(Duration::from_secs(5), || screen.text().contains(CLEAN)), "{}", screen.text());
    eprintln!("both seen after {:?}", start.elapsed());
}

#[test]
#[ignore = "needs user namespaces; the faults profile runs it"]
fn w03_folders_made_beyond_the_limit_are_polled_too() {
    if !inside(&["unshare", "-Ur"], "watch::w03_folders_made_beyond_the_limit_are_polled_too") {
        return;
    }
    if let Err(e) = std::fs::write("/proc/sys/user/max_inotify_watches", "12") {
        return skipped(&format!("the limit of watches cannot be set here ({e})"));
    }
    let bundle = bundle::small();
    let mut screen = workbench(bundle.path());
    for n in 0..30 {
        std::fs::create_dir(bundle.path().join(format!("wiki/f{n:02}"))).unwrap();
    }
    screen.wait("the notice", |text| text.contains("fs.inotify.max_user_watches"));
    screen.send(UP);
    screen.wait_for(CLEAN);
    // Past the second looks at new folders, which would find it without any watching.
    std::thread::sleep(Duration::from_secs(3));
    std::fs::write(bundle.path().join("wiki/f29/new.md"), BAD).unwrap();
    assert!(wait(Duration::from_secs(5), || screen.text().contains("1E ")), "{}", screen.text());
}
