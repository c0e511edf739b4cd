//! The layer under async-openai: refuses what is no event stream, keeps the times, and hands on whole events.
//!
//! The event parser below us is quadratic in the number of pieces of an event and panics on a byte-order mark, and its caller
//! cannot tell a cut stream from a complete one. So events are read here and handed on one by one, and `[DONE]` and faults
//! are noted on the side.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::fault::{self, Failure, Refused};
use super::sse::{Events, MAX_EVENT, TooLarge};

/// Most bytes of a refusal that are read, and how long they are waited for.
const MAX_ERROR: usize = 4 << 10;
const ERROR_PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until the head of the answer is there, with the time to connect.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// Without a whole event, though bytes or comments come.
    pub progress: Duration,
}

/// What was seen of a stream beside its events.
#[derive(Default)]
pub struct Watch {
    done: AtomicBool,
    fault: Mutex<Option<Failure>>,
}

impl Watch {
    pub fn saw_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    pub fn take_fault(&self) -> Option<Failure> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, failure: Failure) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}

/// The service that sends a request and guards its answer.
#[derive(Clone)]
pub struct Guarded {
    pub http: reqwest::Client,
    pub watch: Arc<Watch>,
    pub patience: Patience,
    /// The endpoint to name in sentences.
    pub place: String,
}

/// Sent nothing in time; the fault is noted.
#[derive(Debug, thiserror::Error)]
#[error("silent")]
struct Silent;

impl tower::Service<HttpRequestFactory> for Guarded {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let guarded = self.clone();
        Box::pin(async move { guarded.send(factory.build().await?).await })
    }
}

impl Guarded {
    async fn send(self, request: reqwest::Request) -> Result<reqwest::Response, OpenAIError> {
        let Ok(response) = timeout(self.patience.first_byte, self.http.execute(request)).await else {
            self.watch.note(fault::silent(&self.place));
            return Err(OpenAIError::Boxed(Box::new(Silent)));
        };
        let response = response.map_err(OpenAIError::Reqwest)?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let content_type = header("content-type").unwrap_or_default();
        let is = |kind: &str| content_type.trim().to_ascii_lowercase().starts_with(kind);
        let (status, ok) = (response.status().as_u16(), response.status().is_success());
        if ok && is("text/event-stream") {
            let body = whole_events(response.bytes_stream().boxed(), self.watch, self.patience);
            return Ok(answer(reqwest::Body::wrap_stream(body)));
        }
        let retry_after = header("retry-after");
        let whole = ok && is("application/json");
        let (limit, patience) =
            if whole { (MAX_EVENT, self.patience.progress) } else { (MAX_ERROR, ERROR_PATIENCE) };
        let (body, cut) = head(response, limit, patience).await;
        // A server that does not stream sends the whole answer at once.
        if whole
            && let Ok(body) = serde_json::from_str::<Value>(&body)
            && body.get("choices").is_some_and(Value::is_array)
        {
            return Ok(answer(reqwest::Body::from(format!("data: {body}\n\n"))));
        }
        Err(OpenAIError::Boxed(Box::new(Refused { status, content_type, retry_after, body, cut })))
    }
}

fn answer(body: reqwest::Body) -> reqwest::Response {
    reqwest::Response::from(http::Response::new(body))
}

/// The start of a body, and whether there is more of it.
async fn head(mut response: reqwest::Response, limit: usize, patience: Duration) -> (String, bool) {
    let deadline = Instant::now() + patience;
    let mut body = Vec::new();
    let cut = loop {
        match tokio::time::timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None)) => break false,
            Ok(Err(_)) | Err(_) => break true,
        }
        if body.len() >= limit {
            body.truncate(limit);
            break true;
        }
    };
    (String::from_utf8_lossy(&body).into_owned(), cut)
}

struct Gather {
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    watch: Arc<Watch>,
    patience: Patience,
    events: Events,
    /// Time spent waiting since an event was last whole.
    waited: Duration,
    ended: bool,
}

/// The same events, each alone and in one line.
fn whole_events(
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    watch: Arc<Watch>,
    patience: Patience,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send {
    let gather =
        Gather { body, watch, patience, events: Events::default(), waited: Duration::ZERO, ended: false };
    futures::stream::unfold(gather, |mut gather| async move {
        let event = gather.next().await?;
        Some((Ok(event), gather))
    })
}

impl Gather {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(data) = self.events.next() {
                self.waited = Duration::ZERO;
                if data == "[DONE]" {
                    self.watch.done.store(true, Ordering::Release);
                }
                return Some(Bytes::from(format!("data: {data}\n\n")));
            }
            if self.ended {
                return None;
            }
            let left = self.patience.progress.saturating_sub(self.waited);
            if left.is_zero() {
                self.fail(fault::idling());
                continue;
            }
            let since = Instant::now();
            let next = timeout(self.patience.idle.min(left), self.body.next()).await;
            self.waited += since.elapsed();
            match next {
                Ok(Some(Ok(bytes))) => {
                    if let Err(TooLarge) = self.events.push(&bytes) {
                        self.fail(fault::too_large());
                    }
                }
                Ok(Some(Err(error))) => self.fail(fault::of_body(&error)),
                Ok(None) => {
                    self.ended = true;
                    self.events.end();
                }
                Err(_) if left < self.patience.idle => {}
                Err(_) => self.fail(fault::stalled()),
            }
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.watch.note(failure);
        self.ended = true;
    }
}
