//! Dates of pages: which texts count as ISO 8601, as Python 3.12's `datetime.fromisoformat` reads it.

/// Whether `text` is a date or date-time that the format accepts.
pub fn is_iso(text: &str) -> bool {
    let _ = text;
    unimplemented!("okf helper")
}
