//! The staged overlay: a bundle with pending changes on top. It implements the same read trait as
//! storage, so the agent, the linter and the preview see the proposed bundle with no special case, and it is the only
//! thing that an agent can write to (invariant I3).

use std::sync::Arc;

use super::change::ChangeSet;
use super::error::Error;
use super::permission::Rules;
use super::storage::{Entry, Read, Stat, Write};
use crate::okf::BundlePath;

/// Pending changes over `base`. Shared by reference; writes lock inside. Writes check the rules.
pub struct Staged {
    base: Arc<dyn Read>,
    rules: Rules,
}

impl Staged {
    pub fn new(base: Arc<dyn Read>, rules: Rules) -> Self {
        Self { base, rules }
    }

    pub fn base(&self) -> &Arc<dyn Read> {
        &self.base
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A picture of what is pending. Changes that came to nothing are left out.
    pub fn changes(&self) -> ChangeSet {
        unimplemented!("bundle helper")
    }

    /// Forgets the pending change of this file (approved and landed, or rejected).
    pub fn discard(&self, path: &BundlePath) {
        let _ = path;
        unimplemented!("bundle helper")
    }
}

impl Read for Staged {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        let _ = folder;
        unimplemented!("bundle helper")
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
}

impl Write for Staged {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        let _ = (path, bytes);
        unimplemented!("bundle helper")
    }
    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        let _ = path;
        unimplemented!("bundle helper")
    }
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        let _ = (from, to);
        unimplemented!("bundle helper")
    }
}
