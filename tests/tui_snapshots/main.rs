//! The workbench without a terminal: keys in, state and styled screen out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

mod approval;
mod history;
mod input;
mod keys;
mod review;
mod rig;
mod screens;
mod sizes;
mod transcript;
