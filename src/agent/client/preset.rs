//! What is known of the servers that people use: where they are, which variable holds their key, where they differ.
//!
//! Sources: the providers' pages on compatibility with OpenAI's chat completions, and the servers' own documentation.

use serde_json::Value;

/// A server, or a kind of server, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// As it stands in the configuration.
    pub name: &'static str,
    pub title: &'static str,
    pub base_url: &'static str,
    /// The environment variable that its own tools read the key from; none for a server that usually wants no key.
    pub key_env: Option<&'static str>,
    pub quirks: Quirks,
}

/// Where servers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    pub limit: Limit,
    /// Takes `stream_options.include_usage`.
    pub stream_usage: bool,
    pub parallel: Parallel,
    /// Heeds `response_format` of kind `json_schema`.
    pub json_schema: bool,
    /// Takes `tool_choice` with a tool's name.
    pub forced_tool: bool,
}

/// What the limit of an answer is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    MaxTokens,
    MaxCompletionTokens,
    /// Neither name is taken.
    Unsent,
}

/// Several calls in one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// Whenever the model makes them.
    ByItself,
    /// Only when the request says so.
    OnRequest,
}

const COMMON: Quirks = Quirks {
    limit: Limit::MaxTokens,
    stream_usage: true,
    parallel: Parallel::ByItself,
    json_schema: true,
    forced_tool: true,
};

const fn local(name: &'static str, title: &'static str, base_url: &'static str, quirks: Quirks) -> Preset {
    Preset { name, title, base_url, key_env: None, quirks }
}

const fn hosted(
    name: &'static str,
    title: &'static str,
    base_url: &'static str,
    key_env: &'static str,
    quirks: Quirks,
) -> Preset {
    Preset { name, title, base_url, key_env: Some(key_env), quirks }
}

/// All presets, in the order of the documentation.
pub const ALL: &[Preset] = &[
    hosted(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        Quirks { limit: Limit::MaxCompletionTokens, ..COMMON },
    ),
    // Ignores response_format.
    hosted(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        Quirks { json_schema: false, ..COMMON },
    ),
    hosted(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        COMMON,
    ),
    hosted("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", COMMON),
    local("ollama", "Ollama", "http://localhost:11434/v1", COMMON),
    local(
        "llama.cpp",
        "llama.cpp",
        "http://localhost:8080/v1",
        Quirks { parallel: Parallel::OnRequest, ..COMMON },
    ),
    local("lm-studio", "LM Studio", "http://localhost:1234/v1", COMMON),
    local("vllm", "vLLM", "http://localhost:8000/v1", COMMON),
];

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
    }

    /// The preset of the server at this address, if its host, and for one on this machine its port, is that of a preset.
    pub fn at(base_url: &str) -> Option<&'static Self> {
        let place = |url: &str| {
            let url = reqwest::Url::parse(url).ok()?;
            let host = match url.host_str()? {
                "127.0.0.1" | "[::1]" | "0.0.0.0" => "localhost".to_owned(),
                host => host.to_owned(),
            };
            Some((host, url.port_or_known_default()))
        };
        let wanted = place(base_url)?;
        ALL.iter().find(|preset| place(preset.base_url).is_some_and(|place| place == wanted))
    }

    /// Whether it usually runs on the person's own machine.
    pub fn is_local(&self) -> bool {
        self.key_env.is_none()
    }
}

impl Quirks {
    /// Those of the server at this address; those that most servers share when it is not known.
    pub fn of(base_url: &str) -> Self {
        Preset::at(base_url).map_or(COMMON, |preset| preset.quirks)
    }

    /// These without the optional part of `body` that a server refused, as far as its words tell. Every change leaves
    /// less to refuse.
    pub fn without_refused(mut self, said: &str, body: &Value) -> Option<Self> {
        let said = said.to_lowercase();
        let sent = |name: &str| body.get(name).is_some();
        if sent("stream_options") && (said.contains("stream_options") || said.contains("include_usage")) {
            self.stream_usage = false;
        } else if sent("parallel_tool_calls") && said.contains("parallel_tool_calls") {
            self.parallel = Parallel::ByItself;
        } else if sent("response_format")
            && (said.contains("response_format") || said.contains("json_schema"))
        {
            self.json_schema = false;
        } else if sent("tool_choice") && said.contains("tool_choice") {
            self.forced_tool = false;
        } else if sent("max_tokens") && said.contains("max_completion_tokens") {
            self.limit = Limit::MaxCompletionTokens;
        } else if sent("max_completion_tokens") && said.contains("max_completion_tokens") {
            self.limit = Limit::Unsent;
        } else {
            return None;
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn presets_are_found_by_name_and_by_address() {
        for preset in ALL {
            assert_eq!(Preset::named(preset.name), Some(preset));
            assert_eq!(Preset::at(preset.base_url), Some(preset), "{}", preset.name);
            assert!(!preset.base_url.ends_with('/') && preset.title.len() > 3);
            assert_eq!(
                preset.is_local(),
                preset.base_url.starts_with("http://localhost:"),
                "{}",
                preset.name
            );
        }
        assert_eq!(Preset::at("http://127.0.0.1:11434").map(|p| p.name), Some("ollama"));
        assert_eq!(Preset::at("https://api.openai.com/v1/").map(|p| p.name), Some("openai"));
        for other in
            ["http://box:11434/v1", "https://api.openai.com.evil.example/v1", "http://localhost:9/v1", "x"]
        {
            assert_eq!(Preset::at(other), None, "{other}");
        }
        assert_eq!(Quirks::of("http://localhost:9/v1"), COMMON);
    }

    #[test]
    fn what_a_server_refuses_is_left_out_and_nothing_else() {
        let all = Quirks { parallel: Parallel::OnRequest, ..COMMON };
        let body = json!({"stream_options": {}, "parallel_tool_calls": true, "response_format": {}, "tool_choice": {}, "max_tokens": 9});
        for (said, wanted) in [
            ("Unknown field: stream_options", Some(Quirks { stream_usage: false, ..all })),
            ("parallel_tool_calls is not allowed", Some(Quirks { parallel: Parallel::ByItself, ..all })),
            ("Unsupported RESPONSE_FORMAT", Some(Quirks { json_schema: false, ..all })),
            (
                "use 'max_completion_tokens' instead",
                Some(Quirks { limit: Limit::MaxCompletionTokens, ..all }),
            ),
            ("tool_choice must be auto", Some(Quirks { forced_tool: false, ..all })),
            ("max_tokens is too large", None),
            ("bad", None),
        ] {
            assert_eq!(all.without_refused(said, &body), wanted, "{said}");
            assert_eq!(all.without_refused(said, &json!({})), None, "{said}");
        }
        let other = json!({"max_completion_tokens": 9});
        let none = all.without_refused("max_completion_tokens?", &other);
        assert_eq!(none.map(|quirks| quirks.limit), Some(Limit::Unsent));
    }
}
