//! The review of staged changes: what was shown, what was decided hunk by hunk, where the reader stands. Decisions are
//! data; only [`Effect::Apply`](crate::tui::effect::Effect::Apply) acts on them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::agent::Carried;
use crate::bundle::hunk::bonds::{Bond, BondKind, stranded};
use crate::bundle::hunk::{FileDecision, FileHunk, HunkDecision, HunkId, Verdicts};
use crate::bundle::{ChangeKind, ChangeSet, waiting};
use crate::lint::Counts;
use crate::okf::{BundlePath, ContentHash};
use crate::text::width;
use crate::tui::diff_view::{Look, Replaced};
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
    /// None of a file that can only be decided as a whole.
    pub hunks: Vec<FileHunk>,
    /// One side is not text.
    pub binary: bool,
}

/// What the person said of one hunk, or of a file without hunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Mark {
    #[default]
    Open,
    Approved,
    Rejected {
        reason: String,
    },
    /// The person's own text is to stand there.
    Edited {
        text: String,
    },
    /// It stays staged.
    PutOff,
}

/// Which drawing of a file's diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffKey {
    pub shown: ContentHash,
    pub look: Look,
    /// Grows when the person edits a text.
    pub edition: u32,
}

/// One file of the review.
#[derive(Debug, Clone)]
pub struct ReviewFile {
    pub weighed: Weighed,
    pub kind: ChangeKind,
    /// One for each hunk, and one for a file without hunks.
    pub marks: Vec<Mark>,
    /// The hunk at hand.
    pub hunk: usize,
    pub edition: u32,
    /// The page on disk is not what the change started from.
    pub stale: bool,
    /// It was carried over to the page as somebody left it.
    pub carried: Option<Carried>,
    pub diff: Option<(DiffKey, Diff)>,
    pub top: usize,
}

impl ReviewFile {
    pub fn mark(&self) -> &Mark {
        self.marks.get(self.hunk).unwrap_or(&Mark::Open)
    }

    pub fn is_open(&self) -> bool {
        self.marks.contains(&Mark::Open)
    }

    /// Rows of the hunk at hand; a file without hunks is one.
    pub fn rows(&self) -> Range<usize> {
        let Some((_, diff)) = &self.diff else { return 0..0 };
        diff.hunks.get(self.hunk).cloned().unwrap_or(0..diff.lines.len())
    }

    pub fn replaced(&self) -> Replaced {
        let edited = self.weighed.hunks.iter().zip(&self.marks).filter_map(|(hunk, mark)| match mark {
            Mark::Edited { text } => Some((hunk.id, text.clone())),
            _ => None,
        });
        edited.collect()
    }

    fn decision(&self, open: &HunkDecision) -> Option<FileDecision> {
        let decide = |mark: &Mark| match mark {
            Mark::Open => open.clone(),
            Mark::Approved => HunkDecision::Approved,
            Mark::Rejected { reason } => HunkDecision::Rejected { reason: reason.clone() },
            Mark::Edited { text } => HunkDecision::Replaced { text: text.clone() },
            Mark::PutOff => HunkDecision::PutOff,
        };
        let decisions: Vec<HunkDecision> = self.marks.iter().map(decide).collect();
        FileDecision::of(self.weighed.shown, &self.weighed.hunks, &decisions)
    }
}

/// What would become of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    pub counts: Counts,
    /// `CODE path: message` of findings that the changes bring, and of those they heal.
    pub appeared: Vec<String>,
    pub vanished: Vec<String>,
    /// Links and paths that lead nowhere then, and that do again.
    pub broken: usize,
    pub healed: usize,
    /// Pages to which no other links then.
    pub orphans: usize,
    /// Pages that are there before and after, and cite other sources.
    pub cited: Vec<String>,
    /// Findings that appear and vanish, by page.
    pub by_file: BTreeMap<BundlePath, (usize, usize)>,
}

/// A decision that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Done {
    path: BundlePath,
    shown: ContentHash,
    hunk: usize,
    marks: Vec<Mark>,
}

