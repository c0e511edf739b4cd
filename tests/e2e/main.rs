//! End to end: the built binary in a pseudo-terminal or on the command line, nothing replaced but the model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

mod answer;
mod bad_input;
mod commands;
mod demo;
mod doctor;
#[cfg(feature = "documents")]
mod documents;
mod fix;
mod ingest;
mod init;
mod links;
mod lint;
mod model;
mod network;
mod panics;
mod refactor;
#[cfg(all(feature = "remote", feature = "archives"))]
mod remote;
mod session;
mod sessions;
mod slash;
mod support;
mod workbench;
