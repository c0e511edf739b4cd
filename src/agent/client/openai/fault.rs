//! What went wrong, as one plain sentence that says what to do; and keeping the key out of it.

use std::time::Duration;

use async_openai::error::OpenAIError;
use serde_json::Value;

use crate::agent::client::{ModelError, ModelErrorKind};

/// A failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub error: ModelError,
    /// Trying again may help.
    pub retryable: bool,
    /// What the server asked for.
    pub retry_after: Option<Duration>,
}

/// An answer that is no event stream.
#[derive(Debug, thiserror::Error)]
#[error("refused with status {status}")]
pub struct Refused {
    pub status: u16,
    pub content_type: String,
    pub retry_after: Option<String>,
    pub body: String,
}

/// Takes the key out of texts.
#[derive(Clone)]
pub struct Redactor {
    /// The endpoint to name in sentences, without user and password.
    place: String,
    key: String,
}

impl Redactor {
    pub fn new(base_url: &str, key: &str) -> Self {
        let place = reqwest::Url::parse(base_url).map_or_else(
            |_| base_url.to_owned(),
            |mut url| {
                // An error: the address cannot have a user, so there is none to hide.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.set_query(None);
                url.as_str().trim_end_matches('/').to_owned()
            },
        );
        Self { place, key: key.to_owned() }
    }

    pub fn error(&self, error: ModelError) -> ModelError {
        ModelError { kind: error.kind, message: self.text(&error.message) }
    }

    fn text(&self, text: &str) -> String {
        let text = if self.key.len() < 4 { text.to_owned() } else { text.replace(&self.key, "[key]") };
        let mut hide = false;
        let words: Vec<String> = text
            .split(' ')
            .map(|word| {
                let hidden = std::mem::replace(&mut hide, word.ends_with("Bearer"));
                if !hidden {
                    return word.to_owned();
                }
                // The sentence around the key goes on.
                let end = word.trim_end_matches([')', '.', ',', ';', '"', '\'', '}']).len();
                format!("[key]{}", word.get(end..).unwrap_or_default())
            })
            .collect();
        words.join(" ")
    }
}

fn failure(kind: ModelErrorKind, retryable: bool, message: impl Into<String>) -> Failure {
    Failure { error: ModelError { kind, message: message.into() }, retryable, retry_after: None }
}

/// Why a request got no stream.
pub fn of_request(error: OpenAIError, redact: &Redactor) -> Failure {
    let place = &redact.place;
    match error {
        OpenAIError::Reqwest(error) => of_send(&error, place),
        OpenAIError::Boxed(error) => match error.downcast::<Refused>() {
            Ok(refused) => of_refusal(&refused, place),
            Err(_) => failure(ModelErrorKind::Connection, false, format!("The request to {place} failed.")),
        },
        _ => failure(
            ModelErrorKind::Protocol,
            false,
            format!("The request to {place} could not be made. Check base_url."),
        ),
    }
}

fn of_send(error: &reqwest::Error, place: &str) -> Failure {
    if error.is_builder() {
        return failure(
            ModelErrorKind::Protocol,
            false,
            format!("{place} is no web address. Check base_url."),
        );
    }
    let cause = root_cause(error);
    if error.is_connect() && error.is_timeout() {
        let message = format!("No connection to {place} in time. Check base_url and the network.");
        return failure(ModelErrorKind::Timeout, true, message);
    }
    if error.is_connect() {
        let message =
            format!("Cannot connect to {place} ({cause}). Is the server running, and is base_url right?");
        return failure(ModelErrorKind::Connection, true, message);
    }
    if error.is_timeout() {
        let message = format!("{place} did not answer in time. It may be loading the model: try again.");
        return failure(ModelErrorKind::Timeout, false, message);
    }
    failure(ModelErrorKind::Connection, true, format!("The connection to {place} broke off ({cause})."))
}

/// The innermost cause: outer ones repeat the address.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn of_refusal(refused: &Refused, place: &str) -> Failure {
    let Refused { status, content_type, retry_after, body } = refused;
    let said = said(body);
    let text = said.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
    match status {
        200..=299 => failure(
            ModelErrorKind::Protocol,
            false,
            format!(
                "{place} answered with {} instead of a stream of events. This is no OpenAI-compatible endpoint: check base_url.",
                if content_type.is_empty() { "an unnamed content type" } else { content_type }
            ),
        ),
        300..=399 => failure(
            ModelErrorKind::Protocol,
            false,
            format!(
                "{place} redirects elsewhere (status {status}), and redirects are not followed. Check base_url."
            ),
        ),
        401 | 403 => failure(
            ModelErrorKind::Unauthorized,
            false,
            format!(
                "{place} refused the API key (status {status}{text}). Check the key and the variable it comes from."
            ),
        ),
        404 => failure(
            ModelErrorKind::Provider,
            false,
            format!(
                "{place} does not know this model or address (status 404{text}). Check base_url and model."
            ),
        ),
        _ if is_context_length(body) => failure(
            ModelErrorKind::ContextLength,
            false,
            format!("The conversation is longer than the model can take{text}. Start a new one."),
        ),
        429 if body.contains("insufficient_quota") => failure(
            ModelErrorKind::RateLimited,
            false,
            format!("The account at {place} has no quota left{text}."),
        ),
        429 => Failure {
            retry_after: retry_after.as_deref().and_then(parse_retry_after),
            ..failure(
                ModelErrorKind::RateLimited,
                true,
                format!("{place} is asked too often (status 429{text})."),
            )
        },
        408 | 409 | 500..=599 => Failure {
            retry_after: retry_after.as_deref().and_then(parse_retry_after),
            ..failure(ModelErrorKind::Provider, true, format!("{place} failed (status {status}{text})."))
        },
        _ => failure(
            ModelErrorKind::Provider,
            false,
            format!("{place} refused the request (status {status}{text})."),
        ),
    }
}

