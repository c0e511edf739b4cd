//! The one owner of the bundle's model: loads it, follows the watcher, lints, and sends each result as an event.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::bundle::watch::Changed;
use crate::bundle::{Bundle, Read};
use crate::lint::{self, Incremental, Profile, Report};
use crate::okf::BundlePath;
use crate::tui::event::Event;
use crate::wiki::Wiki;

/// Where to send what should be looked at again.
pub type Changes = UnboundedSender<Changed>;

/// Starts watching and loading. The watcher comes first, so that nothing is missed between the two.
pub fn start(bundle: Bundle, options: lint::Options, events: UnboundedSender<Event>) -> Changes {
    let (sender, receiver) = unbounded_channel();
    let watched = sender.clone();
    tokio::spawn(async move {
        let watcher = {
            let bundle = bundle.clone();
            tokio::task::spawn_blocking(move || {
                bundle.watch(move |changed| {
                    // The receiver lives as long as the workbench.
                    let _ = watched.send(changed);
                })
            })
            .await
        };
        if watcher.is_err() {
            let _ =
                events.send(Event::Notice("Files are not watched; changes outside are not seen.".to_owned()));
        }
        follow(bundle, options, receiver, events).await;
        drop(watcher);
    });
    sender
}

async fn follow(
    bundle: Bundle,
    options: lint::Options,
    mut changes: UnboundedReceiver<Changed>,
    events: UnboundedSender<Event>,
) {
    let mut wiki: Option<Wiki> = None;
    let mut report: Option<Arc<Report>> = None;
    let mut kept: Option<Incremental> = None;
    let mut paths: Vec<BundlePath> = Vec::new();
    loop {
        let known = wiki.take();
        if known.is_none() {
            // What changed is not known then.
            kept = None;
        }
        let job = {
            let (bundle, paths) = (bundle.clone(), std::mem::take(&mut paths));
            tokio::task::spawn_blocking(move || refresh(&bundle, known, &paths))
        };
        match job.await {
            Ok(Ok((now, changed))) => {
                if let Some(changed) = changed {
                    // The pages are shown at once; the findings follow, and until then the old ones stand.
                    if let Some(report) = &report {
                        let event = Event::Model {
                            wiki: Arc::new(now.clone()),
                            report: report.clone(),
                            changed: changed.clone(),
                        };
                        if events.send(event).is_err() {
                            return;
                        }
                    }
                    let judged = {
                        let (wiki, options) = (now.clone(), options.clone());
                        let (before, changed) = (kept.take(), changed.clone());
                        tokio::task::spawn_blocking(move || judge(before, &wiki, &changed, &options)).await
                    };
                    // When a rule fails, which the hook has reported, the pages can still be read.
                    let judged = match (judged, report.take()) {
                        (Ok((judged, after)), _) => {
                            kept = Some(after);
                            Arc::new(judged)
                        }
                        (Err(_), Some(before)) => before,
                        (Err(_), None) => Arc::new(unjudged()),
                    };
                    report = Some(judged.clone());
                    let event = Event::Model { wiki: Arc::new(now.clone()), report: judged, changed };
                    if events.send(event).is_err() {
                        return;
                    }
                }
                wiki = Some(now);
            }
            Ok(Err(why)) => {
                if events.send(Event::Unreadable(why)).is_err() {
                    return;
                }
            }
            // The panic was reported by the hook; the next change loads everything anew.
            Err(_) => {}
        }
        // Everything that came in the meantime is one change.
        let Some(first) = changes.recv().await else { return };
        let mut next = Some(first);
        let mut noticed = Vec::new();
        let mut gone = None;
        while let Some(changed) = next {
            match changed {
                Changed::Paths(more) => paths.extend(more),
                // After a folder that was gone this says that it is back.
                Changed::Everything => {
                    gone = Some(false);
                    paths.push(BundlePath::root());
                }
                Changed::RootGone => {
                    gone = Some(true);
                    noticed.push(
                        "The bundle's folder is gone or was replaced. Put it back, or quit and open it again."
                            .to_owned(),
                    );
                    paths.push(BundlePath::root());
                }
                Changed::Notice(text) => noticed.push(text),
            }
            next = changes.try_recv().ok();
        }
        if let Some(gone) = gone {
            let _ = events.send(Event::RootGone(gone));
        }
        for text in noticed {
            let _ = events.send(Event::Notice(text));
        }
        paths.sort_unstable();
        paths.dedup();
    }
}

/// Judges again what `changed` can affect, or everything when nothing was judged before.
fn judge(
    before: Option<Incremental>,
    wiki: &Wiki,
    changed: &[BundlePath],
    options: &lint::Options,
) -> (Report, Incremental) {
    let kept = match before {
        Some(mut kept) => {
            kept.update(wiki, changed);
            kept
        }
        None => Incremental::new(wiki, options),
    };
    (kept.report(), kept)
}

fn unjudged() -> Report {
    Report { profile: Profile::Wiki, okf_version: "0.1", pages: 0, findings: Vec::new(), fixed: Vec::new() }
}

/// The model and what changed; none when nothing did.
type Refreshed = Result<(Wiki, Option<Vec<BundlePath>>), String>;

/// Loads (`known` is none) or updates the model.
fn refresh(bundle: &dyn Read, known: Option<Wiki>, paths: &[BundlePath]) -> Refreshed {
    let Some(mut wiki) = known else {
        return Ok((Wiki::load(bundle).map_err(|e| e.to_string())?, Some(Vec::new())));
    };
    let before = wiki.clone();
    let changed = wiki.update(bundle, paths);
    if changed.is_empty() && wiki == before {
        // A file that is no page may have changed; only the open one matters, and that is read again.
        let files = paths.iter().filter(|p| wiki.files().any(|f| f == *p)).cloned().collect::<Vec<_>>();
        return Ok((wiki, (!files.is_empty()).then_some(files)));
    }
    let changed = if changed.is_empty() { paths.to_vec() } else { changed };
    Ok((wiki, Some(changed)))
}
