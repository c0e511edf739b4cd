//! Connections that break, stall, or lead to something else than a model; what a server refuses; what it says of itself.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use serde_json::json;

use super::super::preset::{Limit, Parallel, Preset};
use super::tests::server::{Reply, Server, answer, delta, events, finish, says, stream};
use super::tests::{KEY, all, client, client_with, done, error, question, retries};
use super::*;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// The base URL of a server that treats each connection like this.
fn rude(address: &str, scheme: &str, treat: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(address).unwrap();
    let base_url = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
    let treat = std::sync::Arc::new(treat);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let (Ok(connection), treat) = (connection, treat.clone()) else { continue };
            std::thread::spawn(move || treat(connection));
        }
    });
    base_url
}

/// Reads a request's head; its body stays unread, so that closing resets the connection.
fn read_head(connection: &mut TcpStream) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|n| n > 0) {
        seen.push(byte[0]);
    }
}

/// Reads what is there of the body too, so that closing is an orderly end.
fn read_all(connection: &mut TcpStream) {
    read_head(connection);
    let _ = connection.set_read_timeout(Some(Duration::from_millis(300)));
    let _ = connection.read(&mut [0; 65536]);
}

fn text(text: &str) -> Vec<u8> {
    format!("data: {}\n\n", delta(json!({"content": text}))).into_bytes()
}

async fn once(base_url: &str) -> Vec<Result<ModelEvent, ModelError>> {
    all(&client_with(base_url, |s| s.max_retries = 0)).await
}

#[track_caller]
fn assert_plain(error: &ModelError) {
    let message = &error.message;
    assert!(!message.contains('\n') && !message.contains(KEY) && message.len() < 400, "{message}");
    assert!(message.ends_with(['.', '?']), "{message}");
}

