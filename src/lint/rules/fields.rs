//! F: frontmatter and its fields.

use crate::lint::Profile;
use crate::lint::context::{Context, Findings};
use crate::lint::registry::{
    FIELD_RECOMMENDED, FIELD_REQUIRED, FRONTMATTER_INVALID, FRONTMATTER_MISSING, TIMESTAMP_INVALID,
};
use crate::okf::frontmatter::{Node, Value};
use crate::okf::{Page, timestamp};
use crate::text::Span;

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
        findings.at(&FRONTMATTER_INVALID, page, error.span, invalid(page, error.span, &error.message), []);
        return;
    }
    // Where something is missing, the opening fence is what there is to point at.
    let fence = Span::new(block.start, block.end.min(block.start + 3));
    if context.is_concept(&page.path) {
        required(page, fence, findings);
        let recommended: &[&str] = match context.profile {
            Profile::Wiki => &["title", "description", "timestamp"],
            Profile::Okf => &["title", "description"],
        };
        for field in recommended {
            let node = front.get(field);
            if node.is_none_or(|node| is_empty(&node.value)) {
                let state = if node.is_some() { "empty" } else { "missing" };
                let span = node.map_or(fence, |node| node.span);
                let message = format!("recommended field `{field}` is {state}");
                findings.at(&FIELD_RECOMMENDED, page, span, message, [("field", (*field).into())]);
            }
        }
    }
    if let Some(node) = front.get("timestamp").filter(|node| !is_empty(&node.value)) {
        let written = scalar(&node.value);
        if !written.as_deref().is_some_and(timestamp::is_iso) {
            let value = written.unwrap_or_else(|| node.span.of(&page.text).to_owned());
            let message = format!("`timestamp` is not ISO 8601: {value}; write it like 2026-07-19T10:30:00Z");
            findings.at(&TIMESTAMP_INVALID, page, node.span, message, [("value", value.into())]);
        }
    }
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

/// The mistake that real bundles make most is named in words: a plain value that holds `: ` starts a second mapping on
/// the same line, which YAML forbids.
fn invalid(page: &Page, span: Span, message: &str) -> String {
    let line_start = page.text.get(..span.start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
    let line = page.text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    if let Some((key, value)) = line.split_once(": ") {
        let value = value.trim();
        let plain = !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']);
        if plain && (value.contains(": ") || value.ends_with(':')) {
            return format!(
                "frontmatter is not valid YAML: the value of `{}` holds `: ` and must stand in quotes",
                key.trim()
            );
        }
    }
    format!("frontmatter is not a YAML mapping: {message}")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A string or number as written; `20260719` is a number to YAML and a date to people.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) | Value::Number(text) => Some(text.clone()),
        _ => None,
    }
}
