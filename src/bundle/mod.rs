//! Where pages live: storage traits and backends, permissions, staged changes over a backend,
//! applying, watching. The only room that touches the files of a bundle.

pub mod apply;
#[cfg(feature = "archives")]
pub mod archive;
pub mod change;
#[cfg(test)]
mod conformance;
pub mod error;
pub mod git;
pub mod glob;
pub mod grep;
pub mod hunk;
pub mod ledger;
pub mod local;
pub mod memory;
pub mod merge;
#[cfg(feature = "remote")]
pub mod object;
pub mod open;
pub mod permission;
pub mod readonly;
pub mod staged;
pub mod storage;
pub mod walk;
pub mod watch;

pub use apply::{Applied, apply};
pub use change::{ChangeKind, ChangeSet, Decision, Decisions, FileChange, waiting};
pub use error::{Error, ErrorKind};
pub use grep::{Grep, GrepMatch, GrepResult};
pub use ledger::Ledger;
pub use local::LocalBundle;
pub use memory::MemoryBundle;
#[cfg(feature = "remote")]
pub use object::ObjectBundle;
pub use open::{Bundle, Watching, is_address, is_archive, open};
pub use permission::{Mode, Operation, PathPattern, Rule, Rules};
pub use readonly::ReadOnly;
pub use staged::Staged;
pub use storage::{Entry, EntryKind, Read, Stat, Write};
pub use watch::{Changed, Watcher};
