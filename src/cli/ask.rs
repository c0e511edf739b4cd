//! `wikiwright ask`: one question to the reader, without a screen.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::{Exit, bundle, model, turn};
use crate::agent::client::ModelClient;
use crate::agent::driver::{self, ReaderOptions};
use crate::agent::{AgentCommand, prompt};
use crate::bundle::Read;
use crate::config::{Environment, Flags, Settings};

#[derive(Debug, Args)]
pub struct AskArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    pub path: PathBuf,
    /// The question
    pub question: String,
}

pub fn run(args: &AskArgs, flags: &Flags) -> anyhow::Result<Exit> {
    if args.question.trim().is_empty() {
        anyhow::bail!("the question is empty; say what you want");
    }
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::open(&args.path)?;
    super::runtime()?.block_on(async {
        let client = model::client(settings.model, &settings.model_options, &environment)
            .await
            .map_err(anyhow::Error::msg)?;
        ask(bundle.reader(), client, settings.reader, &args.question).await
    })
}

async fn ask(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ReaderOptions,
    question: &str,
) -> anyhow::Result<Exit> {
    let silence = options.not_found_message.clone().unwrap_or_else(|| prompt::NOT_FOUND.to_owned());
    let mut session = driver::start_reader(bundle, client, options);
    // A session that is gone already says so when it is listened to.
    let _ = session.commands.send(AgentCommand::Say(question.to_owned()));
    let answer = turn::listen(&mut session.events, &mut io::stdout(), &mut io::stderr()).await?;
    Ok(if answer.contains(silence.trim()) { Exit::Negative } else { Exit::Done })
}
