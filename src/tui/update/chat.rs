//! Actions of the chat pane and text typed into its composer.

use crossterm::event::KeyEvent;

use super::navigate;
use crate::agent::{AgentCommand, Role};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::keymap::Layer;
use crate::tui::state::chat::Doing;
use crate::tui::state::layout::{self, regions};
use crate::tui::state::{Pane, State};

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let height = transcript_height(state);
    match action {
        Action::Send => return send(state),
        Action::Newline => {
            state.chat_mut().cited = None;
            state.chat_mut().composer.newline();
        }
        Action::HistoryPrevious => return previous(state),
        Action::HistoryNext => state.chat_mut().composer.next(),
        Action::Up => scroll(state, -1),
        Action::Down => scroll(state, 1),
        Action::PageUp => scroll(state, -(height - 1).max(1)),
        Action::PageDown => scroll(state, (height - 1).max(1)),
        Action::Top => scroll(state, isize::MIN / 2),
        Action::Bottom => scroll(state, isize::MAX / 2),
        Action::LinkNext => cycle(state, true),
        Action::LinkPrevious => cycle(state, false),
        Action::Details => {
            let chat = state.chat_mut();
            chat.details = !chat.details;
            chat.entries.iter_mut().for_each(|e| e.width = None);
        }
        _ => {}
    }
    Vec::new()
}

/// Takes the message back that waits last, to be changed or dropped; without one, the text that was sent before.
fn previous(state: &mut State) -> Vec<Effect> {
    let role = state.role;
    let chat = state.chat_mut();
    if chat.composer.is_empty()
        && let Some(last) = chat.waiting.pop()
    {
        if let Some(at) = chat.queued.iter().rposition(|said| *said == last.text) {
            chat.queued.remove(at);
        }
        chat.composer.set(&last.text);
        return vec![Effect::Agent(role, AgentCommand::Unqueue(last.id))];
    }
    chat.composer.previous();
    Vec::new()
}

fn transcript_height(state: &State) -> isize {
    regions(state)
        .chat
        .map_or(1, |r| isize::from(i16::try_from(layout::chat(state, r).transcript.height).unwrap_or(1)))
}

/// Scrolls the transcript; reaching the end follows it again.
pub fn scroll(state: &mut State, by: isize) {
    let height = usize::try_from(transcript_height(state)).unwrap_or(1);
    let chat = state.chat_mut();
    let last = chat.rows().saturating_sub(height);
    let top = if chat.follow { last } else { chat.top.min(last) };
    let to = top.saturating_add_signed(by).min(last);
    chat.top = to;
    chat.follow = to >= last;
    if chat.follow {
        chat.unseen = false;
    }
}

/// Enter: opens the chosen citation, else sends; an empty field takes the suggestion first.
fn send(state: &mut State) -> Vec<Effect> {
    if let Some(at) = state.chat().cited {
        return open_citation(state, at);
    }
    let role = state.role;
    if !state.chat().has_model {
        if !state.chat().composer.is_empty() {
            let key = state.fixed.keymap.hint(Layer::Global, Action::Help).unwrap_or_default();
            state.complain(format!("There is no model to send this to; {key} says how to set one."));
        }
        return Vec::new();
    }
    if state.chat().gone {
        state.complain("This agent has stopped; start wikiwright again to use it.");
        return Vec::new();
    }
    let chat = state.chat_mut();
    if chat.composer.is_empty() {
        take_suggestion(state);
        return Vec::new();
    }
    let Some(text) = chat.composer.take() else { return Vec::new() };
    chat.follow = true;
    chat.unseen = false;
    if chat.doing == Doing::Nothing || chat.doing == Doing::Failed {
        chat.doing = Doing::Thinking;
    }
    chat.queued.push_back(text.clone());
    vec![Effect::Agent(role, AgentCommand::Say(text))]
}

/// Puts the next suggestion into the empty field, for the person to send or change.
fn take_suggestion(state: &mut State) -> bool {
    let chat = state.chat_mut();
    if !chat.composer.is_empty() || chat.suggestions.is_empty() || chat.running() {
        return false;
    }
    let suggestion = chat.suggestions.remove(0);
    chat.composer.set(&suggestion);
    true
}

/// A key that no binding took, with the composer in focus.
pub fn typed(state: &mut State, event: KeyEvent) {
    let chat = state.chat_mut();
    chat.cited = None;
    chat.composer.key(event);
}

pub fn pasted(state: &mut State, text: &str) {
    if state.focus != Pane::Chat {
        state.say("Text is pasted into the agent's field; go there with F6 first.");
        return;
    }
    state.chat_mut().cited = None;
    if !state.chat_mut().composer.paste(text) {
        state.complain("That is more than 4 MiB; save it under raw/ and name the file instead.");
    }
}

/// Esc: stops the running turn and nothing else.
pub fn interrupt(state: &mut State) -> Vec<Effect> {
    let role = state.role;
    let other = match role {
        Role::Manager => Role::Reader,
        Role::Reader => Role::Manager,
    };
    let chat = state.chat_mut();
    if chat.running() {
        chat.doing = Doing::Stopping;
        return vec![Effect::Agent(role, AgentCommand::Interrupt)];
    }
    chat.cited = None;
    if state.chat_of(other).running() {
        state.say("The other agent is at work; F2 switches to it.");
    }
    Vec::new()
}

pub fn switch_role(state: &mut State) {
    state.role = match state.role {
        Role::Manager => Role::Reader,
        Role::Reader => Role::Manager,
    };
}

fn cycle(state: &mut State, forward: bool) {
    let all = state.chat().all_cited();
    if all.is_empty() {
        if !take_suggestion(state) {
            state.say("Nothing is cited here yet.");
        }
        return;
    }
    let now = state.chat().cited.and_then(|c| all.iter().position(|a| *a == c));
    let next = match now {
        // The newest answer's first citation is what was asked for.
        None => {
            let newest = all.last().map(|(entry, _)| *entry);
            all.iter().position(|(entry, _)| Some(*entry) == newest).unwrap_or(0)
        }
        Some(at) if forward => (at + 1) % all.len(),
        Some(at) => (at + all.len() - 1) % all.len(),
    };
    let Some(chosen) = all.get(next).copied() else { return };
    let height = usize::try_from(transcript_height(state)).unwrap_or(1).max(1);
    let chat = state.chat_mut();
    chat.cited = Some(chosen);
    let start = chat.row_of(chosen.0);
    let last = chat.rows().saturating_sub(height);
    let top = if chat.follow { last } else { chat.top.min(last) };
    let Some(cited) = chat.citation(chosen) else { return };
    let row = start + cited.spans.first().map_or(0, |(row, _)| *row);
    let label = cited.destination.clone();
    if row < top || row >= top + height {
        chat.top = row.saturating_sub(height / 2).min(last);
        chat.follow = chat.top >= last;
    }
    state.say(format!("{label}   (Enter opens)"));
}

pub fn open_citation(state: &mut State, at: (usize, usize)) -> Vec<Effect> {
    let Some(cited) = state.chat().citation(at).cloned() else { return Vec::new() };
    state.chat_mut().cited = Some(at);
    // The page must be on screen; the chat keeps the focus where both fit.
    if state.size.0 < 80 {
        state.focus = Pane::Page;
    }
    navigate::follow(state, &cited.target, &cited.destination)
}
