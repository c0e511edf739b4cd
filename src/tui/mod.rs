//! The workbench: tree, page and agent on one screen.
//!
//! `Action` or `Event` -> [`update`] -> `Vec<Effect>`; the [`runtime`] performs effects and reports back with events;
//! [`view`] draws a state and changes nothing. Only [`runtime`] and [`terminal`] touch the world.

pub mod action;
pub mod diff_view;
pub mod effect;
pub mod event;
pub mod highlight;
pub mod keymap;
pub mod markdown;
pub mod runtime;
pub mod state;
pub mod terminal;
pub mod theme;
pub mod update;
pub mod view;

use std::sync::Arc;

use crate::agent::client::ModelClient;
use crate::agent::driver::{ManagerOptions, ReaderOptions};
use crate::agent::record::Keeping;
use crate::bundle::Bundle;

/// Everything the workbench is started with.
pub struct Setup {
    pub bundle: Bundle,
    /// None: the workbench works without a model and shows `model_hint` in the chat.
    pub client: Option<Arc<dyn ModelClient>>,
    /// Two lines that say how to set a model, shown when `client` is none.
    pub model_hint: String,
    /// One line under everything, for example that the model is scripted.
    pub banner: Option<String>,
    /// False under `NO_COLOR`: bold, underline and reverse only.
    pub color: bool,
    /// Messages offered in the empty chat of the manager and of the reader.
    pub suggestions: Suggestions,
    pub manager: ManagerOptions,
    pub reader: ReaderOptions,
    pub lint: crate::lint::Options,
    /// What the manager and the reader keep, and take up.
    pub keeping: (Keeping, Keeping),
    /// Gives a text to the person's editor, which has the terminal until it ends, and brings back what was saved.
    pub edit: Edit,
}

/// What [`Setup::edit`] does.
pub type Edit = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// What an empty chat offers to send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestions {
    pub manager: Vec<String>,
    pub reader: Vec<String>,
}

/// How the workbench ended: the status the process should exit with (0, or 128 + n after signal n).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus(pub u8);

/// Why the workbench could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Standard input or output is no terminal, or the terminal is `dumb`: exit with 2.
    #[error("{0}")]
    NoTerminal(String),
    #[error("the terminal failed: {0}")]
    Terminal(#[from] std::io::Error),
}

/// Runs the workbench until the person leaves. Must be awaited on the thread that called `block_on`.
pub async fn run(setup: Setup) -> Result<ExitStatus, Error> {
    match runtime::run(setup).await {
        // Drawing can notice that the terminal went away before its hangup is heard of: the same end, the same status.
        Err(Error::Terminal(error))
            if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::IO) =>
        {
            Ok(ExitStatus(129))
        }
        ended => ended,
    }
}
