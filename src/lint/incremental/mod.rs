//! Judging again only what a change can affect: the pages that changed, those that looked at them or at a name that came or
//! went, and the groups they belong to. A full run is the same with everything as the change.

mod circles;
mod reach;
mod shelves;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use rayon::prelude::*;

use super::context::{Context, Findings, fold};
use super::names::{Groups, Names};
use super::rules::types::Vocabulary;
use super::rules::{self, bundle, graph, links, names, provenance, structure, types};
use super::{Finding, OkfVersion, Options, Profile, Report, now, okf_version};
use crate::okf::{BundlePath, LinkKind, Page};
use crate::wiki::{Outlook, Wiki};
use circles::Circles;
use reach::Reach;
use shelves::{Part, Shelves};

/// What became of one page.
struct Turn {
    path: BundlePath,
    old: Option<Arc<Page>>,
    new: Option<Arc<Page>>,
}

/// The findings of a bundle, and what is needed to keep them up.
#[derive(Debug, Clone)]
pub struct Incremental {
    options: Options,
    profile: Profile,
    version: OkfVersion,
    outlook: Outlook,
    /// Of the last run, in seconds since 1970.
    now: i64,
    /// As they were judged.
    pages: HashMap<BundlePath, Arc<Page>>,
    /// Pages by what [`links::asked`] says that their judgement looked up, and the other way round.
    asking: HashMap<String, BTreeSet<BundlePath>>,
    asked: HashMap<BundlePath, BTreeSet<String>>,
    /// When pages become stale.
    expiries: BTreeSet<(i64, BundlePath)>,
    problems: Vec<BundlePath>,
    /// How many pages are deprecated.
    deprecated: usize,
    names: Names,
    /// Concept pages by folder, by folded title, by type.
    folders: Groups,
    titles: Groups,
    types: Groups,
    vocabulary: Option<Vocabulary>,
    reach: Reach,
    circles: Circles,
    shelves: Shelves,
}

impl Incremental {
    /// Judges a whole bundle. Takes time linear in its pages and links.
    pub fn new(wiki: &Wiki, options: &Options) -> Self {
        let profile = options.profile.unwrap_or_else(|| Profile::detect(wiki));
        let mut this = Self {
            options: options.clone(),
            profile,
            version: okf_version(wiki, profile, options),
            outlook: wiki.outlook(),
            now: now(options),
            pages: HashMap::with_capacity(wiki.page_count()),
            asking: HashMap::new(),
            asked: HashMap::new(),
            expiries: BTreeSet::new(),
            problems: Vec::new(),
            deprecated: 0,
            names: Names::default(),
            folders: Groups::default(),
            titles: Groups::default(),
            types: Groups::default(),
            vocabulary: None,
            reach: Reach::default(),
            circles: Circles::default(),
            shelves: Shelves::default(),
        };
        let pages = wiki.pages().map(|page| &page.path);
        let problems = wiki.problems().map(|(path, _)| path);
        this.apply(wiki, pages.chain(problems).chain(wiki.files()).chain(wiki.folders()));
        this
    }

    /// Takes over a new state of the bundle. `changed` are the paths that are not what they were, as
    /// [`Wiki::update`] returns them; more do no harm.
    pub fn update(&mut self, wiki: &Wiki, changed: &[BundlePath]) {
        let profile = self.options.profile.unwrap_or_else(|| Profile::detect(wiki));
        let version = okf_version(wiki, profile, &self.options);
        if (profile, version) != (self.profile, self.version) || wiki.outlook() != self.outlook {
            *self = Self::new(wiki, &self.options);
        } else {
            self.apply(wiki, changed.iter());
        }
    }

    pub fn report(&self) -> Report {
        self.with(self.shelves.all())
    }

    pub fn into_report(mut self) -> Report {
        let findings = std::mem::take(&mut self.shelves).into_all();
        self.with(findings)
    }

