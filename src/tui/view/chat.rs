//! The chat pane: transcript, composer, and what stands there before anything was said.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{paint, status};
use crate::agent::Role;
use crate::agent::client::Money;
use crate::agent::client::price::rounded;
use crate::bundle::waiting;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::chat::{Chat, Doing};
use crate::tui::state::completion::Offer;
use crate::tui::state::find::Find;
use crate::tui::state::layout::{self, ChatRegions};
use crate::tui::state::{Overlay, Pane, State};
use crate::tui::theme::Theme;

const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];

/// Draws the pane and says where the caret is.
pub fn draw(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.fixed.theme;
    let focused = state.focus == Pane::Chat;
    let chat = state.chat();
    let doing = doing(state, chat, theme);
    let room = usize::from(area.width).saturating_sub(5 + doing.width());
    paint::frame(buffer, area, &title(state, chat, room, theme), &doing, focused, theme);
    let regions = layout::chat(state, area);
    if chat.entries.is_empty() && chat.queued.is_empty() {
        empty(state, chat, regions.transcript, buffer);
    } else {
        transcript(state, chat, &regions, buffer);
        paint::scrollbar(
            buffer,
            Rect { height: regions.transcript.height + 2, ..area },
            chat.top,
            chat.rows(),
            theme,
            focused,
        );
    }
    composer(state, chat, &regions, buffer)
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Manager => "manager",
        Role::Reader => "reader",
    }
}

/// Role, what the other one does, model, and the key that switches: as much as fits.
fn title(state: &State, chat: &Chat, columns: usize, theme: &Theme) -> Line<'static> {
    let other = match state.role {
        Role::Manager => Role::Reader,
        Role::Reader => Role::Manager,
    };
    let key = state.fixed.keymap.hint(Layer::Global, Action::SwitchRole).unwrap_or_default();
    let model = match &state.fixed.model {
        Some(model) if chat.has_model => model.clone(),
        _ => "no model".to_owned(),
    };
    let mut parts = vec![vec![Span::styled(format!(" {} ", role_name(state.role)), theme.title)]];
    if state.chat_of(other).running() {
        parts.push(vec![Span::styled(format!("({} at work) ", role_name(other)), theme.accent)]);
    }
    parts.push(vec![Span::styled(format!("{model} "), theme.dim)]);
    parts.push(vec![Span::styled(format!("{key}: {} ", role_name(other)), theme.dim)]);
    paint::fitting(parts, "", columns, theme.dim)
}

fn doing(state: &State, chat: &Chat, theme: &Theme) -> Line<'static> {
    let turn = usize::try_from(state.ticks).unwrap_or(0);
    let spinner = SPINNER.get(turn % SPINNER.len()).copied().unwrap_or_default();
    let (text, style) = match &chat.doing {
        Doing::Nothing if state.role == Role::Manager && !state.staged.is_empty() => {
            (format!(" {} ", waiting(state.staged.files.len())), theme.staged)
        }
        Doing::Nothing => return Line::default(),
        Doing::Thinking => (format!(" {spinner} thinking "), theme.accent),
        Doing::Answering => (format!(" {spinner} answering "), theme.accent),
        Doing::Calling(tool) => (format!(" {spinner} {} ", width::truncate(tool, 16)), theme.accent),
        Doing::Waiting { attempt, .. } => (format!(" {spinner} retry {attempt} "), theme.warning),
        Doing::Stopping => (" stopping ".to_owned(), theme.warning),
        Doing::Failed => (" failed ".to_owned(), theme.error),
    };
    Line::styled(text, style)
}

/// What an empty conversation says: what this role does, how to set a model, what to try.
fn empty(state: &State, chat: &Chat, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let mut texts: Vec<(String, ratatui::style::Style)> = Vec::new();
    let about = match state.role {
        Role::Manager => {
            "The manager reads sources and proposes page edits. Nothing is written before you approve it."
        }
        Role::Reader => "The reader answers from this bundle only and cites its pages. It cannot write.",
    };
    let about = [(about.to_owned(), theme.dim), (String::new(), theme.dim)];
    if chat.has_model {
        texts.extend(about);
        if let Some(suggestion) = chat.suggestions.first() {
            texts.push(("Try:".to_owned(), theme.dim));
            texts.push((Safe::line(suggestion).into_string(), theme.strong));
            texts.push(("Enter puts it into the field, Enter again sends it.".to_owned(), theme.dim));
        }
    } else {
        // First, because a small screen shows no more.
        let key = state.fixed.keymap.hint(Layer::Global, Action::Help).unwrap_or_default();
        let text = format!("No model: {key} says why, and how to set one (OPENAI_API_KEY).");
        texts.extend([(text, theme.warning), (String::new(), theme.dim)]);
        texts.extend(about);
    }
    let mut row = 0;
    for (text, style) in texts {
        for range in width::wrap(&text, usize::from(area.width)) {
            let part = text.get(range).unwrap_or_default().to_owned();
            paint::line(buffer, area, row, &Line::styled(part, style));
            row += 1;
        }
    }
}

