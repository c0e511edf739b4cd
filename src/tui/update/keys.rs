//! Keys to actions, and the actions that hold everywhere.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::{chat, find, history, navigate, overlay, review, scroll, tree};
use crate::bundle::waiting;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Opening};
use crate::tui::keymap::{Key, Layer, Meaning};
use crate::tui::state::problems::{Problems, Row};
use crate::tui::state::{About, Overlay, Pane, Question, State};

pub fn key(state: &mut State, event: KeyEvent) -> Vec<Effect> {
    // Some terminals report releases too.
    if event.kind == KeyEventKind::Release {
        return Vec::new();
    }
    let key = Key::from(event);
    state.notice = None;
    if !review_is_meant(state, key) {
        return Vec::new();
    }
    let mut keys = std::mem::take(&mut state.pending);
    keys.push(key);
    let layers = state.layers();
    let mut meaning = state.fixed.keymap.meaning(layers, &keys);
    if meaning == Meaning::Nothing && keys.len() > 1 {
        keys = vec![key];
        meaning = state.fixed.keymap.meaning(layers, &keys);
    }
    let leaving = std::mem::take(&mut state.leaving);
    match meaning {
        Meaning::Prefix => {
            state.pending = keys;
            Vec::new()
        }
        Meaning::Action(Action::Cancel) => cancel(state, leaving),
        Meaning::Action(action) => act(state, action),
        Meaning::Nothing => {
            match state.overlays.last_mut() {
                Some(Overlay::Reason { line, .. }) => line.key(event),
                Some(Overlay::Edit(edit)) => {
                    edit.leaving = false;
                    edit.key(event);
                }
                Some(Overlay::Find(find)) if find.typing => {
                    find.line.key(event);
                    find::changed(state);
                }
                Some(Overlay::Picker(picker)) => {
                    picker.filter.key(event);
                    picker.narrow();
                }
                Some(_) => {}
                None if state.focus == Pane::Chat => chat::typed(state, event),
                None => {}
            }
            Vec::new()
        }
    }
}

/// A review that opened by itself gets no key before a frame has shown it: such a key was meant for what was on
/// screen. Text goes to the composer, and the review waits behind a notice.
fn review_is_meant(state: &mut State, key: Key) -> bool {
    let unarmed = matches!(state.overlays.last(), Some(Overlay::Review))
        && state.review.as_ref().is_some_and(|r| !r.armed);
    if !unarmed {
        return true;
    }
    let typing = state.focus == Pane::Chat
        && (key.typed().is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Backspace));
    if typing {
        state.overlays.pop();
        review::waiting_notice(state);
    }
    typing
}

pub fn paste(state: &mut State, text: &str) {
    state.notice = None;
    match state.overlays.last_mut() {
        Some(Overlay::Reason { line, .. }) => line.paste(text),
        Some(Overlay::Find(find)) if find.typing => {
            find.line.paste(text);
            find::changed(state);
        }
        Some(Overlay::Picker(picker)) => {
            picker.filter.paste(text);
            picker.narrow();
        }
        Some(Overlay::Edit(edit)) => {
            edit.leaving = false;
            if !edit.paste(text) {
                state.complain("That is too much to paste here.");
            }
        }
        Some(Overlay::Review) if state.review.as_ref().is_some_and(|r| !r.armed) => {
            state.overlays.pop();
            review::waiting_notice(state);
            chat::pasted(state, text);
        }
        Some(_) => {}
        None => chat::pasted(state, text),
    }
}

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    match action {
        Action::Quit => return quit(state),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Help if !matches!(state.overlays.last(), Some(Overlay::Help { .. })) => {
            help(state);
            return Vec::new();
        }
        _ => {}
    }
    if !state.overlays.is_empty() {
        return overlay::act(state, action);
    }
    match action {
        Action::SwitchRole => chat::switch_role(state),
        Action::ToggleSide => {
            state.side = if state.side == Pane::Chat { Pane::Tree } else { Pane::Chat };
            if state.focus != Pane::Page {
                state.focus = state.side;
            }
        }
        Action::FocusNext => step_focus(state, 1),
        Action::FocusPrevious => step_focus(state, 2),
        Action::FocusTree => focus(state, Pane::Tree),
        Action::FocusPage => focus(state, Pane::Page),
        Action::FocusChat => focus(state, Pane::Chat),
        Action::Problems => open_problems(state),
        Action::Review => return review::open(state, Opening::Called),
        Action::History => return history::open(state),
        Action::Interrupt => return chat::interrupt(state),
        Action::Back => return navigate::history(state, true),
        Action::Forward => return navigate::history(state, false),
        action => {
            return match state.focus {
                Pane::Tree => tree::act(state, action),
                Pane::Page => scroll::page(state, action),
                Pane::Chat => chat::act(state, action),
            };
        }
    }
    Vec::new()
}

pub fn open_problems(state: &mut State) {
    state.overlays.retain(|o| !matches!(o, Overlay::Problems(_)));
    let mut problems = Problems::new(state.report.as_deref());
    // Begins at the page that is open, where the person looks.
    let here = |row: &Row| state.problem(*row).is_some_and(|f| Some(&f.path) == state.page.path.as_ref());
    problems.selected = problems.rows.iter().position(here).unwrap_or(0);
    state.overlays.push(Overlay::Problems(problems));
}

pub fn focus(state: &mut State, pane: Pane) {
    state.focus = pane;
    if pane != Pane::Page {
        state.side = pane;
    }
}

fn step_focus(state: &mut State, by: usize) {
    let at = Pane::ALL.iter().position(|p| *p == state.focus).unwrap_or(0);
    if let Some(pane) = Pane::ALL.get((at + by) % Pane::ALL.len()) {
        focus(state, *pane);
    }
}

/// Ctrl-C: the nearest thing that can be called off; with nothing left, twice means leave.
fn cancel(state: &mut State, leaving: bool) -> Vec<Effect> {
    if matches!(state.overlays.last(), Some(Overlay::Confirm(Question { about: About::Quit, .. }))) {
        state.ended = Some(0);
        return vec![Effect::Quit];
    }
    if leaving {
        return quit(state);
    }
    let hint = "Press Ctrl-C again to quit.";
    if state.overlays.pop().is_some() {
        state.leaving = true;
        state.say(hint);
        return Vec::new();
    }
    if state.focus == Pane::Chat && !state.chat().composer.is_empty() {
        state.chat_mut().composer.clear();
        state.chat_mut().completion = None;
        state.say("Draft cleared; Up brings it back.");
        return Vec::new();
    }
    state.leaving = true;
    let effects = chat::interrupt(state);
    state.say(if effects.is_empty() { hint } else { "Stopping the turn. Press Ctrl-C again to quit." });
    effects
}

pub fn quit(state: &mut State) -> Vec<Effect> {
    let staged = state.staged.files.len();
    if staged == 0 {
        state.ended = Some(0);
        return vec![Effect::Quit];
    }
    state.overlays.push(Overlay::Confirm(Question {
        text: vec![
            format!("{} for review and will be lost.", waiting(staged)),
            String::new(),
            "Quit all the same?   y  yes    n  no".to_owned(),
        ],
        about: About::Quit,
    }));
    Vec::new()
}

/// The keys, those of what is at hand first.
pub fn help(state: &mut State) {
    let of = state.layers().first().copied().unwrap_or(Layer::Global);
    state.overlays.push(Overlay::Help { top: 0, of });
}
