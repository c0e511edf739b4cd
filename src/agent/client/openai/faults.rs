//! Every fault of a server that is known to happen, one by one: framing, refusals, sizes, ends of the wrong kind.

use std::time::Instant;

use serde_json::json;

use super::tests::server::{Reply, Server, answer, delta, events, finish, says, stream};
use super::tests::{KEY, all, client, client_with, done, error, question, retries};
use super::*;

fn call(arguments: &str) -> Value {
    delta(
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "delete", "arguments": arguments}}]}),
    )
}

fn lines(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn sent_in_pieces(bytes: &[u8], size: usize) -> Reply {
    let Reply::Raw(mut pieces) = events(b"") else { unreachable!() };
    pieces.extend(bytes.chunks(size).map(<[u8]>::to_vec));
    Reply::Raw(pieces)
}

fn json_error(status: &str, message: &str) -> Reply {
    answer(status, "application/json", &[], json!({"error": {"message": message}}).to_string().as_bytes())
}

/// One answer of a client that asks once.
async fn once(reply: Reply) -> Vec<Result<ModelEvent, ModelError>> {
    let server = Server::start([reply]);
    all(&client_with(&server.base_url(), |s| s.max_retries = 0)).await
}

#[tokio::test]
async fn every_framing_is_read_alike() {
    let text = lines(&[delta(json!({"content": "é€😀"})), call("{\"p\":\"é\"}"), finish("tool_calls")]);
    let done_line = "data: [DONE]\n\n";
    let whole = format!("{text}{done_line}");
    let split = whole.replace(r#","model""#, "\ndata: ,\"model\"");
    assert!(split.len() > whole.len(), "an event of two lines of data");
    for (name, body) in [
        ("plain", whole.clone()),
        ("byte-order mark", format!("\u{feff}{whole}")),
        ("CR", whole.replace('\n', "\r")),
        ("CRLF", whole.replace('\n', "\r\n")),
        ("byte-order mark and CRLF", format!("\u{feff}{}", whole.replace('\n', "\r\n"))),
        ("comments", format!(": ping\n\n:\n\n{}", whole.replace("data: ", ": c\ndata: "))),
        ("other fields", whole.replace("data: ", "event: message\nid: 1\nretry: 5\nodd: x\nword\ndata: ")),
        ("no space", whole.replace("data: ", "data:")),
        ("empty lines", whole.replace("\n\n", "\n\n\n\n")),
        ("empty data", format!("data:\n\ndata: \n\n{}", whole.replace("\n\n", "\n\ndata\n\n"))),
        ("events of two lines", split),
        ("no [DONE]", text),
    ] {
        for size in [1, 5, 1 << 20] {
            let events = once(sent_in_pieces(body.as_bytes(), size)).await;
            assert!(matches!(events.last(), Some(Ok(_))), "{name} in pieces of {size}: {events:?}");
            let answer = done(&events);
            assert_eq!(answer.text, "é€😀", "{name} in pieces of {size}");
            assert_eq!(answer.calls[0].arguments, "{\"p\":\"é\"}", "{name} in pieces of {size}");
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_marked() {
    let mut body = lines(&[delta(json!({"content": "a?b"}))]).into_bytes();
    let at = body.iter().position(|byte| *byte == b'?').unwrap();
    body[at] = 0xff;
    body.extend(lines(&[finish("stop")]).into_bytes());
    assert_eq!(done(&once(events(&body)).await).text, "a\u{fffd}b");
}

#[tokio::test]
async fn the_key_does_not_leak_where_words_are_cut() {
    for shown in 1..=KEY.len() {
        let words = format!("{}{KEY} and more", "x ".repeat(150 - shown / 2));
        let plain = answer("400 Bad Request", "text/plain", &[], words.as_bytes());
        // Cut where reading ends; blanks between do not count as words.
        let long = format!("bad{}{KEY} {}", " ".repeat(4096 - 3 - shown), "x".repeat(5000));
        let long = answer("400 Bad Request", "text/plain", &[], long.as_bytes());
        let escaped = format!(r#"{{"error":{{"message":"bad{}{KEY}"#, " ".repeat(4096 - 24 - shown));
        let escaped = answer("400 Bad Request", "application/json", &[], escaped.as_bytes());
        let inside = stream(&[json!({"error": {"message": words}})]);
        for (name, reply) in [
            ("words", plain),
            ("body", long),
            ("JSON", escaped),
            ("status", json_error("400 Bad Request", &words)),
            ("in the stream", inside),
        ] {
            let events = once(reply).await;
            let message = &error(&events).message;
            assert!(!message.contains("sk-"), "{name}, {shown} bytes: {message}");
            assert!(message.contains("bad") || message.contains("x x"), "{name}: {message}");
            assert!(message.len() < 500, "{name}: {message}");
        }
    }
}

#[tokio::test]
async fn a_key_in_any_shape_is_taken_out() {
    let key = "ab/cd+ef==";
    for body in [
        r#"{"error":{"message":"no ab\/cd+ef=="}}"#,
        r#"{"detail":"no \u0061b/cd+ef=="}"#,
        r#"{'error': 'no ab\/cd+ef=='"#,
        "no\nBearer\nab/cd+ef==",
        "no authorization: bearer another/key",
    ] {
        let server = Server::start([answer("401 Unauthorized", "application/json", &[], body.as_bytes())]);
        let client = client_with(&server.base_url(), |s| s.key = Some(SecretString::from(key)));
        let events = all(&client).await;
        let message = &error(&events).message;
        assert!(message.contains("[key]") && message.contains("no "), "{message}");
        assert!(!message.contains("cd+ef") && !message.contains("another"), "{message}");
    }
}

#[tokio::test]
async fn a_providers_words_cannot_drive_the_terminal() {
    let words = "odd\u{1b}]52;c;QUFB\u{7}\u{9b}31m\u{202e}\r\n\tend";
    for reply in [
        json_error("400 Bad Request", words),
        answer("400 Bad Request", "text/plain", &[], words.as_bytes()),
        stream(&[json!({"error": words})]),
        stream(&[json!({"object": "error", "message": words})]),
        stream(&[json!({"choices": [{"error": {"message": words}}]})]),
        json_error("200 OK", words),
    ] {
        let events = once(reply).await;
        let message = &error(&events).message;
        assert!(message.contains("odd") && message.contains("end"), "{message}");
        assert_eq!(crate::text::Safe::line(message).as_str(), message);
    }
}

#[tokio::test]
async fn an_answer_that_ends_in_an_error_is_a_failure_and_none_of_its_calls_runs() {
    let end = |choice: Value| json!({"choices": [choice]});
    let provider = ModelErrorKind::Provider;
    for (name, last, kind, words) in [
        ("error", finish("error"), provider, "error"),
        ("filter", finish("content_filter"), provider, "filter"),
        ("filter of Gemini", finish("content_filter: SAFETY"), provider, "filter"),
        (
            "native",
            end(json!({"finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL"})),
            provider,
            "MALFORMED_FUNCTION_CALL",
        ),
        (
            "choice",
            end(
                json!({"delta": {}, "finish_reason": "stop", "error": {"message": "upstream died", "code": 502}}),
            ),
            provider,
            "upstream died",
        ),
        ("text", end(json!({"delta": {}, "error": "upstream died"})), provider, "upstream died"),
        (
            "object",
            json!({"object": "error", "message": "upstream died", "code": 500}),
            provider,
            "upstream died",
        ),
        ("type", json!({"type": "error", "message": "upstream died"}), provider, "upstream died"),
        ("top", json!({"error": {"message": "upstream died", "code": "502"}}), provider, "upstream died"),
        ("wordless", json!({"error": {"code": 502}}), provider, "no reason"),
        (
            "limit",
            json!({"error": {"message": "slow down", "code": 429}}),
            ModelErrorKind::RateLimited,
            "slow down",
        ),
        (
            "quota",
            json!({"error": {"message": "all used", "code": "insufficient_quota"}}),
            ModelErrorKind::RateLimited,
            "quota",
        ),
        (
            "length",
            json!({"object": "error", "message": "maximum context length is 9"}),
            ModelErrorKind::ContextLength,
            "Start a new one",
        ),
    ] {
        let body = lines(&[delta(json!({"content": "half"})), call("{\"file_path\":\"/wiki/a.md\"}"), last])
            + "data: [DONE]\n\n";
        let events = once(events(body.as_bytes())).await;
        let error = error(&events);
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.message.contains(words), "{name}: {error}");
    }
    // Fields that say there was none.
    for last in [json!({"error": null, "choices": [{"delta": {}, "error": null, "finish_reason": "stop"}]})] {
        assert_eq!(done(&once(stream(&[delta(json!({"content": "x"})), last])).await).text, "x");
    }
}

#[tokio::test]
async fn only_what_may_be_cured_and_was_not_shown_is_asked_for_again() {
    let cut_call = lines(&[call("{\"a\"")]);
    for (name, reply, again) in [
        ("error in the stream", stream(&[json!({"error": "overloaded"})]), 1),
        ("finish reason", stream(&[finish("error")]), 1),
        ("filter", stream(&[finish("content_filter")]), 0),
        ("quota", stream(&[json!({"error": {"code": "insufficient_quota"}})]), 0),
        ("a call has begun", events(cut_call.as_bytes()), 0),
        ("error in a body with status 200", json_error("200 OK", "loading"), 1),
    ] {
        let server = Server::start([reply, says("fine")]);
        let events = all(&client(&server)).await;
        assert_eq!(retries(&events), again, "{name}: {events:?}");
        assert_eq!(server.received().len(), 1 + again, "{name}");
    }
}

#[tokio::test]
async fn each_status_has_its_kind_and_is_retried_or_not() {
    use ModelErrorKind::{ContextLength, Protocol, Provider, RateLimited, Unauthorized};
    for (status, kind, again) in [
        ("302 Found", Protocol, false),
        ("400 Bad Request", Provider, false),
        ("401 Unauthorized", Unauthorized, false),
        ("403 Forbidden", Unauthorized, false),
        ("404 Not Found", Provider, false),
        ("408 Request Timeout", Provider, true),
        ("409 Conflict", Provider, true),
        ("413 Content Too Large", ContextLength, false),
        ("429 Too Many Requests", RateLimited, true),
        ("500 Internal Server Error", Provider, true),
        ("502 Bad Gateway", Provider, true),
        ("503 Service Unavailable", Provider, true),
        ("504 Gateway Timeout", Provider, true),
        ("529 Overloaded", Provider, true),
    ] {
        for (content_type, body, words) in [
            ("text/html", "<html>\u{1b}[2J busy</html>", None),
            ("application/json", r#"{"error":{"message":"busy"}}"#, Some("busy")),
            ("application/json", "", None),
        ] {
            let reply = answer(status, content_type, &[], body.as_bytes());
            let server = Server::start(std::iter::repeat_n(reply, 5));
            let client = client_with(&server.base_url(), |s| s.retry_delay = Duration::ZERO);
            let events = all(&client).await;
            let error = error(&events);
            assert_eq!(error.kind, kind, "{status}: {error}");
            assert_eq!(retries(&events), if again { 3 } else { 0 }, "{status}");
            assert!(error.message.contains(&status[..3]), "{status}: {error}");
            assert!(!error.message.contains('<') && !error.message.contains('\u{1b}'), "{status}: {error}");
            let told = words.is_none_or(|words| error.message.contains(words));
            assert!(told || kind == Protocol, "{status}: {error}");
        }
    }
}

#[test]
fn retry_after_is_followed_in_every_form_up_to_two_minutes() {
    let delay = Duration::from_millis(500);
    let in_a_minute = jiff::Timestamp::now() + Duration::from_secs(60);
    let date = |at: jiff::Timestamp| at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    // The bounds in seconds; what says nothing leaves our own wait.
    for (header, least, most) in [
        ("1", 1.0, 1.25),
        (" 1 ", 1.0, 1.25),
        ("0", 0.5, 0.625),
        ("-1", 0.5, 0.625),
        ("1.5", 1.5, 1.875),
        ("20", 20.0, 25.0),
        (&date(in_a_minute), 55.0, 75.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5, 0.625),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 120.0, 120.0),
        ("86400", 120.0, 120.0),
        ("1e18", 120.0, 120.0),
        ("99999999999999999999999", 0.5, 120.0),
        ("inf", 0.5, 0.625),
        ("NaN", 0.5, 0.625),
        ("junk", 0.5, 0.625),
        ("", 0.5, 0.625),
    ] {
        let waited = wait(delay, 1, fault::parse_retry_after(header)).as_secs_f64();
        assert!((least..=most).contains(&waited), "{header:?}: {waited}");
    }
}

#[test]
fn no_wait_overflows_and_no_two_clients_wait_alike() {
    for attempt in [0, 1, 7, 40, u32::MAX] {
        for delay in
            [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(u64::MAX / 2), Duration::MAX]
        {
            assert!(wait(delay, attempt, Some(Duration::MAX)) == MAX_WAIT);
            assert!(wait(delay, attempt, None) <= MAX_WAIT);
        }
    }
    let second = Duration::from_secs(1);
    let waits: std::collections::HashSet<Duration> = (0..64).map(|_| wait(second, 1, Some(second))).collect();
    assert!(waits.len() > 8, "{waits:?}");
}

#[tokio::test]
async fn an_event_that_is_not_json_fails_the_answer_and_its_calls() {
    let body = lines(&[call("{}")]) + "data: {\"choices\": [\n\n" + &lines(&[finish("tool_calls")]);
    assert_eq!(error(&once(events(body.as_bytes())).await).kind, ModelErrorKind::Protocol);
}

#[tokio::test]
async fn a_body_shorter_than_promised_is_a_broken_connection() {
    let body = lines(&[delta(json!({"content": "half"}))]);
    let promised = answer("200 OK", "text/event-stream", &[("content-length", "5000")], body.as_bytes());
    let events = once(promised).await;
    assert_eq!(error(&events).kind, ModelErrorKind::Connection, "{events:?}");
    assert_eq!(events[0], Ok(ModelEvent::Text("half".into())));
}

#[tokio::test]
async fn a_refusal_in_words_is_the_answer() {
    let chunks = [delta(json!({"role": "assistant", "refusal": "I will not."})), finish("stop")];
    assert_eq!(done(&once(stream(&chunks)).await).text, "I will not.");
}

#[tokio::test]
async fn a_large_event_is_read_in_linear_time_and_a_larger_one_is_refused() {
    let large = lines(&[call(&"x".repeat(5 << 20)), finish("tool_calls")]);
    let started = Instant::now();
    let got = once(sent_in_pieces(large.as_bytes(), 1 << 10)).await;
    assert_eq!(done(&got).calls[0].arguments.len(), 5 << 20);
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    for body in [lines(&[call(&"x".repeat(9 << 20))]), "x".repeat(20 << 20)] {
        let got = once(events(body.as_bytes())).await;
        assert!(error(&got).message.contains("too large"), "{:?}", error(&got));
    }
}

#[tokio::test]
async fn many_events_take_linear_time() {
    let body = lines(&[delta(json!({"content": ""}))]).repeat(50_000) + &lines(&[finish("stop")]);
    let started = Instant::now();
    done(&once(events(body.as_bytes())).await);
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[tokio::test]
async fn no_more_of_a_refusal_is_read_than_is_shown() {
    let Reply::Raw(pieces) = json_error("400 Bad Request", &"busy ".repeat(2000)) else { unreachable!() };
    // The server goes on for ever.
    let server = Server::start([Reply::Stall(pieces.concat())]);
    let events = all(&client_with(&server.base_url(), |s| s.idle_timeout = Duration::from_secs(60))).await;
    let message = &error(&events).message;
    assert!(message.contains(": busy busy") && message.len() < 500, "{message}");
}

#[tokio::test]
async fn a_refusal_that_trickles_is_not_waited_for() {
    let Reply::Raw(pieces) = json_error("400 Bad Request", "busy") else { unreachable!() };
    let server = Server::start([Reply::Stall(pieces.concat())]);
    let client = client_with(&server.base_url(), |s| s.idle_timeout = Duration::from_secs(60));
    let started = Instant::now();
    assert!(error(&all(&client).await).message.contains("busy"));
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_call_of_any_shape_comes_with_an_id_of_its_own_and_the_next_request_is_valid() {
    let shapes = json!([
        {"index": 0, "id": "same", "function": {"name": "ls", "arguments": ""}},
        {"index": 1, "id": "same", "function": {"name": "ls", "arguments": "null"}},
        {"index": 2, "id": "", "function": {"name": "unknown", "arguments": "[1]"}},
        {"index": 3, "function": {"name": "ls", "arguments": "{\"path\": 3, \"more\": 1}"}},
        {"index": 4, "id": "x", "function": {"name": "ls", "arguments": "{\"path\":\"/a\",\"path\":\"/b\"}"}},
        {"index": 5, "id": "y", "function": {"name": "ls", "arguments": "[".repeat(10_000)}},
        {"index": 6, "id": "z", "function": {"name": "", "arguments": "{}"}},
    ]);
    let server =
        Server::start([stream(&[delta(json!({"tool_calls": shapes})), finish("tool_calls")]), says("x")]);
    let client = client(&server);
    let calls = done(&all(&client).await).calls.clone();
    let ids: std::collections::HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!((calls.len(), ids.len(), ids.contains("")), (6, 6, false));
    let mut next = question();
    next.messages.push(super::super::Message::Assistant {
        content: String::new(),
        calls,
        opaque: Default::default(),
    });
    let _: Vec<_> = client.stream(next).collect().await;
    let sent = server.received()[1].body["messages"][2]["tool_calls"].clone();
    for call in sent.as_array().unwrap() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        assert!(serde_json::from_str::<serde_json::Map<String, Value>>(arguments).is_ok(), "{arguments}");
    }
}
