//! A model endpoint on this machine that speaks the wire format of OpenAI's chat completions. It plays a script, or
//! misbehaves in one way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::{Value, json};
use wikiwright::agent::client::scripted::{Script, Scripted};
use wikiwright::agent::client::{
    Answer, Message, ModelClient as _, ModelEvent, Request, ToolCall, ToolSchema,
};

/// How the endpoint answers.
pub enum Conduct {
    /// Plays this script.
    Script(&'static str),
    /// Status line, content type and body of every answer.
    Fixed(&'static str, &'static str, &'static str),
    /// Takes requests and never answers.
    Silent,
}

/// A running endpoint; it lives as long as the test's process.
pub struct Endpoint {
    pub base_url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// One request as it arrived.
#[derive(Clone)]
pub struct Heard {
    pub path: String,
    /// The `Authorization` header, if any.
    pub authorization: Option<String>,
    pub body: Value,
}

impl Endpoint {
    pub fn start(conduct: Conduct) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ears = heard.clone();
        let player = match &conduct {
            Conduct::Script(text) => {
                Some(Arc::new(Scripted::new(Script::parse(text).unwrap(), Duration::ZERO)))
            }
            _ => None,
        };
        let conduct = Arc::new(conduct);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (ears, player, conduct) = (ears.clone(), player.clone(), conduct.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &conduct, player.as_deref(), &ears));
            }
        });
        Self { base_url, heard }
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

/// An address where nothing listens.
pub fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

fn serve(mut stream: TcpStream, conduct: &Conduct, player: Option<&Scripted>, ears: &Mutex<Vec<Heard>>) {
    let Some(heard) = read_request(&stream) else { return };
    if heard.path.ends_with("/models") && matches!(conduct, Conduct::Script(_)) {
        let _ = write!(stream, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
    }
    ears.lock().unwrap().push(heard.clone());
    let (status, kind, body) = match conduct {
        Conduct::Script(_) => ("200 OK", "text/event-stream", events(&play(player.unwrap(), &heard.body))),
        Conduct::Fixed(status, kind, body) => (*status, *kind, (*body).to_owned()),
        Conduct::Silent => {
            // Ends when the other side gives up.
            let _ = stream.read(&mut [0]);
            return;
        }
    };
    // The other side may have been interrupted.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn read_request(stream: &TcpStream) -> Option<Heard> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Heard { path, authorization, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// Asks the script what the wire asked.
fn play(player: &Scripted, body: &Value) -> Answer {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap().iter().map(|message| {
        let content = text(&message["content"]);
        match message["role"].as_str().unwrap() {
            "system" => Message::System { content },
            "user" => Message::User { content },
            "tool" => Message::Tool { call: text(&message["tool_call_id"]), content },
            "assistant" => Message::Assistant {
                content,
                calls: message["tool_calls"].as_array().into_iter().flatten().map(call).collect(),
                opaque: serde_json::Map::new(),
            },
            other => panic!("role {other}"),
        }
    });
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| ToolSchema {
        name: text(&tool["function"]["name"]),
        description: text(&tool["function"]["description"]),
        parameters: tool["function"]["parameters"].clone(),
    });
    let request = Request { messages: messages.collect(), tools: tools.collect(), ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let events: Vec<_> = runtime.block_on(player.stream(request).collect());
    match events.into_iter().last() {
        Some(Ok(ModelEvent::Done(answer))) => answer,
        other => panic!("{other:?}"),
    }
}

fn call(value: &Value) -> ToolCall {
    ToolCall {
        id: value["id"].as_str().unwrap().to_owned(),
        name: value["function"]["name"].as_str().unwrap().to_owned(),
        arguments: value["function"]["arguments"].as_str().unwrap().to_owned(),
        opaque: serde_json::Map::new(),
    }
}

/// The answer as server-sent events: text in words, each call's arguments cut in two, the calls interleaved.
fn events(answer: &Answer) -> String {
    let mut out = String::new();
    let mut send = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "test",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        });
        out.push_str(&format!("data: {chunk}\n\n"));
    };
    for word in answer.text.split_inclusive(' ') {
        send(json!({ "content": word }), None);
    }
    for (index, call) in answer.calls.iter().enumerate() {
        send(
            json!({ "tool_calls": [{ "index": index, "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": "" } }] }),
            None,
        );
    }
    for half in [true, false] {
        for (index, call) in answer.calls.iter().enumerate() {
            let middle = call.arguments.chars().count() / 2;
            let part: String = match half {
                true => call.arguments.chars().take(middle).collect(),
                false => call.arguments.chars().skip(middle).collect(),
            };
            send(json!({ "tool_calls": [{ "index": index, "function": { "arguments": part } }] }), None);
        }
    }
    send(json!({}), Some(if answer.calls.is_empty() { "stop" } else { "tool_calls" }));
    let usage = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "test",
        "choices": [], "usage": { "prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234 } });
    out.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
    out
}
