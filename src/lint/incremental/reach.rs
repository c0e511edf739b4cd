//! Which pages a reader who starts at an index can come to, and the islands of those who cannot; kept up as links change.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Turn;
use super::shelves::{Part, Shelves};
use crate::lint::Profile;
use crate::lint::context::{Context, Findings, tree_order};
use crate::lint::names::Groups;
use crate::lint::rules::graph::{check_island, targets};
use crate::lint::rules::mention;
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Page};

/// A forest over the pages that can be reached, and the islands.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// By which page each page is reached; an index by itself.
    by: HashMap<BundlePath, BundlePath>,
    indexes: usize,
    /// Members of each island, in tree order, by the first.
    islands: HashMap<BundlePath, Vec<BundlePath>>,
    island_of: HashMap<BundlePath, BundlePath>,
}

impl Reach {
    /// Brings the forest and the findings about islands up to date. `folders` are the concept pages by folder.
    pub fn update(&mut self, context: &Context<'_>, turns: &[Turn], folders: &Groups, shelves: &mut Shelves) {
        let before = self.indexes;
        for turn in turns.iter().filter(|turn| is_index(&turn.path)) {
            let there = usize::from(turn.new.is_some());
            self.indexes = (self.indexes + there).saturating_sub(usize::from(turn.old.is_some()));
        }
        // Without an index there is no way in, and so no island.
        if self.indexes == 0 {
            self.islands.keys().for_each(|first| shelves.clear(Part::Island, first));
            *self = Self::default();
        } else if before == 0 {
            let turn = |page: &std::sync::Arc<Page>| Turn {
                path: page.path.clone(),
                old: None,
                new: Some(page.clone()),
            };
            let all: Vec<Turn> = context.wiki.pages().map(turn).collect();
            self.follow(context, &all, folders, shelves);
        } else {
            self.follow(context, turns, folders, shelves);
        }
    }

    fn follow(&mut self, context: &Context<'_>, turns: &[Turn], folders: &Groups, shelves: &mut Shelves) {
        let cut = self.cut(context, turns, folders);
        let mut touched = cut.clone();
        // Where the way begins, and pages whose links may lead further now.
        let mut waiting = Vec::new();
        for turn in turns.iter().filter(|turn| turn.new.is_some()) {
            if is_index(&turn.path) {
                self.by.insert(turn.path.clone(), turn.path.clone());
            }
            if self.by.contains_key(&turn.path) {
                waiting.push(turn.path.clone());
            }
        }
        self.spread(context, waiting, &mut touched);
        // Pages that may be reached another way.
        let open: Vec<&BundlePath> = cut
            .iter()
            .chain(turns.iter().map(|turn| &turn.path))
            .filter(|path| context.wiki.page(path).is_some())
            .collect();
        for path in &open {
            let source = || context.wiki.backlinks(path).find(|source| self.by.contains_key(*source));
            if !self.by.contains_key(*path)
                && let Some(source) = source()
            {
                self.by.insert((*path).clone(), source.clone());
                self.spread(context, vec![(*path).clone()], &mut touched);
            }
        }
        if context.profile == Profile::Wiki {
            let mentioned = self.mentioned(context, turns, &open, folders);
            touched.extend(mentioned.iter().cloned());
            self.spread(context, mentioned, &mut touched);
        }
        touched.extend(turns.iter().map(|turn| turn.path.clone()));
        self.part(context, touched, shelves);
    }

    /// Takes out every page that was reached over a link or page that is no more.
    fn cut(&mut self, context: &Context<'_>, turns: &[Turn], folders: &Groups) -> Vec<BundlePath> {
        let old: HashMap<&BundlePath, &Page> =
            turns.iter().filter_map(|turn| Some((&turn.path, &**turn.old.as_ref()?))).collect();
        let mut lost: Vec<BundlePath> = Vec::new();
        for turn in turns {
            let Some(old) = &turn.old else { continue };
            let Some(new) = &turn.new else {
                lost.push(turn.path.clone());
                continue;
            };
            let kept = targets(new);
            let gone = self.led_to(&turn.path, old, folders).filter(|target| !kept.contains(*target));
            lost.extend(gone.cloned().collect::<Vec<_>>());
        }
        let mut cut = Vec::new();
        while let Some(path) = lost.pop() {
            let page = old.get(&path).copied().or_else(|| context.wiki.page(&path).map(|page| &**page));
            if let Some(page) = page {
                lost.extend(self.led_to(&path, page, folders).cloned().collect::<Vec<_>>());
            }
            if self.by.remove(&path).is_some() {
                cut.push(path);
            }
        }
        cut
    }

