//! `wikiwright lint`: prints the findings of a bundle.

use std::path::PathBuf;

use clap::Args;

use super::Exit;

#[derive(Debug, Args)]
pub struct LintArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &LintArgs) -> anyhow::Result<Exit> {
    let _ = args;
    unimplemented!("lint helper")
}
