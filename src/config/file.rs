//! The configuration file: its keys, their defaults, and errors that point at the place.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::Error;
use crate::agent::client::preset::{ALL, Preset};
use crate::lint::select::{Selector, Setting};
use crate::text::LineIndex;
use crate::tui::Look;

/// Largest configuration file that is read, in bytes.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// Everything a configuration file can hold. `config.example.toml` documents each key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    pub model: Model,
    /// By the model's name.
    pub prices: BTreeMap<String, Price>,
    pub manager: Manager,
    pub reader: Reader,
    pub limits: Limits,
    pub lint: Lint,
    pub history: History,
    pub git: Git,
    pub permissions: Permissions,
    pub display: Display,
    pub storage: Storage,
    pub documents: Documents,
}

/// What the agents may read and propose to write, beyond what their roles say. The first rule that fits decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    pub rules: Vec<PermissionRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    pub operations: Vec<PermissionOperation>,
    /// File patterns from the bundle's root.
    pub paths: Vec<String>,
    pub mode: PermissionMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionOperation {
    Read,
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    Allow,
    Deny,
    Ask,
}

/// How long applied sets can be undone, and whether conversations are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct History {
    pub keep_days: u32,
    pub keep_mb: u32,
    /// Conversations with the agents are kept, to go on with.
    pub sessions: bool,
}

impl Default for History {
    fn default() -> Self {
        Self { keep_days: 90, keep_mb: 256, sessions: true }
    }
}

/// What is done in the git repository around a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Git {
    pub commit_on_apply: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// A server that is known by name: its address, its key's variable, and how it differs from others.
    #[serde(deserialize_with = "preset")]
    pub preset: Option<&'static Preset>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    /// Name of the environment variable that holds the key. The key itself has no place in a file that is copied around.
    pub api_key_env: Option<String>,
    /// Longest silence of the server before it counts as gone. A local model may think this long about a long prompt.
    pub timeout_seconds: NonZeroU32,
    /// The model's context window; the server is asked when it is not set.
    pub context_tokens: Option<NonZeroU32>,
    /// Most tokens of one answer; the server decides when it is not set.
    pub max_output_tokens: Option<NonZeroU32>,
}

fn preset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static Preset>, D::Error> {
    let name = String::deserialize(deserializer)?;
    Preset::named(&name).map(Some).ok_or_else(|| {
        let names: Vec<String> = ALL.iter().map(|preset| format!("`{}`", preset.name)).collect();
        serde::de::Error::custom(format!("unknown preset `{name}`, expected one of {}", names.join(", ")))
    })
}

/// What a million tokens cost, in millionths; written as a number of whole money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    #[serde(deserialize_with = "money")]
    pub input: u64,
    /// Input from the provider's cache; as other input when not set.
    #[serde(default, deserialize_with = "some_money")]
    pub cached_input: Option<u64>,
    #[serde(deserialize_with = "money")]
    pub output: u64,
}

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if !amount.is_finite() || !(0.0..1e9).contains(&amount) {
        return Err(serde::de::Error::custom(format!(
            "{amount} is no price and no sum of money; write for example 2.5"
        )));
    }
    // Within what was just checked.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok((amount * 1e6).round() as u64)
}

fn some_money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    money(deserializer).map(Some)
}

impl Default for Model {
    fn default() -> Self {
        Self {
            preset: None,
            base_url: None,
            model: None,
            api_key_env: None,
            timeout_seconds: const { NonZeroU32::new(120).unwrap() },
            context_tokens: None,
            max_output_tokens: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Manager {
    /// `raw/` cannot be written.
    pub protect_raw: bool,
    pub review: Review,
    /// File patterns from the bundle's root: what is created or changed there is approved without a question.
    pub automatic: Vec<String>,
}

impl Default for Manager {
    fn default() -> Self {
        Self { protect_raw: true, review: Review::default(), automatic: Vec::new() }
    }
}

/// When the workbench asks about staged changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Review {
    /// When the turn has ended.
    #[default]
    Turn,
    /// After each step that staged something; the turn waits.
    Write,
}

/// What one session of an agent may use; a key that is left out sets no limit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Answers of the model in one turn.
    pub steps: NonZeroU32,
    /// Minutes of one turn.
    pub minutes: Option<NonZeroU32>,
    /// Tokens in and out of a session.
    pub tokens: Option<u64>,
    /// Money of a session, in millionths of the currency of `[prices]`; written as a number of whole money.
    #[serde(deserialize_with = "some_money")]
    pub money: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: const { NonZeroU32::new(100).unwrap() }, minutes: None, tokens: None, money: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reader {
    /// What the reader says when the wiki is silent; none for its own sentence.
    pub not_found_message: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lint {
    pub profile: Option<Profile>,
    /// Only these rules; none: all.
    pub select: Option<Vec<Selector>>,
    /// Not these.
    pub ignore: Vec<Selector>,
    /// Off, or another level than the profile's.
    pub levels: BTreeMap<Selector, Setting>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    #[default]
    Auto,
    Wiki,
    Okf,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Storage {
    /// How often object storage is looked through for what others changed; 0: never.
    pub poll_seconds: u32,
}

impl Default for Storage {
    fn default() -> Self {
        Self { poll_seconds: 30 }
    }
}

/// How source documents are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Documents {
    /// Characters that the manager is shown of a document at once.
    pub max_chars: NonZeroU32,
    /// Converted texts are kept in the user's cache folder.
    pub cache: bool,
}

impl Default for Documents {
    fn default() -> Self {
        Self { max_chars: const { NonZeroU32::new(200_000).unwrap() }, cache: true }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Display {
    pub color: Option<Color>,
    pub theme: Option<Look>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Colours unless `NO_COLOR` is set.
    #[default]
    Auto,
    Never,
}

impl File {
    /// `None` when there is no such file.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let unreadable = |message: String| Error::Unreadable { path: path.to_path_buf(), message };
        let facts = match std::fs::metadata(path) {
            Ok(facts) => facts,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(unreadable(e.to_string())),
        };
        // Reading a FIFO would wait for a writer for ever.
        if !facts.is_file() {
            return Err(unreadable("not a regular file".to_owned()));
        }
        if facts.len() > MAX_BYTES {
            return Err(unreadable(format!("larger than {MAX_BYTES} bytes; that is no configuration file")));
        }
        let bytes = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            unreadable(format!("not UTF-8 text (first bad byte at offset {})", e.utf8_error().valid_up_to()))
        })?;
        Self::parse(&text, path).map(Some)
    }

    /// `path` is only named in errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        from_toml(text, path)
    }
}

/// `path` is only named in errors.
pub(super) fn from_toml<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let place = LineIndex::new(text).position(text, start);
        Error::Invalid {
            path: path.to_path_buf(),
            line: place.line,
            column: place.column,
            message: error.message().lines().collect::<Vec<_>>().join(", "),
        }
    })
}
