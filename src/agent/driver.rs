//! Runs a session: performs what the state machine asks for and speaks to one listener.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::client::{ModelClient, ModelError, ModelErrorKind, ModelEvent};
use super::event::{AgentCommand, AgentEvent, Role};
use super::fsm::{Effect, Input, Loop, RunCall};
use super::record::{self, Keeping, Log};
use super::tools::{Outcome, Toolbox};
use super::{prompt, review};
use crate::bundle::merge::Rebased;
use crate::bundle::{ErrorKind, Operation, Read, Rule, Rules, Staged};

/// Settings of a manager session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// `raw/` cannot be written.
    pub protect_raw: bool,
    /// Rules of the person, before the role's own.
    pub rules: Vec<Rule>,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self { protect_raw: true, rules: Vec::new() }
    }
}

/// Settings of a reader session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderOptions {
    /// What the reader says when the wiki is silent; none for [`prompt::NOT_FOUND`].
    pub not_found_message: Option<String>,
    /// Rules of the person; what they say of writing does not concern a reader.
    pub rules: Vec<Rule>,
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
    let staged = Arc::new(Staged::new(bundle, Rules::manager(options.protect_raw).after(&options.rules)));
    start(Toolbox::manager(staged), client, prompt::manager(), keeping)
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
    let reads = options.rules.iter().filter(|rule| rule.operations.contains(&Operation::Read));
    let reads: Vec<Rule> =
        reads.map(|rule| Rule { operations: vec![Operation::Read], ..rule.clone() }).collect();
    // An overlay that nothing is ever staged in: it checks the rules of each read.
    let bundle = Arc::new(Staged::new(bundle, Rules::reader().after(&reads)));
    start(Toolbox::reader(bundle), client, prompt::reader(not_found), keeping)
}

fn start(tools: Toolbox, client: Arc<dyn ModelClient>, system: String, keeping: Keeping) -> Session {
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
    let mut driver = Driver { tools: Arc::new(tools), client, events: event_sink, log, told: 0, shown: 0 };
    if let Some(staged) = &staged
        && !restored.staged.is_empty()
    {
        staged.restore(&restored.staged);
        let changes = staged.changes();
        (driver.told, driver.shown) = (changes.id, changes.id);
        let _ = driver.events.send(AgentEvent::AwaitingReview(changes));
    }
    tokio::spawn(driver.run(machine, command_queue));
    Session { role, commands, events, staged }
}

struct Driver {
    tools: Arc<Toolbox>,
    client: Arc<dyn ModelClient>,
    events: UnboundedSender<AgentEvent>,
    log: Log,
    /// Id of the change set that was last told, and of the one last handed out for review.
    told: u64,
    shown: u64,
}

type Stream = BoxStream<'static, Result<ModelEvent, ModelError>>;

