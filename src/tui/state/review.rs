//! The review of staged changes: what was shown, what was decided, where the reader stands. Decisions are data; only
//! [`Effect::Apply`](crate::tui::effect::Effect::Apply) acts on them.

use std::sync::Arc;

use crate::bundle::change::Decisions;
use crate::bundle::{ChangeKind, ChangeSet, Decision};
use crate::lint::Counts;
use crate::okf::{BundlePath, ContentHash};
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
    pub verdict: Option<Verdict>,
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
        Self {
            changes,
            files,
            selected,
            list_top: 0,
            verdict: None,
            armed: false,
            applying: false,
            asked: Vec::new(),
        }
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

/// What an apply did, for the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub landed: Vec<String>,
    pub rejected: Vec<(String, String)>,
    pub failed: Vec<String>,
    pub pending: usize,
}

impl Summary {
    /// Rows it takes on screen: a title, the items and a blank for each kind that there is.
    pub fn rows(&self) -> usize {
        let sections = [self.landed.len(), self.failed.len(), self.rejected.len()];
        let listed: usize = sections.iter().filter(|n| **n > 0).map(|n| n + 2).sum();
        listed + usize::from(self.pending > 0)
    }
}
