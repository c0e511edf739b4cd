//! Reading the terminal on a task of its own, so that the loop can take everything that is there without waiting.
//!
//! The event stream keeps only the first waker it is polled with, so polling it "just to see" loses wake-ups for
//! good; a channel has no such trap.

use std::io;

use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinHandle;

/// Events that wait to be taken; more stay in the terminal.
const WAITING: usize = 4096;

/// A live reader. While it lives, nothing else gets to see what is typed.
pub struct Keyboard {
    pub events: Receiver<io::Result<Event>>,
    task: JoinHandle<()>,
}

impl Keyboard {
    pub fn listen() -> Self {
        let (sender, events) = channel(WAITING);
        let task = tokio::spawn(async move {
            let mut stream = EventStream::new();
            while let Some(event) = stream.next().await {
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        });
        Self { events, task }
    }

    /// Stops reading, for certain, before somebody else reads.
    pub async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}
