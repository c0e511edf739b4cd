//! Putting an answer together from streamed chunks, whatever dialect they are in: indexes that are missing or all 0, ids that
//! are missing, empty or the same for all, arguments as text or as an object. Pure.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

use crate::agent::client::{Answer, ToolCall};
use crate::agent::event::Usage;

/// What a chunk adds that can be shown at once.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Reasoning(String),
}

/// Bytes of text, and of one call's arguments, that are kept.
const MAX_TEXT: usize = 4 << 20;
const MAX_ARGUMENTS: usize = 8 << 20;
const MAX_CALLS: usize = 128;

/// Numbers of ids that we make up: unique over all answers, since a conversation holds many.
static MADE_UP: AtomicU64 = AtomicU64::new(1);

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    object: Object,
    /// Was named again when its arguments were whole: what follows is another call's.
    named_again: bool,
    opaque: Map<String, Value>,
}

/// How far arguments have come, without reading them from their start for every piece.
#[derive(Debug, Default)]
struct Object {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// All that was opened is closed.
    whole: bool,
}

impl Slot {
    /// The name of the call that this piece starts, if it does not go on with this one: some servers give every call
    /// index 0, some one id, and some repeat id and name on every piece, the last and empty one too.
    fn starts_next(&mut self, name: &str, piece: &str) -> Option<String> {
        let other = !name.is_empty() && !self.name.is_empty() && name != self.name;
        let again = !name.is_empty() && name == self.name && self.object.whole;
        self.named_again |= again;
        let next = other || (self.named_again && !piece.trim().is_empty());
        next.then(|| if name.is_empty() { self.name.clone() } else { name.to_owned() })
    }
}

impl Object {
    fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    self.whole = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// An answer on its way.
#[derive(Debug, Default)]
pub struct Assembly {
    text: String,
    /// The provider's name for reasoning, and the reasoning.
    reasoning: Option<(&'static str, String)>,
    opaque: Map<String, Value>,
    slots: Vec<Slot>,
    usage: Option<Usage>,
    /// Bytes of reasoning that were shown.
    reasoned: usize,
    overflowed: bool,
    finished: bool,
    cut: bool,
}

impl Assembly {
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The answer is larger than any answer is; what came after the limit is not in it.
    pub fn is_too_large(&self) -> bool {
        self.overflowed
    }

    pub fn has_calls(&self) -> bool {
        !self.slots.is_empty()
    }

    pub fn push(&mut self, chunk: &Value) -> Vec<Piece> {
        // The last one counts; Groq has it in a field of its own.
        for usage in [chunk.get("usage"), chunk.pointer("/x_groq/usage"), chunk.pointer("/choices/0/usage")] {
            if let Some(usage) = usage.and_then(self::usage) {
                self.usage = Some(usage);
                break;
            }
        }
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else { return Vec::new() };
        // What comes after the end is not part of the answer.
        if self.finished {
            return Vec::new();
        }
        let mut pieces = Vec::new();
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, &mut pieces);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|r| !r.is_empty()) {
            self.finished = true;
            self.cut = matches!(reason, "length" | "max_tokens" | "MAX_TOKENS" | "model_length");
        }
        pieces
    }

    fn delta(&mut self, delta: &Value, pieces: &mut Vec<Piece>) {
        for name in ["reasoning_content", "reasoning"] {
            let Some(text) = delta.get(name).and_then(Value::as_str).filter(|t| !t.is_empty()) else {
                continue;
            };
            self.reasoned += text.len();
            if self.reasoned > MAX_TEXT {
                self.overflowed = true;
                break;
            }
            self.reasoning.get_or_insert((name, String::new())).1.push_str(text);
            pieces.push(Piece::Reasoning(text.to_owned()));
            // Some proxies send both names with the same text.
            break;
        }
        if let Some(details) = delta.get("reasoning_details").and_then(Value::as_array) {
            let kept = self.opaque.entry("reasoning_details").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(kept) = kept {
                kept.extend(details.iter().cloned());
            }
        }
        let mut text = content(delta.get("content"));
        text.push_str(delta.get("refusal").and_then(Value::as_str).unwrap_or_default());
        if self.text.len() + text.len() > MAX_TEXT {
            self.overflowed = true;
        } else if !text.is_empty() {
            self.text.push_str(&text);
            pieces.push(Piece::Text(text));
        }
        match delta.get("tool_calls") {
            Some(Value::Array(calls)) => calls.iter().for_each(|call| self.call(call)),
            Some(call @ Value::Object(_)) => self.call(call),
            _ => {}
        }
        // The form before tool calls: one function, without id.
        if let Some(function @ Value::Object(_)) = delta.get("function_call") {
            self.function(None, None, function, Map::new());
        }
    }

