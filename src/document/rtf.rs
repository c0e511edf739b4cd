//! RTF: the text by rtf-parser-tt, which leaves out what makes tables and headings. Their control words are therefore
//! given a character of the private use area each before it reads, and those are taken out of its text again.

use rtf_parser_tt::RtfDocument;

use super::output::Output;
use super::table::table;
use super::{Error, Kind};

const CELL: char = '\u{E0F0}';
const ROW: char = '\u{E0F1}';
/// Plus the outline level, from 0.
const HEADING: u32 = 0xE0E0;
const LEVELS: u32 = 9;

pub(super) fn convert(bytes: &[u8]) -> Result<Output, Error> {
    let marked = mark(bytes);
    let document = RtfDocument::from_bytes(&marked)
        .or_else(|_| RtfDocument::from_bytes(bytes))
        .map_err(|error| Error::damaged(Kind::Rtf, error))?;
    let mut output = Output::default();
    output.title = document.info.title.clone();
    output.say("author", document.info.author.as_deref());
    output.say("subject", document.info.subject.as_deref());
    output.say("keywords", document.info.keywords.as_deref());
    lay_out(&document.get_text(), &mut output);
    Ok(output)
}

/// Destinations whose text is not the document's.
const ASIDE: [&[u8]; 6] = [b"stylesheet", b"fonttbl", b"colortbl", b"info", b"listtable", b"pict"];

/// Puts the characters behind their control words.
fn mark(bytes: &[u8]) -> Vec<u8> {
    let levels = heading_styles(bytes);
    let mut marked = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    let mut depth = 0_usize;
    let mut aside: Option<usize> = None;
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                if aside == Some(depth) {
                    aside = None;
                }
                depth = depth.saturating_sub(1);
            }
            b'\\' => {
                let (word, after) = control_word(tail);
                let used = rest.len() - after.len();
                marked.extend_from_slice(rest.get(..used).unwrap_or_default());
                rest = after;
                let (letters, number) = word;
                if ASIDE.contains(&letters) && aside.is_none() {
                    aside = Some(depth);
                }
                let sign = match letters {
                    b"cell" | b"nestcell" => Some(u32::from(CELL)),
                    b"row" | b"nestrow" => Some(u32::from(ROW)),
                    b"outlinelevel" => number.filter(|level| *level < LEVELS).map(|level| HEADING + level),
                    b"s" => number.and_then(|style| levels.get(&style)).map(|level| HEADING + level),
                    _ => None,
                };
                if let Some(sign) = sign.filter(|_| aside.is_none()) {
                    // Signed 16 bits, as RTF writes what lies above U+7FFF; `\uc1` is in force where it matters.
                    let text = format!("{{\\uc0\\u{} }}", i64::from(sign) - 0x1_0000);
                    marked.extend_from_slice(text.as_bytes());
                }
                continue;
            }
            _ => {}
        }
        marked.push(byte);
        rest = tail;
    }
    // What a cut-off document lacks.
    marked.extend(std::iter::repeat_n(b'}', depth));
    marked
}

/// The letters and the number of the control word that `text` begins with, and what follows, its delimiting space taken.
fn control_word(text: &[u8]) -> ((&[u8], Option<u32>), &[u8]) {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if letters == 0 {
        // A control symbol, or an escaped character.
        return ((b"", None), text.get(1..).unwrap_or_default());
    }
    let (word, after) = text.split_at(letters);
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let (number, after) = after.split_at(digits);
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
    ((word, number), after.strip_prefix(b" ").unwrap_or(after))
}

/// The paragraph styles that the style sheet calls `heading N`, with their level from 0.
fn heading_styles(bytes: &[u8]) -> std::collections::HashMap<u32, u32> {
    let mut found = std::collections::HashMap::new();
    let start = bytes.windows(12).position(|window| window == b"{\\stylesheet");
    let Some(sheet) = start.and_then(|start| bytes.get(start..)) else { return found };
    let sheet = String::from_utf8_lossy(sheet.get(..256 * 1024).unwrap_or(sheet));
    for style in sheet.split('{').skip(2) {
        let Some((style, _)) = style.split_once('}') else { continue };
        let name = style.rsplit([' ', ';']).find(|part| !part.is_empty()).unwrap_or_default();
        let lower = style.to_ascii_lowercase();
        let Some(level) = name.parse::<u32>().ok().filter(|_| lower.contains("heading ")) else { continue };
        let number =
            style.strip_prefix("\\s").map(|rest| rest.chars().take_while(char::is_ascii_digit).collect());
        if let Some(number) = number.and_then(|number: String| number.parse().ok())
            && (1..=LEVELS).contains(&level)
        {
            found.insert(number, level - 1);
        }
    }
    found
}

fn heading(c: char) -> Option<usize> {
    let level = u32::from(c).checked_sub(HEADING).filter(|level| *level < LEVELS)?;
    usize::try_from(level).ok()
}

/// Paragraphs, headings and tables of the marked text.
fn lay_out(text: &str, output: &mut Output) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut cells: Vec<String> = Vec::new();
    let mut cell = String::new();
    let mut paragraph = String::new();
    let end_paragraph = |paragraph: &mut String, output: &mut Output| {
        let level = paragraph.chars().rev().find_map(heading);
        let text: String = paragraph.chars().filter(|c| heading(*c).is_none()).collect();
        let text = text.trim();
        match level {
            Some(level) if !text.is_empty() => {
                output.block(&format!("{} {text}", "#".repeat((level + 1).min(6))))
            }
            _ => output.block(text),
        }
        paragraph.clear();
    };
    // What stands before the first cell of a row belongs to that cell, back to the paragraph's start.
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            CELL => {
                cell.push_str(&std::mem::take(&mut paragraph));
                let text: String = cell.chars().filter(|c| heading(*c).is_none()).collect();
                cells.push(text);
                cell.clear();
                // The parser's own sign for a cell.
                _ = chars.next_if(|next| *next == '\t');
            }
            ROW => {
                rows.push(std::mem::take(&mut cells));
                _ = chars.next_if(|next| *next == '\n');
            }
            '\n' if !cells.is_empty() => paragraph.push(' '),
            '\n' => {
                if !paragraph.trim().is_empty() && !rows.is_empty() {
                    output.block(&table(&std::mem::take(&mut rows)));
                }
                end_paragraph(&mut paragraph, output);
            }
            c => paragraph.push(c),
        }
    }
    if !cells.is_empty() {
        rows.push(cells);
    }
    if !rows.is_empty() {
        output.block(&table(&rows));
    }
    end_paragraph(&mut paragraph, output);
}
