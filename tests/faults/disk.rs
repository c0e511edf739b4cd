//! Disks that are full, folders that may not be written, files with more to them than their bytes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use wikiwright::bundle::{Applied, ChangeKind, ErrorKind, FileChange, LocalBundle, Read as _};

use super::support::{
    MOUNTS, Tree, between, child, child_root, files, inside, ledger, origin, path, plant, run, skipped, tree,
};

fn apply(root: &Path, old: &Tree, new: &Tree) -> Applied {
    let (changes, decisions) = between(old, new);
    ledger(root).apply(&changes, &decisions, &origin())
}

/// A page of so many lines.
fn page(what: &str, lines: usize) -> String {
    format!("{what} and so on\n").repeat(lines)
}

#[test]
#[ignore = "needs root and mount; the faults profile runs it"]
fn d05_a_full_disk_changes_nothing_or_everything_and_says_so() {
    if !inside(MOUNTS, "disk::d05_a_full_disk_changes_nothing_or_everything_and_says_so") {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    let (a, b) = (page("old", 2_000), page("new, longer", 3_000));
    let old = files(&[("a.md", &a), ("sub/b.md", "b\n"), ("c.md", "c\n")]);
    let new = files(&[("a.md", &b), ("sub/b.md", "B\n"), ("new/d.md", &a)]);
    let (mut refused, mut landed) = (0, 0);
    for size in (64..=1024).step_by(4) {
        let options = format!("size={size}k");
        if let Err(why) = run("mount", &["-t", "tmpfs", "-o", &options, "none", root.to_str().unwrap()]) {
            return skipped(&why);
        }
        let unmounted = Unmount(root);
        // What does not even hold the old files is no bundle.
        let fits = std::panic::catch_unwind(|| plant(&root.join("bundle"), &old)).is_ok();
        if fits {
            let applied = apply(root, &old, &new);
            let now = tree(&root.join("bundle"));
            if applied.failed.is_empty() {
                assert_eq!(now, new, "{size}k");
                landed += 1;
            } else {
                assert_eq!(now, old, "{size}k: {:?}", applied.failed);
                let said = |(_, error): &(_, wikiwright::bundle::Error)| error.message.contains("full");
                assert!(applied.failed.iter().any(said), "{size}k: {:?}", applied.failed);
                refused += 1;
                // Opened again it is still the old one; with room the same set lands.
                ledger(root).open().unwrap().unwrap();
                assert_eq!(tree(&root.join("bundle")), old, "{size}k");
                run("mount", &["-o", "remount,size=8m", root.to_str().unwrap()]).unwrap();
                let again = apply(root, &old, &new);
                assert!(again.failed.is_empty(), "{size}k: {:?}", again.failed);
                assert_eq!(tree(&root.join("bundle")), new, "{size}k");
            }
        }
        drop(unmounted);
    }
    eprintln!("{refused} refused, {landed} landed");
    assert!(refused > 10 && landed > 10, "{refused} refused, {landed} landed");
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = run("umount", &[self.0.to_str().unwrap()]);
    }
}

/// A file to be changed and one to be deleted, in folders that can be taken away one by one.
fn guarded() -> (tempfile::TempDir, Tree, Tree) {
    let temp = tempfile::tempdir().unwrap();
    let old = files(&[("a.md", "a\n"), ("kept/b.md", "b\n"), ("kept/c.md", "c\n")]);
    let new = files(&[("a.md", "A\n"), ("kept/b.md", "B\n"), ("kept/more/d.md", "d\n")]);
    plant(&temp.path().join("bundle"), &old);
    (temp, old, new)
}