    fn call(&mut self, call: &Value) {
        let index = call.get("index").and_then(Value::as_u64);
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty() && *id != "null");
        let opaque = match call {
            Value::Object(map) => map
                .iter()
                .filter(|(name, _)| !["index", "id", "type", "function"].contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            _ => Map::new(),
        };
        self.function(index, id, call.get("function").unwrap_or(&Value::Null), opaque);
    }

    fn function(
        &mut self,
        index: Option<u64>,
        id: Option<&str>,
        function: &Value,
        opaque: Map<String, Value>,
    ) {
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let piece = match function.get("arguments") {
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(Value::String(piece)) => Cow::Borrowed(piece.as_str()),
            // Whole at once. What is no object is for the tool to refuse.
            Some(value) => Cow::Owned(value.to_string()),
        };
        let going_on = self.slot(index, id);
        let next = match going_on.and_then(|at| self.slots.get_mut(at)) {
            None => Some(name.to_owned()),
            Some(slot) => slot.starts_next(name, &piece),
        };
        let at = match (next, going_on) {
            (None, Some(at)) => at,
            (name, _) => {
                if self.slots.len() >= MAX_CALLS {
                    self.overflowed = true;
                    return;
                }
                let (id, name) = (id.map(str::to_owned), name.unwrap_or_default());
                self.slots.push(Slot { index, id, name, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        let Some(slot) = self.slots.get_mut(at) else { return };
        if slot.name.is_empty() {
            slot.name = name.to_owned();
        }
        if slot.id.is_none() {
            slot.id = id.map(str::to_owned);
        }
        slot.opaque.extend(opaque);
        if matches!(piece, Cow::Owned(_)) {
            slot.arguments.clear();
            slot.object = Object::default();
        }
        if slot.arguments.len() + piece.len() > MAX_ARGUMENTS {
            self.overflowed = true;
            return;
        }
        slot.object.push(&piece);
        slot.arguments.push_str(&piece);
    }

    /// The call that a delta with this index and id belongs to, unless it starts the next one.
    fn slot(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        match (id, index) {
            // An id starts a call unless it is known, at the same index.
            (Some(id), _) => self.slots.iter().rposition(|slot| {
                let same = slot.id.as_deref().is_none_or(|known| known == id);
                same && (index.is_none() || slot.index == index)
            }),
            (None, Some(_)) => self.slots.iter().rposition(|slot| slot.index == index),
            (None, None) => self.slots.len().checked_sub(1),
        }
    }

    /// The answer. Calls of a cut one are dropped: the last may be half a call, and half the calls are not what was meant.
    pub fn finish(mut self) -> Answer {
        if let Some((name, text)) = self.reasoning.take() {
            self.opaque.insert(name.to_owned(), Value::String(text));
        }
        let mut used = HashSet::new();
        let calls = self
            .slots
            .into_iter()
            .filter(|slot| !slot.name.is_empty() && !self.cut)
            .map(|slot| {
                let id = slot
                    .id
                    .filter(|id| used.insert(id.clone()))
                    .unwrap_or_else(|| format!("call_ww_{}", MADE_UP.fetch_add(1, Ordering::Relaxed)));
                ToolCall { id, name: slot.name, arguments: slot.arguments, opaque: slot.opaque }
            })
            .collect();
        Answer { text: self.text, calls, opaque: self.opaque, usage: self.usage, cut: self.cut }
    }
}

/// Text, or a list of parts of which some are text.
fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Tokens in the shapes of OpenAI, Anthropic, DeepSeek and others: names differ, numbers may be floats or missing.
fn usage(value: &Value) -> Option<Usage> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = |pointer: &&str| match value.pointer(pointer)? {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|n| n.max(0.0) as u64)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let find = |pointers: &[&str]| pointers.iter().find_map(number);
    // Anthropic's own input leaves out what it had in its cache.
    let beside = value.get("prompt_tokens").is_none().then(|| find(&["/cache_read_input_tokens"])).flatten();
    let input = find(&["/prompt_tokens", "/input_tokens", "/prompt_eval_count", "/promptTokens"])
        .map(|input| input.saturating_add(beside.unwrap_or(0)));
    let output = find(&["/completion_tokens", "/output_tokens", "/eval_count", "/completionTokens"]);
    let cached = find(&[
        "/prompt_tokens_details/cached_tokens",
        "/input_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cache_read_input_tokens",
        "/cached_tokens",
    ]);
    (input.is_some() || output.is_some()).then(|| Usage {
        input: input.unwrap_or(0),
        cached: cached.unwrap_or(0),
        output: output.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assemble(deltas: &[Value]) -> Answer {
        let mut assembly = Assembly::default();
        for delta in deltas {
            assembly.push(&json!({"choices": [{"delta": delta}]}));
        }
        assembly.push(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
        assert!(assembly.is_finished());
        assembly.finish()
    }

    fn calls(deltas: &[Value]) -> Vec<(String, String)> {
        assemble(deltas).calls.into_iter().map(|c| (c.name, c.arguments)).collect()
    }

    fn call(index: Value, id: Value, name: Value, arguments: Value) -> Value {
        json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]})
    }

    fn two(a: &str, b: &str) -> Vec<(String, String)> {
        vec![("ls".into(), a.into()), ("grep".into(), b.into())]
    }

    #[test]
    fn interleaved_calls_are_told_apart_by_index() {
        let deltas = [
            call(json!(0), json!("a"), json!("ls"), json!("")),
            call(json!(1), json!("b"), json!("grep"), json!("{\"p\"")),
            call(json!(0), json!(null), json!(null), json!("{\"x\":")),
            call(json!(1), json!(""), json!(""), json!(":2}")),
            call(json!(0), json!("null"), json!(null), json!("\"é\"}")),
        ];
        assert_eq!(calls(&deltas), two("{\"x\":\"é\"}", "{\"p\":2}"));
    }

    #[test]
    fn calls_that_all_have_index_0_are_told_apart_by_id_or_by_name() {
        let by_id = [
            call(json!(0), json!("a"), json!("ls"), json!("{}")),
            call(json!(0), json!("b"), json!("grep"), json!("{}")),
        ];
        assert_eq!(calls(&by_id), two("{}", "{}"));
        let by_name = [
            call(json!(0), json!(null), json!("ls"), json!("{}")),
            call(json!(0), json!(null), json!("grep"), json!("{}")),
        ];
        assert_eq!(calls(&by_name), two("{}", "{}"));
        let same_tool = [
            call(json!(0), json!("same"), json!("ls"), json!("{\"p\":1}")),
            call(json!(0), json!("same"), json!("ls"), json!("{\"p\":2}")),
        ];
        assert_eq!(calls(&same_tool), [("ls".into(), "{\"p\":1}".into()), ("ls".into(), "{\"p\":2}".into())]);
    }

    #[test]
    fn missing_indexes_and_object_arguments_are_understood() {
        let deltas = [
            json!({"tool_calls": [{"function": {"name": "ls", "arguments": {"p": 1}}}, {"function": {"name": "grep"}}]}),
            json!({"tool_calls": [{"function": {"arguments": "{}"}}]}),
        ];
        assert_eq!(calls(&deltas), two("{\"p\":1}", "{}"));
        assert_eq!(
            calls(&[json!({"function_call": {"name": "ls", "arguments": "{}"}})]),
            [("ls".into(), "{}".into())]
        );
    }

    #[test]
    fn ids_are_never_empty_and_never_twice() {
        let deltas = [
            call(json!(0), json!("x"), json!("ls"), json!("{}")),
            call(json!(1), json!("x"), json!("ls"), json!("{}")),
            call(json!(2), json!(""), json!("ls"), json!("{}")),
        ];
        let ids: Vec<String> = assemble(&deltas).calls.into_iter().map(|c| c.id).collect();
        assert_eq!((ids.len(), ids[0].as_str()), (3, "x"));
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3);
        assert!(ids.iter().all(|id| !id.is_empty()));
    }

    #[test]
    fn calls_of_a_cut_answer_are_dropped() {
        let mut assembly = Assembly::default();
        assembly
            .push(&json!({"choices": [{"delta": call(json!(0), json!("a"), json!("delete"), json!("{}"))}]}));
        assembly.push(&json!({"choices": [{"delta": {}, "finish_reason": "length"}]}));
        let answer = assembly.finish();
        assert!(answer.cut && answer.calls.is_empty());
    }

    #[test]
    fn text_comes_as_text_or_parts_and_nothing_after_the_end() {
        let mut assembly = Assembly::default();
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
        assert_eq!(
            assembly.push(&json!({"choices": [{"delta": {"content": parts}}]})),
            [Piece::Text("ab".into())]
        );
        assembly.push(&json!({"choices": [{"delta": {"content": null}, "finish_reason": "eos"}]}));
        assert!(assembly.push(&json!({"choices": [{"delta": {"content": "late"}}]})).is_empty());
        assembly.push(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4.0}}));
        let answer = assembly.finish();
        assert_eq!(
            (answer.text.as_str(), answer.usage),
            ("ab", Some(Usage { input: 3, output: 4, ..Usage::default() }))
        );
    }

    #[test]
    fn usage_is_read_in_every_shape() {
        let all = Usage { input: 10, cached: 4, output: 2 };
        for (given, read) in [
            (
                json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}),
                all,
            ),
            (json!({"prompt_tokens": 10.0, "completion_tokens": "2", "prompt_cache_hit_tokens": 4}), all),
            (json!({"input_tokens": 6, "output_tokens": 2, "cache_read_input_tokens": 4}), all),
            (
                json!({"prompt_tokens": 10, "completion_tokens": null, "prompt_tokens_details": null}),
                Usage { input: 10, ..Usage::default() },
            ),
            (json!({"completion_tokens": 2, "prompt_tokens": -3}), Usage { output: 2, ..Usage::default() }),
        ] {
            for chunk in [
                json!({"choices": [], "usage": given}),
                json!({"choices": [{"delta": {}, "usage": given}], "usage": null}),
                json!({"x_groq": {"usage": given}}),
            ] {
                let mut assembly = Assembly::default();
                assembly.push(&chunk);
                assert_eq!(assembly.finish().usage, Some(read), "{chunk}");
            }
        }
        for none in [
            json!(null),
            json!({}),
            json!(3),
            json!([]),
            json!({"prompt_tokens": null}),
            json!({"total_tokens": 3}),
        ] {
            let mut assembly = Assembly::default();
            assembly.push(&json!({"choices": [], "usage": none}));
            assert_eq!(assembly.finish().usage, None, "{none}");
        }
    }

    #[test]
    fn what_is_larger_than_any_answer_is_marked() {
        let endless = |delta: Value| {
            let mut assembly = Assembly::default();
            for _ in 0..20 {
                assembly.push(&json!({"choices": [{"delta": delta}]}));
            }
            assembly.is_too_large()
        };
        let megabyte = "x".repeat(1 << 20);
        assert!(endless(json!({"content": megabyte})));
        assert!(endless(json!({"reasoning": megabyte})));
        assert!(endless(call(json!(0), json!("a"), json!("ls"), json!(megabyte))));
        let calls: Vec<Value> =
            (0..200).map(|n| json!({"index": n, "id": n.to_string(), "function": {"name": "ls"}})).collect();
        assert!(endless(json!({"tool_calls": calls})));
        assert!(!endless(json!({"content": "x"})));
    }

    #[test]
    fn odd_chunks_are_nothing() {
        let mut assembly = Assembly::default();
        for chunk in [
            json!(null),
            json!([]),
            json!({"choices": null}),
            json!({"choices": [{}], "usage": {}}),
            json!({"usage": null}),
        ] {
            assert!(assembly.push(&chunk).is_empty());
        }
        assert!(!assembly.is_finished());
    }

    #[test]
    fn reasoning_is_shown_once_and_kept_under_its_own_name() {
        let mut assembly = Assembly::default();
        let both = json!({"choices": [{"delta": {"reasoning": "hm", "reasoning_content": "hm"}}]});
        assert_eq!(assembly.push(&both), [Piece::Reasoning("hm".into())]);
        assert_eq!(assembly.finish().opaque, *json!({"reasoning_content": "hm"}).as_object().unwrap());
    }

    #[test]
    fn a_call_in_many_small_pieces_takes_time_in_proportion_to_its_length() {
        // The limit is for slow machines; reading all arguments again for each piece would take an hour.
        for name in [json!(null), json!("write_file")] {
            let mut assembly = Assembly::default();
            let piece = json!({"choices": [{"delta": call(json!(0), json!("a"), name, json!("}{ 12345678901234 "))}]});
            assembly.push(&json!({"choices": [{"delta": call(json!(0), json!("a"), json!("write_file"), json!("{\"x\": \""))}]}));
            let started = std::time::Instant::now();
            for _ in 0..200_000 {
                assembly.push(&piece);
            }
            assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
            let calls = assembly.finish().calls;
            assert_eq!((calls.len(), calls[0].arguments.len()), (1, 7 + 200_000 * 18));
        }
    }

    #[test]
    fn an_id_and_a_name_on_every_piece_make_no_other_call() {
        let again = |arguments: Value| call(json!(0), json!("a"), json!("ls"), arguments);
        let whole = [("ls".to_owned(), "{\"p\":1}".to_owned())];
        let pieces = [json!(""), json!("{\"p\""), json!(null), json!(":1}"), json!(""), json!(null)];
        assert_eq!(calls(&pieces.map(again)), whole);
        let unnumbered = |id: Value, arguments: &str| json!({"tool_calls": [{"id": id, "function": {"name": "ls", "arguments": arguments}}]});
        assert_eq!(calls(&[unnumbered(json!("a"), "{\"p\":1}"), unnumbered(json!("a"), "")]), whole);
        // A server with one id for all its calls starts each with its name alone.
        let one_id = [
            again(json!("")),
            again(json!("{\"p\":1}")),
            again(json!("")),
            call(json!(0), json!(null), json!(null), json!("{\"p\"")),
            call(json!(0), json!(null), json!(null), json!(":2}")),
        ];
        assert_eq!(calls(&one_id), [whole[0].clone(), ("ls".to_owned(), "{\"p\":2}".to_owned())]);
    }

    #[test]
    fn arguments_of_any_kind_are_handed_on_for_the_tool_to_judge() {
        let deep = "[".repeat(10_000);
        for (given, kept) in [
            (json!(""), ""),
            (json!(null), ""),
            (json!("null"), "null"),
            (json!([1]), "[1]"),
            (json!(7), "7"),
            (json!({"a": "\"}"}), "{\"a\":\"\\\"}\"}"),
            (json!("{\"a\":[1,2]"), "{\"a\":[1,2]"),
            (json!("{\"a\":1,\"a\":2}"), "{\"a\":1,\"a\":2}"),
            (json!(deep), deep.as_str()),
        ] {
            assert_eq!(
                calls(&[call(json!(0), json!("a"), json!("ls"), given)]),
                [("ls".to_owned(), kept.to_owned())]
            );
        }
    }

    #[test]
    fn a_call_without_a_name_is_none() {
        let deltas = [
            call(json!(0), json!("a"), json!(""), json!("{}")),
            call(json!(1), json!("b"), json!("ls"), json!("{}")),
            json!({"tool_calls": [null, 3, {}, {"function": null}]}),
        ];
        assert_eq!(calls(&deltas), [("ls".to_owned(), "{}".to_owned())]);
    }

    #[test]
    fn every_name_of_the_length_limit_cuts() {
        for reason in ["length", "max_tokens", "MAX_TOKENS", "model_length"] {
            let mut assembly = Assembly::default();
            assembly.push(&json!({"choices": [{"delta": call(json!(0), json!("a"), json!("ls"), json!("{}")), "finish_reason": reason}]}));
            let answer = assembly.finish();
            assert!(answer.cut && answer.calls.is_empty(), "{reason}");
        }
    }
}
