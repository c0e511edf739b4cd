//! The review: opening, walking, deciding, applying. A decision repeats the hash of what was shown; nothing here
//! writes.

use std::sync::Arc;

use super::{keys, tree};
use crate::agent::{AgentCommand, Role};
use crate::bundle::apply::Applied;
use crate::bundle::{ChangeKind, ChangeSet, Decision};
use crate::okf::{BundlePath, ContentHash};
use crate::text::Safe;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Opening};
use crate::tui::event::Diff;
use crate::tui::state::layout::{diff_text, review as review_regions};
use crate::tui::state::review::{Mending, Review, ReviewFile, Summary, Verdict, Weighed};
use crate::tui::state::{About, Overlay, Pane, Question, State};

/// Ctrl-R and the like.
pub fn open(state: &mut State, opening: Opening) -> Vec<Effect> {
    if state.staged.is_empty() {
        state.say("Nothing is staged.");
        return Vec::new();
    }
    if state.review.as_ref().is_some_and(|r| r.changes == state.staged) {
        show(state, opening);
        return Vec::new();
    }
    vec![Effect::Weigh { changes: state.staged.clone(), open: Some(opening) }]
}

/// Opens at one file.
pub fn open_at(state: &mut State, path: &BundlePath, opening: Opening) -> Vec<Effect> {
    let effects = open(state, opening);
    if let Some(review) = &mut state.review
        && let Some(index) = review.files.iter().position(|f| f.weighed.path == *path)
    {
        review.selected = index;
    }
    effects
}

fn show(state: &mut State, opening: Opening) {
    if state.overlays.iter().any(|o| matches!(o, Overlay::Review)) {
        return;
    }
    // Somebody who writes or answers is not interrupted.
    let busy = !state.overlays.is_empty() || (state.focus == Pane::Chat && !state.chat().composer.is_empty());
    if opening == Opening::Arrived && busy {
        waiting_notice(state);
        return;
    }
    if let Some(review) = &mut state.review {
        review.armed = opening == Opening::Called;
        state.overlays.push(Overlay::Review);
    }
}

pub fn waiting_notice(state: &mut State) {
    let count = state.staged.files.len();
    let what = if count == 1 {
        "1 proposed change waits".to_owned()
    } else {
        format!("{count} proposed changes wait")
    };
    let key = state.fixed.keymap.hint(crate::tui::keymap::Layer::Global, Action::Review).unwrap_or_default();
    state.say(format!("{what} for review: {key}"));
}

/// Counts and hashes of the set arrived.
pub fn weighed(
    state: &mut State,
    changes: Arc<ChangeSet>,
    files: Vec<Weighed>,
    open: Option<Opening>,
) -> Vec<Effect> {
    // A newer set is on its way.
    if *changes != *state.staged {
        return Vec::new();
    }
    let review = Review::new(changes.clone(), files, state.review.as_ref());
    let shown = state.overlays.iter().any(|o| matches!(o, Overlay::Review));
    let armed = shown && state.review.as_ref().is_some_and(|r| r.armed);
    state.review = Some(Review { armed, ..review });
    if let Some(opening) = open {
        show(state, opening);
    }
    judge(state)
}

/// The fix of a finding goes through the same review as what the manager proposes.
pub fn mended(state: &mut State, fix: Result<Arc<ChangeSet>, String>) -> Vec<Effect> {
    let changes = match fix {
        Ok(changes) => changes,
        Err(why) => {
            state.say(Safe::line(&why).into_string());
            return Vec::new();
        }
    };
    if !state.staged.is_empty() {
        waiting_notice(state);
        return Vec::new();
    }
    state.mending = Some(Mending::default());
    state.review = None;
    state.staged = changes;
    tree::rebuild(state);
    open(state, Opening::Called)
}

/// The fix was written or put aside; what the manager proposed meanwhile comes to its own.
fn end_mending(state: &mut State) -> Vec<Effect> {
    let Some(mending) = state.mending.take() else { return Vec::new() };
    state.staged = Arc::default();
    state.review = None;
    tree::rebuild(state);
    match mending.waiting {
        Some((changes, opening)) => super::agent::staged(state, changes, opening),
        None => Vec::new(),
    }
}

/// Has the forecast judged.
fn judge(state: &State) -> Vec<Effect> {
    match (&state.review, &state.wiki, &state.report) {
        (Some(review), Some(wiki), Some(report)) => {
            let changes = review.forecast.clone();
            vec![Effect::Judge { changes, wiki: wiki.clone(), report: report.clone() }]
        }
        _ => Vec::new(),
    }
}

/// After a decision: the forecast follows it.
fn foresee(state: &mut State) -> Vec<Effect> {
    if state.review.as_mut().is_some_and(Review::foresee) { judge(state) } else { Vec::new() }
}

