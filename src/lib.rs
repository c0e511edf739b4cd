//! wikiwright: a terminal workbench for wikis in the Open Knowledge Format.
//!
//! The rooms, from the ground up; each may use only those before it (`tests/architecture.rs`
//! checks the arrows):
//!
//! - [`text`]: spans, widths, wrapping, sanitising, diffs. Pure.
//! - [`okf`]: the format: paths, frontmatter, links, page facts, log entries, type lists. Pure.
//! - [`document`]: source documents to markdown, in a process of their own.
//! - [`bundle`]: where pages live: storage, permissions, staged changes, applying, watching.
//! - [`wiki`]: the in-memory model of one bundle: pages, link graph, backlinks.
//! - [`lint`]: rules over the model, findings, reports.
//! - [`search`]: full text, chunks, meaning, hybrid ranking; the index outside the bundle.
//! - [`agent`]: model client, loop, tools, roles, prompts.
//! - [`tui`]: the workbench.
//! - [`cli`]: one file per subcommand.
//!
//! [`config`] composes the settings of the rooms and is read only by [`cli`].

#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)
)]

pub mod agent;
pub mod bundle;
pub mod cli;
pub mod config;
#[cfg(feature = "documents")]
pub mod document;
pub mod lint;
pub mod okf;
pub mod search;
pub mod text;
pub mod tui;
pub mod wiki;