#[tokio::test]
async fn a_reset_connection_is_asked_again_unless_something_was_shown() {
    let before = rude("127.0.0.1:0", "http", |mut connection| read_head(&mut connection));
    let got = all(&client_with(&before, |s| s.max_retries = 2)).await;
    assert_eq!((retries(&got), error(&got).kind), (2, ModelErrorKind::Connection), "{got:?}");
    assert_plain(error(&got));

    let within = rude("127.0.0.1:0", "http", |mut connection| {
        read_head(&mut connection);
        let _ = connection.write_all(HEAD);
        let _ = connection.write_all(&text("half"));
        std::thread::sleep(Duration::from_millis(200));
    });
    let got = all(&client_with(&within, |s| s.max_retries = 2)).await;
    assert_eq!(got[0], Ok(ModelEvent::Text("half".into())), "{got:?}");
    assert_eq!(retries(&got), 0, "{got:?}");
    assert!(matches!(error(&got).kind, ModelErrorKind::Connection | ModelErrorKind::Cut), "{got:?}");
    assert_plain(error(&got));
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_a_connection_fault() {
    let got = once("http://nowhere.invalid/v1").await;
    assert_eq!(error(&got).kind, ModelErrorKind::Connection);
    assert!(error(&got).message.contains("nowhere.invalid"), "{}", error(&got));
    assert_plain(error(&got));
}

#[tokio::test]
async fn a_handshake_that_is_cut_or_answered_in_clear_is_a_connection_fault() {
    let cut = rude("127.0.0.1:0", "https", |mut connection| {
        let _ = connection.read(&mut [0; 16]);
    });
    let clear = rude("127.0.0.1:0", "https", |mut connection| {
        let _ = connection.read(&mut [0; 1024]);
        let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    for base_url in [cut, clear] {
        let got = once(&base_url).await;
        assert_eq!(error(&got).kind, ModelErrorKind::Connection, "{got:?}");
        assert_plain(error(&got));
    }
}

/// Self-signed for 127.0.0.1, with its key: made for this test, trusted by nobody.
const CERTIFICATE: &str = "MIIBmzCCAUGgAwIBAgIUKOMfn5rkftWe5Hrxkz4AxwV482UwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2\
     MTIwMjE5MzcwMVoYDzIxMjYxMTA4MTkzNzAxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\
     AASayueO2HOClTQ/5tYWUz34nFX0Xp7Tk2GTbqKfi1fb9L9F3P444vtvFNerVRi1+V4ecJUYoMb3jh8obl3MFzYio28wbTAdBgNV\
     HQ4EFgQU9BGf/iumZ5nhK79q/ImHp+cPZG8wHwYDVR0jBBgwFoAU9BGf/iumZ5nhK79q/ImHp+cPZG8wDwYDVR0TAQH/BAUwAwEB\
     /zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhAIhB95Lj/MsJkPF5YT2RaHDtxwYdMM4cLLn6\
     mpAHKvxrAiAmSereIH36x7BEMIgCVjlbWWuLjZuh+EMF6fKadw+O2g==";
const PRIVATE_KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLgqvbsIbQlXAIEWudcpYQzmevWuUEbFIW7/MWMGvb4qhRANCAASa\
     yueO2HOClTQ/5tYWUz34nFX0Xp7Tk2GTbqKfi1fb9L9F3P444vtvFNerVRi1+V4ecJUYoMb3jh8obl3MFzYi";

#[tokio::test]
async fn n06_a_certificate_that_nobody_vouches_for_is_named_and_neither_body_nor_key_is_sent() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = CertificateDer::from(STANDARD.decode(CERTIFICATE).unwrap());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(STANDARD.decode(PRIVATE_KEY).unwrap()));
    let config =
        rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    let config = std::sync::Arc::new(config.unwrap());
    let heard = std::sync::Arc::new(std::sync::Mutex::new((0, Vec::new())));
    let ears = heard.clone();
    let base_url = rude("127.0.0.1:0", "https", move |connection| {
        let mut tls =
            rustls::StreamOwned::new(rustls::ServerConnection::new(config.clone()).unwrap(), connection);
        ears.lock().unwrap().0 += 1;
        let mut bytes = Vec::new();
        let _ = tls.read_to_end(&mut bytes);
        ears.lock().unwrap().1.extend(bytes);
    });
    let got = all(&client_with(&base_url, |s| s.max_retries = 3)).await;
    let error = error(&got);
    assert_eq!((error.kind, retries(&got)), (ModelErrorKind::Connection, 0), "{got:?}");
    assert!(error.message.contains("certificate") && !error.message.contains("running"), "{error}");
    assert_plain(error);
    assert_eq!(*heard.lock().unwrap(), (1, Vec::new()));
}

#[tokio::test]
async fn an_address_of_the_newer_kind_is_reached() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    let base_url = rude("[::1]:0", "http", |mut connection| {
        read_all(&mut connection);
        let _ = connection.write_all(HEAD);
        let _ = connection.write_all(&text("six"));
        let _ = connection.write_all(format!("data: {}\n\n", finish("stop")).as_bytes());
    });
    assert_eq!(done(&once(&base_url).await).text, "six");
}

/// Sends `head`, then `piece` every 20 ms for as long as anybody listens.
fn dripping(head: Vec<u8>, piece: &'static [u8]) -> String {
    rude("127.0.0.1:0", "http", move |mut connection| {
        read_all(&mut connection);
        let _ = connection.write_all(&[HEAD, &head].concat());
        while connection.write_all(piece).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    })
}

