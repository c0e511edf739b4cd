//! Entries of index pages: finding one, adding one.

use crate::okf::{BundlePath, LinkKind, Page};
use crate::text::Span;

/// The whole line of a list entry whose first link leads to `target`, line end included.
pub(super) fn entry_line(index: &Page, target: &BundlePath) -> Option<Span> {
    let link = index.links.iter().find(|l| l.target.path() == Some(target) && l.kind == LinkKind::Inline)?;
    let start = index.text.get(..link.span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end =
        index.text.get(link.span.end..)?.find('\n').map_or(index.text.len(), |at| link.span.end + at + 1);
    let lead = index.text.get(start..link.span.start)?.trim();
    matches!(lead, "*" | "-" | "+").then(|| Span::new(start, end))
}

/// The text with one more entry, after the last list item, else at the end.
pub(super) fn with_entry(text: &str, line: &str) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut at = 0;
    let mut after = None;
    let mut bullet = None;
    for row in text.split_inclusive('\n') {
        at += row.len();
        let mark = row.chars().next().filter(|c| "*-+".contains(*c));
        if mark.is_some() && row.chars().nth(1) == Some(' ') {
            (after, bullet) = (Some(at), mark);
        }
    }
    let mut line = line.trim_start().to_owned();
    if let Some(mark) = bullet {
        line.replace_range(..1, &mark.to_string());
    }
    let (head, tail) = match after {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default()),
        None => (text, ""),
    };
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { ending };
    let space = if after.is_none() && !head.trim().is_empty() { ending } else { "" };
    format!("{head}{gap}{space}{line}{ending}{tail}")
}
