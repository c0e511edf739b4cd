//! What the ledger writes down: the journal of the set that is being applied, and a record of each that was.

use std::io;

use serde::{Deserialize, Serialize};

use crate::okf::ContentHash;

/// Who had a set applied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// `"manager"`, `"person"`, `"lint"`, `"undo"`, `"redo"`, …
    pub who: String,
    /// The model's name, where one proposed the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// One line.
    pub message: String,
    /// For an undo: the set that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// For a redo: the set that it brings back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redoes: Option<u64>,
}

/// One file of a set: from this content to that, by hash; none where the file does not exist. A move is two steps, each of
/// which names the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    /// The path of the other step of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<String>,
    /// Permission bits that the file had; none where it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// A set that was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Counts from 1.
    pub id: u64,
    /// RFC 3339, UTC.
    pub time: String,
    #[serde(flatten)]
    pub origin: Origin,
    pub steps: Vec<Step>,
}

/// Which way a set is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Undo,
    Redo,
}

impl Origin {
    /// Of the set that turns `record`.
    pub fn turning(record: &Record, direction: Direction) -> Self {
        let message = record.origin.message.clone();
        match direction {
            Direction::Undo => {
                Self { who: "undo".into(), undoes: Some(record.id), message, ..Self::default() }
            }
            Direction::Redo => {
                Self { who: "redo".into(), redoes: Some(record.id), message, ..Self::default() }
            }
        }
    }
}

/// Whether the newest word on `record`, among all of them with the newest first, is that it was taken back.
pub fn taken_back(records: &[Record], record: &Record) -> bool {
    records
        .iter()
        .find(|other| other.origin.undoes == Some(record.id) || other.origin.redoes == Some(record.id))
        .is_some_and(|other| other.origin.undoes.is_some())
}

/// The newest set that counts now for an undo, the one that was taken back last for a redo. The newest record is first.
pub fn newest(records: &[Record], direction: Direction) -> Option<&Record> {
    let plain = |record: &&Record| record.origin.undoes.is_none() && record.origin.redoes.is_none();
    match direction {
        Direction::Undo => records.iter().filter(plain).find(|record| !taken_back(records, record)),
        // The set that was taken back last, so that redo answers undo.
        Direction::Redo => records
            .iter()
            .filter_map(|undo| undo.origin.undoes)
            .find_map(|id| records.iter().find(|record| record.id == id && taken_back(records, record))),
    }
}

/// The set that is being applied: from the moment it is on the disk, the set lands even if the process dies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The set is being taken back, because one of its files could not land.
    pub aborted: bool,
    pub record: Record,
}

impl Journal {
    /// A checksum, a line end, JSON.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let body = serde_json::to_string(self)?;
        Ok(format!("{}\n{body}", ContentHash::of(body.as_bytes())).into_bytes())
    }

    /// None when it was not written to its end.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (sum, body) = text.split_once('\n')?;
        (ContentHash::of(body.as_bytes()).to_string() == sum).then(|| serde_json::from_str(body).ok())?
    }
}
