//! One line per finding, and a last line that sums up.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::shown_path;
use crate::lint::{Finding, Level, Report};
use crate::text::Safe;

const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";

fn colour_of(level: Level) -> &'static str {
    match level {
        Level::Error => "\x1b[1;31m",
        Level::Warning => "\x1b[1;33m",
        Level::Hint => "\x1b[1;36m",
    }
}

/// So many links alike, for one reason (a template's tag, a convention of names), stand as one line.
const MANY: usize = 10;

fn reason(finding: &Finding) -> Option<(&'static str, Vec<&str>)> {
    finding.about().filter(|(code, _)| code.starts_with('L'))
}

/// `path:line:column: level code name: message` for each finding; of many links alike only the first, with their number. Everything that comes from the bundle passes [`Safe`]; colours are the only control sequences.
pub fn text(report: &Report, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let paint = |code: &'static str| if colours { code } else { "" };
    let reset = paint(RESET);
    for fixed in &report.fixed {
        let (path, message) = (Safe::line(fixed.path.relative()), Safe::line(&fixed.message));
        let (code, name) = (fixed.rule.code, fixed.rule.name);
        writeln!(out, "fixed {path}:{}:{}: {code} {name}: {message}", fixed.line, fixed.column)?;
    }
    let mut alike: HashMap<_, usize> = HashMap::new();
    for about in report.findings.iter().filter_map(reason) {
        *alike.entry(about).or_default() += 1;
    }
    let mut told = HashSet::new();
    for finding in &report.findings {
        let about = reason(finding);
        let places = about.as_ref().and_then(|about| alike.get(about)).copied().unwrap_or(1);
        if let Some(about) = about.filter(|_| places >= MANY)
            && !told.insert(about)
        {
            continue;
        }
        let path = Safe::line(shown_path(finding));
        let message = Safe::line(&finding.message);
        writeln!(
            out,
            "{bold}{path}{reset}{dim}:{line}:{column}:{reset} {colour}{level}{reset} {code} {name}: {message}{more}",
            bold = paint(BOLD),
            dim = paint(DIM),
            line = finding.line,
            column = finding.column,
            colour = paint(colour_of(finding.level)),
            level = finding.level.as_str(),
            code = finding.rule.code,
            name = finding.rule.name,
            more = match places {
                MANY.. => format!(" (and at {} more places; --format json names them)", places - 1),
                _ => String::new(),
            },
        )?;
    }
    writeln!(out, "{}", summary(report))
}

/// `2 errors, 1 warning, 0 hints in 12 pages (profile wiki): L001 2, S002 1`
pub(super) fn summary(report: &Report) -> String {
    let counts = report.counts();
    let rules: Vec<String> = report.by_rule().iter().map(|(code, count)| format!("{code} {count}")).collect();
    let rules = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
    let fixed =
        if report.fixed.is_empty() { String::new() } else { format!(", {} fixed", report.fixed.len()) };
    format!(
        "{}, {}, {}{fixed} in {} (profile {}){rules}",
        counted(counts.errors, "error"),
        counted(counts.warnings, "warning"),
        counted(counts.hints, "hint"),
        counted(report.pages, "page"),
        report.profile.as_str(),
    )
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
