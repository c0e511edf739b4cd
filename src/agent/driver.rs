//! Runs a session: performs what the state machine asks for and speaks to one listener.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::approval::{Approval, When};
use super::assistant::Staff;
use super::budget::{Limits, Meter};
use super::client::ModelClient;
use super::context::Facts;
use super::engine::{Engine, Host};
use super::event::{AgentCommand, AgentEvent, CallId, Carried, Moved, Role};
use super::fsm::{Input, Loop};
use super::prompt::Optional;
use super::record::{self, Keeping, Log};
use super::tools::{Documents, ExtraTool, Toolbox};
use super::{answer, prompt, review};
use crate::bundle::merge::Rebased;
use crate::bundle::{ErrorKind, Operation, Read, Rule, Rules, Staged};
use crate::lint;
use crate::okf::{BundlePath, ContentHash};

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
    /// The model can lint what it proposes.
    pub lint_tool: bool,
    /// What the linter is told, as the person's own runs of it are.
    pub lint: lint::Options,
    /// What reads sources that are no plain text; none: the model has no tool for them.
    pub documents: Option<Documents>,
    /// Instructions in place of the role's own.
    pub system_prompt: Option<String>,
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
            lint_tool: true,
            lint: lint::Options::default(),
            documents: None,
            system_prompt: None,
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
    /// Each answer comes as data too: [`AgentEvent::Answered`].
    pub structured_output: bool,
    /// Instructions in place of the role's own; `{not_found}` in them stands for the sentence.
    pub system_prompt: Option<String>,
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

impl Session {
    /// Ends it when what was commanded so far is done and recorded. A turn that runs is stopped.
    pub async fn close(self) {
        let Self { commands, mut events, .. } = self;
        drop(commands);
        while events.recv().await.is_some() {}
    }
}

/// A manager from where it was left; see [`Manager`](super::Manager).
pub(super) fn manage(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ManagerOptions,
    extra: Vec<ExtraTool>,
    keeping: Keeping,
) -> Session {
    let staged = Arc::new(Staged::new(bundle, options.rules()));
    let own = options.system_prompt.as_deref();
    let optional = Optional { lint: options.lint_tool, documents: options.documents.is_some() };
    let system = prompt::manager(own, optional);
    let assistant = prompt::assistant(own, optional);
    let ManagerOptions { approval, limits, lint, lint_tool, documents, .. } = options;
    let mut tools = Toolbox::manager(staged).judging(lint).with_documents(documents).with_extra(extra);
    if !lint_tool {
        tools = tools.without_lint();
    }
    start(tools, client, system, keeping, Manner { approval, limits, form: None, assistant })
}

/// A reader from where it was left; see [`Reader`](super::Reader). It holds nothing that writes.
pub(super) fn answer(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ReaderOptions,
    extra: Vec<ExtraTool>,
    keeping: Keeping,
) -> Session {
    let not_found = options.not_found_message.as_deref().unwrap_or(prompt::NOT_FOUND);
    // An overlay that nothing is ever staged in: it checks the rules of each read.
    let bundle = Arc::new(Staged::new(bundle, options.rules()));
    let form = options.structured_output.then(|| not_found.to_owned());
    let system = prompt::reader_with(options.system_prompt.as_deref(), not_found, options.structured_output);
    let manner =
        Manner { approval: Approval::default(), limits: options.limits, form, assistant: String::new() };
    start(Toolbox::reader(bundle).with_extra(extra), client, system, keeping, manner)
}

