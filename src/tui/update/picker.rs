//! Choosing from a list: a source to ingest, a conversation to go on with, a model.

use super::commands;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::picker::{Choice, Choosing, Picker};
use crate::tui::state::{Overlay, State};

pub fn open(state: &mut State, choosing: Choosing) {
    state.overlays.push(Overlay::Picker(Picker::new(choosing)));
}

/// What can be chosen arrived; when the list was closed meanwhile, nothing comes of it.
pub fn arrived(state: &mut State, choosing: Choosing, choices: Result<Vec<Choice>, String>) {
    let open = state.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Picker(picker) if picker.choosing == choosing => Some(picker),
        _ => None,
    });
    if let Some(picker) = open {
        picker.fill(choices);
    }
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let Some(Overlay::Picker(picker)) = state.overlays.last_mut() else { return Vec::new() };
    let last = picker.shown.len().saturating_sub(1);
    match action {
        Action::Up => picker.selected = picker.selected.saturating_sub(1),
        Action::Down => picker.selected = (picker.selected + 1).min(last),
        Action::PageUp => picker.selected = picker.selected.saturating_sub(10),
        Action::PageDown => picker.selected = (picker.selected + 10).min(last),
        Action::Close => drop(state.overlays.pop()),
        Action::Open => return choose(state),
        _ => {}
    }
    Vec::new()
}

pub fn choose(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Picker(picker)) = state.overlays.last() else { return Vec::new() };
    let (choosing, chosen) = (picker.choosing, picker.chosen().cloned());
    let Some(choice) = chosen else { return Vec::new() };
    state.overlays.pop();
    match choosing {
        Choosing::Source => commands::ingest(state, &choice.value),
        Choosing::Conversation => commands::take_up(state, &choice.value),
        Choosing::Model => commands::connect(state, &choice.value),
    }
}