pub fn drawn(state: &mut State, shown: ContentHash, width: u16, diff: Diff) {
    if let Some(review) = &mut state.review {
        for file in review.files.iter_mut().filter(|f| f.weighed.shown == shown) {
            file.diff = Some((width, diff.clone()));
        }
        review.asked.retain(|(asked, _)| *asked != shown);
    }
}

pub fn judged(state: &mut State, changes: &Arc<ChangeSet>, verdict: Verdict) {
    if let Some(review) = &mut state.review
        && Arc::ptr_eq(&review.forecast, changes)
    {
        review.verdict = Some(verdict);
    }
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let height = usize::from(diff_text(review_regions(state).diff).height).max(1);
    let Some(review) = &mut state.review else {
        return super::overlay::close(state);
    };
    let count = review.files.len();
    match action {
        Action::Close => {
            super::overlay::close(state);
            if state.mending.is_some() {
                state.say("The fix was not made.");
                return end_mending(state);
            }
            waiting_notice(state);
        }
        Action::FileNext => review.selected = (review.selected + 1).min(count.saturating_sub(1)),
        Action::FilePrevious => review.selected = review.selected.saturating_sub(1),
        Action::HunkNext => hunk(review, true, height),
        Action::HunkPrevious => hunk(review, false, height),
        Action::Approve => {
            approve(state);
            return foresee(state);
        }
        Action::Reject => ask_reason(state),
        Action::Undecide => {
            if !review.undecide() {
                state.say("No decision to take back.");
            }
            return foresee(state);
        }
        Action::ApproveAll => ask_all(state),
        Action::Apply => return apply(state),
        Action::Problems => keys::open_problems(state),
        action => {
            if let Some(file) = review.file_mut() {
                let last = file.diff.as_ref().map_or(0, |(_, d)| d.lines.len()).saturating_sub(height);
                let step = match action {
                    Action::Up => -1,
                    Action::Down => 1,
                    Action::PageUp => -isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1),
                    Action::PageDown => isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1),
                    Action::Top => isize::MIN / 2,
                    Action::Bottom => isize::MAX / 2,
                    _ => 0,
                };
                file.top = file.top.saturating_add_signed(step).min(last);
            }
        }
    }
    Vec::new()
}

/// The next change, on the next file when this one has no more.
fn hunk(review: &mut Review, forward: bool, height: usize) {
    let count = review.files.len();
    let Some(file) = review.file_mut() else { return };
    let Some((_, diff)) = &file.diff else { return };
    let last = diff.lines.len().saturating_sub(height);
    let top = file.top;
    let found = if forward {
        diff.hunks.iter().copied().find(|h| *h > top && top < last)
    } else {
        diff.hunks.iter().rev().copied().find(|h| *h < top)
    };
    match found {
        Some(row) => file.top = row.min(last),
        None if forward && review.selected + 1 < count => review.selected += 1,
        None if !forward && review.selected > 0 => review.selected -= 1,
        None => {}
    }
}

fn approve(state: &mut State) {
    let Some(review) = &mut state.review else { return };
    let Some(file) = review.file_mut() else { return };
    // What is approved is what was on screen, so it must have been there.
    if file.diff.is_none() {
        state.say("The change is still being drawn; look at it first.");
        return;
    }
    let shown = file.weighed.shown;
    review.decide(Decision::Approved { shown });
    review.next_undecided();
}

fn ask_reason(state: &mut State) {
    if let Some(file) = state.review.as_ref().and_then(Review::file) {
        let before = match &file.decision {
            Decision::Rejected { reason } => reason.clone(),
            _ => String::new(),
        };
        state.overlays.push(Overlay::Reason(crate::tui::state::composer::Line { text: before }));
    }
}

pub fn reject(state: &mut State, reason: String) -> Vec<Effect> {
    if let Some(review) = &mut state.review {
        review.decide(Decision::Rejected { reason });
        review.next_undecided();
    }
    foresee(state)
}

