//! Which key means which action where: layers read from `assets/keymap.toml`, which is compiled in. The help
//! overlay is generated from it. Knows no state.

use std::collections::BTreeMap;
use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::Action;

/// The shipped keys.
pub const DEFAULT: &str = include_str!("../../assets/keymap.toml");

/// A key as bindings name it: shift is folded into the character, so `A` has no modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

/// Where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    Global,
    /// Outside text fields.
    Plain,
    Tree,
    Page,
    Chat,
    Review,
    Problems,
    Help,
    Summary,
    Confirm,
    /// The one-line field for the reason of a rejection.
    Reason,
    /// The field in which a proposed text is edited.
    Edit,
    /// A page as it would be, or a list.
    Sheet,
    History,
    /// While the composer offers something to complete.
    Completion,
    /// The field of the search in the conversation.
    Find,
    /// What it found, with the field left.
    Found,
    /// A list to choose from.
    Picker,
}

impl Layer {
    const ALL: [(Layer, &'static str, &'static str); 18] = [
        (Layer::Global, "global", "Everywhere"),
        (Layer::Plain, "plain", "Outside text fields"),
        (Layer::Tree, "tree", "Tree"),
        (Layer::Page, "page", "Page"),
        (Layer::Chat, "chat", "Agent"),
        (Layer::Review, "review", "Review"),
        (Layer::Problems, "problems", "Findings"),
        (Layer::Help, "help", "Help"),
        (Layer::Summary, "summary", "What was written"),
        (Layer::Confirm, "confirm", "Questions"),
        (Layer::Reason, "reason", "Reason of a rejection"),
        (Layer::Edit, "edit", "Edit of a proposed text"),
        (Layer::Sheet, "sheet", "Page as it would be, lists"),
        (Layer::History, "history", "History"),
        (Layer::Completion, "completion", "Agent, while something is offered"),
        (Layer::Find, "find", "Search in the conversation"),
        (Layer::Found, "found", "Places found in the conversation"),
        (Layer::Picker, "picker", "Lists to choose from"),
    ];

    pub fn title(self) -> &'static str {
        Self::ALL.iter().find(|(l, ..)| *l == self).map_or("", |(_, _, title)| title)
    }
}

/// What stands in a keymap and is not understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("the keymap is not TOML: {0}")]
    Toml(String),
    #[error("no layer is called `{0}`")]
    Layer(String),
    #[error("no action is called `{0}`")]
    Action(String),
    #[error("`{0}` is no key")]
    Key(String),
    #[error("`{key}` means two things in [{layer}]")]
    Conflict { layer: String, key: String },
}

/// What keys pressed so far mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Action(Action),
    /// The first key of a longer sequence.
    Prefix,
    Nothing,
}

/// All bindings, layer by layer, in the order written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    layers: BTreeMap<Layer, Vec<(Action, Vec<Sequence>)>>,
}

/// Keys pressed one after another.
type Sequence = Vec<Key>;

