//! Against a server that speaks the wire format, well and badly.

use std::time::Instant;

use serde_json::json;

use super::*;
use crate::agent::client::{Answer, Message, ToolCall, ToolSchema};

#[path = "../../../../tests/e2e/support/server.rs"]
#[allow(dead_code)]
pub mod server;

use server::{Reply, Server, answer, calls, delta, events, finish, says, stream};

pub const KEY: &str = "sk-test-0123456789";

pub fn client(server: &Server) -> OpenAi {
    client_with(&server.base_url(), |_| {})
}

pub fn client_with(base_url: &str, change: impl FnOnce(&mut OpenAiSettings)) -> OpenAi {
    let mut settings =
        OpenAiSettings::new(base_url, "test-model", Some(SecretString::from(format!(" {KEY}\n"))));
    settings.retry_delay = Duration::from_millis(1);
    change(&mut settings);
    OpenAi::new(settings).unwrap()
}

pub fn question() -> Request {
    Request {
        messages: vec![Message::System { content: "s".into() }, Message::User { content: "q".into() }],
        tools: vec![ToolSchema {
            name: "ls".into(),
            description: "d".into(),
            parameters: json!({"type": "object"}),
        }],
        ..Request::default()
    }
}

pub async fn all(client: &OpenAi) -> Vec<Result<ModelEvent, ModelError>> {
    client.stream(question()).collect().await
}

pub fn done(events: &[Result<ModelEvent, ModelError>]) -> &Answer {
    match events.last() {
        Some(Ok(ModelEvent::Done(answer))) => answer,
        other => panic!("{other:?}"),
    }
}

/// The error, which comes last and alone.
pub fn error(events: &[Result<ModelEvent, ModelError>]) -> &ModelError {
    assert!(!events.iter().any(|e| matches!(e, Ok(ModelEvent::Done(_)))), "{events:?}");
    match events.last() {
        Some(Err(error)) => error,
        other => panic!("{other:?}"),
    }
}

pub fn retries(events: &[Result<ModelEvent, ModelError>]) -> usize {
    events.iter().filter(|e| matches!(e, Ok(ModelEvent::Retrying { .. }))).count()
}

#[tokio::test]
async fn text_streams_and_usage_is_told() {
    let server = Server::start([says("one two")]);
    let events = all(&client(&server)).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("one ".into())));
    let answer = done(&events);
    assert_eq!(answer.text, "one two");
    assert_eq!(answer.usage.map(|u| (u.input, u.output)), Some((7, 5)));
}

