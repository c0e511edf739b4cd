//! Actions of the chat pane and text typed into its composer.

use crossterm::event::KeyEvent;

use super::transcript::{self, cycle};
use super::{commands, find};
use crate::agent::{AgentCommand, Role};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::keymap::Layer;
use crate::tui::state::chat::{Doing, Item};
use crate::tui::state::command::{self, Said};
use crate::tui::state::completion::{Completion, Offer, missing, spell_out};
use crate::tui::state::{Pane, State};

pub use super::transcript::{copy, open_citation, scroll, show_row, transcript_height};

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let height = transcript_height(state);
    if state.chat().completion.is_some() && offered(state, action) {
        return complete(state, action);
    }
    match action {
        Action::Send => return send(state),
        Action::Newline => {
            state.chat_mut().cited = None;
            state.chat_mut().composer.newline();
            offer(state);
        }
        Action::HistoryPrevious => return previous(state),
        Action::HistoryNext => {
            state.chat_mut().composer.next();
            state.chat_mut().completion = None;
        }
        Action::DraftUndo => {
            state.chat_mut().composer.area.undo();
            offer(state);
        }
        Action::DraftRedo => {
            state.chat_mut().composer.area.redo();
            offer(state);
        }
        Action::DraftOutside => {
            let text = state.chat().composer.whole();
            return vec![Effect::Write { role: state.role, text }];
        }
        Action::Unqueue => return unqueue(state).map(|(_, effect)| effect).into_iter().collect(),
        Action::EntryPrevious => transcript::choose(state, false),
        Action::EntryNext => transcript::choose(state, true),
        Action::Copy => return copy(state),
        Action::Archive => return archive(state),
        Action::Find => find::open(state),
        Action::Up => scroll(state, -1),
        Action::Down => scroll(state, 1),
        Action::PageUp => scroll(state, -(height - 1).max(1)),
        Action::PageDown => scroll(state, (height - 1).max(1)),
        Action::Top => scroll(state, isize::MIN / 2),
        Action::Bottom => scroll(state, isize::MAX / 2),
        Action::LinkNext => cycle(state, true),
        Action::LinkPrevious => cycle(state, false),
        Action::Details => transcript::details(state),
        _ => {}
    }
    Vec::new()
}

/// Whether an action concerns what is offered.
fn offered(state: &State, action: Action) -> bool {
    let layers = state.layers().first() == Some(&Layer::Completion);
    layers && matches!(action, Action::Up | Action::Down | Action::Complete | Action::Close)
}

fn complete(state: &mut State, action: Action) -> Vec<Effect> {
    let chat = state.chat_mut();
    let Some(completion) = &mut chat.completion else { return Vec::new() };
    match action {
        Action::Up => completion.step(false),
        Action::Down => completion.step(true),
        // One press is enough: a running turn is stopped with it.
        Action::Close => {
            chat.completion = None;
            return if chat.running() { interrupt(state) } else { Vec::new() };
        }
        _ => {
            let chosen = completion.chosen().cloned();
            let typed = completion.typed;
            chat.completion = None;
            let Some(chosen) = chosen else { return Vec::new() };
            chat.composer.complete(typed, &chosen.text());
            // A command that takes nothing more is meant to run.
            if matches!(chosen, Offer::Command(command) if command.takes().is_empty()) {
                return send(state);
            }
        }
    }
    Vec::new()
}

/// Looks again for what can be completed at the caret.
fn offer(state: &mut State) {
    let wiki = state.wiki.clone();
    let chat = state.chat_mut();
    let (row, before) = chat.composer.before_caret();
    chat.completion = Completion::at(row, &before, wiki.as_deref());
}

/// Takes the message back that waits last; its text and what tells the agent.
fn unqueue(state: &mut State) -> Option<(String, Effect)> {
    let role = state.role;
    let chat = state.chat_mut();
    let last = chat.waiting.pop()?;
    if let Some(at) = chat.queued.iter().rposition(|said| *said == last.text) {
        chat.queued.remove(at);
    }
    Some((last.text, Effect::Agent(role, AgentCommand::Unqueue(last.id))))
}

/// Takes the message back that waits last, to be changed or dropped; without one, the text that was sent before.
fn previous(state: &mut State) -> Vec<Effect> {
    if state.chat().composer.is_empty()
        && let Some((text, effect)) = unqueue(state)
    {
        state.chat_mut().composer.set(&text);
        return vec![effect];
    }
    state.chat_mut().composer.previous();
    state.chat_mut().completion = None;
    Vec::new()
}

/// Enter: opens the chosen citation, runs a command, else sends; an empty field takes the suggestion first.
fn send(state: &mut State) -> Vec<Effect> {
    if let Some(at) = state.chat().cited {
        return open_citation(state, at);
    }
    state.typed = None;
    state.chat_mut().completion = None;
    let draft = state.chat().composer.text();
    match command::parse(&draft) {
        Said::Command(command, argument) => {
            let (effects, done) = commands::run(state, command, argument);
            // Whatever it did, the field it was typed into is this role's.
            let chats = [&mut state.manager, &mut state.reader];
            if done && let Some(chat) = chats.into_iter().find(|chat| chat.composer.text() == draft) {
                chat.composer.clear();
            }
            return effects;
        }
        Said::Unknown(name) => {
            let text = format!(
                "There is no command /{name}; /help lists them. A blank before it makes it a message."
            );
            state.complain(text);
            return Vec::new();
        }
        Said::Text => {}
    }
    if !state.chat().has_model {
        return without_model(state);
    }
    if state.chat().gone {
        state.complain("This agent has stopped; start wikiwright again to use it.");
        return Vec::new();
    }
    if state.chat().composer.is_empty() {
        take_suggestion(state);
        return Vec::new();
    }
    if names_nothing(state, draft) {
        return Vec::new();
    }
    let Some(text) = state.chat_mut().composer.take() else { return Vec::new() };
    say(state, text)
}

