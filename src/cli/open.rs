//! `wikiwright [PATH]`: the workbench on a bundle.

use std::path::Path;

use super::Exit;
use crate::config::Flags;

pub fn run(path: Option<&Path>, flags: &Flags) -> anyhow::Result<Exit> {
    let _ = (path, flags);
    unimplemented!("project helper")
}