#[tokio::test]
async fn signs_of_life_without_an_answer_are_waited_for_only_so_long() {
    for (name, base_url) in [
        ("comments", dripping(Vec::new(), b": still here\n\n")),
        ("comments after text", dripping(text("half"), b":\n\n")),
        ("byte by byte", dripping(b"data: {\"x\":\"".to_vec(), b"x")),
        ("empty events", dripping(Vec::new(), b"data:\n\n")),
    ] {
        let started = Instant::now();
        let client = client_with(&base_url, |s| {
            s.idle_timeout = Duration::from_millis(500);
            s.progress_timeout = Duration::from_millis(1500);
        });
        let got = all(&client).await;
        assert_eq!(error(&got).kind, ModelErrorKind::Timeout, "{name}: {got:?}");
        assert_eq!(retries(&got), 0, "{name}");
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(1400) && took.as_secs() < 20, "{name}: {took:?}");
    }
}

#[tokio::test]
async fn signs_of_life_keep_a_slow_answer_alive() {
    let base_url = rude("127.0.0.1:0", "http", |mut connection| {
        read_all(&mut connection);
        let _ = connection.write_all(HEAD);
        for _ in 0..20 {
            let _ = connection.write_all(b": thinking\n\n");
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = connection.write_all(&text("late"));
        let _ = connection.write_all(b"data: [DONE]\n\n");
    });
    let client = client_with(&base_url, |s| s.idle_timeout = Duration::from_millis(1000));
    assert_eq!(done(&all(&client).await).text, "late");
}

#[tokio::test]
async fn a_complete_answer_does_not_wait_for_the_end_of_the_connection() {
    let mut body = HEAD.to_vec();
    body.extend(text("all"));
    body.extend(format!("data: {}\n\n", finish("stop")).into_bytes());
    let server = Server::start([Reply::Stall(body)]);
    let started = Instant::now();
    assert_eq!(done(&all(&client(&server)).await).text, "all");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[tokio::test]
async fn what_comes_after_the_end_changes_nothing() {
    let after = [
        delta(json!({"content": " and more"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "delete", "arguments": "{}"}}]}),
        ),
    ];
    for tail in [stream_of(&after), b"data: <html>\n\n".to_vec(), b"data: {\"cut".to_vec()] {
        let body = [text("all"), stream_of(&[finish("stop")]), tail].concat();
        let server = Server::start([events(&body)]);
        let got = all(&client(&server)).await;
        assert_eq!((done(&got).text.as_str(), done(&got).calls.len()), ("all", 0), "{got:?}");
    }
}

fn stream_of(chunks: &[Value]) -> Vec<u8> {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>().into_bytes()
}

#[tokio::test]
async fn waiting_for_another_try_can_be_interrupted() {
    let busy = answer("429 Too Many Requests", "text/plain", &[("retry-after", "60")], b"");
    let server = Server::start([busy, says("never")]);
    let client = client(&server);
    let mut stream = client.stream(question());
    let Some(Ok(ModelEvent::Retrying { wait, .. })) = stream.next().await else { panic!() };
    assert!(wait >= Duration::from_secs(60));
    let started = Instant::now();
    drop(stream);
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let whole = json!({"object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": {
        "content": "I look.", "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": "{\"p\":1}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4}});
    let pretty = serde_json::to_vec_pretty(&whole).unwrap();
    let server = Server::start([answer("200 OK", "application/json; charset=utf-8", &[], &pretty)]);
    let got = all(&client(&server)).await;
    let answer = done(&got);
    assert_eq!((answer.text.as_str(), answer.calls[0].arguments.as_str()), ("I look.", "{\"p\":1}"));
    assert_eq!(answer.usage.map(|usage| usage.input), Some(3));
    // Cut anywhere it is nothing.
    for cut in [pretty.len() - 1, pretty.len() / 2, 1] {
        let server =
            Server::start([super::tests::server::answer("200 OK", "application/json", &[], &pretty[..cut])]);
        assert_eq!(error(&once(&server.base_url()).await).kind, ModelErrorKind::Protocol, "{cut}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_known_in_every_dialect() {
    let openai = json!({"error": {"message": "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}});
    let vllm = json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "type": "BadRequestError", "param": null, "code": 400});
    let llama = json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}});
    let anthropic = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}});
    for body in [openai, vllm, llama, anthropic, json!("Requested tokens exceed context window of 2048")] {
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        for reply in [
            answer("400 Bad Request", "application/json", &[], body.as_bytes()),
            answer("500 Internal Server Error", "text/plain", &[], body.as_bytes()),
            answer("404 Not Found", "text/plain", &[], body.as_bytes()),
        ] {
            let server = Server::start([reply, says("never")]);
            let got = all(&client(&server)).await;
            assert_eq!(error(&got).kind, ModelErrorKind::ContextLength, "{body}: {got:?}");
            assert_eq!(server.received().len(), 1, "{body}");
            assert_plain(error(&got));
        }
        if body.starts_with('{') {
            let server = Server::start([events(format!("data: {body}\n\n").as_bytes())]);
            assert_eq!(error(&once(&server.base_url()).await).kind, ModelErrorKind::ContextLength, "{body}");
        }
    }
}

