//! A bundle over a backend of the caller's own, here a map in memory: `cargo run --example in_memory`.
//!
//! A backend is what implements `Read` and `Write`; four methods of the one and three of the other have no default. What
//! the example prints: the findings before, the proposed change, and the findings after it was approved and applied.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use wikiwright::bundle::{
    Bundle, Decision, Decisions, Entry, EntryKind, Error, Read, Rules, Staged, Stat, Write, apply,
};
use wikiwright::lint::{self, Options};
use wikiwright::okf::BundlePath;
use wikiwright::wiki::Wiki;

/// Files by path. A folder is there as long as a file lies in it.
#[derive(Default)]
struct Shelf(RwLock<BTreeMap<BundlePath, Vec<u8>>>);

impl Shelf {
    fn files(&self) -> BTreeMap<BundlePath, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Read for Shelf {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        match self.stat(folder)?.kind {
            EntryKind::Directory => {}
            _ => return Err(Error::not_a_directory(folder)),
        }
        let depth = folder.components().count();
        let mut entries = BTreeMap::new();
        for (path, bytes) in self.files() {
            let Some(name) = path.components().nth(depth).filter(|_| path.is_within(folder)) else {
                continue;
            };
            let child = folder.join(name).map_err(|e| Error::path(name, &e))?;
            let (kind, len) =
                if child == path { (EntryKind::File, bytes.len() as u64) } else { (EntryKind::Directory, 0) };
            entries.insert(child.clone(), Entry { path: child, kind, len, link: false });
        }
        Ok(entries.into_values().collect())
    }

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let files = self.files();
        if let Some(bytes) = files.get(path) {
            return Ok(Stat { kind: EntryKind::File, len: bytes.len() as u64 });
        }
        if path.is_root() || files.keys().any(|file| file.is_within(path)) {
            return Ok(Stat { kind: EntryKind::Directory, len: 0 });
        }
        Err(Error::not_found(path))
    }

    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        match self.stat(path)?.kind {
            EntryKind::File => self.files().remove(path).ok_or_else(|| Error::not_found(path)),
            _ => Err(Error::is_directory(path)),
        }
    }
}

impl Write for Shelf {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        self.writable(path)?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), bytes.to_vec());
        Ok(())
    }

    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        self.writable(path)?;
        let gone = self.0.write().unwrap_or_else(PoisonError::into_inner).remove(path);
        gone.map(|_| ()).ok_or_else(|| Error::not_found(path))
    }

    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        if self.exists(to)? {
            return Err(Error::exists(to));
        }
        self.write(to, &self.read_bytes(from)?)?;
        self.delete(from)
    }
}

const PAGES: [(&str, &str); 4] = [
    ("/AGENTS.md", "# Schema\n\n## Types\n\n- `concept`\n"),
    ("/wiki/index.md", "# Wiki\n\n* [Sail](sail.md) - what catches wind\n"),
    ("/wiki/log.md", "# Log\n\n## [2026-11-02] ingest | Sails\n\nThe first page.\n"),
    (
        "/wiki/sail.md",
        "---\ntype: concept\ntitle: Sail\ndescription: What catches wind.\ntimestamp: 2026-11-02T10:00:00Z\n---\n\n# Sail\n\nA sail drives the [hull](hull.md).\n",
    ),
];

const HULL: &str = "---\ntype: concept\ntitle: Hull\ndescription: What floats.\ntimestamp: 2026-11-03T10:00:00Z\n---\n\n# Hull\n\nThe hull carries the [sail](sail.md).\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    for (path, text) in PAGES {
        shelf.write(&BundlePath::parse(path)?, text.as_bytes())?;
    }
    let bundle = Bundle::open(Arc::new(shelf), "shelf");

    println!("before:");
    print_findings(&bundle)?;

    // A change is staged over the bundle; the bundle itself stays as it is until somebody approves what they saw.
    let staged = Staged::new(bundle.reader(), Rules::manager(true));
    staged.write(&BundlePath::parse("/wiki/hull.md")?, HULL.as_bytes())?;
    let index = BundlePath::parse("/wiki/index.md")?;
    let entry = format!("{}* [Hull](hull.md) - what floats\n", staged.read(&index)?);
    staged.write(&index, entry.as_bytes())?;
    let changes = staged.changes();
    println!("\nproposed:\n{}", changes.patch());

    let decisions: Decisions = changes
        .files
        .iter()
        .map(|file| (file.path.clone(), Decision::Approved { shown: file.shown() }))
        .collect();
    let applied = apply(&bundle, &changes, &decisions);
    for (_, error) in &applied.failed {
        println!("not applied: {error}");
    }

    println!("after:");
    print_findings(&bundle)
}

fn print_findings(bundle: &Bundle) -> Result<(), Box<dyn std::error::Error>> {
    let report = lint::lint(&Wiki::load(bundle)?, &Options::default());
    println!("{} pages, {} findings", report.pages, report.findings.len());
    for finding in &report.findings {
        println!("  {} {}: {}", finding.rule.code, finding.path, finding.message);
    }
    Ok(())
}
