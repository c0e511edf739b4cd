//! Text fields: the chat's composer over the textarea widget, and a one-line field. Knows nothing of the chat.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

/// Larger pastes are kept aside and stand in the text as one mark.
const FOLD_BYTES: usize = 2 * 1024;
const FOLD_LINES: usize = 12;
/// Largest paste that is taken, in bytes.
pub const MAX_PASTE: usize = 4 * 1024 * 1024;
const HISTORY: usize = 200;

/// The message being written.
#[derive(Debug)]
pub struct Composer {
    pub area: TextArea<'static>,
    history: Vec<String>,
    /// Where in the history the person is; none while writing something new.
    at: Option<usize>,
    /// What was being written before the history was entered.
    draft: String,
    /// Folded pastes by their marks, which stand in the text and in the history.
    pastes: Vec<(String, String)>,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: area(Vec::new()),
            history: Vec::new(),
            at: None,
            draft: String::new(),
            pastes: Vec::new(),
        }
    }
}

fn area(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(if lines.is_empty() { vec![String::new()] } else { lines });
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(ratatui::style::Style::default());
    // The terminal's own cursor stands at the caret, where input methods and screen readers look for it.
    area.set_cursor_style(ratatui::style::Style::default());
    area.set_max_histories(500);
    area
}

impl Composer {
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    pub fn set(&mut self, text: &str) {
        self.area = area(text.split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Puts another text in, which undo takes back.
    pub fn replace(&mut self, text: &str) {
        self.area.select_all();
        self.area.cut();
        self.area.insert_str(clean(text));
    }

    /// Puts `text` in place of the last `chars` characters before the caret.
    pub fn complete(&mut self, chars: usize, text: &str) {
        for _ in 0..chars {
            self.area.delete_char();
        }
        self.area.insert_str(text);
    }

    /// The caret's row, and what stands before it in its line.
    pub fn before_caret(&self) -> (usize, String) {
        let cursor = self.area.cursor();
        let line = self.area.lines().get(cursor.0).map_or("", String::as_str);
        (cursor.0, line.chars().take(cursor.1).collect())
    }

    /// Its text with folded pastes unfolded.
    pub fn whole(&self) -> String {
        self.unfold(&self.text())
    }

    fn unfold(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut rest = text;
        // The leftmost mark first, and nothing within a paste is taken for a mark.
        while let Some((at, mark, paste)) = self
            .pastes
            .iter()
            .filter_map(|(mark, paste)| rest.find(mark.as_str()).map(|at| (at, mark, paste)))
            .min_by_key(|(at, ..)| *at)
        {
            whole.push_str(rest.get(..at).unwrap_or_default());
            whole.push_str(paste);
            rest = rest.get(at + mark.len()..).unwrap_or_default();
        }
        whole.push_str(rest);
        whole
    }

    /// Empties the field and remembers what stood there.
    pub fn clear(&mut self) {
        let text = self.text();
        self.remember(text);
        self.set("");
    }

    /// Takes the message out, with pastes put back in; none when there is nothing to say.
    pub fn take(&mut self) -> Option<String> {
        let shown = self.text();
        if shown.trim().is_empty() {
            return None;
        }
        let text = self.unfold(&shown).trim_end().to_owned();
        self.remember(shown);
        self.set("");
        Some(text)
    }

    fn remember(&mut self, text: String) {
        self.at = None;
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            if self.history.len() >= HISTORY {
                self.history.remove(0);
            }
            self.history.push(text);
        }
        let history = &self.history;
        self.pastes.retain(|(mark, _)| history.iter().any(|text| text.contains(mark.as_str())));
    }

    /// One insertion whatever its size; a line break in it never sends. False when it is too large.
    pub fn paste(&mut self, text: &str) -> bool {
        if text.len() > MAX_PASTE {
            return false;
        }
        let text = clean(text);
        let lines = text.lines().count();
        if text.len() > FOLD_BYTES || lines > FOLD_LINES {
            let mark = self.mark(&text, lines);
            self.area.insert_str(&mark);
            self.pastes.push((mark, text));
        } else {
            self.area.insert_str(text);
        }
        true
    }

    /// What stands for a folded paste, unlike every other one.
    fn mark(&self, text: &str, lines: usize) -> String {
        let size =
            if lines > 1 { format!("{lines} lines") } else { format!("{} characters", text.chars().count()) };
        let plain = format!("[pasted {size}]");
        let taken = |mark: &str| self.pastes.iter().any(|(other, _)| other == mark);
        if !taken(&plain) {
            return plain;
        }
        (2..).map(|nth| format!("[pasted {size}, {nth}]")).find(|mark| !taken(mark)).unwrap_or(plain)
    }

    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Any key that no binding took.
    pub fn key(&mut self, event: KeyEvent) {
        let steps = match event.code {
            KeyCode::Backspace | KeyCode::Left if event.modifiers.is_empty() => self.cluster(true),
            KeyCode::Delete | KeyCode::Right if event.modifiers.is_empty() => self.cluster(false),
            KeyCode::Backspace if event.modifiers == KeyModifiers::CONTROL => {
                self.area.delete_word();
                return;
            }
            // As in a shell; the widget would undo.
            KeyCode::Char('u') if event.modifiers == KeyModifiers::CONTROL => {
                self.area.delete_line_by_head();
                return;
            }
            // The widget would take it for a tab or line break.
            KeyCode::Tab | KeyCode::Enter => return,
            _ => 1,
        };
        for _ in 0..steps.max(1) {
            self.area.input(event);
        }
    }

    /// Characters in the grapheme cluster before or after the caret, so that one key moves over what looks like
    /// one character; all of the mark of a folded paste.
    fn cluster(&self, before: bool) -> usize {
        let cursor = self.area.cursor();
        let Some(line) = self.area.lines().get(cursor.0) else { return 1 };
        let split = line.char_indices().nth(cursor.1).map_or(line.len(), |(i, _)| i);
        let (head, tail) = line.split_at_checked(split).unwrap_or((line, ""));
        let marks = self.pastes.iter().map(|(mark, _)| mark);
        let mut marks = marks.filter(|m| if before { head.ends_with(*m) } else { tail.starts_with(*m) });
        if let Some(mark) = marks.next() {
            return mark.chars().count();
        }
        let cluster = if before { head.graphemes(true).next_back() } else { tail.graphemes(true).next() };
        cluster.map_or(1, |c| c.chars().count())
    }

    /// Up: moves in the text, or on its first line to the message before.
    pub fn previous(&mut self) {
        if self.area.screen_cursor().row > 0 {
            self.area.move_cursor(CursorMove::Up);
            return;
        }
        let at = match self.at {
            None => {
                self.draft = self.text();
                self.history.len()
            }
            Some(at) => at,
        };
        if let Some((at, text)) = at.checked_sub(1).and_then(|at| Some((at, self.history.get(at)?.clone()))) {
            self.set(&text);
            self.at = Some(at);
        }
    }

    /// Down: moves in the text, or on its last line to the message after, at last back to the draft.
    pub fn next(&mut self) {
        let before = self.area.screen_cursor().row;
        self.area.move_cursor(CursorMove::Down);
        if self.area.screen_cursor().row != before {
            return;
        }
        if let Some(at) = self.at {
            match self.history.get(at + 1).cloned() {
                Some(text) => {
                    self.set(&text);
                    self.at = Some(at + 1);
                }
                None => {
                    let draft = std::mem::take(&mut self.draft);
                    self.set(&draft);
                    self.at = None;
                }
            }
        }
    }

    /// Rows the text takes at this width.
    pub fn rows(&self, width: u16) -> usize {
        let width = usize::from(width.max(1));
        self.area.lines().iter().map(|l| crate::text::width::wrap(l, width).len().max(1)).sum()
    }
}

/// Line ends as `\n`, a tab kept, no other control character.
pub fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .filter(|c| !c.is_control() || *c == '\n' || *c == '\t')
        .collect()
}

/// A field of one line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
}

impl Line {
    pub fn key(&mut self, event: KeyEvent) {
        match (event.code, event.modifiers) {
            (KeyCode::Char(c), m) if m.is_empty() || m == KeyModifiers::SHIFT => self.text.push(c),
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => self.text.clear(),
            (KeyCode::Backspace, _) => {
                let keep = self.text.grapheme_indices(true).next_back().map_or(0, |(i, _)| i);
                self.text.truncate(keep);
            }
            _ => {}
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.text.push_str(&clean(text).replace(['\n', '\t'], " "));
    }
}
