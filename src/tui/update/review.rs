//! The review: opening, walking, deciding hunk by hunk, applying. A decision repeats the hash of what was shown; nothing
//! here writes.

use std::sync::Arc;
use std::time::Duration;

use ratatui::text::Line;

use super::{keys, overlay, tree};
use crate::agent::{AgentCommand, Carried, Moved, Role};
use crate::bundle::apply::Applied;
use crate::bundle::hunk::Resolved;
use crate::bundle::hunk::bonds::Bond;
use crate::bundle::{ChangeKind, ChangeSet, ErrorKind, waiting};
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Opening};
use crate::tui::event::Diff;
use crate::tui::state::composer::Line as Field;
use crate::tui::state::edit::{Editing, Place, like};
use crate::tui::state::layout::{self, diff_text, review as review_regions};
use crate::tui::state::review::{DiffKey, Mark, Mending, Review, ReviewFile, Summary, Verdict, Weighed};
use crate::tui::state::{About, Body, Overlay, Pane, Question, Sheet, State};

/// Who typed so short a time ago may go on typing.
const STILL_WRITING: Duration = Duration::from_secs(1);

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
        review.select(index);
    }
    effects
}

fn show(state: &mut State, opening: Opening) {
    if state.overlays.iter().any(|o| matches!(o, Overlay::Review)) {
        return;
    }
    // Somebody who writes or answers is not interrupted, nor is who took back just now what they wrote.
    let writes = state.focus == Pane::Chat
        && (!state.chat().composer.is_empty()
            || state.typed.is_some_and(|at| state.clock.saturating_sub(at) < STILL_WRITING));
    let busy = !state.overlays.is_empty() || writes;
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
    let what = waiting(state.staged.files.len());
    let key = state.fixed.keymap.hint(crate::tui::keymap::Layer::Global, Action::Review).unwrap_or_default();
    state.say(format!("{what} for review: {key} opens it."));
}

/// Counts and hashes of the set arrived.
pub fn weighed(
    state: &mut State,
    changes: Arc<ChangeSet>,
    files: Vec<Weighed>,
    bonds: Vec<Bond>,
    open: Option<Opening>,
) -> Vec<Effect> {
    // A newer set is on its way.
    if *changes != *state.staged {
        return Vec::new();
    }
    let shown = state.overlays.iter().any(|o| matches!(o, Overlay::Review));
    let armed = shown && state.review.as_ref().is_some_and(|r| r.armed);
    let mut review = Review::new(changes, files, bonds, state.review.take());
    review.armed = armed;
    state.review = Some(review);
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
        (Some(review), Some(wiki), Some(report)) => vec![Effect::Judge {
            changes: review.changes.clone(),
            verdicts: review.forecast.clone(),
            generation: review.generation,
            wiki: wiki.clone(),
            report: report.clone(),
        }],
        _ => Vec::new(),
    }
}

/// After a decision: the forecast follows it, and what it tears apart is said.
fn foresee(state: &mut State) -> Vec<Effect> {
    let Some(review) = &mut state.review else { return Vec::new() };
    let before = std::mem::take(&mut review.torn);
    if !review.foresee() {
        review.torn = before;
        return Vec::new();
    }
    if let Some(torn) = review.torn.iter().find(|text| !before.contains(text)).cloned() {
        state.complain(torn);
    }
    judge(state)
}

pub fn drawn(state: &mut State, key: DiffKey, diff: Diff) {
    let Some(review) = &mut state.review else { return };
    review.asked.retain(|asked| *asked != key);
    let selected = review.selected;
    for (at, file) in review.files.iter_mut().enumerate() {
        if file.weighed.shown == key.shown && file.edition == key.edition {
            // Rows are others now; after an edit they are about the same.
            let other = file.diff.as_ref().is_none_or(|(drawn, _)| drawn.look != key.look);
            review.reveal |= at == selected && other;
            file.diff = Some((key, diff.clone()));
        }
    }
}

pub fn judged(state: &mut State, generation: u64, verdict: Verdict) {
    if let Some(review) = &mut state.review
        && review.generation == generation
    {
        review.verdict = Some(verdict);
        review.judging = false;
    }
}

