//! The type vocabulary that a bundle's `AGENTS.md` declares.

use super::page::Page;

/// The declared types in the order written; none when no section declares any.
///
/// The section whose heading holds the word type or types declares them: its backticked tokens; else the lead of each
/// list item or first cell of each table row, cut at ` - `, ` – `, ` — `, `: ` or ` | `. Tokens with `/` or
/// ending in `.md` are cross-references, not types.
pub fn declared_types(agents: &Page) -> Option<Vec<String>> {
    let _ = agents;
    unimplemented!("okf helper")
}
