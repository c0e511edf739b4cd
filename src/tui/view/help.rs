//! The help, generated from the keymap.

use ratatui::text::{Line, Span};

use crate::text::width;
use crate::tui::keymap::{Keymap, Layer};
use crate::tui::theme::Theme;

const LAYERS: [Layer; 10] = [
    Layer::Global,
    Layer::Plain,
    Layer::Tree,
    Layer::Page,
    Layer::Chat,
    Layer::Review,
    Layer::Problems,
    Layer::Summary,
    Layer::Confirm,
    Layer::Reason,
];

pub fn rows(keymap: &Keymap, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for layer in LAYERS {
        let bindings = keymap.help(layer);
        if bindings.is_empty() {
            continue;
        }
        if !rows.is_empty() {
            rows.push(Line::default());
        }
        rows.push(Line::styled(layer.title(), theme.title));
        for (title, keys) in bindings {
            let pad = 26_usize.saturating_sub(width::width(&keys)).max(1);
            rows.push(Line::from(vec![
                Span::raw("  "),
                Span::styled(keys, theme.key),
                Span::raw(" ".repeat(pad)),
                Span::styled(title, theme.text),
            ]));
        }
    }
    rows.push(Line::default());
    rows.push(Line::styled("Mouse", theme.title));
    for text in [
        "  wheel   scrolls the pane under the pointer",
        "  click   focuses a pane, opens a page, follows a link, goes to a finding",
        "  Shift   with the mouse selects text, as in any terminal program",
    ] {
        rows.push(Line::styled(text, theme.text));
    }
    rows
}
