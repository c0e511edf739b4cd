//! Pages that derive from themselves, kept up as their sources change.

use std::collections::{HashMap, HashSet};

use super::Turn;
use super::shelves::{Part, Shelves};
use crate::lint::context::{Context, Findings};
use crate::lint::rules::provenance::{check_circle, circles, sources};
use crate::okf::{BundlePath, Page};

/// The known circles of `sources`.
#[derive(Debug, Clone, Default)]
pub struct Circles {
    /// Members of each, by the first in tree order.
    members: HashMap<BundlePath, Vec<BundlePath>>,
    circle_of: HashMap<BundlePath, BundlePath>,
}

impl Circles {
    /// A circle that a change opens or closes runs through a page that changed; all others stay.
    pub fn update(&mut self, context: &Context<'_>, turns: &[Turn], shelves: &mut Shelves) {
        if !context.has_provenance() {
            return;
        }
        let mut seeds: Vec<BundlePath> = Vec::new();
        for turn in turns {
            seeds.push(turn.path.clone());
            if let Some(first) = self.circle_of.get(&turn.path).cloned() {
                shelves.clear(Part::Circle, &first);
                for member in self.members.remove(&first).unwrap_or_default() {
                    self.circle_of.remove(&member);
                    seeds.push(member);
                }
            }
        }
        let judged: HashSet<&BundlePath> = seeds.iter().collect();
        let mut seen: HashSet<&BundlePath> = HashSet::new();
        let mut pages: Vec<&Page> = Vec::new();
        let mut waiting: Vec<&BundlePath> = judged.iter().copied().collect();
        while let Some(path) = waiting.pop() {
            if let Some(page) = context.wiki.page(path).filter(|page| seen.insert(&page.path)) {
                pages.push(page);
                waiting.extend(sources(page).map(|(path, _)| path));
            }
        }
        for circle in circles(&pages) {
            if !circle.iter().any(|path| judged.contains(path)) {
                continue;
            }
            let Some(first) = circle.first().cloned() else { continue };
            // Circles of pages that did not change may have become part of this one.
            for path in &circle {
                if let Some(old) = self.circle_of.get(path).cloned() {
                    shelves.clear(Part::Circle, &old);
                    for member in self.members.remove(&old).unwrap_or_default() {
                        self.circle_of.remove(&member);
                    }
                }
            }
            let mut findings = Findings::new(context.profile);
            check_circle(context, &circle, &mut findings);
            shelves.put(Part::Circle, findings.list);
            self.circle_of.extend(circle.iter().map(|path| (path.clone(), first.clone())));
            self.members.insert(first, circle);
        }
    }
}
