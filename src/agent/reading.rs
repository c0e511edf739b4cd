//! What the model has read: which lines of which file, and in which state. An edit starts from there; the person sees at the
//! end of a turn whether a source was read in full.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::event::AgentEvent;
use crate::okf::{BundlePath, ContentHash};

/// What was read of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub path: BundlePath,
    /// Lines shown, from 1, in order and apart from each other.
    pub ranges: Vec<RangeInclusive<usize>>,
    /// Lines of the file.
    pub total: usize,
}

impl Reading {
    pub fn lines(&self) -> usize {
        self.ranges.iter().map(|range| range.end() + 1 - range.start()).sum()
    }

    pub fn is_whole(&self) -> bool {
        self.lines() >= self.total
    }
}

/// `/raw/x.md: all 40 lines`, `/raw/x.md: 110 of 250 lines (1-100, 201-210)`.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() {
            let what =
                if self.total == 1 { "its one line".to_owned() } else { format!("all {} lines", self.total) };
            return write!(f, "{}: {what}", self.path);
        }
        let ranges: Vec<String> = self.ranges.iter().map(|r| format!("{}-{}", r.start(), r.end())).collect();
        let ranges = if ranges.is_empty() { String::new() } else { format!(" ({})", ranges.join(", ")) };
        write!(f, "{}: {} of {} lines{ranges}", self.path, self.lines(), self.total)
    }
}

#[derive(Debug, Clone)]
struct Seen {
    hash: ContentHash,
    total: usize,
    ranges: Vec<RangeInclusive<usize>>,
    /// Read since [`Ledger::turn`] began.
    fresh: bool,
}

/// The reading of one session. Shared by reference; locks inside.
#[derive(Debug, Default)]
pub struct Ledger {
    seen: Mutex<BTreeMap<BundlePath, Seen>>,
    written: Mutex<BTreeSet<BundlePath>>,
    /// What was tried and forbidden since it was last told, and how often.
    refused: Mutex<BTreeMap<String, usize>>,
}

/// Forbidden attempts that are named to the person at once.
const MAX_REFUSED: usize = 12;

impl Ledger {
    /// The model was shown these lines of the file, or wrote it whole (`lines` is none then: it is known, but was not read).
    pub fn note(&self, path: &BundlePath, bytes: &[u8], total: usize, lines: Option<RangeInclusive<usize>>) {
        let hash = ContentHash::of(bytes);
        let mut map = self.map();
        let seen =
            map.entry(path.clone()).or_insert_with(|| Seen { hash, total, ranges: Vec::new(), fresh: false });
        if seen.hash != hash {
            // What was read of it was another text.
            (seen.hash, seen.total) = (hash, total);
            seen.ranges.clear();
        }
        if let Some(lines) = lines.filter(|lines| lines.start() <= lines.end()) {
            seen.fresh = true;
            add(&mut seen.ranges, lines);
        }
    }

    /// The state in which the model knows the file.
    pub fn hash(&self, path: &BundlePath) -> Option<ContentHash> {
        self.map().get(path).map(|seen| seen.hash)
    }

    /// The file has another name.
    pub fn moved(&self, from: &BundlePath, to: &BundlePath) {
        let mut map = self.map();
        if let Some(seen) = map.remove(from) {
            map.insert(to.clone(), seen);
        }
    }

