//! Assistants: a part of the work done in a conversation of its own, by the same rules, on the same staged set and the same
//! meter. What comes back is a typed report; one that fails takes no other with it.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::budget::Meter;
use super::client::{ModelClient, ModelEvent};
use super::engine::{Engine, Host};
use super::event::{AgentEvent, CallId, Usage};
use super::fsm::{Input, Loop, RunCall};
use super::reading::Reading;
use super::tools::{Outcome, Toolbox};
use crate::okf::BundlePath;

/// What every assistant of a session works with.
pub struct Staff {
    pub client: Arc<dyn ModelClient>,
    pub meter: Arc<Meter>,
    pub system: String,
    /// Hears what an assistant is told, under the call that it works for.
    pub log: UnboundedSender<(CallId, Input)>,
    /// Hears what they use and read.
    pub events: UnboundedSender<AgentEvent>,
}

/// How an assistant ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Done,
    /// The person stopped it.
    Interrupted,
    /// A limit or a fault, in one sentence.
    Failed(String),
}

/// What an assistant has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub status: Status,
    /// Its last words.
    pub text: String,
    /// Files that it staged something for.
    pub changes: Vec<BundlePath>,
    pub sources: Vec<Reading>,
    pub usage: Usage,
    pub steps: u64,
}

impl Report {
    fn failed(why: &str) -> Self {
        Self {
            status: Status::Failed(why.to_owned()),
            text: String::new(),
            changes: Vec::new(),
            sources: Vec::new(),
            usage: Usage::default(),
            steps: 0,
        }
    }
}

/// As the model that gave the task reads it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match &self.status {
            Status::Done => "done".to_owned(),
            Status::Interrupted => "stopped by the person before it was done".to_owned(),
            Status::Failed(why) => format!("not done: {why}"),
        };
        let Usage { input, output, .. } = self.usage;
        writeln!(
            f,
            "[Report of an assistant. Status: {status}. {} steps, {input} tokens in, {output} out.]",
            self.steps
        )?;
        match self.text.trim() {
            "" => writeln!(f, "It said nothing.")?,
            text => writeln!(f, "{text}")?,
        }
        if self.changes.is_empty() {
            writeln!(f, "\nIt staged nothing.")?;
        } else {
            let paths: Vec<&str> = self.changes.iter().map(BundlePath::as_str).collect();
            writeln!(f, "\nStaged by it: {}. Read such a file before you edit it.", paths.join(", "))?;
        }
        if !self.sources.is_empty() {
            let read: Vec<String> = self.sources.iter().map(|reading| format!("- {reading}")).collect();
            write!(f, "Read by it:\n{}", read.join("\n"))?;
        }
        Ok(())
    }
}

/// Runs the call of `task`.
pub async fn outcome(
    staff: Arc<Staff>,
    tools: &Toolbox,
    call: &RunCall,
    cancel: CancellationToken,
) -> Outcome {
    let description = match Toolbox::task(&call.arguments) {
        Ok(description) => description,
        Err(problem) => return Outcome::error(problem),
    };
    // A task of its own: a panic in it is its failure alone.
    let report = match tokio::spawn(run(staff, call.call, tools.assistant(), description, cancel)).await {
        Ok(report) => report,
        Err(_) => Report::failed("it failed inside the workbench; look at what is staged with diff"),
    };
    report.into()
}

impl From<Report> for Outcome {
    fn from(report: Report) -> Self {
        let of = if report.status == Status::Done { Self::ok } else { Self::error };
        of(report.to_string())
    }
}

/// Adds up what an assistant does.
#[derive(Default)]
pub struct Listener {
    /// The call that it works for, and who else hears of it.
    told: Option<(CallId, Arc<Staff>)>,
    /// Since the last call of a tool.
    text: String,
    usage: Usage,
    steps: u64,
    ended: Option<Status>,
}

impl Listener {
    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub fn report(self, tools: &Toolbox) -> Report {
        Report {
            status: self.ended.unwrap_or(Status::Interrupted),
            text: self.text,
            changes: tools.ledger().written(),
            sources: tools.ledger().readings(),
            usage: self.usage,
            steps: self.steps,
        }
    }
}

impl Host for Listener {
    fn input(&mut self, input: &Input) {
        self.steps += u64::from(matches!(input, Input::Model(ModelEvent::Done(_))));
        if let Some((call, staff)) = &self.told {
            // An error: the session is about to end.
            let _ = staff.log.send((*call, input.clone()));
        }
    }

    fn emit(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Text(piece) => self.text.push_str(&piece),
            // What was said before a call was no report.
            AgentEvent::ToolStarted { .. } => self.text.clear(),
            AgentEvent::Usage(usage) => {
                self.usage += usage;
                if let Some((_, staff)) = &self.told {
                    let _ = staff.events.send(AgentEvent::Usage(usage));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, event: AgentEvent) {
        self.ended = Some(match event {
            AgentEvent::Finished { interrupted: false } => Status::Done,
            AgentEvent::Finished { interrupted: true } => Status::Interrupted,
            AgentEvent::Stopped(stop) => Status::Failed(stop.to_string()),
            AgentEvent::Failed(why) => Status::Failed(why),
            other => Status::Failed(format!("{other:?}")),
        });
    }
}

fn run(
    staff: Arc<Staff>,
    call: CallId,
    tools: Toolbox,
    description: String,
    cancel: CancellationToken,
) -> BoxFuture<'static, Report> {
    Box::pin(async move {
        let tools = Arc::new(tools);
        let machine = Loop::new(staff.system.clone(), tools.schemas());
        let (client, meter) = (staff.client.clone(), staff.meter.clone());
        let mut engine = Engine::new(machine, tools.clone(), client, meter, None);
        let mut listener = Listener { told: Some((call, staff.clone())), ..Listener::default() };
        engine.feed(Input::Say(description), &mut listener);
        let mut stopped = false;
        while !listener.is_over() {
            let input = tokio::select! {
                biased;
                () = cancel.cancelled(), if !stopped => {
                    stopped = true;
                    Input::Interrupt
                }
                input = engine.next(&mut listener) => input,
            };
            engine.feed(input, &mut listener);
        }
        for told in [tools.ledger().sources(), tools.ledger().refusals()].into_iter().flatten() {
            let _ = staff.events.send(told);
        }
        listener.report(&tools)
    })
}
