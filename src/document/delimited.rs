//! CSV and TSV (RFC 4180, and what spreadsheets write): one markdown table.

use super::Kind;
use super::output::Output;
use super::table::table;

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
