//! What went wrong, as one plain sentence that says what to do.

use std::time::Duration;

use async_openai::error::OpenAIError;
use serde_json::Value;

use super::redact::{Redactor, unescape};
use crate::agent::client::{ModelError, ModelErrorKind};
use crate::text::Safe;

/// Characters of a provider's own words that are shown.
const MAX_WORDS: usize = 300;

/// A failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub error: ModelError,
    /// Trying again may help.
    pub retryable: bool,
    /// What the server asked for.
    pub retry_after: Option<Duration>,
    /// The server may have refused the request for one of its optional parts: what it said.
    pub refused: Option<String>,
}

/// An answer that is no event stream.
#[derive(Debug, thiserror::Error)]
#[error("refused with status {status}")]
pub struct Refused {
    pub status: u16,
    pub content_type: String,
    pub retry_after: Option<String>,
    /// Its start.
    pub body: String,
    /// There was more.
    pub cut: bool,
}

fn failure(kind: ModelErrorKind, retryable: bool, message: impl Into<String>) -> Failure {
    Failure {
        error: ModelError { kind, message: message.into() },
        retryable,
        retry_after: None,
        refused: None,
    }
}

/// Why a request got no stream.
pub fn of_request(error: OpenAIError, redact: &Redactor) -> Failure {
    let place = &redact.place;
    match error {
        OpenAIError::Reqwest(error) => of_send(&error, place),
        OpenAIError::Boxed(error) => match error.downcast::<Refused>() {
            Ok(refused) => of_refusal(&refused, redact),
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
    if error.is_connect() && cause.contains("proxy authorization required") {
        return proxy(place);
    }
    // The type of the cause lies below what the layers between hand on.
    if error.is_connect() && cause.contains("certificate") {
        let message = format!(
            "The certificate of {place} is not trusted here ({cause}). Check base_url; if the server is yours, add its certificate to \
             those of this system."
        );
        return failure(ModelErrorKind::Connection, false, message);
    }
    if error.is_connect() {
        let message =
            format!("Cannot connect to {place} ({cause}). Is the server running, and is base_url right?");
        return failure(ModelErrorKind::Connection, true, message);
    }
    failure(ModelErrorKind::Connection, true, format!("The connection to {place} broke off ({cause})."))
}

/// The status 407, for a request or for the tunnel that it was to go through.
fn proxy(place: &str) -> Failure {
    failure(
        ModelErrorKind::Connection,
        false,
        format!(
            "The proxy on the way to {place} wants a name and a password (status 407). Check HTTPS_PROXY and HTTP_PROXY."
        ),
    )
}

/// The innermost cause: outer ones repeat the address.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// No sign of an answer in time.
pub fn silent(place: &str) -> Failure {
    let message = format!("{place} did not answer in time. It may be loading the model: try again.");
    failure(ModelErrorKind::Timeout, false, message)
}

fn of_refusal(refused: &Refused, redact: &Redactor) -> Failure {
    let Refused { status, content_type, retry_after, body, cut } = refused;
    let place = &redact.place;
    let said = said(body, *cut, redact);
    let text = said.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
    let provider = |retryable, message| failure(ModelErrorKind::Provider, retryable, message);
    let failure = match status {
        200..=299 => match serde_json::from_str(body).ok().as_ref().and_then(|body| in_chunk(body, redact)) {
            Some(failure) => failure,
            None => {
                let kind = if content_type.is_empty() { "an unnamed content type" } else { content_type };
                let kind = Safe::line(kind);
                let message = format!(
                    "{place} answered with {kind} instead of a stream of events. This is no OpenAI-compatible endpoint: check base_url."
                );
                failure(ModelErrorKind::Protocol, false, message)
            }
        },
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
        407 => proxy(place),
        413 => failure(ModelErrorKind::ContextLength, false, too_long(&format!("status {status}{text}"))),
        _ if is_context_length(body) => {
            failure(ModelErrorKind::ContextLength, false, too_long(&format!("status {status}{text}")))
        }
        404 => provider(
            false,
            format!(
                "{place} does not know this model or address (status 404{text}). Check base_url and model."
            ),
        ),
        402 => failure(ModelErrorKind::RateLimited, false, no_quota(place, &text)),
        429 if is_quota(body) => failure(ModelErrorKind::RateLimited, false, no_quota(place, &text)),
        429 => failure(
            ModelErrorKind::RateLimited,
            true,
            format!("{place} is asked too often (status 429{text})."),
        ),
        400 | 422 | 500 if is_without_tools(body) => provider(
            false,
            format!(
                "This model cannot call tools (status {status}{text}). The agents need one that can: set another model."
            ),
        ),
        408 | 409 | 500..=599 => provider(true, format!("{place} failed (status {status}{text}).")),
        _ => provider(false, format!("{place} refused the request (status {status}{text}).")),
    };
    Failure {
        retry_after: retry_after.as_deref().filter(|_| failure.retryable).and_then(parse_retry_after),
        refused: matches!(status, 400 | 404 | 422 | 500 | 501).then(|| body.clone()),
        ..failure
    }
}

fn too_long(why: &str) -> String {
    format!("The conversation is longer than the model can take ({why}). Start a new one.")
}

fn no_quota(place: &str, text: &str) -> String {
    format!("The account at {place} has no quota left{text}.")
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

/// A provider's own words, fit to show: from JSON in its shapes, whole or cut off; HTML says nothing to people.
fn said(body: &str, cut: bool, redact: &Redactor) -> Option<String> {
    let text = match serde_json::from_str::<Value>(body) {
        Ok(value) => message_of(value.get("error").filter(|error| is_error(error)).unwrap_or(&value))?,
        Err(_) if body.trim_start().starts_with('<') => return None,
        Err(_) => message_in(body).unwrap_or_else(|| body.to_owned()),
    };
    words(&text, cut, redact)
}

/// One line without secrets and without anything that drives a terminal, cut short.
fn words(text: &str, cut: bool, redact: &Redactor) -> Option<String> {
    // Secrets first: what is cut or marked afterwards is no longer recognised.
    let text = redact.text(text, cut);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = Safe::line(&text).as_str().chars().take(MAX_WORDS).collect();
    Some(text.trim_end_matches('.').to_owned()).filter(|text| !text.is_empty())
}

fn message_of(error: &Value) -> Option<String> {
    match error {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => {
            ["message", "detail", "error", "msg"].iter().find_map(|name| map.get(*name).and_then(message_of))
        }
        Value::Array(list) => list.iter().find_map(message_of),
        _ => None,
    }
}

/// The message in JSON that was cut off.
fn message_in(body: &str) -> Option<String> {
    let (_, rest) = body.split_once("\"message\"")?;
    let mut rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    while !rest.starts_with('"')
        && let Some((c, after)) = unescape(rest)
    {
        text.push(c);
        rest = after;
    }
    Some(text)
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
        "prompt is too long",
        "input is too long",
        "maximum number of tokens",
        "too many input tokens",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

fn is_quota(text: &str) -> bool {
    let text = text.to_lowercase();
    ["insufficient_quota", "credit balance", "billing_hard_limit", "insufficient credits", "quota_exhausted"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn is_without_tools(text: &str) -> bool {
    let text = text.to_lowercase();
    ["does not support tools", "tool use is not supported", "no endpoints found that support tool use"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// Some servers send an empty field for no error.
fn is_error(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

/// An error inside a stream, in any of its shapes: an error object, a choice's own error, a finish reason that is none.
pub fn in_chunk(chunk: &Value, redact: &Redactor) -> Option<Failure> {
    let choice = chunk.get("choices").and_then(|choices| choices.get(0));
    let of = |value: &Value| value.get("error").filter(|error| is_error(error)).cloned();
    let names_error = ["object", "type"].iter().any(|name| chunk.get(*name).is_some_and(|v| v == "error"));
    let error = of(chunk)
        .or_else(|| choice.and_then(of))
        .or_else(|| choice.and_then(|choice| choice.get("delta")).and_then(of))
        .or_else(|| names_error.then(|| chunk.clone()));
    match error {
        Some(error) => Some(of_error(&error, redact)),
        None => of_reason(choice?, redact),
    }
}

fn of_error(error: &Value, redact: &Redactor) -> Failure {
    let text = error.to_string();
    let said = message_of(error)
        .and_then(|message| words(&message, false, redact))
        .unwrap_or_else(|| "no reason given".to_owned());
    let field = |name: &str| match error.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let code = field("code");
    if is_context_length(&text) {
        return failure(ModelErrorKind::ContextLength, false, too_long(&said));
    }
    if is_quota(&text) {
        return failure(ModelErrorKind::RateLimited, false, no_quota(&redact.place, &format!(": {said}")));
    }
    if code == "429" || code.contains("rate_limit") || field("type").contains("rate_limit") {
        let message = format!("{} is asked too often ({said}).", redact.place);
        return failure(ModelErrorKind::RateLimited, true, message);
    }
    if matches!(code.as_str(), "401" | "403" | "invalid_api_key") {
        let message = format!(
            "{} refused the API key ({said}). Check the key and the variable it comes from.",
            redact.place
        );
        return failure(ModelErrorKind::Unauthorized, false, message);
    }
    // A request that is wrong stays wrong.
    let hopeless = matches!(code.as_str(), "400" | "404" | "422") || field("type") == "invalid_request_error";
    failure(ModelErrorKind::Provider, !hopeless, format!("The model's server reported an error: {said}."))
}

fn of_reason(choice: &Value, redact: &Redactor) -> Option<Failure> {
    let text = |name: &str| choice.get(name).and_then(Value::as_str).unwrap_or_default();
    let reason = text("finish_reason");
    let native = words(text("native_finish_reason"), false, redact);
    let native =
        native.filter(|native| native != reason).map(|native| format!(" ({native})")).unwrap_or_default();
    let plain = reason.to_lowercase();
    if plain == "error" || plain.starts_with("error:") || plain == "malformed_function_call" {
        let message = format!("The model's server ended the answer with an error{native}. Ask again.");
        return Some(failure(ModelErrorKind::Provider, true, message));
    }
    let filters =
        ["content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"];
    if filters.iter().any(|filter| plain.starts_with(filter)) {
        let message = format!(
            "The provider's content filter stopped the answer{native}. Ask in another way, or use another model."
        );
        return Some(failure(ModelErrorKind::Provider, false, message));
    }
    None
}

/// A broken connection while the answer came.
pub fn of_body(error: &reqwest::Error) -> Failure {
    let message =
        format!("The connection broke off in the middle of the answer ({}). Ask again.", root_cause(error));
    failure(ModelErrorKind::Connection, true, message)
}

/// Nothing more came in time.
pub fn stalled() -> Failure {
    let message = "The model fell silent in the middle of its answer. Ask again.";
    failure(ModelErrorKind::Timeout, true, message)
}

/// Bytes came, but no piece of an answer.
pub fn idling() -> Failure {
    let message =
        "The model's server kept the connection open for too long without a piece of the answer. Ask again.";
    failure(ModelErrorKind::Timeout, false, message)
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
        let redact = Redactor::new("http://host/v1", "");
        for (body, words) in [
            (r#"{"error":{"message":"No such model.","code":404}}"#, Some("No such model")),
            (r#"{"error":"text"}"#, Some("text")),
            (r#"{"detail":"x"}"#, Some("x")),
            (r#"{"detail":[{"msg":"y"}]}"#, Some("y")),
            (r#"[{"error":{"message":"z"}}]"#, Some("z")),
            (r#"{"error":{"message":"cut \u00e9 o"#, Some("cut é o")),
            ("plain\n words", Some("plain words")),
            ("<html>login</html>", None),
            ("", None),
            ("{}", None),
        ] {
            assert_eq!(said(body, false, &redact).as_deref(), words, "{body}");
        }
    }
}
