//! SARIF 2.1.0 (OASIS standard), for code scanning services and editors.

use std::collections::HashMap;
use std::io::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::Prefix;
use crate::lint::registry::{ALL, Rule};
use crate::lint::{Finding, Level, Report};
use crate::okf::ContentHash;

/// What a URI's path may hold as it is (RFC 3986, section 3.3). A colon is encoded: before the first slash it would end a
/// scheme.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One run with all rules and results.
pub fn sarif(report: &Report, prefix: &Prefix, out: &mut dyn Write) -> io::Result<()> {
    let index: HashMap<&str, usize> = ALL.iter().enumerate().map(|(at, rule)| (rule.code, at)).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let identity = identity(finding);
            let alike = seen.entry(identity.clone()).or_default();
            *alike += 1;
            result(finding, prefix, index.get(finding.rule.code), &format!("{identity}:{alike}"))
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": ALL.iter().map(|rule| descriptor(rule, report)).collect::<Vec<_>>(),
            }},
            "invocations": [{"executionSuccessful": true}],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "profile": report.profile,
                "okfVersion": report.okf_version,
                "pages": report.pages,
            },
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Hint => "note",
    }
}

fn descriptor(rule: &Rule, report: &Report) -> Value {
    let in_profile = rule.level(report.profile);
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": super::explanation(rule), "markdown": markdown(rule)},
        "defaultConfiguration": {
            "enabled": in_profile.is_some(),
            "level": in_profile.map_or("none", level),
        },
    })
}

fn markdown(rule: &Rule) -> String {
    let fence = |text: &str| {
        let text = text.trim_end_matches('\n');
        format!("````\n{text}\n````\n")
    };
    format!("{}\n\nAt fault:\n\n{}\nRight:\n\n{}", rule.why, fence(rule.bad), fence(rule.good))
}

fn result(finding: &Finding, prefix: &Prefix, rule: Option<&usize>, fingerprint: &str) -> Value {
    let file = prefix.file(finding);
    let path = file.as_deref().unwrap_or(prefix.folder());
    let mut place = json!({"artifactLocation": {"uri": utf8_percent_encode(path, PATH).to_string()}});
    if let (Some(_), Some(place)) = (finding.span, place.as_object_mut()) {
        let region = json!({
            "startLine": finding.line,
            "startColumn": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        });
        place.insert("region".to_owned(), region);
    }
    json!({
        "ruleId": finding.rule.code,
        "ruleIndex": rule,
        "level": level(finding.level),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {
            "wikiwrightFinding/v1": ContentHash::of(fingerprint.as_bytes()).to_string(),
        },
        "properties": {"data": finding.data},
    })
}

/// The same for the same fault when lines above it come and go.
fn identity(finding: &Finding) -> String {
    let data: Vec<String> =
        finding.data.values().filter_map(Value::as_str).map(|t| format!("{t:?}")).collect();
    format!("{} {:?} {}", finding.rule.code, finding.path.as_str(), data.join(" "))
}
