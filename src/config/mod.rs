//! Settings, layered: defaults, user file, environment, flags. A bundle has a say in how findings are judged and shown
//! ([`Manner`]) and in nothing else: it is foreign text, and whoever chooses the endpoint receives the pages and the key.

pub mod file;
mod limits;
mod manner;
pub mod model;
mod permissions;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy as _;

use crate::agent::driver::{ManagerOptions, ReaderOptions};
use crate::bundle::ledger::Keep;
#[cfg(feature = "documents")]
use crate::document::{Documents, child::Converter};
use crate::lint;
use crate::okf::ContentHash;
use crate::tui::Look;
use file::File;
pub use manner::{BUNDLE_FILE, Manner};
pub use model::{Choice, Endpoint, ModelOptions};

/// Settings given on the command line; each wins over everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub base_url: Option<String>,
    pub model: Option<String>,
    /// Read this file instead of the user's.
    pub config: Option<PathBuf>,
    /// Let the manager propose changes under `raw/`.
    pub no_protect_raw: bool,
}

/// Environment variables; an empty one counts as not set.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// This process's. Variables that are not UTF-8 are none of ours and left out.
    pub fn of_process() -> Self {
        Self::new(
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))),
        )
    }

    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().collect())
    }

    /// Trimmed: a key pasted with its line end is the usual slip.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// A setting that cannot be used. The text says where it stands and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{}: {message}", path.display())]
    Unreadable { path: PathBuf, message: String },
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid { path: PathBuf, line: u32, column: u32, message: String },
    #[error(
        "{place}: {message}; a bundle may set only its [lint] and [display], so nothing of this file is used"
    )]
    Refused { place: String, message: String },
    #[error("{origin}: `{value}` is no http or https address; write it like http://localhost:11434/v1")]
    BaseUrl { origin: String, value: String },
}

/// What the commands run with.
#[derive(Debug, Clone)]
pub struct Settings {
    pub model: Choice,
    pub model_options: ModelOptions,
    pub manager: ManagerOptions,
    pub reader: ReaderOptions,
    pub lint: lint::Options,
    pub keep: Keep,
    /// Conversations are kept.
    pub keep_sessions: bool,
    /// Each applied set becomes a commit where the bundle lies in a git repository.
    pub commit_on_apply: bool,
    pub color: bool,
    pub theme: Look,
    /// How often object storage is looked through for what others changed; zero: never.
    pub poll: Duration,
    /// How source documents are read.
    #[cfg(feature = "documents")]
    pub documents: Documents,
}

impl Settings {
    /// Reads the user's file, if there is one, and lays environment and flags over it.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, Error> {
        let (file, path) = read_file(flags)?;
        let Manner { lint, color, theme } = Manner::of_file(&file, environment);
        let rules = permissions::rules(&file.permissions, &path)?;
        let model = model::choose(flags, environment, &file.model, &path)?;
        let limits = limits::limits(&file, model.name(), &path)?;
        #[cfg(feature = "documents")]
        let documents = documents(&file.documents);
        Ok(Self {
            model,
            model_options: ModelOptions::of(&file),
            manager: ManagerOptions {
                protect_raw: file.manager.protect_raw && !flags.no_protect_raw,
                rules: rules.clone(),
                approval: limits::approval(&file.manager, &path)?,
                limits: limits.clone(),
                lint: lint.clone(),
                #[cfg(feature = "documents")]
                documents: Some(documents.clone()),
                ..ManagerOptions::default()
            },
            reader: ReaderOptions {
                not_found_message: file.reader.not_found_message,
                rules,
                limits,
                ..ReaderOptions::default()
            },
            lint,
            keep: Keep { days: file.history.keep_days, bytes: u64::from(file.history.keep_mb) << 20 },
            keep_sessions: file.history.sessions,
            commit_on_apply: file.git.commit_on_apply,
            color,
            theme,
            poll: Duration::from_secs(file.storage.poll_seconds.into()),
            #[cfg(feature = "documents")]
            documents,
        })
    }
}

/// `wikiwright/config.toml` in the user's configuration folder (`$XDG_CONFIG_HOME`, else `~/.config`); none when the home
/// folder is unknown.
pub fn user_file() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.config_dir().join("wikiwright").join("config.toml"))
}

/// What is remembered of the bundle in this folder: a folder of its own in the user's state folder (`$XDG_STATE_HOME`, else
/// `~/.local/state`), the same however the bundle's folder is spelled; none when the home folder is unknown.
pub fn state_folder(root: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(root).ok()?;
    let name = ContentHash::of(real.as_os_str().as_encoded_bytes()).to_string();
    Some(user_state()?.join("bundles").join(name))
}

/// `wikiwright` in the user's state folder; none when the home folder is unknown.
pub fn user_state() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.state_dir()?.join("wikiwright"))
}

/// `wikiwright/documents` in the user's cache folder (`$XDG_CACHE_HOME`, else `~/.cache`), where texts of source documents are
/// kept; none when the home folder is unknown.
#[cfg(feature = "documents")]
pub fn document_cache() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.cache_dir().join("wikiwright").join("documents"))
}

#[cfg(feature = "documents")]
fn documents(file: &file::Documents) -> Documents {
    let cache = if file.cache { document_cache() } else { None };
    let max_chars = usize::try_from(file.max_chars.get()).unwrap_or(usize::MAX);
    let mut documents = Documents::new(Converter::of_this_program(), cache);
    documents.max_chars = max_chars;
    documents
}

/// The user's file, or what stands for it when there is none, and its path for messages.
fn read_file(flags: &Flags) -> Result<(File, PathBuf), Error> {
    match &flags.config {
        Some(path) => Ok((File::read(path)?.ok_or_else(|| missing(path))?, path.clone())),
        None => match user_file() {
            Some(path) => Ok((File::read(&path)?.unwrap_or_default(), path)),
            None => Ok((File::default(), PathBuf::new())),
        },
    }
}

fn missing(path: &Path) -> Error {
    Error::Unreadable { path: path.to_path_buf(), message: "no such file".to_owned() }
}

#[cfg(test)]
mod tests;
