//! Applying decided changes: the only code that writes to a bundle on behalf of anybody.
//!
//! A file is written when its decision approves exactly what the change set holds and the file on disk is still what
//! the change started from. Each file lands by temporary file, fsync, rename, fsync of the folder.

use super::change::{ChangeKind, ChangeSet, Decision, Decisions, FileChange};
use super::error::{Error, ErrorKind};
use super::storage::Write;
use crate::okf::{BundlePath, ContentHash};

#[cfg(test)]
mod tests;

/// What happened to each decided file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// In the order in which they were written.
    pub landed: Vec<BundlePath>,
    pub rejected: Vec<(BundlePath, String)>,
    /// Approved but refused: changed on disk since, or shown something else, or the system said no.
    pub failed: Vec<(BundlePath, Error)>,
    /// No decision yet.
    pub pending: Vec<BundlePath>,
    /// Sentences about the set as a whole: what was committed, or why it was not.
    pub notes: Vec<String>,
}

/// Writes the approved files of `changes` to `target`. Never partial within a file; what becomes of one file does not
/// depend on the others. Deletions come last, so that a failure on the way leaves more rather than less. A folder of this
/// machine is better written through [`super::Ledger::apply`], which writes all or nothing.
pub fn apply(target: &dyn Write, changes: &ChangeSet, decisions: &Decisions) -> Applied {
    let (approved, mut applied) = sort(changes, decisions);
    let (deletions, writes): (Vec<_>, Vec<_>) =
        approved.into_iter().partition(|f| f.kind == ChangeKind::Delete);
    for file in writes.into_iter().chain(deletions) {
        match land(target, file) {
            Ok(()) => applied.landed.push(file.path.clone()),
            Err(e) => applied.failed.push((file.path.clone(), e)),
        }
    }
    applied.failed.sort_by(|a, b| a.0.cmp(&b.0));
    applied
}

/// The files that may land, and what is said of the others.
pub(super) fn sort<'a>(changes: &'a ChangeSet, decisions: &Decisions) -> (Vec<&'a FileChange>, Applied) {
    let mut applied = Applied::default();
    let mut approved = Vec::new();
    for file in &changes.files {
        match decisions.get(&file.path) {
            None | Some(Decision::Pending) => applied.pending.push(file.path.clone()),
            Some(Decision::Rejected { reason }) => applied.rejected.push((file.path.clone(), reason.clone())),
            Some(Decision::Approved { shown }) if *shown == file.shown() => approved.push(file),
            Some(Decision::Approved { .. }) => {
                applied.failed.push((file.path.clone(), not_shown(&file.path)))
            }
        }
    }
    // Somebody approved a change that is not there any more: say so instead of dropping it.
    for (path, decision) in decisions {
        if matches!(decision, Decision::Approved { .. }) && changes.file(path).is_none() {
            applied.failed.push((path.clone(), not_staged(path)));
        }
    }
    (approved, applied)
}

fn land(target: &dyn Write, file: &FileChange) -> Result<(), Error> {
    match (&file.kind, &file.before, &file.after) {
        (ChangeKind::Create, None, Some(after)) => target.replace(&file.path, None, after),
        (ChangeKind::Modify, Some(_), Some(after)) => target.replace(&file.path, file.base(), after),
        (ChangeKind::Delete, Some(before), None) => target.remove(&file.path, ContentHash::of(before)),
        (ChangeKind::Rename { from }, Some(before), Some(after)) => {
            let base = ContentHash::of(before);
            target.expect(from, Some(base))?;
            target.replace(&file.path, None, after)?;
            target.remove(from, base).inspect_err(|_| {
                // The old file stays, so the new one must not: what fails changes nothing.
                let _ = target.remove(&file.path, ContentHash::of(after));
            })
        }
        _ => Err(incomplete(&file.path)),
    }
}

pub(super) fn incomplete(path: &BundlePath) -> Error {
    Error::new(
        ErrorKind::Invalid,
        path,
        "the change does not say what the file was and becomes; propose it again",
    )
}

fn not_shown(path: &BundlePath) -> Error {
    Error::new(
        ErrorKind::Conflict,
        path,
        "the proposal is not what was approved any more; look at it again and decide anew",
    )
}

fn not_staged(path: &BundlePath) -> Error {
    Error::new(
        ErrorKind::NotFound,
        path,
        "no change of this file is staged any more; there is nothing to apply",
    )
}
