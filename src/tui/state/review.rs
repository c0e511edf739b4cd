//! The review of staged changes: what was shown, what was decided, where the reader stands. Decisions are data; only
//! [`Effect::Apply`](crate::tui::effect::Effect::Apply) acts on them.

use std::sync::Arc;

use crate::bundle::change::Decisions;
use crate::bundle::{ChangeKind, ChangeSet, Decision};
use crate::lint::Counts;
use crate::okf::{BundlePath, ContentHash};
use crate::tui::effect::Opening;
use crate::tui::event::Diff;

/// Facts about one proposed change, computed away from the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    pub path: BundlePath,
    /// Identity of what is shown; an approval repeats it.
    pub shown: ContentHash,
    pub added: usize,
    pub removed: usize,
    pub hunks: usize,
    /// One side is not text.
    pub binary: bool,
}

/// One file of the review.
#[derive(Debug, Clone)]
pub struct ReviewFile {
    pub weighed: Weighed,
    pub kind: ChangeKind,
    pub decision: Decision,
    /// The page on disk is not what the change started from.
    pub stale: bool,
    pub diff: Option<(u16, Diff)>,
    pub top: usize,
}

/// Findings of the proposed bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    pub counts: Counts,
    /// `CODE path: message` of findings that the changes bring, and of those they heal.
    pub appeared: Vec<String>,
    pub vanished: Vec<String>,
}

#[derive(Debug)]
pub struct Review {
    pub changes: Arc<ChangeSet>,
    pub files: Vec<ReviewFile>,
    pub selected: usize,
    /// First visible row of the file list.
    pub list_top: usize,
    /// What would be written as decisions stand: all but the rejected.
    pub forecast: Arc<ChangeSet>,
    /// Of `forecast`; none while it is being judged.
    pub verdict: Option<Verdict>,
    /// Files that were decided, in that order.
    pub decided: Vec<BundlePath>,
    /// The overlay was on a frame that the person could see, so keys are meant for it.
    pub armed: bool,
    /// Decisions are being written.
    pub applying: bool,
    /// Diffs that were asked for, so that none is asked for twice.
    pub asked: Vec<(ContentHash, u16)>,
}

impl Review {
    /// Keeps decisions about files whose proposed change is still the one that was shown.
    pub fn new(changes: Arc<ChangeSet>, weighed: Vec<Weighed>, before: Option<&Self>) -> Self {
        let files = weighed
            .into_iter()
            .filter_map(|weighed| {
                let kind = changes.file(&weighed.path)?.kind.clone();
                let kept = before.and_then(|r| r.files.iter().find(|f| f.weighed == weighed));
                Some(ReviewFile {
                    kind,
                    decision: kept.map(|f| f.decision.clone()).unwrap_or_default(),
                    stale: kept.is_some_and(|f| f.stale),
                    diff: kept.and_then(|f| f.diff.clone()),
                    top: kept.map_or(0, |f| f.top),
                    weighed,
                })
            })
            .collect::<Vec<_>>();
        let selected = before
            .and_then(|r| r.file())
            .and_then(|f| files.iter().position(|g| g.weighed.path == f.weighed.path))
            .unwrap_or(0);
        let decided = before.map(|r| r.decided.clone()).unwrap_or_default();
        let mut review = Self {
            forecast: changes.clone(),
            changes,
            files,
            selected,
            list_top: 0,
            verdict: None,
            decided,
            armed: false,
            applying: false,
            asked: Vec::new(),
        };
        review.foresee();
        review
    }

    /// Brings the forecast up to the decisions; whether it is another one now.
    pub fn foresee(&mut self) -> bool {
        let rejected = |path: &BundlePath| {
            let file = self.files.iter().find(|f| f.weighed.path == *path);
            file.is_some_and(|f| matches!(f.decision, Decision::Rejected { .. }))
        };
        let wanted = || self.changes.files.iter().filter(|f| !rejected(&f.path));
        let same = self.forecast.id == self.changes.id
            && wanted().map(|f| &f.path).eq(self.forecast.files.iter().map(|f| &f.path));
        if same {
            return false;
        }
        self.forecast = Arc::new(ChangeSet { id: self.changes.id, files: wanted().cloned().collect() });
        self.verdict = None;
        true
    }

    /// Notes a decision about the selected file.
    pub fn decide(&mut self, decision: Decision) {
        if let Some(file) = self.file_mut() {
            file.decision = decision;
            let path = file.weighed.path.clone();
            self.decided.retain(|other| *other != path);
            self.decided.push(path);
        }
    }

    /// Takes back the decision about the selected file, else the last that was made; false when there is none.
    pub fn undecide(&mut self) -> bool {
        let open = |file: Option<&ReviewFile>| file.is_none_or(|f| f.decision == Decision::Pending);
        if open(self.file()) {
            let at = |path: &BundlePath| self.files.iter().position(|f| f.weighed.path == *path);
            let last = self.decided.iter().rev().filter_map(at).find(|at| !open(self.files.get(*at)));
            let Some(last) = last else { return false };
            self.selected = last;
        }
        if let Some(file) = self.file_mut() {
            file.decision = Decision::Pending;
            let path = file.weighed.path.clone();
            self.decided.retain(|other| *other != path);
        }
        true
    }

    pub fn file(&self) -> Option<&ReviewFile> {
        self.files.get(self.selected)
    }

    pub fn file_mut(&mut self) -> Option<&mut ReviewFile> {
        self.files.get_mut(self.selected)
    }

    /// Approved, rejected, undecided.
    pub fn tally(&self) -> (usize, usize, usize) {
        let mut tally = (0, 0, 0);
        for file in &self.files {
            match file.decision {
                Decision::Approved { .. } => tally.0 += 1,
                Decision::Rejected { .. } => tally.1 += 1,
                Decision::Pending => tally.2 += 1,
            }
        }
        tally
    }

    pub fn decisions(&self) -> Decisions {
        self.files
            .iter()
            .filter(|f| f.decision != Decision::Pending)
            .map(|f| (f.weighed.path.clone(), f.decision.clone()))
            .collect()
    }

    /// Goes to the next file without a decision, if any is left.
    pub fn next_undecided(&mut self) {
        let count = self.files.len();
        let next = (1..count)
            .filter_map(|step| (self.selected + step).checked_rem(count))
            .find(|i| self.files.get(*i).is_some_and(|f| f.decision == Decision::Pending));
        if let Some(next) = next {
            self.selected = next;
        }
    }
}

/// Set aside while the fix of a finding is reviewed: the manager's last set, and whether its review should open.
#[derive(Debug, Default)]
pub struct Mending {
    pub waiting: Option<(ChangeSet, Option<Opening>)>,
}

/// What an apply did, for the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub landed: Vec<String>,
    pub rejected: Vec<(String, String)>,
    pub failed: Vec<String>,
    pub pending: usize,
    /// About the set as a whole.
    pub notes: Vec<String>,
}

impl Summary {
    /// Rows it takes on screen: a title, the items and a blank for each kind that there is.
    pub fn rows(&self) -> usize {
        let sections = [self.landed.len(), self.failed.len(), self.rejected.len(), self.notes.len()];
        let listed: usize = sections.iter().filter(|n| **n > 0).map(|n| n + 2).sum();
        listed + usize::from(self.pending > 0)
    }
}