    /// Something was staged for this file.
    pub fn wrote(&self, path: &BundlePath) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
    }

    /// Files that something was staged for, in path order.
    pub fn written(&self) -> Vec<BundlePath> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Everything that was read.
    pub fn readings(&self) -> Vec<Reading> {
        self.map().iter().filter(|(_, seen)| !seen.ranges.is_empty()).map(reading).collect()
    }

    /// Files below `folder` that were read since the last call.
    pub fn turn(&self, folder: &BundlePath) -> Vec<Reading> {
        let mut map = self.map();
        let read =
            map.iter().filter(|(path, seen)| seen.fresh && path.is_within(folder)).map(reading).collect();
        map.values_mut().for_each(|seen| seen.fresh = false);
        read
    }

    /// Sources that were read since the last call, for the person; none when no source was.
    pub fn sources(&self) -> Option<AgentEvent> {
        let raw = BundlePath::root().join("raw").ok()?;
        Some(self.turn(&raw)).filter(|read| !read.is_empty()).map(AgentEvent::SourcesRead)
    }

    /// Something that no rule allows was tried: `write /.git/config`.
    pub fn refuse(&self, what: String) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    /// What was tried and forbidden since the last call, for the person: a page or a source may have ordered it.
    pub fn refusals(&self) -> Option<AgentEvent> {
        let refused = std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner));
        let mut rows: Vec<String> = refused
            .iter()
            .take(MAX_REFUSED)
            .map(|(what, times)| if *times > 1 { format!("{what} ({times} times)") } else { what.clone() })
            .collect();
        if refused.len() > MAX_REFUSED {
            rows.push(format!("and {} more", refused.len() - MAX_REFUSED));
        }
        let text = format!(
            "Tried and refused: {}. If you did not ask for it, look at what was read: a page or source may have ordered it.",
            rows.join(", ")
        );
        (!refused.is_empty()).then_some(AgentEvent::Notice(text))
    }

    // A poisoned lock guards a map that is whole: each entry is written in one step.
    fn map(&self) -> MutexGuard<'_, BTreeMap<BundlePath, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reading((path, seen): (&BundlePath, &Seen)) -> Reading {
    Reading { path: path.clone(), ranges: seen.ranges.clone(), total: seen.total }
}

/// Adds a range and joins those that touch.
fn add(ranges: &mut Vec<RangeInclusive<usize>>, range: RangeInclusive<usize>) {
    ranges.push(range);
    ranges.sort_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end() + 1 => {
                *last = *last.start()..=(*last.end()).max(*range.end());
            }
            _ => joined.push(range),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> BundlePath {
        BundlePath::parse(text).unwrap()
    }

    #[test]
    fn what_was_read_is_said_in_lines() {
        let ledger = Ledger::default();
        let raw = path("/raw/x.md");
        ledger.note(&raw, b"text", 250, Some(1..=100));
        ledger.note(&raw, b"text", 250, Some(201..=210));
        assert_eq!(ledger.readings()[0].to_string(), "/raw/x.md: 110 of 250 lines (1-100, 201-210)");
        ledger.note(&raw, b"text", 250, Some(90..=250));
        assert_eq!(ledger.turn(&path("/raw"))[0].to_string(), "/raw/x.md: all 250 lines");
        assert!(ledger.turn(&path("/raw")).is_empty(), "told once");
        ledger.note(&raw, b"another text", 3, Some(1..=1));
        assert_eq!(ledger.readings()[0].to_string(), "/raw/x.md: 1 of 3 lines (1-1)");
    }

    #[test]
    fn what_was_written_is_known_but_not_read() {
        let ledger = Ledger::default();
        ledger.note(&path("/wiki/a.md"), b"x", 1, None);
        assert!(ledger.readings().is_empty() && ledger.hash(&path("/wiki/a.md")).is_some());
    }

    #[test]
    fn what_was_refused_is_told_once_and_never_at_length() {
        let ledger = Ledger::default();
        assert_eq!(ledger.refusals(), None);
        ledger.refuse("write /.git/config".into());
        (0..20).for_each(|at| (0..2).for_each(|_| ledger.refuse(format!("write /raw/{at:02}.md"))));
        let Some(AgentEvent::Notice(text)) = ledger.refusals() else { panic!() };
        assert!(
            text.starts_with("Tried and refused: write /.git/config, write /raw/00.md (2 times), ")
                && text.contains("/raw/10.md (2 times), and 9 more. If"),
            "{text}"
        );
        assert_eq!(ledger.refusals(), None);
    }

    proptest! {
        #[test]
        fn ranges_stay_in_order_and_cover_what_was_read(parts in proptest::collection::vec((1_usize..60, 0_usize..9), 0..20)) {
            let mut ranges = Vec::new();
            let mut wanted = std::collections::BTreeSet::new();
            for (start, more) in parts {
                add(&mut ranges, start..=start + more);
                wanted.extend(start..=start + more);
            }
            let covered: Vec<usize> = ranges.iter().cloned().flatten().collect();
            prop_assert_eq!(covered, wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
