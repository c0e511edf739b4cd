//! Applying decided changes: the only code that writes to a bundle on behalf of anybody.
//!
//! A file is written when its decision approves exactly what the change set holds and the file on disk is still what
//! the change started from. Each file lands by temporary file, fsync, rename, fsync of the folder.

use super::change::{ChangeSet, Decisions};
use super::error::Error;
use super::storage::Write;
use crate::okf::BundlePath;

/// What happened to each decided file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    pub landed: Vec<BundlePath>,
    pub rejected: Vec<(BundlePath, String)>,
    /// Approved but refused: changed on disk since, or shown something else, or the system said no.
    pub failed: Vec<(BundlePath, Error)>,
    /// No decision yet.
    pub pending: Vec<BundlePath>,
}

/// Writes the approved files of `changes` to `target`. Never partial within a file.
pub fn apply(target: &dyn Write, changes: &ChangeSet, decisions: &Decisions) -> Applied {
    let _ = (target, changes, decisions);
    unimplemented!("bundle helper")
}
