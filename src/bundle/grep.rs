//! Searching lines: one engine, linear in the input, the same on every machine.

use crate::okf::BundlePath;

/// What to look for and where.
#[derive(Debug, Clone)]
pub struct Grep {
    /// Searched literally unless `regex`.
    pub pattern: String,
    pub regex: bool,
    pub ignore_case: bool,
    pub folder: BundlePath,
    /// Only files that this glob matches; see [`super::Read::glob`].
    pub glob: Option<String>,
    /// Stop after so many lines in all.
    pub limit: usize,
}

/// Lines found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrepResult {
    pub matches: Vec<GrepMatch>,
    /// The limit cut the list.
    pub truncated: bool,
    /// Files that could not be searched (not text, unreadable).
    pub skipped: Vec<BundlePath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    pub path: BundlePath,
    /// From 1, lines end at `\n`.
    pub line: usize,
    pub text: String,
}
