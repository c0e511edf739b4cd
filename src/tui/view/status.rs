//! The bottom lines and the tab strip of the narrow layout.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};

use super::paint;
use crate::agent::Role;
use crate::bundle::waiting;
use crate::okf::BundlePath;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::{Overlay, Pane, State};

pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let columns = usize::from(area.width).saturating_sub(2);
    let at = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let mut parts: Vec<Vec<Span<'static>>> = vec![vec![Span::styled(mode(state), theme.key)]];
    parts.push(vec![Span::styled(width::truncate(&state.fixed.name, 24), theme.strong)]);
    parts.push(lint(state));
    if state.root_gone {
        parts.push(vec![Span::styled("folder gone: open it again", theme.error)]);
    }
    if state.read_only {
        parts.push(vec![Span::styled("read-only", theme.warning)]);
    }
    if !state.staged.is_empty() {
        parts.push(vec![Span::styled(waiting(state.staged.files.len()), theme.staged)]);
    }
    if let Some(model) = &state.fixed.model {
        parts.push(vec![Span::styled(width::truncate(Safe::line(model).as_str(), 24), theme.dim)]);
    }
    let usage = state.chat().usage;
    if usage.input + usage.output > 0 {
        let text = format!("{}↑ {}↓", tokens(usage.input), tokens(usage.output));
        parts.push(vec![Span::styled(text, theme.dim)]);
    }
    parts.extend(hints(state));
    paint::line(buffer, at, 0, &paint::fitting(parts, "  ", columns, theme.dim));
}

/// What was last said, over the frame's lower edge: the hints below it stay in view.
pub fn notice(state: &State, status: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let Some(notice) = &state.notice else { return };
    let row = Rect { y: status.y.saturating_sub(1), ..status };
    let style = if notice.bad { theme.error } else { theme.strong };
    let line = Line::styled(format!(" {} ", notice.text), style);
    let line = paint::cut(&line, usize::from(row.width));
    // Over a frame it is a label; of the banner nothing may go on behind it as if it belonged to it.
    let columns = match state.fixed.banner {
        Some(_) => row.width,
        None => u16::try_from(line.width()).unwrap_or(row.width),
    };
    Clear.render(Rect { width: columns, ..row }.intersection(buffer.area), buffer);
    paint::line(buffer, row, 0, &line);
}

fn mode(state: &State) -> &'static str {
    match state.overlays.last() {
        Some(Overlay::Help { .. }) => "HELP",
        Some(Overlay::Problems(_)) => "FINDINGS",
        Some(Overlay::Explanation { .. }) => "RULE",
        Some(Overlay::Sheet(_)) if state.review.is_none() => "TEXT",
        Some(Overlay::Review | Overlay::Reason { .. } | Overlay::Edit(_) | Overlay::Sheet(_)) => "REVIEW",
        Some(Overlay::Find(_)) => "SEARCH",
        Some(Overlay::Picker(_)) => "CHOOSE",
        Some(Overlay::Summary { .. }) => "WRITTEN",
        Some(Overlay::History(_)) => "HISTORY",
        Some(Overlay::Confirm(_)) => "QUESTION",
        None => match state.focus {
            Pane::Tree => "TREE",
            Pane::Page => "PAGE",
            Pane::Chat => match state.role {
                Role::Manager => "MANAGER",
                Role::Reader => "READER",
            },
        },
    }
}

fn lint(state: &State) -> Vec<Span<'static>> {
    let theme = &state.fixed.theme;
    if state.unreadable.is_some() {
        return vec![Span::styled("unreadable", theme.error)];
    }
    if state.report.is_none() {
        return vec![Span::styled("reading…", theme.dim)];
    }
    let counts = state.counts.get(&BundlePath::root()).copied().unwrap_or_default();
    if counts.total() == 0 {
        return vec![Span::styled("✓ no findings", theme.success)];
    }
    let mut spans = Vec::new();
    for (count, letter, style) in [
        (counts.errors, "E", theme.error),
        (counts.warnings, "W", theme.warning),
        (counts.hints, "H", theme.hint),
    ] {
        let gap = if spans.is_empty() { "" } else { " " };
        let style = if count > 0 { style } else { theme.dim };
        spans.push(Span::styled(format!("{gap}{count}{letter}"), style));
    }
    spans
}

/// `850`, `12.3k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// `0:07`, `12:30`, `1:02:03`.
pub fn clock(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

fn hints(state: &State) -> Vec<Vec<Span<'static>>> {
    let theme = &state.fixed.theme;
    let wanted: &[(Layer, Action, &str)] = match state.overlays.last() {
        Some(Overlay::Problems(list)) if !list.rows.is_empty() => &[
            (Layer::Problems, Action::Open, "goes there, opens a group"),
            (Layer::Problems, Action::Mend, "shows its fix"),
            (Layer::Problems, Action::Explain, "explains"),
            (Layer::Problems, Action::Close, "closes"),
        ],
        Some(_) => &[(Layer::Review, Action::Close, "closes")],
        None => match state.focus {
            Pane::Tree => &[
                (Layer::Tree, Action::Open, "open"),
                (Layer::Global, Action::FocusNext, "next pane"),
                (Layer::Global, Action::Problems, "findings"),
                (Layer::Global, Action::Help, "help"),
                (Layer::Plain, Action::Quit, "quit"),
            ],
            Pane::Page => &[
                (Layer::Page, Action::LinkNext, "link"),
                (Layer::Page, Action::Open, "follow"),
                (Layer::Page, Action::Back, "back"),
                (Layer::Global, Action::FocusNext, "next pane"),
                (Layer::Global, Action::Help, "help"),
                (Layer::Plain, Action::Quit, "quit"),
            ],
            Pane::Chat => &[
                (Layer::Chat, Action::Send, "send"),
                (Layer::Global, Action::SwitchRole, "role"),
                (Layer::Global, Action::FocusNext, "next pane"),
                (Layer::Global, Action::Help, "help"),
                (Layer::Global, Action::Quit, "quit"),
            ],
        },
    };
    wanted
        .iter()
        .filter_map(|(layer, action, what)| {
            let key = state.fixed.keymap.hint(*layer, *action)?;
            Some(vec![Span::styled(key, theme.key), Span::styled(format!(" {what}"), theme.dim)])
        })
        .collect()
}

pub fn banner(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    if let Some(text) = &state.fixed.banner {
        paint::row_style(buffer, area, 0, theme.banner);
        let line = Line::styled(format!(" {}", Safe::line(text)), theme.banner);
        paint::line(buffer, area, 0, &paint::cut(&line, usize::from(area.width)));
    }
}

/// One third of the width for each pane, so that a click finds it.
pub fn tabs(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let third = area.width / 3;
    let agent = match state.role {
        Role::Manager => "Manager",
        Role::Reader => "Reader",
    };
    for (index, (pane, name)) in
        [(Pane::Tree, "Tree"), (Pane::Page, "Page"), (Pane::Chat, agent)].into_iter().enumerate()
    {
        let x = area.x + third * u16::try_from(index).unwrap_or(0);
        let cell = Rect { x, width: third, ..area };
        let busy = pane == Pane::Chat && state.chat().running();
        let label = format!(" {name}{} ", if busy { " ◐" } else { "" });
        let style = if pane == state.focus { theme.selected } else { theme.dim };
        paint::row_style(buffer, cell, 0, style);
        paint::line(buffer, cell, 0, &Line::styled(label, style));
    }
}
