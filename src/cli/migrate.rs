//! `wikiwright migrate`: carries the pages of a bundle over to a later version of the format, as one set.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::refactor::{How, settle};
use super::{Exit, bundle, fix, output};
use crate::config::{Environment, Flags, Settings};
use crate::okf::edit::to_0_2;
use crate::wiki::Wiki;

#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The version to migrate to
    #[arg(long, value_enum)]
    pub to: Version,
    /// Who is said to have generated the pages: PRODUCER/VERSION, human:ID or process:ID
    #[arg(long, value_name = "ACTOR", default_value = "process:unknown")]
    pub by: String,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Version {
    /// `timestamp` becomes `generated.at`, a list under `# Citations` becomes `sources`
    #[value(name = "0.2")]
    V0_2,
}

pub fn run(args: &MigrateArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let bundle = bundle::remember(bundle::open(&args.path)?, &settings);
    let wiki = Wiki::load(&bundle).with_context(|| format!("cannot read {}", args.path.display()))?;
    let texts = wiki.pages().filter_map(|page| {
        let (text, notes) = match args.to {
            Version::V0_2 => to_0_2(page, &args.by),
        };
        for note in notes {
            output::note(&format!("{}: {note}", page.path.relative()));
        }
        (text != *page.text).then(|| (page.path.clone(), text))
    });
    let (changes, _) = fix::stage(&bundle, &wiki, &settings, texts);
    if changes.is_empty() {
        output::note("There is nothing to migrate.");
        return Ok(Exit::Done);
    }
    settle(&bundle, &changes, &args.how, &settings, "migrate --to 0.2")
}
