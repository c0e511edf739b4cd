//! Sets that land as a whole, are taken back as a whole, and outlive their process.

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::bundle::Decision;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

struct Place {
    temp: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        // In memory where there is such a folder: a killed process needs no disk, and there a flush costs nothing.
        let temp = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        for (name, text) in files {
            let file = temp.path().join("bundle").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        std::fs::create_dir_all(temp.path().join("bundle")).unwrap();
        Self { temp }
    }

    fn bundle(&self) -> Arc<LocalBundle> {
        Arc::new(LocalBundle::open(&self.temp.path().join("bundle")).unwrap())
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.bundle(), self.temp.path().join("state"), Keep::default())
    }

    /// Every file of the bundle, temporary ones included, with its content.
    fn files(&self) -> Vec<(String, String)> {
        fn collect(root: &Path, folder: &Path, into: &mut Vec<(String, String)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(root, &path, into);
                } else {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    into.push((name, std::fs::read_to_string(&path).unwrap()));
                }
            }
        }
        let root = self.temp.path().join("bundle");
        let mut files = Vec::new();
        collect(&root, &root, &mut files);
        files.sort();
        files
    }
}

fn change(kind: ChangeKind, at: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    let bytes = |text: Option<&str>| text.map(|text| Arc::from(text.as_bytes()));
    FileChange { path: path(at), kind, before: bytes(before), after: bytes(after) }
}

fn set(files: Vec<FileChange>) -> (ChangeSet, Decisions) {
    let decisions = files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
    (ChangeSet { id: 1, files }, decisions)
}

fn origin() -> Origin {
    Origin { who: "person".into(), message: "test".into(), ..Origin::default() }
}

const OLD: &[(&str, &str)] = &[("a.md", "a\n"), ("b.md", "b\n"), ("sub/c.md", "c\n")];

/// One of each kind.
fn mixed() -> (ChangeSet, Decisions) {
    set(vec![
        change(ChangeKind::Modify, "/a.md", Some("a\n"), Some("A\n")),
        change(ChangeKind::Delete, "/b.md", Some("b\n"), None),
        change(ChangeKind::Create, "/new/deep/d.md", None, Some("d\n")),
        change(ChangeKind::Rename { from: path("/sub/c.md") }, "/moved.md", Some("c\n"), Some("c2\n")),
    ])
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn new() -> Vec<(String, String)> {
    owned(&[("a.md", "A\n"), ("moved.md", "c2\n"), ("new/deep/d.md", "d\n")])
}

#[test]
fn a_set_lands_is_remembered_undone_and_redone() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    let (changes, decisions) = mixed();
    let applied = ledger.apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.failed.len()), (4, 0), "{:?}", applied.failed);
    assert_eq!(place.files(), new());
    let history = ledger.history().unwrap();
    assert_eq!((history.len(), history[0].id, history[0].origin.who.as_str()), (1, 1, "person"));
    let (back, decisions) = set(ledger.undo(&history[0]).unwrap().files);
    let undo = Origin { who: "undo".into(), undoes: Some(1), ..Origin::default() };
    let applied = ledger.apply(&back, &decisions, &undo);
    assert!(applied.failed.is_empty(), "{:?}", applied.failed);
    assert_eq!(place.files(), owned(OLD));
    let (again, decisions) = set(ledger.redo(&history[0]).unwrap().files);
    assert!(ledger.apply(&again, &decisions, &origin()).failed.is_empty());
    assert_eq!(place.files(), new());
    let history = ledger.history().unwrap();
    assert_eq!(
        history.iter().map(|r| (r.id, r.origin.undoes)).collect::<Vec<_>>(),
        [(3, None), (2, Some(1)), (1, None)]
    );
}

#[test]
fn d07_one_file_that_changed_in_the_meantime_keeps_the_whole_set_out() {
    let place = Place::new(OLD);
    std::fs::write(place.temp.path().join("bundle/b.md"), "by hand\n").unwrap();
    let before = place.files();
    let (changes, decisions) = mixed();
    let ledger = place.ledger();
    let applied = ledger.apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.failed.len()), (0, 4));
    let of = |at: &str| &applied.failed.iter().find(|(p, _)| *p == path(at)).unwrap().1;
    assert_eq!(of("/b.md").kind, ErrorKind::Conflict);
    assert!(of("/a.md").message.contains("a set lands as a whole"), "{}", of("/a.md"));
    assert_eq!(place.files(), before);
    assert!(ledger.history().unwrap().is_empty());
}