/// Reading works; a set is refused before anything of it was done, with words that name `what`.
fn refuses(root: &Path, old: &Tree, new: &Tree, what: &str, why: &str) {
    let bundle = LocalBundle::open(&root.join("bundle")).unwrap();
    for (name, bytes) in old {
        assert_eq!(&bundle.read_bytes(&path(&format!("/{name}"))).unwrap(), bytes);
    }
    let inode = std::fs::metadata(root.join("bundle/a.md")).unwrap().ino();
    // The whole set, and each file of the folder for itself.
    let mut sets = vec![new.clone()];
    for name in old.keys().chain(new.keys()).filter(|name| name.starts_with("kept/")) {
        let mut one = old.clone();
        one.remove(name);
        one.extend(new.get_key_value(name).map(|(name, bytes)| (name.clone(), bytes.clone())));
        one.insert("a.md".to_owned(), b"A\n".to_vec());
        sets.push(one);
    }
    for set in &sets {
        let applied = apply(root, old, set);
        let said: Vec<String> = applied.failed.iter().map(|(_, error)| error.to_string()).collect();
        assert!(applied.landed.is_empty() && !said.is_empty(), "{what}: {:?}", set.keys());
        let named = applied.failed.iter().any(|(_, error)| {
            error.kind == ErrorKind::Denied
                && error.message.contains(&format!("{what} cannot be changed"))
                && error.message.contains(why)
        });
        assert!(named, "{what}, {why}: {said:?}");
        assert_eq!(&tree(&root.join("bundle")), old, "{what}");
        assert!(!root.join("state/journal").exists(), "{what}: nothing was decided");
    }
    // Not even for a moment: the file that could have been written was not.
    assert_eq!(std::fs::metadata(root.join("bundle/a.md")).unwrap().ino(), inode, "{what}");
}

#[test]
#[ignore = "needs root and mount; the faults profile runs it"]
fn d06_on_a_read_only_mount_it_reads_and_refuses_up_front() {
    if !inside(MOUNTS, "disk::d06_on_a_read_only_mount_it_reads_and_refuses_up_front") {
        return;
    }
    for (mounted, named) in [("bundle", "/"), ("bundle/kept", "/kept")] {
        let (temp, old, new) = guarded();
        let at = temp.path().join(mounted);
        let at = at.to_str().unwrap();
        let read_only =
            run("mount", &["--bind", at, at]).and_then(|_| run("mount", &["-o", "remount,ro,bind", at]));
        if let Err(why) = read_only {
            return skipped(&why);
        }
        let _unmount = Unmount(&temp.path().join(mounted));
        refuses(temp.path(), &old, &new, named, "read-only");
    }
}

#[test]
#[ignore = "needs root and chattr; the faults profile runs it"]
fn d06_what_is_marked_as_unchangeable_is_refused_up_front() {
    for (marked, named) in [("kept", "/kept"), ("kept/b.md", "/kept/b.md"), ("kept/c.md", "/kept/c.md")] {
        let (temp, old, mut new) = guarded();
        if marked.ends_with(".md") {
            // Only this file of the folder is to change.
            let name = marked.to_owned();
            let after = new.get(&name).cloned();
            new = files(&[("a.md", "A\n"), ("kept/b.md", "b\n"), ("kept/c.md", "c\n")]);
            new.remove(&name);
            new.extend(after.map(|bytes| (name, bytes)));
        }
        let at = temp.path().join("bundle").join(marked);
        let at = at.to_str().unwrap().to_owned();
        if let Err(why) = run("chattr", &["+i", &at]) {
            return skipped(&why);
        }
        let result = std::panic::catch_unwind(|| {
            if marked.ends_with(".md") {
                let applied = apply(temp.path(), &old, &new);
                let said: Vec<String> = applied.failed.iter().map(|(_, e)| e.to_string()).collect();
                let wanted = format!("{named} cannot be changed: it is marked as unchangeable");
                assert!(said.iter().any(|text| text.contains(&wanted)), "{said:?}");
                assert_eq!(tree(&temp.path().join("bundle")), old);
                assert!(!temp.path().join("state/journal").exists());
            } else {
                refuses(temp.path(), &old, &new, named, "marked as unchangeable");
            }
        });
        run("chattr", &["-i", &at]).unwrap();
        result.unwrap();
    }
}

#[test]
#[ignore = "the child half of the test below"]
fn child_meets_a_foreign_folder() {
    let Some(root) = child_root() else { return };
    let (_, old, new) = guarded();
    refuses(&root, &old, &new, "/kept", "permissions do not let you write");
}

