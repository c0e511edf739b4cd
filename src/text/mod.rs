//! Text as bytes, lines, columns and terminal cells. Pure: no I/O, no clock, no knowledge of the
//! format.

pub mod diff;
pub mod sanitize;
pub mod span;
pub mod typography;
pub mod width;

pub use sanitize::Safe;
pub use span::{LineIndex, Position, Span};