#[test]
fn an_approval_of_something_else_keeps_the_set_out_and_an_undecided_file_does_not() {
    let place = Place::new(OLD);
    let (changes, mut decisions) = mixed();
    decisions.insert(path("/a.md"), Decision::Pending);
    let applied = place.ledger().apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.pending.len(), applied.failed.len()), (3, 1, 0));
    let place = Place::new(OLD);
    decisions.insert(path("/a.md"), Decision::Approved { shown: ContentHash::of(b"other") });
    let applied = place.ledger().apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.failed.len()), (0, 4));
    assert_eq!(place.files(), owned(OLD));
}

#[test]
fn d15_an_undo_over_a_later_edit_is_a_conflict_and_loses_nothing() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    let (changes, decisions) = mixed();
    ledger.apply(&changes, &decisions, &origin());
    std::fs::write(place.temp.path().join("bundle/a.md"), "A by hand\n").unwrap();
    let before = place.files();
    let (back, decisions) = set(ledger.undo(&ledger.history().unwrap()[0]).unwrap().files);
    let applied = ledger.apply(&back, &decisions, &origin());
    assert!(applied.landed.is_empty());
    assert_eq!(applied.failed.iter().find(|(p, _)| *p == path("/a.md")).unwrap().1.kind, ErrorKind::Conflict);
    assert_eq!(place.files(), before);
}

#[test]
fn d15_of_five_files_four_are_taken_back_when_one_was_edited_since() {
    let texts = |what: &str| -> Vec<(String, String)> {
        (0..5).map(|n| (format!("p{n}.md"), format!("{what} {n}\n"))).collect()
    };
    let (old, new) = (texts("old"), texts("new"));
    let place = Place::new(&old.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>());
    let ledger = place.ledger();
    let edit = |((name, before), (_, after)): (&(String, String), &(String, String))| {
        change(ChangeKind::Modify, &format!("/{name}"), Some(before), Some(after))
    };
    let (changes, decisions) = set(old.iter().zip(&new).map(edit).collect());
    assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    std::fs::write(place.temp.path().join("bundle/p2.md"), "by hand\n").unwrap();
    let (back, mut decisions) = set(ledger.undo(&ledger.history().unwrap()[0]).unwrap().files);
    assert_eq!(back.files.len(), 5);
    let applied = ledger.apply(&back, &decisions, &origin());
    let conflicts: Vec<_> = applied
        .failed
        .iter()
        .filter(|(_, e)| e.message.contains("changed") && !e.message.contains("as a whole"))
        .map(|(p, _)| p.as_str())
        .collect();
    assert_eq!(conflicts, ["/p2.md"], "{:?}", applied.failed);
    // Left out, it stays, and the four others go back.
    decisions.insert(path("/p2.md"), Decision::Pending);
    assert_eq!(ledger.apply(&back, &decisions, &origin()).landed.len(), 4);
    let mut wanted = old.clone();
    wanted[2].1 = "by hand\n".into();
    assert_eq!(place.files(), wanted);
}

#[test]
fn d10_a_second_instance_writes_nothing_until_the_first_has_ended() {
    let place = Place::new(OLD);
    let first = place.ledger();
    assert!(first.open().unwrap().is_some() && first.is_owner());
    let second = place.ledger();
    assert!(second.open().unwrap().is_none() && !second.is_owner());
    let (changes, decisions) = mixed();
    let applied = second.apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.failed.len()), (0, 4));
    assert!(applied.failed[0].1.message.contains("another wikiwright"), "{}", applied.failed[0].1);
    assert_eq!(place.files(), owned(OLD));
    drop(first);
    assert_eq!(second.apply(&changes, &decisions, &origin()).landed.len(), 4);
}

#[test]
fn w06_a_folder_that_was_moved_or_replaced_is_not_written() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    let (home, away) = (place.temp.path().join("bundle"), place.temp.path().join("away"));
    std::fs::rename(&home, &away).unwrap();
    std::fs::create_dir(&home).unwrap();
    let (changes, decisions) = mixed();
    let applied = ledger.apply(&changes, &decisions, &origin());
    assert_eq!((applied.landed.len(), applied.failed.len()), (0, 4));
    assert!(applied.failed[0].1.message.contains("open it again"), "{}", applied.failed[0].1);
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
    assert_eq!(std::fs::read_to_string(away.join("a.md")).unwrap(), "a\n");
    std::fs::remove_dir(&home).unwrap();
    std::fs::rename(&away, &home).unwrap();
    assert_eq!(ledger.apply(&changes, &decisions, &origin()).landed.len(), 4);
}

