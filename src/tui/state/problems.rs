//! The list of findings: errors first, then by path and place; many findings of one rule about one thing stand as one
//! row until it is opened.

use std::collections::{HashMap, HashSet};

use crate::lint::{Finding, Report};

/// So many findings of one rule about one thing are one row.
const MANY: usize = 4;

/// One row of the list; numbers are places in [`Report::findings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    One(usize),
    Group {
        first: usize,
        count: usize,
        open: bool,
    },
    /// Of the open group above it.
    Member(usize),
}

impl Row {
    /// The finding of this row; of a group, its first.
    pub fn finding(self) -> usize {
        match self {
            Self::One(at) | Self::Member(at) | Self::Group { first: at, .. } => at,
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Problems {
    pub selected: usize,
    pub rows: Vec<Row>,
    /// Groups that are open.
    open: HashSet<(&'static str, Vec<String>)>,
}

impl Problems {
    pub fn new(report: Option<&Report>) -> Self {
        let mut problems = Self::default();
        problems.renew(report);
        problems
    }

    /// Makes the rows from `report`; open groups stay open, and the choice stays within the list.
    pub fn renew(&mut self, report: Option<&Report>) {
        let findings = report.map_or(&[][..], |r| &r.findings);
        let mut order: Vec<usize> = (0..findings.len()).collect();
        order.sort_by_key(|at| findings.get(*at).map(|f| f.level));
        let mut groups: HashMap<_, Vec<usize>> = HashMap::new();
        for at in &order {
            if let Some(about) = findings.get(*at).and_then(Finding::about) {
                groups.entry(about).or_default().push(*at);
            }
        }
        self.rows.clear();
        for at in order {
            let about = findings.get(at).and_then(Finding::about);
            let group = about.as_ref().and_then(|about| groups.get(about)).filter(|g| g.len() >= MANY);
            let Some((group, (code, data))) = group.zip(about) else {
                self.rows.push(Row::One(at));
                continue;
            };
            if group.first() != Some(&at) {
                continue;
            }
            let open = self.open.contains(&(code, data.into_iter().map(str::to_owned).collect()));
            self.rows.push(Row::Group { first: at, count: group.len(), open });
            if open {
                self.rows.extend(group.iter().map(|at| Row::Member(*at)));
            }
        }
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
    }

    /// Opens or closes the chosen group; false when no group is chosen.
    pub fn toggle(&mut self, report: Option<&Report>) -> bool {
        let Some(Row::Group { first, .. }) = self.rows.get(self.selected) else { return false };
        if let Some((code, data)) = report.and_then(|r| r.findings.get(*first)).and_then(Finding::about) {
            let group = (code, data.into_iter().map(str::to_owned).collect());
            if !self.open.remove(&group) {
                self.open.insert(group);
            }
        }
        self.renew(report);
        true
    }
}
