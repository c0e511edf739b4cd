//! The loop as a pure state machine: inputs in, effects out; no I/O, no clock. The driver performs the effects.
//!
//! It owns the conversation and keeps it well formed: every call of an assistant message has exactly one result before
//! the next request, whatever happened in between.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::client::{Answer, Message, ModelError, ModelEvent, Request, ToolCall, ToolSchema};
use super::event::{AgentEvent, CallId, Todo};

/// Model answers in one turn.
pub const MAX_STEPS: usize = 50;
/// The same failing call this often ends the turn.
pub const MAX_REPEATS: usize = 3;

/// What the driver tells the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A message of the person.
    Say(String),
    Interrupt,
    /// What became of reviewed changes; `answer` starts a turn about it.
    Reviewed {
        note: String,
        answer: bool,
    },
    Model(ModelEvent),
    ModelFailed(ModelError),
    /// A call came back. `summary` is the line for people that was shown when it started.
    ToolDone {
        call: CallId,
        ok: bool,
        text: String,
        todos: Option<Vec<Todo>>,
        elapsed: Duration,
    },
}

/// What the driver must do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Emit(AgentEvent),
    /// Ask the model; its events come back as inputs.
    Ask(Request),
    /// Drop the request that is running.
    CancelAsk,
    /// Run these calls; each comes back as [`Input::ToolDone`].
    RunTools(Vec<RunCall>),
    /// Start no further call; those not started come back as not run.
    CancelTools,
    /// The turn is over. The driver says whether changes wait for review, then emits the event.
    EndTurn(AgentEvent),
}

/// A call to run, under our own id.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCall {
    pub call: CallId,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Asking { text: String },
    Calling { open: Vec<OpenCall>, interrupted: bool },
}

#[derive(Debug)]
struct OpenCall {
    id: CallId,
    call: ToolCall,
    result: Option<(bool, String)>,
}

/// One session's conversation and where it stands.
#[derive(Debug)]
pub struct Loop {
    messages: Vec<Message>,
    tools: Vec<ToolSchema>,
    phase: Phase,
    /// Messages of the person that wait for the turn to end.
    queue: VecDeque<String>,
    /// Notes that go to the model with its next message.
    notes: Vec<String>,
    next_call: u64,
    steps: usize,
    nudged: bool,
    /// The last failing call and how often it failed in a row.
    failing: Option<(String, String, usize)>,
}

impl Loop {
    pub fn new(system: String, tools: Vec<ToolSchema>) -> Self {
        Self {
            messages: vec![Message::System { content: system }],
            tools,
            phase: Phase::Idle,
            queue: VecDeque::new(),
            notes: Vec::new(),
            next_call: 0,
            steps: 0,
            nudged: false,
            failing: None,
        }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        match input {
            // Nothing would come of it, and whoever waits for the turn's end would wait for ever.
            Input::Say(text) if text.trim().is_empty() => {
                let failed = AgentEvent::Failed("The message is empty; say what you want.".to_owned());
                if self.is_idle() { vec![Effect::Emit(failed)] } else { Vec::new() }
            }
            Input::Say(text) => {
                self.queue.push_back(text);
                self.next_turn()
            }
            Input::Reviewed { note, answer } => {
                self.notes.push(note);
                if answer {
                    // An empty message: the turn is about the notes.
                    self.queue.push_front(String::new());
                }
                self.next_turn()
            }
            Input::Interrupt => self.interrupt(),
            Input::Model(event) => self.model(event),
            Input::ModelFailed(error) => self.failed(&error),
            Input::ToolDone { call, ok, text, todos, elapsed } => {
                self.tool_done(call, ok, text, todos, elapsed)
            }
        }
    }

    /// Starts the next turn when none runs and something waits.
    fn next_turn(&mut self) -> Vec<Effect> {
        if !self.is_idle() {
            return Vec::new();
        }
        let Some(said) = self.queue.pop_front() else { return Vec::new() };
        let mut parts = std::mem::take(&mut self.notes);
        if !said.is_empty() {
            parts.push(said);
        }
        if parts.is_empty() {
            return self.next_turn();
        }
        let message = parts.join("\n\n");
        self.messages.push(Message::User { content: message.clone() });
        self.steps = 0;
        self.nudged = false;
        self.failing = None;
        vec![Effect::Emit(AgentEvent::TurnStarted { message }), self.ask()]
    }

