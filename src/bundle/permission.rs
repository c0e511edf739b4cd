//! Permission rules, checked below the tools for every writer (invariant I2).
//!
//! The first rule that matches decides; no match allows. Dots are ordinary characters to the matcher, and a path
//! that differs from a protected one only in letter case or Unicode form is protected too.

use crate::bundle::Error;
use crate::okf::BundlePath;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Read,
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    Allow,
    Deny,
}

/// One rule. `folder` covers itself and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub operation: Operation,
    pub folder: BundlePath,
    pub mode: Mode,
}

/// Ordered rules and the protected names (`.git`, dot-folders, `.okf`, editor and agent configuration).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// No write to a path with a component that starts with a dot.
    pub protect_dot_names: bool,
}

impl Rules {
    /// The manager: no write under `/raw` (when `protect_raw`), none to protected names.
    pub fn manager(protect_raw: bool) -> Self {
        let _ = protect_raw;
        unimplemented!("bundle helper")
    }

    /// The reader: no write anywhere.
    pub fn reader() -> Self {
        unimplemented!("bundle helper")
    }

    /// `Err` with kind `Denied` and a sentence the model can act on.
    pub fn check(&self, operation: Operation, path: &BundlePath) -> Result<(), Error> {
        let _ = (operation, path);
        unimplemented!("bundle helper")
    }
}
