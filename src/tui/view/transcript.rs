//! One entry of a conversation as rows: what `settle` lays out and the chat pane shows.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::agent::event::{Todo, TodoStatus};
use crate::okf::{BundlePath, Target};
use crate::text::{Safe, width};
use crate::tui::markdown::{self, Stream};
use crate::tui::state::chat::{Cited, Item, NOT_COVERED, Source, ToolState};
use crate::tui::theme::Theme;
use crate::wiki::passages::Passage;

/// Most rows of a tool's result that are shown.
const RESULT_ROWS: usize = 12;
/// The same when the person unfolded this one.
const OPENED_ROWS: usize = 500;

/// Rows of an item, unfolded with `details` unless the person has said so of this one (`opened`), a blank one last, and the links in it. After another item of the same turn (`gap`) an answer
/// begins with a blank row too. `prepare` turns bare paths of the text into links. `stream` remembers what of an
/// answer that still grows is laid out already.
pub fn rows(
    item: &Item,
    stream: Option<&mut Stream>,
    gap: bool,
    width: u16,
    (details, opened): (bool, Option<bool>),
    theme: &Theme,
    prepare: &dyn Fn(&str) -> String,
) -> (Vec<Line<'static>>, Vec<Cited>) {
    let mut rows = Vec::new();
    let mut cited = Vec::new();
    let details = opened.unwrap_or(details);
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
                    quote: None,
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
        Item::Tool { .. } => tool_rows(&mut rows, item, width, details, opened, theme),
        Item::Todos(todos) => {
            todo_rows(&mut rows, todos, width, theme);
            rows.push(Line::default());
        }
        Item::Sources(sources) => {
            for (at, source) in sources.iter().enumerate() {
                source_row(&mut rows, &mut cited, at + 1, source, width, theme);
            }
            rows.push(Line::default());
        }
        Item::NotCovered => {
            prefixed(&mut rows, NOT_COVERED, width, "∅ ", theme.warning, theme.warning);
            rows.push(Line::default());
        }
        Item::Found { query, passages } => found_rows(&mut rows, &mut cited, query, passages, width, theme),
        Item::Note { text, bad } => {
            let style = if *bad { theme.error } else { theme.dim };
            prefixed(&mut rows, text, width, if *bad { "✗ " } else { "· " }, style, style);
            rows.push(Line::default());
        }
    }
    (rows, cited)
}

/// One numbered place, and why it cannot be relied on.
fn source_row(
    rows: &mut Vec<Line<'static>>,
    cited: &mut Vec<Cited>,
    number: usize,
    source: &Source,
    width: u16,
    theme: &Theme,
) {
    let style = if source.problem.is_some() { theme.link_broken } else { theme.link };
    let title = Safe::line(&source.title).into_string();
    linked(rows, cited, number, &title, (&source.path, source.fragment.as_deref()), (width, style), theme);
    if let Some(quote) = &source.quote {
        prefixed(rows, &format!("“{}”", Safe::line(quote)), width, "   ", theme.dim, theme.quote);
        if let Some(cited) = cited.last_mut() {
            cited.quote = Some(quote.clone());
        }
    }
    if let Some(problem) = source.problem {
        let text = format!("not verified: {problem}");
        prefixed(rows, &text, width, "   ✗ ", theme.error, theme.error);
    }
}

/// A numbered title that opens a place, and the place itself where there is room for it.
fn linked(
    rows: &mut Vec<Line<'static>>,
    cited: &mut Vec<Cited>,
    number: usize,
    title: &str,
    (path, fragment): (&BundlePath, Option<&str>),
    (width, style): (u16, Style),
    theme: &Theme,
) {
    let head = format!("{number:>2} ");
    let indent = width::width(&head);
    let room = usize::from(width).saturating_sub(indent).max(1);
    let mut spans = Vec::new();
    for (nth, range) in width::wrap(title, room).into_iter().enumerate() {
        let part = title.get(range).unwrap_or_default().trim_end().to_owned();
        let end = indent + width::width(&part);
        let columns = u16::try_from(indent).unwrap_or(0)..u16::try_from(end).unwrap_or(u16::MAX);
        spans.push((rows.len(), columns));
        let mark = if nth == 0 { head.clone() } else { " ".repeat(indent) };
        rows.push(Line::from(vec![Span::styled(mark, theme.accent), Span::styled(part, style)]));
    }
    let place = Safe::line(path.relative()).into_string();
    let place =
        fragment.map_or_else(|| place.clone(), |fragment| format!("{place}#{}", Safe::line(fragment)));
    if let Some(last) = rows.last_mut() {
        let used = last.width();
        let free = usize::from(width).saturating_sub(used + 2);
        if width::width(&place) <= free {
            let pad = usize::from(width).saturating_sub(used + width::width(&place));
            last.spans.push(Span::raw(" ".repeat(pad)));
            last.spans.push(Span::styled(place.clone(), theme.dim));
        }
    }
    let target = Target::Path {
        path: path.clone(),
        absolute: true,
        folder: false,
        fragment: fragment.map(str::to_owned),
    };
    cited.push(Cited { target, destination: place, quote: None, spans });
}

/// Passages that a plain search found.
fn found_rows(
    rows: &mut Vec<Line<'static>>,
    cited: &mut Vec<Cited>,
    query: &str,
    passages: &[Passage],
    width: u16,
    theme: &Theme,
) {
    let text = match passages.len() {
        0 => format!("No model answers, and a search found nothing for “{query}”. Try other words."),
        count => format!(
            "No model answers: {count} {} found by a plain search.",
            if count == 1 { "passage" } else { "passages" }
        ),
    };
    prefixed(rows, &text, width, "· ", theme.warning, theme.warning);
    rows.push(Line::default());
    for (at, passage) in passages.iter().enumerate() {
        let title = Safe::line(&passage.title).into_string();
        linked(
            rows,
            cited,
            at + 1,
            &title,
            (&passage.path, passage.fragment.as_deref()),
            (width, theme.link),
            theme,
        );
        prefixed(rows, &passage.text, width, "   ", theme.text, theme.text);
        rows.push(Line::default());
    }
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

fn tool_rows(
    rows: &mut Vec<Line<'static>>,
    item: &Item,
    width: u16,
    details: bool,
    opened: Option<bool>,
    theme: &Theme,
) {
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
    let shown = details || (failed && opened.is_none());
    let opened = opened == Some(true);
    if shown && !result.is_empty() {
        // What failed is open from the start.
        let limit = if opened { OPENED_ROWS } else { RESULT_ROWS };
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
            let text = match opened {
                true => format!("  … cut here; {} bytes in all", result.len()),
                false => {
                    format!("  … {} bytes in all; Alt-↑ and Ctrl-O, or a click, show more", result.len())
                }
            };
            rows.push(Line::styled(width::truncate(&text, columns), theme.dim));
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