pub fn previewed(state: &mut State, at: &BundlePath, width: u16, lines: Vec<Line<'static>>) {
    for overlay in &mut state.overlays {
        if let Overlay::Sheet(Sheet { body: Body::Page { path, drawn, asked }, .. }) = overlay
            && path == at
        {
            *drawn = Some((width, lines.clone()));
            *asked = None;
        }
    }
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let height = usize::from(diff_text(review_regions(state).diff).height).max(1);
    let Some(review) = &mut state.review else {
        return overlay::close(state);
    };
    match action {
        Action::Close => {
            overlay::close(state);
            if state.mending.is_some() {
                state.say("The fix was not made.");
                return end_mending(state);
            }
            waiting_notice(state);
        }
        Action::FileNext => review.select(review.selected + 1),
        Action::FilePrevious => review.select(review.selected.saturating_sub(1)),
        Action::HunkNext => review.step(true),
        Action::HunkPrevious => review.step(false),
        Action::Approve => return decide(state, &Mark::Approved, false),
        Action::ApproveFile => return decide(state, &Mark::Approved, true),
        Action::PutOff => return decide(state, &Mark::PutOff, false),
        Action::Reject => ask_reason(state, false),
        Action::RejectFile => ask_reason(state, true),
        Action::EditHere => {
            if let Some((place, text)) = text_at_hand(state) {
                state.overlays.push(Overlay::Edit(Box::new(Editing::new(place, &text))));
            }
        }
        Action::EditOutside => {
            if let Some((place, text)) = text_at_hand(state) {
                return vec![Effect::Edit { place, text }];
            }
        }
        Action::Undecide => {
            if !review.undecide() {
                state.say("No decision to take back.");
            }
            return foresee(state);
        }
        Action::ApproveAll => ask_all(state),
        Action::Apply => return apply(state),
        Action::Problems => keys::open_problems(state),
        Action::Preview => preview(state),
        Action::Verdict => list_verdict(state),
        Action::Split if state.size.0 < layout::SPLIT => {
            state.say(format!("Side by side needs {} columns.", layout::SPLIT));
        }
        Action::Split => {
            review.split = !review.split;
            review.reveal = true;
        }
        Action::Whole => {
            review.whole = !review.whole;
            review.reveal = true;
        }
        action => scroll(review, action, height),
    }
    Vec::new()
}

fn scroll(review: &mut Review, action: Action, height: usize) {
    let Some(file) = review.file_mut() else { return };
    let last = file.diff.as_ref().map_or(0, |(_, d)| d.lines.len()).saturating_sub(height);
    let page = isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1);
    let step = match action {
        Action::Up => -1,
        Action::Down => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::Top => isize::MIN / 2,
        Action::Bottom => isize::MAX / 2,
        _ => 0,
    };
    file.top = file.top.saturating_add_signed(step).min(last);
}

/// Notes a decision about the hunk at hand or the whole file, and goes on to the next that has none.
fn decide(state: &mut State, mark: &Mark, all: bool) -> Vec<Effect> {
    let Some(review) = &mut state.review else { return Vec::new() };
    // What is approved is what was on screen, so it must have been there.
    let drawn = |f: &ReviewFile| f.diff.as_ref().is_some_and(|(key, _)| key.edition == f.edition);
    if !review.file().is_some_and(drawn) {
        state.say("The change is still being drawn; look at it first.");
        return Vec::new();
    }
    review.decide(mark, all);
    review.next_undecided();
    foresee(state)
}

fn ask_reason(state: &mut State, whole: bool) {
    if let Some(file) = state.review.as_ref().and_then(Review::file) {
        let text = match file.mark() {
            Mark::Rejected { reason } => reason.clone(),
            _ => String::new(),
        };
        state.overlays.push(Overlay::Reason { line: Field { text }, whole });
    }
}

pub fn reject(state: &mut State, reason: String, whole: bool) -> Vec<Effect> {
    if let Some(review) = &mut state.review {
        review.decide(&Mark::Rejected { reason }, whole);
        review.next_undecided();
    }
    foresee(state)
}

/// The proposed text of the hunk at hand, or the person's own in its place; says so when there is none to edit.
fn text_at_hand(state: &mut State) -> Option<(Place, String)> {
    let file = state.review.as_ref().and_then(Review::file)?;
    let Some(hunk) = file.weighed.hunks.get(file.hunk) else {
        state.say("This change has no text to edit; it can be approved or rejected.");
        return None;
    };
    let place = Place { path: file.weighed.path.clone(), shown: file.weighed.shown, hunk: hunk.id };
    let text = match file.mark() {
        Mark::Edited { text } => text.clone(),
        _ => hunk.after.clone(),
    };
    Some((place, text))
}

/// Ctrl-S in the field.
pub fn edited_here(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Edit(edit)) = state.overlays.pop() else { return Vec::new() };
    edited(state, &edit.place, Ok(edit.text()))
}

