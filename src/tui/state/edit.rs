//! The field in which the person changes a proposed text.

use crossterm::event::{KeyCode, KeyEvent};

use super::composer::{Composer, MAX_PASTE, clean};
use crate::bundle::hunk::HunkId;
use crate::okf::{BundlePath, ContentHash};

/// The hunk whose text is edited, and what was shown of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: BundlePath,
    pub shown: ContentHash,
    pub hunk: HunkId,
}

#[derive(Debug)]
pub struct Editing {
    pub place: Place,
    pub field: Composer,
    /// The text as it was given.
    before: String,
    /// Escape was the last key, on a text that differs.
    pub leaving: bool,
}

impl Editing {
    pub fn new(place: Place, text: &str) -> Self {
        let mut field = Composer::default();
        field.set(&shown(text));
        field.area.move_cursor(tui_textarea::CursorMove::Top);
        field.area.move_cursor(tui_textarea::CursorMove::Head);
        Self { place, field, before: text.to_owned(), leaving: false }
    }

    pub fn key(&mut self, event: KeyEvent) {
        match event.code {
            KeyCode::Enter => self.field.newline(),
            KeyCode::Tab => {
                self.field.area.insert_str("    ");
            }
            _ => self.field.key(event),
        }
    }

    /// False when it is too large.
    pub fn paste(&mut self, text: &str) -> bool {
        if text.len() > MAX_PASTE {
            return false;
        }
        self.field.area.insert_str(clean(text));
        true
    }

    pub fn is_changed(&self) -> bool {
        self.field.text() != shown(&self.before)
    }

    pub fn text(&self) -> String {
        like(&self.field.text(), &self.before)
    }
}

/// Lines without the last line end, which a field has no row for.
fn shown(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// An edited text with the line ends of the text that it came from.
pub fn like(text: &str, before: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if text.is_empty() {
        return text;
    }
    let ended = before.is_empty() || before.ends_with('\n');
    if ended && !text.ends_with('\n') {
        text.push('\n');
    } else if !ended && text.ends_with('\n') {
        text.pop();
    }
    if before.contains("\r\n") { text.replace('\n', "\r\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_text_keeps_the_line_ends_it_had() {
        assert_eq!(like("a\nb", "x\r\n"), "a\r\nb\r\n");
        assert_eq!(like("a\nb\n", "x"), "a\nb");
        assert_eq!(like("a", ""), "a\n");
        assert_eq!(like("", "x\n"), "");
    }
}
