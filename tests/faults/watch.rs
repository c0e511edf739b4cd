//! Changes that others make: lost events, no watches left, storms, a root that goes away, our own echo.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;
use wikiwright::bundle::{Changed, LocalBundle, Watcher};

use super::e2e::bundle;
use super::e2e::pty::{F1, Screen, Start, UP};
use super::support::{MOUNTS, Tree, between, inside, ledger, origin, plant, run, skipped, wait};

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

#[test]
#[ignore = "a quarter of a minute; the faults profile runs it"]
fn w05_a_checkout_of_thousands_of_files_ends_in_the_right_count_and_stops_no_key() {
    const FILES: usize = 5_000;
    let bundle = bundle::small();
    let root = bundle.path().to_str().unwrap();
    let git = |arguments: &[&str]| {
        let who = ["-C", root, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"];
        run("git", &[&who[..], arguments].concat())
    };
    if let Err(why) = git(&["init", "-q", "-b", "one"]) {
        return skipped(&why);
    }
    git(&["add", "."]).unwrap();
    git(&["commit", "-qm", "one"]).unwrap();
    git(&["checkout", "-q", "-b", "two"]).unwrap();
    for n in 0..FILES {
        let folder = bundle.path().join(format!("wiki/d{}/e{}", n % 10, n % 100));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("p{n}.md")), BAD).unwrap();
    }
    git(&["add", "."]).unwrap();
    git(&["commit", "-qm", "two"]).unwrap();
    git(&["checkout", "-q", "one"]).unwrap();
    let mut screen = workbench(bundle.path());
    git(&["checkout", "-q", "two"]).unwrap();
    // Keys are answered while it reads.
    let start = Instant::now();
    screen.send(F1);
    screen.wait_for(" Keys ");
    let answered = start.elapsed();
    screen.send(F1);
    let wanted = format!("{FILES}E");
    let all = wait(Duration::from_secs(60), || screen.text().contains(&wanted));
    assert!(all, "{}", screen.text());
    eprintln!(
        "help after {answered:?}, all {FILES} after {:?}, counts {:?}",
        start.elapsed(),
        counts(&screen)
    );
    assert!(answered < Duration::from_secs(2), "{answered:?}");
    // One pass: no count between none and all was ever shown.
    let steps = counts(&screen);
    assert!(steps.iter().all(|count| [0, FILES].contains(count)), "{steps:?}");
    git(&["checkout", "-q", "one"]).unwrap();
    assert!(wait(Duration::from_secs(60), || screen.text().contains(CLEAN)), "{}", screen.text());
}

#[test]
#[ignore = "needs root and mount; the faults profile runs it"]
fn w06_a_bundle_that_is_unmounted_is_said_to_be_gone() {
    if !inside(MOUNTS, "watch::w06_a_bundle_that_is_unmounted_is_said_to_be_gone") {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("w");
    std::fs::create_dir(&root).unwrap();
    let at = root.to_str().unwrap();
    if let Err(why) = run("mount", &["-t", "tmpfs", "none", at]) {
        return skipped(&why);
    }
    bundle::copy(bundle::small().path(), &root);
    let screen = workbench(&root);
    run("umount", &["-l", at]).unwrap();
    screen.wait_for("is gone or was replaced");
    drop(screen);
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0, "nothing was written where it was");
}

#[test]
fn w07_a_set_of_our_own_is_told_like_any_change_and_hides_no_foreign_one() {
    const FILES: usize = 20;
    let temp = tempfile::tempdir().unwrap();
    let side = |what: &str| -> Tree {
        (0..FILES).map(|n| (format!("wiki/p{n:02}.md"), format!("{what} {n}\n").into_bytes())).collect()
    };
    let (old, new) = (side("old"), side("new"));
    plant(&temp.path().join("bundle"), &old);
    let bundle = Arc::new(LocalBundle::open(&temp.path().join("bundle")).unwrap());
    let (sender, told) = std::sync::mpsc::channel();
    let _watcher = Watcher::start(bundle, move |changed| {
        let _ = sender.send((Instant::now(), changed));
    });
    let (changes, decisions) = between(&old, &new);
    assert_eq!(ledger(temp.path()).apply(&changes, &decisions, &origin()).landed.len(), FILES);
    // Somebody edits one of them at once.
    let edited = temp.path().join("bundle/wiki/p07.md");
    std::fs::write(&edited, "by hand\n").unwrap();
    let at = Instant::now();
    let seen = std::iter::from_fn(|| told.recv_timeout(Duration::from_secs(3)).ok()).collect::<Vec<_>>();
    let names = |changed: &Changed| match changed {
        Changed::Paths(paths) => paths.iter().map(|path| path.as_str().to_owned()).collect(),
        other => vec![format!("{other:?}")],
    };
    let after: Vec<String> =
        seen.iter().filter(|(when, _)| *when >= at).flat_map(|(_, c)| names(c)).collect();
    assert!(after.contains(&"/wiki/p07.md".to_owned()), "{after:?}");
    // Only pages, no temporary file, and in bursts instead of one by one.
    let all: Vec<String> = seen.iter().flat_map(|(_, changed)| names(changed)).collect();
    assert!(all.iter().all(|name| name.starts_with("/wiki/p") && name.ends_with(".md")), "{all:?}");
    assert!(seen.len() <= 12, "{} times told", seen.len());
}