/// Escape in the field: what was typed is lost only when it is pressed twice.
pub fn leave_edit(state: &mut State) {
    if let Some(Overlay::Edit(edit)) = state.overlays.last_mut()
        && edit.is_changed()
        && !edit.leaving
    {
        edit.leaving = true;
        state.say("Esc again drops what you typed; Ctrl-S takes it.");
        return;
    }
    state.overlays.pop();
}

/// An edited text arrived; it counts only for what was shown when the edit began.
pub fn edited(state: &mut State, place: &Place, text: Result<String, String>) -> Vec<Effect> {
    let text = match text {
        Ok(text) => text,
        Err(why) => {
            state.complain(why);
            return Vec::new();
        }
    };
    let Some(review) = &mut state.review else { return Vec::new() };
    let same = |f: &ReviewFile| f.weighed.path == place.path && f.weighed.shown == place.shown;
    let found = review.files.iter().position(same).and_then(|at| {
        let hunk = review.files.get(at)?.weighed.hunks.iter().position(|h| h.id == place.hunk)?;
        Some((at, hunk))
    });
    let Some((at, hunk)) = found else {
        state.complain("The proposal is another one by now, so your text was not taken; look at it again.");
        return Vec::new();
    };
    review.select(at);
    let Some(file) = review.file_mut() else { return Vec::new() };
    file.hunk = hunk;
    let Some(proposed) = file.weighed.hunks.get(hunk) else { return Vec::new() };
    let ends_with = if proposed.after.is_empty() { &proposed.before } else { &proposed.after };
    let text = like(&text, ends_with);
    if text == proposed.after {
        if matches!(file.mark(), Mark::Edited { .. }) {
            review.decide(&Mark::Open, false);
        }
        state.say("That is the proposed text, unchanged; y approves it.");
        return foresee(state);
    }
    review.decide(&Mark::Edited { text }, false);
    state.say("Your text will be written in place of the proposed; u takes that back.");
    foresee(state)
}

fn preview(state: &mut State) {
    let Some(file) = state.review.as_ref().and_then(Review::file) else { return };
    let path = file.weighed.path.clone();
    let title = format!("{} as it would be", Safe::line(path.relative()));
    let body = Body::Page { path, drawn: None, asked: None };
    state.overlays.push(Overlay::Sheet(Sheet { title, body, top: 0 }));
}

