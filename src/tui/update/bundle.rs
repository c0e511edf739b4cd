//! The model of the bundle arrived or changed.

use std::sync::Arc;

use super::{keys, navigate, tree};
use crate::agent::{AgentCommand, Role};
use crate::lint::Report;
use crate::okf::{BundlePath, ContentHash};
use crate::tui::effect::Effect;
use crate::tui::state::page::Document;
use crate::tui::state::review::Review;
use crate::tui::state::{Overlay, Pane, State};
use crate::wiki::Wiki;

pub fn model(state: &mut State, wiki: Arc<Wiki>, report: Arc<Report>, changed: &[BundlePath]) -> Vec<Effect> {
    let first = state.wiki.is_none();
    state.unreadable = None;
    // The same report again: its findings are about the model before.
    let judged = state.report.as_ref().is_none_or(|before| !Arc::ptr_eq(before, &report));
    state.counts = report.counts_by_path();
    state.wiki = Some(wiki.clone());
    state.report = Some(report.clone());
    for overlay in &mut state.overlays {
        if let Overlay::Problems(problems) = overlay {
            problems.renew(Some(&report));
        }
    }
    tree::rebuild(state);
    let mut effects = Vec::new();
    if first {
        match start(&wiki) {
            Some(path) => effects.extend(navigate::open(state, &path, None)),
            None => {
                bootstrap(state);
                state.page.missing = Some(
                    "This folder holds no pages yet. A page is a markdown file; put a source into raw/ and ask the manager to ingest it."
                        .to_owned(),
                );
            }
        }
        return effects;
    }
    if state.page.passage.as_ref().is_some_and(|(path, _)| changed.contains(path)) {
        state.page.passage = None;
    }
    // What the review was made from may be gone.
    if let Some(review) = &mut state.review {
        let stale = |review: &Review| review.files.iter().filter(|file| file.stale).count();
        let before = stale(review);
        for file in &mut review.files {
            if changed.contains(&file.weighed.path)
                && let Some(change) = review.changes.file(&file.weighed.path)
            {
                let now = wiki.page(&file.weighed.path).map(|p| p.hash);
                file.stale =
                    file.weighed.path.is_markdown() && now != change.before.as_deref().map(ContentHash::of);
            }
        }
        // A fix is nobody's that could carry it over.
        if stale(review) > before && state.mending.is_none() {
            effects.push(Effect::Agent(Role::Manager, AgentCommand::Rebase));
        }
        if judged && !changed.is_empty() {
            effects.push(Effect::Judge {
                changes: review.changes.clone(),
                verdicts: review.forecast.clone(),
                generation: review.generation,
                wiki: wiki.clone(),
                report,
            });
        }
    }
    effects.extend(reopen(state, &wiki, changed));
    effects
}

/// The open document follows the model: same page, new content, same place on screen.
fn reopen(state: &mut State, wiki: &Wiki, changed: &[BundlePath]) -> Vec<Effect> {
    let Some(path) = state.page.path.clone() else {
        return start(wiki).map(|p| navigate::open(state, &p, None)).unwrap_or_default();
    };
    if let Some(page) = wiki.page(&path) {
        state.page.missing = None;
        state.page.document = Some(Document::Page(page.clone()));
        // Another page may have broken or healed a link of this one.
        state.page.stale = true;
        return Vec::new();
    }
    if let Some((_, error)) = wiki.problems().find(|(p, _)| **p == path) {
        state.page.missing = Some(crate::text::Safe::line(&error.message).into_string());
        return Vec::new();
    }
    if wiki.files().any(|f| *f == path) {
        return if changed.contains(&path) { vec![Effect::Open(path)] } else { Vec::new() };
    }
    state.page.missing = Some("This page is gone from the bundle.".to_owned());
    Vec::new()
}

/// Offers the conversation that a wiki begins with.
fn bootstrap(state: &mut State) {
    if !state.manager.has_model || !state.manager.entries.is_empty() {
        return;
    }
    state.manager.suggestions.insert(0, BOOTSTRAP.to_owned());
    keys::focus(state, Pane::Chat);
}

const BOOTSTRAP: &str = "Begin a wiki here: ask me about its subject, categories, types and language, then propose AGENTS.md, the index and the log.";

/// The page a bundle opens with.
fn start(wiki: &Wiki) -> Option<BundlePath> {
    ["/wiki/index.md", "/index.md", "/wiki/catalog.md", "/README.md", "/AGENTS.md"]
        .into_iter()
        .filter_map(|p| BundlePath::parse(p).ok())
        .find(|p| wiki.page(p).is_some())
        .or_else(|| wiki.pages().find(|p| p.path.name() == "index.md").map(|p| p.path.clone()))
        .or_else(|| wiki.pages().next().map(|p| p.path.clone()))
}