#[test]
fn looking_makes_no_state_folder() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    ledger.open().unwrap();
    assert!(ledger.history().unwrap().is_empty());
    assert!(!place.temp.path().join("state").exists());
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(OLD);
    let (changes, decisions) = mixed();
    place.ledger().apply(&changes, &decisions, &origin());
    let mut seen = 0;
    let mut folders = vec![place.temp.path().join("state")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
            seen += 1;
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn d03_a_journal_that_is_cut_or_altered_is_none() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    let (changes, decisions) = mixed();
    ledger.apply(&changes, &decisions, &origin());
    let record = ledger.history().unwrap().remove(0);
    let whole = Journal { aborted: false, record }.encode().unwrap();
    assert!(Journal::decode(&whole).is_some());
    for cut in 0..whole.len() {
        assert_eq!(Journal::decode(&whole[..cut]), None, "cut at {cut}");
    }
    // Most of these are JSON still: only the checksum tells.
    let mut readable = 0;
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        let body = std::str::from_utf8(&altered).ok().and_then(|text| text.split_once('\n')).map(|(_, b)| b);
        readable += usize::from(body.is_some_and(|body| serde_json::from_str::<Journal>(body).is_ok()));
        assert_eq!(Journal::decode(&altered), None, "altered at {at}");
    }
    assert!(readable > 100, "{readable}");
    // A journal that is not whole decided nothing: the files stay as they are.
    std::fs::write(place.temp.path().join("state/journal"), &whole[..whole.len() / 2]).unwrap();
    let before = place.files();
    assert_eq!(ledger.recover().unwrap(), Recovery::default());
    assert_eq!(place.files(), before);
    assert!(!place.temp.path().join("state/journal").exists());
}

