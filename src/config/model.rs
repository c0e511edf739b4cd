//! Which model to talk to: flags, then `WIKIWRIGHT_*`, then the user's file, then `OPENAI_*`, then a local Ollama.
//!
//! A key goes only to the server it was meant for: the file's key to the file's server, a preset's key to the preset's own
//! server, `OPENAI_API_KEY` to `OPENAI_BASE_URL` or OpenAI itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;

use super::file;
use super::{Environment, Error, Flags};
use crate::agent::client::Price;
use crate::agent::client::preset::Preset;

/// OpenAI's own server.
pub const OPENAI: &str = "https://api.openai.com/v1";
/// Asked of OpenAI's own server when no other is named.
pub const OPENAI_MODEL: &str = "gpt-5-mini";
/// Where Ollama listens unless told otherwise.
pub const OLLAMA: &str = "http://localhost:11434/v1";

/// Where models are.
#[derive(Debug, Clone)]
pub struct Server {
    /// Without a trailing slash.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// What is known of it.
    pub preset: Option<&'static Preset>,
    /// The setting that its address comes from, to show.
    pub url_from: String,
    /// The variable that its key comes from.
    pub key_from: Option<String>,
}

/// A server and a model on it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub server: Server,
    pub model: String,
    /// The setting that the model's name comes from, to show.
    pub model_from: String,
}

/// What the settings say about the model.
#[derive(Debug, Clone)]
pub enum Choice {
    Endpoint(Endpoint),
    /// A server of the kind that runs at home is set, and no model: its first one.
    AskServer(Server),
    /// Nothing is set: use an Ollama server if one answers, with this model (and the setting it comes from) if one was named.
    AskOllama {
        model: Option<(String, String)>,
    },
    /// Something is set, but not enough: one sentence that says what is missing.
    Incomplete(String),
}

impl Choice {
    /// The model's name, where it is known without asking a server.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Endpoint(endpoint) => Some(&endpoint.model),
            Self::AskOllama { model } => model.as_ref().map(|(name, _)| name.as_str()),
            Self::AskServer(_) | Self::Incomplete(_) => None,
        }
    }
}

/// What holds for whichever model is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    /// Longest silence of the server.
    pub timeout: Duration,
    /// In tokens; none asks the server.
    pub context_window: Option<u64>,
    /// Most tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// By the model's name.
    pub prices: BTreeMap<String, Price>,
}

impl ModelOptions {
    pub(super) fn of(file: &file::File) -> Self {
        let price = |price: &file::Price| Price {
            input: price.input,
            cached: price.cached_input,
            output: price.output,
        };
        Self {
            timeout: Duration::from_secs(file.model.timeout_seconds.get().into()),
            context_window: file.model.context_tokens.map(|tokens| tokens.get().into()),
            max_output_tokens: file.model.max_output_tokens.map(std::num::NonZeroU32::get),
            prices: file.prices.iter().map(|(name, given)| (name.clone(), price(given))).collect(),
        }
    }
}

/// A value and the setting that it comes from.
type Set = Option<(String, String)>;

/// `path` names the file that `file` was read from.
pub(super) fn choose(
    flags: &Flags,
    environment: &Environment,
    file: &file::Model,
    path: &Path,
) -> Result<Choice, Error> {
    let set = |value: &Option<String>, from: &str| -> Set {
        let value = value.as_deref().map(str::trim).filter(|v| !v.is_empty())?;
        Some((value.to_owned(), from.to_owned()))
    };
    let variable = |name: &str| environment.get(name).map(|value| (value.to_owned(), name.to_owned()));
    let in_file = |key: &str| format!("{}: {key}", path.display());

    let model = set(&flags.model, "--model")
        .or_else(|| variable("WIKIWRIGHT_MODEL"))
        .or_else(|| set(&file.model, &in_file("model")));
    let own_key = variable("WIKIWRIGHT_API_KEY");

    let elsewhere = set(&flags.base_url, "--base-url").or_else(|| variable("WIKIWRIGHT_BASE_URL"));
    if let Some((value, from)) = elsewhere {
        return Ok(complete(server(&value, from, own_key, None)?, model));
    }
    let file_key = set(&file.api_key_env, "");
    let key = match (own_key, file_key) {
        (Some(key), _) => Some(key),
        (None, Some((name, _))) => match variable(&name) {
            Some(key) => Some(key),
            None => {
                return Ok(Choice::Incomplete(format!(
                    "{} takes the key from the environment variable {name}, which is not set.",
                    path.display()
                )));
            }
        },
        (None, None) => None,
    };
    if let Some((value, from)) = set(&file.base_url, &in_file("base_url")) {
        return Ok(complete(server(&value, from, key, file.preset)?, model));
    }
    if let Some(preset) = file.preset {
        let key = match (key, preset.key_env) {
            (None, Some(name)) => match variable(name) {
                Some(key) => Some(key),
                None => {
                    return Ok(Choice::Incomplete(format!(
                        "{} takes the key of {} from the environment variable {name}, which is not set.",
                        path.display(),
                        preset.title
                    )));
                }
            },
            (key, _) => key,
        };
        return Ok(complete(server(preset.base_url, in_file("preset"), key, Some(preset))?, model));
    }
    if let Some(key) = key.or_else(|| variable("OPENAI_API_KEY")) {
        let (base, from) =
            variable("OPENAI_BASE_URL").unwrap_or_else(|| (OPENAI.to_owned(), format!("{} is set", key.1)));
        return Ok(complete(
            server(&base, from, Some(key), None)?,
            model.or_else(|| variable("OPENAI_MODEL")),
        ));
    }
    Ok(Choice::AskOllama { model })
}

fn complete(server: Server, model: Set) -> Choice {
    let default = || {
        (server.base_url == OPENAI).then(|| (OPENAI_MODEL.to_owned(), "the default for OpenAI".to_owned()))
    };
    match model.or_else(default) {
        Some((model, model_from)) => Choice::Endpoint(Endpoint { server, model, model_from }),
        None if server.preset.is_some_and(Preset::is_local) => Choice::AskServer(server),
        None => Choice::Incomplete(format!(
            "The server {} is set, but no model on it: name one with --model, WIKIWRIGHT_MODEL or `model` in the configuration file.",
            server.base_url
        )),
    }
}

fn server(url: &str, url_from: String, key: Set, preset: Option<&'static Preset>) -> Result<Server, Error> {
    let base_url = base_url(&url_from, url)?;
    let (key, key_from) = key.unzip();
    let preset = preset.or_else(|| Preset::at(&base_url));
    Ok(Server { base_url, api_key: key.map(SecretString::from), preset, url_from, key_from })
}

fn base_url(origin: &str, value: &str) -> Result<String, Error> {
    let wrong = || Error::BaseUrl { origin: origin.to_owned(), value: value.to_owned() };
    let url = reqwest::Url::parse(value).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    Ok(value.trim_end_matches('/').to_owned())
}
