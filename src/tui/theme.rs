//! Named styles of the workbench. To be replaced by the full theme.
use crate::lint::Level;
use ratatui::style::{Color, Modifier, Style};
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
    pub folder: Style,
    pub error: Style,
    pub warning: Style,
    pub hint: Style,
    pub success: Style,
    pub staged: Style,
    pub added: Style,
    pub removed: Style,
    pub link_focused: Style,
    pub key: Style,
    pub banner: Style,
    pub you: Style,
    pub reasoning: Style,
    pub tool: Style,
}
impl Theme {
    pub fn ansi() -> Self {
        let s = Style::default();
        Self {
            text: s,
            strong: s.add_modifier(Modifier::BOLD),
            dim: s.add_modifier(Modifier::DIM),
            accent: s.fg(Color::Cyan),
            title: s.add_modifier(Modifier::BOLD),
            border: s.fg(Color::DarkGray),
            border_focused: s.fg(Color::Cyan),
            selected: s.add_modifier(Modifier::REVERSED),
            selected_inactive: s.add_modifier(Modifier::UNDERLINED),
            folder: s.fg(Color::Blue),
            error: s.fg(Color::Red),
            warning: s.fg(Color::Yellow),
            hint: s.fg(Color::Blue),
            success: s.fg(Color::Green),
            staged: s.fg(Color::Magenta),
            added: s.fg(Color::Green),
            removed: s.fg(Color::Red),
            link_focused: s.add_modifier(Modifier::REVERSED),
            key: s.fg(Color::Cyan),
            banner: s.fg(Color::Black).bg(Color::Yellow),
            you: s.fg(Color::Cyan),
            reasoning: s.add_modifier(Modifier::DIM | Modifier::ITALIC),
            tool: s.fg(Color::Magenta),
        }
    }
    pub fn plain() -> Self {
        Self::ansi()
    }
    pub fn level(&self, level: Level) -> Style {
        match level {
            Level::Error => self.error,
            Level::Warning => self.warning,
            Level::Hint => self.hint,
        }
    }
}