/// Says once of a message that it names files that are not there; true when it is to be looked at before it goes out.
fn names_nothing(state: &mut State, draft: String) -> bool {
    let missing = state.wiki.as_ref().map(|wiki| missing(&draft, wiki)).unwrap_or_default();
    let Some((name, nearest)) = missing.first() else { return false };
    if state.chat_mut().doubted.take().as_ref() == Some(&draft) {
        return false;
    }
    let nearest = nearest.as_ref().map(|path| format!(" The nearest is {}.", path.relative()));
    let more = match missing.len() {
        1 => String::new(),
        count => format!(" {} more are missing.", count - 1),
    };
    let text = format!(
        "Not sent: there is no {name}.{}{more} Enter sends it as it is.",
        nearest.unwrap_or_default()
    );
    state.complain(text);
    state.chat_mut().doubted = Some(draft);
    true
}

/// Tells the role that listens.
pub fn say(state: &mut State, text: String) -> Vec<Effect> {
    let text = spell_out(&text, state.wiki.as_deref());
    let role = state.role;
    let chat = state.chat_mut();
    chat.follow = true;
    chat.unseen = false;
    chat.chosen = None;
    if chat.doing == Doing::Nothing || chat.doing == Doing::Failed {
        chat.doing = Doing::Thinking;
    }
    chat.queued.push_back(text.clone());
    vec![Effect::Agent(role, AgentCommand::Say(text))]
}

/// A question to a reader without a model is answered by a search; the manager cannot work without one.
fn without_model(state: &mut State) -> Vec<Effect> {
    if state.chat().composer.is_empty() {
        return Vec::new();
    }
    if state.role == Role::Manager {
        let key = |action| state.fixed.keymap.hint(Layer::Global, action).unwrap_or_default();
        let text = format!(
            "There is no model to send this to; {} says how to set one. The reader ({}) searches without one.",
            key(Action::Help),
            key(Action::SwitchRole)
        );
        state.complain(text);
        return Vec::new();
    }
    let Some(wiki) = state.wiki.clone() else {
        state.complain("The bundle is still being read; try again in a moment.");
        return Vec::new();
    };
    let Some(query) = state.chat_mut().composer.take() else { return Vec::new() };
    let chat = state.chat_mut();
    chat.follow = true;
    chat.push(Item::You(query.clone()));
    vec![Effect::Search { wiki, query }]
}

/// Puts the next suggestion into the empty field, for the person to send or change.
pub fn take_suggestion(state: &mut State) -> bool {
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
    state.typed = Some(state.clock);
    let chat = state.chat_mut();
    chat.cited = None;
    chat.composer.key(event);
    offer(state);
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
    offer(state);
}

/// What was being written came back from the person's editor.
pub fn written(state: &mut State, role: Role, text: Result<String, String>) {
    match text {
        Ok(text) => state.chat_of_mut(role).composer.replace(text.trim_end()),
        Err(why) => state.complain(why),
    }
}

/// Esc: stops the running turn and nothing else; with none, what was chosen is let go.
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
    chat.chosen = None;
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

/// Hands the reader's chosen or last answer to the manager, which proposes a page for it.
fn archive(state: &mut State) -> Vec<Effect> {
    if !state.manager.has_model {
        state.complain("There is no model to write the page; F1 says how to set one.");
        return Vec::new();
    }
    let reader = &state.reader;
    let is_answer = |at: &usize| matches!(reader.entries.get(*at).map(|e| &e.item), Some(Item::Answer(_)));
    let chosen = reader.chosen.filter(|at| state.role == Role::Reader && is_answer(at));
    let Some(at) = chosen.or_else(|| (0..reader.entries.len()).rev().find(is_answer)) else {
        state.say("The reader has answered nothing yet.");
        return Vec::new();
    };
    if reader.in_turn && at + 2 >= reader.entries.len() {
        state.say("The reader is still answering.");
        return Vec::new();
    }
    let before = reader.entries.get(..at).unwrap_or_default().iter().rev();
    let question = before.map(|e| &e.item).find(|item| matches!(item, Item::You(_))).map(Item::plain);
    let answer = reader.entries.get(at).map(|e| e.item.plain()).unwrap_or_default();
    let sources = reader.entries.get(at + 1).map(|e| &e.item);
    let sources =
        sources.filter(|item| matches!(item, Item::Sources(_))).map(Item::plain).unwrap_or_default();
    let text = format!(
        "Archive this answer of the reader as a page under wiki/syntheses/: its own words where they hold, its sources as links, the index and the log updated. Check each claim against the pages it names first.\n\nQuestion: {}\n\nAnswer:\n\n{}\n\n{sources}",
        question.unwrap_or_default(),
        answer.trim()
    );
    state.role = Role::Manager;
    say(state, text.trim_end().to_owned())
}
