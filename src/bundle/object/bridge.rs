//! Calling an asynchronous store from blocking code: one thread of our own that drives the requests, whatever the caller
//! runs on. Must not be waited for on a thread of its own runtime.

use std::future::Future;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Runtime};

/// Drives requests; dropping it abandons those under way.
pub struct Bridge(Option<Runtime>);

impl Bridge {
    /// Fails when the system gives no thread.
    pub fn start() -> std::io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("object-store").enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// Waits for `job`, also inside another runtime. None when it panicked, or after the end of the bridge.
    pub fn wait<T: Send + 'static>(&self, job: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (sender, receiver) = sync_channel(1);
        self.0.as_ref()?.spawn(async move {
            let _ = sender.send(job.await);
        });
        receiver.recv().ok()
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // The last owner may itself be a task of a runtime, where waiting for threads is forbidden.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
