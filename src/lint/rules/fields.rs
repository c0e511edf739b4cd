//! F: frontmatter and its fields.

use std::collections::BTreeSet;

use crate::lint::Profile;
use crate::lint::context::{Context, Findings};
use crate::lint::registry::{
    FIELD_RECOMMENDED, FIELD_REQUIRED, FIELD_SHAPE, FRONTMATTER_INVALID, FRONTMATTER_MISSING, KEY_DUPLICATE,
    TIMESTAMP_INVALID,
};
use crate::okf::frontmatter::{Entry, Node, Value, YamlErrorKind};
use crate::okf::{Page, timestamp};
use crate::text::Span;

/// The type whose pages say how a figure is computed (OKF 0.2).
pub const COMPUTATION: &str = "Attested Computation";

pub fn check(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    let front = &page.frontmatter;
    let Some(block) = front.block else {
        if context.is_concept(&page.path) {
            let message = "no frontmatter: a concept page starts with a block between two lines `---`";
            findings.whole(&FRONTMATTER_MISSING, &page.path, message, []);
        }
        return;
    };
    if let Some(error) = &front.error {
        // The mistake that real bundles make most is valid in no reading: it is named alone.
        let message = match error.kind {
            YamlErrorKind::UnquotedColon => format!("frontmatter is not valid YAML: {}", error.message),
            _ => format!("frontmatter is not a YAML mapping: {}", error.message),
        };
        findings.at(&FRONTMATTER_INVALID, page, error.span, message, []);
        return;
    }
    if context.is_concept(&page.path) {
        // Where something is missing, the opening fence is what there is to point at.
        let fence = Span::new(block.start, block.end.min(block.start + "---".len()));
        required(page, fence, findings);
        recommended(context, page, fence, findings);
    }
    if let Some(node) = front.get("timestamp").filter(|node| !is_empty(&node.value)) {
        let written = scalar(&node.value);
        if !written.is_some_and(timestamp::is_iso) {
            let value = written.unwrap_or_else(|| node.span.of(&page.text));
            let message = format!("`timestamp` is not ISO 8601: {value}; write it like 2026-07-19T10:30:00Z");
            findings.at(&TIMESTAMP_INVALID, page, node.span, message, [("value", value.into())]);
        }
    }
    shapes(page, findings);
    if context.profile == Profile::Okf && page.path.as_str() == "/index.md" {
        root_index(page, findings);
    }
    duplicates(page, findings);
}

fn required(page: &Page, fence: Span, findings: &mut Findings) {
    let (span, fault) = match page.frontmatter.get("type") {
        None => (fence, "is missing"),
        Some(node) if is_empty(&node.value) => (node.span, "is empty"),
        Some(Node { value: Value::String(_), .. }) => return,
        Some(node) => (node.span, "is not a string"),
    };
    let message = format!("required field `type` {fault}");
    findings.at(&FIELD_REQUIRED, page, span, message, [("field", "type".into())]);
}

fn recommended(context: &Context<'_>, page: &Page, fence: Span, findings: &mut Findings) {
    let fields: &[&str] = match context.profile {
        Profile::Wiki => &["title", "description", "timestamp"],
        Profile::Okf => &["title", "description"],
    };
    for field in fields {
        let node = page.frontmatter.get(field);
        if node.is_none_or(|node| is_empty(&node.value)) {
            let state = if node.is_some() { "empty" } else { "missing" };
            let span = node.map_or(fence, |node| node.span);
            let message = format!("recommended field `{field}` is {state}");
            findings.at(&FIELD_RECOMMENDED, page, span, message, [("field", (*field).into())]);
        }
    }
}

/// Fields of both profiles whose values are of one kind. What is empty counts as absent, and so as of no kind.
fn shapes(page: &Page, findings: &mut Findings) {
    let computation = page.kind() == Some(COMPUTATION);
    for entry in &page.frontmatter.entries {
        let node = &entry.value;
        let fault = match entry.key.as_str() {
            _ if is_empty(&node.value) => None,
            "title" | "description" | "resource" => not_text(node)
                .map(|kind| (node.span, format!("is {kind} and should be a text{}", quote(node)))),
            "tags" => match &node.value {
                Value::List(items) => items.iter().find_map(|item| {
                    let kind = not_text(item)?;
                    Some((item.span, format!("holds {kind} and should be a list of texts{}", quote(item))))
                }),
                other => Some((node.span, format!("is {} and should be a list of texts", kind(other)))),
            },
            "sources" => match &node.value {
                Value::List(_) => None,
                other => Some((node.span, format!("is {} and should be a list", kind(other)))),
            },
            "parameters" if computation && !matches!(node.value, Value::List(_)) => {
                Some((node.span, format!("is {} and should be a list of mappings", kind(&node.value))))
            }
            "executor" | "attester" if computation && !matches!(node.value, Value::Map(_)) => {
                Some((node.span, format!("is {} and should be a mapping with `resource`", kind(&node.value))))
            }
            _ => None,
        };
        if let Some((span, fault)) = fault {
            let message = format!("`{}` {fault}", entry.key);
            findings.at(&FIELD_SHAPE, page, span, message, [("field", entry.key.clone().into())]);
        }
    }
}

/// What the specification lets the root's index say of the bundle. One that carries a concept is S003's alone.
fn root_index(page: &Page, findings: &mut Findings) {
    if page.frontmatter.get("type").is_some_and(|node| !is_empty(&node.value)) {
        return;
    }
    for entry in page.frontmatter.entries.iter().filter(|entry| entry.key != "okf_version") {
        let message =
            format!("`{}` means nothing in the root's index.md: only `okf_version` does", entry.key);
        findings.at(&FIELD_SHAPE, page, entry.key_span, message, [("field", entry.key.clone().into())]);
    }
}

/// Keys that stand twice in one mapping, at any depth (YAML 1.2.2 section 3.2.1.1).
fn duplicates(page: &Page, findings: &mut Findings) {
    // An alias gives the same places again.
    let mut places = BTreeSet::new();
    let mut waiting: Vec<(&[Entry], String)> = vec![(&page.frontmatter.entries, String::new())];
    while let Some((entries, above)) = waiting.pop() {
        let mut keys = BTreeSet::new();
        for entry in entries {
            let field = || format!("{above}{}", entry.key);
            if !keys.insert(&entry.key) && places.insert(entry.key_span) {
                let field = field();
                let message = format!("key `{field}` stands here a second time");
                findings.at(&KEY_DUPLICATE, page, entry.key_span, message, [("field", field.into())]);
            }
            let mut values = vec![&entry.value];
            while let Some(node) = values.pop() {
                match &node.value {
                    Value::Map(entries) => waiting.push((entries, field() + ".")),
                    Value::List(items) => values.extend(items),
                    _ => {}
                }
            }
        }
    }
}

pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A string or number as written; `20260719` is a number to YAML and a date to people.
pub fn scalar(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) | Value::Number(text) => Some(text),
        _ => None,
    }
}

/// What a value is, when it is no text.
fn not_text(node: &Node) -> Option<&'static str> {
    (!matches!(node.value, Value::String(_))).then(|| kind(&node.value))
}

pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

fn quote(node: &Node) -> &'static str {
    if matches!(node.value, Value::Bool(_) | Value::Number(_)) { ": put it in quotes" } else { "" }
}
