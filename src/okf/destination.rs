//! Where the destination of a markdown link stands in its source, and how its escapes read
//! (CommonMark 0.31 sections 2.4, 2.5, 4.7 and 6.3). The parser gives whole links only.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser};

/// Longest entity name with `&` and `;`; HTML's longest is 33.
const MAX_ENTITY: usize = 40;

/// Most `>` before a destination that are tried as its first character.
const MAX_TRIES: usize = 4;

/// The destination of an inline link whose text ends at or after `from`; `end` is the link's end and `read` the
/// destination as the parser read it.
pub(super) fn inline(source: &str, from: usize, end: usize, read: &str) -> Option<Range<usize>> {
    let at = from + source.get(from..end)?.find("](")? + "](".len();
    destination(source, at, end, read)
}

/// The destination of the reference definition `[label]: destination "title"` at `range`.
pub(super) fn definition(source: &str, range: Range<usize>, read: &str) -> Option<Range<usize>> {
    let mut escaped = false;
    let close = source.get(range.clone())?.bytes().position(|b| {
        let found = b == b']' && !escaped;
        escaped = b == b'\\' && !escaped;
        found
    })?;
    let after = range.start + close + 1;
    source.get(after..range.end)?.strip_prefix(':')?;
    destination(source, after + 1, range.end, read)
}

/// Skips blanks, line ends and quote markers from `at`, then finds a destination with or without angle brackets.
fn destination(source: &str, at: usize, end: usize, read: &str) -> Option<Range<usize>> {
    let rest = source.get(at..end)?;
    let mut line_start = false;
    let blank = rest
        .bytes()
        .take_while(|b| match b {
            b'\n' | b'\r' => {
                line_start = true;
                true
            }
            b' ' | b'\t' => true,
            // A `>` that starts a line is a quote's, else the paragraph would have ended before it ...
            b'>' => line_start,
            _ => false,
        })
        .count();
    let found = destination_at(source, at + blank, end);
    let fits =
        |range: &Range<usize>| source.get(range.clone()).is_some_and(|written| unescape(written) == read);
    if found.as_ref().is_some_and(fits) {
        return found;
    }
    // ... unless it is indented too far to be one: then it belongs to the destination.
    let skipped = rest.get(..blank)?;
    let tries = skipped.rmatch_indices('>').take(MAX_TRIES);
    tries.filter_map(|(i, _)| destination_at(source, at + i, end)).find(fits).or(found)
}

/// The destination that starts at `start`.
fn destination_at(source: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let rest = source.get(start..end)?;
    let mut escaped = false;
    if rest.starts_with('<') {
        let inner = rest.get(1..)?;
        let close = inner.bytes().position(|b| {
            let found = b == b'>' && !escaped;
            escaped = b == b'\\' && !escaped;
            found
        })?;
        return Some(start + 1..start + 1 + close);
    }
    let mut depth = 0usize;
    let len = rest
        .bytes()
        .position(|b| {
            if escaped {
                escaped = false;
                return b.is_ascii_whitespace();
            }
            match b {
                b'\\' => escaped = true,
                b'(' => depth += 1,
                b')' if depth == 0 => return true,
                b')' => depth -= 1,
                b if b.is_ascii_whitespace() || b.is_ascii_control() => return true,
                _ => {}
            }
            false
        })
        .unwrap_or(rest.len());
    Some(start..start + len)
}

/// Resolves backslash escapes and entities.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '&']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let mut chars = tail.chars();
        let first = chars.next();
        if first == Some('\\') {
            match chars.clone().next().filter(char::is_ascii_punctuation) {
                Some(punctuation) => {
                    out.push(punctuation);
                    chars.next();
                }
                None => out.push('\\'),
            }
            rest = chars.as_str();
        } else {
            rest = push_entity(&mut out, tail);
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Resolves entities only, as in the value of an HTML attribute.
pub(super) fn decode_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        rest = push_entity(&mut out, tail);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Pushes what the entity at the start of `text` stands for, or its `&`; returns the rest.
fn push_entity<'a>(out: &mut String, text: &'a str) -> &'a str {
    let name =
        text.bytes().skip(1).take(MAX_ENTITY).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    let entity = text.get(..name + 2).filter(|e| name > 0 && e.ends_with(';'));
    if let Some(entity) = entity {
        // The markdown parser has the table of names.
        for event in Parser::new(entity) {
            if let Event::Text(decoded) = event {
                out.push_str(&decoded);
            }
        }
        return text.get(entity.len()..).unwrap_or("");
    }
    out.push('&');
    text.get(1..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_entities_are_resolved() {
        assert_eq!(unescape(r"a\_b\\c\d"), r"a_b\c\d");
        assert_eq!(unescape("a&amp;b&auml;&#x41;&#66;&nope;&"), "a&bäAB&nope;&");
        assert_eq!(unescape(r"\&amp;"), "&amp;");
        assert_eq!(decode_entities(r"a\_b&lt;c&copy"), r"a\_b<c&copy");
    }

    #[test]
    fn destinations_end_where_commonmark_says() {
        let inline = |source: &str| inline(source, 1, source.len(), "").map(|r| source[r].to_owned());
        assert_eq!(inline("[x](a.md)").as_deref(), Some("a.md"));
        assert_eq!(inline("[x]( a.md \"t\")").as_deref(), Some("a.md"));
        assert_eq!(inline("[x](<my page.md>)").as_deref(), Some("my page.md"));
        assert_eq!(inline(r"[x](<a\>b>)").as_deref(), Some(r"a\>b"));
        assert_eq!(inline("[x](foo_(bar).md)").as_deref(), Some("foo_(bar).md"));
        assert_eq!(inline(r"[x](foo\).md)").as_deref(), Some(r"foo\).md"));
        assert_eq!(inline("[x]()").as_deref(), Some(""));
        assert_eq!(inline("[x](\n> a.md)").as_deref(), Some("a.md"));
        let definition = |source: &str| definition(source, 0..source.len(), "").map(|r| source[r].to_owned());
        assert_eq!(definition("[a]: b.md 'c'").as_deref(), Some("b.md"));
        assert_eq!(definition("[a\\]]:\n  <b c.md>").as_deref(), Some("b c.md"));
    }
}
