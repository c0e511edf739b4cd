//! Actions of the tree pane.

use super::{keys, navigate};
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::layout::{inner, regions};
use crate::tui::state::tree::RowKind;
use crate::tui::state::{Pane, State};

pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let page = regions(state).tree.map_or(1, |r| usize::from(inner(r).height)).max(1);
    let tree = &mut state.tree;
    let last = tree.rows.len().saturating_sub(1);
    match action {
        Action::Up => tree.selected = tree.selected.saturating_sub(1),
        Action::Down => tree.selected = (tree.selected + 1).min(last),
        Action::PageUp => tree.selected = tree.selected.saturating_sub(page),
        Action::PageDown => tree.selected = (tree.selected + page).min(last),
        Action::Top => tree.selected = 0,
        Action::Bottom => tree.selected = last,
        Action::Open => return open(state, true),
        Action::Toggle => return open(state, false),
        Action::Fold => fold(state),
        Action::Unfold => {
            if let Some((path, RowKind::Folder { open: false })) =
                tree.row().map(|r| (r.path.clone(), r.kind))
            {
                tree.open.insert(path);
                rebuild(state);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Opens what is chosen: a folder folds or unfolds, a page is shown, and gets the focus when `go`.
pub fn open(state: &mut State, go: bool) -> Vec<Effect> {
    let Some(row) = state.tree.row().cloned() else { return Vec::new() };
    if let RowKind::Folder { open } = row.kind {
        if open {
            state.tree.open.remove(&row.path);
        } else {
            state.tree.open.insert(row.path);
        }
        rebuild(state);
        return Vec::new();
    }
    if go {
        keys::focus(state, Pane::Page);
    }
    navigate::open(state, &row.path, None)
}

fn fold(state: &mut State) {
    let Some(row) = state.tree.row().cloned() else { return };
    if row.kind == (RowKind::Folder { open: true }) {
        state.tree.open.remove(&row.path);
        rebuild(state);
    } else if let Some(parent) = row.path.parent() {
        state.tree.select(&parent);
    }
}

pub fn rebuild(state: &mut State) {
    if let Some(wiki) = &state.wiki {
        state.tree.rebuild(wiki, &state.staged);
    }
}
