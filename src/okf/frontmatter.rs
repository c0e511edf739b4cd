//! Frontmatter: the YAML mapping between a first line `---` and a closing `---`.
//!
//! Read as real YAML with a byte span for every key and value, so that a finding can point at it
//! and an edit can replace it without touching another byte. All spans are offsets into the whole
//! file, byte-order mark included. The YAML itself is read in [`super::yaml`].

use super::yaml;
use crate::text::Span;

/// Largest block that is parsed, in bytes.
pub const MAX_BLOCK: usize = 64 * 1024;

/// What stands at the head of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frontmatter {
    /// The whole block with both fences and the closing fence's line end; none when the page has no block. A block
    /// that is never closed is its opening line alone.
    pub block: Option<Span>,
    /// The YAML between the fences.
    pub yaml: Span,
    /// Why the block is not a YAML mapping. `entries` is then empty.
    pub error: Option<YamlError>,
    /// Top-level keys in the order written. A key written twice stands twice; see [`Self::get`].
    pub entries: Vec<Entry>,
}

/// Why a block could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    pub kind: YamlErrorKind,
    /// One sentence for people, without position.
    pub message: String,
    pub span: Span,
}

/// What is wrong with a block, as far as a fix can depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum YamlErrorKind {
    /// The opening `---` has no closing one.
    Unclosed,
    /// A plain value holds `: `; the span is the whole value, and quoting it is the fix.
    UnquotedColon,
    /// Valid YAML of another shape.
    NotMapping,
    /// Deeper, longer or with more aliases than any page needs.
    TooLarge,
    Syntax,
}

/// One key of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

/// A value and where it stands: quotes and the header of a block scalar included, tag and anchor not. The span of
/// an empty value is empty and lies after the colon. Block collections end with their last value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub span: Span,
}

/// A YAML value under the 1.2 core schema, with numbers kept as written. Integers with a leading zero are
/// strings: they are dates, versions and telephone numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// An integer or float, as written.
    Number(String),
    String(String),
    List(Vec<Node>),
    /// Keys that are not scalars make the block an error.
    Map(Vec<Entry>),
}

impl Frontmatter {
    /// Splits and reads the block of a page. Never fails: what is wrong stands in `error`.
    pub fn parse(text: &str) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let Some(opening) = line_at(text, start).filter(|line| is_fence(line)) else {
            return Self::default();
        };
        let inner = start + opening.len();
        let mut at = inner;
        while let Some(line) = line_at(text, at) {
            if is_fence(line) {
                return Self::read(text, Span::new(start, at + line.len()), Span::new(inner, at));
            }
            at += line.len();
        }
        let fence = Span::new(start, inner);
        Self {
            block: Some(fence),
            yaml: Span::new(inner, inner),
            error: Some(YamlError {
                kind: YamlErrorKind::Unclosed,
                message: "the frontmatter opens with `---` but no line `---` closes it".to_owned(),
                span: Span::new(start, start + "---".len()),
            }),
            entries: Vec::new(),
        }
    }

    fn read(text: &str, block: Span, yaml: Span) -> Self {
        let read = if yaml.len() > MAX_BLOCK {
            Err(YamlError {
                kind: YamlErrorKind::TooLarge,
                message: format!("the frontmatter is larger than {} KiB", MAX_BLOCK / 1024),
                span: Span::new(block.start, block.start + "---".len()),
            })
        } else {
            yaml::mapping(yaml.of(text), yaml.start)
        };
        let (entries, error) = match read {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Self { block: Some(block), yaml, error, entries }
    }

    /// The first entry with this key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        get(&self.entries, key)
    }

    /// The text of a scalar string under `key`, trimmed; none when absent, empty or another kind.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.value.as_str().map(str::trim).filter(|t| !t.is_empty())
    }

    /// The strings of a list under `key`; a bare scalar counts as a list of one.
    pub fn strings(&self, key: &str) -> Vec<&str> {
        match self.get(key).map(|n| &n.value) {
            Some(Value::List(items)) => items.iter().filter_map(|n| n.value.as_str()).collect(),
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        }
    }
}

impl Value {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value under `key` when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(entries) => get(entries, key),
            _ => None,
        }
    }
}

fn get<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Node> {
    entries.iter().find(|e| e.key == key).map(|e| &e.value)
}

/// The line that starts at `at`, its line end included; none at the end of the text.
fn line_at(text: &str, at: usize) -> Option<&str> {
    text.get(at..)?.split_inclusive('\n').next()
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')))
}

#[cfg(test)]
mod tests;
