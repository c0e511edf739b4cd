//! B: what can be read at all.

use crate::bundle::ErrorKind;
use crate::lint::context::{Context, Findings};
use crate::lint::registry::{BUNDLE_EMPTY, BYTE_ORDER_MARK, NOT_UTF8, UNREADABLE};
use crate::okf::{BundlePath, Page};
use crate::text::Span;
use crate::wiki::Wiki;

pub fn check(wiki: &Wiki, findings: &mut Findings) {
    if wiki.page_count() == 0 && wiki.problems().next().is_none() {
        findings.whole(&BUNDLE_EMPTY, &BundlePath::root(), "no markdown page in the bundle", []);
    }
    for (path, error) in wiki.problems() {
        match error.kind {
            ErrorKind::NotText { offset } => {
                let message = format!(
                    "not UTF-8 text: byte {offset} of the file, counted from 0, is not valid; save it as UTF-8"
                );
                findings.whole(&NOT_UTF8, path, message, [("offset", offset.into())]);
            }
            kind => {
                let message = format!("cannot be read: {}", error.message);
                findings.whole(&UNREADABLE, path, message, [("kind", kind_name(kind).into())]);
            }
        }
    }
}

pub fn check_page(_: &Context<'_>, page: &Page, findings: &mut Findings) {
    if page.bom {
        let mark = Span::new(0, '\u{feff}'.len_utf8());
        findings.at(&BYTE_ORDER_MARK, page, mark, "the file starts with a byte-order mark: remove it", []);
    }
}

/// Names that programs may rely on.
fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not-found",
        ErrorKind::Denied => "denied",
        ErrorKind::Exists => "exists",
        ErrorKind::IsDirectory => "is-directory",
        ErrorKind::NotADirectory => "not-a-directory",
        ErrorKind::NotRegular => "not-regular",
        ErrorKind::TooLarge => "too-large",
        ErrorKind::NotText { .. } => "not-text",
        ErrorKind::Conflict => "conflict",
        ErrorKind::Outside => "outside",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Io => "io",
    }
}
