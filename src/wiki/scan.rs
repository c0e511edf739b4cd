//! Reading a bundle, or a part of it, into the pieces of the model: listed folder by folder and read in parallel. Every
//! bad entry becomes a problem and the rest goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::scope::{Scope, is_opaque};
use crate::bundle::storage::{MAX_DEPTH, MAX_ENTRIES};
use crate::bundle::{Entry, EntryKind, Error, ErrorKind, Read};
use crate::okf::{BundlePath, ContentHash, Page};

/// Pages read at once.
const PORTION: usize = 1024;

/// Pages by path.
pub type Pages = BTreeMap<BundlePath, Arc<Page>>;

/// What lies in a bundle, or below one path of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    pub pages: Pages,
    pub problems: BTreeMap<BundlePath, Error>,
    /// Files that are no pages.
    pub files: BTreeSet<BundlePath>,
    pub folders: BTreeSet<BundlePath>,
    /// Folders that are not entered.
    pub opaque: BTreeSet<BundlePath>,
    /// Those of all these that are symbolic links: they change when something else does.
    pub links: BTreeSet<BundlePath>,
}

/// Reads entries of `bundle`. A page whose content is that of the same path in `known` is taken from there.
pub struct Scanner<'a> {
    pub bundle: &'a dyn Read,
    pub scope: &'a Scope,
    pub known: &'a Pages,
}

impl Scanner<'_> {
    /// Everything in the bundle. Fails only when its root cannot be listed.
    pub fn whole(&self) -> Result<Part, Error> {
        let root = BundlePath::root();
        let entries = self.bundle.list(&root)?;
        Ok(self.below(entries))
    }

    /// One entry and, when it is a folder, everything below.
    pub fn entry(&self, entry: Entry) -> Part {
        self.below(vec![entry])
    }

    fn below(&self, entries: Vec<Entry>) -> Part {
        let mut part = Part::default();
        let mut unread = Vec::new();
        let mut level = self.sort(entries, &mut part, &mut unread);
        let mut seen = level.len() + part.files.len() + unread.len();
        while !level.is_empty() {
            let lists: Vec<_> = level.par_iter().map(|folder| (folder, self.bundle.list(folder))).collect();
            let mut next = Vec::new();
            for (folder, list) in lists {
                match list {
                    Ok(entries) if seen + entries.len() <= MAX_ENTRIES => {
                        seen += entries.len();
                        next.extend(self.sort(entries, &mut part, &mut unread));
                    }
                    Ok(_) => {
                        let text =
                            format!("not looked into: the bundle holds more than {MAX_ENTRIES} entries");
                        part.problems.insert(folder.clone(), Error::new(ErrorKind::TooLarge, folder, text));
                    }
                    Err(error) => {
                        part.problems.insert(folder.clone(), error);
                    }
                }
            }
            level = next;
        }
        self.read(unread, &mut part);
        part
    }

    /// Puts entries where they belong: pages yet to be read into `unread`; returns the folders to list next.
    fn sort(&self, entries: Vec<Entry>, part: &mut Part, unread: &mut Vec<BundlePath>) -> Vec<BundlePath> {
        let mut folders = Vec::new();
        for Entry { path, kind, link, .. } in entries {
            if link {
                part.links.insert(path.clone());
            }
            match kind {
                // A linked folder's pages stand where they really are; read here too, each would be two pages.
                EntryKind::Directory if link || is_opaque(&path) => {
                    part.opaque.insert(path);
                }
                EntryKind::Directory => {
                    part.folders.insert(path.clone());
                    if path.components().count() > MAX_DEPTH {
                        let text = format!("not looked into: more than {MAX_DEPTH} folders deep");
                        part.problems.insert(path.clone(), Error::new(ErrorKind::TooLarge, &path, text));
                    } else {
                        folders.push(path);
                    }
                }
                EntryKind::File if self.scope.is_page(&path) => unread.push(path),
                EntryKind::File => {
                    part.files.insert(path);
                }
                EntryKind::Special(what) if self.scope.is_page(&path) => {
                    let error =
                        Error::new(ErrorKind::NotRegular, &path, format!("not a regular file: {what}"));
                    part.problems.insert(path, error);
                }
                EntryKind::Special("dangling symlink" | "symlink loop") => {}
                // It may be a folder outside: nothing is known about what lies below.
                EntryKind::Special(_) => {
                    part.opaque.insert(path);
                }
            }
        }
        folders
    }

    fn read(&self, unread: Vec<BundlePath>, part: &mut Part) {
        // In portions, so that not the text of the whole bundle is held twice.
        for paths in unread.chunks(PORTION) {
            let read: Vec<_> = self
                .bundle
                .read_all(paths)
                .into_par_iter()
                .zip(paths)
                .map(|(bytes, path)| (path, bytes.and_then(|bytes| self.parse(path, bytes))))
                .collect();
            for (path, page) in read {
                match page {
                    Ok(page) => {
                        part.pages.insert(path.clone(), page);
                    }
                    Err(error) => {
                        part.problems.insert(path.clone(), error);
                    }
                }
            }
        }
    }

    fn parse(&self, path: &BundlePath, bytes: Vec<u8>) -> Result<Arc<Page>, Error> {
        let hash = ContentHash::of(&bytes);
        if let Some(known) = self.known.get(path).filter(|page| page.hash == hash) {
            return Ok(known.clone());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let text = format!("not UTF-8 text (first bad byte at offset {offset})");
            Error::new(ErrorKind::NotText { offset }, path, text)
        })?;
        Ok(Arc::new(Page::of_known_hash(path.clone(), Arc::from(text), hash)))
    }
}
