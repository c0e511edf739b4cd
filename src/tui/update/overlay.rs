//! Actions while something lies over the panes.

use super::{find, history, keys, navigate, picker, review};
use crate::bundle::ledger::record::Direction;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::layout::{inner, overlay_box};
use crate::tui::state::page::Goto;
use crate::tui::state::{About, Overlay, Pane, State};

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let height = overlay_box(state).map_or(1, |b| usize::from(inner(b).height)).max(1);
    match state.overlays.last_mut() {
        Some(Overlay::Help { top, .. } | Overlay::Summary { top, .. } | Overlay::Explanation { top, .. }) => {
            // The end is clamped where the rows are known, in `settle`.
            move_by(top, action, height, usize::MAX / 2);
        }
        Some(Overlay::Problems(problems)) => {
            let last = problems.rows.len().saturating_sub(1);
            move_by(&mut problems.selected, action, height, last);
            match action {
                Action::Open => return open_problem(state),
                Action::Mend => return mend_problem(state),
                _ => {}
            }
            if action == Action::Explain {
                explain(state);
                return Vec::new();
            }
        }
        Some(Overlay::Review) => return review::act(state, action),
        Some(Overlay::Find(_)) => return find::act(state, action),
        Some(Overlay::Picker(_)) => return picker::act(state, action),
        // The end is clamped in `settle`.
        Some(Overlay::Sheet(sheet)) => move_by(&mut sheet.top, action, height, usize::MAX / 2),
        Some(Overlay::History(_)) => return history::act(state, action),
        Some(Overlay::Edit(_)) => {
            return match action {
                Action::Accept => review::edited_here(state),
                Action::Close => {
                    review::leave_edit(state);
                    Vec::new()
                }
                _ => Vec::new(),
            };
        }
        Some(Overlay::Confirm(question)) => {
            let about = question.about;
            return match action {
                Action::Accept => {
                    state.overlays.pop();
                    match about {
                        About::Quit => {
                            state.ended = Some(0);
                            vec![Effect::Quit]
                        }
                        About::ApproveAll => review::approve_all(state),
                        About::Apply => review::write(state),
                        About::Turn(id, direction) => {
                            vec![Effect::Turn { id: Some(id), direction }]
                        }
                    }
                }
                Action::Close => close(state),
                _ => Vec::new(),
            };
        }
        Some(Overlay::Reason { line, whole }) => {
            let (reason, whole) = (line.text.trim().to_owned(), *whole);
            return match action {
                Action::Accept => {
                    state.overlays.pop();
                    review::reject(state, reason, whole)
                }
                Action::Close => close(state),
                _ => Vec::new(),
            };
        }
        None => {}
    }
    match action {
        Action::Close => close(state),
        Action::Undo if matches!(state.overlays.last(), Some(Overlay::Summary { summary, .. }) if summary.undo) =>
        {
            vec![Effect::Turn { id: None, direction: Direction::Undo }]
        }
        Action::History => {
            state.overlays.clear();
            history::open(state)
        }
        Action::Problems => {
            keys::open_problems(state);
            Vec::new()
        }
        Action::Review => {
            state.overlays.clear();
            review::open(state, crate::tui::effect::Opening::Called)
        }
        _ => Vec::new(),
    }
}

pub fn close(state: &mut State) -> Vec<Effect> {
    state.overlays.pop();
    Vec::new()
}

/// Lays the explanation of the chosen finding's rule over the list.
fn explain(state: &mut State) {
    let Some(Overlay::Problems(problems)) = state.overlays.last() else { return };
    let row = problems.rows.get(problems.selected).copied();
    if let Some(rule) = row.and_then(|row| state.problem(row)).map(|finding| finding.rule) {
        state.overlays.push(Overlay::Explanation { rule, top: 0 });
    }
}

/// Goes to the place of the chosen finding; opens or closes a group.
pub fn open_problem(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Problems(problems)) = state.overlays.last_mut() else { return Vec::new() };
    if problems.toggle(state.report.as_deref()) {
        return Vec::new();
    }
    let row = problems.rows.get(problems.selected).copied();
    let Some((path, offset)) =
        row.and_then(|row| state.problem(row)).map(|f| (f.path.clone(), f.span.map_or(0, |s| s.start)))
    else {
        return Vec::new();
    };
    state.overlays.clear();
    keys::focus(state, Pane::Page);
    navigate::open(state, &path, Some(Goto::Offset(offset)))
}

/// Asks for the change that mends the chosen finding.
fn mend_problem(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Problems(problems)) = state.overlays.last() else { return Vec::new() };
    let row = problems.rows.get(problems.selected).copied();
    match (row, &state.wiki, &state.report) {
        (Some(row), Some(wiki), Some(report)) => {
            vec![Effect::Mend { finding: row.finding(), wiki: wiki.clone(), report: report.clone() }]
        }
        _ => Vec::new(),
    }
}

fn move_by(at: &mut usize, action: Action, page: usize, last: usize) {
    let to = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::Top => 0,
        Action::Bottom => last,
        _ => *at,
    };
    *at = to.min(last);
}
