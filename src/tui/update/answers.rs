//! What the reader's answers rest on, and answers without a model.

use std::collections::HashSet;

use crate::agent::answer::{Cited, WikiAnswer, check};
use crate::agent::citation;
use crate::okf::BundlePath;
use crate::tui::state::State;
use crate::tui::state::chat::{Chat, Item, Source, ToolState};
use crate::wiki::passages::Passage;

/// A turn of the reader has ended: lists what its answer names, each place checked.
pub fn finished(state: &mut State) {
    let text = answer(&state.reader);
    if text.trim().is_empty() {
        return;
    }
    let silent = text.trim().trim_matches(['"', '*', '_', '`']).starts_with(state.fixed.not_found.trim());
    if silent {
        state.reader.push(Item::NotCovered);
        return;
    }
    let sources = sources(state, &text);
    if !sources.is_empty() {
        state.reader.push(Item::Sources(sources));
        return;
    }
    let note = "This answer names no page, so nothing of it can be looked up.";
    state.reader.push(Item::Note { text: note.to_owned(), bad: true });
}

/// What the reader said since the last question.
fn answer(chat: &Chat) -> String {
    let said = chat.entries.iter().rev().map(|entry| &entry.item);
    let said = said.take_while(|item| !matches!(item, Item::You(_)));
    let mut texts: Vec<&str> = said
        .filter_map(|item| match item {
            Item::Answer(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.reverse();
    texts.join("\n\n")
}

fn sources(state: &State, text: &str) -> Vec<Source> {
    let Some(wiki) = &state.wiki else { return Vec::new() };
    let mut named: Vec<Cited> = Vec::new();
    for found in citation::find(text) {
        let cited =
            Cited { path: found.path.to_string(), section: found.fragment, quote: None, problem: None };
        if !named.contains(&cited) {
            named.push(cited);
        }
    }
    let mut answer = WikiAnswer { answer: String::new(), citations: named, not_covered: None, found: true };
    check(&mut answer, wiki, &read(&state.reader));
    let source = |cited: Cited| {
        let path = BundlePath::parse(&cited.path).ok()?;
        let page = wiki.page(&path);
        let section = cited.section.as_deref().and_then(|section| {
            let heading = page?.headings.iter().find(|heading| heading.slug == section)?;
            Some(heading.text.as_str())
        });
        let title = page.map_or_else(|| path.relative(), |page| page.title());
        let title = section.map_or_else(|| title.to_owned(), |section| format!("{title} · {section}"));
        Some(Source { path, fragment: cited.section, title, problem: cited.problem })
    };
    answer.citations.into_iter().filter_map(source).collect()
}

/// Pages that the model was shown in this conversation.
fn read(chat: &Chat) -> HashSet<BundlePath> {
    let shown = chat.entries.iter().filter_map(|entry| match &entry.item {
        Item::Tool { tool, summary, state: ToolState::Done(_), .. } if tool == "read_file" => {
            summary.strip_prefix("read ")
        }
        _ => None,
    });
    shown.filter_map(|path| BundlePath::parse(path).ok()).collect()
}

/// A search without a model has an answer.
pub fn found(state: &mut State, query: String, passages: Vec<Passage>) {
    let chat = &mut state.reader;
    chat.push(Item::Found { query, passages });
    // The best come first, so the list is read from its beginning.
    chat.top = chat.row_of(chat.entries.len().saturating_sub(2));
    chat.follow = false;
    chat.unseen = false;
}
