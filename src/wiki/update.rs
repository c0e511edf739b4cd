//! Bringing the model up to date with paths that may have changed, so that it equals a model built anew.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use super::scan::{Part, Scanner};
use super::scope::{IGNORE_FILE, is_opaque};
use super::{Wiki, is_absent};
use crate::bundle::{Entry, EntryKind, Read, Stat};
use crate::okf::BundlePath;

impl Wiki {
    /// Looks at these paths again: read, parse, replace or remove. A folder stands for everything below it, and the bundle
    /// or its `.okfignore` for the whole.
    ///
    /// Returns the paths that are not what they were, in path order: pages that changed, appeared or vanished, problems,
    /// and other files and folders that appeared or vanished. Unchanged content (by hash) is not among them. A bundle
    /// whose root cannot be listed any more leaves the model as it was.
    pub fn update(&mut self, bundle: &dyn Read, paths: &[BundlePath]) -> Vec<BundlePath> {
        if paths.iter().any(|path| path.is_root() || path.as_str() == IGNORE_FILE) {
            return self.reload(bundle);
        }
        let mut changed = BTreeSet::new();
        let mut looked = BTreeSet::new();
        // Links last, and all of them: what they lead to may be what changed.
        let mut waiting: Vec<BundlePath> = self.links.iter().chain(paths.iter().rev()).cloned().collect();
        while let Some(path) = waiting.pop() {
            let spot = self.spot(&path);
            // Many events below one folder that is not entered ask for the same look.
            if !looked.insert(spot.clone()) {
                continue;
            }
            let entry = match find(bundle, &spot) {
                Found::Entry(entry) => Some(entry),
                Found::Nothing => None,
                // Its folder is what has to be looked at.
                Found::Unknown => match spot.parent() {
                    Some(parent) if !parent.is_root() => {
                        waiting.push(parent);
                        continue;
                    }
                    _ => return self.reload(bundle),
                },
            };
            let gone = entry.is_none();
            self.look(bundle, &spot, entry, &mut changed);
            // The folder may have gone with its last file. Storage decides, not the model: a disk keeps empty folders.
            if gone && let Some(parent) = spot.parent().filter(|parent| self.folders.contains(parent)) {
                let stands = matches!(bundle.stat(&parent), Ok(Stat { kind: EntryKind::Directory, .. }));
                if !stands {
                    waiting.push(parent);
                }
            }
        }
        changed.into_iter().collect()
    }

    fn reload(&mut self, bundle: &dyn Read) -> Vec<BundlePath> {
        let Ok(new) = Self::load_knowing(bundle, &self.pages) else { return Vec::new() };
        let mut changed = BTreeSet::new();
        new.as_part().differences(&self.as_part(), &mut changed);
        *self = new;
        changed.into_iter().collect()
    }

    fn as_part(&self) -> Part {
        Part {
            pages: (*self.pages).clone(),
            problems: (*self.problems).clone(),
            files: (*self.files).clone(),
            folders: (*self.folders).clone(),
            opaque: (*self.opaque).clone(),
            links: (*self.links).clone(),
        }
    }

    /// What has to be looked at for `path`: itself, or the topmost folder above it that the model does not know as one
    /// it can look into.
    fn spot(&self, path: &BundlePath) -> BundlePath {
        let mut above: Vec<BundlePath> = std::iter::successors(path.parent(), BundlePath::parent).collect();
        above.reverse();
        let unknown = above.into_iter().filter(|folder| !folder.is_root()).find(|folder| {
            is_opaque(folder) || !self.folders.contains(folder) || self.problems.contains_key(folder)
        });
        unknown.unwrap_or_else(|| path.clone())
    }

    /// Replaces everything at and below `spot` by what stands there now.
    fn look(
        &mut self,
        bundle: &dyn Read,
        spot: &BundlePath,
        entry: Option<Entry>,
        changed: &mut BTreeSet<BundlePath>,
    ) {
        let old = self.part(spot);
        let scope = self.scope.clone();
        let scanner = Scanner { bundle, scope: &scope, known: &old.pages };
        let new = entry.map(|entry| scanner.entry(entry)).unwrap_or_default();
        if old == new {
            return;
        }
        new.differences(&old, changed);
        self.put(&old, new);
    }

