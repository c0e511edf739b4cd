//! The order in which an apply reaches the disk, read from its system calls. A power cut shows a missing fsync only where the
//! file system takes the freedom it has; the order shows each.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

use super::power::state;
use super::support::{between, child, child_root, ledger, origin, plant, run, skipped};

/// One step on the way to the disk. Paths are relative to the folder that holds `bundle` and `state`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Write(String),
    Sync(String),
    Folder(String),
    Rename(String, String),
    Gone(String),
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}

/// The calls of a trace that worked and lie below `root`.
fn calls(trace: &str, root: &str) -> Vec<Call> {
    let below = |path: &str| path.strip_prefix(root).map(|rest| rest.trim_start_matches('/').to_owned());
    let open = Regex::new(r"^(?:\d+ +)?(write|fsync)\(\d+<([^>]*)>").unwrap();
    // `AT_FDCWD</folder>, "name"`, `5</folder>, "name"` or `"name"`.
    let name = Regex::new(r#"(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)""#).unwrap();
    let kind = Regex::new(r"^(?:\d+ +)?(mkdir|rename|unlink)\w*\(").unwrap();
    let mut calls = Vec::new();
    for line in trace.lines().filter(|line| !line.contains(" = -1 ")) {
        if let Some(found) = open.captures(line) {
            let Some(path) = below(&found[2]) else { continue };
            calls.push(if &found[1] == "write" { Call::Write(path) } else { Call::Sync(path) });
        } else if let Some(found) = kind.captures(line) {
            let mut paths = name.captures_iter(line).filter_map(|named| match named.get(1) {
                Some(folder) if !named[2].starts_with('/') => {
                    below(&format!("{}/{}", folder.as_str(), &named[2]))
                }
                _ => below(&named[2]),
            });
            let Some(first) = paths.next() else { continue };
            calls.push(match (&found[1], paths.next()) {
                ("mkdir", _) => Call::Folder(first),
                ("unlink", _) => Call::Gone(first),
                (_, Some(to)) => Call::Rename(first, to),
                (_, None) => panic!("{line}"),
            });
        }
    }
    calls
}

/// What is wrong with the order: content must be on the disk before it gets its name, each change of a folder before the next
/// step that relies on it, and the journal before the first page and after the last.
fn judge(calls: &[Call]) -> Result<(), String> {
    let (mut written, mut folders) = (BTreeSet::new(), BTreeSet::<String>::new());
    let (mut journal, mut staging, mut recorded) = (false, false, false);
    for (nth, call) in calls.iter().enumerate() {
        let page = |path: &str| path.starts_with("bundle/");
        let fail = |why: &str| Err(format!("call {nth}, {call:?}: {why}"));
        match call {
            Call::Write(path) => {
                if page(path) && !(staging && folders.is_empty()) {
                    return fail("where temporary files may lie is not on the disk");
                }
                written.insert(path.clone());
            }
            Call::Sync(path) => {
                written.remove(path);
                folders.remove(path);
            }
            Call::Folder(path) => {
                folders.insert(parent(path));
            }
            Call::Rename(from, to) => {
                if written.contains(from) {
                    return fail("its content is not on the disk");
                }
                if !folders.is_empty() {
                    return fail("an earlier change of a folder is not on the disk");
                }
                match to.as_str() {
                    "state/journal" => (journal, recorded) = (true, false),
                    "state/staging" => staging = true,
                    to if to.starts_with("state/history/") => recorded = true,
                    to if page(to) && !journal => return fail("no journal"),
                    _ => {}
                }
                folders.extend([parent(from), parent(to)]);
            }
            Call::Gone(path) => {
                if !folders.is_empty() {
                    return fail("an earlier change of a folder is not on the disk");
                }
                match path.as_str() {
                    "state/journal" if !recorded => return fail("no record"),
                    "state/journal" => journal = false,
                    "state/staging" => staging = false,
                    path if page(path) && !journal => return fail("no journal"),
                    _ => {}
                }
                folders.insert(parent(path));
            }
        }
    }
    match (written.is_empty(), folders.is_empty()) {
        (true, true) => Ok(()),
        _ => Err(format!("said to have landed, but not on the disk: {written:?} {folders:?}")),
    }
}

/// How many sets the child applies.
const SETS: usize = 3;

#[test]
#[ignore = "the child half of the test below"]
fn child_applies_three_sets() {
    let Some(root) = child_root() else { return };
    let ledger = ledger(&root);
    for sets in 0..SETS {
        let (changes, decisions) = between(&state(sets), &state(sets + 1));
        assert!(ledger.apply(&changes, &decisions, &origin()).failed.is_empty());
    }
}

fn trace(root: &Path) -> Result<Vec<Call>, String> {
    run("strace", &["-o", "/dev/null", "true"])?;
    plant(&root.join("bundle"), &state(0));
    let log = root.join("trace");
    let which = "trace=write,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat";
    let strace = ["strace", "-f", "-y", "-s", "0", "-e", which, "-o", log.to_str().unwrap()];
    let output = child(&strace, "order::child_applies_three_sets", root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(calls(&std::fs::read_to_string(&log).unwrap(), root.to_str().unwrap()))
}

/// What the first set brings to the disk, fsync by fsync.
pub fn synced(root: &Path) -> Result<Vec<String>, String> {
    let synced = trace(root)?.into_iter().filter_map(|call| match call {
        Call::Sync(path) => Some(path),
        _ => None,
    });
    Ok(synced.collect())
}

#[test]
fn d03_each_fsync_of_an_apply_is_there_in_its_place_and_needed() {
    let temp = tempfile::tempdir().unwrap();
    let calls = match trace(&temp.path().canonicalize().unwrap()) {
        Ok(calls) => calls,
        Err(why) => return skipped(&why),
    };
    let told = || calls.iter().enumerate().map(|(n, call)| format!("{n} {call:?}\n")).collect::<String>();
    assert_eq!(judge(&calls), Ok(()), "{}", told());
    let pages =
        calls.iter().filter(|call| matches!(call, Call::Rename(_, to) if to.starts_with("bundle/"))).count();
    assert!(pages >= 3 * SETS, "{}", told());
    // Without any single one it is wrong.
    let syncs: Vec<usize> = (0..calls.len()).filter(|n| matches!(calls[*n], Call::Sync(_))).collect();
    assert!(syncs.len() > 15 * SETS, "{}", told());
    for nth in syncs {
        let mut without = calls.clone();
        let gone = without.remove(nth);
        assert!(judge(&without).is_err(), "nothing notices that {gone:?}, call {nth}, is gone:\n{}", told());
    }
}
