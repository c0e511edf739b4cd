//! What the end-to-end tests share: a pseudo-terminal with a screen, temporary bundles.
#![allow(dead_code)]

pub mod bundle;
pub mod pty;
