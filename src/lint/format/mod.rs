//! Reports as text: for people and for programs. Writes to what it is given and decides nothing.

mod json;
mod text;

pub use json::json;
pub use text::text;

use super::Finding;

/// How reports name the bundle itself, where a path is wanted.
const BUNDLE: &str = "<bundle>";

fn shown_path(finding: &Finding) -> &str {
    if finding.path.is_root() { BUNDLE } else { finding.path.relative() }
}
