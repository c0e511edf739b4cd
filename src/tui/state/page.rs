//! The page pane: which document is open, what was drawn of it, where the reader stands and where they came from.

use std::sync::Arc;

use crate::okf::{BundlePath, Page, Target};
use crate::text::Span;
use crate::tui::markdown::Rendered;

/// What can be open.
#[derive(Debug, Clone)]
pub enum Document {
    Page(Arc<Page>),
    /// A file that is no page of the wiki, read as text.
    Text {
        path: BundlePath,
        text: Arc<str>,
    },
}

impl Document {
    pub fn path(&self) -> &BundlePath {
        match self {
            Self::Page(page) => &page.path,
            Self::Text { path, .. } => path,
        }
    }
}

/// Where to go once the page is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goto {
    Row(usize),
    Anchor(String),
    /// A byte of the source.
    Offset(usize),
}

/// A place in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: BundlePath,
    pub top: usize,
    pub link: Option<usize>,
}

#[derive(Debug, Default)]
pub struct PagePane {
    /// What the person wants to see; `document` follows it.
    pub path: Option<BundlePath>,
    pub document: Option<Document>,
    /// Why there is no document for `path`.
    pub missing: Option<String>,
    pub rendered: Option<Rendered>,
    /// Which document `rendered` shows; the old one stays until the new one is drawn.
    pub rendered_path: Option<BundlePath>,
    pub width: u16,
    /// The newest request; older answers are dropped.
    pub ticket: u64,
    /// The document or the model changed since the last request.
    pub stale: bool,
    pub top: usize,
    /// The chosen link, as an index into `rendered.links`.
    pub link: Option<usize>,
    pub goto: Option<Goto>,
    /// The words at which a citation opened a page; marked while that page shows them.
    pub passage: Option<(BundlePath, Span)>,
    pub back: Vec<Place>,
    pub forward: Vec<Place>,
}

/// Most places kept in each direction.
const HISTORY: usize = 200;

impl PagePane {
    pub fn rows(&self) -> usize {
        self.rendered.as_ref().map_or(0, |r| r.lines.len())
    }

    pub fn place(&self) -> Option<Place> {
        Some(Place { path: self.path.clone()?, top: self.top, link: self.link })
    }

    /// Puts a place that is being left into the history.
    pub fn remember(&mut self, place: Option<Place>) {
        let Some(place) = place else { return };
        if self.back.len() >= HISTORY {
            self.back.remove(0);
        }
        self.back.push(place);
        self.forward.clear();
    }

    /// The row where `goto` lies in what is drawn.
    pub fn row_of(&self, goto: &Goto) -> Option<usize> {
        let rendered = self.rendered.as_ref()?;
        match goto {
            Goto::Row(row) => Some(*row),
            Goto::Anchor(slug) => rendered.headings.iter().find(|(_, s)| s == slug).map(|(row, _)| *row),
            Goto::Offset(offset) => rendered
                .rows
                .iter()
                .enumerate()
                .filter(|(_, start)| **start <= *offset)
                .max_by_key(|(row, start)| (**start, std::cmp::Reverse(*row)))
                .map(|(row, _)| row),
        }
    }

    /// Rows that a link covers.
    pub fn link_rows(&self, link: usize) -> Option<(usize, usize)> {
        let link = self.rendered.as_ref()?.links.get(link)?;
        let rows = link.spans.iter().map(|(row, _)| *row);
        Some((rows.clone().min()?, rows.max()?))
    }

    /// The link drawn at this row and column of the document.
    pub fn link_at(&self, row: usize, column: u16) -> Option<usize> {
        let rendered = self.rendered.as_ref()?;
        rendered.links.iter().position(|l| l.spans.iter().any(|(r, c)| *r == row && c.contains(&column)))
    }

    pub fn target(&self, link: usize) -> Option<(Target, String)> {
        let drawn = self.rendered.as_ref()?.links.get(link)?;
        let written = match &self.document {
            Some(Document::Page(page)) => page.links.get(drawn.link).map(|l| l.destination.clone()),
            _ => None,
        };
        Some((drawn.target.clone(), written.unwrap_or_default()))
    }
}