#[tokio::test]
async fn a_model_without_tools_is_named_as_such() {
    let body = json!({"error": {"message": "registry.ollama.ai/library/gemma does not support tools"}});
    let server =
        Server::start([answer("400 Bad Request", "application/json", &[], body.to_string().as_bytes())]);
    let got = all(&client(&server)).await;
    assert!(error(&got).message.contains("cannot call tools"), "{got:?}");
}

#[tokio::test]
async fn an_optional_part_that_is_refused_is_left_out_from_then_on() {
    let refusal = |words: &str| {
        answer(
            "400 Bad Request",
            "application/json",
            &[],
            json!({"error": {"message": words}}).to_string().as_bytes(),
        )
    };
    let server = Server::start([
        refusal("Unknown parameter: 'stream_options'"),
        refusal("'max_tokens' is not supported, use 'max_completion_tokens' instead"),
        refusal("parallel_tool_calls is not allowed"),
        says("fine"),
        says("again"),
    ]);
    let client = client_with(&server.base_url(), |s| {
        s.max_output_tokens = Some(500);
        s.quirks.parallel = Parallel::OnRequest;
        s.max_retries = 0;
    });
    assert_eq!(done(&all(&client).await).text, "fine");
    assert_eq!(done(&all(&client).await).text, "again");
    let sent: Vec<Vec<&str>> = server
        .received()
        .iter()
        .map(|received| {
            ["stream_options", "max_tokens", "max_completion_tokens", "parallel_tool_calls"]
                .into_iter()
                .filter(|name| received.body.get(*name).is_some())
                .collect()
        })
        .collect();
    assert_eq!(
        sent,
        [
            vec!["stream_options", "max_tokens", "parallel_tool_calls"],
            vec!["max_tokens", "parallel_tool_calls"],
            vec!["max_completion_tokens", "parallel_tool_calls"],
            vec!["max_completion_tokens"],
            vec!["max_completion_tokens"],
        ]
    );
}

#[tokio::test]
async fn each_preset_asks_in_its_servers_way() {
    let schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    for preset in super::super::preset::ALL {
        let server = Server::start([says("x")]);
        let client = client_with(&server.base_url(), |s| {
            s.quirks = preset.quirks;
            s.max_output_tokens = Some(500);
        });
        let request = Request { answer_schema: Some(schema.clone()), ..question() };
        let _: Vec<_> = client.stream(request).collect().await;
        let body = server.received()[0].body.clone();
        let limit = match preset.quirks.limit {
            Limit::MaxTokens => "max_tokens",
            Limit::MaxCompletionTokens => "max_completion_tokens",
            Limit::Unsent => unreachable!(),
        };
        assert_eq!(body[limit], 500, "{}", preset.name);
        assert_eq!(body.get("response_format").is_some(), client.takes_schema(), "{}", preset.name);
        assert_eq!(body.get("parallel_tool_calls").is_some(), preset.name == "llama.cpp");
        assert_eq!(body["stream_options"]["include_usage"], true, "{}", preset.name);
        if client.takes_schema() {
            assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
        }
    }
    assert!(!Preset::named("anthropic").unwrap().quirks.json_schema);
}

