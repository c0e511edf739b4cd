//! Effects that compute or read: performed on blocking threads, answered with one event each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratatui::text::Line;

use crate::bundle::hunk::bonds::bonds;
use crate::bundle::hunk::{self, Resolved, Verdicts};
use crate::bundle::ledger::record::{Direction, Origin, newest};
use crate::bundle::{
    Bundle, ChangeKind, ChangeSet, Decision, Error, FileChange, Ledger, Read, Rules, Staged,
};
use crate::lint::{self, Finding, Report, fix};
use crate::okf::{BundlePath, Link, LinkKind, Page, Target};
use crate::text::Safe;
use crate::tui::diff_view::Replaced;
use crate::tui::effect::Opening;
use crate::tui::event::Event;
use crate::tui::state::page::Document;
use crate::tui::state::picker::{Choice, Choosing};
use crate::tui::state::review::{DiffKey, Verdict, Weighed};
use crate::tui::theme::Theme;
use crate::tui::{diff_view, markdown};
use crate::wiki::{Wiki, passages};

/// Longest text of a file that is no page, in bytes and in rows: enough to read, not enough to stall.
const TEXT_BYTES: usize = 1024 * 1024;

/// Reads a file that is no page.
pub fn open(bundle: &dyn Read, path: &BundlePath) -> Event {
    let document = bundle
        .read(path)
        .map(|text| Document::Text { path: path.clone(), text: Arc::from(text) })
        .map_err(|error| format!("{} cannot be shown: {}", path.relative(), error.message));
    Event::Opened { path: path.clone(), document }
}

pub fn render_page(ticket: u64, page: &Page, wiki: &Wiki, width: u16, theme: &Theme) -> Event {
    let rendered = markdown::render_page(page, width, theme, &|link| broken(page, wiki, link));
    Event::PageRendered { ticket, rendered }
}

/// Whether a link leads nowhere.
fn broken(page: &Page, wiki: &Wiki, link: &Link) -> bool {
    match &link.target {
        Target::Path { path, fragment, .. } => match (wiki.page(path), fragment) {
            (Some(target), Some(fragment)) if !fragment.is_empty() => !target.has_anchor(fragment),
            (Some(_), _) => false,
            (None, _) => !path.is_root() && !wiki.exists(path),
        },
        Target::Anchor(slug) => !slug.is_empty() && !page.has_anchor(slug),
        Target::Empty | Target::Invalid(_) => true,
        Target::External | Target::Name(_) => false,
    }
}

