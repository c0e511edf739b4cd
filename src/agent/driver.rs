//! Runs a session: performs what the state machine asks for and speaks to one listener.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::approval::{Approval, When};
use super::assistant::Staff;
use super::budget::{Limits, Meter};
use super::client::ModelClient;
use super::context::Facts;
use super::engine::{Engine, Host};
use super::event::{AgentCommand, AgentEvent, Role};
use super::fsm::{Input, Loop};
use super::record::{self, Keeping, Log};
use super::tools::Toolbox;
use super::{prompt, review};
use crate::bundle::merge::Rebased;
use crate::bundle::{ErrorKind, Operation, Read, Rule, Rules, Staged};

/// Characters of the newest messages that stay as they are when the person has a conversation shortened.
const COMPACTED: usize = 8000;

/// Settings of a manager session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// `raw/` cannot be written.
    pub protect_raw: bool,
    /// Rules of the person, before the role's own.
    pub rules: Vec<Rule>,
    pub approval: Approval,
    pub limits: Limits,
    /// The model's window in tokens, when it is known.
    pub window: Option<u64>,
}

impl ManagerOptions {
    /// The person's rules, then the role's own.
    pub fn rules(&self) -> Rules {
        Rules::manager(self.protect_raw).after(&self.rules)
    }
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self {
            protect_raw: true,
            rules: Vec::new(),
            approval: Approval::default(),
            limits: Limits::default(),
            window: None,
        }
    }
}

/// Settings of a reader session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderOptions {
    /// What the reader says when the wiki is silent; none for [`prompt::NOT_FOUND`].
    pub not_found_message: Option<String>,
    /// Rules of the person; what they say of writing does not concern a reader.
    pub rules: Vec<Rule>,
    pub limits: Limits,
    /// The model's window in tokens, when it is known.
    pub window: Option<u64>,
}

impl ReaderOptions {
    /// What the person's rules say of reading, then the role's own.
    pub fn rules(&self) -> Rules {
        let reads = self.rules.iter().filter(|rule| rule.operations.contains(&Operation::Read));
        let reads: Vec<Rule> =
            reads.map(|rule| Rule { operations: vec![Operation::Read], ..rule.clone() }).collect();
        Rules::reader().after(&reads)
    }
}

/// A running session. Dropping `commands` ends it.
pub struct Session {
    pub role: Role,
    pub commands: UnboundedSender<AgentCommand>,
    pub events: UnboundedReceiver<AgentEvent>,
    /// The manager's pending changes; none for the reader.
    pub staged: Option<Arc<Staged>>,
}

/// Starts a manager on the current tokio runtime. Its writes stay in [`Session::staged`].
pub fn start_manager(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ManagerOptions,
) -> Session {
    keep_manager(bundle, client, options, Keeping::default())
}

/// [`start_manager`] for a session that is kept, from where it was left.
pub fn keep_manager(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ManagerOptions,
    keeping: Keeping,
) -> Session {
    let staged = Arc::new(Staged::new(bundle, options.rules()));
    let ManagerOptions { approval, limits, window, .. } = options;
    start(Toolbox::manager(staged), client, prompt::manager(), keeping, Manner { approval, limits, window })
}

/// Starts a reader on the current tokio runtime. It holds nothing that writes.
pub fn start_reader(bundle: Arc<dyn Read>, client: Arc<dyn ModelClient>, options: ReaderOptions) -> Session {
    keep_reader(bundle, client, options, Keeping::default())
}

/// [`start_reader`] for a session that is kept, from where it was left.
pub fn keep_reader(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ReaderOptions,
    keeping: Keeping,
) -> Session {
    let not_found = options.not_found_message.as_deref().unwrap_or(prompt::NOT_FOUND);
    // An overlay that nothing is ever staged in: it checks the rules of each read.
    let bundle = Arc::new(Staged::new(bundle, options.rules()));
    let ReaderOptions { limits, window, .. } = options;
    let manner = Manner { approval: Approval::default(), limits, window };
    start(Toolbox::reader(bundle), client, prompt::reader(not_found), keeping, manner)
}

/// How a session works, whatever its role.
struct Manner {
    approval: Approval,
    limits: Limits,
    window: Option<u64>,
}

fn start(
    tools: Toolbox,
    client: Arc<dyn ModelClient>,
    system: String,
    keeping: Keeping,
    manner: Manner,
) -> Session {
    let (commands, command_queue) = unbounded_channel();
    let (event_sink, events) = unbounded_channel();
    let (role, staged) = (tools.role(), tools.staged().cloned());
    let mut machine = Loop::new(system, tools.schemas());
    let restored = record::restore(&mut machine, &keeping.past);
    let mut log = Log::new(keeping.recorder, &restored.staged);
    for input in &restored.repairs {
        log.input(input);
    }
    for event in restored.events {
        let _ = event_sink.send(event);
    }
    let (tools, meter) = (Arc::new(tools), Arc::new(Meter::new(manner.limits)));
    let staff = Staff {
        client: client.clone(),
        meter: meter.clone(),
        window: manner.window,
        system: prompt::assistant(),
        events: event_sink.clone(),
    };
    let engine = Engine::new(machine, tools.clone(), client, meter, manner.window, Some(Arc::new(staff)));
    let approval = manner.approval;
    let mut driver = Driver { tools, events: event_sink, log, approval, told: 0, shown: 0, approving: false };
    if let Some(staged) = &staged
        && !restored.staged.is_empty()
    {
        staged.restore(&restored.staged);
        let changes = staged.changes();
        (driver.told, driver.shown) = (changes.id, changes.id);
        let _ = driver.events.send(AgentEvent::AwaitingReview(changes));
    }
    tokio::spawn(driver.run(engine, command_queue));
    Session { role, commands, events, staged }
}

