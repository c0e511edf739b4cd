//! The search in the conversation.

use super::chat;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::composer::Line;
use crate::tui::state::find::{self, Find};
use crate::tui::state::{Overlay, State};

pub fn open(state: &mut State) {
    let chat = state.chat();
    let before = (chat.top, chat.follow);
    if chat.entries.is_empty() {
        state.say("Nothing was said yet, so there is nothing to search.");
        return;
    }
    let find = Find { line: Line::default(), typing: true, places: Vec::new(), at: 0, before };
    state.overlays.push(Overlay::Find(find));
}

fn get(state: &mut State) -> Option<&mut Find> {
    match state.overlays.last_mut() {
        Some(Overlay::Find(find)) => Some(find),
        _ => None,
    }
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let Some(find) = get(state) else { return Vec::new() };
    let count = find.places.len();
    match action {
        Action::Close => {
            // The place that was looked at stays in view.
            state.overlays.pop();
        }
        Action::Find => find.typing = true,
        Action::Copy => return chat::copy(state),
        Action::Accept | Action::FindNext | Action::FindPrevious => {
            let typing = std::mem::replace(&mut find.typing, false);
            if count > 0 {
                find.at = match action {
                    // The first Enter only leaves the field: the newest place is in view already.
                    _ if typing => find.at,
                    Action::FindNext => (find.at + 1) % count,
                    Action::FindPrevious => (find.at + count - 1) % count,
                    _ => find.at,
                };
            }
            reveal(state);
        }
        _ => {}
    }
    Vec::new()
}

/// The words are others: looks for them anew, the newest place first.
pub fn changed(state: &mut State) {
    let Some(wanted) = get(state).map(|find| find.line.text.clone()) else { return };
    let places = find::places(state.chat(), &wanted);
    let Some(find) = get(state) else { return };
    let before = find.before;
    find.at = places.len().saturating_sub(1);
    let none = places.is_empty();
    find.places = places;
    if none {
        let chat = state.chat_mut();
        (chat.top, chat.follow) = before;
    } else {
        reveal(state);
    }
}

/// Brings the place at hand into view.
fn reveal(state: &mut State) {
    let Some(place) = get(state).and_then(|find| find.places.get(find.at).cloned()) else { return };
    let row = state.chat().row_of(place.entry) + place.row;
    let chat = state.chat_mut();
    chat.chosen = Some(place.entry);
    chat::show_row(state, row);
}
