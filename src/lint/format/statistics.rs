//! How often each rule found something, the most frequent first.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::text::summary;
use crate::lint::{Level, Report, Rule};

/// Rule, level and number of findings; in the order of the table where numbers are equal.
fn counts(report: &Report) -> Vec<(&'static Rule, Level, usize)> {
    let mut counts: Vec<(&'static Rule, Level, usize)> = Vec::new();
    for finding in &report.findings {
        match counts.iter_mut().find(|(rule, ..)| rule.code == finding.rule.code) {
            Some((.., count)) => *count += 1,
            None => counts.push((finding.rule, finding.level, 1)),
        }
    }
    counts.sort_by_key(|(rule, _, count)| (std::cmp::Reverse(*count), rule.code));
    counts
}

/// `  12  error    L001  link-broken` for each rule, and the line that sums up.
pub fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (rule, level, count) in counts(report) {
        writeln!(out, "{count:>6}  {:<7}  {}  {}", level.as_str(), rule.code, rule.name)?;
    }
    writeln!(out, "{}", summary(report))
}

pub fn statistics_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Value> = counts(report)
        .into_iter()
        .map(|(rule, level, count)| {
            json!({"rule": rule.code, "name": rule.name, "level": level, "count": count})
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    writeln!(out)
}
