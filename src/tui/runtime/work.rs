//! Effects that compute or read: performed on blocking threads, answered with one event each.

use std::sync::Arc;

use crate::bundle::{ChangeSet, FileChange, Read, Rules, Staged};
use crate::lint::{self, Finding, Report, fix};
use crate::okf::{BundlePath, Link, Page, Target};
use crate::text::Safe;
use crate::tui::event::{Diff, Event};
use crate::tui::state::page::Document;
use crate::tui::state::review::{Verdict, Weighed};
use crate::tui::theme::Theme;
use crate::tui::{diff_view, markdown};
use crate::wiki::Wiki;

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
                plain.lines.push(ratatui::text::Line::raw(safe.get(range).unwrap_or_default().to_owned()));
                plain.rows.push(offset);
            }
            offset += line.len();
        }
        plain
    };
    if cut.len() < text.len() {
        let note = format!("… cut here: {} of {} bytes are shown", cut.len(), text.len());
        rendered.lines.push(ratatui::text::Line::styled(note, theme.dim));
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

pub fn render_diff(file: &FileChange, width: u16, theme: &Theme) -> Event {
    let rendered = diff_view::render(file, width, theme);
    Event::DiffRendered {
        shown: file.shown(),
        width,
        diff: Diff { lines: rendered.lines, hunks: rendered.hunks },
    }
}

/// Counts lines and hunks of every file and takes the hash that an approval must repeat.
pub fn weigh(changes: &ChangeSet) -> Vec<Weighed> {
    changes
        .files
        .iter()
        .map(|file| {
            let mut weighed = Weighed {
                path: file.path.clone(),
                shown: file.shown(),
                added: 0,
                removed: 0,
                hunks: 0,
                binary: false,
            };
            match file.texts() {
                Ok((before, after)) => {
                    let hunks =
                        crate::text::diff::hunks(before.unwrap_or_default(), after.unwrap_or_default());
                    weighed.hunks = hunks.len();
                    for line in hunks.iter().flat_map(|h| &h.lines) {
                        match line.change {
                            crate::text::diff::Change::Added => weighed.added += 1,
                            crate::text::diff::Change::Removed => weighed.removed += 1,
                            crate::text::diff::Change::Context => {}
                        }
                    }
                }
                Err(_) => weighed.binary = true,
            }
            weighed
        })
        .collect()
}

/// Findings of the bundle as it would be if all of `changes` were written, against those of `report`.
pub fn judge(
    bundle: Arc<dyn Read>,
    changes: &ChangeSet,
    wiki: &Wiki,
    report: &Report,
    options: &lint::Options,
) -> Verdict {
    let proposed = Staged::over(bundle, changes);
    let mut paths: Vec<BundlePath> = Vec::new();
    for file in &changes.files {
        paths.push(file.path.clone());
        if let crate::bundle::ChangeKind::Rename { from } = &file.kind {
            paths.push(from.clone());
        }
    }
    // By I7 the same as loading the proposed bundle, without reading the pages that stay.
    let mut wiki = wiki.clone();
    wiki.update(&proposed, &paths);
    let after = lint::lint(&wiki, options);
    let (appeared, vanished) = lint::delta(report, &after);
    // The worst first: the pane shows only the first few.
    let lines = |mut findings: Vec<&Finding>| {
        findings.sort_by_key(|f| f.level);
        let line = |f: &Finding| {
            Safe::line(&format!("{} {}: {}", f.rule.code, f.path.relative(), f.message)).into_string()
        };
        findings.into_iter().map(line).collect()
    };
    Verdict { counts: after.counts(), appeared: lines(appeared), vanished: lines(vanished) }
}
