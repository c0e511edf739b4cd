//! Named styles. On dark and on unknown backgrounds only the sixteen colours of the terminal's own palette are used; several of
//! them are too pale on a light one, which has dark shades of its own. Nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

use serde::Deserialize;

use crate::lint::Level;

/// Which theme is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// That of the terminal's background, or the dark one where it is not known.
    #[default]
    Auto,
    Dark,
    Light,
    /// Without colours.
    Plain,
}

impl Look {
    /// `light` says whether the terminal's background is; none where nobody knows.
    pub fn theme(self, light: Option<bool>) -> Theme {
        match (self, light) {
            (Self::Plain, _) => Theme::plain(),
            (Self::Light, _) | (Self::Auto, Some(true)) => Theme::light(),
            (Self::Dark | Self::Auto, _) => Theme::ansi(),
        }
    }
}

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

    /// Dark shades of the fixed palette of 256 colours, which no terminal makes pale.
    pub fn light() -> Self {
        const RED: Color = Color::Indexed(124);
        const GREEN: Color = Color::Indexed(22);
        const AMBER: Color = Color::Indexed(94);
        const BLUE: Color = Color::Indexed(25);
        const PURPLE: Color = Color::Indexed(90);
        const TEAL: Color = Color::Indexed(23);
        const GREY: Color = Color::Indexed(240);
        let plain = Self::plain();
        let fg = |style: Style, color| style.fg(color).remove_modifier(Modifier::DIM);
        Self {
            dim: fg(plain.dim, GREY),
            accent: fg(plain.accent, TEAL),
            border: fg(plain.border, GREY),
            border_focused: fg(plain.border_focused, TEAL),
            passage: Style::default().fg(Color::Indexed(16)).bg(Color::Indexed(222)),
            folder: fg(plain.folder, BLUE),
            error: fg(plain.error, RED),
            warning: fg(plain.warning, AMBER),
            hint: fg(plain.hint, BLUE),
            success: fg(plain.success, GREEN),
            staged: fg(plain.staged, PURPLE),
            added: fg(plain.added, GREEN),
            removed: fg(plain.removed, RED),
            added_word: fg(plain.added_word, GREEN),
            removed_word: fg(plain.removed_word, RED),
            hunk: fg(plain.hunk, TEAL),
            link: fg(plain.link, BLUE),
            link_broken: fg(plain.link_broken, RED),
            key: fg(plain.key, TEAL),
            you: fg(plain.you, TEAL),
            reasoning: fg(plain.reasoning, GREY),
            tool: fg(plain.tool, PURPLE),
            headings: plain.headings.map(|style| fg(style, TEAL)),
            code: fg(plain.code, GREEN),
            code_keyword: fg(plain.code_keyword, PURPLE),
            code_string: fg(plain.code_string, GREEN),
            code_number: fg(plain.code_number, TEAL),
            code_comment: fg(plain.code_comment, GREY),
            code_name: fg(plain.code_name, BLUE),
            code_type: fg(plain.code_type, AMBER),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2, 1.4.3) of a colour of the fixed palette.
    fn luminance(index: u8) -> f64 {
        let step = |n: u8| if n == 0 { 0.0 } else { f64::from(n) * 40.0 + 55.0 };
        let channels = match index {
            16..=231 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(step),
            232.. => [f64::from(index - 232) * 10.0 + 8.0; 3],
            _ => panic!("{index} is the terminal's own and may be anything"),
        };
        let linear = |value: f64| {
            let value = value / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        channels
            .map(linear)
            .iter()
            .zip([0.2126, 0.7152, 0.0722])
            .map(|(channel, weight)| channel * weight)
            .sum()
    }

    #[test]
    fn all_of_the_light_theme_is_readable_on_a_light_background() {
        let theme = format!("{:?}", Theme::light());
        let shades: Vec<u8> = theme
            .split("fg(Color::Indexed(")
            .skip(1)
            .map(|s| s[..s.find(')').unwrap()].parse().unwrap())
            .collect();
        assert!(shades.len() > 30, "{theme}");
        // Solarized's and the like are darker than white.
        for shade in shades {
            let contrast = (0.90 + 0.05) / (luminance(shade) + 0.05);
            assert!(contrast >= 5.0, "colour {shade} has a contrast of {contrast:.1}");
        }
        for pale in ["Yellow", "Cyan", "Green", "DarkGray", "DIM"] {
            assert!(!theme.replace("sub_modifier: DIM", "").contains(pale), "{pale} in {theme}");
        }
    }

    #[test]
    fn what_is_wanted_wins_over_what_the_terminal_says() {
        assert_eq!(Look::Auto.theme(Some(true)), Theme::light());
        assert_eq!(Look::Auto.theme(Some(false)), Theme::ansi());
        assert_eq!(Look::Auto.theme(None), Theme::ansi());
        assert_eq!(Look::Dark.theme(Some(true)), Theme::ansi());
        assert_eq!(Look::Light.theme(Some(false)), Theme::light());
        assert_eq!(Look::Plain.theme(Some(true)), Theme::plain());
    }
}
