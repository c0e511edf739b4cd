//! Any OpenAI-compatible endpoint, through async-openai with our own types on both sides and our own layer under it.
//!
//! One place retries, and only what has shown nothing yet. Redirects are off, so that neither key nor conversation reaches
//! another server. Nothing is read from the environment here.

mod assemble;
mod fault;
mod models;
mod redact;
pub use redact::hide;
mod sse;
mod transport;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_openai::config::Config;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{Sender, channel};

use self::assemble::{Assembly, Piece};
use self::fault::Failure;
use self::redact::Redactor;
use self::transport::{Guarded, Patience, Watch};
use super::preset::Quirks;
use super::{ModelClient, ModelError, ModelErrorKind, ModelEvent, Price, Request};

/// Longest wait that a server's `Retry-After` may ask for.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// How long a server may take to end its stream after the answer's end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How to reach an endpoint.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// Up to and with `/v1`, as a rule.
    pub base_url: String,
    pub model: String,
    pub key: Option<SecretString>,
    pub connect_timeout: Duration,
    /// Longest wait for the answer's start, with the time to connect.
    pub first_byte_timeout: Duration,
    /// Longest silence between the pieces of the answer.
    pub idle_timeout: Duration,
    /// Longest time without a piece of the answer, though the server shows signs of life.
    pub progress_timeout: Duration,
    /// Wait before the first retry; it doubles each time.
    pub retry_delay: Duration,
    pub max_retries: u32,
    pub quirks: Quirks,
    /// Most tokens of one answer; none leaves it to the server.
    pub max_output_tokens: Option<u32>,
    /// The model's context window in tokens; none asks the server.
    pub context_window: Option<u64>,
    pub price: Option<Price>,
}

impl OpenAiSettings {
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, key: Option<SecretString>) -> Self {
        let base_url = base_url.into();
        Self {
            quirks: Quirks::of(&base_url),
            base_url,
            model: model.into(),
            key,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(120),
            progress_timeout: Duration::from_secs(600),
            retry_delay: Duration::from_millis(500),
            max_retries: 3,
            max_output_tokens: None,
            context_window: None,
            price: None,
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
    patience: Patience,
    retry_delay: Duration,
    max_retries: u32,
    max_output_tokens: Option<u32>,
    /// What the server takes; less than at first once it has refused something.
    quirks: Mutex<Quirks>,
    /// From the settings.
    context_window: Option<u64>,
    /// From the server's list, or the table.
    learned_window: OnceCell<Option<u64>>,
    price: Option<Price>,
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
            .build()
            .map_err(|error| ModelError {
                kind: ModelErrorKind::Connection,
                message: format!("The connection to models cannot be set up: {error}."),
            })?;
        let base_url = settings.base_url.trim().trim_end_matches('/').to_owned();
        let redact = Redactor::new(&base_url, &key);
        redact.remember();
        let endpoint = Endpoint { base_url, headers, key: SecretString::from(key) };
        let inner = Inner {
            model: settings.model,
            endpoint,
            http,
            redact,
            patience: Patience {
                first_byte: settings.first_byte_timeout,
                idle: settings.idle_timeout,
                progress: settings.progress_timeout.max(settings.idle_timeout),
            },
            retry_delay: settings.retry_delay,
            max_retries: settings.max_retries,
            max_output_tokens: settings.max_output_tokens,
            quirks: Mutex::new(settings.quirks),
            context_window: settings.context_window,
            learned_window: OnceCell::new(),
            price: settings.price,
        };
        Ok(Self { inner: Arc::new(inner) })
    }
}

impl OpenAi {
    /// The endpoint to show: its address without user, password and query.
    pub fn place(&self) -> &str {
        &self.inner.redact.place
    }
}

impl Inner {
    fn quirks(&self) -> Quirks {
        *self.quirks.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn context_window(&self) -> BoxFuture<'_, Option<u64>> {
        let inner = &self.inner;
        async move {
            if inner.context_window.is_some() {
                return inner.context_window;
            }
            *inner
                .learned_window
                .get_or_init(|| models::window(&inner.http, &inner.endpoint, &inner.model))
                .await
        }
        .boxed()
    }

    fn price(&self) -> Option<Price> {
        self.inner.price
    }

    fn takes_schema(&self) -> bool {
        self.inner.quirks().json_schema
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
    let mut attempt = 0;
    loop {
        let quirks = inner.quirks();
        let body = wire::request(&inner.model, &request, quirks, inner.max_output_tokens);
        let failure = match ask(&inner, &body, &events).await {
            Ok(()) => return,
            Err(failure) => failure,
        };
        // Not a retry: the next request is another one. Each quirk changes once, so this ends.
        if let Some(said) = &failure.refused
            && let Some(fewer) = quirks.without_refused(said, &body)
        {
            *inner.quirks.lock().unwrap_or_else(PoisonError::into_inner) = fewer;
            continue;
        }
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

/// Doubling from `delay` and at least what the server asked for, with up to a quarter more so that clients do not come back
/// all at once; within [`MAX_WAIT`].
fn wait(delay: Duration, attempt: u32, asked: Option<Duration>) -> Duration {
    let doubled = delay.saturating_mul(1 << attempt.saturating_sub(1).min(6));
    let least = doubled.max(asked.unwrap_or_default()).min(MAX_WAIT);
    let random = std::collections::hash_map::RandomState::new();
    let quarter = u32::try_from(std::hash::BuildHasher::hash_one(&random, attempt) % 256).unwrap_or(0);
    (least + least * quarter / 1024).min(MAX_WAIT)
}

/// One attempt. Text and reasoning go out as they come; from then on a failure is not retryable.
async fn ask(inner: &Inner, body: &Value, events: &Events) -> Result<(), Failure> {
    let watch = Arc::new(Watch::default());
    let service = Guarded {
        http: inner.http.clone(),
        watch: watch.clone(),
        patience: inner.patience,
        place: inner.redact.place.clone(),
    };
    let client =
        async_openai::Client::build(inner.http.clone(), inner.endpoint.clone()).with_http_service(service);
    let mut stream = client
        .chat()
        .create_stream_byot::<_, Value>(body)
        .await
        .map_err(|error| watch.take_fault().unwrap_or_else(|| fault::of_request(error, &inner.redact)))?;
    let mut assembly = Assembly::default();
    let mut shown = false;
    loop {
        // Once the answer is complete only usage and `[DONE]` are missing, and nobody waits long for them.
        let next = match assembly.is_finished() {
            true => tokio::time::timeout(LAST_WORDS, stream.next()).await.unwrap_or(None),
            false => stream.next().await,
        };
        let chunk = match next {
            None => break,
            Some(Err(_)) if assembly.is_finished() => break,
            Some(Ok(chunk)) => fault::in_chunk(&chunk, &inner.redact).map_or(Ok(chunk), Err),
            Some(Err(_)) => Err(watch.take_fault().unwrap_or_else(fault::not_json)),
        };
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(failure) => return Err(Failure { retryable: failure.retryable && !shown, ..failure }),
        };
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
    if !assembly.is_finished() && !watch.saw_done() {
        let failure = watch.take_fault().unwrap_or_else(fault::cut);
        return Err(Failure { retryable: failure.retryable && !shown, ..failure });
    }
    let _ = events.send(Ok(ModelEvent::Done(assembly.finish()))).await;
    Ok(())
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod network;
#[cfg(test)]
mod tests;