/// Seconds, whole or not, or an HTTP date.
pub fn parse_retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Duration::try_from(at.duration_since(jiff::Timestamp::now())).ok()
}

/// A provider's own words, cut short: from JSON in its shapes; HTML says nothing to people.
fn said(body: &str) -> Option<String> {
    let text = match serde_json::from_str::<Value>(body) {
        Ok(value) => message_of(value.get("error").unwrap_or(&value))?,
        Err(_) if body.trim_start().starts_with('<') => return None,
        Err(_) => body.to_owned(),
    };
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
    Some(text.trim_end_matches('.').to_owned()).filter(|text| !text.is_empty())
}

fn message_of(error: &Value) -> Option<String> {
    match error {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => {
            ["message", "detail", "error"].iter().find_map(|name| map.get(*name).and_then(message_of))
        }
        _ => None,
    }
}

fn is_context_length(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "context_length",
        "context length",
        "maximum context",
        "context window",
        "exceed_context",
        "context size",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

/// An error object inside a stream.
pub fn in_chunk(chunk: &Value) -> Option<Failure> {
    let error = chunk.get("error").filter(|error| !error.is_null())?;
    let said = said(&chunk.to_string()).unwrap_or_else(|| "no reason given".to_owned());
    if is_context_length(&error.to_string()) {
        let message = format!("The conversation is longer than the model can take: {said}. Start a new one.");
        return Some(failure(ModelErrorKind::ContextLength, false, message));
    }
    Some(failure(ModelErrorKind::Provider, true, format!("The model's server reported an error: {said}.")))
}

/// A broken connection while the answer came.
pub fn of_body(error: &reqwest::Error) -> Failure {
    if error.is_timeout() {
        let message = "The model fell silent in the middle of its answer. Ask again.";
        return failure(ModelErrorKind::Timeout, true, message);
    }
    let message =
        format!("The connection broke off in the middle of the answer ({}). Ask again.", root_cause(error));
    failure(ModelErrorKind::Connection, true, message)
}

pub fn too_large() -> Failure {
    failure(
        ModelErrorKind::Protocol,
        false,
        "The model's server sent an event that is too large to be an answer.",
    )
}

pub fn endless() -> Failure {
    let message = "The model's answer is larger than any answer should be and was stopped. Ask for less, or use another model.";
    failure(ModelErrorKind::Protocol, false, message)
}

pub fn not_json() -> Failure {
    failure(
        ModelErrorKind::Protocol,
        false,
        "The model's server sent an event that is not JSON. Check base_url.",
    )
}

pub fn cut() -> Failure {
    failure(ModelErrorKind::Cut, true, "The model's answer broke off before it was complete. Ask again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_taken_out_wherever_it_stands() {
        let redact = Redactor::new("https://me:pw@host/v1?key=x", "sk-secret");
        assert_eq!(redact.place, "https://host/v1");
        assert_eq!(redact.text("bad sk-secret, Bearer abc def"), "bad [key], Bearer [key] def");
        assert_eq!(redact.text("(got Bearer abc)."), "(got Bearer [key]).");
    }

    #[test]
    fn waits_are_read_in_seconds_and_as_dates() {
        assert_eq!(parse_retry_after("1"), Some(Duration::from_secs(1)));
        assert_eq!(parse_retry_after(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(parse_retry_after("-1"), None);
        assert_eq!(parse_retry_after("junk"), None);
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), None, "the past");
        let wait = parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT").unwrap();
        assert!(wait > Duration::from_secs(86_400));
    }

    #[test]
    fn a_providers_words_are_found_in_its_shapes() {
        for (body, words) in [
            (r#"{"error":{"message":"No such model.","code":404}}"#, Some("No such model")),
            (r#"{"error":"text"}"#, Some("text")),
            (r#"{"detail":"x"}"#, Some("x")),
            ("plain\n words", Some("plain words")),
            ("<html>login</html>", None),
            ("", None),
            ("{}", None),
        ] {
            assert_eq!(said(body).as_deref(), words, "{body}");
        }
    }
}
