//! Running a kept session again: the model's answers as they were recorded, everything else for real. Nothing is written to the
//! bundle.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::assistant::Listener;
use super::client::ModelEvent;
use super::engine::Host as _;
use super::event::{CallId, Ran, Role};
use super::fsm::{Effect, Input, Loop, RunCall};
use super::record::{Pending, Record};
use super::tools::{Outcome, Tool, Toolbox};
use crate::bundle::{ChangeKind, ChangeSet, FileChange, Read, Rules, Staged, Write as _};
use crate::lint;

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    /// Calls that were run again, and model answers that were played.
    pub calls: usize,
    pub answers: usize,
    /// Calls of tools that the caller of the library had added: what they came to was taken from the record.
    pub taken: usize,
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
    let mut player = Player::new(records, tools);
    let mut pending = Pending::default();
    // A set is written down when a call has come back, and by then the next call may have changed it: what is pending is
    // compared when all calls are back.
    let mut due = None;
    let mut after_call = false;
    for (nth, record) in records.iter().enumerate() {
        match record {
            Record::Input { input } => {
                if player.main.open.is_empty() {
                    player.differences.extend(due.take().and_then(|nth| compare(nth, &pending, &staged)));
                }
                after_call = matches!(input, Input::ToolDone { .. });
                player.play(nth, input);
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
            Record::Landed { .. } => {
                for change in pending.landed(record) {
                    land(&base, &change);
                    staged.landed(&change);
                }
                after_call = false;
            }
            // Played when the calls that they work for or with are.
            Record::Assistant { .. } | Record::Opened(_) | Record::Unknown => {}
        }
    }
    let mut differences = player.differences;
    differences.extend(due.take().and_then(|nth| compare(nth, &pending, &staged)));
    Replayed { calls: player.calls, answers: player.answers, taken: player.taken, differences }
}

/// One conversation: the session's own, or an assistant's.
struct Talk {
    machine: Loop,
    tools: Toolbox,
    open: HashMap<CallId, RunCall>,
    /// Of open calls that were run ahead, in the order in which they ran then.
    outcomes: HashMap<CallId, Outcome>,
    stopped: bool,
}

impl Talk {
    fn new(tools: Toolbox) -> Self {
        // What the model was told does not matter: its answers are here.
        let mut machine = Loop::new(String::new(), tools.schemas());
        machine.be_silent(true);
        Self { machine, tools, open: HashMap::new(), outcomes: HashMap::new(), stopped: false }
    }

    fn run(&mut self, call: CallId, ran: Ran) {
        if let Some(run) = self.open.get(&call) {
            self.outcomes.insert(
                call,
                self.tools.run_at(&run.name, &run.arguments, Some(ran.at), &CancellationToken::new()),
            );
        }
    }

    /// The outcome of a call that comes back; none when it was stopped or never run.
    fn outcome(&mut self, call: CallId, ok: bool, run: &RunCall) -> Option<Outcome> {
        let ahead = self.outcomes.remove(&call);
        ahead.or_else(|| (ok || !self.stopped).then(|| self.tools.run(&run.name, &run.arguments)))
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.stopped |= matches!(input, Input::Interrupt | Input::Stop(_));
        self.stopped &= !matches!(input, Input::Say(_));
        let effects = self.machine.step(input);
        for effect in &effects {
            if let Effect::RunTools(calls) = effect {
                self.open.extend(calls.iter().map(|call| (call.call, call.clone())));
            }
        }
        effects
    }
}

/// An assistant, and what is left to be played of it: number of the record, and input.
struct Child<'a> {
    talk: Talk,
    listener: Listener,
    inputs: VecDeque<(usize, &'a Input)>,
}

struct Player<'a> {
    main: Talk,
    /// By the call of `task` that they work for.
    children: HashMap<CallId, Child<'a>>,
    /// What is left to be run, in the order in which it ran: whose call (none: the session's own), and which.
    plan: BTreeMap<u64, (Option<CallId>, CallId, Ran)>,
    calls: usize,
    answers: usize,
    taken: usize,
    differences: Vec<Difference>,
}

