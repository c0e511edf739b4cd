//! Jupyter notebooks (nbformat 3 and 4): text as it stands, code and its outputs as code blocks.

use serde_json::Value;

use super::markup::fenced;
use super::output::Output;
use super::{Error, Kind};

pub(super) fn convert(text: &str) -> Result<Output, Error> {
    let notebook: Value =
        serde_json::from_str(text).map_err(|error| Error::damaged(Kind::Notebook, error))?;
    let metadata = notebook.get("metadata");
    let language = metadata
        .and_then(|m| m.pointer("/language_info/name").or_else(|| m.pointer("/kernelspec/language")))
        .and_then(Value::as_str)
        .unwrap_or("python");
    let mut output = Output::default();
    output.title = metadata.and_then(|m| m.get("title")).and_then(Value::as_str).map(str::to_owned);
    // nbformat 3 keeps its cells in worksheets.
    let sheets = notebook.get("worksheets").and_then(Value::as_array).into_iter().flatten();
    let cells = std::iter::once(&notebook).chain(sheets).filter_map(|holder| holder.get("cells")?.as_array());
    for cell in cells.flatten() {
        let source = lines(cell.get("source").or_else(|| cell.get("input")));
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("code") => {
                output.block(&if source.trim().is_empty() {
                    String::new()
                } else {
                    fenced(language, &source)
                });
                for result in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
                    let text = output_text(result);
                    if !text.trim().is_empty() {
                        output.block(&fenced("", &text));
                    }
                }
            }
            Some("heading") => {
                let level = cell.get("level").and_then(Value::as_u64).unwrap_or(1).clamp(1, 6) as usize;
                output.block(&format!("{} {source}", "#".repeat(level)));
            }
            _ => output.block(&source),
        }
    }
    Ok(output)
}

/// A string, or lines that keep their line ends.
fn lines(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What a cell printed, or the plain text of what it gave; pictures have none.
fn output_text(output: &Value) -> String {
    match output.get("output_type").and_then(Value::as_str) {
        Some("error" | "pyerr") => {
            let field = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", field("ename"), field("evalue"))
        }
        _ => lines(
            output
                .get("text")
                .or_else(|| output.pointer("/data/text~1markdown"))
                .or_else(|| output.pointer("/data/text~1plain")),
        ),
    }
}
