//! Reports as text: for people and for programs. Writes to what it is given and decides nothing.

mod explain;
mod github;
mod json;
mod place;
mod sarif;
mod statistics;
mod text;

#[cfg(test)]
mod tests;

pub use explain::{explain, explain_json, explanation};
pub use github::github;
pub use json::json;
pub use place::Prefix;
pub use sarif::sarif;
pub use statistics::{statistics, statistics_json};
pub use text::text;

use super::Finding;

/// How reports name the bundle itself, where a path is wanted.
const BUNDLE: &str = "<bundle>";

fn shown_path(finding: &Finding) -> &str {
    if finding.path.is_root() { BUNDLE } else { finding.path.relative() }
}