fn transcript(state: &State, chat: &Chat, regions: &ChatRegions, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let area = regions.transcript;
    let height = usize::from(area.height);
    let mut start = 0;
    for (index, entry) in chat.entries.iter().enumerate() {
        let end = start + entry.rows.len();
        if end > chat.top && start < chat.top + height {
            for (offset, row) in entry.rows.iter().enumerate() {
                if let Some(at) = (start + offset).checked_sub(chat.top) {
                    paint::line(buffer, area, at, row);
                }
            }
            if let Some(cited) = chat.cited.filter(|(e, _)| *e == index).and_then(|at| chat.citation(at)) {
                for (row, columns) in &cited.spans {
                    if let Some(at) = (start + row).checked_sub(chat.top) {
                        paint::restyle(buffer, area, at, columns.clone(), theme.link_focused);
                    }
                }
            }
        }
        if chat.chosen == Some(index) {
            // A bar beside it, in the column of air.
            let gutter = Rect { x: area.x.saturating_sub(1), width: 1, ..area };
            for at in
                (start..end.saturating_sub(1).max(start + 1)).filter_map(|row| row.checked_sub(chat.top))
            {
                paint::line(buffer, gutter, at, &Line::styled("▌", theme.accent));
            }
        }
        start = end;
    }
    if let Some(Overlay::Find(find)) = state.overlays.last() {
        for (nth, place) in find.places.iter().enumerate() {
            let row = chat.row_of(place.entry) + place.row;
            if let Some(at) = row.checked_sub(chat.top).filter(|at| *at < height) {
                let style = if nth == find.at { theme.selected } else { theme.found };
                paint::restyle(buffer, area, at, place.columns.clone(), style);
            }
        }
    }
    // What waits to be said stands below, where there is room.
    let used = start.saturating_sub(chat.top);
    for (index, message) in chat.queued.iter().enumerate() {
        let line = width::truncate(Safe::line(message).as_str(), usize::from(area.width).saturating_sub(10));
        let row = used + index;
        if row < height {
            let last = index + 1 == chat.queued.len() && !chat.waiting.is_empty();
            let hint = if last { "  waiting: ↑ edits, Ctrl-X drops" } else { "  waiting" };
            let line =
                width::truncate(&line, usize::from(area.width).saturating_sub(2 + width::width(hint)).max(8));
            paint::line(buffer, area, row, &Line::styled(format!("› {line}{hint}"), theme.dim));
        }
    }
    if chat.unseen && !chat.follow {
        let label = " ↓ new below, Ctrl-End ";
        let columns = u16::try_from(width::width(label)).unwrap_or(0);
        let at = Rect {
            x: (area.x + area.width).saturating_sub(columns),
            y: (area.y + area.height).saturating_sub(1),
            width: columns.min(area.width),
            height: 1,
        };
        paint::line(buffer, at, 0, &Line::styled(label, theme.selected));
    }
}

/// The line above the field: what the conversation fills and costs.
fn rule(state: &State, chat: &Chat, columns: usize, style: ratatui::style::Style) -> Line<'static> {
    let theme = &state.fixed.theme;
    let mut facts = Vec::new();
    let mut fact = |text: String| facts.push(vec![Span::styled(text, theme.dim)]);
    if chat.context > 0 {
        fact(match state.window.filter(|window| *window > 0) {
            Some(window) => format!("context {} %", chat.context.saturating_mul(100) / window),
            None => format!("context {}", status::tokens(chat.context)),
        });
    }
    if let Some(cost) = chat.cost {
        fact(Money(rounded(cost)).short());
    }
    let since = chat.started.map(|started| state.clock.saturating_sub(started)).or(chat.took);
    if let Some(time) = since {
        fact(status::clock(time));
    }
    // Last, because the bottom line says it too.
    if chat.usage.input + chat.usage.output > 0 {
        fact(format!("{}↑ {}↓", status::tokens(chat.usage.input), status::tokens(chat.usage.output)));
    }
    let facts = paint::fitting(facts, " · ", columns.saturating_sub(6), theme.dim);
    if facts.width() == 0 {
        return Line::styled("─".repeat(columns), style);
    }
    let left = columns.saturating_sub(facts.width() + 4);
    let mut spans = vec![Span::styled(format!("{} ", "─".repeat(left)), style)];
    spans.extend(facts.spans);
    spans.push(Span::styled(" ──".to_owned(), style));
    Line::from(spans)
}

