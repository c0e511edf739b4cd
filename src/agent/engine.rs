//! Turns the state machine: performs its effects, brings back what comes of them, and minds limits and length. The agents and
//! their assistants run on it; who listens is a [`Host`].

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::assistant::{self, Staff};
use super::budget::{Meter, Stop};
use super::client::{ModelClient, ModelError, ModelErrorKind, ModelEvent, Price, Request};
use super::context::{Facts, Gauge};
use super::event::{AgentEvent, CallId, Usage};
use super::fsm::{Effect, Input, Loop, RunCall};
use super::tools::{Outcome, Tool, Toolbox};

/// Assistants that work at the same time.
const MAX_ASSISTANTS: usize = 4;

/// Who hears what an engine does.
pub trait Host: Send {
    /// What the machine is told next.
    fn input(&mut self, input: &Input);
    fn emit(&mut self, event: AgentEvent);
    /// The turn has ended with this event.
    fn end(&mut self, event: AgentEvent);
}

pub type Stream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Whether the model's window was asked for. It is asked with the first request, not before: until then nobody may want the model.
enum Window {
    Unasked,
    Asking(BoxFuture<'static, Option<u64>>),
    Asked,
}

pub struct Engine {
    pub machine: Loop,
    tools: Arc<Toolbox>,
    client: Arc<dyn ModelClient>,
    meter: Arc<Meter>,
    /// Where tasks go; none for an assistant.
    staff: Option<Arc<Staff>>,
    gauge: Gauge,
    window: Window,
    /// Estimated tokens of the request that runs, and what its model costs.
    asked: u64,
    price: Option<Price>,
    stream: Option<Stream>,
    cancel: CancellationToken,
    sink: UnboundedSender<Input>,
    results: UnboundedReceiver<Input>,
    /// The conversation was shortened and not asked since.
    shortened: bool,
    /// The one retry after an overflow was made.
    overflowed: bool,
    /// Estimated tokens of the request that was refused as too long, and how, until it is asked again.
    refused: Option<(u64, ModelError)>,
    timed_out: bool,
}

impl Engine {
    pub fn new(
        machine: Loop,
        tools: Arc<Toolbox>,
        client: Arc<dyn ModelClient>,
        meter: Arc<Meter>,
        staff: Option<Arc<Staff>>,
    ) -> Self {
        let (sink, results) = unbounded_channel();
        Self {
            machine,
            tools,
            client,
            meter,
            staff,
            gauge: Gauge::new(None),
            window: Window::Unasked,
            asked: 0,
            price: None,
            stream: None,
            cancel: CancellationToken::new(),
            sink,
            results,
            shortened: false,
            overflowed: false,
            refused: None,
            timed_out: false,
        }
    }

    /// What comes next from the model, the tools or the clock. `host` hears what is learnt of the model meanwhile. Dropping the
    /// future loses nothing.
    pub async fn next(&mut self, host: &mut dyn Host) -> Input {
        loop {
            let deadline =
                if self.machine.is_idle() || self.timed_out { None } else { self.meter.deadline() };
            return tokio::select! {
                biased;
                () = until(deadline) => {
                    self.timed_out = true;
                    Input::Stop(self.meter.exhausted().unwrap_or(Stop::Time(0)))
                }
                tokens = learned(&mut self.window) => {
                    self.window = Window::Asked;
                    self.gauge.learn(tokens);
                    host.emit(AgentEvent::Window(tokens));
                    continue;
                }
                Some(done) = self.results.recv() => done,
                event = piece(&mut self.stream) => match event {
                    Some(Ok(event)) => Input::Model(event),
                    Some(Err(error)) => Input::ModelFailed(error),
                    None => Input::ModelFailed(ModelError {
                        kind: ModelErrorKind::Cut,
                        message: "The model's answer broke off. Ask again.".to_owned(),
                    }),
                },
            };
        }
    }

    /// Tells the machine and does what it wants.
    pub fn feed(&mut self, input: Input, host: &mut dyn Host) {
        let mut inputs = VecDeque::from(self.before(input));
        while let Some(input) = inputs.pop_front() {
            host.input(&input);
            for effect in self.machine.step(input) {
                match effect {
                    Effect::Emit(event) => {
                        if matches!(event, AgentEvent::TurnStarted { .. }) && self.staff.is_some() {
                            self.meter.turn();
                        }
                        if matches!(event, AgentEvent::TurnStarted { .. }) {
                            (self.overflowed, self.timed_out) = (false, false);
                        }
                        host.emit(event);
                    }
                    Effect::Ask(request) => inputs.extend(self.ask(request)),
                    Effect::CancelAsk => self.stream = None,
                    Effect::CancelTools => self.cancel.cancel(),
                    Effect::RunTools(calls) => {
                        self.cancel = CancellationToken::new();
                        let (tools, staff) = (self.tools.clone(), self.staff.clone());
                        let (cancel, sink) = (self.cancel.clone(), self.sink.clone());
                        tokio::spawn(run_tools(tools, staff, calls, cancel, sink));
                    }
                    Effect::EndTurn(event) => host.end(event),
                }
            }
        }
    }

    /// Takes note of what comes, and says what the machine is told instead or before.
    fn before(&mut self, input: Input) -> Vec<Input> {
        match &input {
            Input::Model(ModelEvent::Done(answer)) => {
                self.stream = None;
                self.overflowed = false;
                let output = (answer.text.len() / 4) as u64;
                let usage = answer.usage.unwrap_or(Usage { input: self.asked, output, ..Usage::default() });
                self.gauge.counted(answer.usage.map_or(0, |usage| usage.input));
                self.meter.answered(usage, self.price);
            }
            Input::ModelFailed(error) => {
                self.stream = None;
                if error.kind == ModelErrorKind::ContextLength && !self.overflowed {
                    self.overflowed = true;
                    self.gauge.overflowed();
                    self.shortened = true;
                    self.refused = Some((self.asked, error.clone()));
                    return vec![Input::Compact(self.facts())];
                }
            }
            Input::ToolDone { .. } => {
                if let Some(text) = self.meter.warning() {
                    return vec![Input::Warn(text), input];
                }
            }
            _ => {}
        }
        vec![input]
    }

