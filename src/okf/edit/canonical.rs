//! The frontmatter in one form for all pages: keys in the order of the specification, tags on one line, sources and other
//! long lists one item a line. Values, comments and the body stay as they are.

use super::{Splice, apply, entry_lines, flow, line_end};
use crate::okf::frontmatter::{Entry, Frontmatter, Value};
use crate::text::Span;

/// Keys in the order in which the specification names them; others follow as they were written.
const ORDER: [&str; 18] = [
    "okf_version",
    "type",
    "title",
    "description",
    "resource",
    "tags",
    "timestamp",
    "sources",
    "generated",
    "verified",
    "status",
    "stale_after",
    "usage_window",
    "runtime",
    "parameters",
    "computation",
    "executor",
    "attester",
];

const ONE_LINE: [&str; 1] = ["tags"];
const ITEM_A_LINE: [&str; 3] = ["sources", "verified", "parameters"];

/// The page in canonical form; none when it is so already, or when its block cannot be written anew with the same meaning.
pub fn canonical(text: &str) -> Option<String> {
    let styled = ONE_LINE
        .iter()
        .chain(&ITEM_A_LINE)
        .fold(text.to_owned(), |text, key| kept(&text, restyled(&text, key)).unwrap_or(text));
    let ordered = kept(&styled, ordered(&styled)).unwrap_or(styled);
    (ordered != text).then_some(ordered)
}

/// `new` if it says what `old` says.
fn kept(old: &str, new: Option<String>) -> Option<String> {
    let meaning = |text: &str| {
        let read = Frontmatter::parse(text);
        let mut entries: Vec<_> =
            read.entries.iter().map(|e| (e.key.clone(), flow(&e.value.value))).collect();
        // Stable: of a key that stands twice the first stays the first.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        (read.error, entries, read.block.and_then(|block| text.get(block.end..)).map(str::to_owned))
    };
    new.filter(|new| {
        let (before, after) = (meaning(old), meaning(new));
        after.0.is_none() && before == after
    })
}

fn restyled(text: &str, key: &str) -> Option<String> {
    let read = Frontmatter::parse(text);
    let node = read.get(key)?;
    let Value::List(items) = &node.value else { return None };
    let (is_flow, wants_flow) = (node.span.of(text).starts_with('['), ONE_LINE.contains(&key));
    // A comment or an anchor has no place in the other form.
    let source = node.span.of(text);
    let commented = source.lines().any(|line| line.trim_start().starts_with('#') || line.contains(" #"));
    if is_flow == wants_flow || items.is_empty() || commented || source.contains(['&', '*']) {
        return None;
    }
    // A comment behind the list would stand behind its last item, or the other way round.
    if !text.get(node.span.end..)?.lines().next()?.trim().is_empty() {
        return None;
    }
    let entry = read.entries.iter().find(|entry| entry.key == key)?;
    let whole = Span::new(entry.key_span.end, node.span.end);
    if wants_flow {
        let nested = items.iter().any(|item| matches!(item.value, Value::List(_) | Value::Map(_)));
        return (!nested).then(|| apply(text, [Splice::new(whole, format!(": {}", flow(&node.value)))]));
    }
    let end = line_end(text);
    let lines = items.iter().map(|item| {
        let source = item.span.of(text);
        let written = if source.contains('\n') { flow(&item.value) } else { source.to_owned() };
        format!("{end}  - {written}")
    });
    Some(apply(text, [Splice::new(whole, format!(":{}", lines.collect::<String>()))]))
}

/// The entries with the comments above them, sorted.
fn ordered(text: &str) -> Option<String> {
    let read = Frontmatter::parse(text);
    let mut parts: Vec<(usize, &str)> = Vec::new();
    let mut at = read.yaml.start;
    for entry in &read.entries {
        let end = entry_lines(text, entry).end.min(read.yaml.end);
        parts.push((rank(entry), text.get(at..end)?));
        at = end;
    }
    parts.sort_by_key(|(rank, _)| *rank);
    let head = text.get(..read.yaml.start)?;
    let sorted: String = parts.into_iter().map(|(_, part)| part).collect();
    Some(format!("{head}{sorted}{}", text.get(at..)?))
}

