//! Commands of the composer: their names, what they take, what they do, and how a message is told from one.

/// What a line that begins with `/` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Help,
    New,
    Resume,
    Role,
    Model,
    Review,
    Lint,
    Ingest,
    Undo,
    Compact,
    Cost,
    Export,
    Quit,
}

/// What a message turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<'a> {
    Text,
    Command(Command, &'a str),
    /// It looks like a command, and there is none of that name.
    Unknown(&'a str),
}

impl Command {
    /// The most used first, as the popup lists them.
    pub const ALL: [Self; 13] = [
        Self::Ingest,
        Self::Review,
        Self::Lint,
        Self::Undo,
        Self::Role,
        Self::New,
        Self::Resume,
        Self::Model,
        Self::Cost,
        Self::Compact,
        Self::Export,
        Self::Help,
        Self::Quit,
    ];

    /// Name, what it may take, what it does.
    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Ingest => ("ingest", "[file]", "choose a source of raw/ and have it worked in"),
            Self::Review => ("review", "", "review staged changes"),
            Self::Lint => ("lint", "", "list of findings"),
            Self::Undo => ("undo", "", "take the last applied set back"),
            Self::Role => ("role", "[manager|reader]", "switch between manager and reader"),
            Self::New => ("new", "", "begin a new conversation"),
            Self::Resume => ("resume", "[id]", "go on with a kept conversation"),
            Self::Model => ("model", "[name]", "choose another model of the server"),
            Self::Cost => ("cost", "", "tokens and cost of this session"),
            Self::Compact => ("compact", "", "shorten what the model is sent of this conversation"),
            Self::Export => ("export", "[file]", "write this conversation to a markdown file"),
            Self::Help => ("help", "", "keys and commands"),
            Self::Quit => ("quit", "", "quit"),
        }
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn takes(self) -> &'static str {
        self.row().1
    }

    pub fn does(self) -> &'static str {
        self.row().2
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name.to_lowercase())
    }
}

/// Tells a command from a message. A path begins with `/` too, and so may a message that is indented by a blank.
pub fn parse(message: &str) -> Said<'_> {
    let Some(rest) = message.strip_prefix('/') else { return Said::Text };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if let Some(command) = Command::named(name) {
        return Said::Command(command, argument.trim());
    }
    if name.contains(['/', '.']) || name.is_empty() { Said::Text } else { Said::Unknown(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_a_path_and_from_text() {
        assert_eq!(parse("/ingest raw/a b.txt "), Said::Command(Command::Ingest, "raw/a b.txt"));
        assert_eq!(parse("/Quit"), Said::Command(Command::Quit, ""));
        assert_eq!(parse("/wiki/a.md is wrong"), Said::Text);
        assert_eq!(parse("/AGENTS.md is wrong"), Said::Text);
        assert_eq!(parse("/ what"), Said::Text);
        assert_eq!(parse(" /quit"), Said::Text);
        assert_eq!(parse("/quti now"), Said::Unknown("quti"));
    }
}
