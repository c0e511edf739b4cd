//! Deciding a file's change hunk by hunk. Pure: from a change and decisions to what lands and what is left.
//!
//! A hunk here is one run of changed lines without context, the smallest piece that can be decided on its own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use similar::{DiffTag, capture_diff_slices};

use super::apply::Applied;
use super::change::{ChangeKind, ChangeSet, Decision, Decisions, FileChange};
use crate::okf::{BundlePath, ContentHash, Frontmatter};

pub mod bonds;
#[cfg(test)]
mod tests;

/// A hunk's identity: what it takes out and puts in, and which of its equals it is. It stays the same when other
/// hunks of the file are decided or lines elsewhere move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HunkId(ContentHash);

/// One run of changed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHunk {
    pub id: HunkId,
    /// Lines from 0, half open, in the text before and after.
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// The lines with their ends.
    pub before: String,
    pub after: String,
}

/// What was decided about one hunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HunkDecision {
    /// Stays staged.
    #[default]
    PutOff,
    Approved,
    /// The text before stays.
    Rejected {
        reason: String,
    },
    /// The person's own text stands there instead.
    Replaced {
        text: String,
    },
}

/// What was decided about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDecision {
    Whole(Decision),
    /// `shown` is [`FileChange::shown`] of what the person saw; a hunk without decision is put off.
    Hunks {
        shown: ContentHash,
        hunks: BTreeMap<HunkId, HunkDecision>,
    },
}

impl FileDecision {
    /// What decisions about the hunks of a file, in their order, say of it; none when nothing is decided. `shown` is
    /// [`FileChange::shown`] of what the person saw. A file without hunks has one decision, about the whole.
    pub fn of(shown: ContentHash, hunks: &[FileHunk], decisions: &[HunkDecision]) -> Option<Self> {
        let all = |test: &dyn Fn(&HunkDecision) -> bool| !decisions.is_empty() && decisions.iter().all(test);
        if all(&|d| *d == HunkDecision::PutOff) || decisions.is_empty() {
            return None;
        }
        if all(&|d| *d == HunkDecision::Approved) {
            return Some(Self::Whole(Decision::Approved { shown }));
        }
        if let Some(HunkDecision::Rejected { reason }) = decisions.first()
            && all(&|d| matches!(d, HunkDecision::Rejected { reason: other } if other == reason))
        {
            return Some(Self::Whole(Decision::Rejected { reason: reason.clone() }));
        }
        let hunks = hunks.iter().map(|hunk| hunk.id).zip(decisions.iter().cloned()).collect();
        Some(Self::Hunks { shown, hunks })
    }
}

/// Decisions of both kinds by path.
pub type Verdicts = BTreeMap<BundlePath, FileDecision>;

