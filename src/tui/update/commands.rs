//! What the commands of the composer do.

use super::{chat, keys, picker, review};
use crate::agent::client::Money;
use crate::agent::client::price::rounded;
use crate::agent::{AgentCommand, Role};
use crate::bundle::ledger::record::Direction;
use crate::bundle::waiting;
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::tui::effect::{Effect, Opening};
use crate::tui::state::chat::Item;
use crate::tui::state::command::Command;
use crate::tui::state::picker::Choosing;
use crate::tui::state::{Body, Overlay, Sheet, State};
use crate::tui::view::status::tokens;

/// Runs a command. False as the second: it could not run, and its text is to stay in the field.
pub fn run(state: &mut State, command: Command, argument: &str) -> (Vec<Effect>, bool) {
    let role = state.role;
    let mut effects = Vec::new();
    match command {
        Command::Help => keys::help(state),
        Command::Quit => effects = keys::quit(state),
        Command::Review => effects = review::open(state, Opening::Called),
        Command::Lint => keys::open_problems(state),
        Command::Undo => effects.push(Effect::Turn { id: None, direction: Direction::Undo }),
        Command::Cost => cost(state),
        Command::Role => match argument {
            "" => chat::switch_role(state),
            "manager" => state.role = Role::Manager,
            "reader" => state.role = Role::Reader,
            _ => {
                state.complain("There are two roles: /role manager and /role reader.");
                return (effects, false);
            }
        },
        Command::Export => {
            let text = export(state);
            if state.chat().entries.is_empty() {
                state.complain("Nothing was said yet, so there is nothing to export.");
                return (effects, false);
            }
            effects.push(Effect::Export { file: argument.to_owned(), text });
        }
        Command::Ingest if !state.manager.has_model => return (no_model(state), false),
        Command::Ingest if argument.is_empty() => {
            let Some(wiki) = state.wiki.clone() else {
                state.complain("The bundle is still being read; try again in a moment.");
                return (effects, false);
            };
            picker::open(state, Choosing::Source);
            effects.push(Effect::Sources(wiki));
        }
        Command::Ingest => {
            let name = argument.trim_start_matches(['@', '/']);
            let known = |state: &State, name: &str| {
                let path = BundlePath::parse(&format!("/{name}")).ok()?;
                let raw = BundlePath::parse("/raw").ok()?;
                let wiki = state.wiki.as_ref()?;
                (path.is_within(&raw)
                    && wiki.files().chain(wiki.pages().map(|p| &p.path)).any(|f| *f == path))
                .then_some(path)
            };
            match known(state, name).or_else(|| known(state, &format!("raw/{name}"))) {
                Some(path) => effects = ingest(state, path.relative()),
                None => {
                    state.complain(format!("There is no raw/{name}; /ingest alone lists the sources."));
                    return (effects, false);
                }
            }
        }
        // The rest concerns an agent that must be there and must rest.
        Command::New | Command::Resume | Command::Model | Command::Compact if !state.chat().has_model => {
            return (no_model(state), false);
        }
        Command::Model if state.manager.running() || state.reader.running() => {
            return (at_work(state), false);
        }
        Command::New | Command::Resume | Command::Compact if state.chat().running() => {
            return (at_work(state), false);
        }
        Command::New | Command::Resume if role == Role::Manager && pending(state) => {
            let files = waiting(state.staged.files.len());
            state.complain(format!(
                "{files} for review, and a new conversation would lose them: decide them first (/review)."
            ));
            return (effects, false);
        }
        Command::New => effects.push(Effect::Begin { role, id: None }),
        Command::Resume if argument.is_empty() => {
            picker::open(state, Choosing::Conversation);
            effects.push(Effect::Kept(role));
        }
        Command::Resume => effects = take_up(state, argument),
        Command::Model if argument.is_empty() => {
            picker::open(state, Choosing::Model);
            effects.push(Effect::Models);
        }
        Command::Model => effects = connect(state, argument),
        Command::Compact => effects.push(Effect::Agent(role, AgentCommand::Compact)),
    }
    (effects, true)
}