/// Everything that the verdict counts.
fn list_verdict(state: &mut State) {
    let Some(review) = &state.review else { return };
    let Some(verdict) = &review.verdict else {
        state.say("The proposed bundle is still being judged.");
        return;
    };
    let counts = &verdict.counts;
    let counted = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.hints, "hint")];
    let counted: Vec<String> = counted.into_iter().map(|(count, what)| plural(count, what)).collect();
    let mut list = vec![("  ", format!("{} {}", review.premise(), counted.join(", ")))];
    let file = review.file().map(|file| Safe::line(file.weighed.path.relative()).into_string());
    list.extend(
        layout::review_notes(state)
            .into_iter()
            .map(|(_, note)| ("  ", format!("{}: {note}", file.as_deref().unwrap_or_default()))),
    );
    list.extend(review.torn.iter().map(|text| ("! ", text.clone())));
    list.extend(verdict.appeared.iter().map(|text| ("+ ", text.clone())));
    list.extend(verdict.vanished.iter().map(|text| ("− ", text.clone())));
    list.extend(verdict.cited.iter().map(|path| ("  ", format!("{path} cites other sources"))));
    if verdict.appeared.is_empty() && verdict.vanished.is_empty() {
        list.push(("  ", "Nothing appears and nothing vanishes.".to_owned()));
    }
    let title = "What the changes bring (+) and heal (−)".to_owned();
    state.overlays.push(Overlay::Sheet(Sheet { title, body: Body::List(list), top: 0 }));
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn ask_all(state: &mut State) {
    let Some(review) = &state.review else { return };
    let goes = |mark: &Mark| !matches!(mark, Mark::Rejected { .. } | Mark::PutOff);
    let files: Vec<&ReviewFile> = review.files.iter().filter(|f| f.marks.iter().any(goes)).collect();
    let of = |test: fn(&ChangeKind) -> bool| files.iter().filter(|f| test(&f.kind)).count();
    let counts = [
        (of(|k| matches!(k, ChangeKind::Create)), "created"),
        (of(|k| matches!(k, ChangeKind::Modify)), "modified"),
        (of(|k| matches!(k, ChangeKind::Rename { .. })), "renamed"),
        (of(|k| matches!(k, ChangeKind::Delete)), "deleted"),
    ];
    let kinds: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let marks = || review.files.iter().flat_map(|f| &f.marks);
    let changes = marks().filter(|mark| goes(mark)).count();
    let added: usize = files.iter().map(|f| f.weighed.added).sum();
    let removed: usize = files.iter().map(|f| f.weighed.removed).sum();
    let mut text = vec![
        format!("Approve all {} and write them now?", plural(changes, "change")),
        format!("{}: {} · +{added} −{removed} lines", plural(files.len(), "file"), kinds.join(", ")),
    ];
    let rejected = marks().filter(|mark| matches!(mark, Mark::Rejected { .. })).count();
    let put_off = marks().filter(|mark| **mark == Mark::PutOff).count();
    let left = [(rejected, "rejected"), (put_off, "put off")];
    let left: Vec<String> =
        left.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if !left.is_empty() {
        text.push(format!("Not written: {}.", left.join(", ")));
    }
    let wiki = state.keeps_pages_in_wiki();
    let odd = |f: &&&ReviewFile| review.is_odd(f, wiki);
    match files.iter().filter(odd).count() {
        0 => {}
        1 => text.push("1 file is marked with ! and should be looked at.".to_owned()),
        odd => text.push(format!("{odd} files are marked with ! and should be looked at.")),
    }
    text.extend(some(&review.torn));
    match &review.verdict {
        Some(_) if review.judging => text.push("The result is still being judged.".to_owned()),
        Some(Verdict { counts, appeared, .. }) if !appeared.is_empty() => text.push(format!(
            "Then: {}, {}; {} new.",
            plural(counts.errors, "error"),
            plural(counts.warnings, "warning"),
            if appeared.len() == 1 {
                "1 finding is".to_owned()
            } else {
                format!("{} findings are", appeared.len())
            }
        )),
        Some(_) => {}
        None => text.push("The result is still being judged.".to_owned()),
    }
    text.push(String::new());
    text.push("y  yes    n  no".to_owned());
    state.overlays.push(Overlay::Confirm(Question { text, about: About::ApproveAll }));
}

/// The first sentences, and how many more there are.
fn some(torn: &[String]) -> Vec<String> {
    const SHOWN: usize = 4;
    let mut text: Vec<String> = torn.iter().take(SHOWN).map(|torn| format!("! {torn}")).collect();
    if torn.len() > SHOWN {
        text.push(format!(
            "! {} more pages would be torn from others; the findings list them.",
            torn.len() - SHOWN
        ));
    }
    text
}

/// After the question with the counts: approves what is neither rejected nor put off, and writes.
pub fn approve_all(state: &mut State) -> Vec<Effect> {
    if let Some(review) = &mut state.review {
        review.approve_open();
    }
    write(state)
}

/// Writes, unless that would tear something apart, which is asked about first.
fn apply(state: &mut State) -> Vec<Effect> {
    let torn = state.review.as_ref().map(Review::torn_now).unwrap_or_default();
    let decided = state.review.as_ref().is_some_and(|review| !review.decisions().is_empty());
    if torn.is_empty() || !decided {
        return write(state);
    }
    let mut text = some(&torn);
    text.push(String::new());
    text.push("Write what is approved all the same?   y  yes    n  no".to_owned());
    state.overlays.push(Overlay::Confirm(Question { text, about: About::Apply }));
    Vec::new()
}

pub fn write(state: &mut State) -> Vec<Effect> {
    let Some(review) = &mut state.review else { return Vec::new() };
    let verdicts = review.decisions();
    if review.applying {
        state.say("Still writing.");
        return Vec::new();
    }
    if verdicts.is_empty() {
        state.say("Nothing is decided yet: y approves a change, x rejects it, A approves all.");
        return Vec::new();
    }
    review.applying = true;
    vec![Effect::Apply { changes: review.changes.clone(), verdicts, mends: state.mending.is_some() }]
}