/// Verdicts turned into whole changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The set that was decided.
    pub proposed: ChangeSet,
    /// The set to apply: a file decided by hunks holds just what was approved of it.
    pub changes: ChangeSet,
    pub decisions: Decisions,
    /// For each file decided by hunks: what stays proposed once the rest has landed; none when nothing does.
    pub left: BTreeMap<BundlePath, Option<FileChange>>,
    /// Rejected hunks and why.
    pub rejected: Vec<RejectedHunk>,
    /// Hunks that the person wrote anew.
    pub replaced: Vec<(BundlePath, FileHunk, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedHunk {
    pub path: BundlePath,
    pub hunk: FileHunk,
    pub reason: String,
}

impl FileChange {
    /// The change's hunks in file order; none when a side is not text. A created or deleted file has one.
    pub fn hunks(&self) -> Vec<FileHunk> {
        let Ok((before, after)) = self.texts() else { return Vec::new() };
        // What is created or deleted is so as a whole.
        let heads = match (before, after) {
            (Some(before), Some(after)) => (head_lines(before), head_lines(after)),
            _ => (0, 0),
        };
        hunks(before.unwrap_or_default(), after.unwrap_or_default(), heads)
    }

    /// Which keys of the frontmatter differ and how, in the order of the text after: `title changed`, `tags added`.
    pub fn changed_keys(&self) -> Vec<String> {
        if !self.path.is_markdown() {
            return Vec::new();
        }
        let Ok((before, after)) = self.texts() else { return Vec::new() };
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let (old, new) = (Frontmatter::parse(before), Frontmatter::parse(after));
        let changed = new.entries.iter().filter_map(|entry| match old.get(&entry.key) {
            None => Some(format!("{} added", entry.key)),
            Some(node) if node.span.of(before) != entry.value.span.of(after) => {
                Some(format!("{} changed", entry.key))
            }
            Some(_) => None,
        });
        let gone = old.entries.iter().filter(|entry| new.get(&entry.key).is_none());
        changed.chain(gone.map(|entry| format!("{} removed", entry.key))).collect()
    }

    /// Lines of the frontmatter with its fences, before and after.
    pub fn head_lines(&self) -> (usize, usize) {
        let Ok((before, after)) = self.texts() else { return (0, 0) };
        (before.map_or(0, head_lines), after.map_or(0, head_lines))
    }

    /// Whether the sides differ in line ends alone.
    pub fn is_line_ends_only(&self) -> bool {
        let Ok((Some(before), Some(after))) = self.texts() else { return false };
        (before.contains('\r') || after.contains('\r'))
            && before != after
            && before.replace("\r\n", "\n") == after.replace("\r\n", "\n")
    }
}

fn head_lines(text: &str) -> usize {
    let end = Frontmatter::parse(text).block.map_or(0, |block| block.end);
    text.get(..end).map_or(0, |head| head.lines().count())
}

/// `heads` are the lines of frontmatter. What changes there is one hunk, from its first changed line to its last: half of a
/// block of YAML need not be one. No hunk reaches over its end, so that it can be decided by itself.
fn hunks(before: &str, after: &str, heads: (usize, usize)) -> Vec<FileHunk> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut head: Option<(Range<usize>, Range<usize>)> = None;
    let mut body = Vec::new();
    for op in capture_diff_slices(crate::text::diff::algorithm(&old, &new), &old, &new) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        let at = (heads.0.clamp(old.start, old.end), heads.1.clamp(new.start, new.end));
        if at != (old.start, new.start) {
            let start = head.map_or((old.start, new.start), |(old, new)| (old.start, new.start));
            head = Some((start.0..at.0, start.1..at.1));
            // Where only one side has frontmatter, it may reach past what was taken for text.
            body.clear();
        }
        if at != (old.end, new.end) {
            body.push((at.0..old.end, at.1..new.end));
        }
    }
    let mut seen: BTreeMap<ContentHash, u32> = BTreeMap::new();
    head.into_iter()
        .chain(body)
        .map(|(old_range, new_range)| {
            let text =
                |lines: &[&str], range: &Range<usize>| lines.get(range.clone()).unwrap_or_default().concat();
            let (before, after) = (text(&old, &old_range), text(&new, &new_range));
            // The length first, so that no two pairs spell the same bytes.
            let pair = ContentHash::of(format!("{}:{before}{after}", before.len()).as_bytes());
            let nth = seen.entry(pair).and_modify(|n| *n += 1).or_default();
            let id = HunkId(ContentHash::of(format!("{pair}#{nth}").as_bytes()));
            FileHunk { id, old: old_range, new: new_range, before, after }
        })
        .collect()
}

/// The text before with each hunk as `choose` says: its old lines, its new ones, or others.
fn compose(before: &str, hunks: &[FileHunk], choose: impl Fn(&FileHunk) -> String) -> String {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let mut out = String::with_capacity(before.len());
    let mut at = 0;
    for hunk in hunks {
        out.extend(lines.get(at..hunk.old.start).unwrap_or_default().iter().copied());
        out.push_str(&choose(hunk));
        at = hunk.old.end;
    }
    out.extend(lines.get(at..).unwrap_or_default().iter().copied());
    out
}

impl Resolved {
    /// Decisions about whole files.
    pub fn whole(changes: ChangeSet, decisions: Decisions) -> Self {
        Self { proposed: changes.clone(), changes, decisions, ..Self::default() }
    }

    /// What stays proposed after `applied`: what was decided and did not fail is gone from it.
    pub fn rest(&self, applied: &Applied) -> ChangeSet {
        let failed = |path: &BundlePath| applied.failed.iter().any(|(at, _)| at == path);
        let settled = |path: &BundlePath| {
            applied.landed.contains(path) || applied.rejected.iter().any(|(at, _)| at == path)
        };
        let rest = |file: &FileChange| match self.left.get(&file.path) {
            Some(left) if !failed(&file.path) => left.clone(),
            Some(_) => Some(file.clone()),
            None => (!settled(&file.path)).then(|| file.clone()),
        };
        ChangeSet { id: self.proposed.id, files: self.proposed.files.iter().filter_map(rest).collect() }
    }
}

