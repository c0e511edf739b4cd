//! A list to choose one thing from, narrowed by what is typed: sources, kept conversations, models.

use super::completion::fuzzy;
use super::composer::Line;

/// What is chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choosing {
    Source,
    Conversation,
    Model,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What choosing it means: a path, an id, a name.
    pub value: String,
    pub label: String,
    pub note: String,
}

#[derive(Debug)]
pub struct Picker {
    pub choosing: Choosing,
    /// None until it is known.
    pub choices: Option<Result<Vec<Choice>, String>>,
    pub filter: Line,
    /// Places in the choices that fit the filter, the best first.
    pub shown: Vec<usize>,
    pub selected: usize,
}

impl Picker {
    pub fn new(choosing: Choosing) -> Self {
        Self { choosing, choices: None, filter: Line::default(), shown: Vec::new(), selected: 0 }
    }

    pub fn title(&self) -> &'static str {
        match self.choosing {
            Choosing::Source => "Ingest a source",
            Choosing::Conversation => "Go on with a conversation",
            Choosing::Model => "Choose a model",
        }
    }

    /// What is said when there is nothing to choose from.
    pub fn nothing(&self) -> &'static str {
        match self.choosing {
            Choosing::Source => "There is nothing in raw/. Put a document there first.",
            Choosing::Conversation => "No conversation of this role is kept for this bundle.",
            Choosing::Model => "The server lists no models.",
        }
    }

    pub fn list(&self) -> &[Choice] {
        match &self.choices {
            Some(Ok(choices)) => choices,
            _ => &[],
        }
    }

    pub fn fill(&mut self, choices: Result<Vec<Choice>, String>) {
        self.choices = Some(choices);
        self.narrow();
    }

    /// The filter is another one.
    pub fn narrow(&mut self) {
        let all = self.list().iter().enumerate().map(|(at, choice)| (&choice.label, at));
        self.shown = fuzzy(self.filter.text.trim(), all);
        self.selected = 0;
    }

    pub fn chosen(&self) -> Option<&Choice> {
        self.list().get(*self.shown.get(self.selected)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_narrows_the_list() {
        let mut picker = Picker::new(Choosing::Source);
        let choice =
            |label: &str| Choice { value: label.to_owned(), label: label.to_owned(), note: String::new() };
        picker.fill(Ok(["raw/b.txt", "raw/tides.md", "raw/a.txt"].map(choice).into()));
        assert_eq!(picker.shown, [0, 1, 2], "in their order until something is typed");
        picker.filter.text = "tds".to_owned();
        picker.narrow();
        assert_eq!(picker.chosen().map(|c| c.value.as_str()), Some("raw/tides.md"));
        picker.filter.text = "zzz".to_owned();
        picker.narrow();
        assert_eq!(picker.chosen(), None);
    }
}
