//! Finding and opening the bundle that a command was given.

use std::path::Path;

use anyhow::{Context as _, bail};

use super::output;
use crate::bundle::{self, Bundle, LocalBundle};
use crate::config::{Environment, Manner, Settings};
use crate::lint;

/// What a bundle is, for whoever has none.
pub const WHAT_IS_A_BUNDLE: &str = "\
A bundle is a folder of markdown pages in the Open Knowledge Format: it holds an AGENTS.md, a wiki/ folder or an index.md.
It may be packed as .zip or .tar.gz, or lie in object storage (s3://BUCKET/FOLDER).
Give its path (wikiwright PATH), or look at the example first: wikiwright demo";

/// Opens the bundle at `path`.
pub fn open(path: &Path) -> anyhow::Result<Bundle> {
    if bundle::is_address(path) {
        return bundle::open(path).map_err(|e| anyhow::anyhow!("{}: {}", e.path, e.message));
    }
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            bail!("{}: there is no such folder\n{WHAT_IS_A_BUNDLE}", path.display())
        }
        Err(e) => return Err(e).with_context(|| path.display().to_string()),
    };
    if !facts.is_dir() {
        if bundle::is_archive(path) {
            return bundle::open(path).map_err(|e| anyhow::anyhow!("{}: {}", e.path, e.message));
        }
        bail!("{}: this is not a folder\n{WHAT_IS_A_BUNDLE}", path.display());
    }
    // Its error speaks of bundle paths; the person gave one of this machine.
    bundle::open(path)
        .map_err(|e| anyhow::anyhow!("{}: cannot open this folder: {}", path.display(), e.message))
}

/// Gives the bundle a ledger in the user's state folder, where there is one.
pub fn remember(bundle: Bundle, settings: &Settings) -> Bundle {
    let bundle = bundle.committing(settings.commit_on_apply);
    let state = bundle.folder().and_then(|folder| crate::config::state_folder(folder.root()));
    match state {
        Some(state) => bundle.remembering(state, settings.keep),
        None => bundle,
    }
}

/// What the linter is told by the person's file and, over it, the bundle's own. A file of the bundle that cannot be used is
/// said and left out.
pub fn lint_options(bundle: &Bundle, settings: &Settings) -> lint::Options {
    let mut manner = Manner { lint: settings.lint.clone(), color: settings.color, theme: settings.theme };
    if let Err(error) = manner.heed(bundle, &Environment::of_process()) {
        output::complain(&error.to_string());
    }
    manner.lint
}

/// Opens the bundle at `path`, else the one around the current folder.
pub fn open_or_discover(path: Option<&Path>) -> anyhow::Result<Bundle> {
    if let Some(path) = path {
        return open(path);
    }
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    match LocalBundle::discover(&here) {
        Some(root) => open(&root),
        None => bail!("there is no bundle around {}\n{WHAT_IS_A_BUNDLE}", here.display()),
    }
}
