//! Workflow commands that GitHub Actions turns into annotations on the lines of a pull request.

use std::io::{self, Write};

use super::Prefix;
use crate::lint::{Level, Report};
use crate::text::Safe;

/// `::error file=…,line=…,col=…,endLine=…,endColumn=…,title=…::message` for each finding. Lines without `::` before them
/// are log output: the last one sums up.
pub fn github(report: &Report, prefix: &Prefix, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Hint => "notice",
        };
        write!(out, "::{command} ")?;
        if let Some(file) = prefix.file(finding) {
            write!(out, "file={},line={},col={},", property(&file), finding.line, finding.column)?;
            if finding.span.is_some() {
                write!(out, "endLine={},endColumn={},", finding.end_line, finding.end_column)?;
            }
        }
        let title = format!("{} {}", finding.rule.code, finding.rule.name);
        writeln!(out, "title={}::{}", property(&title), data(&finding.message))?;
    }
    writeln!(out, "{}", super::text::summary(report))
}

/// A message as the runner wants it. It ends at the line's end, so that a line break in it would start a command of its
/// own.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    Safe::line(&text).into_string()
}

/// The value of a property, which also ends at a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
