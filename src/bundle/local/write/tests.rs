use rustix::io::Errno;

use super::folder_failure;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::bundle::ledger::record::Origin;
use crate::bundle::{
    Bundle, ChangeKind, ChangeSet, Decision, Decisions, ErrorKind, FileChange, LocalBundle, Read, Write,
};
use crate::okf::{BundlePath, ContentHash};

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// A bundle with `wiki/a.md` in `bundle/` of a temporary folder, and `outside/secret.md` next to it.
fn sample() -> (TempDir, LocalBundle) {
    let temp = TempDir::new().unwrap();
    std::fs::create_dir_all(temp.path().join("bundle/wiki")).unwrap();
    std::fs::create_dir(temp.path().join("outside")).unwrap();
    std::fs::write(temp.path().join("bundle/wiki/a.md"), "old").unwrap();
    std::fs::write(temp.path().join("outside/secret.md"), "secret").unwrap();
    let bundle = LocalBundle::open(&temp.path().join("bundle")).unwrap();
    (temp, bundle)
}

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

/// Every name below the folder, temporary files included.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        names.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().unwrap().is_dir() {
            names.extend(self::names(&entry.path()));
        }
    }
    names.sort();
    names
}

#[test]
fn d09_a_replaced_file_keeps_its_mode_and_a_new_one_gets_the_usual() {
    let (temp, bundle) = sample();
    let file = temp.path().join("bundle/wiki/a.md");
    for kept in [0o600, 0o640, 0o755, 0o444] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(kept)).unwrap();
        bundle.write(&path("/wiki/a.md"), format!("{kept:o}").as_bytes()).unwrap();
        assert_eq!(mode(&file), kept);
    }
    bundle.write(&path("/wiki/new.md"), b"n").unwrap();
    std::fs::write(temp.path().join("usual"), "").unwrap();
    let usual = mode(&temp.path().join("usual"));
    assert_eq!(mode(&temp.path().join("bundle/wiki/new.md")), usual & 0o644);
}

#[test]
fn c06_an_outside_file_behind_a_hard_link_stays_as_it_is() {
    let (temp, bundle) = sample();
    let outside = temp.path().join("outside/secret.md");
    std::fs::hard_link(&outside, temp.path().join("bundle/wiki/h.md")).unwrap();
    let inode = std::fs::metadata(&outside).unwrap().ino();
    bundle.write(&path("/wiki/h.md"), b"changed").unwrap();
    assert_eq!(std::fs::read(&outside).unwrap(), b"secret");
    assert_eq!(std::fs::metadata(&outside).unwrap().ino(), inode);
    assert_eq!(bundle.read(&path("/wiki/h.md")).unwrap(), "changed");
}

#[test]
fn c06_the_other_names_of_a_changed_file_are_told() {
    let (temp, bundle) = sample();
    let wiki = temp.path().join("bundle/wiki");
    std::fs::hard_link(temp.path().join("outside/secret.md"), wiki.join("h.md")).unwrap();
    let edit = |name: &str, before: &[u8]| FileChange {
        path: path(name),
        kind: ChangeKind::Modify,
        before: Some(Arc::from(before)),
        after: Some(Arc::from(&b"new"[..])),
    };
    let plain = bundle.read_bytes(&path("/wiki/a.md")).unwrap();
    let changes = ChangeSet { id: 1, files: vec![edit("/wiki/a.md", &plain), edit("/wiki/h.md", b"secret")] };
    let decisions: Decisions = changes
        .files
        .iter()
        .map(|file| (file.path.clone(), Decision::Approved { shown: file.shown() }))
        .collect();
    let applied = Bundle::from(Arc::new(bundle)).apply(&changes, &decisions, &Origin::default());
    assert_eq!((applied.landed.len(), applied.failed.len()), (2, 0), "{:?}", applied.failed);
    let told = "wiki/h.md had other names (hard links); they keep the old text, here or outside the bundle.";
    assert_eq!(applied.notes, [told]);
}