    fn ask(&mut self) -> Effect {
        self.phase = Phase::Asking { text: String::new() };
        Effect::Ask(Request {
            messages: self.messages.clone(),
            tools: self.tools.clone(),
            ..Request::default()
        })
    }

    fn end(&mut self, event: AgentEvent) -> Vec<Effect> {
        self.phase = Phase::Idle;
        let mut effects = vec![Effect::EndTurn(event)];
        effects.extend(self.next_turn());
        effects
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        match &mut self.phase {
            Phase::Idle => Vec::new(),
            Phase::Asking { text } => {
                let text = std::mem::take(text);
                if !text.is_empty() {
                    self.push_answer(text, Vec::new(), serde_json::Map::new());
                }
                self.notes.push("[The person stopped your last answer before it was complete.]".to_owned());
                let mut effects = vec![Effect::CancelAsk];
                effects.extend(self.end(AgentEvent::Finished { interrupted: true }));
                effects
            }
            Phase::Calling { interrupted: true, .. } => Vec::new(),
            Phase::Calling { interrupted, .. } => {
                *interrupted = true;
                vec![Effect::CancelTools]
            }
        }
    }

    fn model(&mut self, event: ModelEvent) -> Vec<Effect> {
        let Phase::Asking { text } = &mut self.phase else { return Vec::new() };
        match event {
            ModelEvent::Text(piece) => {
                text.push_str(&piece);
                vec![Effect::Emit(AgentEvent::Text(piece))]
            }
            ModelEvent::Reasoning(piece) => vec![Effect::Emit(AgentEvent::Reasoning(piece))],
            ModelEvent::Retrying { attempt, wait, cause } => {
                vec![Effect::Emit(AgentEvent::Retrying { attempt, wait, cause })]
            }
            ModelEvent::Done(answer) => self.answered(answer),
        }
    }

    fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        let mut effects: Vec<Effect> =
            answer.usage.map(|u| Effect::Emit(AgentEvent::Usage(u))).into_iter().collect();
        self.steps += 1;
        let Answer { text, calls, opaque, cut, .. } = answer;
        // Calls of a cut message may be half a call: they are never run.
        let calls = if cut { Vec::new() } else { calls };
        if calls.is_empty() {
            let empty = text.trim().is_empty();
            if !empty {
                self.push_answer(text, Vec::new(), opaque);
            }
            if !empty && !cut {
                effects.extend(self.end(AgentEvent::Finished { interrupted: false }));
            } else if self.nudged {
                let what = if cut { "was cut off at its length limit" } else { "was empty" };
                effects.extend(self.end(AgentEvent::Failed(format!(
                    "The model's answer {what}, twice in a row. Ask again, or use another model."
                ))));
            } else {
                self.nudged = true;
                if cut && !empty {
                    // The next answer is another one.
                    effects.push(Effect::Emit(AgentEvent::Text("\n\n".to_owned())));
                    let cause = "The model's answer was cut off at its length limit".to_owned();
                    effects.push(Effect::Emit(AgentEvent::Retrying {
                        attempt: 1,
                        wait: Duration::ZERO,
                        cause,
                    }));
                }
                let nudge = if cut {
                    "[Your last answer was cut off at the length limit and none of its tool calls ran. Go on in smaller steps.]"
                } else {
                    "[Your last answer was empty. Go on with the work, or say in words that you are done.]"
                };
                self.messages.push(Message::User { content: nudge.to_owned() });
                effects.push(self.ask());
            }
            return effects;
        }
        self.push_answer(text, calls.clone(), opaque);
        let open: Vec<OpenCall> = calls
            .into_iter()
            .map(|call| {
                self.next_call += 1;
                OpenCall { id: CallId(self.next_call), call, result: None }
            })
            .collect();
        if self.steps >= MAX_STEPS {
            for call in &open {
                self.push_result(&call.call.id, "Not run: this turn has reached its limit of steps.");
            }
            effects.extend(self.end(AgentEvent::Failed(format!(
                "Stopped after {MAX_STEPS} steps in one turn. Say \u{201c}go on\u{201d} to continue."
            ))));
            return effects;
        }
        for open in &open {
            effects.push(Effect::Emit(AgentEvent::ToolStarted {
                call: open.id,
                tool: open.call.name.clone(),
                summary: super::tools::Toolbox::summary(&open.call.name, &open.call.arguments),
            }));
        }
        effects.push(Effect::RunTools(
            open.iter()
                .map(|o| RunCall {
                    call: o.id,
                    name: o.call.name.clone(),
                    arguments: o.call.arguments.clone(),
                })
                .collect(),
        ));
        self.phase = Phase::Calling { open, interrupted: false };
        effects
    }

    fn failed(&mut self, error: &ModelError) -> Vec<Effect> {
        let Phase::Asking { text } = &mut self.phase else { return Vec::new() };
        let text = std::mem::take(text);
        if !text.is_empty() {
            self.push_answer(text, Vec::new(), serde_json::Map::new());
            self.notes.push("[Your last answer broke off because the connection to you failed.]".to_owned());
        }
        self.end(AgentEvent::Failed(error.to_string()))
    }

    fn tool_done(
        &mut self,
        id: CallId,
        ok: bool,
        text: String,
        todos: Option<Vec<Todo>>,
        elapsed: Duration,
    ) -> Vec<Effect> {
        let Phase::Calling { open, interrupted } = &mut self.phase else { return Vec::new() };
        let Some(call) = open.iter_mut().find(|c| c.id == id && c.result.is_none()) else {
            return Vec::new();
        };
        call.result = Some((ok, text.clone()));
        let mut effects: Vec<Effect> =
            todos.map(|todos| Effect::Emit(AgentEvent::Todos(todos))).into_iter().collect();
        effects.push(Effect::Emit(AgentEvent::ToolFinished { call: id, ok, result: text, elapsed }));
        if open.iter().any(|c| c.result.is_none()) {
            return effects;
        }
        let interrupted = *interrupted;
        let done = std::mem::take(open);
        let mut repeated = None;
        for OpenCall { call, result, .. } in done {
            let (ok, text) = result.unwrap_or_default();
            self.push_result(&call.id, &text);
            if let Some(times) = self.note_failure(&call, ok)
                && times >= MAX_REPEATS
            {
                repeated = Some(call.name);
            }
        }
        if interrupted {
            self.notes.push("[The person stopped you here.]".to_owned());
            effects.extend(self.end(AgentEvent::Finished { interrupted: true }));
        } else if let Some(name) = repeated {
            effects.extend(self.end(AgentEvent::Failed(format!(
                "Stopped: the model made the same failing call to {name} {MAX_REPEATS} times in a row."
            ))));
        } else {
            effects.push(self.ask());
        }
        effects
    }

    /// How often this call has now failed in a row; none when it did not.
    fn note_failure(&mut self, call: &ToolCall, ok: bool) -> Option<usize> {
        let same = matches!(&self.failing, Some((name, arguments, _)) if *name == call.name && *arguments == call.arguments);
        if ok {
            if same {
                self.failing = None;
            }
            return None;
        }
        let times = if same { self.failing.as_ref().map_or(0, |f| f.2) + 1 } else { 1 };
        self.failing = Some((call.name.clone(), call.arguments.clone(), times));
        Some(times)
    }

    fn push_answer(
        &mut self,
        content: String,
        calls: Vec<ToolCall>,
        opaque: serde_json::Map<String, serde_json::Value>,
    ) {
        self.messages.push(Message::Assistant { content, calls, opaque });
    }

    fn push_result(&mut self, call: &str, content: &str) {
        self.messages.push(Message::Tool { call: call.to_owned(), content: content.to_owned() });
    }
}

#[cfg(test)]
mod tests;
