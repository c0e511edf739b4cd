//! `wikiwright mv`, `rm`, `merge` and `split`: pages change their place, with what points at them. Shown first, applied as
//! one set.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::{Exit, bundle, output, review};
use crate::bundle::ledger::record::Origin;
use crate::bundle::{Bundle, ChangeSet, Error, Staged};
use crate::config::{Environment, Flags, Settings};
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::wiki::Wiki;
use crate::wiki::refactor::{
    Plan, RefactorError, plan_delete, plan_merge, plan_move, plan_split, plan_unlink,
};

#[derive(Debug, Args)]
pub struct MoveArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The page, file or folder to move, as a path in the bundle
    pub from: String,
    /// Where it goes: its new path, or an existing folder
    pub to: String,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The page or file to delete, as a path in the bundle
    pub page: String,
    /// Turn the links to it into their text, so that none is broken
    #[arg(long)]
    pub unlink: bool,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The page that becomes a section, as a path in the bundle
    pub from: String,
    /// The page that it becomes a section of
    pub into: String,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Args)]
pub struct SplitArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The page, as a path in the bundle
    pub page: String,
    /// The heading of the section, by its text or its anchor
    pub heading: String,
    /// The new page
    pub to: String,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Args)]
pub struct How {
    /// Write it without asking
    #[arg(long, conflicts_with = "patch")]
    pub yes: bool,
    /// Change nothing; write a patch that `git apply` takes
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
}

pub fn mv(args: &MoveArgs, flags: &Flags) -> anyhow::Result<Exit> {
    run(&args.path, &args.how, flags, &format!("mv {} {}", args.from, args.to), |wiki| {
        let (from, to) = (parse(&args.from)?, parse(&args.to)?);
        // As with the shell's mv: into a folder that is there.
        let into = wiki.folders().any(|folder| *folder == to) && from != to;
        let to = if into { to.join(from.name()).unwrap_or(to) } else { to };
        plan_move(wiki, &from, &to).map_err(sentence)
    })
}

pub fn rm(args: &RemoveArgs, flags: &Flags) -> anyhow::Result<Exit> {
    run(&args.path, &args.how, flags, &format!("rm {}", args.page), |wiki| {
        let plan = if args.unlink { plan_unlink } else { plan_delete };
        plan(wiki, &parse(&args.page)?).map_err(sentence)
    })
}

pub fn merge(args: &MergeArgs, flags: &Flags) -> anyhow::Result<Exit> {
    run(&args.path, &args.how, flags, &format!("merge {} {}", args.from, args.into), |wiki| {
        plan_merge(wiki, &parse(&args.from)?, &parse(&args.into)?).map_err(sentence)
    })
}

pub fn split(args: &SplitArgs, flags: &Flags) -> anyhow::Result<Exit> {
    run(&args.path, &args.how, flags, &format!("split {} {} {}", args.page, args.heading, args.to), |wiki| {
        plan_split(wiki, &parse(&args.page)?, &args.heading, &parse(&args.to)?).map_err(sentence)
    })
}

fn parse(text: &str) -> anyhow::Result<BundlePath> {
    BundlePath::parse(text).map_err(|problem| anyhow::anyhow!("{text}: {problem}"))
}

fn sentence(error: RefactorError) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}

fn run(
    path: &Path,
    how: &How,
    flags: &Flags,
    message: &str,
    plan: impl FnOnce(&Wiki) -> anyhow::Result<Plan>,
) -> anyhow::Result<Exit> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let bundle = bundle::remember(bundle::open(path)?, &settings);
    let wiki = Wiki::load(&bundle)?;
    let plan = plan(&wiki)?;
    let staged = Staged::new(Arc::new(bundle.clone()), settings.manager.rules());
    plan.stage(&staged)?;
    let changes = staged.changes();
    for note in &plan.notes {
        output::note(&Safe::line(note).into_string());
    }
    settle(&bundle, &changes, how, &settings, message)
}

/// Shows a set and asks, or writes it or a patch of it, as the flags say.
pub fn settle(
    bundle: &Bundle,
    changes: &ChangeSet,
    how: &How,
    settings: &Settings,
    message: &str,
) -> anyhow::Result<Exit> {
    let look = review::Look::of(&*bundle.reader(), settings.color);
    if let Some(file) = &how.patch {
        return review::write_patch(file, changes, look, bundle.label());
    }
    let rules = settings.manager.rules();
    let resolved = if how.yes {
        if let Some(file) = changes.files.iter().find(|file| rules.asks(file)) {
            return Err(Error::must_be_looked_at(&file.path).into());
        }
        review::approve_all(changes)
    } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
        review::ask_here(changes, look)?
    } else {
        review::show(changes, review::Look { color: false, ..look }, &mut io::stdout())?;
        output::note(
            "Nothing was changed: there is no terminal to ask on. --yes does it without asking, --patch FILE writes a patch.",
        );
        return Ok(Exit::Negative);
    };
    let origin = Origin { who: "person".to_owned(), message: message.to_owned(), ..Origin::default() };
    let applied = bundle.apply(&resolved.changes, &resolved.decisions, &origin);
    review::report(&resolved, &applied, &mut io::stdout())?;
    Ok(if applied.landed.is_empty() || !applied.failed.is_empty() { Exit::Negative } else { Exit::Done })
}