/// The field of the search, and how much was found.
fn find_field(find: &Find, area: Rect, theme: &Theme, buffer: &mut Buffer) -> Option<Position> {
    let count = match find.places.len() {
        0 if find.line.text.trim().is_empty() => "Enter finds, Esc closes".to_owned(),
        0 => "not found".to_owned(),
        count if find.typing => format!("{}/{count}", find.at + 1),
        count => format!("{}/{count}  n N / Esc", find.at + 1),
    };
    let columns = usize::from(area.width);
    let head = "/ ";
    let room = columns.saturating_sub(width::width(head) + width::width(&count) + 2).max(1);
    let mut shown = Safe::line(&find.line.text).into_string();
    while width::width(&shown) > room {
        shown = shown.chars().skip(1).collect();
    }
    let caret = u16::try_from(width::width(head) + width::width(&shown)).unwrap_or(0);
    let pad = columns.saturating_sub(usize::from(caret) + width::width(&count));
    let line = Line::from(vec![
        Span::styled(head, theme.key),
        Span::styled(shown, theme.text),
        Span::raw(" ".repeat(pad)),
        Span::styled(count, theme.dim),
    ]);
    paint::line(buffer, area, 0, &paint::cut(&line, columns));
    Some(Position { x: area.x.saturating_add(caret), y: area.y })
}

/// What can be completed, right above the field.
fn offers(state: &State, regions: &ChatRegions, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let Some(completion) = &state.chat().completion else { return };
    let area = layout::offers(state, regions);
    let height = usize::from(area.height);
    let top =
        completion.selected.saturating_sub(height / 2).min(completion.offers.len().saturating_sub(height));
    let columns = usize::from(area.width);
    for (row, (at, offer)) in completion.offers.iter().enumerate().skip(top).take(height).enumerate() {
        let line = match offer {
            Offer::Command(command) => {
                // What it does says more than what it may take.
                let (takes, room) = if columns >= 70 { (command.takes(), 26) } else { ("", 12) };
                let name = format!("│ /{} {takes}", command.name());
                Line::from(vec![
                    Span::styled(format!("{name:<room$}"), theme.key),
                    Span::styled(command.does(), theme.text),
                ])
            }
            Offer::File(path) => {
                let files = completion.offers.iter().filter_map(|offer| match offer {
                    Offer::File(path) => Some(path.relative()),
                    Offer::Command(_) => None,
                });
                let name = paint::shorten_among(path.relative(), files, columns.saturating_sub(2));
                Line::styled(format!("│ {}", Safe::line(&name)), theme.text)
            }
        };
        ratatui::widgets::Clear.render(
            Rect { y: area.y + u16::try_from(row).unwrap_or(0), height: 1, ..area }.intersection(buffer.area),
            buffer,
        );
        paint::line(buffer, area, row, &paint::cut(&line, columns));
        if at == completion.selected {
            paint::row_style(buffer, area, row, theme.selected);
        }
    }
}

fn composer(state: &State, chat: &Chat, regions: &ChatRegions, buffer: &mut Buffer) -> Option<Position> {
    let theme = &state.fixed.theme;
    let area = regions.composer.intersection(buffer.area);
    if area.height == 0 {
        return None;
    }
    let focused = state.focus == Pane::Chat;
    let rule_style = if focused { theme.border_focused } else { theme.border };
    paint::line(buffer, area, 0, &rule(state, chat, usize::from(area.width), rule_style));
    if let Some(Overlay::Find(find)) = state.overlays.last() {
        return find_field(find, Rect { y: area.y + 1, height: area.height - 1, ..area }, theme, buffer);
    }
    offers(state, regions, buffer);
    if area.height > 1 {
        let mark = Rect { y: area.y + 1, height: 1, ..area };
        paint::line(buffer, mark, 0, &Line::styled("›", if focused { theme.you } else { theme.dim }));
    }
    let field = regions.field.intersection(buffer.area);
    if field.width == 0 || field.height == 0 {
        return None;
    }
    if chat.composer.is_empty() {
        let text = match (chat.has_model, chat.running(), state.role) {
            (false, _, Role::Reader) => "no model: search this bundle",
            (false, ..) => "no model: / lists commands",
            (true, true, _) => "Esc stops the turn; what you write now waits",
            (true, false, Role::Manager) => "tell the manager what to do",
            (true, false, Role::Reader) => "ask about this bundle",
        };
        paint::line(
            buffer,
            field,
            0,
            &Line::styled(width::truncate(text, usize::from(field.width)), theme.dim),
        );
        return Some(Position { x: field.x, y: field.y });
    }
    (&chat.composer.area).render(field, buffer);
    let at = chat.composer.area.screen_cursor();
    let (top, left) = chat.composer.area.scroll_offset();
    let x = u16::try_from(at.col).unwrap_or(u16::MAX).saturating_sub(left);
    let y = u16::try_from(at.row).unwrap_or(u16::MAX).saturating_sub(top);
    Some(Position {
        x: field.x.saturating_add(x).min(field.x + field.width - 1),
        y: field.y.saturating_add(y).min(field.y + field.height - 1),
    })
}
