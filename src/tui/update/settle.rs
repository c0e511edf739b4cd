//! After events and before a frame: clamps what scrolls to what there is, lays out the transcript at the width it
//! has, and asks for drawings that are out of date.

use super::citations;
use crate::tui::effect::Effect;
use crate::tui::event::Diff;
use crate::tui::state::chat::Item;
use crate::tui::state::find;
use crate::tui::state::layout::{self, diff_text, inner, overlay_box, page_text, regions};
use crate::tui::state::page::Document;
use crate::tui::state::{Body, Overlay, Pane, State};
use crate::tui::view;

/// How many diffs after the chosen one are drawn before they are needed.
const AHEAD: usize = 3;

pub fn settle(state: &mut State) -> Vec<Effect> {
    let mut effects = Vec::new();
    let width = state.size.0;
    if (80..120).contains(&width) && state.focus != Pane::Page {
        state.side = state.focus;
    }
    let regions = regions(state);
    if regions.small {
        return effects;
    }
    if let Some(area) = regions.tree {
        let height = usize::from(inner(area).height);
        let tree = &mut state.tree;
        tree.top = tree.top.min(tree.rows.len().saturating_sub(height));
        if tree.selected != tree.settled {
            tree.top = into_view(tree.top, tree.selected, height);
            tree.settled = tree.selected;
        }
    }
    if let Some(area) = regions.page {
        effects.extend(page(state, page_text(area).width));
        let height = usize::from(page_text(area).height);
        if state.page.goto.is_none() {
            state.page.top = state.page.top.min(state.page.rows().saturating_sub(height));
        }
    }
    if let Some(area) = regions.chat {
        let transcript = layout::chat(state, area).transcript;
        chat(state, transcript.width, usize::from(transcript.height));
    }
    overlays(state, &mut effects);
    effects
}

/// `top` moved just so far that `row` is visible.
pub fn into_view(top: usize, row: usize, height: usize) -> usize {
    if row < top {
        row
    } else if row >= top.saturating_add(height) {
        (row + 1).saturating_sub(height)
    } else {
        top
    }
}

fn page(state: &mut State, width: u16) -> Option<Effect> {
    let page = &mut state.page;
    let document = page.document.as_ref()?;
    if !page.stale && page.width == width {
        return None;
    }
    page.stale = false;
    page.width = width;
    page.ticket += 1;
    match document {
        Document::Page(document) => Some(Effect::RenderPage {
            ticket: page.ticket,
            page: document.clone(),
            wiki: state.wiki.clone()?,
            width,
        }),
        Document::Text { path, text } => {
            Some(Effect::RenderText { ticket: page.ticket, path: path.clone(), text: text.clone(), width })
        }
    }
}

fn chat(state: &mut State, width: u16, height: usize) {
    let wiki = state.wiki.clone();
    let theme = state.fixed.theme.clone();
    let ticks = state.ticks;
    let chat = state.chat_mut();
    let details = chat.details;
    let mut gap = false;
    let in_turn = chat.in_turn;
    let last = chat.entries.len().saturating_sub(1);
    for (index, entry) in chat.entries.iter_mut().enumerate() {
        // Only the last entry grows.
        let grows = in_turn && index == last && matches!(entry.item, Item::Answer(_));
        if !grows {
            entry.stream = None;
        }
        // What has rows and still grows can wait for the next tick.
        let waits = in_turn && entry.is_long() && !entry.rows.is_empty() && entry.made == ticks;
        if entry.width != Some(width) && !waits {
            entry.made = ticks;
            let exists = |path: &_| wiki.as_ref().is_some_and(|w| w.page(path).is_some());
            let link = |text: &str| citations::link_paths(text, &exists);
            if grows {
                entry.stream.get_or_insert_default();
            }
            let stream = entry.stream.as_deref_mut();
            let (rows, cited) =
                view::transcript::rows(&entry.item, stream, gap, width, (details, entry.open), &theme, &link);
            entry.rows = rows;
            entry.cited = cited;
            entry.width = Some(width);
        }
        // These end without a blank row, so that a series of them stands close.
        gap = matches!(entry.item, Item::Tool { .. })
            || (matches!(entry.item, Item::Reasoning(_)) && !entry.open.unwrap_or(details));
    }
    let last = chat.rows().saturating_sub(height);
    if chat.follow {
        chat.top = last;
    }
    chat.top = chat.top.min(last);
    if chat.cited.is_some_and(|c| chat.citation(c).is_none()) {
        chat.cited = None;
    }
    let chat = state.chat();
    // What was found may stand elsewhere now.
    let found = match state.overlays.last() {
        Some(Overlay::Find(find)) => find::places(chat, &find.line.text),
        _ => return,
    };
    if let Some(Overlay::Find(find)) = state.overlays.last_mut() {
        find.at = find.at.min(found.len().saturating_sub(1));
        find.places = found;
    }
}

