//! How the state answers an event: changes itself and says what is to be done in the world. No I/O, no clock.

mod agent;
mod answers;
mod bundle;
mod chat;
pub mod citations;
mod commands;
mod find;
mod history;
mod keys;
mod mouse;
mod navigate;
mod overlay;
mod picker;
mod review;
mod scroll;
mod settle;
mod transcript;
mod tree;

pub use settle::settle;

use super::effect::Effect;
use super::event::Event;
use super::state::{Body, Overlay, Sheet, State};

pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(key) => return keys::key(state, key),
        Event::Mouse(mouse) => return mouse::mouse(state, mouse),
        Event::Paste(text) => keys::paste(state, &text),
        Event::Resize(columns, rows) => state.size = (columns, rows),
        Event::Drawn => {
            if matches!(state.overlays.last(), Some(Overlay::Review))
                && let Some(review) = &mut state.review
            {
                review.armed = true;
            }
        }
        Event::Tick => state.ticks = state.ticks.wrapping_add(1),
        Event::Model { wiki, report, changed } => return bundle::model(state, wiki, report, &changed),
        Event::Unreadable(why) => state.unreadable = Some(crate::text::Safe::line(&why).into_string()),
        Event::Opened { path, document } => navigate::opened(state, &path, document),
        Event::PageRendered { ticket, rendered } => navigate::rendered(state, ticket, rendered),
        Event::Weighed { changes, files, bonds, open } => {
            return review::weighed(state, changes, files, bonds, open);
        }
        Event::DiffRendered { key, diff } => review::drawn(state, key, diff),
        Event::Judged { generation, verdict } => review::judged(state, generation, verdict),
        Event::Mended(fix) => return review::mended(state, fix),
        Event::Previewed { path, width, lines } => review::previewed(state, &path, width, lines),
        Event::Edited { place, text } => return review::edited(state, &place, text),
        Event::Applied { resolved, applied } => return review::applied(state, resolved, applied),
        Event::History(records) => history::arrived(state, records),
        Event::SetRendered { id, width, lines } => history::drawn(state, id, width, lines),
        Event::Turned { direction, outcome } => return history::turned(state, direction, outcome),
        Event::Agent(role, event) => return agent::event(state, role, event),
        Event::Written { role, text } => chat::written(state, role, text),
        Event::Choices(choosing, choices) => picker::arrived(state, choosing, choices),
        Event::Began { role, fresh } => commands::began(state, role, fresh),
        Event::Connected(outcome) => commands::connected(state, outcome),
        Event::Found { query, passages } => answers::found(state, query, passages),
        Event::AgentGone(role) => agent::gone(state, role),
        Event::RootGone(gone) => state.root_gone = gone,
        Event::ReadOnly(read_only) => state.read_only = read_only,
        Event::Background { light } => background(state, light),
        Event::Notice(text) => state.say(text),
        Event::Trouble(text) => {
            // Whatever was being done will not answer.
            if let Some(review) = &mut state.review {
                review.applying = false;
            }
            state.complain(text);
        }
        Event::Leave(status) => state.ended = Some(status),
    }
    Vec::new()
}

/// The theme of this background, where the person wants that; all that was laid out with another one is laid out anew.
fn background(state: &mut State, light: bool) {
    let theme = state.fixed.look.theme(Some(light));
    if theme == state.fixed.theme {
        return;
    }
    state.fixed.theme = theme;
    for chat in [&mut state.manager, &mut state.reader] {
        chat.entries.iter_mut().for_each(|entry| (entry.width, entry.stream) = (None, None));
    }
    state.page.stale = true;
    if let Some(review) = &mut state.review {
        review.files.iter_mut().for_each(|file| file.diff = None);
        review.asked.clear();
    }
    for overlay in &mut state.overlays {
        match overlay {
            Overlay::History(history) => (history.drawn, history.asked) = (None, None),
            Overlay::Sheet(Sheet { body: Body::Page { drawn, asked, .. }, .. }) => {
                (*drawn, *asked) = (None, None)
            }
            _ => {}
        }
    }
}
