//! `wikiwright lint --watch`: judges again when files change, until it is interrupted.

use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::bail;

use super::output;
use crate::bundle::watch::Changed;
use crate::bundle::{Bundle, Watching};
use crate::lint::{Incremental, Options, Report};
use crate::okf::BundlePath;
use crate::wiki::Wiki;

/// Changes that follow each other this closely are shown as one.
const QUIET: Duration = Duration::from_millis(50);

/// Shows the report of a bundle, and again whenever a change makes another one of it. Ends only with an error, an
/// interrupt or a closed output.
pub fn follow(
    bundle: &Bundle,
    options: &Options,
    mut show: impl FnMut(&Report) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (sender, changes) = channel();
    // First of all, so that nothing is missed while everything is read.
    let watching = bundle.watch(move |changed| {
        let _ = sender.send(changed);
    });
    if matches!(watching, Watching::Nothing) {
        bail!("{} does not change and cannot be watched. Leave --watch out.", bundle.name());
    }
    let mut wiki = Wiki::load(bundle)?;
    let mut kept = Incremental::new(&wiki, options);
    let mut shown = kept.report();
    show(&shown)?;
    while let Ok(first) = changes.recv() {
        let mut paths = Vec::new();
        let mut next = Some(first);
        while let Some(changed) = next {
            match changed {
                Changed::Paths(more) => paths.extend(more),
                Changed::Everything => paths.push(BundlePath::root()),
                Changed::RootGone => output::complain(
                    "the bundle's folder is gone or was replaced; put it back, or end this with Ctrl-C",
                ),
                Changed::Notice(text) => output::complain(&text),
            }
            next = changes.recv_timeout(QUIET).ok();
        }
        let changed = wiki.update(bundle, &paths);
        kept.update(&wiki, &changed);
        let report = kept.report();
        if report != shown {
            show(&report)?;
            shown = report;
        }
    }
    bail!("watching stopped; start the command again")
}