#[test]
fn recovery_finishes_what_is_as_it_was_and_keeps_what_somebody_changed() {
    let place = Place::new(OLD);
    let ledger = place.ledger();
    let (changes, decisions) = mixed();
    ledger.apply(&changes, &decisions, &origin());
    let record = ledger.history().unwrap().remove(0);
    // As if the process had died after the journal: one file landed, one was edited by hand since.
    let place2 = Place { temp: place.temp };
    for (name, text) in OLD {
        let file = place2.temp.path().join("bundle").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    std::fs::remove_file(place2.temp.path().join("bundle/moved.md")).unwrap();
    std::fs::write(place2.temp.path().join("bundle/b.md"), "by hand\n").unwrap();
    let journal = Journal { aborted: false, record };
    std::fs::write(place2.temp.path().join("state/journal"), journal.encode().unwrap()).unwrap();
    drop(ledger);
    let recovery = place2.ledger().open().unwrap().unwrap();
    assert_eq!(recovery.kept, [path("/b.md")]);
    let mut wanted = new();
    wanted.insert(1, ("b.md".into(), "by hand\n".into()));
    assert_eq!(place2.files(), wanted);
}

#[test]
fn what_is_old_or_too_much_is_forgotten_but_never_the_newest() {
    let place = Place::new(&[("a.md", "0")]);
    let keep = Keep { days: 90, bytes: 2_000 };
    let ledger = Ledger::new(place.bundle(), place.temp.path().join("state"), keep);
    let text = |n: usize| if n == 0 { "0".to_owned() } else { n.to_string().repeat(600) };
    for n in 0..8 {
        let (changes, decisions) =
            set(vec![change(ChangeKind::Modify, "/a.md", Some(&text(n)), Some(&text(n + 1)))]);
        assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    }
    let ids: Vec<u64> = ledger.history().unwrap().iter().map(|r| r.id).collect();
    assert_eq!(ids, [8, 7]);
    assert_eq!(std::fs::read_dir(place.temp.path().join("state/blobs")).unwrap().count(), 3);
    assert!(ledger.undo(&ledger.history().unwrap()[0]).is_ok());
}

// Killing at every system call: the child applies, the parent looks at what is left.

type Files = Vec<(String, String)>;

fn numbered(count: usize) -> (Files, Files, ChangeSet, Decisions) {
    let mut old = Vec::new();
    let mut new = Vec::new();
    let mut files = Vec::new();
    for n in 0..count {
        let (name, before, after) = (format!("f{n:02}/p.md"), format!("old {n}\n"), format!("new {n}\n"));
        let at = format!("/{name}");
        match n % 4 {
            1 => {
                new.push((name, after.clone()));
                files.push(change(ChangeKind::Create, &at, None, Some(&after)));
            }
            2 => {
                old.push((name, before.clone()));
                files.push(change(ChangeKind::Delete, &at, Some(&before), None));
            }
            _ => {
                old.push((name.clone(), before.clone()));
                new.push((name, after.clone()));
                files.push(change(ChangeKind::Modify, &at, Some(&before), Some(&after)));
            }
        }
    }
    let (changes, decisions) = set(files);
    (old, new, changes, decisions)
}

#[test]
#[ignore = "the child half of the tests below"]
fn one_apply_in_a_child() {
    let Ok(root) = std::env::var("WIKIWRIGHT_LEDGER_ROOT") else { return };
    let root = Path::new(&root);
    let count = std::env::var("WIKIWRIGHT_LEDGER_FILES").unwrap().parse().unwrap();
    let (_, _, changes, decisions) = numbered(count);
    let bundle = Arc::new(LocalBundle::open(&root.join("bundle")).unwrap());
    let ledger = Ledger::new(bundle, root.join("state"), Keep::default());
    let applied = ledger.apply(&changes, &decisions, &origin());
    let outcome =
        if applied.failed.is_empty() { "landed".to_owned() } else { format!("{:?}", applied.failed) };
    std::fs::write(root.join("outcome"), outcome).unwrap();
}

/// Runs the child under a fault of this system call; what it said, if it came so far. `None` where strace does not run.
fn child(place: &Place, count: usize, call: &str, fault: &str) -> Option<Option<String>> {
    std::process::Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null"])
        .args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fault}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "bundle::ledger::tests::one_apply_in_a_child"])
        .env("WIKIWRIGHT_LEDGER_ROOT", place.temp.path())
        .env("WIKIWRIGHT_LEDGER_FILES", count.to_string())
        .output()
        .ok()?;
    Some(std::fs::read_to_string(place.temp.path().join("outcome")).ok())
}

const CALLS: [&str; 9] =
    ["openat", "openat2", "write", "fsync", "rename", "renameat2,renameat", "unlinkat", "unlink", "mkdirat"];

/// Kills at every call of each kind until the child gets through; the number of kills. `None` without strace.
fn kill_everywhere(count: usize) -> Option<usize> {
    let (old, new, ..) = numbered(count);
    let mut kills = 0;
    for call in CALLS {
        for nth in 1.. {
            let place = Place::new(&old.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>());
            let said = child(&place, count, call, &format!("signal=SIGKILL:when={nth}"))?;
            let story = format!("{count} files, {call} number {nth}: {said:?}");
            let ledger = place.ledger();
            ledger.open().unwrap().unwrap();
            let files = place.files();
            assert!(files == old || files == new, "{story}: {files:?}");
            // What landed is remembered, and what was acknowledged has landed.
            assert_eq!(ledger.history().unwrap().len(), usize::from(files == new), "{story}");
            if said.as_deref() == Some("landed") {
                assert_eq!(files, new, "{story}");
                break;
            }
            kills += 1;
            // The same set can be applied, or undone, afterwards.
            let (_, _, changes, decisions) = numbered(count);
            if files == old {
                assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty(), "{story}");
                assert_eq!(place.files(), new, "{story}");
            }
        }
    }
    Some(kills)
}

#[test]
fn d01_killed_at_any_system_call_all_is_old_or_all_is_new() {
    let Some(kills) = kill_everywhere(3) else {
        eprintln!("SKIPPED: strace does not run here");
        return;
    };
    assert!(kills > 60, "{kills}");
}

#[test]
#[ignore = "minutes; the faults profile runs it"]
fn d01_killed_at_any_system_call_of_large_sets() {
    for count in [1, 2, 5, 20] {
        let Some(kills) = kill_everywhere(count) else {
            eprintln!("SKIPPED: strace does not run here");
            return;
        };
        eprintln!("{count} files: {kills} kills");
    }
}