    /// The pages that are reached by this one: linked, or mentioned in its folder.
    fn led_to<'a>(
        &'a self,
        path: &'a BundlePath,
        page: &'a Page,
        folders: &'a Groups,
    ) -> impl Iterator<Item = &'a BundlePath> {
        let folder = path.parent().filter(|_| is_index(path));
        let beside = folder.map(|folder| folders.get(folder.as_str())).unwrap_or_default();
        let own = move |target: &&BundlePath| *target != path && self.by.get(*target) == Some(path);
        targets(page).into_iter().chain(beside).filter(own)
    }

    /// Reaches everything that these pages, which are reached, lead to.
    fn spread(&mut self, context: &Context<'_>, from: Vec<BundlePath>, touched: &mut Vec<BundlePath>) {
        // Level by level, so that the ways stay short and little hangs on one link.
        let mut level = from;
        while !level.is_empty() {
            let mut next = Vec::new();
            for path in level {
                let Some(page) = context.wiki.page(&path) else { continue };
                for target in page.links.iter().filter_map(|link| link.target.path()) {
                    if !self.by.contains_key(target) && context.wiki.page(target).is_some() {
                        self.by.insert(target.clone(), path.clone());
                        next.push(target.clone());
                    }
                }
            }
            touched.extend(next.iter().cloned());
            level = next;
        }
    }

    /// Reaches pages whose bare file name stands in their folder's index.
    fn mentioned(
        &mut self,
        context: &Context<'_>,
        turns: &[Turn],
        open: &[&BundlePath],
        folders: &Groups,
    ) -> Vec<BundlePath> {
        let mut asked: BTreeMap<BundlePath, Vec<&BundlePath>> = BTreeMap::new();
        for path in open.iter().copied().filter(|path| path.reserved().is_none()) {
            if let Some(folder) = path.parent() {
                asked.entry(folder).or_default().push(path);
            }
        }
        for turn in turns.iter().filter(|turn| is_index(&turn.path) && turn.new.is_some()) {
            if let Some(folder) = turn.path.parent() {
                let pages = folders.get(folder.as_str()).iter().collect();
                asked.insert(folder, pages);
            }
        }
        let mut found = Vec::new();
        for (folder, mut pages) in asked {
            pages.retain(|path| !self.by.contains_key(*path));
            let index = folder.join("index.md").ok().and_then(|path| context.wiki.page(&path));
            let Some(index) = index.filter(|_| !pages.is_empty()) else { continue };
            let names: Vec<&str> = pages.iter().map(|path| path.name()).collect();
            let mentioned = mention::names_in(index, &names);
            for path in pages.into_iter().filter(|path| mentioned.contains(path.name())) {
                self.by.insert(path.clone(), index.path.clone());
                found.push(path.clone());
            }
        }
        found
    }

    /// Judges the islands anew that hold or held one of these pages.
    fn part(&mut self, context: &Context<'_>, mut touched: Vec<BundlePath>, shelves: &mut Shelves) {
        let mut seen: HashSet<BundlePath> = HashSet::new();
        while let Some(start) = touched.pop() {
            if seen.contains(&start) {
                continue;
            }
            self.dissolve(&start, &mut touched, shelves);
            if !self.is_cut_off(context, &start) {
                continue;
            }
            seen.insert(start.clone());
            let mut waiting = vec![start];
            let mut members = Vec::new();
            while let Some(path) = waiting.pop() {
                self.dissolve(&path, &mut touched, shelves);
                let page = context.wiki.page(&path);
                let around = page.map(|page| targets(page)).unwrap_or_default();
                for other in around.into_iter().chain(context.wiki.backlinks(&path)) {
                    if self.is_cut_off(context, other) && seen.insert(other.clone()) {
                        waiting.push(other.clone());
                    }
                }
                members.push(path);
            }
            members.sort_by(tree_order);
            if let [first, _, ..] = members.as_slice() {
                let first = first.clone();
                let mut findings = Findings::new(context.profile);
                check_island(&members, &mut findings);
                shelves.put(Part::Island, findings.list);
                self.island_of.extend(members.iter().map(|member| (member.clone(), first.clone())));
                self.islands.insert(first, members);
            }
        }
    }

    /// Forgets the island of a page; all its members have to be looked at.
    fn dissolve(&mut self, path: &BundlePath, touched: &mut Vec<BundlePath>, shelves: &mut Shelves) {
        let Some(first) = self.island_of.get(path).cloned() else { return };
        shelves.clear(Part::Island, &first);
        for member in self.islands.remove(&first).unwrap_or_default() {
            self.island_of.remove(&member);
            touched.push(member);
        }
    }

    fn is_cut_off(&self, context: &Context<'_>, path: &BundlePath) -> bool {
        path.reserved().is_none() && !self.by.contains_key(path) && context.wiki.page(path).is_some()
    }
}

fn is_index(path: &BundlePath) -> bool {
    path.reserved() == Some(Reserved::Index)
}
