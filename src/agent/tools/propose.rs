//! Tools that propose: `write_file`, `edit_file`, `multi_edit`, `delete`. They reach only the staged overlay, whose rules they
//! cannot talk past, and every result says that the change is staged.

use jiff::Timestamp;

use super::arguments::Arguments;
use super::edit::{self, Edited, Leniency, Replacement};
use super::provenance;
use crate::agent::reading::Ledger;
use crate::bundle::change::oddity::changes_computation;
use crate::bundle::{ErrorKind, Operation, Read, Staged, Write};
use crate::okf::{BundlePath, ContentHash};

pub fn write_file(
    staged: &Staged,
    seen: &Ledger,
    arguments: &Arguments,
    now: Timestamp,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    let content = arguments.text("content")?;
    Ok(write(staged, seen, &path, content, now))
}

fn write(
    staged: &Staged,
    seen: &Ledger,
    path: &BundlePath,
    content: &str,
    now: Timestamp,
) -> Result<String, String> {
    // What is forbidden is said before the advice to read, which would be of no use.
    may_write(staged, seen, path)?;
    let before = match staged.read_bytes(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind == ErrorKind::NotFound => None,
        Err(error) => return Err(error.to_string()),
    };
    if let Some(before) = &before {
        check_seen(seen, path, before)?;
        if before == content.as_bytes() {
            return Err(format!("{path} already holds exactly this text; nothing was changed."));
        }
    }
    let notes = stage(staged, seen, path, before.as_deref(), content, now)?;
    let lines = content.lines().count();
    Ok(match before {
        None => format!("Staged: new file {path} ({lines} lines). It waits for review.{notes}"),
        Some(_) => format!("Staged: {path} replaced as a whole ({lines} lines). It waits for review.{notes}"),
    })
}

/// Stages the new text of a file. Gives what else there is to say.
fn stage(
    staged: &Staged,
    seen: &Ledger,
    path: &BundlePath,
    before: Option<&[u8]>,
    after: &str,
    now: Timestamp,
) -> Result<String, String> {
    let before = before.and_then(|bytes| std::str::from_utf8(bytes).ok());
    provenance::check(path, before, after)
        .inspect_err(|_| seen.refuse(format!("a person's verification in {path}")))?;
    let signed = provenance::sign(staged, path, before, after, now);
    let text = signed.as_deref().unwrap_or(after);
    staged.write(path, text.as_bytes()).map_err(|e| e.to_string())?;
    seen.note(path, text.as_bytes(), text.split_inclusive('\n').count(), None);
    seen.wrote(path);
    let mut notes = String::new();
    if signed.is_some() {
        notes.push_str(" The field `generated` was set by the workbench.");
    }
    if changes_computation(path, before, Some(text)) {
        notes.push_str(" It changes what is computed, executed or attested; the person is told so.");
    }
    Ok(notes)
}

pub fn edit_file(
    staged: &Staged,
    seen: &Ledger,
    arguments: &Arguments,
    now: Timestamp,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    let wanted = replacement(arguments)?;
    Ok(original(staged, seen, &path).and_then(|text| {
        let edited = edit::replace(&text, &wanted).map_err(|problem| format!("{path}: {problem}"))?;
        let notes = stage(staged, seen, &path, Some(text.as_bytes()), &edited.text, now)?;
        Ok(format!("Staged: {path} edited{}. It waits for review.{notes}", told(&edited)))
    }))
}