/// A file as text: markdown rendered, anything else as it is.
pub fn render_text(ticket: u64, path: &BundlePath, text: &str, width: u16, theme: &Theme) -> Event {
    let cut = (0..=TEXT_BYTES.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    let mut rendered = if path.is_markdown() {
        markdown::render_text(cut, width, theme)
    } else {
        let mut plain = markdown::Rendered::default();
        let mut offset = 0;
        for line in cut.split_inclusive('\n') {
            let safe = Safe::line(line.trim_end_matches(['\n', '\r'])).into_string();
            for range in crate::text::width::wrap(&safe, usize::from(width)) {
                plain.lines.push(Line::raw(safe.get(range).unwrap_or_default().to_owned()));
                plain.rows.push(offset);
            }
            offset += line.len();
        }
        plain
    };
    if cut.len() < text.len() {
        let note = format!("… cut here: {} of {} bytes are shown", cut.len(), text.len());
        rendered.lines.push(Line::styled(note, theme.dim));
        rendered.rows.push(cut.len());
    }
    Event::PageRendered { ticket, rendered }
}

/// The change that mends one finding of `report`, or a sentence why there is none.
pub fn mend(
    bundle: Arc<dyn Read>,
    rules: &Rules,
    wiki: &Wiki,
    report: &Report,
    finding: usize,
    options: &lint::Options,
) -> Event {
    let fix = fix::offers(wiki, report, options, report.findings.get(finding)).into_iter().flatten().next();
    Event::Mended(match fix {
        None => Err("This finding has no fix that could be made without you.".to_owned()),
        Some(fix) => fix::change(&bundle, rules, wiki, &fix).map(Arc::new).map_err(|error| error.to_string()),
    })
}

pub fn render_diff(file: &FileChange, key: DiffKey, replaced: &Replaced, theme: &Theme) -> Event {
    Event::DiffRendered { key, diff: diff_view::render(file, replaced, key.look, theme) }
}

/// Counts lines and hunks of every file, takes the hash that an approval must repeat, and finds what goes together.
pub fn weigh(changes: Arc<ChangeSet>, open: Option<Opening>) -> Event {
    let weighed = |file: &FileChange| {
        let hunks = file.hunks();
        Weighed {
            path: file.path.clone(),
            shown: file.shown(),
            added: hunks.iter().map(|hunk| hunk.new.len()).sum(),
            removed: hunks.iter().map(|hunk| hunk.old.len()).sum(),
            hunks,
            binary: file.texts().is_err(),
        }
    };
    let files = changes.files.iter().map(weighed).collect();
    Event::Weighed { files, bonds: bonds(&changes), changes, open }
}

/// Findings of the bundle as it would be with these verdicts, against those of `report`.
pub fn judge(
    bundle: Arc<dyn Read>,
    changes: &ChangeSet,
    verdicts: &Verdicts,
    wiki: &Wiki,
    report: &Report,
    options: &lint::Options,
) -> Verdict {
    let proposed = Staged::over(bundle, &landing(changes, verdicts));
    let mut paths: Vec<BundlePath> = Vec::new();
    for file in &changes.files {
        paths.push(file.path.clone());
        if let ChangeKind::Rename { from } = &file.kind {
            paths.push(from.clone());
        }
    }
    // By I7 the same as loading the proposed bundle, without reading the pages that stay.
    let mut after = wiki.clone();
    after.update(&proposed, &paths);
    let judged = lint::lint(&after, options);
    let (mut appeared, mut vanished) = lint::delta(report, &judged);
    // The worst first: the pane shows only the first few.
    appeared.sort_by_key(|f| f.level);
    vanished.sort_by_key(|f| f.level);
    let mut by_file: BTreeMap<BundlePath, (usize, usize)> = BTreeMap::new();
    appeared.iter().for_each(|f| by_file.entry(f.path.clone()).or_default().0 += 1);
    vanished.iter().for_each(|f| by_file.entry(f.path.clone()).or_default().1 += 1);
    let count = |findings: &[&Finding], codes: &[&str]| {
        findings.iter().filter(|f| codes.contains(&f.rule.code)).count()
    };
    let cites = |path: &&BundlePath| match (wiki.page(path), after.page(path)) {
        (Some(before), Some(after)) => citations(before) != citations(after),
        _ => false,
    };
    let cited = paths.iter().filter(cites).map(|path| Safe::line(path.relative()).into_string()).collect();
    let line = |f: &&Finding| {
        Safe::line(&format!("{} {}: {}", f.rule.code, f.path.relative(), f.message)).into_string()
    };
    Verdict {
        counts: judged.counts(),
        broken: count(&appeared, &BROKEN),
        healed: count(&vanished, &BROKEN),
        orphans: count(&appeared, &[ORPHAN]),
        cited,
        by_file,
        appeared: appeared.iter().map(line).collect(),
        vanished: vanished.iter().map(line).collect(),
    }
}

/// Rules about links, paths, anchors and images that lead nowhere.
const BROKEN: [&str; 5] = ["L001", "L003", "L005", "L006", "L009"];
const ORPHAN: &str = "G001";

/// The set that would be written with these verdicts.
fn landing(changes: &ChangeSet, verdicts: &Verdicts) -> ChangeSet {
    let Resolved { mut changes, decisions, .. } = hunk::resolve(changes, verdicts);
    changes.files.retain(|file| matches!(decisions.get(&file.path), Some(Decision::Approved { .. })));
    changes
}

/// What a page names as its sources: paths of its fields, links to raw files and to the outside, footnotes.
fn citations(page: &Page) -> BTreeSet<&str> {
    let sources = page.links.iter().filter(|link| match &link.target {
        Target::Path { path, .. } => {
            matches!(link.kind, LinkKind::Field(_)) || path.as_str().starts_with("/raw/")
        }
        Target::External => true,
        _ => false,
    });
    let notes = page.footnotes.iter().filter(|note| note.definition).map(|note| note.span.of(&page.text));
    sources.map(|link| link.destination.as_str()).chain(notes).collect()
}

/// A file of the set as it would be.
pub fn preview(
    changes: &ChangeSet,
    verdicts: &Verdicts,
    path: &BundlePath,
    wiki: Option<&Wiki>,
    width: u16,
    theme: &Theme,
) -> Event {
    let landing = landing(changes, verdicts);
    let text =
        |bytes: &Option<Arc<[u8]>>| bytes.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let (text, note) = match (landing.file(path), changes.file(path)) {
        (Some(file), _) if file.after.is_some() => (text(&file.after), None),
        (Some(file), _) => (text(&file.before), Some("This file would be deleted; this is what goes.")),
        (None, Some(file)) => {
            (text(&file.before), Some("Nothing of this change would be written; this is the file as it is."))
        }
        (None, None) => (None, None),
    };
    let text = text.unwrap_or_default();
    let Event::PageRendered { mut rendered, .. } = (match wiki {
        Some(wiki) if path.is_markdown() => {
            let page = Page::parse(path.clone(), Arc::from(text.as_str()));
            let stays = |path: &BundlePath| landing.file(path).is_some_and(|file| file.after.is_some());
            let lost = |link: &Link| broken(&page, wiki, link) && !link.target.path().is_some_and(&stays);
            Event::PageRendered { ticket: 0, rendered: markdown::render_page(&page, width, theme, &lost) }
        }
        _ => render_text(0, path, &text, width, theme),
    }) else {
        return Event::Notice("The page cannot be drawn.".to_owned());
    };
    if let Some(note) = note {
        rendered.lines.insert(0, Line::styled(note, theme.warning));
    }
    Event::Previewed { path: path.clone(), width, lines: rendered.lines }
}

const NO_HISTORY: &str = "This bundle keeps no history: only a folder of this machine does.";

pub fn history(bundle: &Bundle) -> Event {
    Event::History(match bundle.ledger() {
        None => Err(NO_HISTORY.to_owned()),
        Some(ledger) => ledger.history().map_err(|error| error.to_string()),
    })
}

/// An applied set, file by file.
pub fn render_set(bundle: &Bundle, id: u64, width: u16, theme: &Theme) -> Event {
    let found = |ledger: &Arc<Ledger>| -> Result<ChangeSet, Error> {
        match ledger.history()?.iter().find(|record| record.id == id) {
            Some(record) => ledger.redo(record),
            None => Ok(ChangeSet::default()),
        }
    };
    let mut lines = Vec::new();
    match bundle.ledger().map(found) {
        None => {}
        Some(Err(error)) => {
            lines.push(Line::styled(Safe::line(&error.to_string()).into_string(), theme.error))
        }
        Some(Ok(changes)) => {
            for file in &changes.files {
                if !lines.is_empty() {
                    lines.push(Line::default());
                }
                lines.push(Line::styled(Safe::line(&file.done()).into_string(), theme.title));
                let look = diff_view::Look { columns: width, ..diff_view::Look::default() };
                lines.extend(diff_view::render(file, &Replaced::new(), look, theme).lines);
            }
        }
    }
    Event::SetRendered { id, width, lines }
}

/// Takes a set back or brings it about again; without a number the newest that fits.
pub fn turn(bundle: &Bundle, id: Option<u64>, direction: Direction) -> Event {
    let done = || {
        let ledger = bundle.ledger().ok_or(NO_HISTORY.to_owned())?;
        let records = ledger.history().map_err(|e| e.to_string())?;
        let record = match id {
            Some(id) => records.iter().find(|record| record.id == id),
            None => newest(&records, direction),
        };
        let nothing = match direction {
            Direction::Undo => "There is nothing to take back.",
            Direction::Redo => "There is nothing to bring about again.",
        };
        let record = record.ok_or(nothing.to_owned())?;
        let changes = match direction {
            Direction::Undo => ledger.undo(record),
            Direction::Redo => ledger.redo(record),
        };
        let changes = changes.map_err(|e| e.to_string())?;
        let approve = |file: &FileChange| (file.path.clone(), Decision::Approved { shown: file.shown() });
        let decisions = changes.files.iter().map(approve).collect();
        let applied = bundle.apply(&changes, &decisions, &Origin::turning(record, direction));
        Ok((changes, applied))
    };
    Event::Turned { direction, outcome: done() }
}

/// Most passages that a search shows.
const PASSAGES: usize = 8;

/// Passages that fit the words.
pub fn search(wiki: &Wiki, query: String) -> Event {
    let passages = passages::passages(wiki, &query, PASSAGES);
    Event::Found { query, passages }
}

/// So much later, in seconds, must a source be saved than its page to count as changed: files of one checkout differ by less.
const LATER: i64 = 60;

/// The sources in `raw/`: those that no page takes up first, then those saved after their page, then the others. `saved` says
/// when a file was last saved.
pub fn sources(wiki: &Wiki, saved: &dyn Fn(&BundlePath) -> Option<i64>) -> Event {
    let Ok(raw) = BundlePath::parse("/raw") else { return Event::Choices(Choosing::Source, Ok(Vec::new())) };
    let files = wiki.files().chain(wiki.pages().map(|page| &page.path));
    let mut choices: Vec<(u8, Choice)> = files
        .filter(|path| path.is_within(&raw) && !path.name().starts_with('.'))
        .map(|path| {
            let pages =
                wiki.backlinks(path).filter(|page| !page.is_within(&raw) && page.reserved().is_none());
            let (page, page_saved) = pages
                .fold((None, None), |(first, newest), page| (first.or(Some(page)), newest.max(saved(page))));
            let (order, note) = match (page, saved(path), page_saved) {
                (None, ..) => (0, "new".to_owned()),
                (Some(page), Some(source), Some(taken)) if source > taken + LATER => {
                    (1, format!("changed since {}", page.relative()))
                }
                (Some(page), ..) => (2, format!("in {}", page.relative())),
            };
            let label = path.relative().to_owned();
            (order, Choice { value: label.clone(), label, note })
        })
        .collect();
    choices.sort_by(|(a, x), (b, y)| (a, &x.label).cmp(&(b, &y.label)));
    Event::Choices(Choosing::Source, Ok(choices.into_iter().map(|(_, choice)| choice).collect()))
}
