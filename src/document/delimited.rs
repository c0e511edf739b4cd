//! CSV and TSV (RFC 4180, and what spreadsheets write): one markdown table.

use super::Kind;
use super::output::Output;

/// Lines that are looked at to find the delimiter.
const SAMPLE: usize = 50;

pub(super) fn convert(text: &str, kind: Kind) -> Output {
    // What Excel writes to say which delimiter it used.
    let (told, text) = match text.strip_prefix("sep=").and_then(|rest| rest.split_once('\n')) {
        Some((told, rest)) => (told.bytes().next(), rest),
        None => (None, text),
    };
    let delimiter = told.unwrap_or_else(|| match kind {
        Kind::Tsv => b'\t',
        _ => delimiter(text),
    });
    Output::of(table(&records(text, delimiter, usize::MAX)))
}

fn records(text: &str, delimiter: u8, limit: usize) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let rows = reader.records().map_while(Result::ok).take(limit);
    rows.map(|record| record.iter().map(str::to_owned).collect()).collect()
}

/// The delimiter that gives the most cells in rows as wide as the first.
fn delimiter(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let rows = records(text, delimiter, SAMPLE);
        let width = rows.first().map_or(0, Vec::len);
        let even = rows.iter().filter(|row| row.len() == width).count();
        (width.saturating_sub(1)) * even
    };
    // The first of the best: max_by_key would take the last.
    b",;\t|".iter().rev().copied().max_by_key(|d| score(*d)).unwrap_or(b',')
}

/// A markdown table; the first row is its header. Rows are filled to the widest.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut markdown = String::new();
    for (number, row) in rows.iter().enumerate() {
        markdown.push('|');
        for column in 0..width {
            let cell = row.get(column).map(|cell| cell_text(cell)).unwrap_or_default();
            markdown.push_str(&format!(" {cell} |"));
        }
        markdown.push('\n');
        if number == 0 {
            markdown.push_str(&format!("|{}\n", " --- |".repeat(width)));
        }
    }
    markdown
}

/// In one line, its pipes escaped.
fn cell_text(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
