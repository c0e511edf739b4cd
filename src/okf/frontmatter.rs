//! Frontmatter: the YAML mapping between a first line `---` and a closing `---`.
//!
//! Read as real YAML with a byte span for every key and value, so that a finding can point at it
//! and an edit can replace it without touching another byte. All spans are offsets into the whole
//! file, byte-order mark included.

use crate::text::Span;

/// Largest block that is parsed, in bytes.
pub const MAX_BLOCK: usize = 64 * 1024;

/// What stands at the head of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frontmatter {
    /// The whole block with both fences; none when the page has no block.
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
    /// One sentence for people, without position.
    pub message: String,
    pub span: Span,
}

/// One top-level key.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

/// A value and where it stands. The span of an empty value is empty and lies after the colon.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub span: Span,
}

/// A YAML value under the 1.2 core schema, with numbers kept as written.
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
        let _ = text;
        unimplemented!("okf helper")
    }

    /// The first entry with this key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value)
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
}
