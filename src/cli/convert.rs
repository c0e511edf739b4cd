//! The hidden subcommand that the program starts itself with to convert a document in a process of its own; see
//! [`crate::document::child`].

use anyhow::Context as _;

use super::Exit;
use crate::document::child;

/// Reads a document from standard input and answers on standard output.
pub fn run() -> anyhow::Result<Exit> {
    child::serve().context("cannot convert the document")?;
    Ok(Exit::Done)
}
