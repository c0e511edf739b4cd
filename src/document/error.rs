//! Why a document has no text, each as a sentence that a model and a person can act on.

use serde::{Deserialize, Serialize};

use super::MIB;

const READABLE: &str = "pdf, docx, doc, pptx, ppt, xlsx, xls, ods, odt, csv, tsv, html, epub, json, xml, rtf, msg, eml, \
                        ipynb, md and txt";

/// Crosses from the child as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Error {
    #[error("The file is empty, so there is nothing to read.")]
    Empty,
    #[error("The {kind} is locked with a password. Save a copy of it without the password and use that.")]
    Encrypted { kind: String },
    #[error("{}", no_text(kind, *pages))]
    NoText { kind: String, pages: usize },
    #[error(
        "The {kind} is damaged and cannot be read: {detail}. Get it again from where it came, or save it anew."
    )]
    Damaged { kind: String, detail: String },
    #[error("The file has {} MiB; at most {} MiB are converted. Split it and use the parts.", bytes.div_ceil(MIB), limit / MIB)]
    TooLarge { bytes: u64, limit: u64 },
    #[error(
        "The {kind} unpacks to {what}, far more than a document needs, and is refused as unsafe. Save it anew, or use its text only."
    )]
    Bomb { kind: String, what: String },
    #[error("The text of the document is longer than {} MiB. Split it and use the parts.", limit / MIB)]
    TooMuchText { limit: u64 },
    #[error("The file is {found}, which has no text to convert here. What can be read: {READABLE}.")]
    Unsupported { found: String },
    #[error(
        "Converting the document took longer than {seconds} seconds and was stopped. Split it, or save it anew in a simpler format."
    )]
    OutOfTime { seconds: u64 },
    #[error("Converting the document takes more than {} MiB of memory and was stopped. Split it, or save it anew in a simpler format.", limit / MIB)]
    OutOfMemory { limit: u64 },
    #[error(
        "The document breaks its converter ({detail}). It is most likely damaged: save it anew, or in another format."
    )]
    Crashed { detail: String },
    #[error("The conversion was cancelled.")]
    Cancelled,
    #[error("The converter could not be started: {detail}.")]
    NotStarted { detail: String },
}

fn no_text(kind: &str, pages: usize) -> String {
    match pages {
        0 => format!("The {kind} holds no text."),
        _ if kind.starts_with("PDF") => format!(
            "The {kind} has no text layer on its {pages} page{}: it is most likely a scan. Run it through text recognition \
             (OCR) and use the result.",
            if pages == 1 { "" } else { "s" }
        ),
        _ => format!("The {kind} holds no text; it may be made of pictures only."),
    }
}

/// Signs in what the libraries say, and what they mean.
const PLAIN: [(&str, &str); 9] = [
    ("Could not find EOCD", "its end is missing"),
    ("OLE/CFB container whose directory", "its end or its directory is missing"),
    ("startxref not found", "its end is missing"),
    ("Invalid checksum", "a part of it is not what was saved"),
    ("corrupt deflate stream", "a part of it does not unpack"),
    ("declared uncompressed size", "a part of it does not unpack"),
    ("Invalid local file header", "a part of it is not where it should be"),
    ("Malformed directory", "its directory is broken"),
    ("Malformed FAT", "its end is missing"),
];

impl Error {
    pub(super) fn damaged(kind: super::Kind, detail: impl std::fmt::Display) -> Self {
        let detail = detail.to_string();
        let detail =
            PLAIN.iter().find(|(sign, _)| detail.contains(sign)).map_or(detail, |(_, plain)| (*plain).into());
        Self::Damaged { kind: kind.name().into(), detail: detail.trim().trim_end_matches('.').to_owned() }
    }

    pub(super) fn encrypted(kind: super::Kind) -> Self {
        Self::Encrypted { kind: kind.name().into() }
    }
}
