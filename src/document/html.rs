//! HTML pages and the HTML bodies of mails, books and feeds.

mod spans;

use html_to_markdown_rs::options::{PreprocessingOptions, PreprocessingPreset};
use html_to_markdown_rs::{ConversionOptions, HiddenContent};

use super::output::Output;
use super::{Error, Kind};

pub(super) fn convert(text: &str) -> Result<Output, Error> {
    let mut output = Output::of(markdown(text)?);
    output.title = title(text);
    Ok(output)
}

/// The markdown of an HTML page or a part of one. Navigation, headers and forms stay: what is chrome and what is content is
/// not to be told safely.
pub(super) fn markdown(text: &str) -> Result<String, Error> {
    let options = ConversionOptions {
        extract_metadata: false,
        hidden_content: HiddenContent::Reachable,
        // Spaces that line columns up cost a model more than they tell it.
        compact_tables: true,
        br_in_tables: true,
        preprocessing: PreprocessingOptions {
            enabled: true,
            preset: PreprocessingPreset::Minimal,
            remove_navigation: false,
            remove_forms: false,
        },
        ..ConversionOptions::default()
    };
    let text = spans::resolve(text);
    let result =
        html_to_markdown_rs::convert(&text, options).map_err(|error| Error::damaged(Kind::Html, error))?;
    Ok(result.content.unwrap_or_default())
}

/// What stands in `<title>`.
fn title(text: &str) -> Option<String> {
    let start = text.find("<title").or_else(|| text.find("<TITLE"))?;
    let rest = text.get(start..)?.split_once('>')?.1;
    let title = rest.split_once("</").map(|(title, _)| title)?;
    let title =
        quick_xml::escape::unescape(title).map_or_else(|_| title.to_owned(), |title| title.into_owned());
    Some(title.split_whitespace().collect::<Vec<_>>().join(" "))
}
