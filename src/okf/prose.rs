//! What plain text of a page holds beyond CommonMark: `[[wikilinks]]`, bare URLs and footnote references without a
//! definition. Given only text outside code, links and raw HTML. Linear in the text.

use std::ops::Range;

const MAX_FOOTNOTE_LABEL: usize = 200;

/// Something found; ranges are offsets into the source given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Whole construct with a leading `!`, and the part before `|`.
    Wikilink {
        range: Range<usize>,
        target: Range<usize>,
        label: Range<usize>,
    },
    Url(Range<usize>),
    /// `[^label]` and its label.
    Footnote {
        range: Range<usize>,
        label: Range<usize>,
    },
}

/// Searches `source[run]`; the bytes before the run are looked at to see escapes.
pub(super) fn find(source: &str, run: Range<usize>) -> Vec<Found> {
    let text = source.get(run.clone()).unwrap_or("");
    let mut found = Vec::new();
    if text.contains("[[") {
        wikilinks(source, &run, &mut found);
    }
    let taken = found.len();
    if text.contains("://") {
        urls(source, &run, &mut found);
    }
    if text.contains("[^") {
        footnotes(source, &run, &mut found);
    }
    if found.len() > taken && taken > 0 {
        // Wikilinks come first in `found` and in order; what lies inside one is part of it.
        let wikilinks: Vec<Range<usize>> = found.iter().take(taken).map(range_of).collect();
        let inside = |r: &Range<usize>| {
            let next = wikilinks.partition_point(|w| w.end <= r.start);
            wikilinks.get(next).is_some_and(|w| w.start < r.end)
        };
        found = found
            .into_iter()
            .enumerate()
            .filter(|(i, f)| *i < taken || !inside(&range_of(f)))
            .map(|(_, f)| f)
            .collect();
    }
    found.sort_by_key(|f| range_of(f).start);
    found
}

fn range_of(found: &Found) -> Range<usize> {
    match found {
        Found::Wikilink { range, .. } | Found::Url(range) | Found::Footnote { range, .. } => range.clone(),
    }
}

fn is_escaped(source: &str, at: usize) -> bool {
    let head = source.as_bytes().get(..at).unwrap_or(&[]);
    head.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

fn wikilinks(source: &str, run: &Range<usize>, found: &mut Vec<Found>) {
    let mut at = run.start;
    while let Some(close) = source.get(at..run.end).and_then(|rest| rest.find("]]")).map(|i| at + i) {
        let open = source.get(at..close).and_then(|head| head.rfind("[[")).map(|i| at + i);
        at = close + 2;
        let Some(open) = open.filter(|open| !is_escaped(source, *open) && !is_escaped(source, close)) else {
            continue;
        };
        let inner = open + 2..close;
        let text = source.get(inner.clone()).unwrap_or("");
        if text.trim().is_empty() || text.starts_with('^') {
            continue;
        }
        let bar = text.find('|').map(|i| inner.start + i);
        let target_end = match bar {
            // In a table the bar is written `\|`.
            Some(bar) if is_escaped(source, bar) => bar - 1,
            Some(bar) => bar,
            None => inner.end,
        };
        let label = bar.map_or(inner.clone(), |bar| bar + 1..inner.end);
        let embed =
            open > run.start && source.get(open - 1..open) == Some("!") && !is_escaped(source, open - 1);
        found.push(Found::Wikilink {
            range: open - usize::from(embed)..close + 2,
            target: inner.start..target_end,
            label,
        });
    }
}

/// Bare `http://` and `https://` URLs, with the trailing punctuation that GFM 6.9 gives back to the sentence.
fn urls(source: &str, run: &Range<usize>, found: &mut Vec<Found>) {
    let mut at = run.start;
    while let Some(colon) = source.get(at..run.end).and_then(|rest| rest.find("://")).map(|i| at + i) {
        let scheme_of = |name: &str| {
            let start = colon.checked_sub(name.len()).filter(|start| *start >= at)?;
            source.get(start..colon).filter(|s| s.eq_ignore_ascii_case(name)).map(|_| start)
        };
        let start = scheme_of("https").or_else(|| scheme_of("http"));
        let host = colon + 3;
        at = host;
        let Some(start) = start else { continue };
        let before = source.get(run.start..start).and_then(|head| head.chars().next_back());
        if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
            continue;
        }
        let rest = source.get(host..run.end).unwrap_or("");
        // Looked at first: a scan of the rest for each of many bad starts would be quadratic.
        if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
            continue;
        }
        let len = rest
            .find(|c: char| c.is_whitespace() || c == '<' || is_wide_punctuation(c))
            .unwrap_or(rest.len());
        let end = host + len - trailing(rest.get(..len).unwrap_or(""));
        if source
            .get(host..end)
            .is_some_and(|host| host.starts_with(|c: char| c.is_alphanumeric() || c == '['))
        {
            found.push(Found::Url(start..end));
            at = end;
        }
    }
}

