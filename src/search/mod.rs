//! Finding passages of a bundle: chunks, full text, meaning, and both together. It owns the index in the user's cache folder and
//! the manifest in the bundle; it knows nothing of agents or screens.

mod filter;

pub use filter::{Area, ChunkKind, Filter};
