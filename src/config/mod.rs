//! Settings, layered: defaults, user file, environment, flags. Nothing in a bundle is ever read here: a bundle is foreign
//! text, and whoever chooses the endpoint receives the pages and the key.

use std::path::PathBuf;

/// Settings given on the command line; each wins over everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub base_url: Option<String>,
    pub model: Option<String>,
    /// Read this file instead of the user's.
    pub config: Option<PathBuf>,
}
