//! A proposal whose file changed on disk in the meantime: three texts become one where the changes do not meet
//! (invariant I5). Content decides, never times. Pure.

use std::sync::Arc;

use similar::TextMerge;

use super::change::{ChangeKind, FileChange};

#[cfg(test)]
mod tests;

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    /// The file is what the proposal started from.
    Unchanged,
    /// The file already is what was proposed.
    Done,
    /// Both sets of changes fit: a new proposal over the file as it is, to be looked at anew.
    Merged(FileChange),
    /// They do not, and a person must say which is meant.
    Conflict(Vec<Conflict>),
}

/// A place where both sides changed the same lines; or the file as a whole when one side deleted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The text before, as the proposal has it, and as the file now has it; none where the file does not exist.
    pub base: Option<String>,
    pub proposed: Option<String>,
    pub now: Option<String>,
}

/// Holds `change` against the file as it is `now`.
pub fn rebase(change: &FileChange, now: Option<&[u8]>) -> Rebased {
    if change.before.as_deref() == now {
        return Rebased::Unchanged;
    }
    if change.after.as_deref() == now {
        return Rebased::Done;
    }
    let text = |bytes: Option<&[u8]>| bytes.map(|b| String::from_utf8_lossy(b).into_owned());
    let whole = || {
        Rebased::Conflict(vec![Conflict {
            base: text(change.before.as_deref()),
            proposed: text(change.after.as_deref()),
            now: text(now),
        }])
    };
    let (Ok((before, Some(after))), Some(now)) = (change.texts(), now) else { return whole() };
    let Ok(now_text) = std::str::from_utf8(now) else { return whole() };
    if matches!(change.kind, ChangeKind::Rename { .. }) {
        // The file that stands at the new path is not the one that was moved.
        return whole();
    }
    let before = before.unwrap_or_default();
    let merge = TextMerge::from_lines(before, after, now_text);
    if merge.is_conflicted() {
        let lines = |text: &str, range: std::ops::Range<usize>| {
            Some(text.split_inclusive('\n').skip(range.start).take(range.len()).collect::<String>())
        };
        let conflicts = merge.conflicts().map(|region| Conflict {
            base: lines(before, region.base_range()),
            proposed: lines(after, region.ours_range()),
            now: lines(now_text, region.theirs_range()),
        });
        return Rebased::Conflict(conflicts.collect());
    }
    let mut merged = Vec::new();
    if merge.to_writer(&mut merged).is_err() {
        return whole();
    }
    if merged == now {
        return Rebased::Done;
    }
    Rebased::Merged(FileChange {
        path: change.path.clone(),
        kind: ChangeKind::Modify,
        before: Some(Arc::from(now)),
        after: Some(Arc::from(merged)),
    })
}

/// The text of `change` over the file as it is `now`, where [`rebase`] finds a conflict: both sides' changes are kept where
/// they do not meet, and the proposal stands where they do, so that the difference shows what of the file it takes away.
pub fn over(change: &FileChange, now: Option<&[u8]>) -> Option<Arc<[u8]>> {
    merged_over(change, now).or_else(|| change.after.clone())
}

fn merged_over(change: &FileChange, now: Option<&[u8]>) -> Option<Arc<[u8]>> {
    let (before, Some(after)) = change.texts().ok()? else { return None };
    let (before, now) = (before.unwrap_or_default(), std::str::from_utf8(now?).ok()?);
    let merge = TextMerge::from_lines(before, after, now);
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        (after.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
    // With the proposal in the places where they meet, the two sides agree there.
    let mut agreed = String::new();
    let mut at = 0;
    for region in merge.conflicts() {
        agreed.extend(theirs.get(at..region.theirs_range().start)?.iter().copied());
        agreed.extend(ours.get(region.ours_range())?.iter().copied());
        at = region.theirs_range().end;
    }
    agreed.extend(theirs.get(at..)?.iter().copied());
    let merge = TextMerge::from_lines(before, after, &agreed);
    let mut merged = Vec::new();
    let whole = !merge.is_conflicted() && merge.to_writer(&mut merged).is_ok();
    whole.then(|| Arc::from(merged))
}
