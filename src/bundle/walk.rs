//! Visiting everything below a folder with bounds, over any backend.

use super::error::{Error, ErrorKind};
use super::storage::{Entry, EntryKind, MAX_DEPTH, MAX_ENTRIES, Read};
use crate::okf::BundlePath;

/// Names that only this program makes: files half written. Never listed, linted or watched.
pub const TEMPORARY: &str = ".wikiwright-";

/// Where a walk stops.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Folders below the start that are entered.
    pub depth: usize,
    pub entries: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: MAX_DEPTH, entries: MAX_ENTRIES }
    }
}

/// [`Read::walk`] for backends without a better way. Iterative: depth costs no stack.
pub fn walk<R: Read + ?Sized>(
    bundle: &R,
    folder: &BundlePath,
    bounds: Bounds,
) -> Result<(Vec<Entry>, Vec<Error>), Error> {
    let mut found = bundle.list(folder)?;
    let mut errors = Vec::new();
    let mut open: Vec<(BundlePath, usize)> =
        found.iter().filter(enters).map(|e| (e.path.clone(), 1)).collect();
    while let Some((folder, depth)) = open.pop() {
        if found.len() >= bounds.entries {
            errors.push(too_many(&folder, bounds.entries));
            break;
        }
        if depth > bounds.depth {
            errors.push(Error::new(
                ErrorKind::TooLarge,
                &folder,
                format!("more than {} folders deep; what lies below is left out", bounds.depth),
            ));
            continue;
        }
        match bundle.list(&folder) {
            Ok(entries) => {
                open.extend(entries.iter().filter(enters).map(|e| (e.path.clone(), depth + 1)));
                found.extend(entries);
            }
            // It went away since its parent was listed: as if it had never been there.
            Err(e) if e.kind == ErrorKind::NotFound => {}
            Err(e) => errors.push(e),
        }
    }
    if found.len() > bounds.entries {
        found.truncate(bounds.entries);
        if errors.last().is_none_or(|e| e.kind != ErrorKind::TooLarge) {
            errors.push(too_many(folder, bounds.entries));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    errors.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((found, errors))
}

/// Folders that a walk goes into. Dot-folders (`.git`, `.obsidian`) are nobody's pages and may be huge: listed, not
/// entered. A walk that starts in one does visit it.
fn enters(entry: &&Entry) -> bool {
    entry.kind == EntryKind::Directory && !entry.link && !entry.path.name().starts_with('.')
}

fn too_many(folder: &BundlePath, entries: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        folder,
        format!("the bundle holds more than {entries} files and folders; the rest is left out from here on"),
    )
}
