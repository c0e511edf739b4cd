//! Where everything stands on a screen of a given size: a pure function of the state that both the views and the
//! mouse use. Every rectangle lies within the screen.

use ratatui::layout::Rect;

use super::picker::Picker;
use super::review::{Mark, Review};
use super::{Overlay, Pane, State};
use crate::agent::Carried;
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;

/// Below this the screen only says that it is too small.
pub const MIN: (u16, u16) = (40, 10);
/// Longest line of a page, for reading.
const MEASURE: u16 = 100;
/// Most rows of the composer's text.
const COMPOSER: u16 = 8;

/// Outer rectangles; a pane that is not shown has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Regions {
    pub small: bool,
    pub tabs: Option<Rect>,
    pub tree: Option<Rect>,
    pub page: Option<Rect>,
    pub chat: Option<Rect>,
    pub banner: Option<Rect>,
    pub status: Rect,
    /// Everything above the banner and the status line.
    pub body: Rect,
}

impl Regions {
    pub fn pane(&self, pane: Pane) -> Option<Rect> {
        match pane {
            Pane::Tree => self.tree,
            Pane::Page => self.page,
            Pane::Chat => self.chat,
        }
    }

    pub fn pane_at(&self, column: u16, row: u16) -> Option<Pane> {
        Pane::ALL.into_iter().find(|p| self.pane(*p).is_some_and(|r| r.contains((column, row).into())))
    }
}

pub fn regions(state: &State) -> Regions {
    let (width, height) = state.size;
    if width < MIN.0 || height < MIN.1 {
        return Regions { small: true, ..Regions::default() };
    }
    let status = Rect::new(0, height - 1, width, 1);
    let banner = (state.fixed.banner.is_some() && height >= 12).then(|| Rect::new(0, height - 2, width, 1));
    let mut body = Rect::new(0, 0, width, height - 1 - u16::from(banner.is_some()));
    let mut regions = Regions { banner, status, ..Regions::default() };
    if width >= 120 {
        let tree = (width / 5).clamp(24, 40);
        let chat = (width * 35 / 100).clamp(42, 80);
        let page = width - tree - chat;
        regions.tree = Some(Rect { width: tree, ..body });
        regions.page = Some(Rect { x: tree, width: page, ..body });
        regions.chat = Some(Rect { x: tree + page, width: chat, ..body });
    } else if width >= 80 {
        if state.side == Pane::Chat {
            let chat = width * 48 / 100;
            regions.page = Some(Rect { width: width - chat, ..body });
            regions.chat = Some(Rect { x: width - chat, width: chat, ..body });
        } else {
            let tree = (width / 3).clamp(24, 34);
            regions.tree = Some(Rect { width: tree, ..body });
            regions.page = Some(Rect { x: tree, width: width - tree, ..body });
        }
    } else {
        regions.tabs = Some(Rect { height: 1, ..body });
        body = Rect { y: 1, height: body.height - 1, ..body };
        match state.focus {
            Pane::Tree => regions.tree = Some(body),
            Pane::Page => regions.page = Some(body),
            Pane::Chat => regions.chat = Some(body),
        }
    }
    regions.body = body;
    regions
}

/// Within the border of a pane.
pub fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// Text of the page pane: one column of air on both sides, no wider than is good to read.
pub fn page_text(area: Rect) -> Rect {
    let inner = inner(area);
    Rect { x: inner.x.saturating_add(1), width: inner.width.saturating_sub(2).min(MEASURE), ..inner }
}

/// Transcript and composer of the chat pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatRegions {
    pub transcript: Rect,
    /// With its upper rule.
    pub composer: Rect,
    /// Where the text of the composer stands.
    pub field: Rect,
}

pub fn chat(state: &State, area: Rect) -> ChatRegions {
    let inner = inner(area);
    let field_width = inner.width.saturating_sub(2);
    let rows = u16::try_from(state.chat().composer.rows(field_width)).unwrap_or(COMPOSER);
    let rows = rows.clamp(1, COMPOSER.min((inner.height / 2).max(1)));
    let composer_height = (rows + 1).min(inner.height);
    let transcript = Rect { height: inner.height - composer_height, ..inner };
    let composer = Rect { y: inner.y + transcript.height, height: composer_height, ..inner };
    let field = Rect {
        x: composer.x.saturating_add(2),
        y: composer.y.saturating_add(1),
        width: field_width,
        height: composer_height.saturating_sub(1),
    };
    let transcript =
        Rect { x: transcript.x.saturating_add(1), width: transcript.width.saturating_sub(2), ..transcript };
    ChatRegions { transcript, composer, field }
}

/// The parts of the review overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewRegions {
    pub outer: Rect,
    pub verdict: Rect,
    pub files: Rect,
    /// What is said of the chosen file and the hunk at hand.
    pub warning: Rect,
    pub diff: Rect,
    pub keys: Rect,
}

/// Columns from which before and after can stand side by side.
pub const SPLIT: u16 = 140;