#[tokio::test]
async fn the_context_window_comes_from_the_settings_or_the_list_and_is_asked_for_once() {
    let list =
        answer("200 OK", "application/json", &[], br#"{"data":[{"id":"test-model","max_model_len":4096}]}"#);
    let server = Server::start([list]);
    let from_list = client(&server);
    assert_eq!(from_list.context_window().await, Some(4096));
    assert_eq!(from_list.context_window().await, Some(4096));
    let received = server.received();
    assert_eq!((received.len(), received[0].path.as_str()), (1, "/v1/models"));
    assert!(received[0].header("authorization").unwrap().contains(KEY));

    let set = client_with(&server.base_url(), |s| s.context_window = Some(9));
    assert_eq!(set.context_window().await, Some(9));
    assert_eq!(server.received().len(), 1);

    let other = Server::start([says("stolen")]);
    let location = format!("{}/models", other.base_url());
    for refusal in [
        answer("404 Not Found", "text/html", &[], b"<html>"),
        answer("302 Found", "text/plain", &[("location", &location)], b""),
        answer("200 OK", "application/json", &[], b"{\"data\": 3}"),
    ] {
        let server = Server::start([refusal]);
        assert_eq!(client(&server).context_window().await, None);
    }
    assert!(other.received().is_empty());
    // Where no list is, the table helps.
    let server = Server::start([]);
    let mut settings = OpenAiSettings::new(server.base_url(), "gpt-4o-mini", None);
    settings.retry_delay = Duration::ZERO;
    assert_eq!(OpenAi::new(settings).unwrap().context_window().await, Some(128_000));
}

#[tokio::test]
async fn reasoning_and_signatures_come_back_to_the_server_as_they_were() {
    let signed = delta(
        json!({"reasoning_content": "hm", "tool_calls": [{"index": 0, "id": "a", "type": "function",
        "extra_content": {"google": {"thought_signature": "c2ln"}}, "function": {"name": "ls", "arguments": "{}"}}],
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "b3B"}]}),
    );
    let server = Server::start([stream(&[signed, finish("tool_calls")]), says("x")]);
    let client = client(&server);
    let answer = done(&all(&client).await).clone();
    let mut next = question();
    next.messages.push(super::super::Message::Assistant {
        content: answer.text,
        calls: answer.calls,
        opaque: answer.opaque,
    });
    let _: Vec<_> = client.stream(next).collect().await;
    let sent = server.received()[1].body["messages"][2].clone();
    assert_eq!(sent["reasoning_content"], "hm");
    assert_eq!(sent["reasoning_details"][0]["data"], "b3B");
    assert_eq!(sent["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "c2ln");
}

#[tokio::test]
async fn a_refusal_without_end_is_not_read_to_its_end() {
    let base_url = rude("127.0.0.1:0", "http", |mut connection| {
        read_head(&mut connection);
        let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\r\n");
        let block = [b'x'; 65536];
        for _ in 0..1600 {
            if connection.write_all(&block).is_err() {
                return;
            }
        }
        panic!("all was read");
    });
    let got = once(&base_url).await;
    assert_eq!(error(&got).kind, ModelErrorKind::Provider);
    assert_plain(error(&got));
}

#[tokio::test]
async fn no_error_and_no_debug_text_holds_the_key() {
    let echo = json!({"error": {"message": format!("key {KEY}")}});
    let server =
        Server::start([answer("401 Unauthorized", "application/json", &[], echo.to_string().as_bytes())]);
    let got = all(&client(&server)).await;
    assert!(!format!("{got:?}").contains(KEY));
    let settings = OpenAiSettings::new("http://h/v1", "m", Some(SecretString::from(KEY)));
    assert!(!format!("{:?}", settings.key).contains(KEY));
}
