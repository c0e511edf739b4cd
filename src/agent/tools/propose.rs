//! Tools that propose: `write_file`, `edit_file`, `delete`. They reach only the staged overlay, whose rules they cannot
//! talk past, and every result says that the change is staged.

use super::arguments::Arguments;
use super::{Seen, edit};
use crate::bundle::{ErrorKind, Operation, Read, Staged, Write};
use crate::okf::{BundlePath, ContentHash};

pub fn write_file(
    staged: &Staged,
    seen: &Seen,
    arguments: &Arguments,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    let content = arguments.text("content")?;
    Ok(write(staged, seen, &path, content))
}

fn write(staged: &Staged, seen: &Seen, path: &BundlePath, content: &str) -> Result<String, String> {
    // What is forbidden is said before the advice to read, which would be of no use.
    staged.rules().check(Operation::Write, path).map_err(|e| e.to_string())?;
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
    staged.write(path, content.as_bytes()).map_err(|e| e.to_string())?;
    seen.note(path, content.as_bytes());
    let lines = content.lines().count();
    Ok(match before {
        None => format!("Staged: new file {path} ({lines} lines). It waits for review."),
        Some(_) => format!("Staged: {path} replaced as a whole ({lines} lines). It waits for review."),
    })
}

pub fn edit_file(
    staged: &Staged,
    seen: &Seen,
    arguments: &Arguments,
) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    let (old, new) = (arguments.text("old_string")?, arguments.text("new_string")?);
    let all = arguments.flag("replace_all")?;
    if let Err(error) = staged.rules().check(Operation::Write, &path) {
        return Ok(Err(error.to_string()));
    }
    let text = match staged.read(&path) {
        Ok(text) => text,
        Err(error) if error.kind == ErrorKind::NotFound => {
            return Ok(Err(format!("{path}: no such file. Use write_file to propose a new one.")));
        }
        Err(error) => return Ok(Err(error.to_string())),
    };
    Ok(check_seen(seen, &path, text.as_bytes()).and_then(|()| {
        let edited = edit::replace(&text, old, new, all).map_err(|problem| format!("{path}: {problem}"))?;
        staged.write(&path, edited.text.as_bytes()).map_err(|e| e.to_string())?;
        seen.note(&path, edited.text.as_bytes());
        let (first, last) = edited.lines;
        let place = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        let times = if edited.count > 1 { format!(" {} times", edited.count) } else { String::new() };
        Ok(format!("Staged: {path} edited{times} at {place}. It waits for review."))
    }))
}

pub fn delete(staged: &Staged, arguments: &Arguments) -> Result<Result<String, String>, String> {
    let path = arguments.path("file_path")?;
    Ok(match staged.delete(&path) {
        Ok(()) => Ok(format!("Staged: {path} deleted. It waits for review.")),
        Err(error) if error.kind == ErrorKind::IsDirectory => {
            Err(format!("{path} is a folder; delete its files one by one."))
        }
        Err(error) => Err(error.to_string()),
    })
}

/// An edit starts from what the model saw, or not at all: otherwise it would undo what it does not know of.
fn check_seen(seen: &Seen, path: &BundlePath, now: &[u8]) -> Result<(), String> {
    match seen.get(path) {
        None => Err(format!("Read {path} with read_file before you change it.")),
        Some(hash) if hash != ContentHash::of(now) => {
            Err(format!("{path} has changed since you read it. Read it again, then repeat the change."))
        }
        Some(_) => Ok(()),
    }
}
