//! What an update wants done in the world. Data only; [`super::runtime`] performs it and answers with events.

use std::sync::Arc;

use crate::agent::{AgentCommand, Role};
use crate::bundle::hunk::Verdicts;
use crate::bundle::ledger::record::Direction;
use crate::bundle::{ChangeSet, FileChange};
use crate::lint::Report;
use crate::okf::{BundlePath, Page};
use crate::tui::diff_view::Replaced;
use crate::tui::state::edit::Place;
use crate::tui::state::review::DiffKey;
use crate::wiki::Wiki;

#[derive(Debug, Clone)]
pub enum Effect {
    /// Look at these again and judge; the answer is [`Event::Model`](super::event::Event::Model).
    Refresh(Vec<BundlePath>),
    /// Read a file that is no page.
    Open(BundlePath),
    RenderPage {
        ticket: u64,
        page: Arc<Page>,
        wiki: Arc<Wiki>,
        width: u16,
    },
    RenderText {
        ticket: u64,
        path: BundlePath,
        text: Arc<str>,
        width: u16,
    },
    /// Count and hash what is proposed; `open` asks for the overlay.
    Weigh {
        changes: Arc<ChangeSet>,
        open: Option<Opening>,
    },
    /// Lint the bundle as it would be with these verdicts and compare.
    Judge {
        changes: Arc<ChangeSet>,
        verdicts: Verdicts,
        generation: u64,
        wiki: Arc<Wiki>,
        report: Arc<Report>,
    },
    /// Make the change that mends a finding, a place in the report; the answer is [`Event::Mended`](super::event::Event::Mended).
    Mend {
        finding: usize,
        wiki: Arc<Wiki>,
        report: Arc<Report>,
    },
    RenderDiff {
        file: FileChange,
        key: DiffKey,
        replaced: Replaced,
    },
    /// Render a file of the set as it would be with these verdicts.
    Preview {
        changes: Arc<ChangeSet>,
        verdicts: Verdicts,
        path: BundlePath,
        wiki: Option<Arc<Wiki>>,
        width: u16,
    },
    /// Give a text to the person's editor, which has the terminal until it ends.
    Edit {
        place: Place,
        text: String,
    },
    /// The person's decisions: this and [`Effect::Turn`] are the only effects that write.
    Apply {
        changes: Arc<ChangeSet>,
        verdicts: Verdicts,
        /// It is the fix of a finding, not what the manager proposed.
        mends: bool,
    },
    /// Read what was applied.
    History,
    /// Draw an applied set.
    RenderSet {
        id: u64,
        width: u16,
    },
    /// Take an applied set back or bring it about again; without a number the newest that fits.
    Turn {
        id: Option<u64>,
        direction: Direction,
    },
    Agent(Role, AgentCommand),
    /// Give what is being written to the person's editor, which has the terminal until it ends.
    Write {
        role: Role,
        text: String,
    },
    /// List the sources, new and changed ones first.
    Sources(Arc<Wiki>),
    /// List the kept conversations of a role.
    Kept(Role),
    /// List the server's models.
    Models,
    /// Put this model in the place of the one that answers.
    Connect(String),
    /// Begin a conversation, or go on with a kept one.
    Begin {
        role: Role,
        id: Option<String>,
    },
    /// Find passages that fit the words.
    Search {
        wiki: Arc<Wiki>,
        query: String,
    },
    /// Write a text to a new file of this name; an empty one is made up.
    Export {
        file: String,
        text: String,
    },
    /// Give a text to the clipboard.
    Copy(String),
    Suspend,
    Redraw,
    Quit,
}

/// Why a review opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// The person asked for it: keys are meant for it at once.
    Called,
    /// The agent waits: it must not take keys that were meant for the composer.
    Arrived,
}
