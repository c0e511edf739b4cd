//! Applying sets all or nothing, and remembering them (invariants I3, I4, I5).
//!
//! The steps, and what a crash after each leaves:
//!
//! 1. Every new content is written beside its place, down to the disk. A crash leaves temporary files, which the next opening
//!    sweeps away; a full disk or a conflict ends here with nothing changed.
//! 2. Old and new contents and then the journal are written to the state folder. With the journal's rename the set is
//!    decided: a crash from here on is made good by [`Ledger::recover`].
//! 3. Each file is renamed to its place after its content was compared once more. When one cannot land, the journal turns
//!    to taking back, and what has landed is put back.
//! 4. The record is written, the journal removed.
//!
//! POSIX renames one file at a time, so another program may see a mix for a moment. The promise is: all or nothing when the
//! bundle is opened again.

pub mod record;
mod state;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::record::{Journal, Origin, Record, Step};
use self::state::StateFolder;
use super::apply::{Applied, incomplete, sort};
use super::change::{ChangeKind, ChangeSet, Decisions, FileChange};
use super::error::{Error, ErrorKind};
use super::local::LocalBundle;
use super::local::write::{Like, Prepared, Taken};
use super::storage::{Read as _, Write as _};
use crate::okf::{BundlePath, ContentHash};

#[cfg(test)]
mod tests;

const JOURNAL: &str = "journal";
const STAGING: &str = "staging";

/// How long and how much is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub days: u32,
    pub bytes: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self { days: 90, bytes: 256 << 20 }
    }
}

/// What [`Ledger::recover`] found to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Files that a set which was cut off now has in place, or has put back.
    pub finished: Vec<BundlePath>,
    /// Files that somebody changed in the meantime: theirs is kept.
    pub kept: Vec<BundlePath>,
}

/// The ledger of one bundle on this machine.
pub struct Ledger {
    bundle: Arc<LocalBundle>,
    state: StateFolder,
    keep: Keep,
    /// Whether this process has the bundle; one apply at a time.
    owner: Mutex<Option<Taken>>,
}

impl Ledger {
    /// `state` is the folder for this bundle alone; it is made when something is first applied. Touches nothing.
    pub fn new(bundle: Arc<LocalBundle>, state: PathBuf, keep: Keep) -> Self {
        Self { bundle, state: StateFolder::new(state), keep, owner: Mutex::new(None) }
    }

    /// Takes the bundle for this process, until it ends; false when another process has it. Then finishes what a crash cut
    /// off.
    pub fn open(&self) -> Result<Option<Recovery>, Error> {
        let mut owner = self.owner();
        if owner.is_none() {
            *owner = self.bundle.take();
        }
        if owner.is_none() { Ok(None) } else { self.recover().map(Some) }
    }

    pub fn is_owner(&self) -> bool {
        self.owner().is_some()
    }

    // A poisoned lock guards a handle.
    fn owner(&self) -> MutexGuard<'_, Option<Taken>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes or takes back a set whose process died, and sweeps away what it left. The lock must be held.
    fn recover(&self) -> Result<Recovery, Error> {
        let mut recovery = Recovery::default();
        if !self.state.exists() {
            return Ok(recovery);
        }
        if let Some(bytes) = self.state.get(STAGING).map_err(|e| failure(&e))? {
            for path in
                String::from_utf8_lossy(&bytes).lines().filter_map(|line| BundlePath::parse(line).ok())
            {
                self.bundle.sweep(&path);
            }
        }
        let journal = self.state.get(JOURNAL).map_err(|e| failure(&e))?;
        if let Some(journal) = journal.as_deref().and_then(Journal::decode) {
            let mut steps: Vec<&Step> = journal.record.steps.iter().collect();
            if journal.aborted {
                // The half of a move that comes back looks at the other one, which is still there then.
                steps.reverse();
            }
            for step in steps {
                let Ok(path) = BundlePath::parse(&step.path) else { continue };
                if self.turn(&path, step, journal.aborted)? {
                    recovery.finished.push(path);
                } else {
                    recovery.kept.push(path);
                }
            }
            if !journal.aborted {
                self.remember(&journal.record).map_err(|e| failure(&e))?;
            }
        }
        self.state.remove(JOURNAL).and_then(|()| self.state.remove(STAGING)).map_err(|e| failure(&e))?;
        Ok(recovery)
    }

