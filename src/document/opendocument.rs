//! OpenDocument text and spreadsheets, and binary Excel workbooks, by markkit.

use markkit::{DocumentHint, Markkit};

use super::output::Output;
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
    let extraction = markkit
        .extract_document_sync(bytes, DocumentHint::file_name(&name))
        .map_err(|error| Error::damaged(kind, error))?;
    let mut output = Output::default();
    if kind == Kind::Odt {
        output.block(&extraction.markdown);
    } else {
        sheets(&extraction.markdown, &mut output);
    }
    output.title = extraction.title;
    Ok(output)
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
