//! `wikiwright fmt`: writes the frontmatter of pages in canonical form, or says which are not in it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::{Exit, bundle, fix};
use crate::bundle::ledger::record::Origin;
use crate::config::{Environment, Flags, Settings};
use crate::okf::edit::canonical;
use crate::text::Safe;
use crate::wiki::Wiki;

#[derive(Debug, Args)]
pub struct FmtArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// Change nothing; name the pages that would be changed, and exit with 1 when there are some
    #[arg(long)]
    pub check: bool,
}

pub fn run(args: &FmtArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let bundle = bundle::remember(bundle::open(&args.path)?, &settings);
    let wiki = Wiki::load(&bundle).with_context(|| format!("cannot read {}", args.path.display()))?;
    let texts = wiki.pages().filter_map(|page| Some((page.path.clone(), canonical(&page.text)?)));
    let (changes, whole) = fix::stage(&bundle, &wiki, &settings, texts);
    let mut out = io::stdout().lock();
    if args.check {
        for file in &changes.files {
            writeln!(out, "would change {}", Safe::line(file.path.relative()))?;
        }
        return Ok(if changes.is_empty() && whole { Exit::Done } else { Exit::Negative });
    }
    let origin = Origin { who: "person".to_owned(), message: "fmt".to_owned(), ..Origin::default() };
    let written = fix::apply(&bundle, &changes, &settings.manager.rules(), &origin);
    for file in written.landed.iter().filter_map(|path| changes.file(path)) {
        writeln!(out, "{}", Safe::line(&file.done()))?;
    }
    Ok(if written.failed.is_empty() && whole { Exit::Done } else { Exit::Negative })
}
