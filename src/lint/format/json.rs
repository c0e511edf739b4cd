//! One JSON object for a whole report.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::shown_path;
use crate::lint::fix::{Fixed, Offer};
use crate::lint::{Level, Profile, Report};

#[derive(Serialize)]
struct Output<'a> {
    bundle: &'a str,
    profile: Profile,
    okf_version: &'a str,
    pages: usize,
    findings: Vec<Item<'a>>,
    /// What `--fix` changed.
    fixed: &'a [Fixed],
    summary: Summary,
}

#[derive(Serialize)]
struct Item<'a> {
    rule: &'a str,
    name: &'a str,
    level: Level,
    path: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    message: &'a str,
    data: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a Offer>,
}

#[derive(Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
    hints: usize,
    fixed: usize,
}

/// `bundle` is the folder as it was named.
pub fn json(report: &Report, bundle: &str, out: &mut dyn Write) -> io::Result<()> {
    let counts = report.counts();
    let findings = report
        .findings
        .iter()
        .map(|finding| Item {
            rule: finding.rule.code,
            name: finding.rule.name,
            level: finding.level,
            path: shown_path(finding),
            line: finding.line,
            column: finding.column,
            end_line: finding.end_line,
            end_column: finding.end_column,
            message: &finding.message,
            data: &finding.data,
            fix: finding.fix.as_ref(),
        })
        .collect();
    let output = Output {
        bundle,
        profile: report.profile,
        okf_version: report.okf_version,
        pages: report.pages,
        findings,
        fixed: &report.fixed,
        summary: Summary {
            errors: counts.errors,
            warnings: counts.warnings,
            hints: counts.hints,
            fixed: report.fixed.len(),
        },
    };
    serde_json::to_writer_pretty(&mut *out, &output)?;
    writeln!(out)
}
