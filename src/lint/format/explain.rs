//! A rule in words, from the registry: for `--explain`, the workbench and SARIF's help.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::lint::registry::{FixKind, Rule};
use crate::lint::{Level, Profile};
use crate::text::Safe;

/// The whole explanation of a rule: name, level in each profile, what it is about, why, what mends it, a bad and a good
/// example (indented by four columns). Lines are not wrapped; control characters of examples are shown and not sent.
pub fn explanation(rule: &Rule) -> String {
    let level = |profile| rule.level(profile).map_or("off", Level::as_str);
    format!(
        "{code} {name}: {summary}\n\n\
         In profile wiki: {wiki}; in profile okf: {okf}.\n\n\
         {why}\n\n\
         {fix}\n\n\
         At fault:\n\n{bad}\n\
         Right:\n\n{good}",
        code = rule.code,
        name = rule.name,
        summary = rule.summary,
        wiki = level(Profile::Wiki),
        okf = level(Profile::Okf),
        why = rule.why,
        fix = mending(rule.fix),
        bad = indented(rule.bad),
        good = indented(rule.good),
    )
}

fn mending(fix: FixKind) -> &'static str {
    match fix {
        FixKind::None => "A person has to mend it: there is no automatic fix.",
        FixKind::Safe => "`lint --fix` mends it where the right text is beyond doubt.",
        FixKind::Unsafe => {
            "`lint --fix --unsafe-fixes` mends it: the meaning may change, so look at what it did."
        }
    }
}

fn indented(example: &str) -> String {
    // A byte-order mark is the fault that one example shows.
    let example = example.replace('\u{feff}', "<U+FEFF>");
    example.lines().map(|line| format!("    {}", Safe::line(line)).trim_end().to_owned() + "\n").collect()
}

/// [`explanation`] of each, with an empty line between them.
pub fn explain(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    for (at, rule) in rules.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", explanation(rule))?;
    }
    Ok(())
}

/// The same for programs: a list of rules.
pub fn explain_json(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "rule": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "levels": {"wiki": rule.wiki, "okf": rule.okf},
                "fix": rule.fix.as_str(),
                "why": rule.why,
                "bad": rule.bad,
                "good": rule.good,
            })
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &rules)?;
    writeln!(out)
}