/// Columns beside a diff for the hunk at hand and the decisions.
pub const GUTTER: u16 = 2;

/// Whether the diff is drawn side by side.
pub fn split(state: &State) -> bool {
    state.size.0 >= SPLIT && state.review.as_ref().is_some_and(|review| review.split)
}

pub fn review(state: &State) -> ReviewRegions {
    let outer = overlay_area(state);
    let inner = inner(outer);
    let rows = state.review.as_ref().map_or(0, |review| verdict_rows(review).len().min(4));
    let rows = u16::try_from(1 + rows).unwrap_or(u16::MAX);
    let verdict_height = rows.min((inner.height / 4).max(1)).min(inner.height);
    let verdict = Rect { height: verdict_height, ..inner };
    let keys_height = match inner.width {
        150.. => 2,
        100.. => 3,
        _ => 4,
    };
    let keys_height =
        keys_height.min((inner.height / 6).max(1)).min(inner.height.saturating_sub(verdict_height + 3));
    let keys = Rect { y: inner.y + inner.height.saturating_sub(keys_height), height: keys_height, ..inner };
    let rest = Rect {
        y: inner.y + verdict_height,
        height: inner.height.saturating_sub(verdict_height + keys_height),
        ..inner
    };
    let (files, diff) = if rest.width >= 90 {
        let files = if split(state) { 34 } else { (rest.width / 3).clamp(30, 52) };
        // One column between them holds a rule.
        let diff = Rect { x: rest.x + files, width: rest.width - files, ..rest };
        (Rect { width: files - 1, ..rest }, diff)
    } else {
        let count = state.review.as_ref().map_or(0, |r| r.files.len());
        let files =
            u16::try_from(count + 1).unwrap_or(u16::MAX).clamp(2, (rest.height / 3).max(2)).min(rest.height);
        (Rect { height: files, ..rest }, Rect { y: rest.y + files, height: rest.height - files, ..rest })
    };
    let columns = usize::from(diff.width.saturating_sub(1));
    let rows: usize = review_notes(state).iter().map(|(_, text)| width::wrap(text, columns).len()).sum();
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(diff.height / 2);
    let warning = Rect { x: diff.x + 1, width: diff.width.saturating_sub(1), height: rows, ..diff };
    let diff = Rect { y: diff.y + rows, height: diff.height - rows, ..diff };
    ReviewRegions { outer, verdict, files, warning, diff, keys }
}

/// What a row says, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
}

/// Rows of the verdict under its first: what would be torn apart, links and pages, findings that appear.
pub fn verdict_rows(review: &Review) -> Vec<(Tone, String)> {
    let mut rows: Vec<(Tone, String)> =
        review.torn.iter().map(|text| (Tone::Bad, format!("! {text}"))).collect();
    let Some(verdict) = &review.verdict else { return rows };
    let mut facts = Vec::new();
    let mut fact = |count: usize, one: &str, many: &str| match count {
        0 => {}
        1 => facts.push(format!("1 {one}")),
        count => facts.push(format!("{count} {many}")),
    };
    fact(verdict.broken, "link broken", "links broken");
    fact(verdict.healed, "link healed", "links healed");
    fact(verdict.orphans, "orphan made", "orphans made");
    if !verdict.cited.is_empty() {
        facts.push(format!("citations change: {}", verdict.cited.join(", ")));
    }
    if !facts.is_empty() {
        let tone = match (verdict.broken + verdict.orphans, verdict.healed) {
            (0, 0) => Tone::Plain,
            (0, _) => Tone::Good,
            _ => Tone::Bad,
        };
        rows.push((tone, facts.join(" · ")));
    }
    rows.extend(verdict.appeared.iter().map(|finding| (Tone::Bad, format!("+ {finding}"))));
    rows
}

/// What is said of the chosen file and the hunk at hand above the diff.
pub fn review_notes(state: &State) -> Vec<(Tone, String)> {
    let mut notes = Vec::new();
    let Some(review) = &state.review else { return notes };
    let Some(file) = review.file() else { return notes };
    let change = review.changes.file(&file.weighed.path);
    if let Some(why) = change.and_then(|file| file.oddity(state.keeps_pages_in_wiki())) {
        notes.push((Tone::Bad, format!("! This file {why}.")));
    }
    if file.stale {
        let text = "! The file was changed on disk since, so approving this will be refused. Reject it and ask for it anew.";
        notes.push((Tone::Bad, text.to_owned()));
    }
    let key = |action| state.fixed.keymap.hint(Layer::Review, action).unwrap_or_default();
    match file.carried {
        Some(Carried::Merged) => notes.push((
            Tone::Plain,
            "The file was changed on disk since; the proposal was merged with that and is shown over the file as it is now."
                .to_owned(),
        )),
        Some(Carried::Contested) => notes.push((
            Tone::Bad,
            format!(
                "! The file was changed on disk since, in the same lines: approving this takes away what is shown as removed. {} edits it, so that both stay.",
                key(Action::EditHere)
            ),
        )),
        Some(Carried::Done) | None => {}
    }
    match file.mark() {
        Mark::Rejected { reason } if !reason.is_empty() => {
            notes.push((Tone::Plain, format!("Rejected: {}", Safe::line(reason))));
        }
        Mark::Edited { .. } => {
            notes.push((Tone::Plain, "Your text stands in place of the proposed.".to_owned()))
        }
        _ => {}
    }
    let hunk = file.weighed.hunks.get(file.hunk).map(|hunk| hunk.id);
    let partners = review.partners(file, hunk);
    if !partners.is_empty() {
        notes.push((Tone::Plain, format!("⇄ {}", Safe::line(&partners.join("; ")))));
    }
    notes
}