    /// What the model holds at and below `spot`.
    fn part(&self, spot: &BundlePath) -> Part {
        let below = format!("{}/", spot.as_str());
        let range = (Bound::Included(below.as_str()), Bound::Unbounded);
        let within = |path: &BundlePath| path.as_str().starts_with(&below);
        let mut part = Part::default();
        let pages = self.pages.get_key_value(spot).into_iter();
        part.pages.extend(
            pages
                .chain(self.pages.range::<str, _>(range).take_while(|(path, _)| within(path)))
                .map(|(path, page)| (path.clone(), page.clone())),
        );
        let problems = self.problems.get_key_value(spot).into_iter();
        part.problems.extend(
            problems
                .chain(self.problems.range::<str, _>(range).take_while(|(path, _)| within(path)))
                .map(|(path, error)| (path.clone(), error.clone())),
        );
        for (all, some) in [
            (&self.files, &mut part.files),
            (&self.folders, &mut part.folders),
            (&self.opaque, &mut part.opaque),
            (&self.links, &mut part.links),
        ] {
            let own = all.get(spot).into_iter();
            some.extend(own.chain(all.range::<str, _>(range).take_while(|path| within(path))).cloned());
        }
        part
    }

    /// Takes `old` out and puts `new` in, touching only the maps that differ.
    fn put(&mut self, old: &Part, new: Part) {
        for (path, page) in &old.pages {
            self.graph.replace(Some(page), new.pages.get(path).map(|page| &**page));
        }
        for (path, page) in &new.pages {
            if !old.pages.contains_key(path) {
                self.graph.replace(None, Some(page));
            }
        }
        if old.pages != new.pages {
            let pages = Arc::make_mut(&mut self.pages);
            old.pages.keys().for_each(|path| {
                pages.remove(path);
            });
            pages.extend(new.pages);
        }
        if old.problems != new.problems {
            let problems = Arc::make_mut(&mut self.problems);
            old.problems.keys().for_each(|path| {
                problems.remove(path);
            });
            problems.extend(new.problems);
        }
        for (all, before, after) in [
            (&mut self.files, &old.files, new.files),
            (&mut self.folders, &old.folders, new.folders),
            (&mut self.opaque, &old.opaque, new.opaque),
            (&mut self.links, &old.links, new.links),
        ] {
            if *before != after {
                let all = Arc::make_mut(all);
                before.iter().for_each(|path| {
                    all.remove(path);
                });
                all.extend(after);
            }
        }
    }
}

impl Part {
    /// Adds every path that does not stand in both as the same thing.
    fn differences(&self, old: &Self, changed: &mut BTreeSet<BundlePath>) {
        let same_page = |path: &BundlePath| match (self.pages.get(path), old.pages.get(path)) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old) || new.hash == old.hash,
            (new, old) => new.is_none() && old.is_none(),
        };
        changed.extend(self.pages.keys().chain(old.pages.keys()).filter(|path| !same_page(path)).cloned());
        let same_problem = |path: &BundlePath| self.problems.get(path) == old.problems.get(path);
        changed.extend(
            self.problems.keys().chain(old.problems.keys()).filter(|path| !same_problem(path)).cloned(),
        );
        for (new, old) in
            [(&self.files, &old.files), (&self.folders, &old.folders), (&self.opaque, &old.opaque)]
        {
            changed.extend(new.symmetric_difference(old).cloned());
        }
    }
}

enum Found {
    Entry(Entry),
    Nothing,
    /// Only its folder can tell.
    Unknown,
}

/// What stands at `path`, as a listing of its folder would say.
fn find(bundle: &dyn Read, path: &BundlePath) -> Found {
    match bundle.stat(path) {
        Ok(Stat { kind: kind @ (EntryKind::File | EntryKind::Directory), len }) => {
            let link = bundle.resolve(path) != *path;
            return Found::Entry(Entry { path: path.clone(), kind, len, link });
        }
        Err(error) if is_absent(&error) => return Found::Nothing,
        // A special file, or one that cannot be asked about: the listing says what it is.
        _ => {}
    }
    let folder = path.parent().unwrap_or_else(BundlePath::root);
    match bundle.list(&folder) {
        Ok(entries) => {
            entries.into_iter().find(|entry| entry.path == *path).map_or(Found::Nothing, Found::Entry)
        }
        Err(_) => Found::Unknown,
    }
}