impl Driver {
    async fn run(mut self, mut machine: Loop, mut commands: UnboundedReceiver<AgentCommand>) {
        let (tool_sink, mut tool_results) = unbounded_channel();
        let mut stream: Option<Stream> = None;
        let mut cancel = CancellationToken::new();
        loop {
            // Commands first: an interrupt must not wait behind a flood of text.
            let input = tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => match self.command(command) {
                        Some(input) => input,
                        None => continue,
                    },
                    None => break,
                },
                Some(done) = tool_results.recv() => done,
                event = next(&mut stream) => match event {
                    Some(Ok(event)) => Input::Model(event),
                    Some(Err(error)) => Input::ModelFailed(error),
                    None => {
                        stream = None;
                        Input::ModelFailed(ModelError {
                            kind: ModelErrorKind::Cut,
                            message: "The model's answer broke off. Ask again.".to_owned(),
                        })
                    }
                },
            };
            if matches!(&input, Input::Model(ModelEvent::Done(_)) | Input::ModelFailed(_)) {
                stream = None;
            }
            self.log.input(&input);
            let mut effects: std::collections::VecDeque<Effect> = machine.step(input).into();
            while let Some(effect) = effects.pop_front() {
                match effect {
                    Effect::Emit(event) => self.emit(event),
                    Effect::Ask(request) => stream = Some(self.client.stream(request)),
                    Effect::CancelAsk => stream = None,
                    Effect::CancelTools => cancel.cancel(),
                    Effect::RunTools(calls) => {
                        cancel = CancellationToken::new();
                        tokio::spawn(run_tools(self.tools.clone(), calls, cancel.clone(), tool_sink.clone()));
                    }
                    Effect::EndTurn(event) => self.end_turn(event),
                }
            }
            if let Some(error) = self.log.trouble() {
                let text =
                    format!("This conversation is not kept any more: {error}. It goes on all the same.");
                let _ = self.events.send(AgentEvent::Notice(text));
            }
        }
        cancel.cancel();
    }

    fn emit(&mut self, event: AgentEvent) {
        let finished = matches!(&event, AgentEvent::ToolFinished { ok: true, .. });
        // An error: nobody listens any more, and the session is about to end.
        let _ = self.events.send(event);
        if finished && let Some(staged) = self.tools.staged() {
            let changes = staged.changes();
            if changes.id != self.told {
                self.told = changes.id;
                self.log.staged(&changes);
                let _ = self.events.send(AgentEvent::Staged(changes));
            }
        }
    }

    fn command(&mut self, command: AgentCommand) -> Option<Input> {
        match command {
            AgentCommand::Say(text) => Some(Input::Say(text)),
            AgentCommand::Tell(note) => Some(Input::Reviewed { note, answer: false }),
            AgentCommand::Interrupt => Some(Input::Interrupt),
            AgentCommand::Reviewed { resolved, applied } => {
                let mut merged = Vec::new();
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
                    let _ = self.events.send(if merged.is_empty() {
                        AgentEvent::Staged(changes)
                    } else {
                        // What was merged has been seen by nobody yet.
                        self.shown = changes.id;
                        AgentEvent::AwaitingReview(changes)
                    });
                }
                let (note, answer) = review::note(&resolved, &applied, &merged)?;
                Some(Input::Reviewed { note, answer })
            }
        }
    }

    fn end_turn(&mut self, event: AgentEvent) {
        if let Some(staged) = self.tools.staged() {
            let changes = staged.changes();
            if !changes.is_empty() && changes.id != self.shown {
                self.shown = changes.id;
                let _ = self.events.send(AgentEvent::AwaitingReview(changes));
            }
        }
        let _ = self.events.send(event);
    }
}

/// The next event of the running answer; waits for ever when none runs.
async fn next(stream: &mut Option<Stream>) -> Option<Result<ModelEvent, ModelError>> {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

/// Runs calls in their order: neighbouring ones that only look run side by side, one that writes runs alone.
async fn run_tools(
    tools: Arc<Toolbox>,
    calls: Vec<RunCall>,
    cancel: CancellationToken,
    results: UnboundedSender<Input>,
) {
    let writes = |call: &RunCall| tools.find(&call.name).is_some_and(super::tools::Tool::writes);
    for group in calls.chunk_by(|a, b| !writes(a) && !writes(b)) {
        let running = group.iter().map(|call| {
            let (tools, cancel, results) = (tools.clone(), cancel.clone(), results.clone());
            let alone = writes(call);
            let call = call.clone();
            async move {
                let started = Instant::now();
                let id = call.call;
                let outcome = if cancel.is_cancelled() {
                    Outcome::error("Not run: the person stopped you before this call started.")
                } else if alone {
                    // A write that has started is waited for: what is said of it must be true. It takes milliseconds.
                    run(tools, call).await
                } else {
                    tokio::select! {
                        outcome = run(tools, call) => outcome,
                        () = cancel.cancelled() => Outcome::error("Stopped: the person stopped you before the result was there."),
                    }
                };
                let _ = results.send(done(id, outcome, started.elapsed()));
            }
        });
        futures::future::join_all(running).await;
    }
}

fn done(call: super::event::CallId, outcome: Outcome, elapsed: Duration) -> Input {
    Input::ToolDone { call, ok: outcome.ok, text: outcome.text, todos: outcome.todos, elapsed }
}

/// Runs one call off the async threads. A panic in a tool is that call's error, not the session's end.
async fn run(tools: Arc<Toolbox>, call: RunCall) -> Outcome {
    let name = call.name.clone();
    let task = tokio::task::spawn_blocking(move || {
        std::panic::catch_unwind(AssertUnwindSafe(|| tools.run(&call.name, &call.arguments))).ok()
    });
    match task.await {
        Ok(Some(outcome)) => outcome,
        _ => Outcome::error(format!("{name} failed inside the workbench. Try another way.")),
    }
}

#[cfg(test)]
mod tests;