/// The text of a diff stands within its frame, behind the gutter.
pub fn diff_text(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(GUTTER),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(GUTTER),
        height: area.height.saturating_sub(1),
    }
}

/// List and drawn set of the history.
pub fn history(state: &State) -> (Rect, Rect) {
    let inner = inner(overlay_area(state));
    // The last row holds the keys.
    let rest = Rect { height: inner.height.saturating_sub(1), ..inner };
    if rest.width >= 90 {
        let list = (rest.width / 3).clamp(34, 60);
        (Rect { width: list - 1, ..rest }, Rect { x: rest.x + list, width: rest.width - list, ..rest })
    } else {
        let list = (rest.height / 3).max(2).min(rest.height);
        (Rect { height: list, ..rest }, Rect { y: rest.y + list, height: rest.height - list, ..rest })
    }
}

/// Rows of a picker's list, below its field.
pub fn picker_list(area: Rect) -> Rect {
    let inner = inner(area);
    Rect { y: inner.y.saturating_add(2), height: inner.height.saturating_sub(2), ..inner }
}

/// First visible row of a picker's list.
pub fn picker_top(picker: &Picker, area: Rect) -> usize {
    let height = usize::from(area.height);
    picker.selected.saturating_sub(height / 2).min(picker.shown.len().saturating_sub(height))
}

/// Most offers that are seen at once.
const OFFERS: usize = 8;

/// What the composer offers, right above it.
pub fn offers(state: &State, regions: &ChatRegions) -> Rect {
    let count = state.chat().completion.as_ref().map_or(0, |c| c.offers.len().min(OFFERS));
    let height = u16::try_from(count).unwrap_or(0).min(regions.transcript.height);
    let y = (regions.transcript.y + regions.transcript.height).saturating_sub(height);
    Rect { y, height, ..regions.transcript }
}

/// The field of the edit.
pub fn edit_field(state: &State) -> Rect {
    inner(overlay_area(state))
}

/// Everything but the status line.
pub fn overlay_area(state: &State) -> Rect {
    let (width, height) = state.size;
    Rect::new(0, 0, width, height.saturating_sub(1))
}

/// A box in the middle for lists and texts.
pub fn centred(state: &State, width: u16, height: u16) -> Rect {
    let all = overlay_area(state);
    let width = width.min(all.width);
    let height = height.min(all.height);
    Rect { x: (all.width - width) / 2, y: (all.height - height) / 2, width, height }
}

/// Columns of the box that says what was written.
const SUMMARY: u16 = 86;

/// Columns of a question's box.
const QUESTION: u16 = 74;

/// The box of the overlay on top, for the mouse and for scrolling.
pub fn overlay_box(state: &State) -> Option<Rect> {
    let (width, height) = state.size;
    Some(match state.overlays.last()? {
        Overlay::Review | Overlay::Edit(_) | Overlay::Sheet(_) | Overlay::History(_) => overlay_area(state),
        Overlay::Help { .. } => centred(state, 92, height),
        Overlay::Explanation { .. } => centred(state, 92, height.saturating_sub(4).max(8)),
        Overlay::Problems(problems) => {
            let rows = u16::try_from(problems.rows.len().max(1) + 2).unwrap_or(u16::MAX);
            centred(state, width.saturating_sub(8).max(60), rows.clamp(5, height.saturating_sub(4).max(8)))
        }
        Overlay::Summary { summary, .. } => {
            let columns = usize::from(SUMMARY.min(width).saturating_sub(4));
            let rows = u16::try_from(summary.rows(columns).len() + 2).unwrap_or(u16::MAX);
            centred(state, SUMMARY, rows.clamp(5, height.saturating_sub(4).max(8)))
        }
        Overlay::Confirm(question) => {
            let rows = question.rows(usize::from(QUESTION.min(width).saturating_sub(4))).len();
            centred(state, QUESTION, u16::try_from(rows + 4).unwrap_or(u16::MAX))
        }
        Overlay::Reason { .. } => centred(state, 80, 6),
        Overlay::Picker(_) => centred(state, 92, height.saturating_sub(6).clamp(8, 24)),
        Overlay::Find(_) => regions(state).chat.map(|area| chat(state, area).composer).unwrap_or_default(),
    })
}
