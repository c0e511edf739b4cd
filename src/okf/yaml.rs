//! The YAML of a frontmatter block, built from parser events into nodes with byte spans.
//!
//! Bounded in depth, nodes, aliases and text, so that a hostile block is a sentence and not a stall. Must not
//! know which fields a page has.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, StructureStyle, Tag};

use super::frontmatter::{Entry, Node, Value, YamlError, YamlErrorKind};
use crate::text::Span;

const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 20_000;
const MAX_ALIASES: usize = 200;
const MAX_SCALAR_BYTES: usize = 1024 * 1024;

/// Reads `yaml`, which stands at byte `base` of its file, as one mapping. An empty text is an empty mapping.
pub(super) fn mapping(yaml: &str, base: usize) -> Result<Vec<Entry>, YamlError> {
    let node = Builder::new(yaml, base).document().map_err(|error| explain(yaml, base, error))?;
    match node.map(|n| (n.value, n.span)) {
        None | Some((Value::Null, _)) => Ok(Vec::new()),
        Some((Value::Map(entries), _)) => Ok(entries),
        Some((_, span)) => Err(YamlError {
            kind: YamlErrorKind::NotMapping,
            message:
                "the frontmatter is not a mapping: write one `key: value` a line, with a blank after the \
                      colon"
                    .to_owned(),
            span,
        }),
    }
}

/// A collection that is being read.
struct Open {
    /// Start of its source.
    start: usize,
    flow: bool,
    anchor: usize,
    tag: Option<String>,
    items: Items,
    /// What its nodes cost, for copies through aliases.
    cost: Cost,
}

enum Items {
    List(Vec<Node>),
    /// The entries and a key that waits for its value.
    Map(Vec<Entry>, Option<(String, Span)>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    nodes: usize,
    bytes: usize,
    /// Levels of collections, 0 for a scalar.
    depth: usize,
}

struct Builder<'a> {
    yaml: &'a str,
    base: usize,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, Cost)>,
    aliases: usize,
    spent: Cost,
    /// End of the last token read, an offset into `yaml`.
    cursor: usize,
    root: Option<Node>,
}

impl<'a> Builder<'a> {
    fn new(yaml: &'a str, base: usize) -> Self {
        Self {
            yaml,
            base,
            open: Vec::new(),
            anchors: HashMap::new(),
            aliases: 0,
            spent: Cost::default(),
            cursor: 0,
            root: None,
        }
    }

    fn document(mut self) -> Result<Option<Node>, YamlError> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(self.yaml, options) {
            let (event, span) = event.map_err(|e| self.syntax(e.kind(), e.marker()))?;
            let range = span.byte_range().unwrap_or(self.cursor..self.cursor);
            match event {
                Event::DocumentStart(..) => {
                    documents += 1;
                    if documents > 1 {
                        return Err(self.error(
                            YamlErrorKind::Syntax,
                            "the frontmatter holds more than one YAML document",
                            range,
                        ));
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    self.scalar(&text, style, anchor, tag.as_deref(), range)?;
                }
                Event::SequenceStart(style, anchor, tag) => {
                    self.begin(Items::List(Vec::new()), style, anchor, tag.as_deref(), range)?;
                }
                Event::MappingStart(style, anchor, tag) => {
                    self.begin(Items::Map(Vec::new(), None), style, anchor, tag.as_deref(), range)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(range)?,
                Event::Alias(id) => self.alias(id, range)?,
                _ => {}
            }
        }
        Ok(self.root)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: std::ops::Range<usize>,
    ) -> Result<(), YamlError> {
        let cost = Cost { nodes: 1, bytes: text.len(), depth: 0 };
        let (value, span) = match style {
            // The parser gives an absent value as a `~` without extent that may lie before its colon.
            ScalarStyle::Plain if range.is_empty() => {
                let at = self.after_indicator();
                let value =
                    if tag.is_some_and(is_string_tag) { Value::String(String::new()) } else { Value::Null };
                (value, at..at)
            }
            ScalarStyle::Plain => (typed(text, tag), range),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                (Value::String(text.to_owned()), self.block_scalar(range))
            }
            _ => (Value::String(text.to_owned()), range),
        };
        self.cursor = self.cursor.max(span.end);
        let node = Node { value, span: self.place(span) };
        self.add(node, cost, anchor, text)
    }