struct Driver {
    tools: Arc<Toolbox>,
    events: UnboundedSender<AgentEvent>,
    log: Log,
    approval: Approval,
    /// Id of the change set that was last told, and of the one last handed out for review.
    told: u64,
    shown: u64,
    /// What the configuration approves is being applied.
    approving: bool,
}

impl Driver {
    async fn run(mut self, mut engine: Engine, mut commands: UnboundedReceiver<AgentCommand>) {
        loop {
            // Commands first: an interrupt must not wait behind a flood of text.
            let input = tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(AgentCommand::Compact) if engine.machine.is_idle() => {
                        let facts = engine.facts();
                        Input::Compact(Facts { keep: facts.keep.min(COMPACTED), ..facts })
                    }
                    Some(AgentCommand::Compact) => continue,
                    Some(command) => match self.command(command) {
                        Some(input) => input,
                        None => continue,
                    },
                    None => break,
                },
                input = engine.next() => input,
            };
            if matches!(input, Input::ToolDone { .. }) && self.approval.when == When::Write && self.unseen() {
                engine.feed(Input::Hold, &mut self);
            }
            engine.feed(input, &mut self);
            if engine.machine.is_waiting() {
                self.ask_review();
            }
            if let Some(error) = self.log.trouble() {
                let text =
                    format!("This conversation is not kept any more: {error}. It goes on all the same.");
                self.send(AgentEvent::Notice(text));
            }
        }
    }

    fn send(&self, event: AgentEvent) {
        // An error: nobody listens any more, and the session is about to end.
        let _ = self.events.send(event);
    }

    /// Whether something is staged that was not handed out for review.
    fn unseen(&self) -> bool {
        let changes = self.tools.staged().map(|staged| staged.changes());
        changes.is_some_and(|changes| !changes.is_empty() && changes.id != self.shown)
    }

    /// Hands out what is staged, first what the configuration approves.
    fn ask_review(&mut self) {
        let Some(staged) = self.tools.staged() else { return };
        let changes = staged.changes();
        if changes.is_empty() || changes.id == self.shown {
            return;
        }
        self.shown = changes.id;
        let decisions = self.approval.decide(staged, &changes);
        self.approving = !decisions.is_empty();
        self.send(if self.approving {
            AgentEvent::Approved { changes, decisions }
        } else {
            AgentEvent::AwaitingReview(changes)
        });
    }

    fn command(&mut self, command: AgentCommand) -> Option<Input> {
        match command {
            AgentCommand::Say(text) => Some(Input::Say(text)),
            AgentCommand::Tell(note) => Some(Input::Warn(note)),
            AgentCommand::Unqueue(id) => Some(Input::Unqueue(id)),
            AgentCommand::Interrupt => Some(Input::Interrupt),
            AgentCommand::Compact => None,
            AgentCommand::Reviewed { resolved, applied } => {
                let mut merged = Vec::new();
                let approving = std::mem::take(&mut self.approving);
                let mut rest = false;
                if let Some(staged) = self.tools.staged() {
                    self.log.landed(&applied.landed);
                    staged.settle_resolved(&resolved, &applied);
                    if applied.failed.iter().any(|(_, error)| error.kind == ErrorKind::Conflict) {
                        let mergeable =
                            |(path, rebased)| matches!(rebased, Rebased::Merged(_)).then_some(path);
                        merged.extend(staged.rebase().into_iter().filter_map(mergeable));
                    }
                    let changes = staged.changes();
                    self.told = changes.id;
                    self.log.staged(&changes);
                    // What was merged, or is not approved by itself, has been seen by nobody yet.
                    rest = approving && !changes.is_empty();
                    if merged.is_empty() && !rest {
                        self.send(AgentEvent::Staged(changes));
                    } else {
                        self.shown = changes.id;
                        self.send(AgentEvent::AwaitingReview(changes));
                    }
                }
                match review::note(&resolved, &applied, &merged) {
                    // The review that is waited for is still to come.
                    Some((note, false)) if rest => Some(Input::Warn(note)),
                    Some((note, answer)) => Some(Input::Reviewed { note, answer }),
                    None if self.approval.when == When::Write => {
                        let note =
                            "[The person looked at what you staged and decided nothing yet.]".to_owned();
                        Some(Input::Reviewed { note, answer: false })
                    }
                    None => None,
                }
            }
        }
    }
}

impl Host for Driver {
    fn input(&mut self, input: &Input) {
        self.log.input(input);
    }

    fn emit(&mut self, event: AgentEvent) {
        // A failed call too may have staged something: an assistant's, for one.
        let finished = matches!(&event, AgentEvent::ToolFinished { .. });
        self.send(event);
        if finished && let Some(staged) = self.tools.staged() {
            let changes = staged.changes();
            if changes.id != self.told {
                self.told = changes.id;
                self.log.staged(&changes);
                self.send(AgentEvent::Staged(changes));
            }
        }
    }

    fn end(&mut self, event: AgentEvent) {
        if let Some(read) = self.tools.ledger().sources() {
            self.send(read);
        }
        self.ask_review();
        self.send(event);
    }
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;
