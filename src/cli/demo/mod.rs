//! `wikiwright demo`: the workbench on the example bundle, copied to a fresh temporary folder, with a scripted model.

#[allow(dead_code)]
mod files;

use super::Exit;

pub fn run() -> anyhow::Result<Exit> {
    unimplemented!("project helper")
}
