//! One entry of a conversation as rows: what `settle` lays out and the chat pane shows.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::agent::event::{Todo, TodoStatus};
use crate::text::{Safe, width};
use crate::tui::markdown::{self, Stream};
use crate::tui::state::chat::{Cited, Item, ToolState};
use crate::tui::theme::Theme;

/// Most rows of a tool's result that are shown.
const RESULT_ROWS: usize = 12;

/// Rows of an item, a blank one last, and the links in it. After another item of the same turn (`gap`) an answer
/// begins with a blank row too. `prepare` turns bare paths of the text into links. `stream` remembers what of an
/// answer that still grows is laid out already.
pub fn rows(
    item: &Item,
    stream: Option<&mut Stream>,
    gap: bool,
    width: u16,
    details: bool,
    theme: &Theme,
    prepare: &dyn Fn(&str) -> String,
) -> (Vec<Line<'static>>, Vec<Cited>) {
    let mut rows = Vec::new();
    let mut cited = Vec::new();
    match item {
        Item::You(text) => {
            prefixed(&mut rows, text, width, "› ", theme.you, theme.strong);
            rows.push(Line::default());
        }
        Item::Told(text) => {
            let head = text.lines().next().unwrap_or_default();
            prefixed(&mut rows, if details { text } else { head }, width, "↳ ", theme.dim, theme.dim);
            rows.push(Line::default());
        }
        Item::Answer(text) => {
            let text = prepare(text);
            let rendered = match stream {
                Some(stream) => {
                    stream.set(&text);
                    stream.rendered(width, theme).clone()
                }
                None => markdown::render_text(&text, width, theme),
            };
            let above = usize::from(gap);
            for link in rendered.links {
                cited.push(Cited {
                    destination: destination(&link.target, &link.destination),
                    target: link.target,
                    spans: link.spans.into_iter().map(|(row, columns)| (row + above, columns)).collect(),
                });
            }
            rows.extend(std::iter::repeat_n(Line::default(), above));
            rows.extend(rendered.lines);
            while rows.last().is_some_and(|l| l.width() == 0) {
                rows.pop();
            }
            rows.push(Line::default());
        }
        Item::Reasoning(text) => {
            if details {
                prefixed(&mut rows, text.trim(), width, "  ", theme.dim, theme.reasoning);
                rows.push(Line::default());
            } else {
                let words = text.split_whitespace().count();
                rows.push(Line::styled(format!("  thought, {words} words"), theme.reasoning));
            }
        }
        Item::Tool { .. } => tool_rows(&mut rows, item, width, details, theme),
        Item::Todos(todos) => {
            todo_rows(&mut rows, todos, width, theme);
            rows.push(Line::default());
        }
        Item::Note { text, bad } => {
            let style = if *bad { theme.error } else { theme.dim };
            prefixed(&mut rows, text, width, if *bad { "✗ " } else { "· " }, style, style);
            rows.push(Line::default());
        }
    }
    (rows, cited)
}

fn destination(target: &crate::okf::Target, written: &str) -> String {
    match target.path() {
        Some(path) => Safe::line(path.relative()).into_string(),
        None => Safe::line(written).into_string(),
    }
}

/// Plain text wrapped behind a mark on its first row.
fn prefixed(
    rows: &mut Vec<Line<'static>>,
    text: &str,
    width: u16,
    mark: &str,
    mark_style: Style,
    style: Style,
) {
    let safe = Safe::block(text);
    let room = usize::from(width).saturating_sub(width::width(mark)).max(1);
    let mut mark = mark.to_owned();
    for line in safe.as_str().split('\n') {
        for range in width::wrap(line, room) {
            let part = line.get(range).unwrap_or_default().to_owned();
            let blank = " ".repeat(width::width(&mark));
            rows.push(Line::from(vec![
                Span::styled(std::mem::replace(&mut mark, blank), mark_style),
                Span::styled(part, style),
            ]));
        }
    }
}

fn tool_rows(rows: &mut Vec<Line<'static>>, item: &Item, width: u16, details: bool, theme: &Theme) {
    let Item::Tool { tool, summary, state, result, .. } = item else { return };
    let state = *state;
    let (glyph, style, time) = match state {
        ToolState::Running => ("◌", theme.accent, String::new()),
        ToolState::Done(time) => ("✓", theme.success, duration(time)),
        ToolState::Failed(time) => ("✗", theme.error, duration(time)),
        ToolState::Stopped => ("■", theme.dim, "stopped".to_owned()),
    };
    let columns = usize::from(width);
    let head = format!("{glyph} ");
    let room = columns.saturating_sub(2 + time.len() + usize::from(!time.is_empty()));
    // The summary says it in words ("read /wiki/a.md"); without one the tool's name has to do.
    let said = if summary.is_empty() { tool } else { summary };
    let (verb, rest) = said.split_once(' ').unwrap_or((said, ""));
    let verb = width::truncate(verb, room);
    let target = shorten(rest, room.saturating_sub(width::width(&verb) + 1));
    let used = 2 + width::width(&verb) + 1 + width::width(&target);
    let pad = columns.saturating_sub(used + time.len());
    rows.push(Line::from(vec![
        Span::styled(head, style),
        Span::styled(verb, theme.tool),
        Span::raw(" "),
        Span::styled(target, theme.dim),
        Span::raw(" ".repeat(pad)),
        Span::styled(time, theme.dim),
    ]));
    let failed = matches!(state, ToolState::Failed(_));
    if (details || failed) && !result.is_empty() {
        let limit = if details { RESULT_ROWS } else { 3 };
        let mut out = Vec::new();
        // No more is laid out than can be shown.
        let head: String = result.chars().take(limit * columns.max(1) * 2).collect();
        prefixed(
            &mut out,
            head.trim_end(),
            width,
            "  ",
            theme.dim,
            if failed { theme.error } else { theme.dim },
        );
        let more = out.len() > limit || head.len() < result.len();
        out.truncate(limit);
        rows.extend(out);
        if more {
            rows.push(Line::styled(format!("  … {} bytes in all", result.len()), theme.dim));
        }
    }
}

fn todo_rows(rows: &mut Vec<Line<'static>>, todos: &[Todo], width: u16, theme: &Theme) {
    for todo in todos {
        let (mark, mark_style, style) = match todo.status {
            TodoStatus::Pending => ("☐ ", theme.dim, theme.text),
            TodoStatus::InProgress => ("▸ ", theme.accent, theme.strong),
            TodoStatus::Completed => ("☑ ", theme.success, theme.dim),
        };
        prefixed(rows, Safe::line(&todo.content).as_str(), width, mark, mark_style, style);
    }
}

/// A target cut to fit; of a path the end says more than the beginning.
fn shorten(target: &str, columns: usize) -> String {
    if !target.starts_with('/') || width::width(target) <= columns {
        return width::truncate(target, columns);
    }
    let mut tail = target;
    while width::width(tail) + 1 > columns {
        let mut chars = tail.chars();
        if chars.next().is_none() {
            return String::new();
        }
        tail = chars.as_str();
    }
    format!("…{tail}")
}

/// `120 ms`, `3.4 s`, `2 min`.
pub fn duration(time: Duration) -> String {
    match time.as_millis() {
        0..1000 => format!("{} ms", time.as_millis()),
        1000..60_000 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min", time.as_secs() / 60),
    }
}