#[tokio::test]
async fn the_request_is_in_the_wire_format_with_the_key_and_nothing_of_the_environment() {
    let server = Server::start([says("x")]);
    let mut request = question();
    request.messages.push(Message::Assistant {
        content: String::new(),
        calls: vec![
            ToolCall {
                id: "a".into(),
                name: "ls".into(),
                arguments: "{}".into(),
                opaque: json!({"extra_content": 1}).as_object().unwrap().clone(),
            },
            ToolCall {
                id: "b".into(),
                name: "ls".into(),
                arguments: "{\"cut".into(),
                opaque: Default::default(),
            },
        ],
        opaque: json!({"reasoning_content": "hm"}).as_object().unwrap().clone(),
    });
    request.messages.push(Message::Tool { call: "a".into(), content: "r".into() });
    let _: Vec<_> = client(&server).stream(request).collect().await;
    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(received.headers.iter().all(|(name, _)| !name.starts_with("openai-")));
    let body = &received.body;
    assert_eq!(
        (&body["model"], &body["stream"], &body["stream_options"]["include_usage"]),
        (&json!("test-model"), &json!(true), &json!(true))
    );
    assert_eq!(body["tools"][0]["function"]["name"], "ls");
    let assistant = &body["messages"][2];
    assert_eq!((&assistant["content"], &assistant["reasoning_content"]), (&json!(null), &json!("hm")));
    assert_eq!(
        assistant["tool_calls"][0],
        json!({"extra_content": 1, "id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}})
    );
    assert_eq!(
        assistant["tool_calls"][1]["function"]["arguments"], "{}",
        "broken arguments are not sent back for ever"
    );
    assert_eq!(body["messages"][3], json!({"role": "tool", "tool_call_id": "a", "content": "r"}));
}

#[tokio::test]
async fn calls_arrive_whole() {
    let server = Server::start([calls(
        "I look.",
        &[("ls", json!({"path": "/wîki"})), ("grep", json!({"pattern": "é"}))],
    )]);
    let events = all(&client(&server)).await;
    let answer = done(&events);
    assert_eq!(answer.text, "I look.");
    assert_eq!(answer.calls[0].arguments, r#"{"path":"/wîki"}"#);
    assert_eq!((answer.calls[1].name.as_str(), answer.calls[1].id.as_str()), ("grep", "call_1"));
}

#[tokio::test]
async fn framing_of_all_kinds_is_read() {
    let body = "\u{feff}: OPENROUTER PROCESSING\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\r\n\r\n\
                data:{\"choices\":[{\"delta\":{},\"finish_reason\":\"eos\"}]}\r\n\r\n";
    let bytes = body.as_bytes();
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n"
            .to_vec();
    let mut pieces = vec![head];
    pieces.extend(bytes.chunks(7).map(<[u8]>::to_vec));
    let server = Server::start([Reply::Raw(pieces)]);
    assert_eq!(done(&all(&client(&server)).await).text, "é");
}

#[tokio::test]
async fn done_without_a_finish_reason_is_complete() {
    let server = Server::start([stream(&[delta(json!({"content": "x"}))])]);
    assert_eq!(done(&all(&client(&server)).await).text, "x");
}

#[tokio::test]
async fn a_stream_cut_at_any_byte_is_an_error_or_the_exact_answer_and_never_half_a_call() {
    let whole = {
        let chunks = [
            delta(json!({"content": "ok"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "delete", "arguments": "{\"file_path\":"}}]}),
            ),
            delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"/wiki/a.md\"}"}}]})),
            finish("tool_calls"),
        ];
        chunks.iter().map(|c| format!("data: {c}\n\n")).collect::<String>() + "data: [DONE]\n\n"
    };
    // From here on the last chunk but the marker is there as a whole.
    let complete = whole.find("\n\ndata: [DONE]").unwrap();
    let server = Server::start((0..=whole.len()).map(|cut| events(&whole.as_bytes()[..cut])));
    let client = client_with(&server.base_url(), |s| s.max_retries = 0);
    for cut in 0..=whole.len() {
        let events = all(&client).await;
        if cut >= complete {
            assert_eq!(done(&events).calls[0].arguments, "{\"file_path\":\"/wiki/a.md\"}", "cut at {cut}");
        } else {
            assert_eq!(error(&events).kind, ModelErrorKind::Cut, "cut at {cut}: {events:?}");
        }
    }
}