/// How a session works, whatever its role.
struct Manner {
    approval: Approval,
    limits: Limits,
    /// Answers are wanted as data, with this sentence for what is not there.
    form: Option<String>,
    /// What an assistant is told.
    assistant: String,
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
    if let Some(not_found) = manner.form {
        let input = Input::Form(not_found);
        log.input(&input);
        machine.step(input);
    }
    for event in restored.events {
        let _ = event_sink.send(event);
    }
    let meter = Arc::new(Meter::new(manner.limits));
    if meter.is_blind(client.price()) {
        let text = format!("Money is not limited: no price is set for {} under [prices].", client.name());
        let _ = event_sink.send(AgentEvent::Notice(text));
    }
    tools.count_from(record::next_order(&keeping.past));
    let (told, assistants) = unbounded_channel();
    let tools = Arc::new(tools);
    let staff = Staff {
        client: client.clone(),
        meter: meter.clone(),
        system: manner.assistant,
        log: told,
        events: event_sink.clone(),
    };
    let engine = Engine::new(machine, tools.clone(), client, meter, Some(Arc::new(staff)));
    let approval = manner.approval;
    let mut driver = Driver {
        tools,
        events: event_sink,
        log,
        approval,
        told: 0,
        shown: 0,
        contested: BTreeMap::new(),
        approving: false,
        text: String::new(),
        read_before: restored.read,
        held: Vec::new(),
    };
    if let Some(staged) = &staged
        && !restored.staged.is_empty()
    {
        staged.restore(&restored.staged);
        let changes = staged.changes();
        (driver.told, driver.shown) = (changes.id, changes.id);
        let _ = driver.events.send(AgentEvent::AwaitingReview(changes));
    }
    tokio::spawn(driver.run(engine, command_queue, assistants));
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
    /// Proposals that would replace what somebody else wrote, by what is shown of them: never approved by a setting.
    contested: BTreeMap<BundlePath, ContentHash>,
    /// What the configuration approves is being applied.
    approving: bool,
    /// What the model has said since its last call.
    text: String,
    /// Files that were read before the session was taken up again.
    read_before: HashSet<BundlePath>,
    /// Events that wait until the citations before them are held against the pages.
    held: Vec<AgentEvent>,
}