impl Keymap {
    pub fn parse(text: &str) -> Result<Self, KeymapError> {
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| KeymapError::Toml(e.to_string()))?;
        let mut layers = BTreeMap::new();
        for (name, bindings) in table {
            let (layer, ..) = Layer::ALL
                .into_iter()
                .find(|(_, id, _)| *id == name)
                .ok_or_else(|| KeymapError::Layer(name.clone()))?;
            let bindings =
                bindings.as_table().ok_or_else(|| KeymapError::Toml(format!("[{name}] is no table")))?;
            let mut seen: Vec<Vec<Key>> = Vec::new();
            let mut list = Vec::new();
            for (id, keys) in bindings {
                let action = Action::from_id(id).ok_or_else(|| KeymapError::Action(id.clone()))?;
                let mut sequences = Vec::new();
                for text in keys.as_array().into_iter().flatten() {
                    let text = text.as_str().unwrap_or_default();
                    let sequence = sequence(text).ok_or_else(|| KeymapError::Key(text.to_owned()))?;
                    if seen.contains(&sequence) {
                        return Err(KeymapError::Conflict { layer: name, key: text.to_owned() });
                    }
                    seen.push(sequence.clone());
                    sequences.push(sequence);
                }
                list.push((action, sequences));
            }
            list.sort_by_key(|(action, _)| *action);
            layers.insert(layer, list);
        }
        Ok(Self { layers })
    }

    /// The compiled-in keymap. A test proves that it parses; if it did not, only the unbound keys below were left.
    pub fn shipped() -> Self {
        Self::parse(DEFAULT).unwrap_or(Self { layers: BTreeMap::new() })
    }

    /// Looks `keys` up in these layers, the first that knows them decides.
    pub fn meaning(&self, layers: &[Layer], keys: &[Key]) -> Meaning {
        let mut prefix = false;
        for layer in layers {
            for (action, sequences) in self.layers.get(layer).into_iter().flatten() {
                for sequence in sequences {
                    if sequence == keys {
                        return Meaning::Action(*action);
                    }
                    prefix |= sequence.len() > keys.len() && sequence.starts_with(keys);
                }
            }
        }
        if prefix { Meaning::Prefix } else { Meaning::Nothing }
    }

    /// `(title of the action, its keys)` of one layer, for the help.
    pub fn help(&self, layer: Layer) -> Vec<(&'static str, String)> {
        self.layers
            .get(&layer)
            .into_iter()
            .flatten()
            .filter(|(_, sequences)| !sequences.is_empty())
            .map(|(action, sequences)| {
                let keys: Vec<String> = sequences.iter().map(|s| show(s)).collect();
                (action.title(), keys.join("  "))
            })
            .collect()
    }

    /// The first key of an action in a layer, as people read it.
    pub fn hint(&self, layer: Layer, action: Action) -> Option<String> {
        let (_, sequences) = self.layers.get(&layer)?.iter().find(|(a, _)| *a == action)?;
        sequences.first().map(|s| show(s))
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }
}

impl Key {
    pub fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let mut modifiers = modifiers
            & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::SUPER);
        let code = match code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::SHIFT) => {
                modifiers -= KeyModifiers::SHIFT;
                // With the kitty protocol shift-a may arrive as a lower-case letter and a modifier.
                let mut upper = c.to_uppercase();
                match (upper.next(), upper.next()) {
                    (Some(upper), None) => KeyCode::Char(upper),
                    _ => KeyCode::Char(c),
                }
            }
            KeyCode::BackTab => {
                modifiers -= KeyModifiers::SHIFT;
                KeyCode::BackTab
            }
            KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => {
                modifiers -= KeyModifiers::SHIFT;
                KeyCode::BackTab
            }
            code => code,
        };
        Self { code, modifiers }
    }

    /// Parses `ctrl-w`, `shift-f6`, `A`, `pageup`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut modifiers = KeyModifiers::NONE;
        loop {
            let (name, flag) = [
                ("ctrl-", KeyModifiers::CONTROL),
                ("alt-", KeyModifiers::ALT),
                ("shift-", KeyModifiers::SHIFT),
            ]
            .into_iter()
            .find(|(name, _)| rest.starts_with(name))
            .unzip();
            match (name.and_then(|n| rest.strip_prefix(n)), flag) {
                (Some(after), Some(flag)) if !after.is_empty() => {
                    rest = after;
                    modifiers |= flag;
                }
                _ => break,
            }
        }
        let code = match rest {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "space" => KeyCode::Char(' '),
            "backspace" => KeyCode::Backspace,
            "delete" => KeyCode::Delete,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "pageup" => KeyCode::PageUp,
            "pagedown" => KeyCode::PageDown,
            _ => {
                let mut chars = rest.chars();
                match (chars.next()?, chars.as_str()) {
                    (c, "") => KeyCode::Char(c),
                    ('f', number) => KeyCode::F(number.parse().ok().filter(|n| (1..=12).contains(n))?),
                    _ => return None,
                }
            }
        };
        Some(Self::new(code, modifiers))
    }

    /// The character it types into a text field, if any.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }
}

