//! Which model to talk to: flags, then `WIKIWRIGHT_*`, then the user's file, then `OPENAI_*`, then a local Ollama.
//!
//! A key goes only to the server it was meant for: the file's key to the file's server, `OPENAI_API_KEY` to
//! `OPENAI_BASE_URL` or OpenAI itself.

use std::path::Path;

use secrecy::SecretString;

use super::file;
use super::{Environment, Error, Flags};

/// OpenAI's own server.
pub const OPENAI: &str = "https://api.openai.com/v1";
/// Asked of OpenAI's own server when `OPENAI_API_KEY` is all that is set.
pub const OPENAI_MODEL: &str = "gpt-5-mini";
/// Where Ollama listens unless told otherwise.
pub const OLLAMA: &str = "http://localhost:11434/v1";

/// A server and a model on it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Without a trailing slash.
    pub base_url: String,
    pub model: String,
    pub api_key: Option<SecretString>,
}

/// What the settings say about the model.
#[derive(Debug, Clone)]
pub enum Choice {
    Endpoint(Endpoint),
    /// Nothing is set: use an Ollama server if one answers, with this model if one was named.
    AskOllama {
        model: Option<String>,
    },
    /// Something is set, but not enough: one sentence that says what is missing.
    Incomplete(String),
}

/// `path` names the file that `file` was read from.
pub(super) fn choose(
    flags: &Flags,
    environment: &Environment,
    file: &file::Model,
    path: &Path,
) -> Result<Choice, Error> {
    let set =
        |value: &Option<String>| value.as_deref().map(str::trim).filter(|v| !v.is_empty()).map(str::to_owned);
    let variable = |name: &str| environment.get(name).map(str::to_owned);

    let model = set(&flags.model).or_else(|| variable("WIKIWRIGHT_MODEL")).or_else(|| set(&file.model));
    let own_key = variable("WIKIWRIGHT_API_KEY");
    let file_key = set(&file.api_key_env);

    if let Some(value) = set(&flags.base_url) {
        return Ok(explicit(base_url("--base-url", &value)?, model, own_key));
    }
    if let Some(value) = variable("WIKIWRIGHT_BASE_URL") {
        return Ok(explicit(base_url("WIKIWRIGHT_BASE_URL", &value)?, model, own_key));
    }
    let key = match (own_key, file_key) {
        (Some(key), _) => Some(key),
        (None, Some(name)) => match variable(&name) {
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
    if let Some(value) = set(&file.base_url) {
        let origin = format!("{}: base_url", path.display());
        return Ok(explicit(base_url(&origin, &value)?, model, key));
    }
    if let Some(key) = key.or_else(|| variable("OPENAI_API_KEY")) {
        let base = match variable("OPENAI_BASE_URL") {
            Some(value) => base_url("OPENAI_BASE_URL", &value)?,
            None => OPENAI.to_owned(),
        };
        let model = model
            .or_else(|| variable("OPENAI_MODEL"))
            .or_else(|| (base == OPENAI).then(|| OPENAI_MODEL.to_owned()));
        return Ok(explicit(base, model, Some(key)));
    }
    Ok(Choice::AskOllama { model })
}

fn explicit(base_url: String, model: Option<String>, key: Option<String>) -> Choice {
    match model {
        Some(model) => Choice::Endpoint(Endpoint { base_url, model, api_key: key.map(SecretString::from) }),
        None => Choice::Incomplete(format!(
            "The server {base_url} is set, but no model on it: name one with --model, WIKIWRIGHT_MODEL or `model` in the configuration file."
        )),
    }
}

fn base_url(origin: &str, value: &str) -> Result<String, Error> {
    let wrong = || Error::BaseUrl { origin: origin.to_owned(), value: value.to_owned() };
    let url = reqwest::Url::parse(value).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    Ok(value.trim_end_matches('/').to_owned())
}