#[test]
#[ignore = "needs root and setpriv; the faults profile runs it"]
fn d06_a_folder_of_somebody_else_is_read_and_refused_up_front() {
    let (temp, ..) = guarded();
    let root = temp.path();
    let nobody = |at: &Path| std::os::unix::fs::chown(at, Some(65534), Some(65534));
    let mine = ["", "bundle", "bundle/a.md"];
    if let Some(e) = mine.iter().find_map(|name| nobody(&root.join(name)).err()) {
        return skipped(&format!("files cannot be given away here ({e})"));
    }
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    // The program must be in a place that anybody reaches.
    let own = std::env::current_exe().unwrap();
    let copy = root.join("faults");
    std::fs::copy(&own, &copy).unwrap();
    let program = copy.to_str().unwrap();
    if let Err(why) = run(nobody[0], &[&nobody[1..], &[program, "--list"]].concat()) {
        return skipped(&why);
    }
    let mut command = child(&[], "disk::child_meets_a_foreign_folder", root);
    let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let output = Command::new(nobody[0])
        .args(&nobody[1..])
        .arg(program)
        .args(arguments)
        .env("WIKIWRIGHT_CHILD", root)
        .env("TMPDIR", root)
        .output()
        .unwrap();
    command.env_clear();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn d07_what_others_did_to_a_file_after_the_proposal_is_never_overwritten() {
    type Meddle = fn(&Path);
    let others: [(&str, Meddle); 4] = [
        ("edited", |file| std::fs::write(file, "by hand\n").unwrap()),
        ("deleted", |file| std::fs::remove_file(file).unwrap()),
        ("now a folder", |file| {
            std::fs::remove_file(file).unwrap();
            std::fs::create_dir(file).unwrap();
            std::fs::write(file.join("in.md"), "by hand\n").unwrap();
        }),
        ("moved away", |file| std::fs::rename(file, file.with_file_name("moved.md")).unwrap()),
    ];
    for (what, meddle) in others {
        let (temp, old, new) = guarded();
        meddle(&temp.path().join("bundle/kept/b.md"));
        let before = tree(&temp.path().join("bundle"));
        let applied = apply(temp.path(), &old, &new);
        assert!(applied.landed.is_empty() && !applied.failed.is_empty(), "{what}");
        let (_, error) = applied.failed.iter().find(|(at, _)| at.as_str() == "/kept/b.md").unwrap();
        assert!(matches!(error.kind, ErrorKind::Conflict | ErrorKind::IsDirectory), "{what}: {error}");
        assert_eq!(tree(&temp.path().join("bundle")), before, "{what}");
    }
    // Another mode is no other content: it is kept, and the set lands.
    let (temp, old, new) = guarded();
    let file = temp.path().join("bundle/kept/b.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o604)).unwrap();
    assert!(apply(temp.path(), &old, &new).failed.is_empty());
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o604);
    assert_eq!(tree(&temp.path().join("bundle")), new);
}

#[test]
fn d10_the_lock_of_a_killed_workbench_is_free_at_once() {
    use super::e2e::bundle;
    use super::e2e::pty::Start;

    let bundle = bundle::small();
    let open = || Start::new(&[bundle.path().to_str().unwrap()]).size(160, 40).spawn();
    let mut first = open();
    first.wait_for("no findings");
    let second = open();
    second.wait_for("another wikiwright has this bundle open");
    first.signal("KILL");
    first.wait_exit();
    drop(second);
    let third = open();
    let text = third.wait_for("no findings");
    assert!(!text.contains("another wikiwright") && !text.contains("read-only"), "{text}");
}

#[test]
fn d08_an_edit_with_the_old_time_is_noticed() {
    let temp = tempfile::tempdir().unwrap();
    let (old, new) = (files(&[("a.md", "one\n")]), files(&[("a.md", "new\n")]));
    plant(&temp.path().join("bundle"), &old);
    let file = temp.path().join("bundle/a.md");
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    // As many bytes, and the time as it was.
    std::fs::write(&file, "two\n").unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    let applied = apply(temp.path(), &old, &new);
    assert_eq!(applied.failed.len(), 1);
    assert_eq!(applied.failed[0].1.kind, ErrorKind::Conflict);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
}

#[test]
fn d09_mode_group_and_attributes_of_a_file_are_kept() {
    let temp = tempfile::tempdir().unwrap();
    let (old, new) = (files(&[("a.md", "one\n")]), files(&[("a.md", "two\n")]));
    plant(&temp.path().join("bundle"), &old);
    let file = temp.path().join("bundle/a.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    // Another group than that which new files get; only root may choose any.
    let foreign = std::os::unix::fs::chown(&file, None, Some(12_345)).is_ok();
    let flags = rustix::fs::XattrFlags::empty();
    let marks = [("user.colour", b"red".as_slice()), ("user.long", &[b'x'; 300]), ("user.empty", b"")];
    let kept = marks.iter().all(|(name, value)| rustix::fs::setxattr(&file, *name, value, flags).is_ok());
    if !foreign || !kept {
        skipped(&format!("group {foreign}, attributes {kept}: the rest is tested"));
    }
    let before = std::fs::metadata(&file).unwrap();
    assert!(apply(temp.path(), &old, &new).failed.is_empty());
    let after = std::fs::metadata(&file).unwrap();
    assert_ne!(before.ino(), after.ino());
    let facts = |m: &std::fs::Metadata| (m.mode(), m.uid(), m.gid());
    assert_eq!(facts(&before), facts(&after));
    if kept {
        for (name, value) in marks {
            let mut buffer = vec![0; 1_000];
            let length = rustix::fs::getxattr(&file, name, buffer.as_mut_slice()).unwrap();
            assert_eq!(&buffer[..length], value, "{name}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
}

#[test]
fn d09_a_moved_file_keeps_mode_and_attributes() {
    let temp = tempfile::tempdir().unwrap();
    let (bundle, flags) = (temp.path().join("bundle"), rustix::fs::XattrFlags::empty());
    plant(&bundle, &files(&[("sub/a.md", "one\n")]));
    std::fs::set_permissions(bundle.join("sub/a.md"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let marked = rustix::fs::setxattr(bundle.join("sub/a.md"), "user.colour", b"red", flags).is_ok();
    if !marked {
        skipped("this file system knows no attributes: the rest is tested");
    }
    let bytes = |text: &str| Some(std::sync::Arc::from(text.as_bytes()));
    let kind = ChangeKind::Rename { from: path("/sub/a.md") };
    let change = FileChange { path: path("/new/b.md"), kind, before: bytes("one\n"), after: bytes("two\n") };
    let (changes, decisions) = super::support::approved(vec![change]);
    let ledger = ledger(temp.path());
    let facts = |name: &str| {
        let (at, mut value) = (bundle.join(name), [0; 10]);
        let length = rustix::fs::getxattr(&at, "user.colour", value.as_mut_slice()).unwrap_or(0);
        (std::fs::metadata(&at).unwrap().mode() & 0o777, value[..length].to_vec())
    };
    let wanted = (0o640, if marked { b"red".to_vec() } else { Vec::new() });
    assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    assert_eq!(tree(&bundle), files(&[("new/b.md", "two\n")]));
    assert_eq!(facts("new/b.md"), wanted);
    // And on its way back.
    let undo = ledger.undo(&ledger.history().unwrap()[0]).unwrap();
    let (changes, decisions) = super::support::approved(undo.files);
    assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    assert_eq!(tree(&bundle), files(&[("sub/a.md", "one\n")]));
    assert_eq!(facts("sub/a.md"), wanted);
}

#[test]
fn d09_bytes_that_no_change_touches_are_kept() {
    use std::sync::Arc;
    use wikiwright::agent::tools::Toolbox;
    use wikiwright::bundle::{Rules, Staged};

    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    let texts = [
        ("crlf.md", "one\r\ntwo\r\nthree\r\n", "one\r\n2\r\nthree\r\n"),
        ("mixed.md", "one\r\ntwo\nthree\r", "one\r\n2\nthree\r"),
        ("bom.md", "\u{FEFF}one\ntwo\n", "\u{FEFF}one\n2\n"),
        ("no-newline.md", "one\ntwo", "one\n2"),
    ];
    for (name, before, _) in texts {
        plant(&root.join("bundle"), &files(&[(name, before)]));
    }
    std::os::unix::fs::symlink("crlf.md", root.join("bundle/link.md")).unwrap();
    let bundle = Arc::new(LocalBundle::open(&root.join("bundle")).unwrap());
    let staged = Arc::new(Staged::new(bundle, Rules::manager(true)));
    let tools = Toolbox::manager(staged.clone());
    for (name, ..) in texts {
        let arguments =
            serde_json::json!({"file_path": format!("/{name}"), "old_string": "two", "new_string": "2"});
        tools.run("read_file", &serde_json::json!({"file_path": format!("/{name}")}).to_string());
        let outcome = tools.run("edit_file", &arguments.to_string());
        assert!(outcome.ok, "{name}: {}", outcome.text);
    }
    let changes = staged.changes();
    let (changes, decisions) = super::support::approved(changes.files);
    assert!(ledger(root).apply(&changes, &decisions, &origin()).failed.is_empty());
    for (name, _, after) in texts {
        assert_eq!(std::fs::read_to_string(root.join("bundle").join(name)).unwrap(), after, "{name}");
    }
    // The link is still one, and reads as what it points to now.
    assert_eq!(tree(&root.join("bundle"))["link.md"], b"-> crlf.md");
}
