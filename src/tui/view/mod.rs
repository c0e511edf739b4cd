//! Draws a state. Changes nothing, computes nothing that is not on screen, and stays within the buffer at any size.

pub mod chat;
pub mod explanation;
pub mod help;
pub mod history;
pub mod overlay;
pub mod page;
pub mod paint;
pub mod review;
pub mod status;
pub mod transcript;
pub mod tree;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::state::layout::{MIN, regions};
use super::state::{Overlay, Pane, State};

pub fn draw(state: &State, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width == 0 || area.height == 0 {
        return;
    }
    let regions = regions(state);
    if regions.small || area.width < MIN.0 || area.height < MIN.1 {
        small(area, frame);
        return;
    }
    let mut cursor = None;
    if let Some(tabs) = regions.tabs {
        status::tabs(state, tabs, frame.buffer_mut());
    }
    if let Some(area) = regions.tree {
        tree::draw(state, area, frame.buffer_mut());
    }
    if let Some(area) = regions.page {
        page::draw(state, area, frame.buffer_mut());
    }
    if let Some(area) = regions.chat {
        let caret = chat::draw(state, area, frame.buffer_mut());
        let alone = match state.overlays.last() {
            None => state.focus == Pane::Chat,
            Some(overlay) => matches!(overlay, Overlay::Find(find) if find.typing),
        };
        if alone {
            cursor = caret;
        }
    }
    if let Some(area) = regions.banner {
        status::banner(state, area, frame.buffer_mut());
    }
    status::draw(state, regions.status, frame.buffer_mut());
    for (index, over) in state.overlays.iter().enumerate() {
        let top = index + 1 == state.overlays.len();
        match over {
            Overlay::Help { top, of } => overlay::help(state, *top, *of, frame.buffer_mut()),
            Overlay::Problems(problems) => overlay::problems(state, problems, frame.buffer_mut()),
            Overlay::Explanation { rule, top } => explanation::draw(state, rule, *top, frame.buffer_mut()),
            Overlay::Review => review::draw(state, frame.buffer_mut()),
            Overlay::Summary { summary, top } => overlay::summary(state, summary, *top, frame.buffer_mut()),
            Overlay::Confirm(question) => overlay::confirm(state, question, frame.buffer_mut()),
            Overlay::Reason { line, whole } => {
                let caret = overlay::reason(state, line, *whole, frame.buffer_mut());
                if top {
                    cursor = caret;
                }
            }
            Overlay::Edit(edit) => {
                let caret = review::edit(state, edit, frame.buffer_mut());
                if top {
                    cursor = caret;
                }
            }
            Overlay::Sheet(sheet) => overlay::sheet(state, sheet, frame.buffer_mut()),
            // Drawn in the pane that it searches.
            Overlay::Find(_) => {}
            Overlay::Picker(picker) => {
                let caret = overlay::picker(state, picker, frame.buffer_mut());
                if top {
                    cursor = caret;
                }
            }
            Overlay::History(history) => history::draw(state, history, frame.buffer_mut()),
        }
    }
    status::notice(state, regions.status, frame.buffer_mut());
    if let Some(cursor) = cursor.filter(|c| area.contains(*c)) {
        frame.set_cursor_position(cursor);
    }
}

/// One plain line, cut to what there is.
fn small(area: Rect, frame: &mut Frame<'_>) {
    let text = format!("too small: needs {}x{}", MIN.0, MIN.1);
    let text: String = text.chars().take(usize::from(area.width)).collect();
    frame.buffer_mut().set_string(area.x, area.y, text, ratatui::style::Style::default());
}
