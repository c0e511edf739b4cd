//! Which rules count, and at what level: what `--select`, `--ignore` and the `[lint]` tables say of the rules. Knows
//! neither files nor flags.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};

use super::registry::ALL;
use super::{Finding, Level, Report, Rule};

/// Longest text, in characters, that is compared or repeated when it names no rule.
const MAX_SHOWN: usize = 40;

/// One rule (`L001`, `link-broken`), those whose codes begin alike (`L`, `L00`), or `ALL`; in any letter case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// How the codes begin.
    prefix: String,
}

/// A text that selects no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule is called `{text}`{}. `wikiwright lint --help` lists all", hint(*nearest))]
pub struct UnknownRule {
    text: String,
    nearest: Option<&'static Rule>,
}

fn hint(nearest: Option<&'static Rule>) -> String {
    nearest.map_or_else(String::new, |rule| format!("; the nearest is {} ({})", rule.code, rule.name))
}

impl FromStr for Selector {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        let text = text.trim();
        if let Some(rule) = Rule::find(text) {
            return Ok(Self { prefix: rule.code.to_owned() });
        }
        let prefix = text.to_ascii_uppercase();
        if prefix == "ALL" {
            return Ok(Self { prefix: String::new() });
        }
        if !prefix.is_empty() && ALL.iter().any(|rule| rule.code.starts_with(&prefix)) {
            return Ok(Self { prefix });
        }
        let text: String = text.chars().take(MAX_SHOWN).collect();
        Err(UnknownRule { nearest: nearest(&text), text })
    }
}

/// The rule that was meant by a slip; none when nothing is near.
fn nearest(text: &str) -> Option<&'static Rule> {
    /// Half of a code or name must be right.
    const NEAR: f64 = 0.5;
    let (code, name) = (text.to_ascii_uppercase(), text.to_ascii_lowercase());
    let likeness = |rule: &Rule| {
        strsim::normalized_damerau_levenshtein(&code, rule.code)
            .max(strsim::normalized_damerau_levenshtein(&name, rule.name))
    };
    // The first of several alike.
    let nearest = ALL.iter().copied().rev().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    nearest.filter(|rule| likeness(rule) >= NEAR)
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.prefix.is_empty() { "ALL" } else { &self.prefix })
    }
}

/// The error of a wrong one stands at its place in the file.
impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Selector {
    pub fn matches(&self, rule: &Rule) -> bool {
        rule.code.starts_with(&self.prefix)
    }

    /// The rules that are meant, in the registry's order.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        ALL.iter().copied().filter(|rule| self.matches(rule))
    }

    /// How narrow it is, when it means this rule.
    fn weight(&self, rule: &Rule) -> Option<usize> {
        self.matches(rule).then_some(self.prefix.len())
    }
}

/// What a rule is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    Off,
    Error,
    Warning,
    Hint,
}

impl Setting {
    fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::Error => Some(Level::Error),
            Self::Warning => Some(Level::Warning),
            Self::Hint => Some(Level::Hint),
        }
    }
}

/// What one place says: the command line, or a `[lint]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// These and no others; none: all that weaker places left on.
    pub select: Option<Vec<Selector>>,
    pub ignore: Vec<Selector>,
    pub levels: BTreeMap<Selector, Setting>,
}

/// What all places together say, rule by rule. Without a word every rule has its profile's level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Choice>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Choice {
    off: bool,
    level: Option<Level>,
}

impl Levels {
    pub const NONE: Self = Self(BTreeMap::new());

    /// Lays a stronger place over what was said so far. In one place the narrower word counts, and of two equally narrow
    /// the one that turns off.
    pub fn lay(&mut self, layer: &Layer) {
        for rule in ALL {
            let widest = |selectors: &[Selector]| selectors.iter().filter_map(|s| s.weight(rule)).max();
            let set = layer
                .levels
                .iter()
                .filter_map(|(selector, setting)| Some((selector.weight(rule)?, setting.level())))
                .max_by_key(|(weight, _)| *weight);
            let selected = layer.select.as_deref().map(widest);
            let on = selected.flatten().max(set.and_then(|(weight, level)| level.map(|_| weight)));
            let off = widest(&layer.ignore).max(set.and_then(|(weight, level)| match level {
                None => Some(weight),
                Some(_) => None,
            }));
            let mut choice = self.0.get(rule.code).copied().unwrap_or_default();
            match (on, off) {
                _ if selected == Some(None) => choice.off = true,
                (_, Some(off)) if on.is_none_or(|on| off >= on) => choice.off = true,
                (Some(_), _) => choice.off = false,
                (None, _) => {}
            }
            choice.level = set.and_then(|(_, level)| level).or(choice.level);
            if choice != Choice::default() {
                self.0.insert(rule.code, choice);
            } else {
                self.0.remove(rule.code);
            }
        }
    }

    /// The level that a finding of this rule has, whose profile says `level`; none when the rule is off.
    pub fn of(&self, rule: &Rule, level: Level) -> Option<Level> {
        match self.0.get(rule.code) {
            None => Some(level),
            Some(choice) if choice.off => None,
            Some(choice) => Some(choice.level.unwrap_or(level)),
        }
    }

    /// Takes out what is off and sets the levels of the rest.
    pub fn apply(&self, findings: &mut Vec<Finding>) {
        if self.0.is_empty() {
            return;
        }
        findings.retain_mut(|finding| match self.of(finding.rule, finding.level) {
            Some(level) => {
                finding.level = level;
                true
            }
            None => false,
        });
    }

    /// Codes of the rules that are off here and were not in `before`, and of those whose level is a lower one, in the
    /// profile of `report`.
    pub fn weaker_than(&self, before: &Self, report: &Report) -> (Vec<&'static str>, Vec<&'static str>) {
        let (mut off, mut lower) = (Vec::new(), Vec::new());
        for rule in ALL {
            let Some(level) = rule.level(report.profile) else { continue };
            match (before.of(rule, level), self.of(rule, level)) {
                (Some(_), None) => off.push(rule.code),
                // `Error` is the least of the levels.
                (Some(was), Some(is)) if is > was => lower.push(rule.code),
                _ => {}
            }
        }
        (off, lower)
    }
}

#[cfg(test)]
mod tests;