#[derive(Debug)]
pub struct Review {
    pub changes: Arc<ChangeSet>,
    pub files: Vec<ReviewFile>,
    pub bonds: Vec<Bond>,
    pub selected: usize,
    /// First visible row of the file list, and the choice for which it was set.
    pub list_top: usize,
    pub listed: usize,
    /// The hunk at hand must come into view.
    pub reveal: bool,
    pub split: bool,
    pub whole: bool,
    /// What would be written as decisions stand: all but what is rejected or put off.
    pub forecast: Verdicts,
    /// Counts forecasts, so that an answer to an older question is known.
    pub generation: u64,
    /// Of the last forecast that was judged.
    pub verdict: Option<Verdict>,
    pub judging: bool,
    /// What the decisions tear apart, when all that is not rejected is written.
    pub torn: Vec<String>,
    done: Vec<Done>,
    /// The overlay was on a frame that the person could see, so keys are meant for it.
    pub armed: bool,
    /// Decisions are being written.
    pub applying: bool,
    /// Diffs that were asked for, so that none is asked for twice.
    pub asked: Vec<DiffKey>,
    /// Files that the next set holds carried over to what they are now.
    pub carried: BTreeMap<BundlePath, Carried>,
}

impl Review {
    /// Keeps decisions about files whose proposed change is still the one that was shown.
    pub fn new(
        changes: Arc<ChangeSet>,
        weighed: Vec<Weighed>,
        bonds: Vec<Bond>,
        before: Option<Self>,
    ) -> Self {
        let file = |weighed: Weighed| {
            let kind = changes.file(&weighed.path)?.kind.clone();
            let same = |f: &&ReviewFile| f.weighed.path == weighed.path && f.weighed.shown == weighed.shown;
            let marks = vec![Mark::Open; weighed.hunks.len().max(1)];
            let kept = before.as_ref().and_then(|r| r.files.iter().find(same)).cloned();
            let carried = before.as_ref().and_then(|r| r.carried.get(&weighed.path)).copied();
            Some(kept.unwrap_or(ReviewFile {
                carried,
                weighed,
                kind,
                marks,
                hunk: 0,
                edition: 0,
                stale: false,
                diff: None,
                top: 0,
            }))
        };
        let files: Vec<ReviewFile> = weighed.into_iter().filter_map(file).collect();
        let selected = before
            .as_ref()
            .and_then(|r| r.file())
            .and_then(|f| files.iter().position(|g| g.weighed.path == f.weighed.path))
            .unwrap_or(0);
        let (split, whole) = before.as_ref().map_or((false, false), |r| (r.split, r.whole));
        let generation = before.as_ref().map_or(0, |r| r.generation + 1);
        let (done, verdict) = before.map(|r| (r.done, r.verdict)).unwrap_or_default();
        let mut review = Self {
            changes,
            files,
            bonds,
            selected,
            list_top: 0,
            listed: 0,
            reveal: true,
            split,
            whole,
            forecast: Verdicts::new(),
            generation,
            verdict,
            judging: true,
            torn: Vec::new(),
            done,
            armed: false,
            applying: false,
            asked: Vec::new(),
            carried: BTreeMap::new(),
        };
        review.foresee();
        review
    }

