//! Named styles. Only the sixteen colours of the terminal's own palette are used, so that light and dark themes both
//! stay readable, and nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

use crate::lint::Level;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    pub text: Style,
    pub strong: Style,
    pub dim: Style,
    pub accent: Style,
    pub title: Style,
    pub border: Style,
    pub border_focused: Style,
    pub selected: Style,
    pub selected_inactive: Style,
    /// Words that a search found.
    pub found: Style,
    /// Words of a page that an answer quotes.
    pub passage: Style,
    pub folder: Style,
    pub error: Style,
    pub warning: Style,
    pub hint: Style,
    pub success: Style,
    pub staged: Style,
    pub added: Style,
    pub removed: Style,
    /// Words within a changed line that differ.
    pub added_word: Style,
    pub removed_word: Style,
    pub hunk: Style,
    pub link: Style,
    pub link_broken: Style,
    pub link_focused: Style,
    pub key: Style,
    pub banner: Style,
    pub you: Style,
    pub reasoning: Style,
    pub tool: Style,
    /// Headings of level 1, 2, and below.
    pub headings: [Style; 3],
    pub code: Style,
    pub code_keyword: Style,
    pub code_string: Style,
    pub code_number: Style,
    pub code_comment: Style,
    pub code_name: Style,
    pub code_type: Style,
    pub quote: Style,
}

impl Theme {
    /// Colours of the terminal's palette.
    pub fn ansi() -> Self {
        let plain = Self::plain();
        let fg = |style: Style, color| style.fg(color);
        Self {
            accent: fg(plain.accent, Color::Cyan),
            border: fg(plain.border, Color::DarkGray).remove_modifier(Modifier::DIM),
            border_focused: fg(plain.border_focused, Color::Cyan),
            passage: Style::default().fg(Color::Black).bg(Color::Yellow),
            folder: fg(plain.folder, Color::Blue),
            error: fg(plain.error, Color::Red),
            warning: fg(plain.warning, Color::Yellow),
            hint: fg(plain.hint, Color::Blue),
            success: fg(plain.success, Color::Green),
            staged: fg(plain.staged, Color::Magenta),
            added: fg(plain.added, Color::Green),
            removed: fg(plain.removed, Color::Red),
            added_word: fg(plain.added_word, Color::Green),
            removed_word: fg(plain.removed_word, Color::Red),
            hunk: fg(plain.hunk, Color::Cyan),
            link: fg(plain.link, Color::Blue),
            link_broken: fg(plain.link_broken, Color::Red),
            key: fg(plain.key, Color::Cyan),
            you: fg(plain.you, Color::Cyan),
            tool: fg(plain.tool, Color::Magenta),
            headings: plain.headings.map(|style| style.fg(Color::Cyan)),
            code: fg(plain.code, Color::Green),
            code_keyword: fg(plain.code_keyword, Color::Magenta),
            code_string: fg(plain.code_string, Color::Green),
            code_number: fg(plain.code_number, Color::Cyan),
            code_comment: plain.code_comment,
            code_name: fg(plain.code_name, Color::Blue),
            code_type: fg(plain.code_type, Color::Cyan),
            ..plain
        }
    }

    /// Without colour, for `NO_COLOR`: bold, underline, italic and reverse only.
    pub fn plain() -> Self {
        let none = Style::default();
        let with = |modifier| none.add_modifier(modifier);
        Self {
            text: none,
            strong: with(Modifier::BOLD),
            dim: with(Modifier::DIM),
            accent: none,
            title: with(Modifier::BOLD),
            border: with(Modifier::DIM),
            border_focused: none,
            selected: with(Modifier::REVERSED),
            selected_inactive: with(Modifier::UNDERLINED),
            found: with(Modifier::BOLD | Modifier::UNDERLINED),
            passage: with(Modifier::REVERSED),
            folder: with(Modifier::BOLD),
            error: with(Modifier::BOLD),
            warning: none,
            hint: none,
            success: none,
            staged: none,
            added: none,
            removed: none,
            added_word: with(Modifier::REVERSED),
            removed_word: with(Modifier::REVERSED),
            hunk: with(Modifier::DIM),
            link: with(Modifier::UNDERLINED),
            link_broken: with(Modifier::UNDERLINED | Modifier::CROSSED_OUT),
            link_focused: with(Modifier::REVERSED),
            key: with(Modifier::BOLD),
            banner: with(Modifier::REVERSED),
            you: with(Modifier::BOLD),
            reasoning: with(Modifier::DIM | Modifier::ITALIC),
            tool: none,
            headings: [
                with(Modifier::BOLD | Modifier::UNDERLINED),
                with(Modifier::BOLD),
                with(Modifier::BOLD | Modifier::ITALIC),
            ],
            code: none,
            code_keyword: with(Modifier::BOLD),
            code_string: none,
            code_number: none,
            code_comment: with(Modifier::DIM),
            code_name: none,
            code_type: none,
            quote: with(Modifier::ITALIC),
        }
    }

    pub fn level(&self, level: Level) -> Style {
        match level {
            Level::Error => self.error,
            Level::Warning => self.warning,
            Level::Hint => self.hint,
        }
    }

    /// `level` from 1.
    pub fn heading(&self, level: u8) -> Style {
        let [first, second, rest] = self.headings;
        match level {
            0 | 1 => first,
            2 => second,
            _ => rest,
        }
    }
}
