//! Kept sessions with assistants and with changes decided in part, run again: byte for byte the same.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::faults::{
    Brain, Said, bundle, calls, first, manager_kept, path, results, says, task, turn, write,
};
use super::tests::Kept;
use super::*;
use crate::agent::client::ModelErrorKind;
use crate::agent::record::Record;
use crate::agent::replay::{Replayed, replay};
use crate::bundle::hunk::{FileDecision, HunkDecision, Verdicts, resolve};
use crate::bundle::{Decision, MemoryBundle, Write as _, apply};

fn again(kept: &Kept, base: &Arc<MemoryBundle>) -> Replayed {
    // As it comes from the file.
    let lines: String =
        kept.0.lock().unwrap().iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    let loaded = record::load(lines.as_bytes()).unwrap();
    assert_eq!(loaded.skipped, 0);
    replay(&loaded.records, Role::Manager, base.clone(), Rules::manager(true), lint::Options::default())
}

/// Three assistants edit one file side by side, reading it anew whenever another was quicker; a fourth fails.
fn crowd() -> Arc<Brain<impl Fn(usize, &crate::agent::client::Request) -> Said>> {
    Brain::new(|_, request| {
        let (asked, done) = (first(request), results(request));
        let shared = json!({"file_path": "/wiki/shared.md"});
        match (asked, done.len()) {
            ("go", 0) => calls(&[write("/wiki/shared.md", "one: open\ntwo: open\nthree: open\n")]),
            ("go", 1) => calls(&[
                task("one"),
                ("read_file", shared),
                task("two"),
                task("fails"),
                task("three"),
                task(""),
            ]),
            ("go", _) => says("Proposed."),
            ("fails", _) => Said::Error(ModelErrorKind::Provider),
            (_, 0) => calls(&[("read_file", shared), ("grep", json!({"pattern": "open"}))]),
            (name, _) if !done.iter().any(|text| text.starts_with("Staged")) => {
                if done.last().is_some_and(|text| text.contains("has changed")) {
                    return calls(&[("read_file", shared)]);
                }
                calls(&[(
                    "edit_file",
                    json!({"file_path": "/wiki/shared.md",
                    "old_string": format!("{name}: open"), "new_string": format!("{name}: done")}),
                )])
            }
            _ => says("Did my part."),
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h46_what_assistants_did_is_kept_and_comes_out_the_same_when_it_is_run_again() {
    for _ in 0..20 {
        let (base, kept) = (bundle(), Kept::default());
        let mut session = manager_kept(base.clone(), crowd(), &kept, Vec::new());
        session.commands.send(AgentCommand::Say("go".into())).unwrap();
        turn(&mut session).await;
        drop(session);
        let said: Vec<String> = kept
            .0
            .lock()
            .unwrap()
            .iter()
            .filter_map(|record| match record {
                Record::Assistant { input: Input::Say(text), .. } => Some(text.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(
            BTreeSet::from_iter(said.iter().map(String::as_str)),
            BTreeSet::from(["one", "two", "three", "fails"])
        );
        let again = again(&kept, &base);
        assert_eq!(again.differences, vec![]);
        // Of each of the three: read, search, edit, perhaps more; and the calls of the manager.
        assert!(again.calls >= 3 * 3 + 7 && again.answers >= 3 * 3 + 3, "{again:?}");
    }
}

#[tokio::test]
async fn an_assistant_that_was_stopped_comes_out_the_same_and_a_changed_bundle_shows() {
    let brain = Brain::new(|_, request| match (first(request), results(request).len()) {
        ("go", 0) => calls(&[task("part")]),
        ("part", 0) => calls(&[("read_file", json!({"file_path": "/raw/a.txt"}))]),
        _ => Said::Hangs("hm"),
    });
    let (base, kept) = (bundle(), Kept::default());
    let mut session = manager_kept(base.clone(), brain.clone(), &kept, Vec::new());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    while brain.asked() < 3 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    session.commands.send(AgentCommand::Interrupt).unwrap();
    turn(&mut session).await;
    drop(session);
    assert_eq!(again(&kept, &base).differences, vec![]);
    base.write(&path("/raw/a.txt"), b"other\n").unwrap();
    let differences = again(&kept, &base).differences;
    assert!(differences.iter().any(|d| d.what == "read_file" && d.now.contains("other")), "{differences:?}");
}

#[tokio::test]
async fn what_landed_in_part_or_with_the_persons_text_is_there_when_it_is_run_again() {
    let base = Arc::new(MemoryBundle::new([("/wiki/a.md", "a\nb\nc\nd\ne\nf\ng\n")]).unwrap());
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[("read_file", json!({"file_path": "/wiki/a.md"}))]),
        1 => calls(&[write("/wiki/a.md", "A\nb\nC\nd\nE\nf\nG\n"), write("/wiki/b.md", "new\n")]),
        2 => says("Proposed."),
        3 => calls(&[
            ("read_file", json!({"file_path": "/wiki/a.md"})),
            ("diff", json!({"file_path": "/wiki/a.md"})),
        ]),
        4 => calls(&[
            ("discard", json!({"file_path": "/wiki/a.md"})),
            ("read_file", json!({"file_path": "/wiki/a.md"})),
        ]),
        _ => says("ok"),
    });
    let kept = Kept::default();
    let mut session = manager_kept(base.clone(), brain, &kept, Vec::new());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    let changes = session.staged.as_ref().unwrap().changes();
    let (a, b) = (&changes.files[0], &changes.files[1]);
    let decided = [
        HunkDecision::Approved,
        HunkDecision::Rejected { reason: "no".into() },
        HunkDecision::Replaced { text: "mine\n".into() },
        HunkDecision::PutOff,
    ];
    let verdicts = Verdicts::from([
        (
            a.path.clone(),
            FileDecision::Hunks {
                shown: a.shown(),
                hunks: a.hunks().iter().map(|h| h.id).zip(decided).collect(),
            },
        ),
        (b.path.clone(), FileDecision::Whole(Decision::Approved { shown: b.shown() })),
    ]);
    let resolved = resolve(&changes, &verdicts);
    let applied = apply(base.as_ref(), &resolved.changes, &resolved.decisions);
    assert_eq!(base.read(&path("/wiki/a.md")).unwrap(), "A\nb\nc\nd\nmine\nf\ng\n");
    session.commands.send(AgentCommand::Reviewed { resolved: resolved.into(), applied }).unwrap();
    turn(&mut session).await;
    drop(session);
    let told = kept.0.lock().unwrap().iter().rev().find_map(|record| match record {
        Record::Input { input: Input::ToolDone { text, .. } } => Some(text.clone()),
        _ => None,
    });
    assert!(told.unwrap().contains("mine"), "the manager read what landed");
    let again = again(&kept, &base);
    assert_eq!((again.differences, again.calls), (vec![], 7));
}

#[tokio::test]
async fn the_time_in_a_page_is_that_of_the_session_and_a_session_gone_on_with_keeps_its_order() {
    let base = Arc::new(MemoryBundle::new([("/index.md", "---\nokf_version: 0.2\n---\n# I\n")]).unwrap());
    let page = |name: &str| write(name, "---\ntype: Note\n---\n\n# A\n");
    let kept = Kept::default();
    for name in ["/a.md", "/b.md"] {
        let brain =
            Brain::new(move |_, request| match results(request).iter().any(|text| text.contains(name)) {
                false => calls(&[page(name), ("read_file", json!({"file_path": name}))]),
                true => says("ok"),
            });
        let past = kept.0.lock().unwrap().clone();
        let mut session = manager_kept(base.clone(), brain, &kept, past);
        session.commands.send(AgentCommand::Say("go".into())).unwrap();
        let mut turns = 0;
        while turns < if name == "/a.md" { 1 } else { 2 } {
            turns += usize::from(turn(&mut session).await.last().is_some());
        }
    }
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let again = again(&kept, &base);
    assert_eq!((again.differences, again.calls), (vec![], 4));
    let records = kept.0.lock().unwrap().clone();
    assert_eq!(record::next_order(&records), 4);
}

#[tokio::test]
async fn what_a_tool_of_the_callers_own_came_to_is_taken_from_the_record() {
    let (base, kept) = (bundle(), Kept::default());
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[
            ("echo", json!({})),
            ("nothing", json!({})),
            ("echo", json!({})),
            ("ls", json!({"path": "/wiki"})),
        ]),
        1 => calls(&[write("/wiki/a.md", "x\n")]),
        _ => says("Done."),
    });
    let count = std::sync::atomic::AtomicUsize::new(0);
    let echo = ExtraTool::new("echo", "Counts.", json!({"type": "object"}), move |_| {
        match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Ok("one".to_owned()),
            _ => Err("no more".to_owned()),
        }
    });
    let keeping = Keeping { recorder: Some(Box::new(kept.clone())), past: Vec::new() };
    let mut session =
        super::manage(base.clone(), brain.clone(), ManagerOptions::default(), vec![echo], keeping);
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    session.close().await;
    let replayed = again(&kept, &base);
    assert_eq!(replayed.differences, []);
    // The call of `nothing` named the tool among those that there are.
    assert_eq!((replayed.answers, replayed.calls, replayed.taken), (3, 2, 3));
}
