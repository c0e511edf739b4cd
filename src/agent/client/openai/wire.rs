//! The request as JSON.

use serde_json::{Map, Value, json};

use crate::agent::client::{Message, Request, ToolCall};

pub fn request(model: &str, request: &Request) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        // async-openai leaves this to whoever brings their own types.
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty()
        && let Value::Object(body) = &mut body
    {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            })
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body
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
