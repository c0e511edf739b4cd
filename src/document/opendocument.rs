//! OpenDocument text and spreadsheets, and binary Excel workbooks, by markkit.

use markkit::ir::{Node, TableCell};
use markkit::{DocumentHint, Markkit};

use super::output::Output;
use super::table::{self, Cell};
use super::{Error, Kind, Limits, Place, archive};

pub(super) fn convert(bytes: &[u8], kind: Kind, limits: &Limits) -> Result<Output, Error> {
    if is_encrypted(bytes) {
        return Err(Error::encrypted(kind));
    }
    let limit = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let markkit = Markkit::builder()
        .max_input_size(limit(limits.input))
        .max_output_size(limit(limits.output))
        .max_archive_entries(limits.entries)
        .max_archive_entry_size(limits.unpacked)
        .max_archive_total_size(limits.unpacked)
        .max_sheet_rows(1_048_576)
        .max_sheet_cols(16_384)
        .include_hidden_sheets(true)
        .build();
    let name = format!("x.{}", kind.extension());
    let mut parsed = markkit
        .parse_document_sync(bytes, DocumentHint::file_name(&name))
        .map_err(|error| Error::damaged(kind, error))?;
    resolve(&mut parsed.document.nodes);
    let extraction = parsed.render();
    let mut output = Output::default();
    if kind == Kind::Odt {
        output.block(&extraction.markdown);
    } else {
        sheets(&extraction.markdown, &mut output);
    }
    output.title = extraction.title;
    Ok(output)
}

/// A cell with more in it is not repeated.
const SHORT: usize = 32;

#[derive(Debug, Clone)]
struct Data(TableCell);

impl Default for Data {
    fn default() -> Self {
        Self(TableCell::new(Vec::new()))
    }
}

impl Cell for Data {
    fn span(&self) -> (usize, usize) {
        let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX).max(1);
        (count(self.0.colspan), count(self.0.rowspan))
    }

    fn shrink(&mut self) {
        (self.0.colspan, self.0.rowspan) = (1, 1);
    }

    fn is_short(&self) -> bool {
        self.0.children.len() <= SHORT
    }
}

/// Repeats the merged cells of the tables at the top; lists and quotations seldom hold any.
fn resolve(nodes: &mut [Node]) {
    for node in nodes {
        if let Node::Table { headers, rows, .. } = node {
            let head = !headers.is_empty();
            let all = std::iter::once(std::mem::take(headers)).filter(|_| head).chain(std::mem::take(rows));
            let mut grid: Vec<Vec<Data>> = all.map(|row| row.into_iter().map(Data).collect()).collect();
            table::resolve(&mut grid);
            let grid = grid.into_iter().filter(|row| !row.is_empty());
            let mut grid = grid.map(|row| row.into_iter().map(|cell| cell.0).collect());
            if head {
                *headers = grid.next().unwrap_or_default();
            }
            *rows = grid.collect();
        }
    }
}

/// Each sheet stands below a heading with its name.
fn sheets(markdown: &str, output: &mut Output) {
    let mut number = 0;
    let mut block = String::new();
    for line in markdown.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("## ") {
            output.block(&std::mem::take(&mut block));
            number += 1;
            output.mark(Place::Sheet { number, name: name.trim().to_owned() });
        }
        block.push_str(line);
    }
    output.block(&block);
}

/// ODF 1.3 part 2, 3.4.1: an encrypted part has its key data in the manifest.
fn is_encrypted(bytes: &[u8]) -> bool {
    let manifest = archive::open(bytes)
        .ok()
        .and_then(|mut archive| archive::part(&mut archive, "META-INF/manifest.xml", 1024 * 1024));
    manifest.is_some_and(|manifest| manifest.windows(16).any(|window| window == b":encryption-data"))
}
