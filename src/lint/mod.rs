//! Rules over the model, findings, reports. Judges any [`Wiki`], the proposed one too; touches no file.

mod context;
pub mod fix;
pub mod format;
mod incremental;
mod names;
pub mod registry;
mod report;
mod rules;
pub mod select;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::okf::BundlePath;
use crate::okf::frontmatter;
use crate::okf::timestamp::Stamp;
use crate::text::Span;
use crate::wiki::Wiki;
use context::tree_order;

pub use incremental::Incremental;
pub use registry::{FixKind, Rule};
pub use report::{Counts, Report, delta};
pub use select::{Levels, Selector};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Hint,
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
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
        let there = |path: &str| BundlePath::parse(path).is_ok_and(|path| wiki.exists(&path));
        let folder = wiki.folders().any(|folder| folder.as_str() == "/wiki");
        if folder && (there("/AGENTS.md") || there("/raw")) { Self::Wiki } else { Self::Okf }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wiki => "wiki",
            Self::Okf => "okf",
        }
    }
}

/// One fault at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub level: Level,
    /// The file it is about, which for a missing `index.md` is not there; `/` for the bundle.
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
    pub data: Arc<Map<String, Value>>,
    /// What would mend it, where that was asked for ([`fix::annotate`]).
    pub fix: Option<fix::Offer>,
}

impl Finding {
    /// The rule and what it is about, where that is one thing and not the whole page: many findings alike have one cause.
    pub fn about(&self) -> Option<(&'static str, Vec<&str>)> {
        let data: Vec<&str> = self.data.values().filter_map(Value::as_str).collect();
        (!data.is_empty()).then_some((self.rule.code, data))
    }
}

/// Which version of the specification judges in profile `okf`. The convention stands on 0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OkfVersion {
    V0_1,
    V0_2,
}

impl OkfVersion {
    pub const ALL: [Self; 2] = [Self::V0_1, Self::V0_2];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0_1 => "0.1",
            Self::V0_2 => "0.2",
        }
    }

    /// None for a version that is not implemented.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text.trim())
    }
}

/// Settings of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `None` detects.
    pub profile: Option<Profile>,
    /// `None` takes what the root's `index.md` says, else the newest. Profile `wiki` is 0.1 whatever stands here.
    pub okf_version: Option<OkfVersion>,
    /// The day (from midnight UTC) that decides what is stale; `None` asks the clock.
    pub today: Option<jiff::civil::Date>,
    /// Rules that are off or have another level than their profile's.
    pub levels: Levels,
}

/// Judges a bundle. Takes time linear in its pages and links.
pub fn lint(wiki: &Wiki, options: &Options) -> Report {
    Incremental::new(wiki, options).into_report()
}

/// By path, place, rule; the rest only so that equal places have one order.
fn in_order(a: &Finding, b: &Finding) -> Ordering {
    let place = |f: &Finding| (f.span.map_or(0, |s| s.start), f.span.map_or(0, |s| s.end), f.rule.code);
    tree_order(&a.path, &b.path).then_with(|| place(a).cmp(&place(b))).then_with(|| a.message.cmp(&b.message))
}

/// A version that is not known is read as the newest.
fn okf_version(wiki: &Wiki, profile: Profile, options: &Options) -> OkfVersion {
    let declared = || {
        let index = BundlePath::parse("/index.md").ok()?;
        match &wiki.page(&index)?.frontmatter.get("okf_version")?.value {
            frontmatter::Value::String(text) | frontmatter::Value::Number(text) => OkfVersion::parse(text),
            _ => None,
        }
    };
    match profile {
        Profile::Wiki => OkfVersion::V0_1,
        Profile::Okf => options.okf_version.or_else(declared).unwrap_or(OkfVersion::V0_2),
    }
}

/// Seconds since 1970.
fn now(options: &Options) -> i64 {
    let midnight = |day: jiff::civil::Date| Stamp::parse(&day.to_string());
    let day = options.today.and_then(midnight);
    day.map_or_else(|| jiff::Timestamp::now().as_second(), |stamp| stamp.seconds)
}