/// The n-th call fails once, or all from then on.
const FAULTS: [&str; 9] = [
    "ENOSPC:when=1",
    "ENOSPC:when=3+",
    "EIO:when=2",
    "EIO:when=7",
    "EROFS:when=1+",
    "EDQUOT:when=2+",
    "EACCES:when=3",
    "EMFILE:when=4+",
    "EINTR:when=2",
];

#[test]
fn d04_a_failing_disk_changes_nothing_or_everything() {
    let (old, new, ..) = numbered(4);
    let mut refused = 0;
    for call in ["write", "fsync", "rename", "renameat2,renameat", "mkdirat", "unlinkat"] {
        for fault in FAULTS {
            let place = Place::new(&old.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>());
            let Some(said) = child(&place, 4, call, &format!("error={fault}")) else {
                eprintln!("SKIPPED: strace does not run here");
                return;
            };
            let now = place.files();
            let ledger = place.ledger();
            ledger.open().unwrap().unwrap();
            let files = place.files();
            let story = format!("{call} {fault}: {said:?}; {now:?}");
            assert!(files == old || files == new, "{story}: {files:?}");
            if said.as_deref() == Some("landed") {
                assert_eq!(files, new, "{story}");
            } else {
                refused += 1;
                assert!(said.is_none_or(|said| !said.contains("panicked")), "{story}");
            }
            // With the fault gone the same set lands.
            if files == old {
                let (_, _, changes, decisions) = numbered(4);
                assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty(), "{story}");
                assert_eq!(place.files(), new, "{story}");
            }
        }
    }
    assert!(refused >= 10, "{refused}");
}

fn mode(place: &Place, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(place.temp.path().join("bundle").join(name)).unwrap().permissions().mode() & 0o777
}

fn chmod(place: &Place, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = place.temp.path().join("bundle").join(name);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn d09_a_moved_or_deleted_file_keeps_its_mode_when_it_comes_back() {
    let place = Place::new(OLD);
    chmod(&place, "sub/c.md", 0o640);
    chmod(&place, "b.md", 0o600);
    let ledger = place.ledger();
    let (changes, decisions) = mixed();
    assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    assert_eq!(mode(&place, "moved.md"), 0o640);
    chmod(&place, "moved.md", 0o660);
    let record = ledger.history().unwrap().remove(0);
    let back = ledger.undo(&record).unwrap();
    let moved = back.file(&path("/sub/c.md")).unwrap();
    assert_eq!(moved.kind, ChangeKind::Rename { from: path("/moved.md") });
    assert_eq!((moved.before.as_deref(), moved.after.as_deref()), (Some(&b"c2\n"[..]), Some(&b"c\n"[..])));
    let undo = Origin { who: "undo".into(), undoes: Some(1), ..Origin::default() };
    let (back, decisions) = set(back.files);
    assert!(ledger.apply(&back, &decisions, &undo).failed.is_empty());
    assert_eq!(place.files(), owned(OLD));
    assert_eq!((mode(&place, "sub/c.md"), mode(&place, "b.md")), (0o660, 0o600));
}

#[test]
fn d09_modes_outlive_a_crash_in_both_directions() {
    for aborted in [false, true] {
        let place = Place::new(OLD);
        chmod(&place, "sub/c.md", 0o640);
        chmod(&place, "b.md", 0o600);
        let ledger = place.ledger();
        let (changes, decisions) = mixed();
        assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
        let record = ledger.history().unwrap().remove(0);
        drop(ledger);
        if !aborted {
            // As if nothing had been moved yet.
            std::fs::remove_file(place.temp.path().join("bundle/moved.md")).unwrap();
            for (name, text) in OLD {
                let file = place.temp.path().join("bundle").join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            }
            chmod(&place, "sub/c.md", 0o640);
        }
        let journal = Journal { aborted, record };
        std::fs::write(place.temp.path().join("state/journal"), journal.encode().unwrap()).unwrap();
        assert_eq!(place.ledger().open().unwrap().unwrap().kept, []);
        if aborted {
            assert_eq!(place.files(), owned(OLD));
            assert_eq!((mode(&place, "sub/c.md"), mode(&place, "b.md")), (0o640, 0o600));
        } else {
            assert_eq!(place.files(), new());
            assert_eq!(mode(&place, "moved.md"), 0o640);
        }
    }
}
