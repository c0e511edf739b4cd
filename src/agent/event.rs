//! What the agents say and hear: one stream for the workbench, the command line and the tests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::answer::{Cited, WikiAnswer};
use super::budget::Stop;
use super::reading::Reading;
use crate::bundle::apply::Applied;
use crate::bundle::hunk::Resolved;
use crate::bundle::{ChangeSet, Decisions};
use crate::okf::BundlePath;

/// Who is speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Ingests sources and proposes page edits.
    Manager,
    /// Answers from the bundle only; can never write.
    Reader,
}

/// What happens in a session, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A message of the person in a session that is taken up again; its turn follows.
    Said(String),
    /// Worth telling the person; the session goes on.
    Notice(String),
    /// What the person said during the turn and the model has not been told yet, in order. It can be taken back.
    Queued(Vec<Queued>),
    /// The model was told this message of the person within the turn.
    Steered {
        message: String,
    },
    /// So many messages at the beginning of the conversation were replaced by a short record of them.
    Compacted {
        left_out: usize,
    },
    /// What was read of the sources in this turn.
    SourcesRead(Vec<Reading>),
    /// Changes that the person's configuration approves; whoever listens applies them as decided and answers as to a review.
    Approved {
        changes: ChangeSet,
        decisions: Decisions,
    },
    /// A turn began with this user message.
    TurnStarted {
        message: String,
    },
    Text(String),
    Reasoning(String),
    ToolStarted {
        call: CallId,
        tool: String,
        summary: String,
    },
    ToolFinished {
        call: CallId,
        ok: bool,
        result: String,
        elapsed: Duration,
    },
    Todos(Vec<Todo>),
    /// A write was staged; the whole pending set.
    Staged(ChangeSet),
    /// Files of the pending set were changed by somebody else; the proposals stand over what they are now. The set follows.
    Rebased(Vec<Moved>),
    /// The turn ended with pending changes that want a decision.
    AwaitingReview(ChangeSet),
    Usage(Usage),
    /// How many tokens fit the model that answers, if that can be known. Comes with the first question to it.
    Window(Option<u64>),
    /// The turn's answer as data, when the session wants it so; comes before the turn's end. Its citations were held against the pages.
    Answered(WikiAnswer),
    /// The pages that the reader's answer names, held against the pages; comes before the turn's end.
    Cited(Vec<Cited>),
    /// The client waits before asking again.
    Retrying {
        attempt: u32,
        wait: Duration,
        cause: String,
    },
    /// The turn ended; `interrupted` when a person stopped it.
    Finished {
        interrupted: bool,
    },
    /// The turn ended badly: one plain sentence.
    Failed(String),
    /// The turn was ended by a limit.
    Stopped(Stop),
}

/// A proposal that was carried over to a file as somebody left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub path: BundlePath,
    pub how: Carried,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// Both sets of changes are kept.
    Merged,
    /// Both changed the same lines: the proposal would replace the other's.
    Contested,
    /// The file already is what was proposed.
    Done,
}

/// A message that waits, under an id that is unique in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    pub id: u64,
    pub text: String,
}

/// Our own id of a tool call, unique in the session; providers' ids are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallId(pub u64);

/// When a call ran: its place among all calls of the session, assistants' too, and the time. A replay keeps both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub order: u64,
    pub at: jiff::Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    pub content: String,
    pub status: TodoStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// Tokens that the provider reported for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// With the cached ones.
    pub input: u64,
    /// Those of `input` that the provider had in its cache.
    #[serde(default)]
    pub cached: u64,
    /// With those of reasoning.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.output = self.output.saturating_add(more.output);
    }
}

/// What a listener may ask.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentCommand {
    /// A message of the person; starts a turn, or goes to the model with the next step of the running one.
    Say(String),
    /// Something that happened, for the model to hear with the next message; starts no turn.
    Tell(String),
    /// Takes a message back that the model was not told yet; see [`AgentEvent::Queued`].
    Unqueue(u64),
    /// Shorten the beginning of the conversation now, when no turn runs.
    Compact,
    /// Another model answers behind the same client from now on: its window and its price count.
    Switched,
    /// Stop the running turn now. Nothing else is affected.
    Interrupt,
    /// Files of the pending set changed: carry the proposals over to what they are now. Only for who shows the set to a person.
    Rebase,
    /// The listener applied decided changes; the driver forgets what landed or was rejected and tells the model exactly what
    /// happened. A rejection or a failure starts a turn so that the model can answer it.
    Reviewed {
        /// The set that was shown, and what of it was decided how.
        resolved: Box<Resolved>,
        applied: Applied,
    },
}