/// Turns verdicts into a set of whole changes. A file whose `shown` is not what the set holds keeps that decision, so that
/// applying refuses it.
pub fn resolve(changes: &ChangeSet, verdicts: &Verdicts) -> Resolved {
    let mut resolved = Resolved {
        proposed: changes.clone(),
        changes: ChangeSet { id: changes.id, files: Vec::new() },
        ..Resolved::default()
    };
    for file in &changes.files {
        match verdicts.get(&file.path) {
            None => resolved.changes.files.push(file.clone()),
            Some(FileDecision::Whole(decision)) => {
                resolved.changes.files.push(file.clone());
                resolved.decisions.insert(file.path.clone(), decision.clone());
            }
            Some(FileDecision::Hunks { shown, hunks }) => resolve_file(&mut resolved, file, *shown, hunks),
        }
    }
    // A decision about a file that is not there any more is refused by name, not dropped.
    for (path, verdict) in verdicts {
        if changes.file(path).is_none() {
            let decision = match verdict {
                FileDecision::Whole(decision) => decision.clone(),
                FileDecision::Hunks { shown, .. } => Decision::Approved { shown: *shown },
            };
            resolved.decisions.insert(path.clone(), decision);
        }
    }
    resolved
}

fn resolve_file(
    resolved: &mut Resolved,
    file: &FileChange,
    shown: ContentHash,
    decisions: &BTreeMap<HunkId, HunkDecision>,
) {
    let hunks = file.hunks();
    let of = |hunk: &FileHunk| decisions.get(&hunk.id).cloned().unwrap_or_default();
    let known = decisions.keys().all(|id| hunks.iter().any(|hunk| hunk.id == *id));
    if shown != file.shown() || !known || hunks.is_empty() {
        resolved.changes.files.push(file.clone());
        resolved.decisions.insert(file.path.clone(), Decision::Approved { shown });
        return;
    }
    for hunk in &hunks {
        match of(hunk) {
            HunkDecision::Rejected { reason } => {
                resolved.rejected.push(RejectedHunk { path: file.path.clone(), hunk: hunk.clone(), reason });
            }
            HunkDecision::Replaced { text } => {
                resolved.replaced.push((file.path.clone(), hunk.clone(), text))
            }
            HunkDecision::Approved | HunkDecision::PutOff => {}
        }
    }
    let Ok((before, _)) = file.texts() else { return };
    let text = before.unwrap_or_default();
    let landing = compose(text, &hunks, |hunk| match of(hunk) {
        HunkDecision::Approved => hunk.after.clone(),
        HunkDecision::Replaced { text } => text,
        HunkDecision::Rejected { .. } | HunkDecision::PutOff => hunk.before.clone(),
    });
    let proposed = compose(text, &hunks, |hunk| match of(hunk) {
        HunkDecision::Approved | HunkDecision::PutOff => hunk.after.clone(),
        HunkDecision::Replaced { text } => text,
        HunkDecision::Rejected { .. } => hunk.before.clone(),
    });
    // A file is deleted or created as a whole: only its one hunk's approval does that.
    let whole =
        matches!(file.kind, ChangeKind::Delete) && hunks.iter().all(|h| of(h) == HunkDecision::Approved);
    let bytes = |text: &str| Arc::<[u8]>::from(text.as_bytes());
    let after = if whole { None } else { Some(bytes(&landing)) };
    let exists = after.is_some() && (before.is_some() || !landing.is_empty());
    let lands = if exists || whole { landing != text || whole } else { false };
    if lands {
        let kind = match (&file.kind, &after) {
            (ChangeKind::Delete, Some(_)) => ChangeKind::Modify,
            (kind, _) => kind.clone(),
        };
        let part =
            FileChange { path: file.path.clone(), kind, before: file.before.clone(), after: after.clone() };
        resolved.decisions.insert(file.path.clone(), Decision::Approved { shown: part.shown() });
        resolved.changes.files.push(part);
    }
    let open = hunks.iter().any(|hunk| of(hunk) == HunkDecision::PutOff);
    let left = open.then(|| {
        let now = if lands { after } else { file.before.clone() };
        let kind = match &now {
            None => ChangeKind::Create,
            Some(_) if lands => ChangeKind::Modify,
            Some(_) => file.kind.clone(),
        };
        let after = if matches!(kind, ChangeKind::Delete) { None } else { Some(bytes(&proposed)) };
        FileChange { path: file.path.clone(), kind, before: now, after }
    });
    resolved.left.insert(file.path.clone(), left.filter(|change| change.before != change.after));
}
