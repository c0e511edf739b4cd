//! When to draw: only after something changed, at most sixty times a second, never while nothing happens.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest time between two frames.
pub const FRAME: Duration = Duration::from_micros(16_667);

/// Decides when the next frame is due. Reads no clock of its own.
#[derive(Debug, Default)]
pub struct Frames {
    dirty: bool,
    last: Option<Instant>,
    first: Option<Instant>,
}

impl Frames {
    /// Something on screen is out of date.
    pub fn request(&mut self) {
        self.dirty = true;
    }

    /// When to draw; none while nothing changed.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        self.dirty.then(|| self.last.map_or(now, |last| (last + FRAME).max(now)))
    }

    /// Time since the first frame.
    pub fn since_start(&self, now: Instant) -> Duration {
        self.first.map_or(Duration::ZERO, |first| now.saturating_duration_since(first))
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.first.get_or_insert(now);
        self.dirty = false;
        self.last = Some(now);
    }
}
