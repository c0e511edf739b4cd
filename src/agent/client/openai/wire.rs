//! The request as JSON.

use serde_json::{Map, Value, json};

use crate::agent::client::preset::{Limit, Parallel, Quirks};
use crate::agent::client::{Message, Request, ToolCall};

pub fn request(model: &str, request: &Request, quirks: Quirks, max_output_tokens: Option<u32>) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", json!(model));
    put("messages", request.messages.iter().map(message).collect());
    // async-openai leaves this to whoever brings their own types.
    put("stream", json!(true));
    if quirks.stream_usage {
        put("stream_options", json!({"include_usage": true}));
    }
    match (quirks.limit, max_output_tokens) {
        (Limit::MaxTokens, Some(most)) => drop(put("max_tokens", json!(most))),
        (Limit::MaxCompletionTokens, Some(most)) => drop(put("max_completion_tokens", json!(most))),
        (Limit::Unsent, _) | (_, None) => {}
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            })
        });
        put("tools", tools.collect());
        if quirks.parallel == Parallel::OnRequest {
            put("parallel_tool_calls", json!(true));
        }
        if let Some(name) = request.forced_tool.as_ref().filter(|_| quirks.forced_tool) {
            put("tool_choice", json!({"type": "function", "function": {"name": name}}));
        }
    }
    if let Some(schema) = request.answer_schema.as_ref().filter(|_| quirks.json_schema) {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        put("response_format", json!({"type": "json_schema", "json_schema": format}));
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::User { content } => json!({"role": "user", "content": content}),
        Message::Tool { call, content } => json!({"role": "tool", "tool_call_id": call, "content": content}),
        Message::Assistant { content, calls, opaque } => {
            let mut out = Map::new();
            out.insert("role".to_owned(), json!("assistant"));
            let content = if content.is_empty() && !calls.is_empty() { Value::Null } else { json!(content) };
            out.insert("content".to_owned(), content);
            if !calls.is_empty() {
                out.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
                // Reasoning and signatures belong to the calls they led to; elsewhere some providers refuse them.
                out.extend(opaque.clone());
            }
            Value::Object(out)
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let mut out = call.opaque.clone();
    // A server refuses a history with broken arguments for ever; the model was told of the fault in the call's result.
    let broken = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_err();
    let arguments = if broken { "{}" } else { call.arguments.as_str() };
    out.insert("id".to_owned(), json!(call.id));
    out.insert("type".to_owned(), json!("function"));
    out.insert("function".to_owned(), json!({"name": call.name, "arguments": arguments}));
    Value::Object(out)
}
