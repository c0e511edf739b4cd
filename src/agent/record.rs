//! What a session keeps of itself: one record for each thing that came into it, one line of JSON each. As the loop is a pure
//! machine, the same records make the same conversation again: on the screen, for the model, and in a replay.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::client::ModelEvent;
use super::event::{AgentEvent, CallId, Role};
use super::fsm::{Effect, Input, Loop, RunCall};
use super::tools::Tool;
use crate::bundle::{ChangeKind, ChangeSet, FileChange};
use crate::okf::BundlePath;

#[cfg(test)]
mod tests;

/// Of the form of the records. A reader of a later version skips what it does not know.
pub const VERSION: u32 = 1;

/// Longest line that is read, in bytes. A longer one is no record of ours.
const MAX_LINE: u64 = 256 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    Opened(Opened),
    /// What the loop was told. Pieces of streamed text are joined.
    Input {
        input: Input,
    },
    /// What the loop of the assistant was told that works for this call of `task`.
    Assistant {
        call: CallId,
        input: Input,
    },
    /// What of the pending changes is another than before.
    Staged {
        #[serde(default)]
        changed: Vec<StagedFile>,
        #[serde(default)]
        gone: Vec<String>,
    },
    /// These files of the pending set are in the bundle now.
    Landed {
        paths: Vec<String>,
        /// Those of them that landed otherwise than they were pending: in part, or with the person's own text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<StagedFile>,
    },
    /// Of a later version.
    #[serde(other)]
    Unknown,
}

/// How a session began: its first record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    pub version: u32,
    pub id: String,
    pub role: Role,
    pub model: String,
    /// The bundle as a person writes it.
    pub bundle: String,
    pub started: jiff::Timestamp,
}

/// A pending change as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedFile {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub before: Option<Content>,
    pub after: Option<Content>,
}

/// Text as it is, other bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Bytes { base64: String },
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes { base64: BASE64.encode(bytes) },
        }
    }

    fn bytes(&self) -> Option<Arc<[u8]>> {
        match self {
            Self::Text(text) => Some(text.as_bytes().into()),
            Self::Bytes { base64 } => BASE64.decode(base64).ok().map(Into::into),
        }
    }
}

impl StagedFile {
    fn of(change: &FileChange) -> Self {
        let from = match &change.kind {
            ChangeKind::Rename { from } => Some(from.as_str().to_owned()),
            _ => None,
        };
        let content = |bytes: &Option<Arc<[u8]>>| bytes.as_deref().map(Content::of);
        Self {
            path: change.path.as_str().to_owned(),
            from,
            before: content(&change.before),
            after: content(&change.after),
        }
    }

    /// None for what is no change of a file in a bundle.
    pub fn change(&self) -> Option<FileChange> {
        let bytes = |content: &Option<Content>| match content {
            Some(content) => content.bytes().map(Some),
            None => Some(None),
        };
        let (before, after) = (bytes(&self.before)?, bytes(&self.after)?);
        let kind = match (&self.from, &before, &after) {
            (Some(from), Some(_), Some(_)) => ChangeKind::Rename { from: BundlePath::parse(from).ok()? },
            (Some(_), ..) | (None, None, None) => return None,
            (None, None, Some(_)) => ChangeKind::Create,
            (None, Some(_), Some(_)) => ChangeKind::Modify,
            (None, Some(_), None) => ChangeKind::Delete,
        };
        Some(FileChange { path: BundlePath::parse(&self.path).ok()?, kind, before, after })
    }
}

/// The pending changes that records tell of, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pending(BTreeMap<String, FileChange>);

impl Pending {
    /// Takes over what a record says of them.
    pub fn follow(&mut self, record: &Record) {
        let Record::Staged { changed, gone } = record else { return };
        for path in gone {
            self.0.remove(path);
        }
        let changes = changed.iter().filter_map(StagedFile::change);
        self.0.extend(changes.map(|change| (change.path.as_str().to_owned(), change)));
    }

    /// What a record says has landed.
    pub fn landed(&self, record: &Record) -> Vec<FileChange> {
        let Record::Landed { paths, changed } = record else { return Vec::new() };
        let change = |path: &String| {
            let other = changed.iter().find(|file| file.path == *path);
            other.map_or_else(|| self.0.get(path).cloned(), StagedFile::change)
        };
        paths.iter().filter_map(change).collect()
    }

