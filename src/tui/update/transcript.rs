//! Moving in the transcript: scrolling, choosing entries and citations, unfolding, copying.

use super::chat::take_suggestion;
use super::navigate;
use crate::agent::answer;
use crate::okf::{BundlePath, Target};
use crate::text::Span;
use crate::tui::effect::Effect;
use crate::tui::state::chat::{Cited, Item};
use crate::tui::state::layout::{self, regions};
use crate::tui::state::page::Goto;
use crate::tui::state::{Pane, State};

pub fn transcript_height(state: &State) -> isize {
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

/// Brings a row of the transcript into view.
pub fn show_row(state: &mut State, row: usize) {
    let height = usize::try_from(transcript_height(state)).unwrap_or(1).max(1);
    let chat = state.chat_mut();
    let last = chat.rows().saturating_sub(height);
    let top = if chat.follow { last } else { chat.top.min(last) };
    if row < top || row >= top + height {
        chat.top = row.saturating_sub(height / 2).min(last);
        chat.follow = chat.top >= last;
    } else {
        chat.top = top;
    }
}

/// Chooses the entry above or below; from nothing, the last one.
pub fn choose(state: &mut State, below: bool) {
    let chat = state.chat_mut();
    let last = chat.entries.len().saturating_sub(1);
    if chat.entries.is_empty() {
        return;
    }
    chat.chosen = match (chat.chosen, below) {
        (None, false) => Some(last),
        (None, true) => None,
        (Some(at), true) if at >= last => None,
        (Some(at), true) => Some(at + 1),
        (Some(at), false) => Some(at.saturating_sub(1)),
    };
    chat.cited = None;
    match chat.chosen {
        Some(at) => {
            let row = state.chat().row_of(at);
            show_row(state, row);
        }
        None => scroll(state, isize::MAX / 2),
    }
}

/// Unfolds or folds the chosen entry, or everything that can be folded.
pub fn details(state: &mut State) {
    let chat = state.chat_mut();
    match chat.chosen {
        Some(at) => {
            toggle(state, at);
            // What unfolds is read from its beginning.
            let chat = state.chat_mut();
            if chat.entries.get(at).is_some_and(|entry| entry.open == Some(true)) {
                chat.top = chat.row_of(at);
                chat.follow = false;
            }
        }
        None => {
            chat.details = !chat.details;
            for entry in &mut chat.entries {
                entry.width = None;
                entry.open = None;
            }
        }
    }
}

/// Unfolds or folds one entry; true when it is one that can be.
pub fn toggle(state: &mut State, at: usize) {
    let chat = state.chat_mut();
    let details = chat.details;
    if let Some(entry) = chat.entries.get_mut(at)
        && matches!(entry.item, Item::Tool { .. } | Item::Reasoning(_) | Item::Told(_))
    {
        entry.open = Some(!entry.open.unwrap_or(details));
        entry.width = None;
    }
}

/// Copies what the chosen entry says, or the last answer, as it was written: no breaks and marks of the screen.
pub fn copy(state: &mut State) -> Vec<Effect> {
    let chat = state.chat();
    let answer = || chat.entries.iter().rposition(|e| matches!(e.item, Item::Answer(_) | Item::Found { .. }));
    let Some(entry) = chat.chosen.or_else(answer).and_then(|at| chat.entries.get(at)) else {
        state.say("There is no answer to copy yet.");
        return Vec::new();
    };
    vec![Effect::Copy(entry.item.plain().trim().to_owned())]
}

/// Chooses the next citation.
pub fn cycle(state: &mut State, forward: bool) {
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
    let chat = state.chat_mut();
    chat.cited = Some(chosen);
    let start = chat.row_of(chosen.0);
    let Some(cited) = chat.citation(chosen) else { return };
    let row = start + cited.spans.first().map_or(0, |(row, _)| *row);
    let label = cited.destination.clone();
    show_row(state, row);
    state.say(format!("{label}   (Enter opens)"));
}

/// Opens what a citation names, at the words that the answer quotes of it.
pub fn open_citation(state: &mut State, at: (usize, usize)) -> Vec<Effect> {
    let Some(cited) = state.chat().citation(at).cloned() else { return Vec::new() };
    state.chat_mut().cited = Some(at);
    // The page must be on screen; the chat keeps the focus where both fit.
    if state.size.0 < 80 {
        state.focus = Pane::Page;
    }
    match passage(state, at.0, &cited) {
        Some((path, passage)) => {
            let effects = navigate::open(state, &path, Some(Goto::Offset(passage.start)));
            state.page.passage = Some((path, passage));
            effects
        }
        None => navigate::follow(state, &cited.target, &cited.destination),
    }
}

/// Where the words stand that a citation of the entry `at` quotes. A link within the answer says what its place in the list below
/// the answer says.
fn passage(state: &State, at: usize, cited: &Cited) -> Option<(BundlePath, Span)> {
    let Target::Path { path, fragment, .. } = &cited.target else { return None };
    let listed = || {
        let below = state.chat().entries.iter().skip(at + 1);
        let mut below = below.take_while(|entry| !matches!(entry.item, Item::You(_)));
        let sources = below.find_map(|entry| match &entry.item {
            Item::Sources(sources) => Some(sources),
            _ => None,
        })?;
        let same = sources.iter().find(|source| source.path == *path && source.fragment == *fragment);
        same?.quote.clone()
    };
    let quote = cited.quote.clone().or_else(listed)?;
    let wiki = state.wiki.as_ref()?;
    let found = answer::passage(wiki.page(path)?, fragment.as_deref(), &quote)?;
    Some((path.clone(), found))
}