fn rank(entry: &Entry) -> usize {
    ORDER.iter().position(|key| *key == entry.key).unwrap_or(ORDER.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_come_in_order_and_lists_in_one_style() {
        for (before, after) in [
            ("title: T\ntype: C\n", "type: C\ntitle: T\n"),
            (
                "x: 1\n# of T\ntitle: T # c\n\ntype: C\n# end\n",
                "\ntype: C\n# of T\ntitle: T # c\nx: 1\n# end\n",
            ),
            ("type: C\ntags:\n  - a\n  - 'b, c'\n", "type: C\ntags: [a, 'b, c']\n"),
            ("type: C\ntags:\n- a # why\n", "type: C\ntags:\n- a # why\n"),
            ("type: C\nsources: [a.md, \"b.md\"]\n", "type: C\nsources:\n  - a.md\n  - \"b.md\"\n"),
            (
                "type: C\nsources: [{ id: a, resource: b.md }]\n",
                "type: C\nsources:\n  - { id: a, resource: b.md }\n",
            ),
            ("type: C\nsources: [a.md] # why\n", "type: C\nsources: [a.md] # why\n"),
            ("type: C\nsources: []\ntags:\n", "type: C\ntags:\nsources: []\n"),
            ("description: |\n  a\n\n  b\ntype: C\n", "type: C\ndescription: |\n  a\n\n  b\n"),
            // An alias must not come before what it stands for.
            ("x: &x T\ntitle: *x\n", "x: &x T\ntitle: *x\n"),
            ("title: A\ntype: C\ntitle: B\n", "type: C\ntitle: A\ntitle: B\n"),
            ("{title: T, type: C}\n", "{title: T, type: C}\n"),
            ("title: a: b\ntype: C\n", "title: a: b\ntype: C\n"),
        ] {
            for (head, tail) in [("---\n", "---\n\n* body  \n"), ("\u{feff}---\n", "---\nno end")] {
                let page = |yaml: &str| format!("{head}{yaml}{tail}");
                let (before, after) = (page(before), page(after));
                assert_eq!(canonical(&before).as_ref().unwrap_or(&before), &after);
                let (before, after) = (before.replace('\n', "\r\n"), after.replace('\n', "\r\n"));
                assert_eq!(canonical(&before).as_ref().unwrap_or(&before), &after);
            }
        }
    }

    #[test]
    fn a_page_without_a_whole_block_stays() {
        for text in ["", "# X\n", "---\ntitle: T\ntype: C\n", "text\n---\ntitle: T\ntype: C\n---\n"] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn twice_is_once_and_the_body_stays(pieces in prop::collection::vec(prop::sample::select(vec![
            "title: T\n", "type: C\n", "# c\n", "\n", "tags:\n  - a\n  - b\n", "tags: [a, b]\n", "sources: [a, {id: b}]\n",
            "sources:\n- a\n- id: b\n  title: c\n", "x: &a [1, 2]\n", "y: *a\n", "description: >\n  f\n  g\n\n", "verified: [{by: a,\n  at: b}]\n",
            "z: 'q''q'\n", "w: [\n", "{a: 1}\n", "  k: v\n",
        ]), 0..9), crlf: bool) {
            let mut page = format!("---\n{}---\nBody - x\n", pieces.concat());
            if crlf {
                page = page.replace('\n', "\r\n");
            }
            if let Some(once) = canonical(&page) {
                prop_assert_eq!(canonical(&once), None, "{}", once);
                prop_assert!(once.ends_with("Body - x\n") || once.ends_with("Body - x\r\n"));
                let lengths = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
                prop_assert_eq!(lengths(&once), crlf);
            }
        }
    }
}
