//! The history: sets that were applied, and one of them drawn.

use ratatui::text::Line;

use crate::bundle::ledger::record::{Record, taken_back};

#[derive(Debug, Default)]
pub struct History {
    /// The newest first; none until they are read, or why they cannot be.
    pub records: Option<Result<Vec<Record>, String>>,
    pub selected: usize,
    /// First visible row of the list and of the drawn set.
    pub list_top: usize,
    pub top: usize,
    /// The set that is drawn, in so many columns.
    pub drawn: Option<(u64, u16, Vec<Line<'static>>)>,
    pub asked: Option<(u64, u16)>,
}

impl History {
    pub fn list(&self) -> &[Record] {
        match &self.records {
            Some(Ok(records)) => records,
            _ => &[],
        }
    }

    pub fn record(&self) -> Option<&Record> {
        self.list().get(self.selected)
    }

    /// Whether the chosen set was taken back and not brought about again.
    pub fn is_taken_back(&self, record: &Record) -> bool {
        taken_back(self.list(), record)
    }
}
