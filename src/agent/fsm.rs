//! The loop as a pure state machine: inputs in, effects out; no I/O, no clock. The driver performs the effects.
//!
//! It owns the conversation and keeps it well formed: every call of an assistant message has exactly one result before
//! the next request, whatever happened in between.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::answer;
use super::budget::Stop;
use super::client::{Answer, Message, ModelError, ModelEvent, Request, ToolCall, ToolSchema};
use super::context::{self, Facts, Memory};
use super::event::{AgentEvent, CallId, Queued, Ran, Todo};

/// The same failing call this often ends the turn.
pub const MAX_REPEATS: usize = 3;

/// What the driver tells the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// From here on answers are wanted as data ([`answer::WikiAnswer`]), with this sentence for what is not there.
    Form(String),
    /// A message of the person. During a turn it goes to the model with the next step.
    Say(String),
    /// Takes a message back that was not delivered yet.
    Unqueue(u64),
    Interrupt,
    /// Ends the turn for this reason.
    Stop(Stop),
    /// Something that the model should know with its next step.
    Warn(String),
    /// The conversation is too long: shorten it and ask again.
    Compact(Facts),
    /// After the calls that run, wait for a review before the next step.
    Hold,
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
        /// None for a call that did not run to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ran: Option<Ran>,
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
    Asking {
        text: String,
    },
    Calling {
        open: Vec<OpenCall>,
        ending: Option<Ending>,
        hold: bool,
    },
    /// A review comes first.
    Waiting,
}

/// Why the turn ends when its calls are back.
#[derive(Debug, Clone)]
enum Ending {
    Interrupted,
    Stop(Stop),
}

#[derive(Debug)]
struct OpenCall {
    id: CallId,
    call: ToolCall,
    result: Option<(bool, String)>,
}

/// An answer in a form is wanted.
#[derive(Debug)]
struct Form {
    not_found: String,
    /// Answers of this turn that could not be taken.
    said: Vec<String>,
}

/// One session's conversation and where it stands.
#[derive(Debug)]
pub struct Loop {
    messages: Vec<Message>,
    tools: Vec<ToolSchema>,
    phase: Phase,
    /// Messages of the person that wait for the next step. An empty one starts a turn about the notes.
    queue: VecDeque<Queued>,
    /// Notes that go to the model with its next message.
    notes: Vec<String>,
    /// What was left out of the messages.
    memory: Memory,
    todos: Vec<Todo>,
    next_call: u64,
    next_queued: u64,
    nudged: bool,
    form: Option<Form>,
    /// Calls of this turn that failed, by name and arguments, and how often since they last did not.
    failing: HashMap<(String, String), usize>,
    silent: bool,
}

