//! Telling the model what became of its proposals: exactly what landed, what was refused, and each reason.

use crate::bundle::apply::Applied;
use crate::bundle::hunk::{RejectedHunk, Resolved};
use crate::okf::BundlePath;

/// Longest quotation of a change, in characters.
const QUOTED: usize = 2_000;

/// The note for the model, and whether it should answer it (something was rejected or failed for good). `merged` names the
/// files of which the proposal was merged with what somebody changed in the meantime. None when nothing was decided.
pub fn note(resolved: &Resolved, applied: &Applied, merged: &[BundlePath]) -> Option<(String, bool)> {
    let failed = |path: &BundlePath| applied.failed.iter().any(|(at, _)| at == path);
    let rejected: Vec<_> = resolved.rejected.iter().filter(|r| !failed(&r.path)).collect();
    let replaced: Vec<_> = resolved.replaced.iter().filter(|(path, ..)| !failed(path)).collect();
    let all_rejected = applied.rejected.len() + rejected.len();
    if applied.landed.is_empty() && all_rejected == 0 && applied.failed.is_empty() && replaced.is_empty() {
        return None;
    }
    let mut lines = vec!["[Outcome of the review of your staged changes]".to_owned()];
    let mut section = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(title.to_owned());
            lines.extend(items);
        }
    };
    let landed = |path: &BundlePath| {
        let open = resolved.left.get(path).is_some_and(Option::is_some);
        let part = open || rejected.iter().any(|r| r.path == *path);
        format!("- {path}{}", if part { " (in part: without what is named below)" } else { "" })
    };
    section("Approved and written to the bundle:", applied.landed.iter().map(landed).collect());
    section(
        "Written with the person's own text in place of yours:",
        replaced
            .iter()
            .map(|(path, hunk, text)| match text.is_empty() {
                true => format!("- {path}, line {}: left out", hunk.old.start + 1),
                false => format!("- {path}, line {}:\n{}", hunk.old.start + 1, quoted(text)),
            })
            .collect(),
    );
    let why = |reason: &str| match reason.trim() {
        "" => " (no reason given; do not propose the same again unless asked)".to_owned(),
        reason => format!(": {reason}"),
    };
    let whole = applied.rejected.iter().map(|(path, reason)| format!("- {path}{}", why(reason)));
    let parts = rejected.iter().map(|RejectedHunk { path, hunk, reason }| {
        let change = if hunk.after.is_empty() { "your deletion of" } else { "your text" };
        let text = if hunk.after.is_empty() { &hunk.before } else { &hunk.after };
        format!("- {path}, line {}{}\n  {change}:\n{}", hunk.old.start + 1, why(reason), quoted(text))
    });
    section("Rejected by the person and not written:", whole.chain(parts).collect());
    section(
        "Approved, but could not be written:",
        applied.failed.iter().map(|(path, error)| format!("- {path}: {}", error.message)).collect(),
    );
    let put_off = resolved.left.iter().filter(|(path, left)| left.is_some() && !failed(path));
    let put_off = put_off.map(|(path, _)| format!("- {path} (in part)"));
    section(
        "Not decided yet, still staged:",
        applied.pending.iter().map(|path| format!("- {path}")).chain(put_off).collect(),
    );
    section(
        "Changed by the person in the meantime; your proposal was merged with it and is shown to them again:",
        merged.iter().map(|path| format!("- {path}")).collect(),
    );
    // A set that waits for a merged file to be looked at again is nothing for the model to answer.
    let answer = all_rejected > 0 || (!applied.failed.is_empty() && merged.is_empty());
    if answer {
        lines.push(
            "Take the reasons to heart; read a file again before you change it. What landed stays."
                .to_owned(),
        );
    }
    Some((lines.join("\n"), answer))
}

/// The note that the person turned an applied set: took it back, or brought it about again.
pub fn turned(applied: &Applied, back: bool) -> Option<String> {
    if applied.landed.is_empty() {
        return None;
    }
    let what = if back { "took back an applied set" } else { "brought an applied set about again" };
    let mut lines = vec![format!("[The person {what}; these files were written, read them again]")];
    lines.extend(applied.landed.iter().map(|path| format!("- {path}")));
    Some(lines.join("\n"))
}

/// Each line behind `  > `; of a long text the beginning.
fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push_str("\n… (the rest is left out here)");
    }
    shown.lines().map(|line| format!("  > {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::hunk::{FileDecision, HunkDecision, Verdicts, resolve};
    use crate::bundle::{ChangeKind, ChangeSet, Error, ErrorKind, FileChange};

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
        let (note, answer) = note(&Resolved::default(), &applied, &[]).unwrap();
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
        assert!(!note(&Resolved::default(), &applied, &[]).unwrap().1);
        let undecided = Applied { pending: vec![path("/a.md")], ..Applied::default() };
        assert_eq!(note(&Resolved::default(), &undecided, &[]), None);
    }

    #[test]
    fn t64_the_model_hears_of_each_change_what_landed_what_was_written_anew_and_why_not() {
        let file = FileChange {
            path: path("/wiki/a.md"),
            kind: ChangeKind::Modify,
            before: Some(b"a\nb\nc\nd\ne\n".as_slice().into()),
            after: Some(b"A\nb\nC\nd\nE\n".as_slice().into()),
        };
        let decided = [
            HunkDecision::Approved,
            HunkDecision::Rejected { reason: "not in the source".into() },
            HunkDecision::Replaced { text: "mine\n".into() },
        ];
        let hunks = file.hunks().iter().map(|h| h.id).zip(decided).collect();
        let verdict = FileDecision::Hunks { shown: file.shown(), hunks };
        let set = ChangeSet { id: 1, files: vec![file] };
        let resolved = resolve(&set, &Verdicts::from([(path("/wiki/a.md"), verdict)]));
        let applied = Applied { landed: vec![path("/wiki/a.md")], ..Applied::default() };
        let (text, answer) = note(&resolved, &applied, &[]).unwrap();
        assert!(answer);
        for row in [
            "- /wiki/a.md (in part: without what is named below)",
            "- /wiki/a.md, line 5:\n  > mine",
            "- /wiki/a.md, line 3: not in the source\n  your text:\n  > C",
        ] {
            assert!(text.contains(row), "{row} in {text}");
        }
        let error = Error::new(ErrorKind::Conflict, &path("/wiki/a.md"), "changed on disk");
        let failed = Applied { failed: vec![(path("/wiki/a.md"), error)], ..Applied::default() };
        let (text, _) = note(&resolved, &failed, &[]).unwrap();
        assert!(!text.contains("Rejected") && !text.contains("mine"), "nothing of it was done: {text}");
    }
}
