//! Events of the agents.

use super::{answers, review, tree};
use crate::agent::{AgentEvent, Role};
use crate::bundle::ChangeSet;
use crate::bundle::hunk::FileDecision;
use crate::text::Safe;
use crate::tui::effect::{Effect, Opening};
use crate::tui::state::State;
use crate::tui::state::chat::{Doing, Item, ToolState};
use std::sync::Arc;

pub fn event(state: &mut State, role: Role, event: AgentEvent) -> Vec<Effect> {
    let (clock, price) = (state.clock, state.price);
    let chat = state.chat_of_mut(role);
    match event {
        AgentEvent::Said(message) => chat.queued.push_back(message),
        AgentEvent::Notice(text) => chat.push(Item::Note { text, bad: true }),
        AgentEvent::TurnStarted { message } => {
            chat.waiting.clear();
            chat.turn(true, clock);
            chat.doing = Doing::Thinking;
            if chat.queued.front().is_some_and(|said| said.trim() == message.trim()) {
                chat.queued.pop_front();
                chat.push(Item::You(message));
            } else {
                chat.push(Item::Told(message));
            }
        }
        AgentEvent::Steered { message } => {
            // It lies with the agent no more.
            if let Some(at) = chat.queued.iter().position(|said| said.trim() == message.trim()) {
                chat.queued.remove(at);
            }
            chat.waiting.clear();
            chat.push(Item::You(message));
        }
        AgentEvent::Queued(waiting) => chat.waiting = waiting,
        AgentEvent::Compacted { left_out } => {
            let text = match left_out {
                0 => "This conversation is too short to be shortened.".to_owned(),
                count => format!("The model is sent a short record in place of {count} older messages now."),
            };
            chat.push(Item::Note { text, bad: false });
        }
        AgentEvent::SourcesRead(read) => {
            for reading in read {
                let text = format!("read {}", Safe::line(&reading.to_string()));
                chat.push(Item::Note { text, bad: false });
            }
        }
        AgentEvent::Approved { changes, decisions } => {
            let changes = Arc::new(changes);
            let verdicts =
                decisions.into_iter().map(|(path, decision)| (path, FileDecision::Whole(decision))).collect();
            let apply = Effect::Apply { changes: changes.clone(), verdicts, mends: false };
            let mut effects = staged(state, ChangeSet::clone(&changes), None);
            effects.push(apply);
            return effects;
        }
        AgentEvent::Text(delta) => {
            chat.doing = Doing::Answering;
            chat.stream(false, &delta);
        }
        AgentEvent::Reasoning(delta) => {
            chat.doing = Doing::Thinking;
            chat.stream(true, &delta);
        }
        AgentEvent::ToolStarted { call, tool, summary } => {
            let tool = Safe::line(&tool).into_string();
            chat.doing = Doing::Calling(tool.clone());
            let summary = Safe::line(&summary).into_string();
            chat.push(Item::Tool { call, tool, summary, state: ToolState::Running, result: String::new() });
        }
        AgentEvent::ToolFinished { call, ok, result, elapsed } => {
            chat.doing = Doing::Thinking;
            chat.finish_tool(call, ok, result, elapsed);
        }
        AgentEvent::Todos(todos) => {
            // The list is one thing that changes, not a series of lists.
            match chat.entries.iter_mut().rev().find(|e| matches!(e.item, Item::Todos(_))) {
                Some(entry) => {
                    entry.item = Item::Todos(todos);
                    entry.width = None;
                }
                None => chat.push(Item::Todos(todos)),
            }
        }
        AgentEvent::Staged(changes) => return staged(state, changes, None),
        AgentEvent::Rebased(moved) => review::carried(state, &moved),
        AgentEvent::AwaitingReview(changes) => return staged(state, changes, Some(Opening::Arrived)),
        // The workbench's reader answers in prose.
        AgentEvent::Answered(_) => {}
        // Listed when the turn ends.
        AgentEvent::Cited(cited) => chat.checked = cited,
        AgentEvent::Usage(usage) => {
            chat.usage += usage;
            chat.context = usage.input.saturating_add(usage.output);
            if let Some(price) = price {
                chat.cost = Some(chat.cost.unwrap_or_default().saturating_add(price.exact(usage)));
            }
        }
        AgentEvent::Window(window) => state.window = window,
        AgentEvent::Retrying { attempt, wait, cause } => {
            chat.doing = Doing::Waiting { attempt, wait };
            chat.push(Item::Note {
                text: format!(
                    "{}; trying again in {:.0} s",
                    cause.trim_end_matches(['.', '?']),
                    wait.as_secs_f64()
                ),
                bad: true,
            });
        }
        AgentEvent::Finished { interrupted } => {
            chat.turn(false, clock);
            chat.doing = Doing::Nothing;
            chat.stop_tools();
            if interrupted {
                chat.push(Item::Note { text: "stopped".to_owned(), bad: false });
            } else if role == Role::Reader {
                answers::finished(state);
            }
        }
        AgentEvent::Failed(why) => failed(state, role, why),
        AgentEvent::Stopped(stop) => failed(state, role, stop.to_string()),
    }
    Vec::new()
}

fn failed(state: &mut State, role: Role, why: String) {
    let clock = state.clock;
    let chat = state.chat_of_mut(role);
    chat.turn(false, clock);
    chat.doing = Doing::Failed;
    chat.stop_tools();
    chat.push(Item::Note { text: why, bad: true });
}

/// The set of pending changes is another one.
pub fn staged(state: &mut State, changes: ChangeSet, open: Option<Opening>) -> Vec<Effect> {
    if let Some(mending) = &mut state.mending {
        mending.waiting = Some((changes, open));
        return Vec::new();
    }
    state.staged = Arc::new(changes);
    tree::rebuild(state);
    if state.staged.is_empty() {
        review::nothing_left(state);
        return Vec::new();
    }
    if open.is_none() && state.review.is_none() {
        return Vec::new();
    }
    vec![Effect::Weigh { changes: state.staged.clone(), open }]
}

pub fn gone(state: &mut State, role: Role) {
    let clock = state.clock;
    let chat = state.chat_of_mut(role);
    if !chat.gone {
        chat.gone = true;
        chat.turn(false, clock);
        chat.doing = Doing::Failed;
        chat.stop_tools();
        let text = "This agent has stopped for good; start wikiwright again to use it.".to_owned();
        chat.push(Item::Note { text, bad: true });
    }
}