fn no_model(state: &mut State) -> Vec<Effect> {
    state.complain("There is no model for this; /help says how to set one.");
    Vec::new()
}

fn at_work(state: &mut State) -> Vec<Effect> {
    state.complain("An agent is at work; stop it with Esc or let it end first.");
    Vec::new()
}

fn pending(state: &State) -> bool {
    state.mending.is_some() || !state.staged.is_empty()
}

/// Has the manager work a source in; `source` as people name it, such as `raw/report.pdf`.
pub fn ingest(state: &mut State, source: &str) -> Vec<Effect> {
    state.role = Role::Manager;
    chat::say(state, format!("Ingest {source}"))
}

/// Another conversation takes this one's place.
pub fn take_up(state: &mut State, id: &str) -> Vec<Effect> {
    vec![Effect::Begin { role: state.role, id: Some(id.to_owned()) }]
}

/// The next questions go to this model.
pub fn connect(_: &mut State, model: &str) -> Vec<Effect> {
    vec![Effect::Connect(model.to_owned())]
}

/// A conversation began, or one that was kept is taken up; its past follows.
pub fn began(state: &mut State, role: Role, fresh: bool) {
    let chat = state.chat_of_mut(role);
    chat.forget();
    if fresh {
        state.say("A new conversation; the one before is kept: /resume goes on with it.");
    }
}

/// Another model answers from now on.
pub fn connected(state: &mut State, outcome: Result<(String, Option<crate::agent::client::Price>), String>) {
    match outcome {
        Ok((model, price)) => {
            let model = Safe::line(&model).into_string();
            state.say(format!("{model} answers from now on."));
            (state.fixed.model, state.price, state.window) = (Some(model), price, None);
        }
        Err(why) => state.complain(why),
    }
}

/// Lays the tokens and their cost over everything.
fn cost(state: &mut State) {
    let mut items = Vec::new();
    for role in [Role::Manager, Role::Reader] {
        let chat = state.chat_of(role);
        let usage = chat.usage;
        let name = match role {
            Role::Manager => "manager",
            Role::Reader => "reader",
        };
        let mut text = format!(
            "{name}: {} tokens in ({} of them from the provider's cache), {} out",
            tokens(usage.input),
            tokens(usage.cached),
            tokens(usage.output)
        );
        if let Some(cost) = chat.cost {
            text.push_str(&format!(", {}", Money(rounded(cost)).short()));
        }
        items.push(("  ", text));
        if chat.context > 0 {
            let share = state.window.filter(|w| *w > 0).map(|window| {
                format!(" of {} ({} %)", tokens(window), chat.context.saturating_mul(100) / window)
            });
            let text = format!(
                "{name}: the last question filled {}{}",
                tokens(chat.context),
                share.unwrap_or_default()
            );
            items.push(("  ", text));
        }
    }
    if state.price.is_none() {
        items.push((
            "  ",
            "What it costs is not known: set the model's price under [prices] in config.toml.".to_owned(),
        ));
    }
    let title = "Tokens and cost".to_owned();
    state.overlays.push(Overlay::Sheet(Sheet { title, body: Body::List(items), top: 0 }));
}

/// The conversation as markdown.
fn export(state: &State) -> String {
    let who = match state.role {
        Role::Manager => "Manager",
        Role::Reader => "Reader",
    };
    let mut out = format!("# Conversation with the {} of {}\n", who.to_lowercase(), state.fixed.name);
    for entry in &state.chat().entries {
        let part = match &entry.item {
            Item::You(text) => format!("## You\n\n{text}"),
            Item::Told(text) => format!("## Told by the workbench\n\n{text}"),
            Item::Answer(text) => format!("## {who}\n\n{text}"),
            Item::Reasoning(text) => quoted("Reasoning", text),
            Item::Tool { summary, tool, result, .. } => quoted(&format!("`{tool}` {summary}"), result),
            Item::Note { text, .. } => format!("*{text}*"),
            other => other.plain(),
        };
        out.push('\n');
        out.push_str(part.trim_end());
        out.push('\n');
    }
    out
}

fn quoted(head: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("> {line}\n")).collect();
    format!("> **{head}**\n>\n{lines}")
}
