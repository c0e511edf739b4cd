//! `wikiwright [PATH]`: the workbench on a bundle.

use std::path::Path;
use std::sync::Arc;

use super::around::Surroundings;
use super::sessions::{self, TakeUp};
use super::{Exit, bundle, editor, model};
use crate::agent::client::ModelClient;
use crate::config::{Environment, Flags, Manner, Settings};
use crate::tui::{self, Setup, Suggestions};

pub fn run(path: Option<&Path>, take_up: &TakeUp, flags: &Flags) -> anyhow::Result<Exit> {
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::open_or_discover(path)?.poll_every(settings.poll);
    let bundle = bundle::remember(bundle, &settings);
    let mut manner = Manner { lint: settings.lint.clone(), color: settings.color, theme: settings.theme };
    let refused = manner.heed(&bundle, &environment).err();
    super::runtime()?.block_on(async {
        let options = &settings.model_options;
        let connected = match model::resolve(settings.model.clone(), &environment).await {
            Ok(endpoint) => model::connect(endpoint.clone(), options).map(|client| (client, endpoint)),
            Err(hint) => Err(hint),
        };
        let (client, server, model_hint) = match connected {
            Ok((client, endpoint)) => {
                let client: Arc<dyn ModelClient> = Arc::new(client);
                (Some(client), Some((endpoint, options.clone())), String::new())
            }
            Err(hint) => (None, None, hint),
        };
        let name = client.as_ref().map(|client| client.name().to_owned()).unwrap_or_default();
        let keeping = sessions::keep(&bundle, &name, take_up, &settings)?;
        let around = Surroundings::new(&bundle, &name, server, true);
        let setup = Setup {
            around,
            keeping,
            bundle,
            client,
            model_hint,
            banner: refused.map(|error| error.to_string()),
            look: manner.look(),
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
