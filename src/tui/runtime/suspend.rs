//! Ctrl-Z: gives the terminal back, stops the process, and takes the terminal again only in the foreground.

use std::io;

use rustix::process::{Signal, getpgrp, getpid, kill_process};
use rustix::termios::tcgetpgrp;

use crate::tui::terminal;

/// Stops until the shell continues the process in the foreground. A `bg` stops it again, as it would any program
/// that reads from the terminal.
pub fn stop() -> io::Result<()> {
    terminal::restore();
    loop {
        kill_process(getpid(), Signal::STOP)?;
        if foreground() {
            return Ok(());
        }
    }
}

/// Whether the terminal belongs to this process now.
pub fn foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}
