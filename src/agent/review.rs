//! Telling the model what became of its proposals: exactly what landed, what was refused, and each reason.

use crate::bundle::apply::Applied;
use crate::okf::BundlePath;

/// The note for the model, and whether it should answer it (something was rejected or failed for good). `merged` names the
/// files of which the proposal was merged with what somebody changed in the meantime. None when nothing was decided.
pub fn note(applied: &Applied, merged: &[BundlePath]) -> Option<(String, bool)> {
    if applied.landed.is_empty() && applied.rejected.is_empty() && applied.failed.is_empty() {
        return None;
    }
    let mut lines = vec!["[Outcome of the review of your staged changes]".to_owned()];
    if !applied.landed.is_empty() {
        lines.push("Approved and written to the bundle:".to_owned());
        lines.extend(applied.landed.iter().map(|path| format!("- {path}")));
    }
    if !applied.rejected.is_empty() {
        lines.push("Rejected by the person and not written:".to_owned());
        lines.extend(applied.rejected.iter().map(|(path, reason)| match reason.trim() {
            "" => format!("- {path} (no reason given; do not propose the same again unless asked)"),
            reason => format!("- {path}: {reason}"),
        }));
    }
    if !applied.failed.is_empty() {
        lines.push("Approved, but could not be written:".to_owned());
        lines.extend(applied.failed.iter().map(|(path, error)| format!("- {path}: {}", error.message)));
    }
    if !applied.pending.is_empty() {
        lines.push("Not decided yet:".to_owned());
        lines.extend(applied.pending.iter().map(|path| format!("- {path}")));
    }
    if !merged.is_empty() {
        lines.push("Changed by the person in the meantime; your proposal was merged with it and is shown to them again:".to_owned());
        lines.extend(merged.iter().map(|path| format!("- {path}")));
    }
    // A set that waits for a merged file to be looked at again is nothing for the model to answer.
    let answer = !applied.rejected.is_empty() || (!applied.failed.is_empty() && merged.is_empty());
    if answer {
        lines.push(
            "Take the reasons to heart; read a file again before you change it. What landed stays."
                .to_owned(),
        );
    }
    Some((lines.join("\n"), answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Error, ErrorKind};

    fn path(text: &str) -> BundlePath {
        BundlePath::parse(text).unwrap()
    }

    #[test]
    fn the_model_learns_what_landed_and_each_reason() {
        let applied = Applied {
            landed: vec![path("/wiki/a.md")],
            rejected: vec![(path("/wiki/b.md"), "too long".into()), (path("/wiki/c.md"), " ".into())],
            failed: vec![(
                path("/wiki/d.md"),
                Error::new(ErrorKind::Conflict, &path("/wiki/d.md"), "changed on disk"),
            )],
            pending: vec![path("/wiki/e.md")],
            notes: vec![],
        };
        let (note, answer) = note(&applied, &[]).unwrap();
        assert!(answer);
        for row in [
            "- /wiki/a.md",
            "- /wiki/b.md: too long",
            "- /wiki/c.md (no reason given",
            "- /wiki/d.md: changed on disk",
            "- /wiki/e.md",
        ] {
            assert!(note.contains(row), "{row} in {note}");
        }
    }

    #[test]
    fn plain_approval_wants_no_answer_and_no_decision_no_note() {
        let applied = Applied { landed: vec![path("/a.md")], ..Applied::default() };
        assert!(!note(&applied, &[]).unwrap().1);
        let undecided = Applied { pending: vec![path("/a.md")], ..Applied::default() };
        assert_eq!(note(&undecided, &[]), None);
    }
}
