//! A page of OKF 0.1 as one of OKF 0.2: `timestamp` becomes `generated.at`, a `# Citations` list becomes `sources`, and a
//! source that is a bare path becomes a mapping. What cannot be carried over without loss stays and is said.

use super::{Splice, append, apply, flow};
use crate::okf::frontmatter::{Entry, Frontmatter, Node, Value};
use crate::okf::path::Reserved;
use crate::okf::timestamp::Stamp;
use crate::okf::{BundlePath, Link, LinkKind, Page};
use crate::text::Span;

/// The new text (the old one when there is nothing to do), and a sentence for each thing that was left.
pub fn to_0_2(page: &Page, by: &str) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let mut text = page.text.to_string();
    if page.frontmatter.error.is_some() {
        notes.push("its frontmatter is not valid; mend it first".to_owned());
        return (text, notes);
    }
    if page.path.reserved().is_none() {
        advance(&mut text, generated(page, by), &mut notes);
        for splice in source_mappings(&text) {
            text = apply(&text, [splice]);
        }
        let now = Page::parse(page.path.clone(), text.as_str().into());
        match citations(&now) {
            Ok(Some(new)) => text = new,
            Ok(None) => {}
            Err(why) => notes.push(why.to_owned()),
        }
    } else if page.path.reserved() == Some(Reserved::Index) && is_root(&page.path) {
        let version = super::set(&text, &page.frontmatter, "okf_version", "\"0.2\"");
        let stands =
            page.frontmatter.get("okf_version").is_some_and(|node| node.value.as_str() == Some("0.2"));
        let step = if stands { Ok(None) } else { version.map(Some).ok_or("okf_version cannot be written") };
        advance(&mut text, step, &mut notes);
    }
    (text, notes)
}

fn advance(text: &mut String, step: Result<Option<Splice>, &'static str>, notes: &mut Vec<String>) {
    match step {
        Ok(Some(splice)) => *text = apply(text, [splice]),
        Ok(None) => {}
        Err(why) => notes.push(why.to_owned()),
    }
}

fn is_root(path: &BundlePath) -> bool {
    path.parent().is_some_and(|folder| folder.is_root())
}

/// `timestamp: T` as `generated: { by: …, at: T }`, in its place.
fn generated(page: &Page, by: &str) -> Result<Option<Splice>, &'static str> {
    let (front, text) = (&page.frontmatter, &*page.text);
    let Some(entry) = front.entries.iter().find(|entry| entry.key == "timestamp") else { return Ok(None) };
    if front.get("generated").is_some() {
        return Err(
            "it has `generated` and `timestamp`; `timestamp` is left, take it out by hand if it says the same",
        );
    }
    let (Value::String(written) | Value::Number(written)) = &entry.value.value else {
        return Err("`timestamp` is no date and is left");
    };
    let at =
        instant(written.trim()).ok_or("`timestamp` is not ISO 8601 and is left; lint --fix may mend it")?;
    if !super::is_own(text, front, "timestamp", entry.value.span) || !super::block_style(text, front) {
        return Err("`timestamp` cannot be written anew as it stands and is left");
    }
    let value = flow(&map([("by", by), ("at", &at)]));
    Ok(Some(Splice::new(
        Span::new(entry.key_span.start, entry.value.span.end),
        format!("generated: {value}"),
    )))
}