#[test]
fn c03_nothing_is_written_deleted_or_moved_through_a_link() {
    let (temp, bundle) = sample();
    let wiki = temp.path().join("bundle/wiki");
    std::fs::create_dir(wiki.join("real")).unwrap();
    symlink("a.md", wiki.join("alias.md")).unwrap();
    symlink("real", wiki.join("folder")).unwrap();
    symlink("../../outside/secret.md", wiki.join("out.md")).unwrap();
    symlink("../../outside/new.md", wiki.join("dang.md")).unwrap();
    symlink("../../outside", wiki.join("up")).unwrap();
    symlink("loop.md", wiki.join("loop.md")).unwrap();
    let before = names(temp.path());
    for link in ["alias.md", "folder/x.md", "folder/n/x.md", "out.md", "dang.md", "up/x.md", "loop.md"] {
        let link = path("/wiki").join(link).unwrap();
        let hash = ContentHash::of(b"old");
        let results = [
            bundle.write(&link, b"x"),
            bundle.replace(&link, None, b"x"),
            bundle.replace(&link, Some(hash), b"x"),
            bundle.delete(&link),
            bundle.remove(&link, hash),
            bundle.rename(&link, &path("/wiki/moved.md")),
            bundle.rename(&path("/wiki/a.md"), &link),
            bundle.writable(&link),
        ];
        for (index, result) in results.into_iter().enumerate() {
            let error = result.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Denied, "{link} {index}: {error}");
            assert!(error.message.contains("is a symbolic link"), "{error}");
            assert!(!error.to_string().contains("outside"), "{error}");
        }
    }
    assert_eq!(names(temp.path()), before);
    assert_eq!(std::fs::read(temp.path().join("outside/secret.md")).unwrap(), b"secret");
    assert_eq!(bundle.read(&path("/wiki/a.md")).unwrap(), "old");
}

#[test]
fn c05_a_link_swapped_in_after_the_proposal_is_refused() {
    let (temp, bundle) = sample();
    let file = temp.path().join("bundle/wiki/a.md");
    let base = ContentHash::of(&bundle.read_bytes(&path("/wiki/a.md")).unwrap());
    std::fs::write(temp.path().join("outside/secret.md"), "old").unwrap();
    std::fs::remove_file(&file).unwrap();
    symlink("../../outside/secret.md", &file).unwrap();
    assert_eq!(bundle.replace(&path("/wiki/a.md"), Some(base), b"new").unwrap_err().kind, ErrorKind::Denied);
    assert_eq!(std::fs::read(temp.path().join("outside/secret.md")).unwrap(), b"old");
    assert!(file.is_symlink());
}

#[test]
fn c07_special_files_are_not_replaced() {
    let (temp, bundle) = sample();
    let fifo = temp.path().join("bundle/wiki/pipe.md");
    let owner = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, owner, 0).unwrap();
    for result in [
        bundle.write(&path("/wiki/pipe.md"), b"x"),
        bundle.replace(&path("/wiki/pipe.md"), Some(ContentHash::of(b"")), b"x"),
        bundle.delete(&path("/wiki/pipe.md")),
    ] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::NotRegular);
    }
    assert_eq!(names(&temp.path().join("bundle")), ["a.md", "pipe.md", "wiki"]);
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let (temp, bundle) = sample();
    let before = names(temp.path());
    let long = "x".repeat(255);
    std::fs::create_dir(temp.path().join("bundle/wiki/dir.md")).unwrap();
    assert!(bundle.replace(&path("/wiki/a.md"), None, b"new").is_err());
    assert!(bundle.replace(&path("/wiki/a.md"), Some(ContentHash::of(b"x")), b"new").is_err());
    assert!(bundle.replace(&path("/n/e/w.md"), Some(ContentHash::of(b"x")), b"new").is_err());
    assert!(bundle.write(&path("/wiki/dir.md"), b"new").is_err());
    assert!(bundle.write(&path("/wiki/a.md/x.md"), b"new").is_err());
    assert!(bundle.rename(&path("/wiki/none.md"), &path("/n/e/w.md")).is_err());
    std::fs::remove_dir(temp.path().join("bundle/wiki/dir.md")).unwrap();
    assert_eq!(names(temp.path()), before);
    assert_eq!(bundle.read(&path("/wiki/a.md")).unwrap(), "old");
    bundle.write(&path("/").join(&long).unwrap(), b"255 bytes are a name").unwrap();
    assert_eq!(bundle.read(&path(&long)).unwrap(), "255 bytes are a name");
}