fn sequence(text: &str) -> Option<Vec<Key>> {
    let keys: Vec<Key> = text.split_whitespace().map(Key::parse).collect::<Option<_>>()?;
    (!keys.is_empty()).then_some(keys)
}

fn show(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.modifiers.contains(KeyModifiers::CONTROL) {
            f.write_str("Ctrl-")?;
        }
        if self.modifiers.contains(KeyModifiers::ALT) {
            f.write_str("Alt-")?;
        }
        if self.modifiers.contains(KeyModifiers::SHIFT) {
            f.write_str("Shift-")?;
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.modifiers.contains(KeyModifiers::CONTROL) => {
                write!(f, "{}", c.to_uppercase())
            }
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            KeyCode::Enter => f.write_str("Enter"),
            KeyCode::Esc => f.write_str("Esc"),
            KeyCode::Tab => f.write_str("Tab"),
            KeyCode::BackTab => f.write_str("Shift-Tab"),
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_keymap_is_understood_and_binds_every_action() {
        let keymap = Keymap::parse(DEFAULT).unwrap();
        for action in Action::ALL {
            assert!(
                keymap.layers.values().flatten().any(|(a, keys)| a == action && !keys.is_empty()),
                "{} has no key",
                action.id()
            );
        }
    }

    #[test]
    fn letters_are_never_bound_where_people_type() {
        let keymap = Keymap::shipped();
        let fields = [Layer::Chat, Layer::Completion, Layer::Find, Layer::Picker, Layer::Reason, Layer::Edit];
        for layer in fields.into_iter().chain([Layer::Global]) {
            for (action, sequences) in &keymap.layers[&layer] {
                for sequence in sequences {
                    assert_eq!(sequence[0].typed(), None, "{} in {layer:?}", action.id());
                }
            }
        }
    }

    #[test]
    fn sequences_wait_and_the_inner_layer_wins() {
        let keymap = Keymap::shipped();
        let layers = [Layer::Tree, Layer::Plain, Layer::Global];
        let key = |text| Key::parse(text).unwrap();
        assert_eq!(keymap.meaning(&layers, &[key("ctrl-w")]), Meaning::Prefix);
        assert_eq!(
            keymap.meaning(&layers, &[key("ctrl-w"), key("h")]),
            Meaning::Action(Action::FocusPrevious)
        );
        assert_eq!(keymap.meaning(&layers, &[key("h")]), Meaning::Action(Action::Fold));
        assert_eq!(
            keymap.meaning(&[Layer::Help, Layer::Plain, Layer::Global], &[key("q")]),
            Meaning::Action(Action::Close)
        );
        assert_eq!(keymap.meaning(&layers, &[key("z")]), Meaning::Nothing);
    }

    #[test]
    fn shift_is_part_of_a_character() {
        let shifted = Key::new(KeyCode::Char('a'), KeyModifiers::SHIFT);
        assert_eq!(shifted, Key::parse("A").unwrap());
        assert_eq!(Key::new(KeyCode::Tab, KeyModifiers::SHIFT), Key::parse("shift-tab").unwrap());
        assert_eq!(Key::parse("ctrl--").unwrap().to_string(), "Ctrl--");
        assert_eq!(Key::parse("f13"), None);
        assert_eq!(Key::parse("hello"), None);
    }

    #[test]
    fn a_bad_keymap_says_what_is_wrong() {
        assert_eq!(Keymap::parse("[moon]\nhelp=[\"f1\"]"), Err(KeymapError::Layer("moon".into())));
        assert_eq!(Keymap::parse("[tree]\nfly=[\"f\"]"), Err(KeymapError::Action("fly".into())));
        assert_eq!(Keymap::parse("[tree]\nup=[\"uup\"]"), Err(KeymapError::Key("uup".into())));
        assert_eq!(
            Keymap::parse("[tree]\nup=[\"k\"]\ndown=[\"k\"]"),
            Err(KeymapError::Conflict { layer: "tree".into(), key: "k".into() })
        );
    }
}