    /// Asks the model, or gives what the machine must be told first.
    fn ask(&mut self, mut request: Request) -> Option<Input> {
        if let Some(stop) = self.meter.exhausted() {
            return Some(Input::Stop(stop));
        }
        if matches!(self.window, Window::Unasked) {
            self.ask_window();
        }
        if request.answer_schema.is_some() {
            if self.client.takes_schema() {
                // Servers that hold a model to a schema let it call nothing, or refuse both together.
                request.tools.clear();
            } else {
                request.answer_schema = None;
                request.tools.push(answer::tool());
                request.forced_tool = Some(answer::TOOL.to_owned());
            }
        }
        if self.gauge.is_full(&request) && !self.shortened {
            self.shortened = true;
            return Some(Input::Compact(self.facts()));
        }
        self.shortened = false;
        let estimate = self.gauge.estimate(&request);
        // Only what is smaller is worth another try.
        if let Some((refused, error)) = self.refused.take()
            && estimate >= refused
        {
            return Some(Input::ModelFailed(error));
        }
        self.gauge.ask(&request);
        (self.asked, self.price) = (estimate, self.client.price());
        self.stream = Some(self.client.stream(request));
        None
    }

    fn ask_window(&mut self) {
        let client = self.client.clone();
        self.window = Window::Asking(Box::pin(async move { client.context_window().await }));
    }

    /// Another model stands behind the client. Somebody wants it, so its window is asked for at once: the next question may be
    /// too long for it.
    /// True when money is limited and this model has no price.
    pub fn switched(&mut self) -> bool {
        self.gauge.forget();
        self.ask_window();
        self.meter.is_blind(self.client.price())
    }

    /// What a shortened conversation must still say.
    pub fn facts(&self) -> Facts {
        let pending = self.tools.staged().map(|staged| staged.changes());
        let pending = pending.filter(|changes| !changes.is_empty());
        let read = self.tools.ledger().readings();
        let read: Vec<String> = read.iter().take(200).map(ToString::to_string).collect();
        Facts {
            pending: pending.map(|changes| super::tools::overview(&changes)).unwrap_or_default(),
            read: read.join("\n"),
            keep: self.gauge.keep(),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// The model's window when it has been told; waits for ever when it is not asked for.
async fn learned(window: &mut Window) -> Option<u64> {
    match window {
        Window::Asking(asked) => asked.await,
        Window::Unasked | Window::Asked => std::future::pending().await,
    }
}

/// The next event of the running answer; waits for ever when none runs.
async fn piece(stream: &mut Option<Stream>) -> Option<Result<ModelEvent, ModelError>> {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

/// Runs calls in their order: neighbouring ones that only look and tasks run side by side, one that writes runs alone.
async fn run_tools(
    tools: Arc<Toolbox>,
    staff: Option<Arc<Staff>>,
    calls: Vec<RunCall>,
    cancel: CancellationToken,
    results: UnboundedSender<Input>,
) {
    let writes = |call: &RunCall| tools.find(&call.name).is_some_and(Tool::writes);
    let tasks = tokio::sync::Semaphore::new(MAX_ASSISTANTS);
    for group in calls.chunk_by(|a, b| !writes(a) && !writes(b)) {
        let running = group.iter().map(|call| {
            let (tools, cancel, results) = (tools.clone(), cancel.clone(), results.clone());
            let staff = staff.clone().filter(|_| tools.find(&call.name) == Some(Tool::Task));
            let (alone, tasks) = (writes(call), &tasks);
            let call = call.clone();
            async move {
                // Never closed; without a place there is no order to keep.
                let _place = if staff.is_some() { tasks.acquire().await.ok() } else { None };
                let started = Instant::now();
                let id = call.call;
                let outcome = if cancel.is_cancelled() {
                    Outcome::error("Not run: the person stopped you before this call started.")
                } else if let Some(staff) = staff {
                    // It hears the stop itself and tells what it has done.
                    assistant::outcome(staff, &tools, &call, cancel).await
                } else if alone {
                    // A write that has started is waited for: what is said of it must be true. It takes milliseconds.
                    run(tools, call, cancel).await
                } else {
                    tokio::select! {
                        outcome = run(tools, call, cancel.clone()) => outcome,
                        () = cancel.cancelled() => Outcome::error("Stopped: the person stopped you before the result was there."),
                    }
                };
                let _ = results.send(done(id, outcome, started.elapsed()));
            }
        });
        futures::future::join_all(running).await;
    }
}

fn done(call: CallId, outcome: Outcome, elapsed: Duration) -> Input {
    let Outcome { ok, text, todos, ran } = outcome;
    Input::ToolDone { call, ok, text, todos, elapsed, ran }
}

/// Runs one call off the async threads. A panic in a tool is that call's error, not the session's end.
async fn run(tools: Arc<Toolbox>, call: RunCall, cancel: CancellationToken) -> Outcome {
    let name = call.name.clone();
    let task = tokio::task::spawn_blocking(move || {
        std::panic::catch_unwind(AssertUnwindSafe(|| {
            tools.run_at(&call.name, &call.arguments, None, &cancel)
        }))
        .ok()
    });
    match task.await {
        Ok(Some(outcome)) => outcome,
        _ => Outcome::error(format!("{name} failed inside the workbench. Try another way.")),
    }
}