fn ask_all(state: &mut State) {
    let Some(review) = &state.review else { return };
    let pending: Vec<_> =
        review.files.iter().filter(|f| !matches!(f.decision, Decision::Rejected { .. })).collect();
    let of = |test: fn(&ChangeKind) -> bool| pending.iter().filter(|f| test(&f.kind)).count();
    let counts = [
        (of(|k| matches!(k, ChangeKind::Create)), "created"),
        (of(|k| matches!(k, ChangeKind::Modify)), "modified"),
        (of(|k| matches!(k, ChangeKind::Rename { .. })), "renamed"),
        (of(|k| matches!(k, ChangeKind::Delete)), "deleted"),
    ];
    let kinds: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let hunks: usize = pending.iter().map(|f| f.weighed.hunks).sum();
    let added: usize = pending.iter().map(|f| f.weighed.added).sum();
    let removed: usize = pending.iter().map(|f| f.weighed.removed).sum();
    let rejected = review.files.len() - pending.len();
    let mut text = vec![
        format!("Approve all {} files and write them now?", pending.len()),
        format!("{} · {hunks} hunks, +{added} −{removed} lines", kinds.join(", ")),
    ];
    if rejected > 0 {
        text.push(format!(
            "{rejected} rejected {} not written.",
            if rejected == 1 { "file is" } else { "files are" }
        ));
    }
    let wiki = state.keeps_pages_in_wiki();
    let odd =
        |f: &&&ReviewFile| review.changes.file(&f.weighed.path).is_some_and(|f| f.oddity(wiki).is_some());
    match pending.iter().filter(odd).count() {
        0 => {}
        1 => text.push("1 file is marked with ! and should be looked at.".to_owned()),
        odd => text.push(format!("{odd} files are marked with ! and should be looked at.")),
    }
    match &review.verdict {
        Some(Verdict { counts, appeared, .. }) if !appeared.is_empty() => text.push(format!(
            "Then: {} errors, {} warnings; {} findings are new.",
            counts.errors,
            counts.warnings,
            appeared.len()
        )),
        Some(_) => {}
        None => text.push("The result is still being judged.".to_owned()),
    }
    text.push(String::new());
    text.push("y  yes    n  no".to_owned());
    state.overlays.push(Overlay::Confirm(Question { text, about: About::ApproveAll }));
}

/// After the question with the counts: approves what is not rejected, and writes.
pub fn approve_all(state: &mut State) -> Vec<Effect> {
    if let Some(review) = &mut state.review {
        for file in &mut review.files {
            if !matches!(file.decision, Decision::Rejected { .. }) {
                file.decision = Decision::Approved { shown: file.weighed.shown };
            }
        }
    }
    apply(state)
}

fn apply(state: &mut State) -> Vec<Effect> {
    let Some(review) = &mut state.review else { return Vec::new() };
    let decisions = review.decisions();
    if review.applying {
        state.say("Still writing.");
        return Vec::new();
    }
    if decisions.is_empty() {
        state.say("Nothing is decided yet: y approves a file, x rejects it, A approves all.");
        return Vec::new();
    }
    review.applying = true;
    vec![Effect::Apply { changes: review.changes.clone(), decisions, mends: state.mending.is_some() }]
}

/// What was written, refused and rejected: on screen, and to the manager.
pub fn applied(state: &mut State, changes: &ChangeSet, applied: Applied) -> Vec<Effect> {
    let name = |p: &BundlePath| Safe::line(p.relative()).into_string();
    let summary = Summary {
        landed: applied
            .landed
            .iter()
            .filter_map(|path| changes.file(path))
            .map(|file| Safe::line(&file.done()).into_string())
            .collect(),
        rejected: applied
            .rejected
            .iter()
            .map(|(p, reason)| (name(p), Safe::line(reason).into_string()))
            .collect(),
        failed: applied.failed.iter().map(|(_, e)| Safe::line(&e.to_string()).into_string()).collect(),
        pending: applied.pending.len(),
        notes: applied.notes.iter().map(|note| Safe::line(note).into_string()).collect(),
    };
    let settled = |p: &BundlePath| {
        applied.landed.contains(p) || applied.rejected.iter().any(|(rejected, _)| rejected == p)
    };
    let mut touched = Vec::new();
    for file in &state.staged.files {
        if applied.landed.contains(&file.path) {
            touched.push(file.path.clone());
            if let ChangeKind::Rename { from } = &file.kind {
                touched.push(from.clone());
            }
        }
    }
    let left = ChangeSet {
        id: state.staged.id,
        files: state.staged.files.iter().filter(|f| !settled(&f.path)).cloned().collect(),
    };
    state.staged = Arc::new(left);
    tree::rebuild(state);
    state.overlays.clear();
    state.overlays.push(Overlay::Summary { summary, top: 0 });
    let mut effects = vec![Effect::Refresh(touched)];
    if state.mending.is_some() {
        effects.extend(end_mending(state));
        return effects;
    }
    match &mut state.review {
        Some(review) if !state.staged.is_empty() => {
            review.applying = false;
            review.changes = state.staged.clone();
            review.files.retain(|f| !settled(&f.weighed.path));
            // An approval that failed does not stand for the next try.
            for file in &mut review.files {
                if applied.failed.iter().any(|(p, _)| *p == file.weighed.path) {
                    file.decision = Decision::Pending;
                    file.stale = true;
                }
            }
            review.selected = review.selected.min(review.files.len().saturating_sub(1));
            review.verdict = None;
            review.foresee();
        }
        _ => state.review = None,
    }
    effects.push(Effect::Agent(Role::Manager, AgentCommand::Reviewed { changes: changes.clone(), applied }));
    effects
}

pub fn nothing_left(state: &mut State) {
    state.review = None;
    state.overlays.retain(|o| !matches!(o, Overlay::Review | Overlay::Reason(_)));
}