    /// Brings the file of a step from one kept content to the other, unless it is there already; false when it is neither.
    fn turn(&self, path: &BundlePath, step: &Step, back: bool) -> Result<bool, Error> {
        let (from, to) = if back { (&step.after, &step.before) } else { (&step.before, &step.after) };
        let (from, to) = (from.as_deref(), to.as_deref());
        let now = match self.bundle.read_bytes(path) {
            Ok(bytes) => Some(ContentHash::of(&bytes)),
            Err(e) if e.kind == ErrorKind::NotFound => None,
            Err(_) => return Ok(false),
        };
        let text = now.map(|hash| hash.to_string());
        if text.as_deref() == to {
            return Ok(true);
        }
        if text.as_deref() != from {
            return Ok(false);
        }
        let done = match (to, now) {
            (Some(hash), _) => {
                let bytes = self.state.kept(hash).map_err(|e| failure(&e))?;
                let twin = step.moved.as_deref().and_then(|other| BundlePath::parse(other).ok());
                let like = Like { file: twin.as_ref(), mode: step.mode };
                self.bundle.prepare(path, now, &bytes, like).and_then(Prepared::land)
            }
            (None, Some(now)) => self.bundle.remove(path, now),
            (None, None) => Ok(()),
        };
        match done {
            Ok(()) => Ok(true),
            Err(e) if e.kind == ErrorKind::Conflict => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Writes the approved files of `changes`, all or none. When one cannot land, it stands with its reason in `failed`, and
    /// the others stand there as well.
    pub fn apply(&self, changes: &ChangeSet, decisions: &Decisions, origin: &Origin) -> Applied {
        let (approved, mut applied) = sort(changes, decisions);
        if approved.is_empty() {
            return applied;
        }
        let outcome = if applied.failed.is_empty() { self.land(&approved, origin) } else { Err(Vec::new()) };
        match outcome {
            Ok(()) => applied.landed = approved.iter().map(|file| file.path.clone()).collect(),
            Err(mut causes) => {
                for file in approved {
                    if !causes.iter().any(|(path, _)| *path == file.path) {
                        causes.push((file.path.clone(), waits(&file.path)));
                    }
                }
                applied.failed.extend(causes);
            }
        }
        applied.failed.sort_by(|a, b| a.0.cmp(&b.0));
        applied
    }

    /// `Err` holds the files that were the cause; nothing has changed then.
    fn land(&self, files: &[&FileChange], origin: &Origin) -> Result<(), Vec<(BundlePath, Error)>> {
        let all = |error: Error| -> Vec<(BundlePath, Error)> {
            files.iter().map(|file| (file.path.clone(), error.clone())).collect()
        };
        // What was opened may lie elsewhere now, and another bundle at its place.
        if !self.bundle.is_in_place() {
            return Err(all(displaced()));
        }
        match self.open() {
            Ok(Some(_)) => {}
            Ok(None) => return Err(all(taken())),
            Err(e) => return Err(all(e)),
        }
        let _one_at_a_time = self.owner();
        let mut steps = Vec::new();
        for file in files {
            steps.extend(split(file).map_err(|e| vec![(file.path.clone(), e)])?);
        }
        self.state.make().map_err(|e| all(failure(&e)))?;
        // Where temporary files may lie, before the first is made.
        let places: Vec<&str> = steps.iter().map(|step| step.path.as_str()).collect();
        self.state.put(STAGING, places.join("\n").as_bytes()).map_err(|e| all(failure(&e)))?;
        let result = self.land_steps(&steps, origin, &all);
        if result.is_ok() || !self.state.path(JOURNAL).exists() {
            // It only names places; one that stays costs the next opening a look.
            let _ = self.state.remove(STAGING);
        }
        result
    }

    fn land_steps(
        &self,
        steps: &[Move<'_>],
        origin: &Origin,
        all: &dyn Fn(Error) -> Vec<(BundlePath, Error)>,
    ) -> Result<(), Vec<(BundlePath, Error)>> {
        let mut ready = Vec::new();
        let mut causes = Vec::new();
        let modes = self.modes(origin);
        for step in steps {
            let result = match (step.after, step.base()) {
                (Some(after), base) => {
                    let like = Like { file: step.twin, mode: modes.get(step.path.as_str()).copied() };
                    self.bundle.prepare(&step.path, base, after, like).map(Some)
                }
                (None, Some(base)) => self.bundle.removable(&step.path, base).map(|()| None),
                (None, None) => self.bundle.expect(&step.path, None).map(|()| None),
            };
            match result {
                Ok(prepared) => ready.push((step, prepared)),
                Err(e) => causes.push((step.owner.clone(), e)),
            }
        }
        if !causes.is_empty() {
            return Err(causes);
        }
        let record = self.record(steps, origin).map_err(|e| all(failure(&e)))?;
        let mut journal = Journal { aborted: false, record };
        let decided = journal.encode().and_then(|bytes| self.state.put(JOURNAL, &bytes));
        decided.map_err(|e| {
            let _ = self.state.remove(JOURNAL);
            all(failure(&e))
        })?;
        let mut landed = 0;
        let mut cause = None;
        for (step, prepared) in ready {
            let result = match (prepared, step.base()) {
                (Some(prepared), _) => prepared.land(),
                (None, Some(base)) => self.bundle.remove(&step.path, base),
                (None, None) => Ok(()),
            };
            if let Err(e) = result {
                cause = Some((step.owner.clone(), e));
                break;
            }
            landed += 1;
        }
        let Some(cause) = cause else {
            // From here on the set has landed: what fails now is made good at the next opening.
            let _ = self
                .remember(&journal.record)
                .and_then(|()| self.state.remove(JOURNAL))
                .and_then(|()| self.prune());
            return Ok(());
        };
        journal.aborted = true;
        // Without this on the disk a crash would finish the set instead of taking it back: either is whole.
        let _ = journal.encode().and_then(|bytes| self.state.put(JOURNAL, &bytes));
        let mut whole = true;
        // The one that failed may have landed too, unconfirmed.
        for step in journal.record.steps.iter().take(landed + 1).rev() {
            let Ok(path) = BundlePath::parse(&step.path) else { continue };
            whole &= self.turn(&path, step, true).is_ok();
        }
        if whole {
            let _ = self.state.remove(JOURNAL);
        }
        Err(vec![cause])
    }

    /// Permission bits that files of the set had which an undo or redo turns: a file that was deleted gets its own back.
    fn modes(&self, origin: &Origin) -> BTreeMap<String, u32> {
        let turned = origin.undoes.or(origin.redoes);
        let record = turned.and_then(|id| self.state.get(&history(id)).ok()?);
        let record = record.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
        let steps = record.map(|record| record.steps).unwrap_or_default();
        steps.into_iter().filter_map(|step| Some((step.path, step.mode?))).collect()
    }

    /// The record of a set, its contents kept.
    fn record(&self, steps: &[Move<'_>], origin: &Origin) -> io::Result<Record> {
        let keep = |bytes: Option<&[u8]>| -> io::Result<Option<String>> {
            bytes.map(|bytes| self.state.keep(bytes).map(|hash| hash.to_string())).transpose()
        };
        let steps = steps.iter().map(|step| {
            Ok(Step {
                path: step.path.as_str().to_owned(),
                before: keep(step.before)?,
                after: keep(step.after)?,
                moved: step.twin.map(|twin| twin.as_str().to_owned()),
                mode: step.before.and_then(|_| self.bundle.mode_of(&step.path)),
            })
        });
        let last = self.state.names("history")?.iter().filter_map(|name| id_of(name)).max().unwrap_or(0);
        Ok(Record {
            id: last + 1,
            time: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            origin: origin.clone(),
            steps: steps.collect::<io::Result<_>>()?,
        })
    }

    fn remember(&self, record: &Record) -> io::Result<()> {
        self.state.put(&history(record.id), serde_json::to_string(record)?.as_bytes())
    }

    /// Applied sets, the newest first. One that cannot be read is left out.
    pub fn history(&self) -> Result<Vec<Record>, Error> {
        let names = self.state.names("history").map_err(|e| failure(&e))?;
        let read = |name: &String| {
            let bytes = self.state.get(&format!("history/{name}")).ok()??;
            serde_json::from_slice(&bytes).ok()
        };
        Ok(names.iter().rev().filter(|name| id_of(name).is_some()).filter_map(read).collect())
    }

    /// The set that takes `record` back, to be reviewed and applied like any other: where a file was changed since, it is a
    /// conflict.
    pub fn undo(&self, record: &Record) -> Result<ChangeSet, Error> {
        self.set(record, |step| (&step.after, &step.before))
    }

    /// The set that brings `record` about once more.
    pub fn redo(&self, record: &Record) -> Result<ChangeSet, Error> {
        self.set(record, |step| (&step.before, &step.after))
    }

    fn set(
        &self,
        record: &Record,
        sides: impl Fn(&Step) -> (&Option<String>, &Option<String>),
    ) -> Result<ChangeSet, Error> {
        let content = |hash: &Option<String>| -> Result<Option<Arc<[u8]>>, Error> {
            hash.as_deref()
                .map(|hash| self.state.kept(hash).map(Arc::from))
                .transpose()
                .map_err(|e| failure(&e))
        };
        let mut files = Vec::new();
        for step in &record.steps {
            let path = BundlePath::parse(&step.path).map_err(|e| Error::path(&step.path, &e))?;
            let (before, after) = sides(step);
            let (mut before, after) = (content(before)?, content(after)?);
            let twin = record.steps.iter().find(|other| step.moved.as_ref() == Some(&other.path));
            let kind = match (&before, &after, twin) {
                (None, Some(_), Some(from)) => {
                    before = content(sides(from).0)?;
                    let from = BundlePath::parse(&from.path).map_err(|e| Error::path(&from.path, &e))?;
                    ChangeKind::Rename { from }
                }
                // Part of the other half's change.
                (Some(_), None, Some(_)) => continue,
                (None, Some(_), None) => ChangeKind::Create,
                (Some(_), None, None) => ChangeKind::Delete,
                _ => ChangeKind::Modify,
            };
            files.push(FileChange { path, kind, before, after });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(ChangeSet { id: record.id, files })
    }

    /// Forgets what is older or more than is to be kept.
    fn prune(&self) -> io::Result<()> {
        let names = self.state.names("history")?;
        let oldest = jiff::Timestamp::now()
            .checked_sub(jiff::SignedDuration::from_hours(24 * i64::from(self.keep.days)))
            .unwrap_or(jiff::Timestamp::MIN);
        let mut used = std::collections::BTreeSet::new();
        let mut bytes = 0;
        for (nth, name) in names.iter().rev().enumerate() {
            let path = format!("history/{name}");
            let record = self.state.get(&path)?.and_then(|b| serde_json::from_slice::<Record>(&b).ok());
            let Some(record) = record else { continue };
            let blobs: Vec<String> =
                record.steps.iter().flat_map(|s| [s.before.clone(), s.after.clone()]).flatten().collect();
            let new: u64 = blobs
                .iter()
                .filter(|hash| !used.contains(*hash))
                .map(|hash| self.state.size(&format!("blobs/{hash}")))
                .sum();
            let young = record.time.parse::<jiff::Timestamp>().is_ok_and(|time| time >= oldest);
            // The newest is always kept: it is the one that people undo.
            if nth == 0 || (young && bytes + new <= self.keep.bytes) {
                bytes += new;
                used.extend(blobs);
            } else {
                self.state.remove(&path)?;
            }
        }
        for blob in self.state.names("blobs")? {
            if !used.contains(&blob) {
                self.state.remove(&format!("blobs/{blob}"))?;
            }
        }
        Ok(())
    }
}

/// One file of a set on its way.
struct Move<'a> {
    path: BundlePath,
    /// The change that it is part of.
    owner: BundlePath,
    /// The other path of a move.
    twin: Option<&'a BundlePath>,
    before: Option<&'a [u8]>,
    after: Option<&'a [u8]>,
}

impl Move<'_> {
    fn base(&self) -> Option<ContentHash> {
        self.before.map(ContentHash::of)
    }
}

/// A change as steps; a move is the new file, then the old one's end.
fn split(file: &FileChange) -> Result<Vec<Move<'_>>, Error> {
    let (before, after) = (file.before.as_deref(), file.after.as_deref());
    let step = |path: &BundlePath, twin, before, after| Move {
        path: path.clone(),
        owner: file.path.clone(),
        twin,
        before,
        after,
    };
    match (&file.kind, before, after) {
        (ChangeKind::Create, None, Some(_))
        | (ChangeKind::Modify, Some(_), Some(_))
        | (ChangeKind::Delete, Some(_), None) => Ok(vec![step(&file.path, None, before, after)]),
        (ChangeKind::Rename { from }, Some(_), Some(_)) => {
            Ok(vec![step(&file.path, Some(from), None, after), step(from, Some(&file.path), before, None)])
        }
        _ => Err(incomplete(&file.path)),
    }
}

/// The file of a record.
fn history(id: u64) -> String {
    format!("history/{id:08}.json")
}

fn id_of(name: &str) -> Option<u64> {
    name.strip_suffix(".json")?.parse().ok()
}

fn taken() -> Error {
    Error {
        kind: ErrorKind::Denied,
        path: "bundle".to_owned(),
        message: "another wikiwright has this bundle open, so nothing was written; close it and apply again"
            .to_owned(),
    }
}

fn displaced() -> Error {
    Error {
        kind: ErrorKind::Conflict,
        path: "bundle".to_owned(),
        message:
            "its folder was moved or replaced since it was opened, so nothing was written; open it again"
                .to_owned(),
    }
}

/// What is said of a file that could have been written, when another one of its set could not.
pub fn waits(path: &BundlePath) -> Error {
    Error::new(
        ErrorKind::Conflict,
        path,
        "not written, because another file of the set could not be; a set lands as a whole",
    )
}

/// A fault of the state folder; no path of the host is named.
fn failure(error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::StorageFull => "the disk of the state folder is full; make room".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "the state folder cannot be written; check its permissions".to_owned()
        }
        io::ErrorKind::NotFound => "content that is needed is not kept any more".to_owned(),
        io::ErrorKind::InvalidData => error.to_string(),
        kind => format!("the state folder failed ({kind})"),
    };
    Error { kind: ErrorKind::Io, path: "state".to_owned(), message: what }
}
