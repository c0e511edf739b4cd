//! Running a kept session again: the model's answers as they were recorded, everything else for real. Nothing is written to the
//! bundle.

use std::collections::HashMap;
use std::sync::Arc;

use super::event::{CallId, Role};
use super::fsm::{Effect, Input, Loop, RunCall};
use super::record::{Pending, Record};
use super::tools::Toolbox;
use crate::bundle::{ChangeKind, ChangeSet, FileChange, Read, Rules, Staged, Write as _};
use crate::lint;

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    /// Calls that were run again, and model answers that were played.
    pub calls: usize,
    pub answers: usize,
    /// What came out differently, in order.
    pub differences: Vec<Difference>,
}

/// One thing that is another than it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the record, from 1.
    pub record: usize,
    /// What it is about: a tool, or the pending changes.
    pub what: String,
    pub recorded: String,
    pub now: String,
}

/// Runs the records again over `bundle`, which may hold by now what the session brought: it is thought away. `rules` are
/// the person's, `lint` what the linter is told.
pub fn replay(
    records: &[Record],
    role: Role,
    bundle: Arc<dyn Read>,
    rules: Rules,
    lint: lint::Options,
) -> Replayed {
    let base = Arc::new(before(records, bundle));
    let staged = Arc::new(Staged::new(base.clone(), rules));
    let tools = match role {
        Role::Manager => Toolbox::manager(staged.clone()).judging(lint),
        Role::Reader => Toolbox::reader(staged.clone()),
    };
    // What the model was told does not matter: its answers are here.
    let mut machine = Loop::new(String::new(), tools.schemas());
    let mut replayed = Replayed::default();
    let mut differences = Vec::new();
    let mut open: HashMap<CallId, RunCall> = HashMap::new();
    let mut pending = Pending::default();
    // A set is written down when a call has come back, and by then the next call may have changed it: what is pending is
    // compared when all calls are back.
    let mut due = None;
    let mut after_call = false;
    let mut interrupted = false;
    for (nth, record) in records.iter().enumerate() {
        let differs = |what: &str, recorded: &str, now: &str| Difference {
            record: nth + 1,
            what: what.to_owned(),
            recorded: recorded.to_owned(),
            now: now.to_owned(),
        };
        match record {
            Record::Input { input } => {
                if open.is_empty() {
                    differences.extend(due.take().and_then(|nth| compare(nth, &pending, &staged)));
                }
                let input = match input {
                    Input::ToolDone { call, ok, text, todos, elapsed } => match open.remove(call) {
                        // A call that was stopped, or was never run, has no result to compare.
                        None => input.clone(),
                        Some(_) if interrupted && !ok => input.clone(),
                        Some(run) => {
                            let outcome = tools.run(&run.name, &run.arguments);
                            replayed.calls += 1;
                            if (outcome.ok, &outcome.text, &outcome.todos) != (*ok, text, todos) {
                                differences.push(differs(&run.name, text, &outcome.text));
                            }
                            let (call, elapsed) = (*call, *elapsed);
                            Input::ToolDone {
                                call,
                                ok: outcome.ok,
                                text: outcome.text,
                                todos: outcome.todos,
                                elapsed,
                            }
                        }
                    },
                    other => other.clone(),
                };
                after_call = matches!(input, Input::ToolDone { .. });
                interrupted |= matches!(input, Input::Interrupt);
                interrupted &= !matches!(input, Input::Say(_));
                replayed.answers +=
                    usize::from(matches!(&input, Input::Model(super::client::ModelEvent::Done(_))));
                for effect in machine.step(input) {
                    if let Effect::RunTools(calls) = effect {
                        open.extend(calls.into_iter().map(|call| (call.call, call)));
                    }
                }
            }
            Record::Staged { .. } => {
                pending.follow(record);
                if after_call {
                    due = Some(nth);
                } else {
                    // A person's decisions are played, not made again.
                    staged.restore(&pending.set());
                }
            }
            Record::Landed { paths } => {
                for change in pending.of(paths) {
                    land(&base, change);
                    staged.landed(change);
                }
                after_call = false;
            }
            Record::Opened(_) | Record::Unknown => {}
        }
    }
    differences.extend(due.take().and_then(|nth| compare(nth, &pending, &staged)));
    Replayed { differences, ..replayed }
}

/// What is pending otherwise than it was; from here on it is as it was.
fn compare(nth: usize, pending: &Pending, staged: &Staged) -> Option<Difference> {
    let (wanted, now) = (pending.set(), staged.changes());
    if now.files == wanted.files {
        return None;
    }
    staged.restore(&wanted);
    Some(Difference {
        record: nth + 1,
        what: "pending changes".to_owned(),
        recorded: names(&wanted),
        now: names(&now),
    })
}

fn names(set: &ChangeSet) -> String {
    set.files.iter().map(|file| file.path.relative()).collect::<Vec<_>>().join(", ")
}

/// The bundle as it was when the session began, as far as the session itself changed it.
fn before(records: &[Record], bundle: Arc<dyn Read>) -> Staged {
    let base = Staged::new(bundle, Rules { rules: Vec::new(), protect_dot_names: false });
    let mut pending = Pending::default();
    let mut landed = Vec::new();
    for record in records {
        pending.follow(record);
        if let Record::Landed { paths } = record {
            landed.extend(pending.of(paths).cloned());
        }
    }
    for change in landed.into_iter().rev() {
        // As it stands in the bundle now, if nothing else happened to it.
        let there = base.read_bytes(&change.path).ok();
        if there.as_deref() != change.after.as_deref() {
            continue;
        }
        let old = match &change.kind {
            ChangeKind::Rename { from } => from,
            _ => &change.path,
        };
        if change.after.is_some() && (change.before.is_none() || *old != change.path) {
            let _ = base.delete(&change.path);
        }
        if let Some(bytes) = &change.before {
            let _ = base.write(old, bytes);
        }
    }
    base
}

fn land(base: &Staged, change: &FileChange) {
    if let ChangeKind::Rename { from } = &change.kind {
        let _ = base.delete(from);
    }
    // What cannot be is told by the calls that look at it.
    let _: Result<(), _> = match &change.after {
        Some(bytes) => base.write(&change.path, bytes),
        None => base.delete(&change.path),
    };
}