    fn begin(
        &mut self,
        items: Items,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: std::ops::Range<usize>,
    ) -> Result<(), YamlError> {
        let flow = style == StructureStyle::Flow;
        if self.open.len() >= MAX_DEPTH {
            return Err(self.too_large("the frontmatter nests more than 32 levels deep", range));
        }
        if flow {
            self.cursor = self.cursor.max(range.end);
        }
        let mut start = range.start;
        if !flow && matches!(items, Items::List(_)) {
            // A list that is not indented below its key is reported from its first item, behind the dash.
            start = self.next_word(range.start, |word| word == "-").unwrap_or(start);
        }
        let tag = tag.and_then(|t| t.core_suffix()).map(str::to_owned);
        self.open.push(Open { start, flow, anchor, tag, items, cost: Cost::default() });
        Ok(())
    }

    fn end(&mut self, range: std::ops::Range<usize>) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = if open.flow { range.end } else { self.cursor };
        self.cursor = self.cursor.max(end);
        let span = self.place(open.start.min(end)..end);
        let value = match open.items {
            Items::List(items) => Value::List(items),
            Items::Map(entries, _) => Value::Map(entries),
        };
        let kind = match &value {
            Value::List(_) => "seq",
            _ => "map",
        };
        if open.tag.is_some_and(|tag| tag != kind) {
            return Err(YamlError {
                kind: YamlErrorKind::Syntax,
                message: "a tag names another kind of value than the one that follows".to_owned(),
                span,
            });
        }
        let cost = Cost { nodes: open.cost.nodes + 1, bytes: open.cost.bytes, depth: open.cost.depth + 1 };
        self.add(Node { value, span }, cost, open.anchor, "")
    }

    fn alias(&mut self, id: usize, range: std::ops::Range<usize>) -> Result<(), YamlError> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return Err(self.too_large("the frontmatter uses more than 200 YAML aliases", range));
        }
        self.cursor = self.cursor.max(range.end);
        let span = self.place(range.clone());
        let Some(cost) = self.anchors.get(&id).map(|(_, cost)| *cost) else {
            return Err(self.error(
                YamlErrorKind::Syntax,
                "a YAML alias stands inside the value it refers to",
                range,
            ));
        };
        // Checked before the copy is made.
        self.spend(cost, span)?;
        if self.open.len() + cost.depth > MAX_DEPTH {
            return Err(self.too_large("the frontmatter nests more than 32 levels deep", range));
        }
        let Some(value) = self.anchors.get(&id).map(|(node, _)| node.value.clone()) else { return Ok(()) };
        let node = Node { value, span };
        let key = match &node.value {
            Value::String(text) | Value::Number(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            _ => String::new(),
        };
        self.attach(node, cost, &key)
    }

    /// Books a finished node, keeps it for aliases and hangs it into its collection.
    fn add(&mut self, node: Node, cost: Cost, anchor: usize, key: &str) -> Result<(), YamlError> {
        // Children have been booked already.
        self.spend(
            Cost { nodes: 1, bytes: if cost.depth == 0 { cost.bytes } else { 0 }, depth: 0 },
            node.span,
        )?;
        if anchor != 0 {
            // The copy kept for aliases counts as well, else nested anchors would multiply.
            self.spend(cost, node.span)?;
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        self.attach(node, cost, key)
    }

    fn attach(&mut self, node: Node, cost: Cost, key: &str) -> Result<(), YamlError> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.cost.nodes += cost.nodes;
        open.cost.bytes += cost.bytes;
        open.cost.depth = open.cost.depth.max(cost.depth);
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map(entries, waiting) => match waiting.take() {
                Some((key, key_span)) => entries.push(Entry { key, key_span, value: node }),
                None if matches!(node.value, Value::List(_) | Value::Map(_)) => {
                    return Err(YamlError {
                        kind: YamlErrorKind::Syntax,
                        message: "a key of the frontmatter is a list or a mapping; keys are plain words"
                            .to_owned(),
                        span: node.span,
                    });
                }
                None => {
                    let key = if node.span.is_empty() { String::new() } else { key.to_owned() };
                    *waiting = Some((key, node.span));
                }
            },
        }
        Ok(())
    }

    fn spend(&mut self, cost: Cost, span: Span) -> Result<(), YamlError> {
        self.spent.nodes += cost.nodes;
        self.spent.bytes += cost.bytes;
        if self.spent.nodes > MAX_NODES || self.spent.bytes > MAX_SCALAR_BYTES {
            return Err(YamlError {
                kind: YamlErrorKind::TooLarge,
                message:
                    "the frontmatter holds more values than a page can need (aliases counted as often as \
                          they are used)"
                        .to_owned(),
                span,
            });
        }
        Ok(())
    }

    /// Where an absent value would stand: behind the `:`, `?` or `-` that follows the last token, else at the
    /// last token's end.
    fn after_indicator(&self) -> usize {
        let rest = self.yaml.get(self.cursor..).unwrap_or("");
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', ',', '{', '[']).len();
        match rest.get(blank..).and_then(|r| r.chars().next()) {
            Some(':' | '-' | '?') => self.cursor + blank + 1,
            _ => self.cursor,
        }
    }

    /// The source of a block scalar from its `|` or `>`; the parser's range starts at the content.
    fn block_scalar(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let end = range.end.max(self.cursor);
        let start = self.next_word(range.start, |word| word.starts_with(['|', '>'])).unwrap_or(range.start);
        let content = self.yaml.get(start..end).unwrap_or("");
        start..start + content.trim_end_matches(['\n', '\r', ' ', '\t']).len()
    }

    /// Where the first word between the last token and `limit` that is `wanted` starts; comments are no words.
    fn next_word(&self, limit: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let mut at = self.cursor;
        let between = self.yaml.get(self.cursor..limit.max(self.cursor))?;
        for line in between.split_inclusive('\n') {
            let mut word_at = at;
            at += line.len();
            for word in line.split_inclusive(char::is_whitespace) {
                if word.starts_with('#') {
                    break;
                }
                if wanted(word.trim_end()) {
                    return Some(word_at);
                }
                word_at += word.len();
            }
        }
        None
    }

    fn place(&self, range: std::ops::Range<usize>) -> Span {
        let start = range.start.min(self.yaml.len());
        Span::new(self.base + start, self.base + range.end.clamp(start, self.yaml.len()))
    }

    fn error(&self, kind: YamlErrorKind, message: &str, range: std::ops::Range<usize>) -> YamlError {
        YamlError { kind, message: message.to_owned(), span: self.place(range) }
    }

    fn too_large(&self, message: &str, range: std::ops::Range<usize>) -> YamlError {
        self.error(YamlErrorKind::TooLarge, message, range)
    }

    fn syntax(&self, kind: &ErrorKind, marker: &Marker) -> YamlError {
        let at = marker.byte_offset().unwrap_or(self.cursor).min(self.yaml.len());
        let len = self
            .yaml
            .get(at..)
            .and_then(|r| r.chars().next())
            .filter(|c| *c != '\n')
            .map_or(0, char::len_utf8);
        let too_large = matches!(kind, ErrorKind::RecursionLimitExceeded);
        let kind_of = if too_large { YamlErrorKind::TooLarge } else { YamlErrorKind::Syntax };
        self.error(kind_of, &sentence(kind), at..at + len)
    }
}

/// The scanner's complaint in words for somebody who does not know YAML's grammar.
fn sentence(kind: &ErrorKind) -> String {
    let plain = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => "a line is indented with a tab; YAML wants spaces",
        ErrorKind::UnclosedQuotedScalar => "a quoted value is never closed",
        ErrorKind::UnclosedFlowCollection { open: '[' } | ErrorKind::UnexpectedEofFlowSequence => {
            "a list opened with `[` is never closed"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => "a mapping opened with `{` is never closed",
        ErrorKind::ExpectedFlowSequenceSeparator => "a list in `[ ]` lacks a `,` or its `]`",
        ErrorKind::ExpectedFlowMappingSeparator => "a mapping in `{ }` lacks a `,` or its `}`",
        ErrorKind::UnknownAnchor => {
            "a YAML alias (`*name`) refers to nothing; quote a value that starts with `*`"
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey | ErrorKind::ExpectedBlockMappingKey => {
            "a line is no `key: value`"
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent => "a line is indented in a way that fits nothing above it",
        ErrorKind::UnexpectedCharacter { character } if !character.is_ascii_graphic() => {
            return format!(
                "a value holds the character U+{:04X}, which YAML allows nowhere; take it out",
                u32::from(*character)
            );
        }
        ErrorKind::UnexpectedCharacter { character } => {
            return format!("a value starts with `{character}`, which YAML reserves; quote the value");
        }
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::InvalidColonPlacement => {
            "a `: ` stands where no key can be; check the indentation, or quote the value"
        }
        ErrorKind::RecursionLimitExceeded => "the frontmatter nests too deep",
        other => return format!("the frontmatter is not valid YAML: {other}"),
    };
    plain.to_owned()
}

/// Names the usual mistake, a plain value that holds `: `, when it stands where the scanner stumbled.
fn explain(yaml: &str, base: usize, error: YamlError) -> YamlError {
    if error.kind != YamlErrorKind::Syntax {
        return error;
    }
    let at = error.span.start.saturating_sub(base);
    let start = yaml.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |i| i + 1);
    let before = yaml.get(..start.saturating_sub(1)).and_then(|head| head.rfind('\n')).map_or(0, |i| i + 1);
    let found = unquoted_colon(yaml, start).or_else(|| unquoted_colon(yaml, before));
    match found {
        Some((key, value)) => YamlError {
            kind: YamlErrorKind::UnquotedColon,
            message: format!("the value of `{key}` holds `: ` without quotes; put the whole value in quotes"),
            span: value.shifted(base),
        },
        None => error,
    }
}

/// The key and the value's place when the line at `start` reads `key: plain text: more`.
fn unquoted_colon(yaml: &str, start: usize) -> Option<(String, Span)> {
    let line = yaml.get(start..)?.lines().next()?;
    let content = line.trim_start_matches([' ', '\t']);
    let content = content.strip_prefix("- ").map_or(content, str::trim_start);
    let (key, rest) = content.split_once(": ")?;
    let value = rest.trim_start();
    let mark = |c: char| matches!(c, '"' | '\'' | '[' | '{' | '|' | '>' | '#' | '&' | '*' | '!');
    if key.is_empty() || key.contains(['"', '\'', '#', '{', '[']) || value.starts_with(mark) {
        return None;
    }
    let value_start = start + (line.len() - value.len());
    // A comment belongs to the line, not to the value.
    let value = value.split_once(" #").map_or(value, |(value, _)| value).trim_end();
    if !value.contains(": ") && !value.ends_with(':') {
        return None;
    }
    Some((key.to_owned(), Span::new(value_start, value_start + value.len())))
}

fn is_string_tag(tag: &Tag) -> bool {
    tag.core_suffix() == Some("str")
}

/// The value of a plain scalar under the core schema (YAML 1.2.2 section 10.3.2), or what its tag says.
fn typed(text: &str, tag: Option<&Tag>) -> Value {
    if let Some(tag) = tag {
        return match tag.core_suffix() {
            Some("null") => Value::Null,
            Some("bool" | "int" | "float") => core(text),
            _ => Value::String(text.to_owned()),
        };
    }
    core(text)
}

pub(super) fn core(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::String(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if let Some(octal) = text.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|b| matches!(b, b'0'..=b'7'));
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return !hexadecimal.is_empty() && hexadecimal.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    if exponent.is_some_and(|e| !digits(e.strip_prefix(['+', '-']).unwrap_or(e))) {
        return false;
    }
    let whole = match mantissa.split_once('.') {
        Some(("", fraction)) => return digits(fraction),
        Some((whole, fraction)) if fraction.is_empty() || digits(fraction) => whole,
        Some(_) => return false,
        None => mantissa,
    };
    digits(whole) && (whole == "0" || !whole.starts_with('0'))
}
