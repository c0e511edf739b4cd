//! A server on loopback that speaks the wire format of chat completions, well or badly, as each test scripts it.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Status line, headers and body as they are, in these pieces; then the connection is closed.
    Raw(Vec<Vec<u8>>),
    /// Keeps the connection open and silent, after sending this.
    Stall(Vec<u8>),
}

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Received {
    pub path: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    received: Mutex<Vec<Received>>,
    closed: Mutex<usize>,
    change: Condvar,
    /// What whoever asks for the models is told, without taking a reply; empty: that there is no such list.
    models: Option<Vec<&'static str>>,
}

/// The running server; its thread ends with the test's process.
pub struct Server {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
}

/// An event stream of these chunks, with its head.
pub fn stream(chunks: &[Value]) -> Reply {
    let mut body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    body.push_str("data: [DONE]\n\n");
    events(body.as_bytes())
}

/// An event stream with this body.
pub fn events(body: &[u8]) -> Reply {
    answer("200 OK", "text/event-stream", &[], body)
}

/// Any answer.
pub fn answer(status: &str, content_type: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Reply::Raw(vec![head.into_bytes(), body.to_vec()])
}

/// A chunk with this delta.
pub fn delta(delta: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// The chunk that ends an answer.
pub fn finish(reason: &str) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A complete answer that says this.
pub fn says(text: &str) -> Reply {
    let mut chunks: Vec<Value> =
        text.split_inclusive(' ').map(|word| delta(json!({"content": word}))).collect();
    chunks.push(finish("stop"));
    chunks.push(
        json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}),
    );
    stream(&chunks)
}

/// A complete answer with a text and calls, arguments cut in two as servers do.
pub fn calls(text: &str, calls: &[(&str, Value)]) -> Reply {
    let mut chunks = vec![delta(json!({"role": "assistant", "content": text}))];
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let arguments: Vec<char> = arguments.to_string().chars().collect();
        let (head, tail) = arguments.split_at(arguments.len() / 2);
        let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
        let id = format!("call_{index}");
        chunks.push(delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": head}}]})));
        chunks.push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": tail}}]})));
    }
    chunks.push(finish("tool_calls"));
    stream(&chunks)
}

impl Server {
    /// Starts with these replies, one for each request in turn; after the last it answers status 500.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::begin(replies, None)
    }

    /// The same for replies to a conversation: this server lists no models.
    #[allow(dead_code, reason = "not everyone who shares this file talks so long")]
    pub fn conversing(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::begin(replies, Some(Vec::new()))
    }

    /// The same for a server that has these models.
    #[allow(dead_code, reason = "not everyone who shares this file chooses a model")]
    pub fn listing(models: &[&'static str], replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::begin(replies, Some(models.to_vec()))
    }

    fn begin(replies: impl IntoIterator<Item = Reply>, models: Option<Vec<&'static str>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let address = listener.local_addr().expect("its address");
        let replies = Mutex::new(replies.into_iter().collect());
        let shared = Arc::new(Shared { replies, models, ..Shared::default() });
        let server = Self { address, shared: shared.clone() };
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (Ok(connection), shared) = (connection, shared.clone()) else { continue };
                std::thread::spawn(move || serve(connection, &shared));
            }
        });
        server
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn push(&self, reply: Reply) {
        self.shared.replies.lock().unwrap().push_back(reply);
    }

    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Waits until the other side has closed this many stalled connections.
    pub fn wait_closed(&self, count: usize) -> bool {
        let closed = self.shared.closed.lock().unwrap();
        let (closed, _) =
            self.shared.change.wait_timeout_while(closed, Duration::from_secs(20), |c| *c < count).unwrap();
        *closed >= count
    }
}

fn serve(mut connection: TcpStream, shared: &Shared) {
    let Some(received) = read(&mut connection) else { return };
    let reply = match &shared.models {
        Some(models) if received.path.ends_with("/models") => {
            let list: Vec<Value> =
                models.iter().map(|model| json!({"id": model, "object": "model"})).collect();
            let list = json!({"object": "list", "data": list}).to_string();
            let (status, body) =
                if models.is_empty() { ("404 Not Found", "") } else { ("200 OK", list.as_str()) };
            Some(answer(status, "application/json", &[], body.as_bytes()))
        }
        _ => {
            shared.received.lock().unwrap().push(received);
            shared.replies.lock().unwrap().pop_front()
        }
    };
    match reply
        .unwrap_or_else(|| answer("500 Internal Server Error", "text/plain", &[], b"no reply is scripted"))
    {
        Reply::Raw(pieces) => {
            for piece in pieces {
                if connection.write_all(&piece).is_err() {
                    return;
                }
                let _ = connection.flush();
            }
            let _ = connection.shutdown(std::net::Shutdown::Write);
            // Until the other side closes too, or a reset would take back what it has not read.
            let _ = connection.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = connection.read(&mut [0]);
        }
        Reply::Stall(head) => {
            let _ = connection.write_all(&head);
            let _ = connection.read(&mut [0]);
            *shared.closed.lock().unwrap() += 1;
            shared.change.notify_all();
        }
    }
}

fn read(connection: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        match connection.read(&mut buffer) {
            Ok(n @ 1..) => bytes.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
    while bytes.len() < head_end + length {
        match connection.read(&mut buffer) {
            Ok(n @ 1..) => bytes.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    }
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or(Value::Null);
    Some(Received { path, headers, body })
}
