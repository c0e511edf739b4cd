//! What the end-to-end tests share: the binary with and without a terminal, temporary bundles.
#![allow(dead_code)]

pub mod bundle;
pub mod command;
pub mod endpoint;
pub mod pty;
pub mod server;