impl Loop {
    pub fn new(system: String, tools: Vec<ToolSchema>) -> Self {
        Self {
            messages: vec![Message::System { content: system }],
            tools,
            phase: Phase::Idle,
            queue: VecDeque::new(),
            notes: Vec::new(),
            memory: Memory::default(),
            todos: Vec::new(),
            next_call: 0,
            next_queued: 0,
            nudged: false,
            form: None,
            failing: HashMap::new(),
            silent: false,
        }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// While it is silent, requests are empty: nobody asks what was answered long ago, and each holds the whole conversation.
    pub fn be_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Whether the turn waits for a review.
    pub fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Waiting)
    }

    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Form(not_found) => {
                self.form = Some(Form { not_found, said: Vec::new() });
                Vec::new()
            }
            // Nothing would come of it, and whoever waits for the turn's end would wait for ever.
            Input::Say(text) if text.trim().is_empty() => {
                let failed = AgentEvent::Failed("The message is empty; say what you want.".to_owned());
                if self.is_idle() { vec![Effect::Emit(failed)] } else { Vec::new() }
            }
            Input::Say(text) => {
                self.next_queued += 1;
                self.queue.push_back(Queued { id: self.next_queued, text });
                match self.phase {
                    Phase::Idle => self.next_turn(),
                    // Who speaks wants it to go on; the changes stay for later.
                    Phase::Waiting => self.next_step(),
                    _ => vec![self.queued()],
                }
            }
            Input::Unqueue(id) => {
                let before = self.queue.len();
                self.queue.retain(|queued| queued.id != id);
                if before == self.queue.len() { Vec::new() } else { vec![self.queued()] }
            }
            Input::Reviewed { note, answer } => {
                self.notes.push(note);
                if matches!(self.phase, Phase::Waiting) {
                    return self.next_step();
                }
                if answer {
                    self.queue.push_front(Queued { id: 0, text: String::new() });
                }
                self.next_turn()
            }
            Input::Warn(text) => {
                self.notes.push(text);
                Vec::new()
            }
            Input::Hold => {
                if let Phase::Calling { hold, .. } = &mut self.phase {
                    *hold = true;
                }
                Vec::new()
            }
            Input::Stop(stop) => self.stop(Ending::Stop(stop)),
            Input::Compact(facts) => self.compact(&facts),
            Input::Interrupt => self.stop(Ending::Interrupted),
            Input::Model(event) => self.model(event),
            Input::ModelFailed(error) => self.failed(&error),
            Input::ToolDone { call, ok, text, todos, elapsed, .. } => {
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
        if !said.text.is_empty() {
            parts.push(said.text);
        }
        if parts.is_empty() {
            return self.next_turn();
        }
        let message = parts.join("\n\n");
        self.messages.push(Message::User { content: message.clone() });
        self.nudged = false;
        self.failing.clear();
        if let Some(form) = &mut self.form {
            form.said.clear();
        }
        let mut effects = vec![Effect::Emit(AgentEvent::TurnStarted { message })];
        if !self.queue.is_empty() {
            effects.push(self.queued());
        }
        effects.push(self.ask());
        effects
    }

    /// Asks again within a turn, with what was said and noted since the last step.
    fn next_step(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let notes = std::mem::take(&mut self.notes);
        if !notes.is_empty() {
            self.messages.push(Message::User { content: notes.join("\n\n") });
        }
        let said: Vec<Queued> = self.queue.drain(..).filter(|queued| !queued.text.is_empty()).collect();
        if !said.is_empty() {
            // New words are a new reason to go on.
            self.nudged = false;
            self.failing.clear();
        }
        for Queued { text, .. } in said {
            self.messages.push(Message::User { content: text.clone() });
            effects.push(Effect::Emit(AgentEvent::Steered { message: text }));
        }
        effects.push(self.ask());
        effects
    }

    fn queued(&self) -> Effect {
        let waiting = self.queue.iter().filter(|queued| !queued.text.is_empty()).cloned().collect();
        Effect::Emit(AgentEvent::Queued(waiting))
    }

    fn request(&self) -> Request {
        Request { messages: self.messages.clone(), tools: self.tools.clone(), ..Request::default() }
    }

    fn ask(&mut self) -> Effect {
        self.phase = Phase::Asking { text: String::new() };
        Effect::Ask(if self.silent { Request::default() } else { self.request() })
    }

    fn end(&mut self, event: AgentEvent) -> Vec<Effect> {
        self.phase = Phase::Idle;
        let mut effects = vec![Effect::EndTurn(event)];
        effects.extend(self.next_turn());
        effects
    }

    /// Ends the turn: at once while the model answers, keeping what it said; after the calls that have started otherwise.
    fn stop(&mut self, why: Ending) -> Vec<Effect> {
        match &mut self.phase {
            Phase::Idle => Vec::new(),
            Phase::Asking { text } => {
                let text = std::mem::take(text);
                if !text.is_empty() {
                    self.push_answer(text, Vec::new(), serde_json::Map::new());
                }
                if matches!(why, Ending::Interrupted) {
                    self.notes
                        .push("[The person stopped your last answer before it was complete.]".to_owned());
                }
                let mut effects = vec![Effect::CancelAsk];
                effects.extend(self.ended(why));
                effects
            }
            Phase::Waiting => self.ended(why),
            Phase::Calling { ending: Some(_), .. } => Vec::new(),
            Phase::Calling { ending, .. } => {
                *ending = Some(why);
                vec![Effect::CancelTools]
            }
        }
    }

    fn ended(&mut self, why: Ending) -> Vec<Effect> {
        match why {
            Ending::Interrupted => self.end(AgentEvent::Finished { interrupted: true }),
            Ending::Stop(stop) => {
                self.notes.push(format!("[Your last turn was ended by the workbench. {stop}]"));
                self.end(AgentEvent::Stopped(stop))
            }
        }
    }

    fn compact(&mut self, facts: &Facts) -> Vec<Effect> {
        let asking = matches!(self.phase, Phase::Asking { .. });
        if !asking && !self.is_idle() {
            return Vec::new();
        }
        let messages = std::mem::take(&mut self.messages);
        let before = messages.len();
        self.messages = context::compact(messages, &mut self.memory, &self.todos, facts);
        let left_out = (before + 1).saturating_sub(self.messages.len());
        let mut effects = vec![Effect::Emit(AgentEvent::Compacted { left_out })];
        if asking {
            effects.push(self.ask());
        }
        effects
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

    /// Calls that every server takes back: with a name, and an id that no other call of the answer has. Those that come off
    /// the wire are so; what a session file holds may not be.
    fn sound(&self, mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let mut ids = HashSet::new();
        for (nth, call) in (self.next_call + 1..).zip(&mut calls) {
            if matches!(call.id.as_str(), "" | "null") || ids.contains(&call.id) {
                call.id = format!("call_{nth}_of_session");
            }
            ids.insert(call.id.clone());
            if call.name.is_empty() {
                call.name = "unnamed".to_owned();
            }
        }
        calls
    }

    fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        let mut effects: Vec<Effect> =
            answer.usage.map(|u| Effect::Emit(AgentEvent::Usage(u))).into_iter().collect();
        let Answer { text, calls, opaque, cut, .. } = answer;
        // Calls of a cut message may be half a call: they are never run.
        let calls = if cut { Vec::new() } else { calls };
        if self.form.is_some() && !cut {
            if let Some(call) = calls.iter().find(|call| call.name == answer::TOOL).cloned() {
                effects.extend(self.formed(text, calls, &call, opaque));
                return effects;
            }
            if calls.is_empty() && !text.trim().is_empty() {
                self.push_answer(text.clone(), Vec::new(), opaque);
                effects.extend(self.taken(&text, |not_found| answer::read(&text, not_found)));
                return effects;
            }
        }
        if calls.is_empty() {
            let empty = text.trim().is_empty();
            if !empty {
                self.push_answer(text, Vec::new(), opaque);
            }
            if !empty && !cut {
                effects.extend(self.end(AgentEvent::Finished { interrupted: false }));
            } else if self.nudged {
                effects.extend(self.end(AgentEvent::Stopped(if cut { Stop::Cut } else { Stop::Empty })));
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
                let nudged = self.nudged;
                effects.extend(self.next_step());
                self.nudged = nudged;
            }
            return effects;
        }
        let calls = self.sound(calls);
        self.push_answer(text, calls.clone(), opaque);
        let open: Vec<OpenCall> = calls
            .into_iter()
            .map(|call| {
                self.next_call += 1;
                OpenCall { id: CallId(self.next_call), call, result: None }
            })
            .collect();
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
        self.phase = Phase::Calling { open, ending: None, hold: false };
        effects
    }

    /// The answer came as the call of a tool; other calls beside it are not run.
    fn formed(
        &mut self,
        text: String,
        calls: Vec<ToolCall>,
        call: &ToolCall,
        opaque: serde_json::Map<String, serde_json::Value>,
    ) -> Vec<Effect> {
        self.push_answer(text, calls.clone(), opaque);
        for call in &calls {
            let result =
                if call.name == answer::TOOL { "Received." } else { "Not run: the answer was given." };
            self.push_result(&call.id, result);
        }
        let arguments = &call.arguments;
        self.taken(arguments, |not_found| match serde_json::from_str(arguments) {
            Ok(value) => answer::settle(value, not_found),
            Err(_) => answer::read(arguments, not_found),
        })
    }

    /// Ends the turn with the answer, or asks for it again; at last takes it out of what was said, or gives up.
    fn taken(
        &mut self,
        said: &str,
        read: impl Fn(&str) -> Result<answer::WikiAnswer, String>,
    ) -> Vec<Effect> {
        let Some(form) = &mut self.form else { return Vec::new() };
        let why = match read(&form.not_found) {
            Ok(answer) => {
                let mut effects = vec![Effect::Emit(AgentEvent::Answered(answer))];
                effects.extend(self.end(AgentEvent::Finished { interrupted: false }));
                return effects;
            }
            Err(why) => why,
        };
        form.said.push(said.to_owned());
        if form.said.len() <= answer::MAX_REPAIRS {
            self.messages.push(Message::User {
                content: format!(
                    "[Your answer could not be taken: {why}. Give the whole answer again, in the form that is asked for and without any other text.]"
                ),
            });
            self.phase = Phase::Asking { text: String::new() };
            let request = Request { answer_schema: Some(answer::schema()), ..self.request() };
            return vec![Effect::Ask(request)];
        }
        let prose = |said: &String| answer::of_prose(said, &form.not_found);
        match form.said.iter().find_map(prose) {
            Some(answer) => {
                let notice = "The model did not keep to the form of the answer; what follows was taken out of what it wrote.";
                let mut effects = vec![
                    Effect::Emit(AgentEvent::Notice(notice.to_owned())),
                    Effect::Emit(AgentEvent::Answered(answer)),
                ];
                effects.extend(self.end(AgentEvent::Finished { interrupted: false }));
                effects
            }
            None => self.end(AgentEvent::Stopped(Stop::Formless(why))),
        }
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
        let Phase::Calling { open, ending, hold } = &mut self.phase else { return Vec::new() };
        let Some(call) = open.iter_mut().find(|c| c.id == id && c.result.is_none()) else {
            return Vec::new();
        };
        call.result = Some((ok, text.clone()));
        let mut effects = Vec::new();
        if let Some(todos) = todos {
            self.todos.clone_from(&todos);
            effects.push(Effect::Emit(AgentEvent::Todos(todos)));
        }
        effects.push(Effect::Emit(AgentEvent::ToolFinished { call: id, ok, result: text, elapsed }));
        if open.iter().any(|c| c.result.is_none()) {
            return effects;
        }
        let (ending, hold) = (ending.take(), *hold);
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
        if let Some(why) = ending {
            if matches!(why, Ending::Interrupted) {
                self.notes.push("[The person stopped you here.]".to_owned());
            }
            effects.extend(self.ended(why));
        } else if let Some(name) = repeated {
            effects.extend(self.end(AgentEvent::Stopped(Stop::Repeated(name))));
        } else if hold && self.queue.is_empty() {
            self.phase = Phase::Waiting;
        } else {
            effects.extend(self.next_step());
        }
        effects
    }

    /// How often this call has now failed; none when it did not.
    fn note_failure(&mut self, call: &ToolCall, ok: bool) -> Option<usize> {
        let key = (call.name.clone(), call.arguments.clone());
        if ok {
            self.failing.remove(&key);
            return None;
        }
        let times = self.failing.entry(key).or_default();
        *times += 1;
        Some(*times)
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
