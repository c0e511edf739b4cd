//! `wikiwright ask`: one question to the reader, without a screen.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::{Exit, bundle, model, sessions, turn};
use crate::agent::answer::is_silent;
use crate::agent::client::ModelClient;
use crate::agent::driver::ReaderOptions;
use crate::agent::record::Keeping;
use crate::agent::{AgentCommand, Reader, Role, prompt};
use crate::bundle::Read;
use crate::config::{Environment, Flags, Settings};

#[derive(Debug, Args)]
pub struct AskArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    pub path: PathBuf,
    /// The question
    pub question: String,
    /// Print the answer as JSON: `answer`, `citations`, `not_covered` and `found`; a citation that does not hold has a `problem`
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &AskArgs, flags: &Flags) -> anyhow::Result<Exit> {
    if args.question.trim().is_empty() {
        anyhow::bail!("the question is empty; say what you want");
    }
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::open(&args.path)?;
    super::runtime()?.block_on(async {
        let client = model::client(settings.model.clone(), &settings.model_options, &environment)
            .await
            .map_err(anyhow::Error::msg)?;
        let keeping = sessions::begin(&bundle, Role::Reader, client.name(), &settings);
        let options = ReaderOptions { structured_output: args.json, ..settings.reader };
        ask(bundle.reader(), client, options, keeping, &args.question).await
    })
}

async fn ask(
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    options: ReaderOptions,
    keeping: Keeping,
    question: &str,
) -> anyhow::Result<Exit> {
    let silence = options.not_found_message.clone().unwrap_or_else(|| prompt::NOT_FOUND.to_owned());
    let json = options.structured_output;
    let reader = Reader::builder().backend(bundle).client(client).options(options).keeping(keeping);
    let mut session = reader.build()?.start();
    // A session that is gone already says so when it is listened to.
    let _ = session.commands.send(AgentCommand::Say(question.to_owned()));
    let out: &mut dyn io::Write = if json { &mut io::sink() } else { &mut io::stdout() };
    let heard = turn::listen(&mut session.events, out, &mut io::stderr()).await;
    session.close().await;
    let heard = heard?;
    let found = if json {
        let answer = heard.answer.context("the model gave no answer in the wanted form")?;
        writeln!(io::stdout(), "{}", serde_json::to_string(&answer)?)?;
        answer.found
    } else {
        !is_silent(&heard.text, &silence)
    };
    Ok(if found { Exit::Done } else { Exit::Negative })
}
