//! Reading the terminal on a thread of its own, so that the loop can take everything that is there without waiting.
//!
//! Not through crossterm's reader: it blocks in a paste without an end, spins on a terminal that went away (issue 793),
//! and leaves a key unread that arrives together with a change of size.

use std::io::{self, PipeReader, PipeWriter};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender, channel};
use tokio::task::JoinHandle;

use super::decode::Decoder;
use crate::tui::event::Event as Message;

/// Events that wait to be taken; more stay in the terminal.
const WAITING: usize = 4096;

/// A live reader. While it lives, nothing else gets to see what is typed.
pub struct Keyboard {
    pub events: Receiver<io::Result<Event>>,
    /// Closed to stop the thread.
    stop: PipeWriter,
    keys: thread::JoinHandle<()>,
    sizes: JoinHandle<()>,
}

impl Keyboard {
    /// What is typed comes in `events`; what the terminal says of itself goes to `inbox`.
    pub fn listen(inbox: UnboundedSender<Message>) -> io::Result<Self> {
        let (sender, events) = channel(WAITING);
        let (stopped, stop) = io::pipe()?;
        let mut changes = signal(SignalKind::window_change())?;
        let resized = sender.downgrade();
        let sizes = tokio::spawn(async move {
            while changes.recv().await.is_some() {
                let Some(sender) = resized.upgrade() else { return };
                if let Ok((columns, rows)) = crossterm::terminal::size() {
                    let _ = sender.send(Ok(Event::Resize(columns, rows))).await;
                }
            }
        });
        let keys = thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            if let Err(error) = read(&stopped, &sender, &inbox) {
                let _ = sender.blocking_send(Err(error));
            }
        })?;
        Ok(Self { events, stop, keys, sizes })
    }

    /// Stops reading before somebody else reads.
    pub fn stop(self) {
        self.sizes.abort();
        drop(self.stop);
        // A thread that waits for room in the channel is let go too.
        drop(self.events);
        // A read that was begun in the background, with the process stopped in it, comes back only with the next key.
        for _ in 0..20 {
            if self.keys.is_finished() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Reads until told to stop or the terminal is gone.
fn read(
    stopped: &PipeReader,
    events: &Sender<io::Result<Event>>,
    inbox: &UnboundedSender<Message>,
) -> io::Result<()> {
    let stdin = io::stdin();
    let mut decoder = Decoder::default();
    let mut buffer = [0; 16 * 1024];
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let wait = decoder.due().map(|due| due.saturating_duration_since(Instant::now()));
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        match poll(&mut fds, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [keys, stop] = fds.map(|fd| fd.revents());
        if !stop.is_empty() {
            return Ok(());
        }
        if keys.is_empty() {
            decoder.idle(Instant::now());
        } else {
            match rustix::io::read(&stdin, &mut buffer) {
                Ok(0) | Err(Errno::IO) => return Ok(()),
                Ok(n) => decoder.feed(buffer.get(..n).unwrap_or_default(), Instant::now()),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(light) = decoder.light.take() {
            let _ = inbox.send(Message::Background { light });
        }
        for event in decoder.events() {
            if events.blocking_send(Ok(event)).is_err() {
                return Ok(());
            }
        }
    }
}
