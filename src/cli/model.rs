//! From settings to a model that can be talked to, or to the words that say how to get one.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::agent::client::ModelClient;
use crate::agent::client::openai::{OpenAi, OpenAiSettings};
use crate::config::model::OLLAMA;
use crate::config::{Choice, Endpoint, Environment};

/// How long a local Ollama may take to answer before it counts as not there. Everybody without a model waits this long.
const OLLAMA_PATIENCE: Duration = Duration::from_millis(200);

/// Most bytes of its answer that are read.
const OLLAMA_MAX_BYTES: usize = 1024 * 1024;

/// A client of the model to use, or two lines that say how to set one.
pub async fn client(
    choice: Choice,
    timeout: Duration,
    environment: &Environment,
) -> Result<Arc<dyn ModelClient>, String> {
    let endpoint = resolve(choice, environment).await?;
    let settings = OpenAiSettings {
        idle_timeout: timeout,
        ..OpenAiSettings::new(endpoint.base_url, endpoint.model, endpoint.api_key)
    };
    let client = OpenAi::new(settings).map_err(|error| format!("{error}\n{HOW}"))?;
    Ok(Arc::new(client))
}

/// The model to use, or why there is none: two lines that say how to set one.
pub async fn resolve(choice: Choice, environment: &Environment) -> Result<Endpoint, String> {
    match choice {
        Choice::Endpoint(endpoint) => Ok(endpoint),
        Choice::Incomplete(why) => Err(format!("No model: {why}\n{HOW}")),
        Choice::AskOllama { model } => {
            let base_url = ollama_url(environment);
            match ask_ollama(&base_url, model).await {
                Some(endpoint) => Ok(endpoint),
                None => Err(format!("No model is set, and no Ollama server answers at {base_url}.\n{HOW}")),
            }
        }
    }
}

const HOW: &str = "Set OPENAI_API_KEY, or WIKIWRIGHT_BASE_URL and WIKIWRIGHT_MODEL, or the same in config.toml (see --help).";

/// Where Ollama listens: `$OLLAMA_HOST` as its own client reads it, else its usual port. A server told to listen on every
/// address is reached on this machine's own.
fn ollama_url(environment: &Environment) -> String {
    let Some(host) = environment.get("OLLAMA_HOST") else { return OLLAMA.to_owned() };
    let with_scheme = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    let Ok(mut url) = reqwest::Url::parse(&with_scheme) else { return OLLAMA.to_owned() };
    if url.port().is_none() && !host.contains("://") && url.set_port(Some(11434)).is_err() {
        return OLLAMA.to_owned();
    }
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) && url.set_host(Some("127.0.0.1")).is_err() {
        return OLLAMA.to_owned();
    }
    format!("{}/v1", url.as_str().trim_end_matches('/').trim_end_matches("/v1"))
}

#[derive(Deserialize)]
struct Models {
    data: Vec<ServedModel>,
}

#[derive(Deserialize)]
struct ServedModel {
    id: String,
}

/// The server's first model, or `model` when one was named; none when nothing answers in time or has no model.
async fn ask_ollama(base_url: &str, model: Option<String>) -> Option<Endpoint> {
    let ask = async {
        // A proxy has no business between a person and their own machine, and would make the wait longer.
        let client = reqwest::Client::builder().no_proxy().build().ok()?;
        let mut response =
            client.get(format!("{base_url}/models")).send().await.ok()?.error_for_status().ok()?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > OLLAMA_MAX_BYTES {
                return None;
            }
        }
        let models: Models = serde_json::from_slice(&body).ok()?;
        model.or_else(|| models.data.into_iter().next().map(|m| m.id))
    };
    let model = tokio::time::timeout(OLLAMA_PATIENCE, ask).await.ok()??;
    Some(Endpoint { base_url: base_url.to_owned(), model, api_key: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn environment(host: &str) -> Environment {
        Environment::new([("OLLAMA_HOST".to_owned(), host.to_owned())])
    }

    /// Answers one request with this status line and body, then closes; the address to ask.
    async fn server(status: &'static str, body: &'static str) -> String {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        address.to_string()
    }

    async fn resolved(model: Option<&str>, host: &str) -> Result<(String, String), String> {
        let choice = Choice::AskOllama { model: model.map(str::to_owned) };
        resolve(choice, &environment(host)).await.map(|e| (e.base_url, e.model))
    }

    #[tokio::test]
    async fn an_ollama_that_answers_gives_its_first_model() {
        let host = server("200 OK", r#"{"data":[{"id":"first"},{"id":"second"}]}"#).await;
        assert_eq!(resolved(None, &host).await, Ok((format!("http://{host}/v1"), "first".to_owned())));
    }

    #[tokio::test]
    async fn a_named_model_is_asked_for_instead_of_the_first() {
        let host = server("200 OK", r#"{"data":[{"id":"first"}]}"#).await;
        assert_eq!(resolved(Some("mine"), &host).await.map(|r| r.1), Ok("mine".to_owned()));
    }

    #[tokio::test]
    async fn whatever_is_no_ollama_gives_two_lines_that_say_how_to_set_a_model() {
        for (status, body) in
            [("200 OK", "<html>"), ("404 Not Found", "{}"), ("200 OK", r#"{"data":[]}"#), ("200 OK", "{}")]
        {
            let host = server(status, body).await;
            let hint = resolved(None, &host).await.unwrap_err();
            assert_eq!(hint.lines().count(), 2, "{hint}");
            assert!(hint.contains("OPENAI_API_KEY") && hint.contains(&host), "{hint}");
        }
    }

    #[tokio::test]
    async fn a_server_that_never_answers_counts_as_absent() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = silent.local_addr().unwrap().to_string();
        assert!(resolved(None, &host).await.is_err());
    }

    #[test]
    fn the_ollama_address_is_read_as_its_own_client_reads_it() {
        for (host, url) in [
            ("", OLLAMA),
            ("127.0.0.1:9", "http://127.0.0.1:9/v1"),
            ("box", "http://box:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("https://models.example/", "https://models.example/v1"),
            ("::::", OLLAMA),
        ] {
            assert_eq!(ollama_url(&environment(host)), url, "{host}");
        }
    }
}
