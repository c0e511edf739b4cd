//! Edits of a page as byte splices: what no splice covers stays byte for byte (line ends, quotes, comments, byte-order mark).

use super::frontmatter::{Entry, Frontmatter, Node, Value};
use super::scalar;
use crate::text::Span;

mod canonical;
mod migrate;
#[cfg(test)]
mod tests;

pub use canonical::canonical;
pub use migrate::to_0_2;

/// A replacement of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    pub span: Span,
    pub text: String,
}

impl Splice {
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(Span::new(at, at), text)
    }

    pub fn delete(span: Span) -> Self {
        Self::new(span, "")
    }
}

/// The text with its splices. Of several for one span the first counts; one that reaches into another is left out.
pub fn apply(text: &str, splices: impl IntoIterator<Item = Splice>) -> String {
    let mut splices: Vec<Splice> = splices.into_iter().collect();
    splices.sort_by_key(|s| (s.span.start, s.span.end));
    splices.dedup_by(|b, a| a.span == b.span && !a.span.is_empty());
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        if splice.span.start < at {
            continue;
        }
        out.push_str(text.get(at..splice.span.start).unwrap_or_default());
        out.push_str(&splice.text);
        at = splice.span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// The line end that a text uses: that of its first line, `"\n"` when it has none.
pub fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|line| line.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// Sets a top-level key to `value`, which is YAML of one line. A page without frontmatter gets a block. None when the block
/// is broken or written as `{ }`.
pub fn set(text: &str, frontmatter: &Frontmatter, key: &str, value: &str) -> Option<Splice> {
    let end = line_end(text);
    let Some(block) = frontmatter.block else {
        let at = text.len() - text.trim_start_matches('\u{feff}').len();
        let gap = if text.get(at..).is_some_and(|body| !body.trim().is_empty()) { end } else { "" };
        return Some(Splice::insert(at, format!("---{end}{key}: {value}{end}---{end}{gap}")));
    };
    if let Some(entry) = frontmatter.entries.iter().find(|e| e.key == key) {
        let span = entry.value.span;
        let gap = if span.is_empty() && !text.get(..span.start)?.ends_with(' ') { " " } else { "" };
        return block_style(text, frontmatter)
            .then(|| Splice::new(span, format!("{gap}{value}")))
            .filter(|_| frontmatter.error.is_none());
    }
    add_lines(text, frontmatter, block, &format!("{key}: {value}{end}"))
}

/// Puts another text in the place of a scalar, inside the quotes that stand there where they can hold it.
pub fn set_scalar(text: &str, node: &Node, value: &str) -> Splice {
    let source = node.span.of(text);
    let inner = ['"', '\'']
        .iter()
        .find_map(|quote| source.strip_prefix(*quote)?.strip_suffix(*quote))
        .filter(|inner| node.value.as_str() == Some(inner) && !value.contains(['"', '\'', '\\', '\n']));
    match inner {
        Some(_) => Splice::new(Span::new(node.span.start + 1, node.span.end - 1), value),
        None => Splice::new(node.span, scalar::written(value)),
    }
}

/// Whether the value stands where its top-level key does and no other place of the block means it: an alias is
/// written elsewhere, and what has an anchor is read elsewhere too.
pub fn is_own(text: &str, frontmatter: &Frontmatter, key: &str, span: Span) -> bool {
    let Some(at) = frontmatter.entries.iter().position(|e| e.key == key) else { return false };
    let (Some(entry), next) = (frontmatter.entries.get(at), frontmatter.entries.get(at + 1)) else {
        return false;
    };
    let from = entry.key_span.end.max(line_start(text, span.start));
    entry.key_span.end <= span.start
        && next.is_none_or(|next| span.end <= next.key_span.start)
        && text.get(from..span.start).is_some_and(|lead| !lead.contains(['&', '*']))
}

/// Takes a top-level key away, with the lines of its value and the comments within.
pub fn remove(text: &str, frontmatter: &Frontmatter, key: &str) -> Option<Splice> {
    let entry = frontmatter.entries.iter().find(|e| e.key == key)?;
    block_style(text, frontmatter).then(|| Splice::delete(entry_lines(text, entry)))
}

/// The whole lines of an entry of a block mapping, line end included.
pub fn entry_lines(text: &str, entry: &Entry) -> Span {
    Span::new(
        line_start(text, entry.key_span.start),
        after_line(text, entry.value.span.end.max(entry.key_span.end)),
    )
}

/// Adds items, each YAML of one line, to the list under a top-level key; makes the list where there is none, and a list of
/// a single value. None when the block is broken, written as `{ }`, or the value is a mapping.
pub fn append(text: &str, frontmatter: &Frontmatter, key: &str, items: &[String]) -> Option<Splice> {
    let flow = items.join(", ");
    let Some(node) = frontmatter.get(key) else {
        let end = line_end(text);
        // Mappings read badly side by side.
        let lines = match items.iter().any(|item| item.starts_with('{')) {
            false => format!("{key}: [{flow}]{end}"),
            true => items.iter().fold(format!("{key}:{end}"), |all, item| all + &format!("  - {item}{end}")),
        };
        return add_lines(text, frontmatter, frontmatter.block?, &lines);
    };
    if !block_style(text, frontmatter) {
        return None;
    }
    let source = node.span.of(text);
    match &node.value {
        Value::List(now) if source.starts_with('[') => {
            let at = node.span.end.checked_sub("]".len())?;
            let inner = text.get(node.span.start + "[".len()..at)?;
            let trailing = inner.trim_end().len();
            let separator = if now.is_empty() || inner.trim_end().ends_with(',') { "" } else { ", " };
            Some(Splice::insert(node.span.start + "[".len() + trailing, format!("{separator}{flow}")))
        }
        Value::List(now) => {
            let first = now.first()?;
            let start = line_start(text, first.span.start);
            let lead = text.get(start..first.span.start)?;
            let lead = lead.get(..=lead.find('-')?)?;
            let last = now.last()?.span.end;
            let at = after_line(text, last);
            let end = line_end(text);
            let lines: String = items.iter().map(|item| format!("{lead} {item}{end}")).collect();
            let gap = if text.get(..at)?.ends_with('\n') { "" } else { end };
            Some(Splice::insert(at, format!("{gap}{lines}")))
        }
        Value::Null => Some(Splice::new(node.span, format!(" [{flow}]"))),
        Value::Map(_) => None,
        _ => Some(Splice::new(node.span, format!("[{source}, {flow}]"))),
    }
}

/// Takes one item out of the list under a top-level key; the key goes with the last one.
pub fn remove_item(text: &str, frontmatter: &Frontmatter, key: &str, nth: usize) -> Option<Splice> {
    let node = frontmatter.get(key)?;
    let Value::List(items) = &node.value else {
        return if nth == 0 { remove(text, frontmatter, key) } else { None };
    };
    let item = items.get(nth)?;
    if items.len() == 1 {
        return remove(text, frontmatter, key);
    }
    if node.span.of(text).starts_with('[') {
        // With the comma after it, or for the last one with the comma before it.
        return Some(Splice::delete(match items.get(nth + 1) {
            Some(next) => Span::new(item.span.start, next.span.start),
            None => Span::new(items.get(nth.checked_sub(1)?)?.span.end, item.span.end),
        }));
    }
    Some(Splice::delete(Span::new(line_start(text, item.span.start), after_line(text, item.span.end))))
}

/// A value as YAML of one line.
pub fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) => text.clone(),
        Value::String(text) => scalar::written(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| flow(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entry = |e: &Entry| format!("{}: {}", scalar::written(&e.key), flow(&e.value.value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// The nodes of a list, or the single value as a list of one.
pub fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        Value::Null => &[],
        _ => std::slice::from_ref(node),
    }
}

fn add_lines(text: &str, frontmatter: &Frontmatter, block: Span, lines: &str) -> Option<Splice> {
    let whole = frontmatter.error.is_none() && block.end > frontmatter.yaml.end;
    (whole && block_style(text, frontmatter)).then(|| Splice::insert(frontmatter.yaml.end, lines))
}

/// Whether the block has a line for each key, and is not `{a: 1, b: 2}`.
fn block_style(text: &str, frontmatter: &Frontmatter) -> bool {
    frontmatter.entries.iter().all(|entry| {
        text.get(line_start(text, entry.key_span.start)..entry.key_span.start)
            .is_some_and(|lead| lead.trim().is_empty())
    })
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |nl| nl + 1)
}

fn after_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |nl| at + nl + 1)
}
