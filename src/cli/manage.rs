//! `wikiwright manage`: one instruction to the manager, without a screen. Proposed changes are shown and decided here;
//! only an approval writes.

use std::path::PathBuf;

use clap::Args;

use super::Exit;
use crate::config::Flags;

#[derive(Debug, Args)]
pub struct ManageArgs {
    /// The bundle's folder
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
    let _ = (args, flags);
    unimplemented!("project helper")
}
