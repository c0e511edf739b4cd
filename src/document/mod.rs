//! Source documents to markdown: bytes in, text out, with the places (pages, sheets, slides) that a claim can cite. Opens no
//! file of a bundle. The libraries behind it read hostile input and can abort, loop and eat memory, so that everything above this room
//! goes through [`child`], which runs [`convert`] in a limited process of its own.

mod archive;
mod charset;
pub mod child;
mod delimited;
mod epub;
mod error;
mod html;
mod kind;
pub mod library;
mod mail;
mod markup;
mod math;
mod message;
mod notebook;
mod office;
mod opendocument;
mod output;
mod pdf;
mod rtf;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use error::Error;
pub use kind::{Kind, kind};
pub use library::Documents;
use output::Output;

const MIB: u64 = 1024 * 1024;

/// What a conversion may take. How much of the text is shown is the caller's to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Size of the document in bytes.
    pub input: u64,
    /// Files in a zip container.
    pub entries: usize,
    /// Sum of their unpacked sizes in bytes.
    pub unpacked: u64,
    /// Size of the markdown in bytes.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { input: 50 * MIB, entries: 10_000, unpacked: 256 * MIB, output: 128 * MIB }
    }
}

/// A document's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converted {
    pub kind: Kind,
    pub title: Option<String>,
    /// What else the document says of itself: author, created, language; names in lower case, in a fixed order.
    pub metadata: Vec<(String, String)>,
    pub markdown: String,
    /// In the order of the text. Each stands in the markdown as a line `<!-- page 3 -->` of its own.
    pub positions: Vec<Position>,
    /// Whole sentences on what is missing: pages without text, pictures left out.
    pub notes: Vec<String>,
}

/// Where a part of the document begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub place: Place,
    /// Of the part's marker, in bytes of the markdown.
    pub offset: usize,
}

/// A part of a document that a claim can cite. Numbers start at 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Page(u32),
    Slide(u32),
    Sheet { number: u32, name: String },
    Chapter(u32),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Page(number) => write!(f, "page {number}"),
            Self::Slide(number) => write!(f, "slide {number}"),
            Self::Sheet { number, name } => write!(f, "sheet {number}: {name}"),
            Self::Chapter(number) => write!(f, "chapter {number}"),
        }
    }
}

/// How far a conversion is, in parts of the document (pages).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub done: u32,
    pub total: u32,
}

/// The text of a document as markdown. `name` is the file's name, which counts where the content leaves the format open.
///
/// Whoever did not write the document calls [`child::Converter`] instead: this may abort the process.
pub fn convert(bytes: &[u8], name: &str, limits: &Limits) -> Result<Converted, Error> {
    convert_with(bytes, name, limits, &|_| {})
}

/// [`convert`], telling how far it is. Only long formats tell.
pub fn convert_with(
    bytes: &[u8],
    name: &str,
    limits: &Limits,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Converted, Error> {
    check_size(bytes.len() as u64, limits)?;
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let kind = kind(bytes, name);
    if kind::is_encrypted_package(bytes) {
        let kind = if kind.is_zip() { kind.name() } else { "Office document" };
        return Err(Error::Encrypted { kind: kind.into() });
    }
    if kind.is_zip() {
        archive::check(bytes, kind, limits)?;
    }
    let output = match kind {
        Kind::Pdf => pdf::convert(bytes, progress)?,
        Kind::Docx | Kind::Doc | Kind::Pptx | Kind::Ppt | Kind::Xlsx | Kind::Xls => {
            office::convert(bytes, kind)?
        }
        Kind::Odt | Kind::Ods | Kind::Xlsb => opendocument::convert(bytes, kind, limits)?,
        Kind::Csv | Kind::Tsv => delimited::convert(&charset::decode(bytes), kind),
        Kind::Html => html::convert(&charset::decode(bytes))?,
        Kind::Epub => epub::convert(bytes, limits)?,
        Kind::Notebook => notebook::convert(&charset::decode(bytes))?,
        Kind::Json => Output::of(markup::fenced("json", &charset::decode(bytes))),
        Kind::Xml => markup::convert(&charset::decode(bytes)),
        Kind::Rtf => rtf::convert(bytes)?,
        Kind::Msg => message::convert(bytes)?,
        Kind::Eml => mail::convert(bytes)?,
        Kind::Markdown | Kind::Text => Output::of(charset::decode(bytes)),
        Kind::Unsupported(found) => return Err(Error::Unsupported { found: found.into() }),
    };
    let converted = output.finish(kind);
    if converted.markdown.len() as u64 > limits.output {
        return Err(Error::TooMuchText { limit: limits.output });
    }
    if !converted.markdown.lines().any(|line| !line.trim().is_empty() && !line.starts_with("<!-- ")) {
        return Err(Error::NoText { kind: kind.name().into(), pages: converted.positions.len() });
    }
    Ok(converted)
}

/// Whether a document of `bytes` bytes is small enough to be converted at all; asked before it is read.
pub fn check_size(bytes: u64, limits: &Limits) -> Result<(), Error> {
    match bytes > limits.input {
        true => Err(Error::TooLarge { bytes, limit: limits.input }),
        false => Ok(()),
    }
}
