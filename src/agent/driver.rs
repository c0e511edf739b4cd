//! Runs a session: performs what the state machine asks for and speaks to one listener.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::client::ModelClient;
use super::event::{AgentCommand, AgentEvent, Role};
use crate::bundle::{Read, Staged};

/// Settings of a manager session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// `raw/` cannot be written.
    pub protect_raw: bool,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self { protect_raw: true }
    }
}

/// Settings of a reader session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderOptions {
    /// What the reader says when the wiki is silent; none for the default sentence.
    pub not_found_message: Option<String>,
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
    let _ = (bundle, client, options);
    unimplemented!("loop")
}

/// Starts a reader on the current tokio runtime. It holds nothing that writes.
pub fn start_reader(bundle: Arc<dyn Read>, client: Arc<dyn ModelClient>, options: ReaderOptions) -> Session {
    let _ = (bundle, client, options);
    unimplemented!("loop")
}
