//! `wikiwright ask`: one question to the reader, without a screen.

use std::path::PathBuf;

use clap::Args;

use super::Exit;
use crate::config::Flags;

#[derive(Debug, Args)]
pub struct AskArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// The question
    pub question: String,
}

pub fn run(args: &AskArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let _ = (args, flags);
    unimplemented!("project helper")
}
