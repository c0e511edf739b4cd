//! Entries of `log.md`, in the wiki convention's form and in OKF's.

use super::page::Page;
use crate::text::Span;

/// Kinds of log entry in the wiki convention.
pub const KINDS: [&str; 4] = ["ingest", "query", "lint", "refactor"];

/// A second-level heading of a `log.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The heading without `## `, as written.
    pub heading: String,
    pub span: Span,
    /// Where the date stands; the whole heading when it has none.
    pub date_span: Span,
    /// Where the kind stands; the whole heading when it has none.
    pub kind_span: Span,
    pub form: LogForm,
}

/// What form a log heading has. Dates have the digits of a date and may still be none (`2026-02-31`).
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

/// The entries of a log page in document order: its `## ` headings outside quotes and lists. A line underlined with
/// `---` is none, though CommonMark calls it a heading: in a log it is text above a rule.
pub fn entries(page: &Page) -> Vec<LogEntry> {
    page.headings
        .iter()
        .filter(|heading| heading.level == 2)
        .filter_map(|heading| {
            let before = page.text.get(..heading.span.start)?;
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            let lead = before.get(line_start..)?.trim_start_matches('\u{feff}');
            let source = heading.span.of(&page.text).strip_prefix("##")?;
            if !lead.trim().is_empty() {
                return None;
            }
            let written = source.trim_end_matches('#');
            // A closing `##` needs a blank before it.
            let written = if written.ends_with([' ', '\t']) || written.is_empty() { written } else { source };
            let form = form(heading.text.trim());
            let (date, kind) = match &form {
                LogForm::Wiki { date, kind, .. } => (date.as_str(), kind.as_str()),
                LogForm::Date { date } => (date.as_str(), ""),
                LogForm::Other => ("", ""),
            };
            let date_span = place(page, heading.span, heading.span.start, date);
            let kind_span = place(page, heading.span, date_span.end, kind);
            Some(LogEntry {
                heading: written.trim().to_owned(),
                span: heading.span,
                date_span,
                kind_span,
                form,
            })
        })
        .collect()
}

/// Where `part` stands in a heading from the byte `from` on; the whole heading when markup stands in between.
fn place(page: &Page, heading: Span, from: usize, part: &str) -> Span {
    let found =
        page.text.get(from..heading.end).and_then(|rest| rest.find(part)).filter(|_| !part.is_empty());
    found.map_or(heading, |at| Span::new(from + at, from + at + part.len()))
}

fn form(heading: &str) -> LogForm {
    if is_date_shaped(heading) {
        return LogForm::Date { date: heading.to_owned() };
    }
    wiki_form(heading).unwrap_or(LogForm::Other)
}

fn wiki_form(heading: &str) -> Option<LogForm> {
    let (date, rest) = heading.strip_prefix('[')?.split_once(']')?;
    let (kind, title) = rest.strip_prefix(' ')?.split_once('|')?;
    let (kind, title) = (kind.trim(), title.trim());
    let fits =
        is_date_shaped(date) && !kind.is_empty() && !kind.contains(char::is_whitespace) && !title.is_empty();
    fits.then(|| LogForm::Wiki { date: date.to_owned(), kind: kind.to_owned(), title: title.to_owned() })
}

fn is_date_shaped(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::okf::BundlePath;

    fn read(text: &str) -> Vec<LogEntry> {
        entries(&Page::parse(BundlePath::parse("/wiki/log.md").unwrap(), text.into()))
    }

    fn wiki(date: &str, kind: &str, title: &str) -> LogForm {
        LogForm::Wiki { date: date.to_owned(), kind: kind.to_owned(), title: title.to_owned() }
    }

    #[test]
    fn both_forms_are_read_in_order() {
        let text =
            "# Log\n\n## [2026-05-22] ingest | A *report* | part 2\ntext\n---\n## 2026-05-21 ##\n## Notes\n";
        let got = read(text);
        let forms: Vec<_> = got.iter().map(|e| e.form.clone()).collect();
        assert_eq!(
            forms,
            [
                wiki("2026-05-22", "ingest", "A report | part 2"),
                LogForm::Date { date: "2026-05-21".to_owned() },
                LogForm::Other
            ]
        );
        assert_eq!(got[0].heading, "[2026-05-22] ingest | A *report* | part 2");
        assert_eq!(got[1].heading, "2026-05-21");
        assert_eq!(got[2].span.of(text), "## Notes");
        let places: Vec<_> = got.iter().map(|e| (e.date_span.of(text), e.kind_span.of(text))).collect();
        let whole = "## 2026-05-21 ##";
        assert_eq!(places, [("2026-05-22", "ingest"), ("2026-05-21", whole), ("## Notes", "## Notes")]);
    }

    #[test]
    fn what_is_no_entry_is_left_out() {
        assert_eq!(
            read("```\n## Section of the page\n```\n> ## quoted\n- ## item\n### third\n<!--\n## no\n-->\n"),
            []
        );
    }

    #[test]
    fn near_misses_have_no_form() {
        for heading in [
            "[2026-5-22] ingest | x",
            "2026-05-22: x",
            "[2026-05-22] ingest x",
            "[2026-05-22] two words | x",
            "[2026-05-22] ingest |",
            "[2026-05-22]ingest | x",
            "2026/05/22",
        ] {
            assert_eq!(read(&format!("## {heading}"))[0].form, LogForm::Other, "{heading}");
        }
        assert_eq!(read("## [2026-02-31] lint | x")[0].form, wiki("2026-02-31", "lint", "x"));
    }
}
