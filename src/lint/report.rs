//! The outcome of a run, counted and compared.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::fix::Fixed;
use super::registry::INDEX_MISSING;
use super::{Finding, Level, Profile};
use crate::okf::BundlePath;

/// Findings of one bundle, sorted by path (folder by folder), place, rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub profile: Profile,
    /// The version whose rules were used, `"0.1"` or `"0.2"`.
    pub okf_version: &'static str,
    pub pages: usize,
    pub findings: Vec<Finding>,
    /// What was mended before it was judged.
    pub fixed: Vec<Fixed>,
}

/// How many findings of each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub hints: usize,
}

impl Counts {
    pub fn add(&mut self, level: Level) {
        match level {
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
            Level::Hint => self.hints += 1,
        }
    }

    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut counts = Self::default();
        findings.into_iter().for_each(|finding| counts.add(finding.level));
        counts
    }

    pub fn total(self) -> usize {
        self.errors + self.warnings + self.hints
    }

    /// The worst level there is.
    pub fn worst(self) -> Option<Level> {
        match self {
            Self { errors: 1.., .. } => Some(Level::Error),
            Self { warnings: 1.., .. } => Some(Level::Warning),
            Self { hints: 1.., .. } => Some(Level::Hint),
            _ => None,
        }
    }
}

impl Report {
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    pub fn counts(&self) -> Counts {
        Counts::of(&self.findings)
    }

    /// Counts of every path that has findings and of every folder above it, the bundle (`/`) included.
    pub fn counts_by_path(&self) -> BTreeMap<BundlePath, Counts> {
        let mut counts: BTreeMap<BundlePath, Counts> = BTreeMap::new();
        for finding in &self.findings {
            let above = std::iter::successors(Some(finding.path.clone()), BundlePath::parent);
            above.for_each(|path| counts.entry(path).or_default().add(finding.level));
        }
        counts
    }

    /// Findings of one path.
    pub fn of<'a>(&'a self, path: &'a BundlePath) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |finding| finding.path == *path)
    }

    /// How many findings each rule has, by code.
    pub fn by_rule(&self) -> BTreeMap<&'static str, usize> {
        let mut rules = BTreeMap::new();
        self.findings.iter().for_each(|finding| *rules.entry(finding.rule.code).or_default() += 1);
        rules
    }
}

/// What a change brings and what it settles: findings only in `after`, and findings only in `before`. The same fault a
/// few lines further down, or with another count in its sentence, is the same fault; of several alike, as many are new
/// as there are more of them.
pub fn delta<'a>(before: &'a Report, after: &'a Report) -> (Vec<&'a Finding>, Vec<&'a Finding>) {
    (only_in(after, before), only_in(before, after))
}

fn only_in<'a>(this: &'a Report, other: &'a Report) -> Vec<&'a Finding> {
    let mut there: HashMap<_, Vec<&Finding>> = HashMap::new();
    for finding in &other.findings {
        there.entry(identity(finding)).or_default().push(finding);
    }
    let mut only = Vec::new();
    for finding in &this.findings {
        match there.get_mut(&identity(finding)).and_then(Vec::pop) {
            Some(same) if names_no_more(finding, same) => {}
            _ => only.push(finding),
        }
    }
    only
}

/// What makes a fault this one: no place, no sentence, no number and no list.
fn identity(finding: &Finding) -> (&str, &BundlePath, Vec<(&str, &str)>) {
    let data = finding.data.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    (finding.rule.code, &finding.path, data.collect())
}

/// Whether every page that `finding` names is named by `same` too. A missing catalogue is one fault however many pages
/// it should list.
fn names_no_more(finding: &Finding, same: &Finding) -> bool {
    finding.rule.code == INDEX_MISSING.code
        || finding.data.iter().all(|(key, value)| {
            let there = same.data.get(key).and_then(Value::as_array);
            value
                .as_array()
                .is_none_or(|names| names.iter().all(|name| there.is_some_and(|t| t.contains(name))))
        })
}

#[cfg(test)]
mod tests;
