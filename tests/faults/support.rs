//! What the fault tests share: sets to apply, trees to compare, and running a test again under a tool.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wikiwright::bundle::ledger::Keep;
use wikiwright::bundle::ledger::record::Origin;
use wikiwright::bundle::{ChangeKind, ChangeSet, Decision, Decisions, FileChange, Ledger, LocalBundle};
use wikiwright::okf::BundlePath;

/// Files of a folder by their path in it. A link reads as `-> ` and its target.
pub type Tree = BTreeMap<String, Vec<u8>>;

pub fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// Everything below `root`, temporary files included; special files by their kind.
pub fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (at, kind) = (entry.path(), entry.file_type().unwrap());
            let name = at.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if kind.is_dir() {
                folders.push(at);
            } else if kind.is_symlink() {
                found.insert(name, format!("-> {}", std::fs::read_link(&at).unwrap().display()).into_bytes());
            } else if kind.is_file() {
                found.insert(name, std::fs::read(&at).unwrap());
            } else {
                found.insert(name, format!("{kind:?}").into_bytes());
            }
        }
    }
    found
}

/// Writes files below `root`, folders made.
pub fn plant(root: &Path, files: &Tree) {
    for (name, bytes) in files {
        let at = root.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, bytes).unwrap();
    }
}

pub fn files(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

/// The approved set that makes `new` out of `old`.
pub fn between(old: &Tree, new: &Tree) -> (ChangeSet, Decisions) {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let side = |tree: &Tree, name: &String| tree.get(name).map(|bytes| Arc::from(bytes.as_slice()));
    let changes = names.into_iter().filter(|name| old.get(*name) != new.get(*name)).map(|name| {
        let (before, after) = (side(old, name), side(new, name));
        let kind = match (&before, &after) {
            (None, _) => ChangeKind::Create,
            (_, None) => ChangeKind::Delete,
            _ => ChangeKind::Modify,
        };
        FileChange { path: path(&format!("/{name}")), kind, before, after }
    });
    approved(changes.collect())
}

pub fn approved(files: Vec<FileChange>) -> (ChangeSet, Decisions) {
    let decisions = files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
    (ChangeSet { id: 1, files }, decisions)
}

pub fn origin() -> Origin {
    Origin { who: "person".into(), message: "test".into(), ..Origin::default() }
}

/// The ledger of `root/bundle`, with its state in `root/state`.
pub fn ledger(root: &Path) -> Ledger {
    let bundle = Arc::new(LocalBundle::open(&root.join("bundle")).unwrap());
    Ledger::new(bundle, root.join("state"), Keep::default())
}

/// Says why a test does nothing, so that nobody takes its silence for a pass.
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Runs a command to its end; its standard output when it ended well.
pub fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{program} does not run here ({e})"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Runs the test of this name once more inside `wrapper`. True in that inner run, where the test goes on; false when all is
/// done, or the wrapper does not work here, which is said.
pub fn inside(wrapper: &[&str], test: &str) -> bool {
    if std::env::var("WIKIWRIGHT_INSIDE").as_deref() == Ok(test) {
        return true;
    }
    let (program, arguments) = wrapper.split_first().unwrap();
    if let Err(why) = run(program, &[arguments, &["true"]].concat()) {
        skipped(&why);
        return false;
    }
    let status = Command::new(program)
        .args(arguments)
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"])
        .env("WIKIWRIGHT_INSIDE", test)
        .status()
        .unwrap();
    assert!(status.success(), "{test} inside {wrapper:?}");
    false
}

/// In a mount table of its own, as root.
pub const MOUNTS: &[&str] = &["unshare", "-m", "--propagation", "private"];

/// The other half of a test, in a process of its own: the test `name` of this binary, which finds `root` in the
/// environment and may be wrapped in a tool.
pub fn child(wrapper: &[&str], name: &str, root: &Path) -> Command {
    let own = std::env::current_exe().unwrap();
    let mut command = match wrapper.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments).arg(own);
            command
        }
        None => Command::new(own),
    };
    command
        .args([name, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"])
        .env("WIKIWRIGHT_CHILD", root)
        .stdin(Stdio::null());
    command
}

/// Where a child finds its files; none when it was started as if it were a test.
pub fn child_root() -> Option<PathBuf> {
    std::env::var_os("WIKIWRIGHT_CHILD").map(PathBuf::from)
}

/// Waits until `done`, at most so long; whether it came.
pub fn wait(longest: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < longest {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    done()
}