/// The same instant with an offset, as OKF 0.2 wants it; a text without one means UTC.
fn instant(written: &str) -> Option<String> {
    let stamp = Stamp::parse(written)?;
    if stamp.offset.is_some() {
        return Some(written.to_owned());
    }
    let zoned = format!("{written}Z");
    if Stamp::parse(&zoned).is_some_and(|with| with.offset.is_some() && with.seconds == stamp.seconds) {
        return Some(zoned);
    }
    let time = jiff::Timestamp::from_second(stamp.seconds).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Bare paths in the list of sources, each as a mapping. From the last to the first, so that no place moves.
fn source_mappings(text: &str) -> Vec<Splice> {
    let front = Frontmatter::parse(text);
    let Some(node) = front.get("sources").filter(|_| super::block_style(text, &front)) else {
        return Vec::new();
    };
    let Value::List(items) = &node.value else { return Vec::new() };
    let bare = items.iter().rev().filter_map(|item| Some((item, item.value.as_str()?.trim())));
    bare.filter(|(item, path)| !path.is_empty() && super::is_own(text, &front, "sources", item.span))
        .map(|(item, path)| Splice::new(item.span, flow(&map([("resource", path)]))))
        .collect()
}

fn map<const N: usize>(pairs: [(&str, &str); N]) -> Value {
    let entry = |(key, value): (&str, &str)| Entry {
        key: key.to_owned(),
        key_span: Span::default(),
        value: Node { value: Value::String(value.to_owned()), span: Span::default() },
    };
    Value::Map(pairs.into_iter().map(entry).collect())
}

const NOT_A_LIST: &str = "its citations are not a plain list of links, one a line, and are left";

/// The list under `# Citations` moved into `sources`, its heading gone with it.
fn citations(page: &Page) -> Result<Option<String>, &'static str> {
    let text = &*page.text;
    let Some(at) = page.headings.iter().position(|h| h.text.trim().eq_ignore_ascii_case("citations")) else {
        return Ok(None);
    };
    let heading = page.headings.get(at).ok_or(NOT_A_LIST)?;
    let next = page.headings.get(at + 1).map_or(text.len(), |next| next.span.start);
    let body = text.get(heading.span.end..next).ok_or(NOT_A_LIST)?;
    let mut items = Vec::new();
    let mut start = heading.span.end;
    for line in body.split_inclusive('\n') {
        let place = Span::new(start, start + line.trim_end().len());
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let link = only_link(page, place).ok_or(NOT_A_LIST)?;
        items.push(flow(&map([("title", link.text.trim()), ("resource", link.destination.trim())])));
    }
    if items.is_empty() {
        return Ok(None);
    }
    let refers = (1..=items.len()).any(|n| {
        let mark = format!("[{n}]");
        text.get(page.body.start..heading.span.start).is_some_and(|before| before.contains(&mark))
    });
    if refers {
        return Err("its text refers to citations by number; make them footnotes by hand, the list is left");
    }
    let added = append(text, &page.frontmatter, "sources", &items)
        .ok_or("sources cannot be written; the citations are left")?;
    let line =
        text.get(..heading.span.start).and_then(|t| t.rfind('\n')).map_or(page.body.start, |nl| nl + 1);
    // The blank lines above the heading separated it from what went before.
    let before = text.get(page.body.start..line).unwrap_or_default();
    let blank =
        if next == text.len() { before.len() - before.trim_end_matches(['\n', '\r']).len() } else { 0 };
    let kept = if blank == 0 || before.trim().is_empty() { 0 } else { super::line_end(text).len() };
    let from = line - blank + kept;
    let now = apply(text, [added, Splice::delete(Span::new(from, next))]);
    let read = Frontmatter::parse(&now);
    if read.error.is_some() {
        return Err("sources cannot be written; the citations are left");
    }
    Ok(Some(now))
}

