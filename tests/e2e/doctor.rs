//! `wikiwright doctor` against a model that answers, one that cannot, none at all; and what a proxy does in between.

use serde_json::json;

use super::support::command::{Said, run, wikiwright};
use super::support::server::{Reply, Server, answer, calls, delta, finish, says, stream};

const KEY: &str = "sk-doctor-0123456789";

fn models() -> Reply {
    answer("200 OK", "application/json", &[], br#"{"data":[{"id":"m","max_model_len":8192}]}"#)
}

fn with_usage(reply: Reply) -> Reply {
    let Reply::Raw(mut pieces) = reply else { unreachable!() };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}});
    let body = pieces.pop().unwrap();
    let body = String::from_utf8(body).unwrap();
    pieces.push(body.replace("data: [DONE]", &format!("data: {usage}\n\ndata: [DONE]")).into_bytes());
    Reply::Raw(pieces)
}

fn report(word: &str) -> Reply {
    with_usage(calls("", &[("report", json!({ "word": word }))]))
}

fn structured() -> Reply {
    let parts =
        [r#"{"reasons":["a","b","c"],"#, r#""word":"ready"}"#].map(|part| delta(json!({"content": part})));
    stream(&[parts[0].clone(), parts[1].clone(), finish("stop")])
}

/// With a settings file that sets this server.
fn doctor(base_url: &str, arguments: &[&str]) -> Said {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("c.toml");
    let text = format!(
        "[model]\nbase_url = '{base_url}'\nmodel = 'm'\napi_key_env = 'MY_KEY'\n[prices]\nm = {{ input = 1.0, cached_input = 0.5, output = 10.0 }}\n"
    );
    std::fs::write(&config, text).unwrap();
    let said = run(wikiwright(home.path())
        .env("MY_KEY", KEY)
        .env("TERM", "dumb")
        .args(["doctor", "--config", config.to_str().unwrap()])
        .args(arguments));
    assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{}{}", said.out, said.err);
    assert!(!said.out.contains('\x1b'));
    said
}

#[track_caller]
fn assert_rows(said: &Said, rows: &[(&str, &str)]) {
    for (name, value) in rows {
        let row = said.out.lines().find(|line| line.trim_start().starts_with(name));
        assert!(row.is_some_and(|row| row.contains(value)), "{name}: {value}\n{}", said.out);
    }
}

#[test]
fn a_model_that_can_all_is_told_with_the_setting_it_comes_from() {
    let server = Server::start([models(), report("ready"), structured()]);
    let said = doctor(&server.base_url(), &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert_rows(
        &said,
        &[
            ("server", "c.toml: base_url)"),
            ("model", "m ("),
            ("key", "present (MY_KEY)"),
            ("price", "1 in, 0.5 in from the cache, 10 out"),
            ("context", "8192 tokens"),
            ("tools", "yes"),
            ("streaming", "yes: 2 pieces"),
            ("usage", "yes: 100 tokens in, 40 cached, 20 out"),
            ("cost", "0.00028"),
            ("JSON schema", "yes"),
            ("workbench", "needs a terminal"),
            ("settings", "c.toml"),
            ("state", "wikiwright (not there yet)"),
        ],
    );
    let received = server.received();
    let paths: Vec<&str> = received.iter().map(|received| received.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]);
    assert_eq!(received[1].body["tools"][0]["function"]["name"], "report");
    assert_eq!(received[2].body["response_format"]["type"], "json_schema");
}

#[test]
fn a_model_that_calls_no_tools_is_no_model_for_the_agents() {
    for (first, row) in [(says("I am ready."), "without calling"), (report("other"), "other arguments")] {
        let none = answer("404 Not Found", "text/plain", &[], b"");
        let server = Server::start([none, first, says("no JSON")]);
        let said = doctor(&server.base_url(), &[]);
        assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
        assert_rows(&said, &[("tools", row), ("context", "unknown"), ("JSON schema", "not followed")]);
    }
}

#[test]
fn a_refused_schema_and_missing_usage_are_told() {
    let refusal =
        answer("400 Bad Request", "application/json", &[], br#"{"error":{"message":"response_format?"}}"#);
    let first = calls("", &[("report", json!({"word": "ready"}))]);
    let server = Server::start([models(), first, refusal, says("fine then")]);
    let said = doctor(&server.base_url(), &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert_rows(
        &said,
        &[("JSON schema", "no"), ("usage", "no: the provider reports none"), ("streaming", "yes: 2")],
    );
}

#[test]
fn a_server_that_refuses_the_key_is_told_without_it() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string();
    let refusal = answer("401 Unauthorized", "application/json", &[], body.as_bytes());
    let server = Server::start([models(), refusal]);
    let said = doctor(&server.base_url(), &[]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert_rows(&said, &[("answer", "refused the API key"), ("answer", "[key]")]);
}

#[test]
fn offline_asks_nothing() {
    let server = Server::start([]);
    let said = doctor(&server.base_url(), &["--offline"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(!said.out.contains("tools") && server.received().is_empty(), "{}", said.out);
}

#[test]
fn when_changes_are_asked_about_is_told_and_what_is_not_asked_about() {
    let home = tempfile::tempdir().unwrap();
    let said = run(wikiwright(home.path()).arg("doctor"));
    assert_rows(&said, &[("asked", "at the end of a turn"), ("automatic", "nothing")]);
    let config = home.path().join("c.toml");
    std::fs::write(
        &config,
        "[manager]\nreview = 'write'\nautomatic = ['/wiki/log.md', '/wiki/**/index.md']\n",
    )
    .unwrap();
    let said = run(wikiwright(home.path()).args(["doctor", "--config", config.to_str().unwrap()]));
    let paths = "/wiki/log.md, /wiki/**/index.md (`automatic`";
    assert_rows(&said, &[("asked", "after each write"), ("automatic", paths)]);
}

#[test]
fn without_a_model_it_says_how_to_set_one() {
    let home = tempfile::tempdir().unwrap();
    let said = run(wikiwright(home.path()).arg("doctor"));
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.out.contains("OPENAI_API_KEY") && said.out.contains("config.toml"), "{}", said.out);
    assert_rows(&said, &[("settings", "defaults hold"), ("TERM", "not set")]);
}

#[test]
fn a_local_preset_asks_the_server_for_its_first_model() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("c.toml");
    let server = Server::start([models(), models(), report("ready"), structured()]);
    std::fs::write(&config, format!("[model]\npreset = 'vllm'\nbase_url = '{}'\n", server.base_url()))
        .unwrap();
    let said = run(wikiwright(home.path()).args(["doctor", "--config", config.to_str().unwrap()]));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert_rows(
        &said,
        &[("preset", "vLLM"), ("model", "m (the first in the server's list)"), ("key", "absent")],
    );
}

#[test]
fn a_proxy_that_wants_a_password_is_named() {
    let home = tempfile::tempdir().unwrap();
    let refusal = || answer("407 Proxy Authentication Required", "text/html", &[], b"<html>");
    let proxy = Server::start([refusal(), refusal()]);
    let address = proxy.base_url().trim_end_matches("/v1").to_owned();
    let said = run(wikiwright(home.path()).env("HTTP_PROXY", &address).env("http_proxy", &address).args([
        "doctor",
        "--base-url",
        "http://models.invalid/v1",
        "--model",
        "m",
    ]));
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert_rows(&said, &[("answer", "proxy"), ("answer", "407")]);
}
