//! `wikiwright [PATH]`: the workbench on a bundle.

use std::path::Path;

use super::{Exit, bundle, model};
use crate::config::{Environment, Flags, Settings};
use crate::tui::{self, Setup, Suggestions};

pub fn run(path: Option<&Path>, flags: &Flags) -> anyhow::Result<Exit> {
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::open_or_discover(path)?.poll_every(settings.poll);
    let bundle = bundle::remember(bundle, &settings);
    super::runtime()?.block_on(async {
        let (client, model_hint) =
            match model::client(settings.model, &settings.model_options, &environment).await {
                Ok(client) => (Some(client), String::new()),
                Err(hint) => (None, hint),
            };
        let setup = Setup {
            bundle,
            client,
            model_hint,
            banner: None,
            color: settings.color,
            suggestions: suggestions(),
            manager: settings.manager,
            reader: settings.reader,
            lint: settings.lint,
        };
        Ok(Exit::Status(tui::run(setup).await?.0))
    })
}

fn suggestions() -> Suggestions {
    Suggestions {
        manager: vec![
            "Read the sources in raw/ that have no document page yet, and ingest the first.".to_owned(),
            "Run okf_lint and propose fixes for what it finds.".to_owned(),
        ],
        reader: vec!["What is this wiki about? Name its main pages.".to_owned()],
    }
}
