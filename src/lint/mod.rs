//! Rules over the model, findings, reports. Judges any [`Wiki`], the proposed one too; touches no file.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::okf::BundlePath;
use crate::text::Span;
use crate::wiki::Wiki;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Hint,
}

/// Which reading of the format judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The wiki convention laid over OKF 0.1.
    Wiki,
    /// The specification alone.
    Okf,
}

impl Profile {
    /// `wiki` when the bundle has a `wiki/` folder beside `AGENTS.md` or `raw/`, else `okf`.
    pub fn detect(wiki: &Wiki) -> Self {
        let _ = wiki;
        unimplemented!("lint helper")
    }
}

/// A rule's public identity.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// `"L001"`. Once published a code keeps its meaning.
    pub code: &'static str,
    /// `"link-broken"`.
    pub name: &'static str,
    /// One line for tables and help.
    pub summary: &'static str,
}

/// One fault at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub level: Level,
    pub path: BundlePath,
    /// Bytes of the page, when the fault stands somewhere.
    pub span: Option<Span>,
    /// From 1, characters; line 1 column 1 when the fault is the whole file's.
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub message: String,
    /// The machine key of the rule (`target`, `field`, …); see the rule table.
    pub data: Map<String, Value>,
}

/// Settings of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `None` detects.
    pub profile: Option<Profile>,
}

/// The outcome: findings sorted by path, place, rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub profile: Profile,
    /// The version whose rules were used, `"0.1"` or `"0.2"`.
    pub okf_version: &'static str,
    pub pages: usize,
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|f| f.level == level).count()
    }
}

/// Judges a bundle.
pub fn lint(wiki: &Wiki, options: &Options) -> Report {
    let _ = (wiki, options);
    unimplemented!("lint helper")
}
