//! From settings to a model that can be talked to, or to the words that say how to get one.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::agent::client::ModelClient;
use crate::agent::client::openai::{OpenAi, OpenAiSettings};
use crate::agent::client::preset::Preset;
use crate::config::model::{OLLAMA, Server};
use crate::config::{Choice, Endpoint, Environment, ModelOptions};

/// How long a local Ollama may take to answer before it counts as not there. Everybody without a model waits this long.
const OLLAMA_PATIENCE: Duration = Duration::from_millis(200);

/// How long a server that was set may take to list its models.
const LIST_PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes of a list of models that are read.
const LIST_MAX_BYTES: usize = 1024 * 1024;

/// A client of the model to use, or two lines that say how to set one.
pub async fn client(
    choice: Choice,
    options: &ModelOptions,
    environment: &Environment,
) -> Result<Arc<dyn ModelClient>, String> {
    let endpoint = resolve(choice, environment).await?;
    Ok(Arc::new(connect(endpoint, options)?))
}

/// A client of this endpoint; connects to nothing yet.
pub fn connect(endpoint: Endpoint, options: &ModelOptions) -> Result<OpenAi, String> {
    let Endpoint { server, model, .. } = endpoint;
    let mut settings = OpenAiSettings {
        first_byte_timeout: options.timeout,
        idle_timeout: options.timeout,
        progress_timeout: options.timeout * 5,
        max_output_tokens: options.max_output_tokens,
        context_window: options.context_window,
        price: options.prices.get(&model).copied(),
        ..OpenAiSettings::new(server.base_url, model, server.api_key)
    };
    if let Some(preset) = server.preset {
        settings.quirks = preset.quirks;
    }
    OpenAi::new(settings).map_err(|error| format!("{error}\n{HOW}"))
}

/// The model to use, or why there is none: two lines that say how to set one.
pub async fn resolve(choice: Choice, environment: &Environment) -> Result<Endpoint, String> {
    match choice {
        Choice::Endpoint(endpoint) => Ok(endpoint),
        Choice::Incomplete(why) => Err(format!("No model: {why}\n{HOW}")),
        Choice::AskServer(server) => {
            match first_model(&server.base_url, server.api_key.as_ref(), LIST_PATIENCE).await {
                Some(model) => Ok(Endpoint { server, model, model_from: FIRST.to_owned() }),
                None => Err(format!(
                    "No model is named, and the server {} names none either. Is it running?\n{HOW}",
                    server.base_url
                )),
            }
        }
        Choice::AskOllama { model } => {
            let (base_url, url_from) = ollama_url(environment);
            let Some(first) = first_model(&base_url, None, OLLAMA_PATIENCE).await else {
                return Err(format!(
                    "No model is set, and no Ollama server with a model answers at {base_url}.\n{HOW}"
                ));
            };
            let (model, model_from) = model.unwrap_or((first, FIRST.to_owned()));
            let preset = Preset::named("ollama");
            let server = Server { base_url, api_key: None, preset, url_from, key_from: None };
            Ok(Endpoint { server, model, model_from })
        }
    }
}

const FIRST: &str = "the first in the server's list";

const HOW: &str = "Set OPENAI_API_KEY, or WIKIWRIGHT_BASE_URL and WIKIWRIGHT_MODEL, or the same in config.toml; `wikiwright doctor` says what is used.";

/// Where Ollama listens, and which setting says so: `$OLLAMA_HOST` as its own client reads it, else its usual port. A server
/// told to listen on every address is reached on this machine's own.
fn ollama_url(environment: &Environment) -> (String, String) {
    let told = environment.get("OLLAMA_HOST").and_then(|host| {
        let with_scheme = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
        let mut url = reqwest::Url::parse(&with_scheme).ok()?;
        if url.port().is_none() && !host.contains("://") {
            url.set_port(Some(11434)).ok()?;
        }
        if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
            url.set_host(Some("127.0.0.1")).ok()?;
        }
        Some(format!("{}/v1", url.as_str().trim_end_matches('/').trim_end_matches("/v1")))
    });
    match told {
        Some(url) => (url, "OLLAMA_HOST".to_owned()),
        None => (OLLAMA.to_owned(), "nothing is set, and an Ollama server answers there".to_owned()),
    }
}

#[derive(Deserialize)]
struct Models {
    data: Vec<ServedModel>,
}

#[derive(Deserialize)]
struct ServedModel {
    id: String,
}

/// The models that a server lists, in its order.
pub async fn list(server: &Server) -> Result<Vec<String>, String> {
    let names = models(&server.base_url, server.api_key.as_ref(), LIST_PATIENCE).await;
    names.ok_or_else(|| format!("The server {} lists no models; /model NAME takes a name.", server.base_url))
}

/// The server's first model; none when nothing answers in time or has no model.
async fn first_model(base_url: &str, key: Option<&SecretString>, patience: Duration) -> Option<String> {
    models(base_url, key, patience).await?.into_iter().next()
}

/// The server's models; none when nothing answers in time.
async fn models(base_url: &str, key: Option<&SecretString>, patience: Duration) -> Option<Vec<String>> {
    let ask = async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A proxy has no business between a person and their own machine, and would make the wait longer.
        let client =
            reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().ok()?;
        let mut request = client.get(format!("{base_url}/models"));
        if let Some(key) = key {
            request = request.bearer_auth(key.expose_secret());
        }
        let mut response = request.send().await.ok()?.error_for_status().ok()?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > LIST_MAX_BYTES {
                return None;
            }
        }
        let models: Models = serde_json::from_slice(&body).ok()?;
        Some(models.data.into_iter().map(|model| model.id).collect())
    };
    tokio::time::timeout(patience, ask).await.ok()?
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
        let choice = Choice::AskOllama { model: model.map(|model| (model.to_owned(), "--model".to_owned())) };
        resolve(choice, &environment(host)).await.map(|e| (e.server.base_url, e.model))
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
            assert_eq!(ollama_url(&environment(host)).0, url, "{host}");
        }
    }
}
