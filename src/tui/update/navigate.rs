//! Which page is open: opening, following links, going back and forward.

use super::{keys, review, tree};
use crate::okf::{BundlePath, Target};
use crate::text::Safe;
use crate::tui::effect::{Effect, Opening};
use crate::tui::markdown::Rendered;
use crate::tui::state::page::{Document, Goto, Place};
use crate::tui::state::{Pane, State};

/// Opens a path and remembers the place left.
pub fn open(state: &mut State, path: &BundlePath, goto: Option<Goto>) -> Vec<Effect> {
    state.page.passage = None;
    if state.page.path.as_ref() == Some(path) && state.page.missing.is_none() {
        if let Some(goto) = goto {
            state.page.remember(state.page.place());
            arrive(state, &goto);
        }
        return Vec::new();
    }
    let before = state.page.place();
    match show(state, path, goto) {
        Some(effects) => {
            state.page.remember(before);
            state.page.link = None;
            effects
        }
        None => elsewhere(state, path),
    }
}

/// Points the pane at a page or file of the bundle; none when there is no such thing.
fn show(state: &mut State, path: &BundlePath, goto: Option<Goto>) -> Option<Vec<Effect>> {
    let wiki = state.wiki.clone()?;
    let effects = if let Some(page) = wiki.page(path) {
        state.page.document = Some(Document::Page(page.clone()));
        state.page.missing = None;
        state.page.stale = true;
        Vec::new()
    } else if let Some((_, error)) = wiki.problems().find(|(p, _)| *p == path) {
        state.page.missing = Some(Safe::line(&error.message).into_string());
        state.page.document = None;
        Vec::new()
    } else if wiki.files().any(|f| f == path) {
        state.page.missing = None;
        vec![Effect::Open(path.clone())]
    } else {
        return None;
    };
    state.page.path = Some(path.clone());
    state.page.goto = Some(goto.unwrap_or(Goto::Row(0)));
    state.tree.reveal(path);
    tree::rebuild(state);
    state.tree.select(path);
    Some(effects)
}

/// A path that is neither page nor file: a folder, something only proposed, or nothing.
fn elsewhere(state: &mut State, path: &BundlePath) -> Vec<Effect> {
    let Some(wiki) = state.wiki.clone() else {
        state.say("The bundle is still being read.");
        return Vec::new();
    };
    if path.is_root() || wiki.folders().any(|f| f == path) {
        if let Ok(index) = path.join("index.md")
            && wiki.page(&index).is_some()
        {
            return open(state, &index, None);
        }
        state.tree.reveal(path);
        state.tree.open.insert(path.clone());
        tree::rebuild(state);
        state.tree.select(path);
        keys::focus(state, Pane::Tree);
        return Vec::new();
    }
    if state.staged.file(path).is_some() {
        return review::open_at(state, path, Opening::Called);
    }
    state.complain(format!("The link is broken: there is no {}.", path.relative()));
    Vec::new()
}

/// Follows a link seen from the open page. `written` is its destination.
pub fn follow(state: &mut State, target: &Target, written: &str) -> Vec<Effect> {
    match target {
        Target::Path { path, fragment, .. } => {
            let goto = fragment.as_ref().filter(|f| !f.is_empty()).map(|f| Goto::Anchor(f.clone()));
            open(state, path, goto)
        }
        Target::Anchor(slug) => {
            state.page.passage = None;
            state.page.remember(state.page.place());
            arrive(state, &Goto::Anchor(slug.clone()));
            Vec::new()
        }
        Target::External => {
            state.say(format!("{written}   (outside the bundle; not opened)"));
            Vec::new()
        }
        Target::Empty => {
            state.complain("The link has no destination.");
            Vec::new()
        }
        Target::Invalid(error) => {
            state.complain(format!("The link is broken: {error}."));
            Vec::new()
        }
        Target::Name(name) => {
            state.complain(format!("“{name}” is a name, not a path."));
            Vec::new()
        }
    }
}

/// Goes to a place of what is drawn now, or once it is drawn.
fn arrive(state: &mut State, goto: &Goto) {
    match state.page.row_of(goto) {
        // A little air above, but a heading stands at the top.
        Some(row) => {
            state.page.top = match goto {
                Goto::Offset(_) => row.saturating_sub(3),
                _ => row,
            };
        }
        None => {
            if let Goto::Anchor(slug) = goto {
                state.complain(format!("This page has no heading #{slug}."));
            }
        }
    }
}

/// Back (or forward) in the history.
pub fn history(state: &mut State, back: bool) -> Vec<Effect> {
    loop {
        let place = if back { state.page.back.pop() } else { state.page.forward.pop() };
        let Some(Place { path, top, link }) = place else {
            state.say(if back { "Nothing to go back to." } else { "Nothing to go forward to." });
            return Vec::new();
        };
        let here = state.page.place();
        let same = state.page.path.as_ref() == Some(&path);
        let effects = if same {
            state.page.top = top;
            Some(Vec::new())
        } else {
            show(state, &path, Some(Goto::Row(top)))
        };
        // A page that vanished in the meantime is passed over.
        let Some(effects) = effects else { continue };
        state.page.link = link;
        if let Some(here) = here {
            if back {
                state.page.forward.push(here);
            } else {
                state.page.back.push(here);
            }
        }
        return effects;
    }
}

/// A file that is no page was read.
pub fn opened(state: &mut State, path: &BundlePath, document: Result<Document, String>) {
    if state.page.path.as_ref() != Some(path) {
        return;
    }
    match document {
        Ok(document) => {
            state.page.document = Some(document);
            state.page.missing = None;
            state.page.stale = true;
        }
        Err(why) => {
            state.page.document = None;
            state.page.missing = Some(Safe::line(&why).into_string());
        }
    }
}

/// The page was drawn. Within one page the reader stays where they are.
pub fn rendered(state: &mut State, ticket: u64, rendered: Rendered) {
    if ticket != state.page.ticket {
        return;
    }
    let page = &mut state.page;
    page.rendered_path = page.document.as_ref().map(|d| d.path().clone());
    if page.link.is_some_and(|l| l >= rendered.links.len()) {
        page.link = None;
    }
    page.rendered = Some(rendered);
    if let Some(goto) = page.goto.take() {
        arrive(state, &goto);
    }
}
