//! Faults on purpose: hostile names and links, full and failing disks, power cuts, lost events. Each test carries the id of
//! its row in `MATRIX.md`. Those that need root or strace are ignored by default; the `faults` profile runs them:
//! `cargo nextest run -P faults --run-ignored only`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

mod disk;
#[path = "../e2e/support/mod.rs"]
mod e2e;
mod hostile;
mod matrix;
mod order;
mod power;
mod support;
mod watch;
