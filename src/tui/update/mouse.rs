//! The mouse: a click focuses and opens, the wheel scrolls what is under the pointer.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::{chat, history, keys, navigate, overlay, picker, transcript, tree};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::layout::{self, inner, overlay_box, page_text, regions};
use crate::tui::state::{Overlay, Pane, State};

/// Rows per notch of the wheel.
const WHEEL: isize = 3;

pub fn mouse(state: &mut State, event: MouseEvent) -> Vec<Effect> {
    let at = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::ScrollUp => wheel(state, at, -WHEEL),
        MouseEventKind::ScrollDown => wheel(state, at, WHEEL),
        MouseEventKind::Down(MouseButton::Left) => {
            state.notice = None;
            click(state, at)
        }
        _ => Vec::new(),
    }
}

fn wheel(state: &mut State, at: Position, by: isize) -> Vec<Effect> {
    if !state.overlays.is_empty() {
        if let Some(Overlay::Review) = state.overlays.last()
            && layout::review(state).files.contains(at)
            && let Some(review) = &mut state.review
        {
            review.list_top = review.list_top.saturating_add_signed(by);
            return Vec::new();
        }
        if let Some(Overlay::History(_)) = state.overlays.last()
            && layout::history(state).1.contains(at)
        {
            return history::scroll(state, by);
        }
        let action = if by < 0 { Action::Up } else { Action::Down };
        for _ in 0..by.unsigned_abs() {
            keys::act(state, action);
        }
        return Vec::new();
    }
    match regions(state).pane_at(at.x, at.y) {
        // The view moves and the choice stays, as everywhere.
        Some(Pane::Tree) => state.tree.top = state.tree.top.saturating_add_signed(by),
        Some(Pane::Page) => state.page.top = state.page.top.saturating_add_signed(by),
        Some(Pane::Chat) => chat::scroll(state, by),
        None => {}
    }
    Vec::new()
}

fn click(state: &mut State, at: Position) -> Vec<Effect> {
    if !state.overlays.is_empty() {
        return click_overlay(state, at);
    }
    let regions = regions(state);
    if let Some(tabs) = regions.tabs.filter(|t| t.contains(at)) {
        let third = tabs.width / 3;
        let pane = match at.x {
            x if x < third => Pane::Tree,
            x if x < 2 * third => Pane::Page,
            _ => Pane::Chat,
        };
        keys::focus(state, pane);
        return Vec::new();
    }
    let Some(pane) = regions.pane_at(at.x, at.y) else { return Vec::new() };
    keys::focus(state, pane);
    match (pane, regions.pane(pane)) {
        (Pane::Tree, Some(area)) => {
            let Some(row) = row_in(inner(area), at) else { return Vec::new() };
            let index = state.tree.top + row;
            if index >= state.tree.rows.len() {
                return Vec::new();
            }
            state.tree.selected = index;
            tree::open(state, false)
        }
        (Pane::Page, Some(area)) => {
            let text = page_text(area);
            let Some(row) = row_in(text, at) else { return Vec::new() };
            let Some(link) = state.page.link_at(state.page.top + row, at.x - text.x) else {
                return Vec::new();
            };
            state.page.link = Some(link);
            match state.page.target(link) {
                Some((target, written)) => navigate::follow(state, &target, &written),
                None => Vec::new(),
            }
        }
        (Pane::Chat, Some(area)) => {
            let text = layout::chat(state, area).transcript;
            let Some(row) = row_in(text, at) else { return Vec::new() };
            let top = state.chat().top;
            match state.chat().cited_at(top + row, at.x - text.x) {
                Some(cited) => chat::open_citation(state, cited),
                None => {
                    if let Some(entry) = state.chat().entry_at(top + row) {
                        transcript::toggle(state, entry);
                    }
                    Vec::new()
                }
            }
        }
        _ => Vec::new(),
    }
}

fn click_overlay(state: &mut State, at: Position) -> Vec<Effect> {
    let Some(area) = overlay_box(state) else { return Vec::new() };
    let review = layout::review(state);
    let list = layout::history(state).0;
    let top = state.problems_top();
    match state.overlays.last_mut() {
        Some(Overlay::Problems(problems)) => {
            if let Some(row) = row_in(inner(area), at).filter(|row| top + row < problems.rows.len()) {
                problems.selected = top + row;
                return overlay::open_problem(state);
            }
        }
        Some(Overlay::Review) => {
            if let Some(row) = row_in(review.files, at)
                && let Some(review) = &mut state.review
                && review.list_top + row < review.files.len()
            {
                review.armed = true;
                review.select(review.list_top + row);
            } else if let Some(row) = row_in(
                Rect { y: review.diff.y + 1, height: review.diff.height.saturating_sub(1), ..review.diff },
                at,
            ) && let Some(review) = &mut state.review
                && let Some(file) = review.file_mut()
                && let Some((_, diff)) = &file.diff
            {
                let row = file.top + row;
                if let Some(hunk) = diff.hunks.iter().position(|rows| rows.contains(&row)) {
                    file.hunk = hunk;
                }
            }
        }
        Some(Overlay::Picker(list)) => {
            let area = layout::picker_list(area);
            if let Some(row) = row_in(area, at) {
                let row = layout::picker_top(list, area) + row;
                if row < list.shown.len() {
                    list.selected = row;
                    return picker::choose(state);
                }
            }
        }
        Some(Overlay::History(history)) => {
            if let Some(row) = row_in(list, at).filter(|row| history.list_top + row < history.list().len()) {
                history.selected = history.list_top + row;
                history.top = 0;
            }
        }
        _ => {}
    }
    Vec::new()
}

fn row_in(area: Rect, at: Position) -> Option<usize> {
    area.contains(at).then(|| usize::from(at.y - area.y))
}
