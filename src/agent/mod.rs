//! Manager and reader: the model client, the loop, tools, prompts.
//!
//! The loop is a pure state machine ([`fsm`]); the [`driver`] does its I/O and speaks to one listener (workbench, command
//! line, test) by [`AgentEvent`] and [`AgentCommand`]. Agents hold no `Write` over a disk: only
//! [`Staged`](crate::bundle::Staged).

pub mod answer;
pub mod approval;
pub mod assistant;
pub mod budget;
mod builder;
pub mod citation;
pub mod client;
pub mod context;
pub mod driver;
mod engine;
pub mod event;
pub mod fsm;
pub mod prompt;
pub mod reading;
pub mod record;
pub mod replay;
pub mod review;
pub mod tools;

pub use builder::{BuildError, Manager, ManagerBuilder, Reader, ReaderBuilder};
pub use event::{AgentCommand, AgentEvent, Carried, Moved, Role};
pub use tools::ExtraTool;
