//! How many tokens a model takes: from the server's list of models, else from a small table.

use std::time::Duration;

use serde_json::Value;

use super::Endpoint;
use crate::agent::client::preset::Preset;

const PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes of a list that are read; the longest known is a tenth of it.
const MAX_BYTES: usize = 8 << 20;

/// Context windows in tokens by the beginning of a model's name, the longest beginning first. Only models that no one serves
/// with a smaller window: what runs at home has the window that its server was started with.
const TABLE: &[(&str, u64)] = &[
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-5", 400_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("claude-", 200_000),
    ("gemini-", 1_048_576),
    ("deepseek-chat", 128_000),
    ("deepseek-reasoner", 128_000),
];

pub async fn window(http: &reqwest::Client, endpoint: &Endpoint, model: &str) -> Option<u64> {
    let list = tokio::time::timeout(PATIENCE, list(http, endpoint)).await.ok().flatten();
    list.and_then(|list| listed(&list, model)).or_else(|| known(model, &endpoint.base_url))
}

async fn list(http: &reqwest::Client, endpoint: &Endpoint) -> Option<Value> {
    let url = format!("{}/models", endpoint.base_url);
    let mut response =
        http.get(url).headers(endpoint.headers.clone()).send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

/// The window of a model in a list, in the shapes of vLLM, OpenRouter, llama.cpp, LM Studio, Anthropic and others.
fn listed(list: &Value, model: &str) -> Option<u64> {
    let entries = list.get("data").or_else(|| list.get("models")).unwrap_or(list).as_array()?;
    let is = |entry: &&Value, name: &str| {
        ["id", "name", "model"].iter().any(|field| {
            let id = entry.get(*field).and_then(Value::as_str).unwrap_or_default();
            // Gemini's list says models/NAME.
            id == name || id.strip_prefix("models/") == Some(name)
        })
    };
    let entry = entries.iter().find(|entry| is(entry, model)).or(match entries.as_slice() {
        // A server of one model takes any name.
        [only] => Some(only),
        _ => None,
    })?;
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    // What is loaded before what the model was made for.
    [
        "/loaded_context_length",
        "/meta/n_ctx",
        "/max_model_len",
        "/top_provider/context_length",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/max_input_tokens",
        "/inputTokenLimit",
        "/meta/n_ctx_train",
    ]
    .iter()
    .find_map(|pointer| entry.pointer(pointer).and_then(number).filter(|tokens| *tokens > 0))
}

fn known(model: &str, base_url: &str) -> Option<u64> {
    if Preset::at(base_url).is_some_and(Preset::is_local) {
        return None;
    }
    // OpenRouter and others write PROVIDER/NAME.
    let name = model.rsplit('/').next().unwrap_or(model);
    TABLE.iter().find(|(start, _)| name.starts_with(start)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_window_is_found_in_every_shape_of_list() {
        for (entry, tokens) in [
            (json!({"id": "m", "max_model_len": 4096}), Some(4096)),
            (json!({"id": "m", "context_length": 9, "top_provider": {"context_length": 8}}), Some(8)),
            (json!({"id": "m", "context_length": 9, "top_provider": {"context_length": null}}), Some(9)),
            (json!({"id": "m", "meta": {"n_ctx_train": 32768}}), Some(32768)),
            (json!({"id": "m", "meta": {"n_ctx_train": 32768, "n_ctx": 2048}}), Some(2048)),
            (json!({"id": "m", "max_context_length": 7, "loaded_context_length": 6}), Some(6)),
            (json!({"name": "models/m", "inputTokenLimit": "5"}), Some(5)),
            (json!({"id": "m", "context_length": 0}), None),
            (json!({"id": "m"}), None),
            (json!({"id": "other", "context_length": 9}), None),
        ] {
            let list = json!({"data": [{"id": "first"}, entry]});
            assert_eq!(listed(&list, "m"), tokens, "{list}");
        }
        assert_eq!(listed(&json!({"data": [{"id": "x.gguf", "max_model_len": 3}]}), "any"), Some(3));
        assert_eq!(listed(&json!({"models": [{"name": "m", "context_window": 3}]}), "m"), Some(3));
        assert_eq!(listed(&json!([{"id": "m", "context_window": 3}]), "m"), Some(3));
        for odd in [json!(null), json!({"data": 3}), json!({"data": [null, 3]}), json!({"data": []})] {
            assert_eq!(listed(&odd, "m"), None, "{odd}");
        }
    }

    #[test]
    fn the_table_knows_hosted_models_only() {
        assert_eq!(known("gpt-5-mini", "https://api.openai.com/v1"), Some(400_000));
        assert_eq!(known("anthropic/claude-sonnet-4-5", "https://openrouter.ai/api/v1"), Some(200_000));
        assert_eq!(known("gpt-4o", "http://localhost:11434/v1"), None);
        assert_eq!(known("qwen3:8b", "https://host/v1"), None);
    }
}
