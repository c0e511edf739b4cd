//! The text of a document while it is put together: blocks, and markers of the places between them.

use super::{Converted, Kind, Place, Position};

#[derive(Debug, Default)]
pub(super) struct Output {
    markdown: String,
    positions: Vec<Position>,
    pub title: Option<String>,
    metadata: Vec<(String, String)>,
    pub notes: Vec<String>,
}

impl Output {
    pub fn of(markdown: String) -> Self {
        Self { markdown, ..Self::default() }
    }

    /// Begins a part of the document.
    pub fn mark(&mut self, place: Place) {
        self.separate();
        self.positions.push(Position { offset: self.markdown.len(), place: place.clone() });
        // A sheet's name must not end the comment.
        let place = place.to_string().replace("--", "- -").replace(['\n', '\r'], " ");
        self.markdown.push_str(&format!("<!-- {place} -->\n"));
    }

    /// Adds a block, a blank line before it.
    pub fn block(&mut self, text: &str) {
        let text = text.trim_matches(['\n', '\r']).trim_end();
        if text.is_empty() {
            return;
        }
        self.separate();
        self.markdown.push_str(text);
        self.markdown.push('\n');
    }

    fn separate(&mut self) {
        if !self.markdown.is_empty() && !self.markdown.ends_with("\n\n") {
            self.markdown.push('\n');
        }
    }

    pub fn len(&self) -> usize {
        self.markdown.len()
    }

    pub fn is_blank(&self) -> bool {
        self.markdown.trim().is_empty()
    }

    /// Adds what the document says of itself; a blank value is left out.
    pub fn say(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) {
            self.metadata.push((name.to_owned(), value.to_owned()));
        }
    }

    pub fn finish(self, kind: Kind) -> Converted {
        let title = self.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        Converted {
            kind,
            title,
            metadata: self.metadata,
            markdown: self.markdown,
            positions: self.positions,
            notes: self.notes,
        }
    }
}
