//! The history: applied sets, one of them drawn, and turning them.

use ratatui::text::Line;

use super::{overlay, review};
use crate::agent::{AgentCommand, Role};
use crate::bundle::apply::Applied;
use crate::bundle::hunk::Resolved;
use crate::bundle::ledger::record::{Direction, Record};
use crate::bundle::{ChangeSet, Decisions};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::history::History;
use crate::tui::state::{About, Overlay, Question, State, layout};

pub fn open(state: &mut State) -> Vec<Effect> {
    state.overlays.push(Overlay::History(History::default()));
    vec![Effect::History]
}

fn history(state: &mut State) -> Option<&mut History> {
    state.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::History(history) => Some(history),
        _ => None,
    })
}

pub fn arrived(state: &mut State, records: Result<Vec<Record>, String>) {
    if let Some(history) = history(state) {
        history.records = Some(records);
    }
}

pub fn drawn(state: &mut State, id: u64, width: u16, lines: Vec<Line<'static>>) {
    if let Some(history) = history(state) {
        history.drawn = Some((id, width, lines));
        history.asked = None;
    }
}

pub fn scroll(state: &mut State, by: isize) -> Vec<Effect> {
    if let Some(history) = history(state) {
        history.top = history.top.saturating_add_signed(by);
    }
    Vec::new()
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let page = isize::try_from(layout::history(state).1.height.saturating_sub(2).max(1)).unwrap_or(1);
    let Some(Overlay::History(history)) = state.overlays.last_mut() else { return Vec::new() };
    let last = history.list().len().saturating_sub(1);
    let before = history.selected;
    match action {
        Action::Up => history.selected = before.saturating_sub(1),
        Action::Down => history.selected = (before + 1).min(last),
        Action::Top => history.selected = 0,
        Action::Bottom => history.selected = last,
        Action::PageUp => return scroll(state, -page),
        Action::PageDown => return scroll(state, page),
        Action::Undo => ask(state, Direction::Undo),
        Action::Redo => ask(state, Direction::Redo),
        Action::Close => return overlay::close(state),
        _ => {}
    }
    if let Some(Overlay::History(history)) = state.overlays.last_mut()
        && history.selected != before
    {
        history.top = 0;
    }
    Vec::new()
}

fn ask(state: &mut State, direction: Direction) {
    let Some(Overlay::History(history)) = state.overlays.last() else { return };
    let Some(record) = history.record() else { return };
    let (id, files) = (record.id, record.steps.len());
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let what = match direction {
        Direction::Undo if history.is_taken_back(record) => {
            return state.say(format!("Set {id} was taken back already; r brings it about again."));
        }
        Direction::Redo if !history.is_taken_back(record) => {
            return state
                .say(format!("Set {id} was not taken back, so there is nothing to bring about again."));
        }
        Direction::Undo => format!("Take set {id} back and write {files} now?"),
        Direction::Redo => format!("Bring set {id} about again and write {files} now?"),
    };
    let text = vec![
        what,
        "A file that was changed since stops all of it.".to_owned(),
        String::new(),
        "y  yes    n  no".to_owned(),
    ];
    state.overlays.push(Overlay::Confirm(Question { text, about: About::Turn(id, direction) }));
}

/// A set was turned: says what was done and has the bundle looked at again.
pub fn turned(
    state: &mut State,
    direction: Direction,
    outcome: Result<(ChangeSet, Applied), String>,
) -> Vec<Effect> {
    let (changes, applied) = match outcome {
        Ok(done) => done,
        Err(why) => {
            state.complain(why);
            return Vec::new();
        }
    };
    let resolved = Resolved::whole(changes, Decisions::new());
    let mut summary = review::summary(&resolved, &applied);
    summary.undo = false;
    let done = match direction {
        Direction::Undo => "Taken back.",
        Direction::Redo => "Brought about again.",
    };
    if applied.failed.is_empty() {
        state.say(done);
    }
    state.overlays.clear();
    state.overlays.push(Overlay::Summary { summary, top: 0 });
    let note = crate::agent::review::turned(&applied, direction == Direction::Undo);
    let told = note.map(|note| Effect::Agent(Role::Manager, AgentCommand::Tell(note)));
    told.into_iter().chain([Effect::Refresh(applied.landed)]).collect()
}