impl<'a> Player<'a> {
    fn new(records: &'a [Record], tools: Toolbox) -> Self {
        let mut plan = BTreeMap::new();
        let mut children: HashMap<CallId, Child<'a>> = HashMap::new();
        for (nth, record) in records.iter().enumerate() {
            let (by, input) = match record {
                Record::Input { input } => (None, input),
                Record::Assistant { call, input } => (Some(*call), input),
                _ => continue,
            };
            if let Input::ToolDone { call, ran: Some(ran), .. } = input {
                plan.insert(ran.order, (by, *call, *ran));
            }
            if let Some(by) = by {
                let fresh = || Child {
                    talk: Talk::new(tools.assistant()),
                    listener: Listener::default(),
                    inputs: VecDeque::new(),
                };
                children.entry(by).or_insert_with(fresh).inputs.push_back((nth, input));
            }
        }
        Self {
            main: Talk::new(tools),
            children,
            plan,
            calls: 0,
            answers: 0,
            taken: 0,
            differences: Vec::new(),
        }
    }

    /// Tells the session's own loop what it was told, with what its calls come to now.
    fn play(&mut self, nth: usize, input: &Input) {
        let Input::ToolDone { call, ok, ran, .. } = input else {
            self.answers += usize::from(matches!(input, Input::Model(ModelEvent::Done(_))));
            self.main.step(input.clone());
            return;
        };
        self.run_to(*ran);
        let outcome = self.main.open.remove(call).and_then(|run| match self.children.remove(call) {
            // One that did not come to its end has no report.
            Some(child) => self.finish(*call, child).map(|outcome| (run, outcome)),
            None if run.name == Tool::Task.name() && self.main.tools.find(&run.name).is_some() => {
                Toolbox::task(&run.arguments).err().map(|problem| (run, Outcome::error(problem)))
            }
            None => self.main.outcome(*call, *ok, &run).map(|outcome| (run, outcome)),
        });
        let input = self.compared(nth, input, outcome);
        self.main.step(input);
    }

    /// The result as it is now, when there is one; a difference is noted.
    fn compared(&mut self, nth: usize, input: &Input, outcome: Option<(RunCall, Outcome)>) -> Input {
        let (Input::ToolDone { call, ok, text, todos, elapsed, ran }, Some((run, now))) = (input, outcome)
        else {
            return input.clone();
        };
        let same = (now.ok, &now.text, &now.todos) == (*ok, text, todos);
        if !same && self.main.tools.find(&run.name).is_none() {
            // A tool of the caller's own, which is not here.
            self.taken += 1;
            return input.clone();
        }
        self.calls += 1;
        if !same {
            self.differences.push(Difference {
                record: nth + 1,
                what: run.name,
                recorded: text.clone(),
                now: now.text.clone(),
            });
        }
        let Outcome { ok, text, todos, .. } = now;
        Input::ToolDone { call: *call, ok, text, todos, elapsed: *elapsed, ran: *ran }
    }

    /// Runs what ran up to there.
    fn run_to(&mut self, ran: Option<Ran>) {
        let Some(last) = ran else { return };
        while let Some(entry) = self.plan.first_entry().filter(|entry| *entry.key() <= last.order) {
            let (by, call, ran) = entry.remove();
            match by {
                None => self.main.run(call, ran),
                Some(by) => {
                    if let Some(mut child) = self.children.remove(&by) {
                        self.advance(&mut child, Some(call));
                        child.talk.run(call, ran);
                        self.children.insert(by, child);
                    }
                }
            }
        }
    }

    /// Plays an assistant until a call is open, or to its end.
    fn advance(&mut self, child: &mut Child<'a>, until: Option<CallId>) {
        while until.is_none_or(|call| !child.talk.open.contains_key(&call))
            && let Some((nth, input)) = child.inputs.pop_front()
        {
            self.answers += usize::from(matches!(input, Input::Model(ModelEvent::Done(_))));
            let outcome = match input {
                Input::ToolDone { call, ok, .. } => child
                    .talk
                    .open
                    .remove(call)
                    .and_then(|run| child.talk.outcome(*call, *ok, &run).map(|outcome| (run, outcome))),
                _ => None,
            };
            let input = self.compared(nth, input, outcome);
            child.listener.input(&input);
            for effect in child.talk.step(input) {
                match effect {
                    Effect::Emit(event) => child.listener.emit(event),
                    Effect::EndTurn(event) => child.listener.end(event),
                    Effect::Ask(_) | Effect::CancelAsk | Effect::RunTools(_) | Effect::CancelTools => {}
                }
            }
        }
    }

    fn finish(&mut self, call: CallId, child: Child<'a>) -> Option<Outcome> {
        let last = self.plan.values().filter(|(by, ..)| *by == Some(call)).map(|(.., ran)| *ran).next_back();
        self.children.insert(call, child);
        self.run_to(last);
        let mut child = self.children.remove(&call)?;
        self.advance(&mut child, None);
        child.listener.is_over().then(|| child.listener.report(&child.talk.tools).into())
    }
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
        landed.extend(pending.landed(record));
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