    pub fn set(&self) -> ChangeSet {
        ChangeSet { id: 0, files: self.0.values().cloned().collect() }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Where records go. An error is told to the person once; the session goes on.
pub trait Recorder: Send {
    fn record(&mut self, record: &Record) -> io::Result<()>;
}

/// A session that is kept, and what was kept of it before.
#[derive(Default)]
pub struct Keeping {
    pub recorder: Option<Box<dyn Recorder>>,
    /// In their order; empty for a new session.
    pub past: Vec<Record>,
}

/// What is read from a kept session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    pub records: Vec<Record>,
    /// Lines that are no records: torn, overwritten with zeros, or foreign.
    pub skipped: usize,
}

impl Loaded {
    pub fn opened(&self) -> Option<&Opened> {
        self.records.iter().find_map(|record| match record {
            Record::Opened(opened) => Some(opened),
            _ => None,
        })
    }
}

/// Reads records line by line. What is no record is skipped and counted.
pub fn load(mut reader: impl BufRead) -> io::Result<Loaded> {
    let mut loaded = Loaded::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(loaded);
        }
        // A crash of the machine can leave a run of zeros where a line was to be, or in front of the next.
        let text = line.trim_ascii();
        let start = text.iter().position(|byte| *byte != 0).unwrap_or(text.len());
        let text = text.get(start..).unwrap_or_default();
        match serde_json::from_slice(text) {
            Ok(record) => loaded.records.push(record),
            Err(_) if text.is_empty() && start == 0 => {}
            Err(_) => loaded.skipped += 1,
        }
    }
}

/// Writes what comes in, joined and compared with what was written before.
#[derive(Default)]
pub struct Log {
    recorder: Option<Box<dyn Recorder>>,
    /// Text and reasoning that streamed in since the last record, of the agent and of each assistant.
    pieces: BTreeMap<Option<CallId>, (String, String)>,
    staged: BTreeMap<BundlePath, FileChange>,
    trouble: Option<io::Error>,
    told: bool,
}

impl Log {
    /// `staged` is what the records so far say of the pending changes.
    pub fn new(recorder: Option<Box<dyn Recorder>>, staged: &ChangeSet) -> Self {
        let staged = staged.files.iter().map(|file| (file.path.clone(), file.clone())).collect();
        Self { recorder, staged, ..Self::default() }
    }

    pub fn input(&mut self, input: &Input) {
        self.heard(None, input);
    }

    /// What the assistant was told that works for this call.
    pub fn assistant(&mut self, call: CallId, input: &Input) {
        self.heard(Some(call), input);
    }

    fn heard(&mut self, by: Option<CallId>, input: &Input) {
        if self.recorder.is_none() {
            return;
        }
        let (text, reasoning) = self.pieces.entry(by).or_default();
        match input {
            Input::Model(ModelEvent::Text(piece)) => text.push_str(piece),
            Input::Model(ModelEvent::Reasoning(piece)) => reasoning.push_str(piece),
            other => {
                let (text, reasoning) = self.pieces.remove(&by).unwrap_or_default();
                let mut inputs = Vec::new();
                for (piece, event) in
                    [(reasoning, ModelEvent::Reasoning as fn(String) -> ModelEvent), (text, ModelEvent::Text)]
                {
                    if !piece.is_empty() {
                        inputs.push(Input::Model(event(piece)));
                    }
                }
                inputs.push(other.clone());
                for input in inputs {
                    self.write(&match by {
                        None => Record::Input { input },
                        Some(call) => Record::Assistant { call, input },
                    });
                }
            }
        }
    }

    /// These files are in the bundle now, as they are in `set`.
    pub fn landed(&mut self, paths: &[BundlePath], set: &ChangeSet) {
        if !paths.is_empty() {
            let other =
                |path: &BundlePath| set.file(path).filter(|file| self.staged.get(path) != Some(*file));
            let changed = paths.iter().filter_map(other).map(StagedFile::of).collect();
            let paths = paths.iter().map(|p| p.as_str().to_owned()).collect();
            self.write(&Record::Landed { paths, changed });
        }
    }