    fn with(&self, mut findings: Vec<Finding>) -> Report {
        self.options.levels.apply(&mut findings);
        let okf_version = self.version.as_str();
        Report { profile: self.profile, okf_version, pages: self.pages.len(), findings, fixed: Vec::new() }
    }

    fn apply<'a>(&mut self, wiki: &Wiki, changed: impl Iterator<Item = &'a BundlePath>) {
        let fresh = self.pages.is_empty();
        let mut turns = Vec::new();
        let mut judge: HashSet<BundlePath> = HashSet::new();
        let mut dirty = Dirty::default();
        for path in changed {
            let old = self.pages.get(path).cloned();
            let new = wiki.page(path).cloned();
            let stands = new.is_some() || wiki.holds(path);
            let mut moved = old.is_some() != new.is_some();
            let folded = fold(path.as_str());
            if stands != self.names.of_folded(&folded).contains(path) {
                moved = true;
                self.touch_names(&folded, &mut dirty);
                self.names.set_path(folded, path, stands);
            }
            // Whatever it is, it is there: its folder does not lack it.
            if moved
                && path.name() == "index.md"
                && let Some(folder) = path.parent()
            {
                self.touch(Part::Folder, folder.as_str(), &mut dirty);
            }
            let same = match (&old, &new) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (None, None) => true,
                _ => false,
            };
            if !fresh {
                if moved {
                    judge.extend(self.asking.get(&fold(path.stem())).into_iter().flatten().cloned());
                }
                if moved || !looks_alike(old.as_deref(), new.as_deref()) {
                    judge.extend(wiki.backlinks(path).cloned());
                    // A link to a folder opens its index.
                    let folder = path.parent().filter(|_| path.name() == "index.md");
                    judge.extend(folder.iter().flat_map(|folder| wiki.backlinks(folder)).cloned());
                }
            }
            if !same {
                judge.insert(path.clone());
                let turn = Turn { path: path.clone(), old, new };
                self.regroup(&turn, fresh, &mut dirty);
                turns.push(turn);
            }
        }
        self.judge_problems(wiki);
        let now = now(&self.options);
        let (from, to) = (now.min(self.now), now.max(self.now));
        judge.extend(
            self.expiries
                .range((from, BundlePath::root())..)
                .take_while(|(at, _)| *at <= to)
                .map(|(_, path)| path.clone()),
        );
        self.now = now;
        let vocabulary = Vocabulary::of(wiki);
        if vocabulary != self.vocabulary {
            let kinds: Vec<String> = self.types.iter().map(|(kind, _)| kind.to_owned()).collect();
            kinds.iter().for_each(|kind| self.touch(Part::Type, kind, &mut dirty));
            self.vocabulary = vocabulary;
        }
        let names = std::mem::take(&mut self.names);
        let context = Context {
            wiki,
            names: &names,
            profile: self.profile,
            version: self.version,
            now,
            any_deprecated: self.deprecated > 0,
        };
        self.judge_pages(&context, &judge);
        self.judge_groups(&context, dirty);
        self.reach.update(&context, &turns, &self.folders, &mut self.shelves);
        self.circles.update(&context, &turns, &mut self.shelves);
        self.names = names;
    }

    /// Takes a page out of the groups it was in and puts it where it belongs now.
    fn regroup(&mut self, turn: &Turn, fresh: bool, dirty: &mut Dirty) {
        let path = &turn.path;
        for page in [turn.old.as_deref(), turn.new.as_deref()].into_iter().flatten() {
            if path.reserved().is_none() {
                if let Some(title) = graph::title(page) {
                    self.touch(Part::Title, &fold(title), dirty);
                }
                if let Some(kind) = page.kind() {
                    self.touch(Part::Type, kind, dirty);
                }
            }
            // In a first run every page is looked at itself.
            if !fresh {
                dirty.orphans.extend(graph::targets(page).into_iter().cloned());
            }
        }
        if let Some(folder) = path.parent()
            && (path.name() == "index.md" || turn.old.is_some() != turn.new.is_some())
        {
            self.touch(Part::Folder, folder.as_str(), dirty);
        }
        if turn.old.is_some() != turn.new.is_some() {
            dirty.orphans.insert(path.clone());
            if path.reserved().is_none() {
                self.touch(Part::Slug, path.name(), dirty);
                if let Some(folder) = path.parent() {
                    if turn.new.is_some() {
                        self.folders.insert(folder.as_str().to_owned(), path);
                    } else {
                        self.folders.remove(folder.as_str(), path);
                    }
                }
            }
            self.names.set_page(path, turn.new.is_some());
        }
        if path.reserved().is_none() {
            for (page, stands) in [(&turn.old, false), (&turn.new, true)] {
                let Some(page) = page else { continue };
                let title = graph::title(page).map(|title| (&mut self.titles, fold(title)));
                let kind = page.kind().map(|kind| (&mut self.types, kind.to_owned()));
                for (groups, key) in title.into_iter().chain(kind) {
                    if stands {
                        groups.insert(key, path);
                    } else {
                        groups.remove(&key, path);
                    }
                }
            }
        }
        let deprecated = |page: &Option<Arc<Page>>| page.as_deref().is_some_and(provenance::is_deprecated);
        self.deprecated = (self.deprecated + usize::from(deprecated(&turn.new)))
            .saturating_sub(usize::from(deprecated(&turn.old)));
        let expiry = |page: &Option<Arc<Page>>| page.as_deref().and_then(provenance::expiry);
        if let Some(at) = expiry(&turn.old) {
            self.expiries.remove(&(at, path.clone()));
        }
        if let Some(at) = expiry(&turn.new) {
            self.expiries.insert((at, path.clone()));
        }
        match &turn.new {
            Some(page) => self.pages.insert(path.clone(), page.clone()),
            None => self.pages.remove(path),
        };
    }

    /// Marks a group to be judged again, before its members change: its finding is at the first of them.
    fn touch(&mut self, part: Part, key: &str, dirty: &mut Dirty) {
        let (set, members) = match part {
            Part::Slug => (&mut dirty.slugs, self.names.of_name(key)),
            Part::Title => (&mut dirty.titles, self.titles.get(key)),
            Part::Type => (&mut dirty.types, self.types.get(key)),
            _ => (&mut dirty.folders, &[] as &[BundlePath]),
        };
        if !set.contains(key) {
            set.insert(key.to_owned());
            if let Some(first) = members.first() {
                self.shelves.clear(part, first);
            }
        }
    }

    /// The same for names, which have a finding at each path.
    fn touch_names(&mut self, folded: &str, dirty: &mut Dirty) {
        if !dirty.names.contains(folded) {
            self.names.of_folded(folded).iter().for_each(|path| self.shelves.clear(Part::Name, path));
            dirty.names.insert(folded.to_owned());
        }
    }

    /// Judges anew what cannot be read at all.
    fn judge_problems(&mut self, wiki: &Wiki) {
        let problems: Vec<BundlePath> = wiki.problems().map(|(path, _)| path.clone()).collect();
        let root = BundlePath::root();
        self.problems.iter().chain([&root]).for_each(|path| self.shelves.clear(Part::Problem, path));
        let mut findings = Findings::new(self.profile);
        bundle::check(wiki, &mut findings);
        self.shelves.put(Part::Problem, findings.list);
        self.problems = problems;
    }

    fn judge_pages(&mut self, context: &Context<'_>, judge: &HashSet<BundlePath>) {
        let mut paths: Vec<&BundlePath> = judge.iter().collect();
        paths.sort_unstable();
        for path in &paths {
            self.shelves.clear(Part::Page, path);
            for stem in self.asked.remove(*path).unwrap_or_default() {
                if let Some(pages) = self.asking.get_mut(&stem) {
                    pages.remove(*path);
                    if pages.is_empty() {
                        self.asking.remove(&stem);
                    }
                }
            }
        }
        let judged: Vec<(&BundlePath, Vec<Finding>, BTreeSet<String>)> = paths
            .into_par_iter()
            .filter_map(|path| {
                let page = context.wiki.page(path)?;
                let mut findings = Findings::new(context.profile);
                rules::check_page(context, page, &mut findings);
                // A link that leads nowhere is a finding, whatever the profile.
                let clean =
                    findings.list.is_empty() && page.links.iter().all(|link| link.kind != LinkKind::Wikilink);
                let asked = if clean { BTreeSet::new() } else { links::asked(context, page) };
                Some((path, findings.list, asked))
            })
            .filter(|(_, findings, asked)| !findings.is_empty() || !asked.is_empty())
            .collect();
        for (path, findings, asked) in judged {
            self.shelves.put(Part::Page, findings);
            for stem in &asked {
                self.asking.entry(stem.clone()).or_default().insert(path.clone());
            }
            if !asked.is_empty() {
                self.asked.insert(path.clone(), asked);
            }
        }
    }

    fn judge_groups(&mut self, context: &Context<'_>, dirty: Dirty) {
        let mut findings = Findings::new(self.profile);
        let named = each(&dirty.names, self.profile, |folded, findings| {
            names::check(context, context.names.of_folded(folded), findings);
        });
        self.shelves.put(Part::Name, named);
        for folder in &dirty.folders {
            let Ok(folder) = BundlePath::parse(folder) else { continue };
            if let Ok(index) = folder.join("index.md") {
                self.shelves.clear(Part::Folder, &index);
            }
            structure::check_folder(context, &folder, self.folders.get(folder.as_str()), &mut findings);
        }
        self.shelves.put(Part::Folder, std::mem::take(&mut findings.list));
        dirty.orphans.iter().for_each(|path| self.shelves.clear(Part::Orphan, path));
        let orphans = each(&dirty.orphans, self.profile, |path, findings| {
            if path.reserved().is_none() && context.wiki.page(path).is_some() {
                graph::check_orphan(context, path, findings);
            }
        });
        self.shelves.put(Part::Orphan, orphans);
        let slugs = each(&dirty.slugs, self.profile, |name, findings| {
            graph::check_slug(context.names.of_name(name), findings);
        });
        self.shelves.put(Part::Slug, slugs);
        let titles = each(&dirty.titles, self.profile, |title, findings| {
            graph::check_title(context, self.titles.get(title), findings);
        });
        self.shelves.put(Part::Title, titles);
        self.shelves.clear(Part::Sprawl, &BundlePath::root());
        if let Some(vocabulary) = &self.vocabulary {
            for kind in &dirty.types {
                types::check_type(context, vocabulary, kind, self.types.get(kind), &mut findings);
            }
            self.shelves.put(Part::Type, findings.list);
        } else {
            types::check_sprawl(self.types.iter().map(|(_, pages)| pages.len()), &mut findings);
            self.shelves.put(Part::Sprawl, findings.list);
        }
    }
}

/// What `check` finds of each key, in no order.
fn each<K: Hash + Eq + Sync>(
    keys: &HashSet<K>,
    profile: Profile,
    check: impl Fn(&K, &mut Findings) + Sync,
) -> Vec<Finding> {
    let judged = keys.par_iter().fold(
        || Findings::new(profile),
        |mut findings, key| {
            check(key, &mut findings);
            findings
        },
    );
    judged.flat_map_iter(|findings| findings.list).collect()
}

/// What has to be judged again, by the key of each group.
#[derive(Default)]
struct Dirty {
    names: HashSet<String>,
    folders: HashSet<String>,
    slugs: HashSet<String>,
    titles: HashSet<String>,
    types: HashSet<String>,
    orphans: HashSet<BundlePath>,
}

/// Whether a page that links to one and the other says the same of both.
fn looks_alike(old: Option<&Page>, new: Option<&Page>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return old.is_none() && new.is_none() };
    old.anchors().eq(new.anchors()) && provenance::is_deprecated(old) == provenance::is_deprecated(new)
}
