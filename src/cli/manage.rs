//! `wikiwright manage`: one instruction to the manager, without a screen. Proposed changes are shown and decided here;
//! only an approval writes.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;

use super::{Exit, bundle, model, output, review, sessions, turn};
use crate::agent::approval::Approval;
use crate::agent::client::ModelClient;
use crate::agent::driver::{ManagerOptions, Session};
use crate::agent::{AgentCommand, Manager, Role};
use crate::bundle::Bundle;
use crate::bundle::ledger::record::Origin;
use crate::config::{Environment, Flags, Settings};

#[derive(Debug, Args)]
pub struct ManageArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    pub path: PathBuf,
    /// What the manager should do
    pub instruction: String,
    /// Approve everything that is proposed
    #[arg(long, conflicts_with = "patch")]
    pub yes: bool,
    /// Change nothing; write what is proposed as a patch that `git apply` takes
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
}

pub fn run(args: &ManageArgs, flags: &Flags) -> anyhow::Result<Exit> {
    if args.instruction.trim().is_empty() {
        anyhow::bail!("the instruction is empty; say what you want");
    }
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let bundle = bundle::remember(bundle::open(&args.path)?, &settings);
    if let Some(file) = &args.patch {
        // Better now than after the model has worked for minutes.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) || file.is_dir() {
            bail!("{}: no patch can be written there; name a file in an existing folder", file.display());
        }
    }
    super::runtime()?.block_on(async {
        let client = model::client(settings.model.clone(), &settings.model_options, &environment)
            .await
            .map_err(anyhow::Error::msg)?;
        manage(bundle, client, args, &settings).await
    })
}

async fn manage(
    bundle: Bundle,
    client: Arc<dyn ModelClient>,
    args: &ManageArgs,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let model = client.name().to_owned();
    // Everything is decided here, at the end of each turn.
    let lint = bundle::lint_options(&bundle, settings);
    let options = ManagerOptions { approval: Approval::default(), lint, ..settings.manager.clone() };
    let keeping = sessions::begin(&bundle, Role::Manager, &model, settings);
    let manager =
        Manager::builder().backend(bundle.reader()).client(client).options(options).keeping(keeping);
    let mut session = manager.build()?.start();
    let exit = work(&mut session, &bundle, &model, args, settings).await;
    session.close().await;
    exit
}

async fn work(
    session: &mut Session,
    bundle: &Bundle,
    model: &str,
    args: &ManageArgs,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let mut command = AgentCommand::Say(args.instruction.clone());
    let mut exit = Exit::Done;
    loop {
        // A session that is gone already says so when it is listened to.
        let _ = session.commands.send(command);
        turn::listen(&mut session.events, &mut io::stdout(), &mut io::stderr()).await?;
        let changes = session.staged.as_ref().map(|staged| staged.changes()).unwrap_or_default();
        if changes.is_empty() {
            output::note("No changes are proposed.");
            return Ok(exit);
        }
        let look = review::Look::of(&*bundle.reader(), settings.color);
        if let Some(file) = &args.patch {
            return review::write_patch(file, &changes, look, bundle.label());
        }
        let resolved = if args.yes {
            let mut resolved = review::approve_all(&changes);
            // What the person wants to be asked about is not approved by a flag.
            let rules = settings.manager.rules();
            changes.files.iter().filter(|file| rules.asks(file)).for_each(|file| {
                resolved.decisions.remove(&file.path);
            });
            review::warnings(&changes, look).iter().for_each(|text| output::note(&format!("! {text}")));
            resolved
        } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
            review::ask_here(&changes, look)?
        } else {
            review::show(&changes, review::Look { color: false, ..look }, &mut io::stdout())?;
            output::note(
                "Nothing was changed: there is no terminal to ask on. --yes approves everything, --patch FILE writes a patch.",
            );
            return Ok(Exit::Negative);
        };
        let origin = Origin {
            who: "manager".to_owned(),
            model: Some(model.to_owned()),
            message: args.instruction.clone(),
            ..Origin::default()
        };
        let applied = bundle.apply(&resolved.changes, &resolved.decisions, &origin);
        review::report(&resolved, &applied, &mut io::stdout())?;
        exit =
            if applied.landed.is_empty() || !applied.failed.is_empty() { Exit::Negative } else { Exit::Done };
        // The manager answers a reason; a bare no ends it.
        let mut reasons = applied.rejected.iter().map(|(_, reason)| reason);
        let mut parts = resolved.rejected.iter().map(|rejected| &rejected.reason);
        let done = reasons.all(String::is_empty) && parts.all(String::is_empty);
        command = AgentCommand::Reviewed { resolved: Box::new(resolved), applied };
        if done {
            // For its record.
            let _ = session.commands.send(command);
            return Ok(exit);
        }
    }
}
