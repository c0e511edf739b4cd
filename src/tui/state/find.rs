//! The search in the conversation: what is searched for, and where it stands in the drawn rows.

use std::ops::Range;

use super::chat::Chat;
use super::composer::Line;
use crate::text::width;

#[derive(Debug)]
pub struct Find {
    pub line: Line,
    /// Keys go into the field; else they walk through the places.
    pub typing: bool,
    /// All places, from the top.
    pub places: Vec<Place>,
    pub at: usize,
    /// Where the conversation stood before.
    pub before: (usize, bool),
}

/// The first row of a place, counted from its entry's first, and its columns there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub entry: usize,
    pub row: usize,
    pub columns: Range<u16>,
}

/// A letter that can be compared, and where the character that it comes from is drawn.
struct Letter {
    folded: char,
    row: usize,
    columns: Range<u16>,
}

/// Where `wanted` stands, without regard to case; a break of the row counts as a blank.
pub fn places(chat: &Chat, wanted: &str) -> Vec<Place> {
    let wanted: Vec<char> = wanted.trim().chars().flat_map(char::to_lowercase).collect();
    let Some(first) = wanted.first().copied() else { return Vec::new() };
    let mut found = Vec::new();
    let mut letters: Vec<Letter> = Vec::new();
    for (entry, drawn) in chat.entries.iter().enumerate() {
        letters.clear();
        for (row, line) in drawn.rows.iter().enumerate() {
            let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            let trimmed = text.trim_end();
            let mut column = 0usize;
            let mut indent = true;
            for c in trimmed.chars() {
                let columns = width::width(c.encode_utf8(&mut [0; 4]));
                let at = u16::try_from(column).unwrap_or(u16::MAX);
                column += columns;
                let end = u16::try_from(column).unwrap_or(u16::MAX);
                // The indent of a wrapped row is none of the text's blanks.
                indent = indent && c == ' ';
                if !indent {
                    letters.extend(c.to_lowercase().map(|folded| Letter { folded, row, columns: at..end }));
                }
            }
            let end = u16::try_from(column).unwrap_or(u16::MAX);
            letters.push(Letter { folded: ' ', row, columns: end..end });
        }
        let mut start = 0;
        while let Some(offset) = letters.get(start..).and_then(|l| l.iter().position(|l| l.folded == first)) {
            start += offset;
            let here = letters.get(start..start + wanted.len()).unwrap_or_default();
            let same = !here.is_empty() && here.iter().zip(&wanted).all(|(l, w)| l.folded == *w);
            if let (true, Some(begins)) = (same, here.first()) {
                let last = here.iter().rev().find(|l| l.row == begins.row).unwrap_or(begins);
                let columns = begins.columns.start..last.columns.end;
                found.push(Place { entry, row: begins.row, columns });
                start += wanted.len();
            } else {
                start += 1;
            }
        }
    }
    found
}
