//! H: the history in `log.md`.

use crate::lint::Profile;
use crate::lint::context::{Context, Findings};
use crate::lint::registry::{LOG_ENTRY_KIND, LOG_ENTRY_SHAPE, LOG_ORDER};
use crate::okf::log::{self, KINDS, LogForm};
use crate::okf::path::Reserved;
use crate::okf::{Page, timestamp};

/// Longest piece of an entry that a message repeats, in characters.
const MAX_ECHO: usize = 60;

pub fn check(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    if page.path.reserved() != Some(Reserved::Log) {
        return;
    }
    let form = match context.profile {
        Profile::Wiki => "## [YYYY-MM-DD] kind | title",
        Profile::Okf => "## YYYY-MM-DD",
    };
    // The date of the last entry that has one.
    let mut above: Option<String> = None;
    for entry in log::entries(page) {
        let date = match (&entry.form, context.profile) {
            (LogForm::Wiki { date, .. }, Profile::Wiki) | (LogForm::Date { date }, Profile::Okf) => date,
            _ => {
                let message = format!("log entry is not of the form `{form}`: {}", echo(&entry.heading));
                let data = [("line", entry.heading.clone().into())];
                findings.at(&LOG_ENTRY_SHAPE, page, entry.span, message, data);
                continue;
            }
        };
        if !timestamp::is_iso(date) {
            let message = format!("log entry has a date that does not exist: {date}");
            let data = [("line", entry.heading.clone().into())];
            findings.at(&LOG_ENTRY_SHAPE, page, entry.date_span, message, data);
        } else if context.profile == Profile::Okf {
            if let Some(above) = above.filter(|above| above < date) {
                let message = format!("log is out of order: {date} stands below {above}, newest comes first");
                findings.at(&LOG_ORDER, page, entry.date_span, message, []);
            }
            above = Some(date.clone());
        }
        if let LogForm::Wiki { kind, .. } = &entry.form
            && !KINDS.contains(&kind.as_str())
        {
            let message = format!("unknown kind of log entry `{kind}`: one of {}", KINDS.join(", "));
            findings.at(&LOG_ENTRY_KIND, page, entry.kind_span, message, [("kind", kind.clone().into())]);
        }
    }
}

fn echo(text: &str) -> String {
    if text.chars().count() <= MAX_ECHO {
        return text.to_owned();
    }
    text.chars().take(MAX_ECHO - 1).chain(['…']).collect()
}