    /// What the forecast takes for given.
    pub fn premise(&self) -> &'static str {
        let kept = |mark: &Mark| matches!(mark, Mark::Rejected { .. } | Mark::PutOff);
        if self.files.iter().flat_map(|file| &file.marks).any(kept) {
            "If all but the rejected is written:"
        } else {
            "If all of it is written:"
        }
    }

    /// Whether a file should be looked at twice: no wiki needs such a change, or it takes away what somebody else wrote.
    pub fn is_odd(&self, file: &ReviewFile, wiki: bool) -> bool {
        file.carried == Some(Carried::Contested)
            || self.changes.file(&file.weighed.path).is_some_and(|change| change.oddity(wiki).is_some())
    }

    /// Brings the forecast up to the decisions; whether it is another one now.
    pub fn foresee(&mut self) -> bool {
        let forecast = self.verdicts(&HunkDecision::Approved);
        if forecast == self.forecast {
            return false;
        }
        self.torn = stranded(&self.changes, &self.bonds, &forecast);
        self.forecast = forecast;
        self.generation += 1;
        self.judging = true;
        true
    }

    fn verdicts(&self, open: &HunkDecision) -> Verdicts {
        let decided = |f: &ReviewFile| Some((f.weighed.path.clone(), f.decision(open)?));
        self.files.iter().filter_map(decided).collect()
    }

    /// What is decided; what is open or put off stays staged.
    pub fn decisions(&self) -> Verdicts {
        self.verdicts(&HunkDecision::PutOff)
    }

    /// What would be torn apart if only what is approved were written.
    pub fn torn_now(&self) -> Vec<String> {
        stranded(&self.changes, &self.bonds, &self.decisions())
    }

    /// Files that the hunk at hand, or the file, goes together with.
    pub fn partners(&self, file: &ReviewFile, hunk: Option<HunkId>) -> Vec<String> {
        let path = &file.weighed.path;
        let moved_from = match &file.kind {
            ChangeKind::Rename { from } => Some(from),
            _ => None,
        };
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        for bond in &self.bonds {
            let own = bond.path == *path && hunk.is_none_or(|hunk| hunk == bond.hunk);
            let theirs = bond.other == *path || Some(&bond.other) == moved_from;
            let other = match (own, theirs) {
                (true, _) => &bond.other,
                (_, true) => &bond.path,
                _ => continue,
            };
            let what = match (own, bond.kind) {
                (true, BondKind::Links) => "links to the new",
                (true, BondKind::Frees) => "no longer links to the deleted",
                (false, BondKind::Links) => "is linked from",
                (false, BondKind::Frees) => "was linked from",
            };
            let other = other.relative();
            match found.iter_mut().find(|(said, _)| *said == what) {
                Some((_, others)) if others.contains(&other) => {}
                Some((_, others)) => others.push(other),
                None => found.push((what, vec![other])),
            }
        }
        found.into_iter().map(|(what, others)| format!("{what} {}", others.join(", "))).collect()
    }

    /// Notes a decision about the hunk at hand, or about all of the file's; a text of the person's own stays when the rest is
    /// approved.
    pub fn decide(&mut self, mark: &Mark, all: bool) {
        let Some(file) = self.files.get_mut(self.selected) else { return };
        let before = file.marks.clone();
        for (at, place) in file.marks.iter_mut().enumerate() {
            let kept = all && *mark == Mark::Approved && matches!(place, Mark::Edited { .. });
            if (all || at == file.hunk) && !kept {
                *place = mark.clone();
            }
        }
        let edited = |marks: &[Mark]| marks.iter().any(|m| matches!(m, Mark::Edited { .. }));
        if edited(&before) || edited(&file.marks) {
            file.edition += 1;
        }
        let (path, shown) = (file.weighed.path.clone(), file.weighed.shown);
        self.done.push(Done { path, shown, hunk: file.hunk, marks: before });
    }

    /// Takes back the last decision and goes to it; false when there is none.
    pub fn undecide(&mut self) -> bool {
        while let Some(done) = self.done.pop() {
            let same = |f: &ReviewFile| f.weighed.path == done.path && f.weighed.shown == done.shown;
            let Some(at) = self.files.iter().position(same) else { continue };
            let Some(file) = self.files.get_mut(at) else { continue };
            if file.marks == done.marks {
                continue;
            }
            file.marks = done.marks;
            file.hunk = done.hunk;
            file.edition += 1;
            self.selected = at;
            self.reveal = true;
            return true;
        }
        false
    }

    /// Approves what is neither rejected nor put off.
    pub fn approve_open(&mut self) {
        for mark in self.files.iter_mut().flat_map(|f| &mut f.marks) {
            if *mark == Mark::Open {
                *mark = Mark::Approved;
            }
        }
    }

    pub fn file(&self) -> Option<&ReviewFile> {
        self.files.get(self.selected)
    }

    pub fn file_mut(&mut self) -> Option<&mut ReviewFile> {
        self.files.get_mut(self.selected)
    }

    /// Hunks that are approved or edited, rejected, undecided or put off.
    pub fn tally(&self) -> (usize, usize, usize) {
        let mut tally = (0, 0, 0);
        for mark in self.files.iter().flat_map(|f| &f.marks) {
            match mark {
                Mark::Approved | Mark::Edited { .. } => tally.0 += 1,
                Mark::Rejected { .. } => tally.1 += 1,
                Mark::Open | Mark::PutOff => tally.2 += 1,
            }
        }
        tally
    }

    pub fn select(&mut self, file: usize) {
        self.selected = file.min(self.files.len().saturating_sub(1));
        self.reveal = true;
    }

    /// The next hunk or the one before, of the next file when this one has no more.
    pub fn step(&mut self, forward: bool) {
        let count = self.files.len();
        let Some(file) = self.file_mut() else { return };
        let last = file.marks.len().saturating_sub(1);
        match (forward, file.hunk) {
            (true, at) if at < last => file.hunk += 1,
            (false, at) if at > 0 => file.hunk -= 1,
            (true, _) if self.selected + 1 < count => {
                self.selected += 1;
                self.files.get_mut(self.selected).into_iter().for_each(|f| f.hunk = 0);
            }
            (false, _) if self.selected > 0 => {
                self.selected -= 1;
                let before = self.files.get_mut(self.selected);
                before.into_iter().for_each(|f| f.hunk = f.marks.len().saturating_sub(1));
            }
            _ => {}
        }
        self.reveal = true;
    }

    /// Goes to the next hunk without a decision, if any is left.
    pub fn next_undecided(&mut self) {
        let count = self.files.len();
        for step in 0..=count {
            let Some(at) = (self.selected + step).checked_rem(count) else { return };
            let Some(file) = self.files.get_mut(at) else { return };
            let from = if step == 0 { file.hunk } else { 0 };
            let mut open = file.marks.iter().enumerate().skip(from);
            if let Some((hunk, _)) = open.find(|(_, mark)| **mark == Mark::Open) {
                file.hunk = hunk;
                self.selected = at;
                self.reveal = true;
                return;
            }
        }
    }

    /// The drawing that is wanted of a file in so many columns.
    pub fn wanted(&self, file: &ReviewFile, columns: u16, split: bool) -> DiffKey {
        let look = Look { columns, split, whole: self.whole };
        DiffKey { shown: file.weighed.shown, look, edition: file.edition }
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
    /// Changes that stay staged.
    pub pending: usize,
    /// About the set as a whole.
    pub notes: Vec<String>,
    /// It can be taken back with a key.
    pub undo: bool,
}

