use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use super::LocalBundle;
use crate::bundle::storage::MAX_FILE;
use crate::bundle::{EntryKind, ErrorKind, Read, Write};
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn put(root: &Path, name: &str, text: &str) {
    let file = root.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A bundle in `bundle/` of a temporary folder, and `outside/secret.md` next to it.
fn sample() -> (TempDir, LocalBundle) {
    let temp = TempDir::new().unwrap();
    put(temp.path(), "outside/secret.md", "secret\n");
    put(temp.path(), "bundle/wiki/a.md", "a\n");
    put(temp.path(), "bundle/wiki/b/c.md", "c\n");
    put(temp.path(), "bundle/.git/config", "x\n");
    let bundle = LocalBundle::open(&temp.path().join("bundle")).unwrap();
    (temp, bundle)
}

fn fifo(at: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn opening_what_is_no_folder_says_so() {
    let temp = TempDir::new().unwrap();
    put(temp.path(), "file.md", "");
    let missing = LocalBundle::open(&temp.path().join("none")).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    let file = LocalBundle::open(&temp.path().join("file.md")).unwrap_err();
    assert_eq!(file.kind, ErrorKind::NotADirectory);
}

#[test]
fn a_walk_lists_dot_folders_without_entering_them() {
    let (_temp, bundle) = sample();
    let (entries, errors) = bundle.walk(&BundlePath::root()).unwrap();
    let paths: Vec<&str> = entries.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["/.git", "/wiki", "/wiki/a.md", "/wiki/b", "/wiki/b/c.md"]);
    assert_eq!(errors, []);
    let (inside, _) = bundle.walk(&path("/.git")).unwrap();
    assert_eq!(inside.len(), 1);
}

#[test]
fn c03_links_that_leave_the_bundle_are_listed_and_never_followed() {
    let (temp, bundle) = sample();
    let wiki = temp.path().join("bundle/wiki");
    symlink("../../outside", wiki.join("up")).unwrap();
    symlink("/etc/passwd", wiki.join("abs.md")).unwrap();
    symlink("/proc/self/root/etc/passwd", wiki.join("magic.md")).unwrap();
    symlink("nowhere.md", wiki.join("dang.md")).unwrap();
    symlink("loop2.md", wiki.join("loop1.md")).unwrap();
    symlink("loop1.md", wiki.join("loop2.md")).unwrap();
    let entries = bundle.list(&path("/wiki")).unwrap();
    let special = |name: &str| {
        let entry = entries.iter().find(|e| e.path.name() == name).unwrap();
        assert!(entry.link, "{name}");
        entry.kind.clone()
    };
    for name in ["up", "abs.md", "magic.md"] {
        assert_eq!(special(name), EntryKind::Special("symlink out of the bundle"), "{name}");
    }
    assert_eq!(special("dang.md"), EntryKind::Special("dangling symlink"));
    assert_eq!(special("loop1.md"), EntryKind::Special("symlink loop"));
    for name in ["up", "up/secret.md", "abs.md", "magic.md", "dang.md", "loop1.md"] {
        let error = bundle.read(&path("/wiki").join(name).unwrap()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotRegular, "{name}: {error}");
        assert!(!error.to_string().contains("passwd") && !error.to_string().contains("tmp"), "{error}");
    }
    assert_eq!(bundle.list(&path("/wiki/up")).unwrap_err().kind, ErrorKind::NotRegular);
    assert!(bundle.exists(&path("/wiki/dang.md")).unwrap());
    let (walked, errors) = bundle.walk(&BundlePath::root()).unwrap();
    assert!(walked.iter().all(|e| e.path.name() != "secret.md"));
    assert_eq!(errors, []);
}

#[test]
fn links_within_the_bundle_read_as_their_target() {
    let (temp, bundle) = sample();
    let root = temp.path().join("bundle");
    symlink("b/c.md", root.join("wiki/alias.md")).unwrap();
    symlink("../wiki", root.join("wiki/self")).unwrap();
    assert_eq!(bundle.read(&path("/wiki/alias.md")).unwrap(), "c\n");
    assert_eq!(bundle.resolve(&path("/wiki/self/alias.md")), path("/wiki/b/c.md"));
    let (entries, _) = bundle.walk(&BundlePath::root()).unwrap();
    let link = entries.iter().find(|e| e.path == path("/wiki/self")).unwrap();
    assert_eq!((&link.kind, link.link), (&EntryKind::Directory, true));
    assert!(entries.iter().all(|e| e.path == path("/wiki/self") || !e.path.is_within(&path("/wiki/self"))));
    let alias = entries.iter().find(|e| e.path == path("/wiki/alias.md")).unwrap();
    assert_eq!((&alias.kind, alias.len), (&EntryKind::File, 2));
}

#[test]
fn c07_special_files_are_listed_and_never_block() {
    let (temp, bundle) = sample();
    let root = temp.path().join("bundle");
    fifo(&root.join("pipe.md"));
    let _listener = std::os::unix::net::UnixListener::bind(root.join("sock.md")).unwrap();
    std::fs::create_dir(root.join("x.md")).unwrap();
    let kinds: Vec<(String, EntryKind)> = bundle
        .list(&BundlePath::root())
        .unwrap()
        .into_iter()
        .map(|e| (e.path.name().to_owned(), e.kind))
        .collect();
    assert!(kinds.contains(&("pipe.md".into(), EntryKind::Special("FIFO"))));
    assert!(kinds.contains(&("sock.md".into(), EntryKind::Special("socket"))));
    assert!(kinds.contains(&("x.md".into(), EntryKind::Directory)));
    let owner = rustix::fs::Mode::from_raw_mode(0o600);
    let null = rustix::fs::makedev(1, 3);
    // Only root may make a device.
    if rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("dev.md"),
        rustix::fs::FileType::CharacterDevice,
        owner,
        null,
    )
    .is_ok()
    {
        assert_eq!(bundle.stat(&path("/dev.md")).unwrap().kind, EntryKind::Special("device"));
        assert_eq!(bundle.read(&path("/dev.md")).unwrap_err().kind, ErrorKind::NotRegular);
    }
    assert_eq!(bundle.read(&path("/pipe.md")).unwrap_err().kind, ErrorKind::NotRegular);
    assert_eq!(bundle.read(&path("/sock.md")).unwrap_err().kind, ErrorKind::NotRegular);
    assert_eq!(bundle.read(&path("/x.md")).unwrap_err().kind, ErrorKind::IsDirectory);
    assert_eq!(bundle.read(&BundlePath::root()).unwrap_err().kind, ErrorKind::IsDirectory);
}

