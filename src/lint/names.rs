//! What stands in a bundle, found under other spellings too; kept up path by path.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::context::{fold, tree_order};
use crate::okf::BundlePath;
use crate::wiki::Wiki;

/// Lists of paths by a key, each list in tree order and without doubles.
#[derive(Debug, Clone, Default)]
pub struct Groups(HashMap<String, Vec<BundlePath>>);

impl Groups {
    pub fn get(&self, key: &str) -> &[BundlePath] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    pub fn insert(&mut self, key: String, path: &BundlePath) {
        let list = self.0.entry(key).or_default();
        // Paths mostly come in order.
        if list.last().is_none_or(|last| tree_order(last, path).is_lt()) {
            list.push(path.clone());
        } else if let Err(at) = list.binary_search_by(|known| tree_order(known, path)) {
            list.insert(at, path.clone());
        }
    }

    pub fn remove(&mut self, key: &str, path: &BundlePath) {
        let Some(list) = self.0.get_mut(key) else { return };
        if let Ok(at) = list.binary_search_by(|known| tree_order(known, path)) {
            list.remove(at);
        }
        if list.is_empty() {
            self.0.remove(key);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[BundlePath])> {
        self.0.iter().map(|(key, list)| (key.as_str(), list.as_slice()))
    }
}

/// The names of a bundle.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Pages, problems, other files and folders, by folded path.
    paths: Groups,
    /// Pages that are no structure in any profile, by file name.
    slugs: Groups,
    /// All pages by folded stem; made when first asked for, for only wikilinks ask.
    stems: OnceLock<Groups>,
}

impl Names {
    /// All names at once.
    pub fn of(wiki: &Wiki) -> Self {
        let mut names = Self::default();
        for page in wiki.pages() {
            names.set_path(fold(page.path.as_str()), &page.path, true);
            names.set_page(&page.path, true);
        }
        let problems = wiki.problems().map(|(path, _)| path);
        let others = problems.chain(wiki.files()).chain(wiki.folders());
        others.for_each(|path| names.set_path(fold(path.as_str()), path, true));
        names
    }

    /// What stands under any letter case or Unicode form of a path.
    pub fn alike(&self, path: &BundlePath) -> &[BundlePath] {
        self.paths.get(&fold(path.as_str()))
    }

    /// The same by what [`fold`] makes of the path.
    pub fn of_folded(&self, folded: &str) -> &[BundlePath] {
        self.paths.get(folded)
    }

    /// The concept pages of this file name.
    pub fn of_name(&self, name: &str) -> &[BundlePath] {
        self.slugs.get(name)
    }

    pub fn of_slug(&self, slug: &str) -> &[BundlePath] {
        self.of_name(&format!("{slug}.md"))
    }

    /// The pages of this stem in any letter case or Unicode form.
    pub fn of_stem(&self, stem: &str, wiki: &Wiki) -> &[BundlePath] {
        let all = || {
            let mut groups = Groups::default();
            wiki.pages().for_each(|page| groups.insert(fold(page.path.stem()), &page.path));
            groups
        };
        self.stems.get_or_init(all).get(&fold(stem))
    }

    /// `folded` is what [`fold`] makes of the path.
    pub fn set_path(&mut self, folded: String, path: &BundlePath, stands: bool) {
        if stands {
            self.paths.insert(folded, path);
        } else {
            self.paths.remove(&folded, path);
        }
    }

    pub fn set_page(&mut self, path: &BundlePath, stands: bool) {
        if path.reserved().is_none() {
            if stands {
                self.slugs.insert(path.name().to_owned(), path);
            } else {
                self.slugs.remove(path.name(), path);
            }
        }
        if let Some(stems) = self.stems.get_mut() {
            let stem = fold(path.stem());
            if stands {
                stems.insert(stem, path);
            } else {
                stems.remove(&stem, path);
            }
        }
    }
}
