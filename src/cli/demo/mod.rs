//! `wikiwright demo`: the workbench on the example bundle, copied to a fresh temporary folder, with a scripted model.

mod files;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::around::Surroundings;
use super::{Exit, bundle, editor, output};
use crate::agent::client::scripted::{Script, Scripted};
use crate::config::{Environment, Flags, Settings};
use crate::tui::{self, Setup, Suggestions};

/// What the scripted model says. Outside the bundle's folder, so that no page can speak for the model.
pub const SCRIPT: &str = include_str!("../../../assets/demo/script.toml");

/// Between words, so that the answer streams as a model's does.
const PAUSE: Duration = Duration::from_millis(15);

pub fn run(flags: &Flags) -> anyhow::Result<Exit> {
    // Looking first leaves no folder behind where there is no terminal to show it in.
    tui::terminal::check()?;
    let settings = Settings::load(flags, &Environment::of_process())?;
    let root = copy()?;
    let bundle = bundle::remember(bundle::open(&root)?, &settings);
    let setup = Setup {
        keeping: Default::default(),
        around: Surroundings::new(&bundle, "scripted", None, false),
        bundle,
        client: Some(Arc::new(Scripted::new(Script::parse(SCRIPT)?, PAUSE))),
        model_hint: String::new(),
        banner: Some(format!("Demo: the model is scripted, nothing leaves this machine. {}", root.display())),
        look: if settings.color { settings.theme } else { tui::Look::Plain },
        suggestions: suggestions(),
        manager: settings.manager,
        reader: settings.reader,
        lint: settings.lint,
        edit: editor::for_workbench(),
    };
    let status = super::runtime()?.block_on(tui::run(setup))?;
    output::note(&format!("The demo's wiki is in {}", root.display()));
    Ok(Exit::Status(status.0))
}

/// Copies the example to a fresh folder, which stays: what was approved in it is worth a look afterwards.
fn copy() -> anyhow::Result<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix("wikiwright-demo-")
        .tempdir()
        .context("cannot make a temporary folder for the example")?;
    // A readable name: the workbench shows the folder's.
    let root = folder.path().join("tide-mills");
    std::fs::create_dir(&root).with_context(|| root.display().to_string())?;
    files::write(&root)?;
    let _ = folder.keep();
    Ok(root)
}

fn suggestions() -> Suggestions {
    Suggestions {
        manager: vec!["Ingest raw/la-rance.md".to_owned()],
        reader: vec![
            "How long can a tide mill grind on one tide?".to_owned(),
            "Why is Eling a good site?".to_owned(),
            "How much energy does a pond hold?".to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests;
