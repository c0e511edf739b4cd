//! The layer under async-openai: refuses what is no event stream, and hands on whole events.
//!
//! The event parser below us is quadratic in the number of pieces of an event and panics on a byte-order mark, and its caller
//! cannot tell a cut stream from a complete one. So bytes are gathered until an event is whole, the mark is taken off, and
//! `[DONE]` and faults are noted on the side.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};

use super::fault::{self, Failure, Refused};

/// Largest event, and largest body of an error that is read, in bytes.
const MAX_EVENT: usize = 8 << 20;
const MAX_ERROR: usize = 4 << 10;

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
    http: reqwest::Client,
    watch: Arc<Watch>,
}

impl Guarded {
    pub fn new(http: reqwest::Client, watch: Arc<Watch>) -> Self {
        Self { http, watch }
    }
}

impl tower::Service<HttpRequestFactory> for Guarded {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let (http, watch) = (self.http.clone(), self.watch.clone());
        Box::pin(async move {
            let request = factory.build().await?;
            let response = http.execute(request).await.map_err(OpenAIError::Reqwest)?;
            let header = |name: &str| {
                response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
            };
            let content_type = header("content-type").unwrap_or_default();
            let events = content_type.trim().to_ascii_lowercase().starts_with("text/event-stream");
            if !response.status().is_success() || !events {
                let (status, retry_after) = (response.status().as_u16(), header("retry-after"));
                let refused = Refused { status, content_type, retry_after, body: head(response).await };
                return Err(OpenAIError::Boxed(Box::new(refused)));
            }
            let body = whole_events(response.bytes_stream().boxed(), watch);
            let answer = http::Response::new(reqwest::Body::wrap_stream(body));
            Ok(reqwest::Response::from(answer))
        })
    }
}

/// The start of an error's body.
async fn head(mut response: reqwest::Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= MAX_ERROR {
            body.truncate(MAX_ERROR);
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

struct Gather {
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    watch: Arc<Watch>,
    /// Bytes with line ends as `\n`, from the last event's end.
    held: Vec<u8>,
    /// Bytes of `held` that are known to hold no event's end.
    looked: usize,
    /// The stream so far ended in `\r`: a `\n` that follows belongs to it.
    after_cr: bool,
    started: bool,
    ended: bool,
}

/// The same events, each chunk one or more whole ones, as UTF-8 with `\n` line ends.
fn whole_events(
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    watch: Arc<Watch>,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send {
    let gather =
        Gather { body, watch, held: Vec::new(), looked: 0, after_cr: false, started: false, ended: false };
    futures::stream::unfold(gather, |mut gather| async move {
        let chunk = gather.next().await?;
        Some((Ok(chunk), gather))
    })
}

impl Gather {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.ended {
                return None;
            }
            match self.body.next().await {
                Some(Ok(bytes)) => {
                    self.take(&bytes);
                    if let Some(events) = self.events() {
                        return Some(events);
                    }
                    if self.held.len() > MAX_EVENT {
                        self.watch.note(fault::too_large());
                        self.ended = true;
                    }
                }
                Some(Err(error)) => {
                    self.watch.note(fault::of_body(&error));
                    self.ended = true;
                }
                None => {
                    self.ended = true;
                    return self.last();
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' if self.after_cr => self.after_cr = false,
                b'\r' => {
                    self.held.push(b'\n');
                    self.after_cr = true;
                }
                other => {
                    self.held.push(*other);
                    self.after_cr = false;
                }
            }
        }
        if !self.started && self.held.len() >= 3 {
            self.started = true;
            if self.held.starts_with(b"\xef\xbb\xbf") {
                self.held.drain(..3);
            }
        }
    }

    /// Everything up to the last event's end, if there is one.
    fn events(&mut self) -> Option<Bytes> {
        let from = self.looked.saturating_sub(1);
        self.looked = self.held.len();
        let fresh = self.held.get(from..)?;
        let end = from + fresh.windows(2).rposition(|pair| pair == b"\n\n")? + 2;
        let rest = self.held.split_off(end);
        let events = std::mem::replace(&mut self.held, rest);
        self.looked = 0;
        Some(self.text(&events))
    }

    /// What is left at the end: an event without its empty line counts when it is complete in itself.
    fn last(&mut self) -> Option<Bytes> {
        let mut rest = std::mem::take(&mut self.held);
        let text = String::from_utf8_lossy(&rest).into_owned();
        let complete = text.lines().filter(|line| !line.is_empty()).all(|line| match line.split_once(':') {
            Some(("data", data)) => {
                data.trim() == "[DONE]" || serde_json::from_str::<serde_json::Value>(data).is_ok()
            }
            other => other.is_some(),
        });
        if !complete || text.trim().is_empty() {
            return None;
        }
        rest.extend_from_slice(b"\n\n");
        Some(self.text(&rest))
    }

    fn text(&self, events: &[u8]) -> Bytes {
        let text = String::from_utf8_lossy(events);
        if text.lines().any(|line| line.strip_prefix("data:").is_some_and(|data| data.trim() == "[DONE]")) {
            self.watch.done.store(true, Ordering::Release);
        }
        Bytes::from(text.into_owned().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gathered(chunks: Vec<Vec<u8>>) -> (Vec<String>, bool) {
        let watch = Arc::new(Watch::default());
        let body = futures::stream::iter(chunks.into_iter().map(|c| Ok(Bytes::from(c)))).boxed();
        let out = futures::executor::block_on(
            whole_events(body, watch.clone())
                .map(|c| String::from_utf8(c.unwrap().to_vec()).unwrap())
                .collect(),
        );
        (out, watch.saw_done())
    }

    #[test]
    fn events_come_whole_and_without_a_byte_order_mark() {
        let chunks = ["\u{feff}da", "ta: {\"é\":", "1}\r", "\n\r\n: hi\n\ndata: [DO", "NE]"];
        let (events, done) = gathered(chunks.iter().map(|c| c.as_bytes().to_vec()).collect());
        assert_eq!(events, ["data: {\"é\":1}\n\n: hi\n\n", "data: [DONE]\n\n"]);
        assert!(done);
    }

    #[test]
    fn an_event_that_is_cut_is_dropped() {
        let (events, done) = gathered(vec![b"data: {}\n\ndata: {\"a\"".to_vec()]);
        assert_eq!((events, done), (vec!["data: {}\n\n".to_owned()], false));
    }

    #[test]
    fn an_event_without_end_is_a_fault_and_not_all_memory() {
        let watch = Arc::new(Watch::default());
        let body = futures::stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 1 << 20]))).boxed();
        let out: Vec<_> = futures::executor::block_on(whole_events(body, watch.clone()).collect());
        assert!(out.is_empty());
        assert!(watch.take_fault().unwrap().error.message.contains("too large"));
    }

    proptest! {
        #[test]
        fn cutting_the_bytes_anywhere_changes_nothing(cuts in prop::collection::vec(0usize..60, 0..8)) {
            let text = "data: {\"a\":\"ä\"}\r\n\r\ndata: 2\n\n: c\r\rdata: [DONE]\n\n";
            let whole = gathered(vec![text.as_bytes().to_vec()]);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c < text.len()).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(text.as_bytes()[from..cut].to_vec());
                from = cut;
            }
            let (events, done) = gathered(chunks);
            prop_assert_eq!(events.concat(), whole.0.concat());
            prop_assert!(done);
        }
    }
}