/// What a row of the summary is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Landed,
    Failed,
    Rejected,
    Notes,
    Pending,
    Nothing,
}

impl Summary {
    /// Rows of so many columns: of each kind that there is a title, the items and a blank.
    pub fn rows(&self, columns: usize) -> Vec<(Part, String)> {
        let rejected = self.rejected.iter().map(|(path, reason)| match reason.as_str() {
            "" => path.clone(),
            reason => format!("{path}: {reason}"),
        });
        let mut rows = Vec::new();
        let mut section = |part: Part, title: String, mark: &str, items: Vec<String>| {
            if items.is_empty() {
                return;
            }
            rows.push((part, title));
            for item in items {
                let room = columns.saturating_sub(width::width(mark)).max(1);
                for (nth, range) in width::wrap(&item, room).into_iter().enumerate() {
                    let text = item.get(range).unwrap_or_default();
                    let mark = if nth == 0 { mark.to_owned() } else { " ".repeat(width::width(mark)) };
                    rows.push((part, format!("{mark}{text}")));
                }
            }
            rows.push((Part::Nothing, String::new()));
        };
        section(Part::Landed, format!("{} written", self.landed.len()), "  ✓ ", self.landed.clone());
        section(Part::Failed, format!("{} not written", self.failed.len()), "  ! ", self.failed.clone());
        section(Part::Rejected, format!("{} rejected", self.rejected.len()), "  ✗ ", rejected.collect());
        section(Part::Notes, "git".to_owned(), "    ", self.notes.clone());
        if self.pending > 0 {
            rows.push((Part::Pending, format!("{} for review", waiting(self.pending))));
        }
        rows
    }
}