#[test]
fn c08_names_that_no_path_can_hold_are_listed_as_special() {
    let (temp, bundle) = sample();
    let root = temp.path().join("bundle");
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    std::fs::write(root.join("a\\b.md"), "x").unwrap();
    std::fs::write(root.join("new\nline\u{1b}]0;x\u{7}.md"), "ok").unwrap();
    let entries = bundle.list(&BundlePath::root()).unwrap();
    let special: Vec<&EntryKind> =
        entries.iter().map(|e| &e.kind).filter(|k| matches!(k, EntryKind::Special(_))).collect();
    assert_eq!(
        special,
        [&EntryKind::Special("name holds a backslash"), &EntryKind::Special("name is not UTF-8")]
    );
    assert_eq!(bundle.read(&path("new\nline\u{1b}]0;x\u{7}.md")).unwrap(), "ok");
}

#[test]
fn a_file_over_the_cap_is_refused_and_listed() {
    let (temp, bundle) = sample();
    let file = std::fs::File::create(temp.path().join("bundle/big.md")).unwrap();
    file.set_len(MAX_FILE + 1).unwrap();
    assert_eq!(bundle.read_bytes(&path("/big.md")).unwrap_err().kind, ErrorKind::TooLarge);
    assert_eq!(bundle.stat(&path("/big.md")).unwrap().len, MAX_FILE + 1);
    file.set_len(MAX_FILE).unwrap();
    assert_eq!(bundle.read_bytes(&path("/big.md")).unwrap().len() as u64, MAX_FILE);
}

#[test]
fn text_that_is_not_utf8_is_told_with_its_place() {
    let (temp, bundle) = sample();
    std::fs::write(temp.path().join("bundle/x.md"), b"ab\xffc").unwrap();
    let error = bundle.read(&path("/x.md")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotText { offset: 2 });
}

#[test]
fn temporary_files_of_our_own_are_not_listed() {
    let (temp, bundle) = sample();
    put(temp.path(), "bundle/wiki/.wikiwright-1", "half");
    assert!(bundle.list(&path("/wiki")).unwrap().iter().all(|e| !e.path.name().starts_with('.')));
}

#[test]
fn the_bundle_around_a_folder_is_found() {
    let temp = TempDir::new().unwrap();
    let root = temp.path();
    put(root, "layout/AGENTS.md", "");
    put(root, "layout/wiki/index.md", "");
    put(root, "layout/wiki/concepts/x.md", "");
    put(root, "flat/index.md", "");
    put(root, "flat/tables/index.md", "");
    put(root, "none/x.md", "");
    assert_eq!(LocalBundle::discover(&root.join("layout/wiki/concepts")), Some(root.join("layout")));
    assert_eq!(LocalBundle::discover(&root.join("flat/tables")), Some(root.join("flat")));
    assert_eq!(LocalBundle::discover(&root.join("none")), None);
}

