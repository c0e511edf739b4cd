//! Line and word differences of two texts, as data: views colour it, [`unified`] prints it.

use super::Span;

/// Lines of context around a change.
pub const CONTEXT: usize = 3;

/// A run of changed lines with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of the hunk in the old and new text, from 1 (0 when that side has no line).
    pub old_start: usize,
    pub new_start: usize,
    pub old_len: usize,
    pub new_len: usize,
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub change: Change,
    /// Line numbers from 1; none on the side where the line does not stand.
    pub old: Option<usize>,
    pub new: Option<usize>,
    /// Without its line end.
    pub text: String,
    /// What ended the line; none at the end of a file without final newline.
    pub ending: Option<Ending>,
    /// Byte ranges of `text` that differ from the paired line of the other side; empty on context and on
    /// unpaired lines.
    pub emphasis: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    Context,
    Removed,
    Added,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    Lf,
    CrLf,
}

/// Hunks that turn `old` into `new`; empty when they are the same.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let _ = (old, new);
    unimplemented!("okf helper")
}

/// A git-style patch of one file: `diff --git`, mode lines for creation and deletion, `---`/`+++` and hunks, that
/// `git apply` takes. `None` on a side means that the file does not exist there. Empty when nothing changes.
pub fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let _ = (path, old, new);
    unimplemented!("okf helper")
}
