//! The outcome of a run, counted and compared.

use std::collections::{BTreeMap, HashMap};

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
/// few lines further down is the same fault; of several alike, as many are new as there are more of them.
pub fn delta<'a>(before: &'a Report, after: &'a Report) -> (Vec<&'a Finding>, Vec<&'a Finding>) {
    (only_in(after, before), only_in(before, after))
}

fn only_in<'a>(this: &'a Report, other: &'a Report) -> Vec<&'a Finding> {
    let mut there: HashMap<_, usize> = HashMap::new();
    for finding in &other.findings {
        *there.entry(identity(finding)).or_default() += 1;
    }
    let mut only = Vec::new();
    for finding in &this.findings {
        match there.get_mut(&identity(finding)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => only.push(finding),
        }
    }
    only
}

fn identity(finding: &Finding) -> (&str, Level, &BundlePath, &str) {
    (finding.rule.code, finding.level, &finding.path, &finding.message)
}
