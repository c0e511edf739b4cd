//! Talking to a model: what is asked, what streams back, and what can go wrong. The wire belongs to the submodules.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::Usage;

/// A source of model answers.
pub trait ModelClient: Send + Sync {
    /// The model's name, to show.
    fn name(&self) -> &str;

    /// Asks for one answer. The stream ends after [`ModelEvent::Done`] or one error; dropping it cancels the request.
    /// Must be called within a tokio runtime.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>>;

    /// How many tokens a conversation with its answer may have; none when nobody knows. May ask the server, once.
    fn context_window(&self) -> BoxFuture<'_, Option<u64>> {
        std::future::ready(None).boxed()
    }

    /// What tokens cost, if somebody said.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Whether [`Request::answer_schema`] binds the model; else it is not sent.
    fn takes_schema(&self) -> bool {
        false
    }
}

/// One question to the model: the whole conversation and the tools it may call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSchema>,
    /// A JSON Schema that the answer's text must follow, in OpenAI's strict form: each property required, no others allowed.
    pub answer_schema: Option<Value>,
    /// The tool that the model has to call.
    pub forced_tool: Option<String>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: String,
        calls: Vec<ToolCall>,
        /// Fields of the provider that must be sent back as they came (reasoning, signatures).
        #[serde(default)]
        opaque: Map<String, Value>,
    },
    Tool {
        /// [`ToolCall::id`] of the call that this answers.
        call: String,
        content: String,
    },
}

/// A complete call that the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique and non-empty within an answer: the provider's where usable, else made by the client.
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them, usually a JSON object; may be broken JSON.
    pub arguments: String,
    /// Opaque fields of the provider's call object, sent back.
    #[serde(default)]
    pub opaque: Map<String, Value>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    pub name: String,
    pub description: String,
    /// A JSON Schema of kind object.
    pub parameters: Value,
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// The request could not be served yet and will be sent again.
    Retrying {
        attempt: u32,
        wait: Duration,
        cause: String,
    },
    /// The answer is complete. Always last.
    Done(Answer),
}

/// A complete answer. Its text is what the `Text` events added up to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub text: String,
    /// Empty when the answer was cut: calls of a cut message are never run.
    pub calls: Vec<ToolCall>,
    pub opaque: Map<String, Value>,
    pub usage: Option<Usage>,
    /// The provider cut the answer at its length limit.
    pub cut: bool,
}

/// Why no answer came. Its text is one plain sentence that says what to do, never holds the key, and is not yet
/// sanitised for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// No connection, or it broke.
    Connection,
    Timeout,
    /// The key was refused (401, 403).
    Unauthorized,
    /// 429 that retries did not cure, or no quota.
    RateLimited,
    /// The conversation is longer than the model's window.
    ContextLength,
    /// The endpoint answered something that is not this protocol.
    Protocol,
    /// The stream ended without a finish marker.
    Cut,
    /// Any other refusal by the provider.
    Provider,
}

pub mod openai;
pub mod preset;
pub mod price;
pub mod scripted;

pub use price::{Money, Price};
