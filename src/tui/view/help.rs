//! The help, generated from the keymap, and how to set a model.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::width;
use crate::tui::keymap::Layer;
use crate::tui::state::Fixed;
use crate::tui::theme::Theme;

const LAYERS: [Layer; 17] = [
    Layer::Global,
    Layer::Plain,
    Layer::Tree,
    Layer::Page,
    Layer::Chat,
    Layer::Completion,
    Layer::Find,
    Layer::Found,
    Layer::Picker,
    Layer::Review,
    Layer::Edit,
    Layer::Sheet,
    Layer::History,
    Layer::Problems,
    Layer::Summary,
    Layer::Confirm,
    Layer::Reason,
];

/// Columns of the keys where the description stands beside them.
const KEYS: usize = 26;

/// Keys of no more columns have their description beside them at any width.
const SHORT: usize = 10;

/// From this many columns on, keys and description stand side by side.
const WIDE: usize = 60;

/// All rows for this many columns: the keys of one layer, then all others. Without a model, how to set one comes first.
pub fn rows(fixed: &Fixed, of: Layer, columns: usize) -> Vec<Line<'static>> {
    let theme = &fixed.theme;
    let mut rows = Vec::new();
    if fixed.model.is_none() && !fixed.hint.is_empty() {
        rows.push(Line::styled("Model", theme.title));
        for text in &fixed.hint {
            rows.extend(indented(text, 2, columns, theme.warning));
        }
    }
    let first = LAYERS.into_iter().filter(|layer| *layer == of);
    for layer in first.chain(LAYERS.into_iter().filter(|layer| *layer != of)) {
        let bindings = fixed.keymap.help(layer);
        if bindings.is_empty() {
            continue;
        }
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        rows.push(Line::styled(layer.title(), theme.title));
        for (title, keys) in bindings {
            entry(&mut rows, &keys, title, KEYS, columns, theme);
        }
    }
    rows.push(Line::default());
    rows.push(Line::styled("Mouse", theme.title));
    for (what, text) in [
        ("wheel", "scrolls the pane under the pointer"),
        (
            "click",
            "focuses a pane, opens a page, follows a link, goes to a finding, a file or a change of the review",
        ),
        ("Shift", "with the mouse selects text, as in any terminal program"),
    ] {
        entry(&mut rows, what, text, 8, columns, theme);
    }
    rows
}

/// Keys and what they do: side by side where there is room, else one above the other; nothing is cut.
fn entry(
    rows: &mut Vec<Line<'static>>,
    keys: &str,
    title: &str,
    beside: usize,
    columns: usize,
    theme: &Theme,
) {
    let used = width::width(keys);
    let gap = if columns >= WIDE { beside.saturating_sub(used).max(1) } else { 2 };
    let side_by_side = columns >= WIDE || used <= SHORT || 2 + used + gap + width::width(title) <= columns;
    if !side_by_side {
        rows.extend(indented(keys, 2, columns, theme.key));
        rows.extend(indented(title, 6, columns, theme.text));
        return;
    }
    let mut described = indented(title, 2 + used + gap, columns, theme.text);
    if let Some(first) = described.first_mut() {
        *first = Line::from(vec![
            Span::raw("  "),
            Span::styled(keys.to_owned(), theme.key),
            Span::raw(" ".repeat(gap)),
            Span::styled(first.spans.last().map(|s| s.content.to_string()).unwrap_or_default(), theme.text),
        ]);
    }
    rows.extend(described);
}

/// A text in as many rows as it takes, each behind so many blanks.
fn indented(text: &str, by: usize, columns: usize, style: Style) -> Vec<Line<'static>> {
    width::wrap(text, columns.saturating_sub(by))
        .into_iter()
        .map(|range| {
            let part = text.get(range).unwrap_or_default().to_owned();
            Line::from(vec![Span::raw(" ".repeat(by)), Span::styled(part, style)])
        })
        .collect()
}