/// The link of a line that holds a list marker or `[1]`, one link, and nothing else.
fn only_link(page: &Page, line: Span) -> Option<&Link> {
    let inside = |link: &&Link| line.start <= link.span.start && link.span.end <= line.end;
    let mut links = page.links.iter().filter(|link| !matches!(link.kind, LinkKind::Field(_))).filter(inside);
    let (link, None) = (links.next()?, links.next()) else { return None };
    let lead = page.text.get(line.start..link.span.start)?.trim();
    let marked = lead.strip_suffix(['.', ')']).unwrap_or(lead);
    let marked = marked.strip_prefix('[').and_then(|m| m.strip_suffix(']')).unwrap_or(marked);
    let is_marker =
        matches!(lead, "*" | "-" | "+") || (!marked.is_empty() && marked.bytes().all(|b| b.is_ascii_digit()));
    let inline =
        link.kind == LinkKind::Inline && !link.text.trim().is_empty() && !link.destination.is_empty();
    (is_marker && inline && link.span.end == line.end).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migrated(text: &str) -> (String, usize) {
        let (text, notes) =
            to_0_2(&Page::parse(BundlePath::parse("/a.md").unwrap(), text.into()), "human:ada");
        (text, notes.len())
    }

    #[test]
    fn a_timestamp_becomes_generated_at() {
        for (before, after) in [
            (
                "timestamp: 2026-07-19T10:30:00Z # c",
                "generated: { by: human:ada, at: 2026-07-19T10:30:00Z } # c",
            ),
            ("timestamp: \"2026-07-19\"", "generated: { by: human:ada, at: 2026-07-19T00:00:00Z }"),
            ("timestamp: 2026-07-19T10:30", "generated: { by: human:ada, at: 2026-07-19T10:30Z }"),
            ("timestamp: 2026-07-19T10:30+02:00", "generated: { by: human:ada, at: 2026-07-19T10:30+02:00 }"),
        ] {
            let page = |line: &str| format!("---\r\ntype: C\r\n{line}\r\nx: 1\r\n---\r\nBody");
            assert_eq!(migrated(&page(before)), (page(after), 0));
            assert_eq!(migrated(&page(after)), (page(after), 0));
        }
        for left in [
            "timestamp: Q3",
            "timestamp: [1]",
            "timestamp: 2026-07-19\ngenerated: {by: x}",
            "timestamp: [",
            "x: &a 2026-07-19\ntimestamp: &b 2026-07-19\ny: *b",
        ] {
            let page = format!("---\ntype: C\n{left}\n---\n");
            assert_eq!(migrated(&page), (page, 1), "{left}");
        }
    }

    #[test]
    fn citations_become_sources() {
        for (before, after) in [
            (
                "type: C\n---\nText.\n\n# Citations\n\n1. [Report: one](../raw/r.pdf)\n2. [B](b.md)\n",
                "type: C\nsources:\n  - { title: 'Report: one', resource: ../raw/r.pdf }\n  - { title: B, resource: b.md }\n---\nText.\n",
            ),
            (
                "type: C\nsources: [x.md]\n---\n# Citations\n\n[1] [B](b.md)\n\n# End\n",
                "type: C\nsources: [{ resource: x.md }, { title: B, resource: b.md }]\n---\n# End\n",
            ),
            (
                "type: C\nsources:\n- x.md # c\n- id: y\n---\n",
                "type: C\nsources:\n- { resource: x.md } # c\n- id: y\n---\n",
            ),
        ] {
            let page = |text: &str| format!("---\n{text}");
            assert_eq!(migrated(&page(before)), (page(after), 0));
            assert_eq!(migrated(&page(after)), (page(after), 0));
        }
        for left in [
            "See [1].\n\n# Citations\n\n1. [B](b.md)\n",
            "# Citations\n\n* [B](b.md), page 3\n",
            "# Citations\n\nNone yet.\n",
        ] {
            let page = format!("---\ntype: C\n---\n{left}");
            assert_eq!(migrated(&page), (page, 1), "{left}");
        }
    }

    #[test]
    fn only_the_root_index_gets_the_version() {
        let of = |path: &str, text: &str| {
            to_0_2(&Page::parse(BundlePath::parse(path).unwrap(), text.into()), "x").0
        };
        assert_eq!(of("/index.md", "# X\n"), "---\nokf_version: \"0.2\"\n---\n\n# X\n");
        assert_eq!(of("/index.md", "---\nokf_version: 0.1\n---\n"), "---\nokf_version: \"0.2\"\n---\n");
        assert_eq!(of("/a/index.md", "# X\n"), "# X\n");
        assert_eq!(of("/log.md", "---\ntimestamp: 2026-07-19\n---\n"), "---\ntimestamp: 2026-07-19\n---\n");
    }
}
