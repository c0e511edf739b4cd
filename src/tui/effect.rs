//! What an update wants done in the world. Data only; [`super::runtime`] performs it and answers with events.

use std::sync::Arc;

use crate::agent::{AgentCommand, Role};
use crate::bundle::change::Decisions;
use crate::bundle::{ChangeSet, FileChange};
use crate::lint::Report;
use crate::okf::{BundlePath, Page};
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
    /// Lint the bundle as it would be and compare.
    Judge {
        changes: Arc<ChangeSet>,
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
        width: u16,
    },
    /// The person's decisions: the only effect that writes.
    Apply {
        changes: Arc<ChangeSet>,
        decisions: Decisions,
        /// It is the fix of a finding, not what the manager proposed.
        mends: bool,
    },
    Agent(Role, AgentCommand),
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
