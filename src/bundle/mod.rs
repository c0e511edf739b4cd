//! Where pages live: storage traits and backends, permissions, staged changes over a backend,
//! applying, watching. The only room that touches the files of a bundle.

pub mod apply;
pub mod change;
pub mod error;
pub mod grep;
pub mod local;
pub mod memory;
pub mod permission;
pub mod staged;
pub mod storage;
pub mod watch;

pub use change::{ChangeKind, ChangeSet, Decision, FileChange};
pub use error::{Error, ErrorKind};
pub use local::LocalBundle;
pub use memory::MemoryBundle;
pub use permission::{Mode, Operation, Rule, Rules};
pub use staged::Staged;
pub use storage::{Entry, EntryKind, Read, Stat, Write};
