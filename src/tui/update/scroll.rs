//! Actions of the page pane.

use super::navigate;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::State;
use crate::tui::state::layout::{page_text, regions};
use crate::tui::state::page::Goto;

pub fn page(state: &mut State, action: Action) -> Vec<Effect> {
    let height = regions(state).page.map_or(1, |r| usize::from(page_text(r).height)).max(1);
    // A line of overlap keeps the thread of reading.
    let screen = height.saturating_sub(1).max(1);
    let rows = state.page.rows();
    let last = rows.saturating_sub(height);
    let top = state.page.top;
    match action {
        Action::Up => state.page.top = top.saturating_sub(1),
        Action::Down => state.page.top = (top + 1).min(last),
        Action::HalfUp => state.page.top = top.saturating_sub(height / 2),
        Action::HalfDown => state.page.top = (top + height / 2).min(last),
        Action::PageUp => state.page.top = top.saturating_sub(screen),
        Action::PageDown => state.page.top = (top + screen).min(last),
        Action::Top => state.page.top = 0,
        Action::Bottom => state.page.top = last,
        Action::LinkNext => cycle(state, true, height),
        Action::LinkPrevious => cycle(state, false, height),
        Action::Open => return open(state),
        Action::FindingNext => finding(state, true),
        Action::FindingPrevious => finding(state, false),
        _ => {}
    }
    Vec::new()
}

/// Chooses the next link: from the chosen one if it is in view, else from the first one in view.
fn cycle(state: &mut State, forward: bool, height: usize) {
    let count = state.page.rendered.as_ref().map_or(0, |r| r.links.len());
    if count == 0 {
        state.say("This page has no links.");
        return;
    }
    let top = state.page.top;
    let seen = |link: usize| state.page.link_rows(link).is_some_and(|(a, b)| b >= top && a < top + height);
    let next = match state.page.link.filter(|l| seen(*l)) {
        Some(link) if forward => (link + 1) % count,
        Some(link) => (link + count - 1) % count,
        None if forward => {
            (0..count).find(|l| state.page.link_rows(*l).is_some_and(|(a, _)| a >= top)).unwrap_or(0)
        }
        None => (0..count)
            .rev()
            .find(|l| state.page.link_rows(*l).is_some_and(|(a, _)| a < top + height))
            .unwrap_or(count - 1),
    };
    state.page.link = Some(next);
    if let Some((first, last)) = state.page.link_rows(next) {
        if first < top {
            state.page.top = first.saturating_sub(1);
        } else if last >= top + height {
            state.page.top = (last + 2).saturating_sub(height);
        }
    }
    if let Some((_, written)) = state.page.target(next) {
        state.say(written);
    }
}

pub fn open(state: &mut State) -> Vec<Effect> {
    let Some(link) = state.page.link else {
        state.say("Tab chooses a link, Enter follows it.");
        return Vec::new();
    };
    match state.page.target(link) {
        Some((target, written)) => navigate::follow(state, &target, &written),
        None => Vec::new(),
    }
}

/// Scrolls to the next place of this page with a finding and says what it is.
fn finding(state: &mut State, forward: bool) {
    let Some(path) = state.page.path.clone() else { return };
    let mut places: Vec<(usize, String)> = state
        .findings_of(&path)
        .map(|f| {
            let row = f.span.and_then(|s| state.page.row_of(&Goto::Offset(s.start))).unwrap_or(0);
            (row.saturating_sub(3), format!("{} {}", f.rule.code, f.message))
        })
        .collect();
    places.sort_by_key(|(row, _)| *row);
    let top = state.page.top;
    let found = if forward {
        places.iter().find(|(row, _)| *row > top).or(places.first())
    } else {
        places.iter().rev().find(|(row, _)| *row < top).or(places.last())
    };
    match found.cloned() {
        Some((row, message)) => {
            state.page.top = row;
            state.say(message);
        }
        None => state.say("This page has no findings."),
    }
}