pub fn multi_edit(
    staged: &Staged,
    seen: &Ledger,
    arguments: &Arguments,
    now: Timestamp,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    let edits = arguments.objects("edits")?;
    if edits.is_empty() {
        return Err("`edits` is empty; name what to replace.".to_owned());
    }
    let in_edit = |at: usize, problem: String| format!("edits[{at}]: {problem}");
    let wanted: Vec<Replacement<'_>> = edits
        .iter()
        .enumerate()
        .map(|(at, edit)| replacement(edit).map_err(|problem| in_edit(at, problem)))
        .collect::<Result<_, _>>()?;
    Ok(original(staged, seen, &path).and_then(|before| {
        let mut text = before.clone();
        let mut rows = Vec::new();
        for (at, wanted) in wanted.iter().enumerate() {
            let edited = edit::replace(&text, wanted).map_err(|problem| {
                format!("{path}: edit {} of {}: {problem} None of the edits was staged.", at + 1, edits.len())
            })?;
            rows.push(format!("edit {}{}", at + 1, told(&edited)));
            text = edited.text;
        }
        if text == before {
            return Err(format!("{path}: the edits undo each other; nothing was changed."));
        }
        let notes = stage(staged, seen, &path, Some(before.as_bytes()), &text, now)?;
        Ok(format!("Staged: {path} edited ({}). It waits for review.{notes}", rows.join("; ")))
    }))
}

fn replacement(arguments: &Arguments) -> Result<Replacement<'_>, String> {
    Ok(Replacement {
        old: arguments.text("old_string")?,
        new: arguments.text("new_string")?,
        all: arguments.flag("replace_all")?,
        line: arguments.count("line")?.filter(|line| *line > 0),
    })
}

/// ` 2 times at lines 3-9`, and what was forgiven.
fn told(edited: &Edited) -> String {
    let (first, last) = edited.lines;
    let place = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
    let times = if edited.count > 1 { format!(" {} times", edited.count) } else { String::new() };
    let ways: Vec<&str> = edited.lenient.iter().copied().map(Leniency::as_str).collect();
    let ways = if ways.is_empty() {
        String::new()
    } else {
        format!(" (old_string differed there in: {})", ways.join(", "))
    };
    format!("{times} at {place}{ways}")
}

/// The text that an edit starts from, when it may.
fn original(staged: &Staged, seen: &Ledger, path: &BundlePath) -> Result<String, String> {
    may_write(staged, seen, path)?;
    let text = staged.read(path).map_err(|error| match error.kind {
        ErrorKind::NotFound => format!("{path}: no such file. Use write_file to propose a new one."),
        _ => error.to_string(),
    })?;
    check_seen(seen, path, text.as_bytes())?;
    Ok(text)
}

pub fn delete(
    staged: &Staged,
    seen: &Ledger,
    arguments: &Arguments,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    Ok(remove(staged, seen, &path))
}

fn remove(staged: &Staged, seen: &Ledger, path: &BundlePath) -> Result<String, String> {
    may_write(staged, seen, path)?;
    let before = staged.read_bytes(path).map_err(|error| match error.kind {
        ErrorKind::IsDirectory => format!("{path} is a folder; delete its files one by one."),
        _ => error.to_string(),
    })?;
    check_seen(seen, path, &before)?;
    staged.delete(path).map_err(|e| e.to_string())?;
    seen.wrote(path);
    let flagged = changes_computation(path, std::str::from_utf8(&before).ok(), None);
    let note = if flagged { " It takes a computation away; the person is told so." } else { "" };
    Ok(format!("Staged: {path} deleted. It waits for review.{note}"))
}

/// Whether the rules allow a write there; a refusal is kept for the person.
pub fn may_write(staged: &Staged, seen: &Ledger, path: &BundlePath) -> Result<(), String> {
    let checked = staged.rules().check(Operation::Write, path);
    checked.inspect_err(|_| seen.refuse(format!("write {path}"))).map_err(|e| e.to_string())
}

/// A change or deletion starts from what the model saw, or not at all: otherwise it would undo what it does not know of.
fn check_seen(seen: &Ledger, path: &BundlePath, now: &[u8]) -> Result<(), String> {
    match seen.hash(path) {
        None => Err(format!("Read {path} with read_file before you change it.")),
        Some(hash) if hash != ContentHash::of(now) => {
            Err(format!("{path} has changed since you read it. Read it again, then repeat the change."))
        }
        Some(_) => Ok(()),
    }
}
