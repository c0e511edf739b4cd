//! Tools about the work itself: `write_todos` and `okf_lint`.

use super::arguments::Arguments;
use super::{Outcome, capped};
use crate::agent::event::{Todo, TodoStatus};
use crate::bundle::{Operation, Staged};
use crate::lint::{self, Level};

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
    Ok(Outcome { ok: true, text, todos: Some(todos) })
}

/// Judges the bundle as it would be. What the session may not read is judged too, or links to it would look broken; findings
/// in it are not told.
pub fn okf_lint(staged: &Staged, options: &lint::Options) -> Result<String, String> {
    let wiki = super::change::proposed(staged)?;
    let mut report = lint::lint(&wiki, options);
    report.findings.retain(|finding| staged.rules().check(Operation::Read, &finding.path).is_ok());
    let mut text = String::new();
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
    Ok(capped(text + &summary, "mend these first, then lint again"))
}