#[tokio::test]
async fn what_was_not_shown_is_asked_for_again_and_what_was_shown_is_not() {
    let server = Server::start([events(b": nothing yet\n\n"), says("fine")]);
    let got = all(&client(&server)).await;
    assert_eq!((retries(&got), done(&got).text.as_str()), (1, "fine"));
    let partial = format!("data: {}\n\n", delta(json!({"content": "half"})));
    let server = Server::start([events(partial.as_bytes()), says("never")]);
    let events = all(&client(&server)).await;
    assert_eq!((retries(&events), error(&events).kind), (0, ModelErrorKind::Cut));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn overload_is_waited_out_as_the_server_asks() {
    let busy = answer(
        "429 Too Many Requests",
        "application/json",
        &[("retry-after", "0.05")],
        br#"{"error":{"message":"slow down","code":429}}"#,
    );
    let html = answer("503 Service Unavailable", "text/html", &[], b"<html>busy</html>");
    let server = Server::start([busy, html, says("fine")]);
    let started = Instant::now();
    let events = all(&client(&server)).await;
    let Ok(ModelEvent::Retrying { attempt: 1, wait, cause }) = &events[0] else { panic!("{events:?}") };
    assert!(*wait >= Duration::from_millis(50) && started.elapsed() >= *wait, "{wait:?}");
    assert!(cause.contains("slow down"), "{cause}");
    assert_eq!((retries(&events), done(&events).text.as_str()), (2, "fine"));
}

#[test]
fn no_server_makes_us_wait_longer_than_two_minutes() {
    assert_eq!(wait(Duration::from_millis(500), 1, Some(Duration::from_secs(86_400))), MAX_WAIT);
    for attempt in 1..40 {
        let waited = wait(Duration::from_millis(500), attempt, None);
        assert!(waited >= Duration::from_millis(500) && waited <= MAX_WAIT, "{attempt}: {waited:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_cured_is_not_retried_and_says_what_to_do() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let quota = br#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let long = br#"{"error":{"message":"This model's maximum context length is 4096 tokens"}}"#;
    let cases: [(Reply, ModelErrorKind, &str); 9] = [
        (
            answer("401 Unauthorized", "application/json", &[], echo.as_bytes()),
            ModelErrorKind::Unauthorized,
            "Check the key",
        ),
        (
            answer("404 Not Found", "application/json", &[], br#"{"error":{"message":"model not found"}}"#),
            ModelErrorKind::Provider,
            "Check base_url and model",
        ),
        (
            answer("429 Too Many Requests", "application/json", &[], quota),
            ModelErrorKind::RateLimited,
            "quota",
        ),
        (
            answer("400 Bad Request", "application/json", &[], long),
            ModelErrorKind::ContextLength,
            "Start a new one",
        ),
        (
            answer("400 Bad Request", "text/plain", &[], b"odd \x1b]0;x\x07"),
            ModelErrorKind::Provider,
            "status 400",
        ),
        (
            answer("200 OK", "text/html", &[], b"<html>log in</html>"),
            ModelErrorKind::Protocol,
            "check base_url",
        ),
        (answer("200 OK", "application/json", &[], b"{}"), ModelErrorKind::Protocol, "application/json"),
        (
            answer("307 Temporary Redirect", "text/plain", &[("location", "http://127.0.0.1:9/")], b""),
            ModelErrorKind::Protocol,
            "redirects",
        ),
        (events(b"data: <html>\n\n"), ModelErrorKind::Protocol, "not JSON"),
    ];
    for (reply, kind, words) in cases {
        let server = Server::start([reply, says("never")]);
        let events = all(&client_with(&server.base_url(), |s| {
            s.max_retries = if kind == ModelErrorKind::Protocol { 0 } else { 3 }
        }))
        .await;
        let error = error(&events);
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words), "{error}");
        assert!(!error.message.contains(KEY) && !error.message.contains('\n'), "{error}");
        assert_eq!(server.received().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_other_server_hears_nothing() {
    let other = Server::start([says("stolen")]);
    let location = format!("{}/chat/completions", other.base_url());
    let server =
        Server::start([answer("307 Temporary Redirect", "text/plain", &[("location", &location)], b"")]);
    error(&all(&client(&server)).await);
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error() {
    let body = json!({"error": {"message": "upstream failed", "code": 502}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]});
    let server = Server::start([stream(&[delta(json!({"content": "half"})), body])]);
    let events = all(&client(&server)).await;
    assert!(error(&events).message.contains("upstream failed"), "{events:?}");
}

#[tokio::test]
async fn silence_is_an_error_before_and_within_an_answer() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
    let mut half = head.clone();
    half.extend(format!("data: {}\n\n", delta(json!({"content": "half"}))).into_bytes());
    for stall in [Vec::new(), half] {
        let server = Server::start([Reply::Stall(stall)]);
        let client = client_with(&server.base_url(), |s| {
            s.idle_timeout = Duration::from_millis(200);
            s.first_byte_timeout = Duration::from_millis(200);
            s.max_retries = 0;
        });
        let events = all(&client).await;
        assert_eq!(error(&events).kind, ModelErrorKind::Timeout, "{events:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server =
        Server::start([Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec())]);
    let client = client(&server);
    let mut stream = client.stream(question());
    assert!(tokio::time::timeout(Duration::from_millis(300), stream.next()).await.is_err());
    drop(stream);
    assert!(tokio::task::spawn_blocking(move || server.wait_closed(1)).await.unwrap());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let client = client_with("http://127.0.0.1:9/v1", |s| s.max_retries = 1);
    let events = all(&client).await;
    let error = error(&events);
    assert_eq!((retries(&events), error.kind), (1, ModelErrorKind::Connection));
    assert!(
        error.message.contains("http://127.0.0.1:9/v1") && error.message.contains("Is the server running"),
        "{error}"
    );
    assert!(!error.message.contains("http://127.0.0.1:9/v1/chat/completions"), "{error}");
}

#[test]
fn a_key_that_no_header_can_carry_is_an_error() {
    let settings = OpenAiSettings::new("http://127.0.0.1:9/v1", "m", Some(SecretString::from("sk\nx")));
    let error = OpenAi::new(settings).err().unwrap();
    assert!(!error.to_string().contains("sk"), "{error}");
}

#[tokio::test]
async fn an_address_that_is_none_is_an_error() {
    let events = all(&client_with("localhost without scheme", |_| {})).await;
    assert!(error(&events).message.contains("Check base_url"), "{events:?}");
}

#[tokio::test]
async fn an_answer_without_end_is_stopped_with_a_sentence() {
    let piece = format!("data: {}\n\n", delta(json!({"content": "x".repeat(1 << 20)})));
    let server = Server::start([events(piece.repeat(6).as_bytes())]);
    let events = all(&client(&server)).await;
    assert!(error(&events).message.contains("larger than any answer"), "{:?}", events.last());
    assert_eq!(retries(&events), 0);
}