fn is_wide_punctuation(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}'
        | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}')
}

/// Bytes at the end of a URL that belong to the sentence.
fn trailing(url: &str) -> usize {
    let mut unbalanced =
        url.bytes().filter(|b| *b == b')').count().saturating_sub(url.bytes().filter(|b| *b == b'(').count());
    let mut kept = url;
    while let Some(last) = kept.chars().next_back() {
        match last {
            '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' | '"' | '\\' | ']' | '}' => {}
            ')' if unbalanced > 0 => unbalanced -= 1,
            ';' => {
                // An entity such as `&quot;` at the end is punctuation too.
                let name = kept.trim_end_matches(';').trim_end_matches(|c: char| c.is_ascii_alphanumeric());
                if name.ends_with('&') {
                    kept = name.strip_suffix('&').unwrap_or(name);
                    continue;
                }
            }
            _ => break,
        }
        kept = kept.get(..kept.len() - last.len_utf8()).unwrap_or("");
    }
    url.len() - kept.len()
}

fn footnotes(source: &str, run: &Range<usize>, found: &mut Vec<Found>) {
    let mut at = run.start;
    while let Some(open) = source.get(at..run.end).and_then(|rest| rest.find("[^")).map(|i| at + i) {
        at = open + 2;
        let window = source.as_bytes().get(at..run.end.min(at + MAX_FOOTNOTE_LABEL)).unwrap_or(&[]);
        let Some(len) = window.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'[' | b']'))
        else {
            continue;
        };
        if len > 0 && window.get(len) == Some(&b']') && !is_escaped(source, open) {
            found.push(Found::Footnote { range: open..at + len + 1, label: at..at + len });
            at += len + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        find(text, 0..text.len())
            .into_iter()
            .map(|f| match f {
                Found::Wikilink { target, .. } => &text[target],
                Found::Url(range) => &text[range],
                Found::Footnote { label, .. } => &text[label],
            })
            .collect()
    }

    #[test]
    fn wikilinks_in_every_form() {
        assert_eq!(all("see [[b|the B page]] and [[missing page]]"), ["b", "missing page"]);
        assert_eq!(all(r"\[[no]] [[a\|b]] [[[x]]] [[]] [[c"), ["a", "x"]);
        let embed = find("a ![[p.png]]", 0..12);
        assert_eq!(embed, [Found::Wikilink { range: 2..12, target: 5..10, label: 5..10 }]);
    }

    #[test]
    fn urls_leave_the_sentence_its_punctuation() {
        assert_eq!(all("see https://a.b/c."), ["https://a.b/c"]);
        assert_eq!(all("(https://a.b/c_(d)) x"), ["https://a.b/c_(d)"]);
        assert_eq!(
            all("\"HTTP://a.b/?q=1&amp;\", https://x, and https:// y"),
            ["HTTP://a.b/?q=1", "https://x"]
        );
        assert_eq!(all("見る https://a.b/日本、次"), ["https://a.b/日本"]);
        assert_eq!(all("xhttps://a ftp://b"), Vec::<&str>::new());
        assert_eq!(all("[[https://a.b]]"), ["https://a.b"]);
    }

    #[test]
    fn footnote_references_have_short_labels() {
        assert_eq!(all(r"a[^s1] b[^ x] \[^no] [^] [^s2]"), ["s1", "s2"]);
    }
}