/// What became of a set, for the screen.
pub fn summary(resolved: &Resolved, applied: &Applied) -> Summary {
    let name = |p: &BundlePath| Safe::line(p.relative()).into_string();
    let failed = |path: &BundlePath| applied.failed.iter().any(|(at, _)| at == path);
    let landed = |path: &BundlePath| {
        let file = resolved.changes.file(path)?;
        let edited = resolved.replaced.iter().filter(|(at, ..)| at == path).count();
        let whole = resolved.proposed.file(path).is_some_and(|f| f.after == file.after);
        let how = match edited {
            _ if whole => String::new(),
            0 => ", in part".to_owned(),
            count => format!(", {} with your text", plural(count, "change")),
        };
        Some(format!("{}{how}", Safe::line(&file.done())))
    };
    let parts = resolved.rejected.iter().filter(|r| !failed(&r.path)).map(|r| {
        let place = format!("{}, line {}", name(&r.path), r.hunk.old.start + 1);
        (place, Safe::line(&r.reason).into_string())
    });
    let whole = applied.rejected.iter().map(|(p, reason)| (name(p), Safe::line(reason).into_string()));
    Summary {
        landed: applied.landed.iter().filter_map(landed).collect(),
        rejected: whole.chain(parts).collect(),
        failed: applied.failed.iter().map(|(_, e)| Safe::line(&e.to_string()).into_string()).collect(),
        pending: 0,
        notes: applied.notes.iter().map(|note| Safe::line(note).into_string()).collect(),
        undo: !applied.landed.is_empty(),
    }
}

/// What was written, refused and rejected: on screen, and to the manager.
pub fn applied(state: &mut State, resolved: Resolved, applied: Applied) -> Vec<Effect> {
    let rest = resolved.rest(&applied);
    let summary = Summary { pending: rest.files.len(), ..summary(&resolved, &applied) };
    let mut touched = Vec::new();
    for file in applied.landed.iter().filter_map(|path| resolved.changes.file(path)) {
        touched.push(file.path.clone());
        if let ChangeKind::Rename { from } = &file.kind {
            touched.push(from.clone());
        }
    }
    let mut effects = vec![Effect::Refresh(touched)];
    // What was staged in the meantime is not of this set.
    if resolved.proposed.id == state.staged.id {
        state.staged = Arc::new(rest);
    }
    tree::rebuild(state);
    state.overlays.clear();
    state.overlays.push(Overlay::Summary { summary, top: 0 });
    if state.mending.is_some() {
        effects.extend(end_mending(state));
        return effects;
    }
    let mut rebase = false;
    match &mut state.review {
        Some(review) if !state.staged.is_empty() => {
            review.applying = false;
            // An approval of what stands over another text than it was shown over does not hold for the next try; one that
            // only waited for the rest of the set does.
            let conflicts = applied.failed.iter().filter(|(_, error)| error.kind == ErrorKind::Conflict);
            let conflicts: Vec<&BundlePath> = conflicts.map(|(path, _)| path).collect();
            for file in review.files.iter_mut().filter(|file| conflicts.contains(&&file.weighed.path)) {
                file.marks.fill(Mark::Open);
                file.edition += 1;
                file.stale = true;
            }
            rebase = !conflicts.is_empty();
            effects.push(Effect::Weigh { changes: state.staged.clone(), open: None });
        }
        _ => state.review = None,
    }
    effects
        .push(Effect::Agent(Role::Manager, AgentCommand::Reviewed { resolved: Box::new(resolved), applied }));
    // What the manager cannot merge by itself is put to the person.
    effects.extend(rebase.then_some(Effect::Agent(Role::Manager, AgentCommand::Rebase)));
    effects
}

/// Proposals were carried over to files as somebody left them; the set follows.
pub fn carried(state: &mut State, moved: &[Moved]) {
    let Some(review) = &mut state.review else { return };
    review.carried = moved.iter().map(|moved| (moved.path.clone(), moved.how)).collect();
    let of = |how: Carried| {
        let paths = moved.iter().filter(|moved| moved.how == how).map(|moved| moved.path.relative());
        Safe::line(&paths.collect::<Vec<_>>().join(", ")).into_string()
    };
    let (merged, contested, done) = (of(Carried::Merged), of(Carried::Contested), of(Carried::Done));
    if !contested.is_empty() {
        state.complain(format!(
            "Changed on disk in the same lines as proposed; look at it again: {contested}"
        ));
    } else if !merged.is_empty() {
        state.complain(format!("Changed on disk and merged with the proposal; look at it again: {merged}"));
    } else if !done.is_empty() {
        state.say(format!("Already on disk as proposed: {done}"));
    }
}

pub fn nothing_left(state: &mut State) {
    state.review = None;
    state.overlays.retain(|o| {
        !matches!(o, Overlay::Review | Overlay::Reason { .. } | Overlay::Edit(_) | Overlay::Sheet(_))
    });
}
