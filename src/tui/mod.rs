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

use futures::future::BoxFuture;

use crate::agent::Role;
use crate::agent::client::ModelClient;
use crate::agent::driver::{ManagerOptions, ReaderOptions};
use crate::agent::record::Keeping;
use crate::bundle::Bundle;
use crate::okf::BundlePath;
use state::picker::Choice;
pub use theme::Look;

/// Everything the workbench is started with.
pub struct Setup {
    pub bundle: Bundle,
    /// None: the workbench works without a model and shows `model_hint` in the chat.
    pub client: Option<Arc<dyn ModelClient>>,
    /// Two lines that say how to set a model, shown when `client` is none.
    pub model_hint: String,
    /// One line under everything, for example that the model is scripted.
    pub banner: Option<String>,
    /// Plain under `NO_COLOR`: bold, underline and reverse only.
    pub look: Look,
    /// Messages offered in the empty chat of the manager and of the reader.
    pub suggestions: Suggestions,
    pub manager: ManagerOptions,
    pub reader: ReaderOptions,
    pub lint: crate::lint::Options,
    /// What the manager and the reader keep, and take up.
    pub keeping: (Keeping, Keeping),
    pub around: Arc<dyn Around>,
    /// Gives a text to the person's editor, which has the terminal until it ends, and brings back what was saved.
    pub edit: Edit,
}

/// What the workbench asks of the program that started it.
pub trait Around: Send + Sync {
    /// A fresh conversation.
    fn begin(&self, role: Role) -> Keeping;
    /// Conversations of this role that are kept, the newest first.
    fn kept(&self, role: Role) -> Result<Vec<Choice>, String>;
    /// A kept conversation, to go on with. Fails when another wikiwright has it.
    fn take_up(&self, role: Role, id: &str) -> Result<Keeping, String>;
    /// The models that can be chosen.
    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, String>>;
    /// Another model of the same server; connects to nothing yet.
    fn connect(&self, model: &str) -> Result<Arc<dyn ModelClient>, String>;
    /// Writes a new file and says where it lies. An empty name is made up.
    fn export(&self, file: &str, text: &str) -> Result<String, String>;
    /// Gives a text to the clipboard and says how; none when the terminal has to be asked.
    fn copy(&self, text: &str) -> Option<String>;
    /// When a file of the bundle was last saved, in seconds since 1970; none where nobody knows.
    fn saved(&self, path: &BundlePath) -> Option<i64>;
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
