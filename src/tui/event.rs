//! What happens to the workbench: keys, results of effects, agent events. Data only.

use std::ops::Range;
use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::text::Line;

use super::effect::Opening;
use super::markdown::Rendered;
use super::state::edit::Place;
use super::state::page::Document;
use super::state::picker::{Choice, Choosing};
use super::state::review::{DiffKey, Verdict, Weighed};
use crate::agent::client::Price;
use crate::agent::{AgentEvent, Role};
use crate::bundle::ChangeSet;
use crate::bundle::apply::Applied;
use crate::bundle::hunk::Resolved;
use crate::bundle::hunk::bonds::Bond;
use crate::bundle::ledger::record::{Direction, Record};
use crate::lint::Report;
use crate::okf::BundlePath;
use crate::wiki::Wiki;
use crate::wiki::passages::Passage;

#[derive(Debug)]
pub enum Event {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    /// Columns and rows.
    Resize(u16, u16),
    /// A frame of the present state reached the terminal.
    Drawn,
    /// Four times a second while something on screen moves by itself; never else.
    Tick,
    /// The model after loading or after a change, with its findings. `changed` is empty on the first.
    Model {
        wiki: Arc<Wiki>,
        report: Arc<Report>,
        changed: Vec<BundlePath>,
    },
    /// The bundle cannot be read at all.
    Unreadable(String),
    /// A file that is no page was read for the page pane.
    Opened {
        path: BundlePath,
        document: Result<Document, String>,
    },
    PageRendered {
        ticket: u64,
        rendered: Rendered,
    },
    /// Proposed changes were counted and hashed for the review.
    Weighed {
        changes: Arc<ChangeSet>,
        files: Vec<Weighed>,
        bonds: Vec<Bond>,
        open: Option<Opening>,
    },
    DiffRendered {
        key: DiffKey,
        diff: Diff,
    },
    /// Findings of the proposed bundle against those of the present one.
    Judged {
        generation: u64,
        verdict: Verdict,
    },
    /// What mends the finding that was asked about, or why nothing does.
    Mended(Result<Arc<ChangeSet>, String>),
    Previewed {
        path: BundlePath,
        width: u16,
        lines: Vec<Line<'static>>,
    },
    /// The person's editor ended: with this text, or why not.
    Edited {
        place: Place,
        text: Result<String, String>,
    },
    Applied {
        resolved: Resolved,
        applied: Applied,
    },
    /// What was applied, the newest first.
    History(Result<Vec<Record>, String>),
    SetRendered {
        id: u64,
        width: u16,
        lines: Vec<Line<'static>>,
    },
    /// An applied set was taken back or brought about again, or why not.
    Turned {
        direction: Direction,
        outcome: Result<(ChangeSet, Applied), String>,
    },
    Agent(Role, AgentEvent),
    /// The composer's text came back from the person's editor, or why not.
    Written {
        role: Role,
        text: Result<String, String>,
    },
    /// What can be chosen in a list, or why it is not known.
    Choices(Choosing, Result<Vec<Choice>, String>),
    /// Another conversation begins, or one goes on: its past follows as the agent's events.
    Began {
        role: Role,
        fresh: bool,
    },
    /// Another model answers from now on, or why not.
    Connected(Result<(String, Option<Price>), String>),
    /// What a plain search found for a question to a reader without a model.
    Found {
        query: String,
        passages: Vec<Passage>,
    },
    /// The session's task is gone.
    AgentGone(Role),
    /// Whether another folder, or none, stands where the bundle was opened.
    RootGone(bool),
    /// Whether another process has the bundle.
    ReadOnly(bool),
    /// What the terminal says of its background.
    Background {
        light: bool,
    },
    /// One sentence for the status line.
    Notice(String),
    /// A background task died: what it was doing and what it said.
    Trouble(String),
    /// Leave with this exit status (after a signal, or because the terminal went away).
    Leave(u8),
}

/// A drawn diff: rows, and the rows of each hunk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    pub lines: Vec<Line<'static>>,
    pub hunks: Vec<Range<usize>>,
}