fn overlays(state: &mut State, effects: &mut Vec<Effect>) {
    let area = overlay_box(state).map(inner).unwrap_or_default();
    let height = usize::from(area.height);
    let fixed = &state.fixed;
    let regions = layout::review(state);
    let history_regions = layout::history(state);
    let split = layout::split(state);
    match state.overlays.last_mut() {
        Some(Overlay::Help { top, of }) => {
            let rows = view::help::rows(fixed, *of, usize::from(view::overlay::padded(area).width)).len();
            *top = (*top).min(rows.saturating_sub(height));
        }
        Some(Overlay::Explanation { rule, top }) => {
            let rows = view::explanation::rows(rule, view::overlay::padded(area).width, &fixed.theme).len();
            *top = (*top).min(rows.saturating_sub(height));
        }
        Some(Overlay::Summary { top, summary }) => {
            let rows =
                view::overlay::summary_rows(summary, view::overlay::padded(area).width, &fixed.theme).len();
            *top = (*top).min(rows.saturating_sub(height));
        }
        Some(Overlay::Review) => {
            let Some(review) = &mut state.review else { return };
            let text = diff_text(regions.diff);
            let height = usize::from(regions.files.height);
            review.list_top = review.list_top.min(review.files.len().saturating_sub(height));
            if review.selected != review.listed {
                review.list_top = into_view(review.list_top, review.selected, height);
                review.listed = review.selected;
            }
            let reveal = review.reveal;
            if let Some(file) = review.file_mut()
                && let Some((_, diff)) = &file.diff
            {
                place(&mut file.top, &mut file.hunk, diff, reveal, usize::from(text.height));
                review.reveal = false;
            }
            // The next files are drawn ahead, so that walking through them does not wait.
            let mut asked = Vec::new();
            for file in review.files.iter().skip(review.selected).take(1 + AHEAD) {
                let key = review.wanted(file, text.width, split);
                if file.diff.as_ref().is_none_or(|(drawn, _)| *drawn != key)
                    && !review.asked.contains(&key)
                    && let Some(change) = review.changes.file(&file.weighed.path)
                {
                    let replaced = file.replaced();
                    effects.push(Effect::RenderDiff { file: change.clone(), key, replaced });
                    asked.push(key);
                }
            }
            review.asked.extend(asked);
        }
        Some(Overlay::Sheet(sheet)) => {
            let text = view::overlay::padded(area);
            if let Body::Page { path, drawn, asked } = &mut sheet.body
                && drawn.as_ref().is_none_or(|(width, _)| *width != text.width)
                && *asked != Some(text.width)
                && let Some(review) = &state.review
            {
                *asked = Some(text.width);
                effects.push(Effect::Preview {
                    changes: review.changes.clone(),
                    verdicts: review.forecast.clone(),
                    path: path.clone(),
                    wiki: state.wiki.clone(),
                    width: text.width,
                });
            }
            let rows = view::overlay::sheet_rows(sheet, text.width, &fixed.theme).len();
            sheet.top = sheet.top.min(rows.saturating_sub(height));
        }
        Some(Overlay::History(history)) => {
            let (list, set) = history_regions;
            let height = usize::from(list.height);
            history.selected = history.selected.min(history.list().len().saturating_sub(1));
            history.list_top = into_view(history.list_top, history.selected, height);
            if let Some(id) = history.record().map(|record| record.id) {
                let wanted = (id, set.width.saturating_sub(1));
                let there = history.drawn.as_ref().is_some_and(|(id, width, _)| (*id, *width) == wanted);
                if !there && history.asked != Some(wanted) {
                    history.asked = Some(wanted);
                    effects.push(Effect::RenderSet { id, width: wanted.1 });
                }
            }
            let rows = history.drawn.as_ref().map_or(0, |(.., lines)| lines.len());
            history.top = history.top.min(rows.saturating_sub(usize::from(set.height).saturating_sub(1)));
        }
        _ => {}
    }
}

/// Brings the hunk at hand into view, or after scrolling takes the first one in view; a decision is about what is seen.
fn place(top: &mut usize, hunk: &mut usize, diff: &Diff, reveal: bool, height: usize) {
    if reveal && let Some(rows) = diff.hunks.get(*hunk) {
        let fits = rows.start > *top && rows.end <= *top + height;
        if !fits {
            // Two rows before it, for what it stands in.
            *top = rows.start.saturating_sub(2);
        }
    }
    *top = (*top).min(diff.lines.len().saturating_sub(height));
    let seen = |rows: &std::ops::Range<usize>| rows.start < *top + height && rows.end > *top;
    if !diff.hunks.get(*hunk).is_some_and(seen)
        && let Some(first) = diff.hunks.iter().position(seen)
    {
        *hunk = first;
    }
}