    pub fn staged(&mut self, changes: &ChangeSet) {
        if self.recorder.is_none() {
            return;
        }
        let now: BTreeMap<_, _> =
            changes.files.iter().map(|file| (file.path.clone(), file.clone())).collect();
        let changed: Vec<StagedFile> = now
            .iter()
            .filter(|(path, file)| self.staged.get(*path) != Some(*file))
            .map(|(_, file)| StagedFile::of(file))
            .collect();
        let gone: Vec<String> = self
            .staged
            .keys()
            .filter(|path| !now.contains_key(*path))
            .map(|p| p.as_str().to_owned())
            .collect();
        if !changed.is_empty() || !gone.is_empty() {
            self.write(&Record::Staged { changed, gone });
        }
        self.staged = now;
    }

    /// What went wrong with writing, the first time.
    pub fn trouble(&mut self) -> Option<io::Error> {
        let trouble = self.trouble.take().filter(|_| !self.told);
        self.told |= trouble.is_some();
        trouble
    }

    fn write(&mut self, record: &Record) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.record(record)
        {
            self.trouble = Some(error);
        }
    }
}

/// A session as its records leave it.
#[derive(Debug, Default)]
pub struct Restored {
    /// What a listener would have heard, without the pending changes.
    pub events: Vec<AgentEvent>,
    pub staged: ChangeSet,
    /// Files that the model was shown.
    pub read: HashSet<BundlePath>,
    /// What the loop was told at last, so that it rests: to be recorded like everything else.
    pub repairs: Vec<Input>,
}

/// The number that the next call gets after these records.
pub fn next_order(records: &[Record]) -> u64 {
    let order = |record: &Record| match record {
        Record::Input { input: Input::ToolDone { ran, .. } }
        | Record::Assistant { input: Input::ToolDone { ran, .. }, .. } => ran.map(|ran| ran.order + 1),
        _ => None,
    };
    records.iter().filter_map(order).max().unwrap_or_default()
}

/// Brings `machine`, fresh from [`Loop::new`], to where the records end. A turn that was cut off there is stopped.
pub fn restore(machine: &mut Loop, records: &[Record]) -> Restored {
    let mut restored = Restored::default();
    let mut staged = Pending::default();
    let mut open = BTreeMap::new();
    machine.be_silent(true);
    for record in records {
        staged.follow(record);
        if let Record::Input { input } = record {
            if let Input::Say(text) = input {
                restored.events.push(AgentEvent::Said(text.clone()));
            }
            restored.read.extend(read_by(input, &open));
            tell(machine, input.clone(), &mut open, &mut restored.events);
        }
    }
    while !machine.is_idle() {
        let text = "Not known: the workbench ended before the result was there. Look at what is staged before you do it again.";
        let lost = |call: CallId| Input::ToolDone {
            call,
            ok: false,
            text: text.to_owned(),
            todos: None,
            elapsed: Duration::ZERO,
            ran: None,
        };
        let inputs: Vec<Input> =
            [Input::Interrupt].into_iter().chain(open.keys().copied().map(lost)).collect();
        for input in inputs {
            tell(machine, input.clone(), &mut open, &mut restored.events);
            restored.repairs.push(input);
        }
    }
    machine.be_silent(false);
    restored.staged = staged.set();
    restored
}

/// The file that this input says was read.
fn read_by(input: &Input, open: &BTreeMap<CallId, RunCall>) -> Option<BundlePath> {
    let Input::ToolDone { call, ok: true, .. } = input else { return None };
    let run = open.get(call).filter(|run| run.name == Tool::ReadFile.name())?;
    let arguments: serde_json::Value = serde_json::from_str(&run.arguments).ok()?;
    BundlePath::parse(arguments.get("file_path")?.as_str()?).ok()
}

fn tell(
    machine: &mut Loop,
    input: Input,
    open: &mut BTreeMap<CallId, RunCall>,
    events: &mut Vec<AgentEvent>,
) {
    if let Input::ToolDone { call, .. } = &input {
        open.remove(call);
    }
    for effect in machine.step(input) {
        match effect {
            Effect::Emit(event) | Effect::EndTurn(event) => events.push(event),
            Effect::RunTools(calls) => open.extend(calls.into_iter().map(|call| (call.call, call))),
            Effect::Ask(_) | Effect::CancelAsk | Effect::CancelTools => {}
        }
    }
}
