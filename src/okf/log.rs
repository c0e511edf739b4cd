//! Entries of `log.md`, in the wiki convention's form and in OKF's.

use super::page::Page;
use crate::text::Span;

/// Kinds of log entry in the wiki convention.
pub const KINDS: [&str; 4] = ["ingest", "query", "lint", "refactor"];

/// A second-level heading of a `log.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The heading without `## `.
    pub heading: String,
    pub span: Span,
    pub form: LogForm,
}

/// What form a log heading has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogForm {
    /// `[YYYY-MM-DD] kind | title` (wiki convention).
    Wiki {
        date: String,
        kind: String,
        title: String,
    },
    /// `YYYY-MM-DD` (OKF).
    Date {
        date: String,
    },
    Other,
}

/// The entries of a log page in document order.
pub fn entries(page: &Page) -> Vec<LogEntry> {
    let _ = page;
    unimplemented!("okf helper")
}
