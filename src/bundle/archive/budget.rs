//! How much an archive may unpack to, counted while it is read: what its headers say is not believed.

use std::cell::Cell;
use std::io;

use super::{MAX_RATIO, MAX_UNPACKED, Refusal, SMALL};

/// What is left to unpack.
pub struct Budget {
    left: Cell<u64>,
    whole: u64,
    spent: Cell<bool>,
}

impl Budget {
    /// For an archive of so many bytes.
    pub fn of(packed: u64) -> Result<Self, Refusal> {
        if packed > MAX_UNPACKED {
            return Err(Refusal::Said(format!("is larger than {}, the most that is read", megabytes())));
        }
        let whole = packed.saturating_mul(MAX_RATIO).clamp(SMALL, MAX_UNPACKED);
        Ok(Self { left: Cell::new(whole), whole, spent: Cell::new(false) })
    }

    /// A budget of its own for a stream that carries the content with `more` around it.
    pub fn for_stream(&self, more: u64) -> Self {
        let whole = self.whole;
        Self { left: Cell::new(whole.saturating_mul(2).saturating_add(more)), whole, spent: Cell::new(false) }
    }

    /// The reason, once more was read than allowed.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.spent.get() {
            return Ok(());
        }
        Err(Refusal::Said(if self.whole < MAX_UNPACKED {
            format!("unpacks to more than {MAX_RATIO} times its size, which no bundle does; it is not opened")
        } else {
            format!("unpacks to more than {}, the most that is read", megabytes())
        }))
    }
}

fn megabytes() -> String {
    format!("{} MiB", MAX_UNPACKED / (1024 * 1024))
}

/// A reader that ends with an error where the budget does.
pub struct Metered<'a, R> {
    inner: R,
    budget: &'a Budget,
}

impl<'a, R> Metered<'a, R> {
    pub fn new(inner: R, budget: &'a Budget) -> Self {
        Self { inner, budget }
    }
}

impl<R: io::Read> io::Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.budget.left.get().checked_sub(read as u64) {
            Some(left) => {
                self.budget.left.set(left);
                Ok(read)
            }
            None => {
                self.budget.spent.set(true);
                Err(io::Error::other("too much"))
            }
        }
    }
}
