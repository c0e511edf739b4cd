//! Ways in which the world ends the workbench: signals, and a terminal that goes away. Each has a second line of
//! defence for a screen thread that does not answer.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;

use crate::tui::event::Event;
use crate::tui::terminal;

/// How long an orderly end may take before the process ends itself.
const GRACE: Duration = Duration::from_millis(700);

/// Ends the workbench on SIGTERM, SIGINT, SIGHUP and SIGQUIT with status 128 + n.
pub fn on_signals(events: &UnboundedSender<Event>) -> io::Result<()> {
    for (kind, number) in [
        (SignalKind::hangup(), 1),
        (SignalKind::interrupt(), 2),
        (SignalKind::quit(), 3),
        (SignalKind::terminate(), 15),
    ] {
        let mut signals = signal(kind)?;
        let events = events.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if matches!(number, 2 | 3) && terminal::is_lent() {
                    continue;
                }
                let status = 128 + number;
                let _ = events.send(Event::Leave(status));
                tokio::time::sleep(GRACE).await;
                give_up(status);
            }
        });
    }
    Ok(())
}

/// The signal that says the process was continued after a stop.
pub fn continued() -> io::Result<Signal> {
    signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))
}

/// Ends the workbench when the terminal is closed. The event reader cannot be trusted with that: with the hangup
/// signal handled it spins on a dead terminal (crossterm issue 793).
pub fn on_hangup(events: UnboundedSender<Event>) -> io::Result<()> {
    std::thread::Builder::new().name("hangup".to_owned()).spawn(move || {
        let stdin = io::stdin();
        loop {
            let mut fds = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty())];
            // Hangup and errors are reported without being asked for. The timeout only bounds how long the
            // thread outlives the workbench.
            let timeout = Timespec { tv_sec: 3600, tv_nsec: 0 };
            let outcome = poll(&mut fds, Some(&timeout));
            let gone = fds
                .iter()
                .any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL));
            match outcome {
                Ok(_) if gone => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
        if events.send(Event::Leave(129)).is_err() {
            return;
        }
        std::thread::sleep(GRACE);
        give_up(129);
    })?;
    Ok(())
}

/// The screen thread did not end in time.
fn give_up(status: u8) {
    terminal::restore();
    std::process::exit(i32::from(status));
}
