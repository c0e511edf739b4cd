//! What the reader's answers rest on, and answers without a model.

use crate::agent::answer::{self, Cited};
use crate::okf::BundlePath;
use crate::tui::state::State;
use crate::tui::state::chat::{Chat, Item, Source};
use crate::wiki::passages::Passage;

/// A turn of the reader has ended: lists what its answer names, each place checked.
pub fn finished(state: &mut State) {
    let text = said(&state.reader);
    let sources = sources(state);
    if text.trim().is_empty() {
        return;
    }
    if answer::is_silent(&text, &state.fixed.not_found) {
        state.reader.push(Item::NotCovered);
        return;
    }
    if !sources.is_empty() {
        state.reader.push(Item::Sources(sources));
        return;
    }
    let note = "This answer names no page, so nothing of it can be looked up.";
    state.reader.push(Item::Note { text: note.to_owned(), bad: true });
}

/// What the reader said since the last question.
fn said(chat: &Chat) -> String {
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

/// The pages that the session held the answer against, as the reader sees them listed.
fn sources(state: &mut State) -> Vec<Source> {
    let cited = std::mem::take(&mut state.reader.checked);
    let source = |cited: Cited| {
        let path = BundlePath::parse(&cited.path).ok()?;
        let page = state.wiki.as_ref().and_then(|wiki| wiki.page(&path));
        let section = cited.section.as_deref().and_then(|section| {
            let heading = page?.headings.iter().find(|heading| heading.slug == section)?;
            Some(heading.text.as_str())
        });
        let title = page.map_or_else(|| path.relative(), |page| page.title());
        let title = section.map_or_else(|| title.to_owned(), |section| format!("{title} · {section}"));
        Some(Source { path, fragment: cited.section, title, quote: cited.quote, problem: cited.problem })
    };
    cited.into_iter().filter_map(source).collect()
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
