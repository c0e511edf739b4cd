//! Any OpenAI-compatible endpoint, through async-openai with our own types on both sides and our own layer under it.
//!
//! One place retries, and only what has shown nothing yet. Redirects are off, so that neither key nor conversation reaches
//! another server. Nothing is read from the environment here.

mod assemble;
mod fault;
mod transport;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_openai::config::Config;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::mpsc::{Sender, channel};

use self::assemble::{Assembly, Piece};
use self::fault::{Failure, Redactor};
use self::transport::{Guarded, Watch};
use super::{ModelClient, ModelError, ModelErrorKind, ModelEvent, Request};

/// Longest wait that a server's `Retry-After` may ask for.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// How to reach an endpoint.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// Up to and with `/v1`, as a rule.
    pub base_url: String,
    pub model: String,
    pub key: Option<SecretString>,
    pub connect_timeout: Duration,
    /// Longest silence: before the answer starts and between its pieces.
    pub idle_timeout: Duration,
    /// Wait before the first retry; it doubles each time.
    pub retry_delay: Duration,
    pub max_retries: u32,
}

impl OpenAiSettings {
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, key: Option<SecretString>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            retry_delay: Duration::from_millis(500),
            max_retries: 3,
        }
    }
}

/// A client of one endpoint and model.
pub struct OpenAi {
    inner: Arc<Inner>,
}

struct Inner {
    model: String,
    endpoint: Endpoint,
    http: reqwest::Client,
    redact: Redactor,
    retry_delay: Duration,
    max_retries: u32,
}

/// What async-openai asks of a configuration. Its own one reads keys for OpenAI from the environment and would send them to
/// any endpoint.
#[derive(Clone)]
struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    key: SecretString,
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

impl OpenAi {
    /// Fails when the key cannot be sent or the system's TLS cannot be set up; connects to nothing yet.
    pub fn new(settings: OpenAiSettings) -> Result<Self, ModelError> {
        // An error: it was installed before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let key = settings.key.as_ref().map(|key| key.expose_secret().trim().to_owned()).unwrap_or_default();
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| ModelError {
                kind: ModelErrorKind::Unauthorized,
                message: "The API key holds characters that no key has (a line break?). Set it again."
                    .to_owned(),
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.connect_timeout)
            .read_timeout(settings.idle_timeout)
            .build()
            .map_err(|error| ModelError {
                kind: ModelErrorKind::Connection,
                message: format!("The connection to models cannot be set up: {error}."),
            })?;
        let base_url = settings.base_url.trim().trim_end_matches('/').to_owned();
        let redact = Redactor::new(&base_url, &key);
        let endpoint = Endpoint { base_url, headers, key: SecretString::from(key) };
        let (retry_delay, max_retries) = (settings.retry_delay, settings.max_retries);
        let inner = Inner { model: settings.model, endpoint, http, redact, retry_delay, max_retries };
        Ok(Self { inner: Arc::new(inner) })
    }
}

impl ModelClient for OpenAi {
    fn name(&self) -> &str {
        &self.inner.model
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (events, queue) = channel(64);
        let task = Aborting(tokio::spawn(run(self.inner.clone(), request, events)));
        futures::stream::unfold((queue, task), |(mut queue, task)| async move {
            queue.recv().await.map(|event| (event, (queue, task)))
        })
        .boxed()
    }
}

/// Ends its task when it is dropped: a dropped stream closes its connection.
struct Aborting(tokio::task::JoinHandle<()>);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

type Events = Sender<Result<ModelEvent, ModelError>>;

async fn run(inner: Arc<Inner>, request: Request, events: Events) {
    let body = wire::request(&inner.model, &request);
    let mut attempt = 0;
    loop {
        let failure = match ask(&inner, &body, &events).await {
            Ok(()) => return,
            Err(failure) => failure,
        };
        if !failure.retryable || attempt >= inner.max_retries {
            // An error: nobody listens any more. The same below.
            let _ = events.send(Err(inner.redact.error(failure.error))).await;
            return;
        }
        attempt += 1;
        let wait = wait(inner.retry_delay, attempt, failure.retry_after);
        let cause = inner.redact.error(failure.error).message;
        if events.send(Ok(ModelEvent::Retrying { attempt, wait, cause })).await.is_err() {
            return;
        }
        tokio::time::sleep(wait).await;
    }
}

/// Doubling from `delay`, with up to a quarter more so that clients do not come back all at once; at least what the server
/// asked for, within [`MAX_WAIT`].
fn wait(delay: Duration, attempt: u32, asked: Option<Duration>) -> Duration {
    let doubled = delay.saturating_mul(1 << (attempt - 1).min(6));
    let jitter = std::collections::hash_map::RandomState::new();
    let quarter = u32::try_from(std::hash::BuildHasher::hash_one(&jitter, attempt) % 256).unwrap_or(0);
    let jittered = doubled + doubled * quarter / 1024;
    jittered.max(asked.unwrap_or_default()).min(MAX_WAIT)
}

/// One attempt. Text and reasoning go out as they come; from then on a failure is not retryable.
async fn ask(inner: &Inner, body: &Value, events: &Events) -> Result<(), Failure> {
    let watch = Arc::new(Watch::default());
    let service = Guarded::new(inner.http.clone(), watch.clone());
    let client =
        async_openai::Client::build(inner.http.clone(), inner.endpoint.clone()).with_http_service(service);
    let mut stream = client
        .chat()
        .create_stream_byot::<_, Value>(body)
        .await
        .map_err(|error| fault::of_request(error, &inner.redact))?;
    let mut assembly = Assembly::default();
    let mut shown = false;
    while let Some(chunk) = stream.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(_) => {
                let mut failure = watch.take_fault().unwrap_or_else(fault::not_json);
                failure.retryable &= !shown;
                return Err(failure);
            }
        };
        if let Some(mut failure) = fault::in_chunk(&chunk) {
            failure.retryable &= !shown;
            return Err(failure);
        }
        for piece in assembly.push(&chunk) {
            shown = true;
            let event = match piece {
                Piece::Text(text) => ModelEvent::Text(text),
                Piece::Reasoning(text) => ModelEvent::Reasoning(text),
            };
            if events.send(Ok(event)).await.is_err() {
                return Ok(());
            }
        }
        shown |= assembly.has_calls();
        if assembly.is_too_large() {
            return Err(fault::endless());
        }
    }
    if let Some(mut failure) = watch.take_fault() {
        failure.retryable &= !shown;
        return Err(failure);
    }
    if !assembly.is_finished() && !watch.saw_done() {
        return Err(Failure { retryable: !shown, ..fault::cut() });
    }
    let _ = events.send(Ok(ModelEvent::Done(assembly.finish()))).await;
    Ok(())
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;