/// Spellings that are meant to lead somewhere else. Each is refused as a path or names something inside.
const HOSTILE: [&str; 44] = [
    "../s",
    "a/../../s",
    "a/b/../../../s",
    "./../s",
    "....//s",
    "..\\s",
    "a/..\\../s",
    "/../outside/secret.md",
    "../outside/secret.md",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "~/x",
    "~root/x",
    "$HOME/x",
    "file:///etc/passwd",
    "FILE:/etc/passwd",
    "%2e%2e%2fs",
    "..%2fs",
    "%252e%252e/s",
    "a%00.md",
    "a.md%3Astream",
    "a\0b",
    "a\nb.md",
    "\u{1b}]0;x\u{7}.md",
    "C:\\x",
    "C:x",
    "\\\\srv\\share",
    "\\\\?\\C:\\x",
    "a.md:s",
    "a.md::$DATA",
    "CON",
    "NUL.txt",
    "a.md.",
    "a.md ",
    ".git/hooks/post-checkout",
    "git~1/config",
    ".g\u{200C}it/x",
    "．．／s",
    "․․/s",
    "a\u{202E}dm.md",
    "wiki/up/secret.md",
    "wiki/up/new.md",
    "wiki/../wiki/up/../secret.md",
];

#[test]
fn c01_no_spelling_of_a_path_reaches_outside() {
    let (temp, bundle) = sample();
    let root = temp.path().join("bundle");
    symlink("../../outside", root.join("wiki/up")).unwrap();
    let host = temp.path().to_str().unwrap().to_owned();
    for text in HOSTILE {
        let Ok(path) = BundlePath::parse(text) else { continue };
        let read = bundle.read(&path).unwrap_err();
        assert!(matches!(read.kind, ErrorKind::NotFound | ErrorKind::NotRegular), "{text:?}: {read}");
        let list = bundle.list(&path).unwrap_err();
        let stat = bundle.stat(&path).unwrap_err();
        let write = bundle.write(&path, b"x").err();
        for error in [Some(&read), Some(&list), Some(&stat), write.as_ref()].into_iter().flatten() {
            assert!(!error.to_string().contains(&host), "{error}");
        }
        if write.is_none() {
            assert_eq!(bundle.read(&path).unwrap(), "x", "{text:?}");
            bundle.delete(&path).unwrap();
        }
    }
    let outside: Vec<_> = std::fs::read_dir(temp.path().join("outside")).unwrap().collect();
    assert_eq!(outside.len(), 1);
    let mut beside: Vec<String> = std::fs::read_dir(temp.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    beside.sort();
    assert_eq!(beside, ["bundle", "outside"]);
    assert_eq!(std::fs::read(temp.path().join("outside/secret.md")).unwrap(), b"secret\n");
}

#[test]
fn c02_a_leading_slash_means_the_bundle_and_not_the_host() {
    let (temp, bundle) = sample();
    put(temp.path(), "bundle/etc/passwd", "ours");
    assert_eq!(bundle.read(&path("/etc/passwd")).unwrap(), "ours");
}

#[test]
fn paths_that_the_system_cannot_hold_are_plain_errors() {
    let (_temp, bundle) = sample();
    let deep = "d/".repeat(2_000) + "x.md";
    let error = bundle.read(&path(&deep)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(BundlePath::parse(&"x/".repeat(4_097)).is_err());
    let wide = format!("{0}/{0}/x.md", "é".repeat(127));
    assert_eq!(bundle.read(&path(&wide)).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_walk_is_bounded_and_says_what_it_left_out() {
    use crate::bundle::walk::{Bounds, walk};
    let (temp, bundle) = sample();
    put(temp.path(), "bundle/d/d/d/d/x.md", "");
    let root = BundlePath::root();
    let (entries, errors) = walk(&bundle, &root, Bounds { depth: 3, entries: 100 }).unwrap();
    assert!(entries.iter().any(|e| e.path == path("/d/d/d/d")));
    assert!(entries.iter().all(|e| e.path.name() != "x.md"));
    assert_eq!(
        errors.iter().map(|e| (e.kind, e.path.as_str())).collect::<Vec<_>>(),
        [(ErrorKind::TooLarge, "/d/d/d/d")]
    );
    let (entries, errors) = walk(&bundle, &root, Bounds { depth: 64, entries: 4 }).unwrap();
    assert_eq!(entries.len(), 4);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].kind, ErrorKind::TooLarge);
}

#[test]
fn a_folder_that_cannot_be_listed_does_not_end_the_walk() {
    use std::os::unix::fs::PermissionsExt;
    let (temp, bundle) = sample();
    let shut = temp.path().join("bundle/wiki/b");
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read_dir(&shut).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let (entries, errors) = bundle.walk(&BundlePath::root()).unwrap();
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(entries.iter().any(|e| e.path == path("/wiki/a.md")));
    assert_eq!(
        errors.iter().map(|e| (e.kind, e.path.as_str())).collect::<Vec<_>>(),
        [(ErrorKind::Denied, "/wiki/b")]
    );
}
