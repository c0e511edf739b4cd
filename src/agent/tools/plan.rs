//! Tools about the work itself: `write_todos` and `okf_lint`.

use std::sync::Arc;

use super::arguments::Arguments;
use super::{Outcome, capped};
use crate::agent::event::{Todo, TodoStatus};
use crate::agent::reading::Ledger;
use crate::bundle::{Operation, Staged, Write as _};
use crate::lint::fix::{self, Request};
use crate::lint::{self, Finding, Level};

/// Findings listed of each level; counts stay exact.
const MAX_FINDINGS: usize = 50;

pub fn write_todos(arguments: &Arguments) -> Result<Outcome, String> {
    let todos: Vec<Todo> = arguments
        .array("todos")?
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let text = |name: &str| item.get(name).and_then(|value| value.as_str());
            let content =
                text("content").ok_or_else(|| format!("`todos[{at}].content` must be a string."))?;
            let status = match text("status") {
                Some("pending") => TodoStatus::Pending,
                Some("in_progress") => TodoStatus::InProgress,
                Some("completed") => TodoStatus::Completed,
                _ => return Err(format!("`todos[{at}].status` must be pending, in_progress or completed.")),
            };
            Ok(Todo { content: content.to_owned(), status })
        })
        .collect::<Result<_, String>>()?;
    let open = todos.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
    let text = format!("The plan has {} steps, {open} still open.", todos.len());
    Ok(Outcome { todos: Some(todos), ..Outcome::ok(text) })
}

/// Judges the bundle as it would be; with `fix` first stages what mends findings beyond doubt. What the session may not read is
/// judged too, or links to it would look broken; findings in it are not told.
pub fn okf_lint(
    staged: &Staged,
    seen: &Ledger,
    options: &lint::Options,
    arguments: &Arguments,
) -> Result<Result<String, String>, String> {
    let fix = arguments.flag("fix")?;
    let mended = if fix { mend(staged, seen, options) } else { Ok(String::new()) };
    Ok(mended.and_then(|mended| judge(staged, options, mended)))
}

/// Stages safe fixes and says which.
fn mend(staged: &Staged, seen: &Ledger, options: &lint::Options) -> Result<String, String> {
    let readable = |finding: &Finding| staged.rules().check(Operation::Read, &finding.path).is_ok();
    let request = Request {
        base: Arc::new(Staged::over(staged.base().clone(), &staged.changes())),
        rules: staged.rules(),
        options,
        all: false,
        wanted: &readable,
    };
    let outcome = fix::run(super::change::proposed(staged)?, &request);
    for change in &outcome.changes.files {
        // A fix writes whole pages and deletes none.
        let Some(after) = &change.after else { continue };
        staged
            .write(&change.path, after)
            .map_err(|e| format!("{e}. The fixes are staged in part: look at them with diff."))?;
        seen.wrote(&change.path);
    }
    let mut rows: Vec<String> = outcome
        .fixed
        .iter()
        .take(MAX_FINDINGS)
        .map(|fixed| format!("{}:{}: {} {}", fixed.path, fixed.line, fixed.rule.code, fixed.message))
        .collect();
    if outcome.fixed.len() > MAX_FINDINGS {
        rows.push(format!("and {} more", outcome.fixed.len() - MAX_FINDINGS));
    }
    rows.extend(outcome.refused.values().take(MAX_FINDINGS).map(|error| format!("not fixed: {error}")));
    let text = match outcome.fixed.len() {
        0 => "Nothing could be fixed.".to_owned(),
        1 => "Staged: 1 fix. It waits for review; read the page again before you edit it.".to_owned(),
        count => {
            format!("Staged: {count} fixes. They wait for review; read a page again before you edit it.")
        }
    };
    Ok([vec![text], rows, vec![String::new(), String::new()]].concat().join("\n"))
}

fn judge(staged: &Staged, options: &lint::Options, mut text: String) -> Result<String, String> {
    let wiki = super::change::proposed(staged)?;
    let mut report = lint::lint(&wiki, options);
    report.findings.retain(|finding| staged.rules().check(Operation::Read, &finding.path).is_ok());
    for (level, name) in [(Level::Error, "errors"), (Level::Warning, "warnings"), (Level::Hint, "hints")] {
        let count = report.count(level);
        if count == 0 {
            continue;
        }
        text.push_str(&format!("{count} {name}:\n"));
        for finding in report.findings.iter().filter(|f| f.level == level).take(MAX_FINDINGS) {
            text.push_str(&format!(
                "{}:{}: {} {}: {}\n",
                finding.path, finding.line, finding.rule.code, finding.rule.name, finding.message
            ));
        }
        if count > MAX_FINDINGS {
            text.push_str(&format!("and {} more {name}\n", count - MAX_FINDINGS));
        }
    }
    let summary = format!(
        "{} pages: {} errors, {} warnings, {} hints.",
        report.pages,
        report.count(Level::Error),
        report.count(Level::Warning),
        report.count(Level::Hint)
    );
    // The counts stand whatever is cut.
    Ok(capped(text, "mend these first, then lint again").trim_end().to_owned() + "\n" + &summary)
}