impl Driver {
    async fn run(
        mut self,
        mut engine: Engine,
        mut commands: UnboundedReceiver<AgentCommand>,
        mut assistants: UnboundedReceiver<(CallId, Input)>,
    ) {
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
                    Some(AgentCommand::Switched) => {
                        if engine.switched() {
                            let text = "Money is not limited any more: no price is set for this model under [prices].";
                            self.send(AgentEvent::Notice(text.to_owned()));
                        }
                        continue;
                    }
                    Some(command) => match self.command(command) {
                        Some(input) => input,
                        None => continue,
                    },
                    None => break,
                },
                Some((call, input)) = assistants.recv() => {
                    self.log.assistant(call, &input);
                    continue;
                }
                input = engine.next(&mut self) => input,
            };
            if matches!(input, Input::ToolDone { .. }) && self.approval.when == When::Write && self.unseen() {
                engine.feed(Input::Hold, &mut self);
            }
            engine.feed(input, &mut self);
            self.release().await;
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

    /// Holds the citations of what waits against the pages, off the async threads, and lets it go.
    async fn release(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        let mut read = self.read_before.clone();
        read.extend(self.tools.ledger().readings().into_iter().map(|reading| reading.path));
        let tools = self.tools.clone();
        let checked = tokio::task::spawn_blocking(move || {
            for event in &mut held {
                match event {
                    AgentEvent::Cited(cited) => answer::check(cited, tools.bundle(), &read),
                    AgentEvent::Answered(answer) => {
                        answer::check(&mut answer.citations, tools.bundle(), &read);
                    }
                    _ => {}
                }
            }
            held
        })
        .await;
        match checked {
            Ok(held) => held.into_iter().for_each(|event| self.send(event)),
            Err(_) => {
                self.send(AgentEvent::Failed("The citations could not be checked. Ask again.".to_owned()))
            }
        }
    }

    /// Sends, or lets it wait behind what waits.
    fn tell(&mut self, event: AgentEvent) {
        if self.held.is_empty() { self.send(event) } else { self.held.push(event) }
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
        let mut decisions = self.approval.decide(staged, &changes);
        decisions.retain(|path, _| {
            changes.file(path).is_none_or(|file| self.contested.get(path) != Some(&file.shown()))
        });
        self.approving = !decisions.is_empty();
        self.send(if self.approving {
            AgentEvent::Approved { changes, decisions }
        } else {
            AgentEvent::AwaitingReview(changes)
        });
    }

    /// Carries the proposals over to the files as they are.
    fn rebase(&mut self) {
        let Some(staged) = self.tools.staged() else { return };
        let before = staged.changes().id;
        let moved: Vec<Moved> = staged
            .rebase(true)
            .into_iter()
            .filter_map(|(path, rebased)| {
                let how = match rebased {
                    Rebased::Unchanged => return None,
                    Rebased::Merged(_) => Carried::Merged,
                    Rebased::Conflict(_) => Carried::Contested,
                    Rebased::Done => Carried::Done,
                };
                Some(Moved { path, how })
            })
            .collect();
        if moved.is_empty() {
            return;
        }
        let changes = staged.changes();
        for Moved { path, .. } in moved.iter().filter(|moved| moved.how == Carried::Contested) {
            let shown = changes.file(path).map(|file| (path.clone(), file.shown()));
            self.contested.extend(shown);
        }
        self.told = changes.id;
        if self.shown == before {
            self.shown = changes.id;
        }
        self.log.staged(&changes);
        self.send(AgentEvent::Rebased(moved));
        self.send(AgentEvent::Staged(changes));
    }

    fn command(&mut self, command: AgentCommand) -> Option<Input> {
        match command {
            AgentCommand::Say(text) => Some(Input::Say(text)),
            AgentCommand::Tell(note) => Some(Input::Warn(note)),
            AgentCommand::Unqueue(id) => Some(Input::Unqueue(id)),
            AgentCommand::Interrupt => Some(Input::Interrupt),
            AgentCommand::Compact | AgentCommand::Switched => None,
            AgentCommand::Rebase => {
                self.rebase();
                None
            }
            AgentCommand::Reviewed { resolved, applied } => {
                let mut merged = Vec::new();
                let approving = std::mem::take(&mut self.approving);
                let mut rest = false;
                if let Some(staged) = self.tools.staged() {
                    self.log.landed(&applied.landed, &resolved.changes);
                    staged.settle_resolved(&resolved, &applied);
                    if applied.failed.iter().any(|(_, error)| error.kind == ErrorKind::Conflict) {
                        let mergeable =
                            |(path, rebased)| matches!(rebased, Rebased::Merged(_)).then_some(path);
                        merged.extend(staged.rebase(false).into_iter().filter_map(mergeable));
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
                        if !merged.is_empty() {
                            let how = |path: &BundlePath| Moved { path: path.clone(), how: Carried::Merged };
                            self.send(AgentEvent::Rebased(merged.iter().map(how).collect()));
                        }
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
        match &event {
            AgentEvent::Text(piece) => self.text.push_str(piece),
            AgentEvent::TurnStarted { .. } | AgentEvent::ToolStarted { .. } => self.text.clear(),
            _ => {}
        }
        match event {
            AgentEvent::Answered(_) => {
                self.text.clear();
                self.held.push(event);
            }
            event => self.tell(event),
        }
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
        let ledger = self.tools.ledger();
        for told in [ledger.sources(), ledger.refusals()].into_iter().flatten() {
            self.tell(told);
        }
        let text = std::mem::take(&mut self.text);
        if self.tools.role() == Role::Reader && event == (AgentEvent::Finished { interrupted: false }) {
            let cited = answer::cited(&text);
            if !cited.is_empty() {
                self.held.push(AgentEvent::Cited(cited));
            }
        }
        self.ask_review();
        self.tell(event);
    }
}

/// What tests begin with.
#[cfg(test)]
pub(crate) mod begin {
    use super::*;

    pub fn start_manager(
        bundle: Arc<dyn Read>,
        client: Arc<dyn ModelClient>,
        options: ManagerOptions,
    ) -> Session {
        manage(bundle, client, options, Vec::new(), Keeping::default())
    }

    pub fn keep_manager(
        bundle: Arc<dyn Read>,
        client: Arc<dyn ModelClient>,
        options: ManagerOptions,
        keeping: Keeping,
    ) -> Session {
        manage(bundle, client, options, Vec::new(), keeping)
    }

    pub fn start_reader(
        bundle: Arc<dyn Read>,
        client: Arc<dyn ModelClient>,
        options: ReaderOptions,
    ) -> Session {
        super::answer(bundle, client, options, Vec::new(), Keeping::default())
    }
}
#[cfg(test)]
pub(crate) use begin::{keep_manager, start_manager, start_reader};

#[cfg(test)]
mod faults;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod tests;
