//! Noticing that files changed. Events of the system are hints; the answer is which paths to look at again.

use std::sync::Arc;

use super::local::LocalBundle;
use crate::okf::BundlePath;

/// What the watcher saw, after debouncing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// Look at these again; a folder stands for everything below it.
    Paths(Vec<BundlePath>),
    /// Too much happened or events were lost: look at everything again.
    Everything,
    /// The bundle's folder itself is gone or back.
    RootGone,
    /// Watching does not work (limit, file system): polling took over, or nothing did; a sentence for the status line.
    Notice(String),
}

/// A running watcher; dropping it stops it.
pub struct Watcher {}

impl Watcher {
    /// Starts watching; `notify` is called from the watcher's thread, never twice at once.
    pub fn start(bundle: Arc<LocalBundle>, notify: impl Fn(Changed) + Send + 'static) -> Self {
        let _ = (bundle, notify);
        unimplemented!("bundle helper")
    }
}
