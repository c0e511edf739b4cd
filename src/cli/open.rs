//! `wikiwright [PATH]`: the workbench on a bundle.

use std::path::Path;

use super::sessions::{self, TakeUp};
use super::{Exit, bundle, editor, model};
use crate::config::{Environment, Flags, Manner, Settings};
use crate::tui::{self, Setup, Suggestions};

pub fn run(path: Option<&Path>, take_up: &TakeUp, flags: &Flags) -> anyhow::Result<Exit> {
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::open_or_discover(path)?.poll_every(settings.poll);
    let bundle = bundle::remember(bundle, &settings);
    let mut manner = Manner { lint: settings.lint.clone(), color: settings.color };
    let refused = manner.heed(&bundle, &environment).err();
    super::runtime()?.block_on(async {
        let (client, model_hint) =
            match model::client(settings.model.clone(), &settings.model_options, &environment).await {
                Ok(client) => (Some(client), String::new()),
                Err(hint) => (None, hint),
            };
        let name = client.as_ref().map(|client| client.name().to_owned()).unwrap_or_default();
        let keeping = sessions::keep(&bundle, &name, take_up, &settings)?;
        let setup = Setup {
            keeping,
            bundle,
            client,
            model_hint,
            banner: refused.map(|error| error.to_string()),
            color: manner.color,
            suggestions: suggestions(),
            manager: settings.manager,
            reader: settings.reader,
            lint: manner.lint,
            edit: editor::for_workbench(),
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