#[test]
fn a_folder_without_write_permission_is_told_plainly() {
    let (temp, bundle) = sample();
    let wiki = temp.path().join("bundle/wiki");
    std::fs::set_permissions(&wiki, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(wiki.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    let error = bundle.write(&path("/wiki/a.md"), b"x").unwrap_err();
    std::fs::set_permissions(&wiki, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(error.kind, ErrorKind::Denied);
    assert_eq!(bundle.read(&path("/wiki/a.md")).unwrap(), "old");
}

#[test]
fn readers_see_the_old_or_the_new_file_and_never_half_of_one() {
    let (_temp, bundle) = sample();
    let contents = [vec![b'a'; 200_000], vec![b'b'; 100_000]];
    bundle.write(&path("/wiki/a.md"), &contents[0]).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..100 {
                bundle.write(&path("/wiki/a.md"), &contents[round % 2]).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        while !done.load(Ordering::SeqCst) {
            let read = bundle.read_bytes(&path("/wiki/a.md")).unwrap();
            assert!(contents.contains(&read), "{} bytes", read.len());
        }
    });
}

/// A folder of the bundle and a link to the outside change places as fast as they can.
#[cfg(target_os = "linux")]
#[test]
fn c04_a_folder_swapped_for_a_link_leads_nobody_out() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let (temp, bundle) = sample();
    let bundle = Arc::new(bundle);
    let wiki = temp.path().join("bundle/wiki");
    std::fs::create_dir(wiki.join("sub")).unwrap();
    std::fs::write(wiki.join("sub/secret.md"), "inside").unwrap();
    symlink(temp.path().join("outside"), wiki.join("evil")).unwrap();
    let (sub, evil) = (wiki.join("sub"), wiki.join("evil"));
    if let Err(e) = renameat_with(CWD, &sub, CWD, &evil, RenameFlags::EXCHANGE) {
        eprintln!("skipped: names cannot be exchanged here ({e})");
        return;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &sub, CWD, &evil, RenameFlags::EXCHANGE);
            }
        }
    });
    let naive_escapes = AtomicUsize::new(0);
    let mut inside = 0;
    for round in 0..20_000 {
        match bundle.read(&path("/wiki/sub/secret.md")) {
            Ok(text) => {
                assert_eq!(text, "inside");
                inside += 1;
            }
            Err(e) => assert!(matches!(e.kind, ErrorKind::NotRegular | ErrorKind::NotFound), "{e}"),
        }
        if round % 20 == 0 {
            // Fewer writes: each waits for the disk.
            let _ = bundle.write(&path("/wiki/sub/new.md"), b"x");
            let _ = bundle.delete(&path("/wiki/sub/new.md"));
            let _ = bundle.write(&path("/wiki/sub/secret.md"), b"inside");
        }
        // The control: check the path, then open it.
        let plain = wiki.join("sub/secret.md");
        if std::fs::canonicalize(&plain).is_ok_and(|real| real.starts_with(&wiki))
            && std::fs::read(&plain).is_ok_and(|bytes| bytes == b"secret")
        {
            naive_escapes.fetch_add(1, Ordering::Relaxed);
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(names(&temp.path().join("outside")), ["secret.md"]);
    assert_eq!(std::fs::read(temp.path().join("outside/secret.md")).unwrap(), b"secret");
    assert!(inside > 0, "the folder was reachable at times");
    eprintln!(
        "{inside} of 20000 reads inside; the naive control escaped {} times",
        naive_escapes.into_inner()
    );
}

/// The child of the test below: one write, whose outcome goes to a file.
#[test]
#[ignore = "run by d04_a_failing_system_call_leaves_the_old_file_or_the_new_one"]
fn one_write_under_faults() {
    let Some(root) = std::env::var_os("WIKIWRIGHT_FAULT_ROOT") else { return };
    let root = Path::new(&root);
    let bundle = LocalBundle::open(&root.join("bundle")).unwrap();
    let outcome = match std::env::var("WIKIWRIGHT_FAULT_TARGET").as_deref() {
        Ok("new") => bundle.replace(&path("/wiki/deep/new.md"), None, b"new"),
        _ => bundle.replace(&path("/wiki/a.md"), Some(ContentHash::of(b"old")), b"new"),
    };
    std::fs::write(
        root.join("outcome"),
        outcome.map_or_else(|e| format!("{:?} {e}", e.kind), |()| "done".into()),
    )
    .unwrap();
}

/// The kernel is made to refuse one call after another, once and for good.
#[cfg(target_os = "linux")]
#[test]
fn d04_a_failing_system_call_leaves_the_old_file_or_the_new_one() {
    let run = |root: &Path, target: &str, fault: &str| {
        std::process::Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", fault])
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "bundle::local::write::tests::one_write_under_faults"])
            .env("WIKIWRIGHT_FAULT_ROOT", root)
            .env("WIKIWRIGHT_FAULT_TARGET", target)
            .output()
            .ok()
            .and_then(|_| std::fs::read_to_string(root.join("outcome")).ok())
    };
    let mut refused = 0;
    for target in ["old", "new"] {
        for call in ["fsync", "fchmod", "mkdirat", "linkat", "renameat,renameat2"] {
            for fault in ["error=ENOSPC:when=1", "error=EIO:when=2", "error=EROFS"] {
                let (temp, _) = sample();
                let Some(outcome) = run(temp.path(), target, &format!("inject={call}:{fault}")) else {
                    eprintln!("skipped: strace does not run here");
                    return;
                };
                let wiki = temp.path().join("bundle/wiki");
                let left = names(&wiki);
                let (old, new) =
                    (std::fs::read(wiki.join("a.md")).unwrap(), std::fs::read(wiki.join("deep/new.md")).ok());
                let story = format!("{target} {call} {fault}: {outcome}; {left:?}");
                assert!(left.iter().all(|name| !name.starts_with('.')), "{story}");
                match (target, outcome.as_str()) {
                    ("old", "done") => assert_eq!((&*old, new), (&b"new"[..], None), "{story}"),
                    ("new", "done") => {
                        assert_eq!((&*old, new.as_deref()), (&b"old"[..], Some(&b"new"[..])), "{story}")
                    }
                    // The folder's own fsync failed: in place, and said to be unconfirmed.
                    (_, error) if error.contains("did not confirm") => {
                        assert!(old == b"new" || new.as_deref() == Some(b"new"), "{story}");
                    }
                    (_, error) => {
                        refused += 1;
                        assert!(error.starts_with("Io "), "{story}");
                        assert_eq!((&*old, new), (&b"old"[..], None), "{story}");
                        assert_eq!(left, ["a.md"], "{story}");
                    }
                }
            }
        }
    }
    assert!(refused >= 8, "the faults were felt: {refused}");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let file = path("/wiki/a.md");
    let said = |entry: &str, errno| folder_failure(&file, &path(entry), errno).to_string();
    for errno in [Errno::ACCESS, Errno::PERM] {
        let text = "/wiki/a.md: the folder /wiki cannot be written to; check its permissions";
        assert_eq!(said("/wiki/a.md", errno), text);
        // The folder `/wiki` itself was to be made.
        assert_eq!(
            said("/wiki", errno),
            "/wiki/a.md: the folder / cannot be written to; check its permissions"
        );
    }
    assert!(said("/wiki/a.md", Errno::NOSPC).contains("the disk is full"));
}
