//! Path-valued fields of the frontmatter as links.

use super::frontmatter::{Frontmatter, Node, Value};
use super::link::{Link, LinkKind, Target};
use super::path::BundlePath;
use crate::text::Span;

/// Fields of OKF 0.2 that hold one path or URI: the key, and the key inside it when it is a mapping.
const FIELDS: [(&str, Option<&str>); 4] = [
    ("resource", None),
    ("computation", None),
    ("executor", Some("resource")),
    ("attester", Some("resource")),
];

/// The links of `resource`, `sources`, `computation`, `executor.resource` and `attester.resource`, in file order.
pub(super) fn links(page: &BundlePath, text: &str, frontmatter: &Frontmatter) -> Vec<Link> {
    let mut links = Vec::new();
    for entry in &frontmatter.entries {
        if entry.key == "sources" {
            let (list, one);
            let items: &[Node] = match &entry.value.value {
                Value::List(items) => {
                    list = items;
                    list
                }
                _ => {
                    one = std::slice::from_ref(&entry.value);
                    one
                }
            };
            for item in items {
                // Wiki convention: a path. OKF 0.2: a mapping with `resource`.
                let node = item.value.get("resource").unwrap_or(item);
                links.extend(link(page, text, "sources", node, item.value.get("title")));
            }
        }
        for (key, inner) in FIELDS {
            if entry.key != key {
                continue;
            }
            match inner {
                None => links.extend(link(page, text, key, &entry.value, None)),
                Some(inner) => {
                    let node = entry.value.value.get(inner);
                    links.extend(node.and_then(|n| link(page, text, &format!("{key}.{inner}"), n, None)));
                }
            }
        }
    }
    links
}

fn link(page: &BundlePath, text: &str, field: &str, node: &Node, title: Option<&Node>) -> Option<Link> {
    let destination = node.value.as_str()?.trim();
    if destination.is_empty() {
        return None;
    }
    Some(Link {
        kind: LinkKind::Field(field.to_owned()),
        span: node.span,
        destination_span: inside(text, node.span, destination),
        text: title.and_then(|t| t.value.as_str()).unwrap_or("").to_owned(),
        destination: destination.to_owned(),
        target: if field == "sources" {
            Target::of_source(page, destination)
        } else {
            Target::of_field(page, destination)
        },
    })
}

/// The value without quotes and block header. A value whose source differs from its text (escapes, folding) keeps
/// everything between the quotes.
fn inside(text: &str, span: Span, value: &str) -> Span {
    let source = span.of(text);
    if let Some(at) = source.find(value) {
        return Span::new(span.start + at, span.start + at + value.len());
    }
    let quoted = |q: char| source.len() > 1 && source.starts_with(q) && source.ends_with(q);
    if quoted('"') || quoted('\'') { Span::new(span.start + 1, span.end - 1) } else { span }
}
