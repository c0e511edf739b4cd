//! Temporary bundles for tests.

use std::path::{Path, PathBuf};

/// A folder of this checkout's neighbour `shared`, or none with a message that the test is skipped.
pub fn shared(relative: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(relative);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: ../shared/{relative} is absent");
    None
}

/// Copies a folder, files and folders only.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// The folder of the example that the demo opens.
pub fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/bundle")
}

/// A folder with a copy of the example in `mills/` and an empty home beside it.
pub fn beside_home() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&example(), &folder.path().join("mills"));
    std::fs::create_dir(folder.path().join("home")).unwrap();
    folder
}

/// A temporary bundle holding these files.
pub fn with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A lint-clean bundle in the wiki convention's layout: two concepts that link to each other.
pub fn small() -> tempfile::TempDir {
    with(SMALL)
}

pub const SMALL: &[(&str, &str)] = &[
    ("AGENTS.md", "# Schema\n\n## Types\n\n- `concept`\n- `document`\n"),
    ("raw/notes.md", "Sails catch wind.\n"),
    ("wiki/index.md", "# Wiki\n\n* [Concepts](concepts/index.md) - notions\n"),
    ("wiki/log.md", "# Log\n\n## [2026-11-02] ingest | Notes\n\nFirst pages.\n"),
    (
        "wiki/concepts/index.md",
        "# Concepts\n\n* [Sail](sail.md) - what catches wind\n* [Hull](hull.md) - what floats\n",
    ),
    (
        "wiki/concepts/sail.md",
        "---\ntype: concept\ntitle: Sail\ndescription: What catches wind.\ntimestamp: 2026-11-02T10:00:00Z\n---\n\n# Sail\n\nA sail drives the [hull](hull.md).\n",
    ),
    (
        "wiki/concepts/hull.md",
        "---\ntype: concept\ntitle: Hull\ndescription: What floats.\ntimestamp: 2026-11-02T10:00:00Z\n---\n\n# Hull\n\nThe hull carries the [sail](sail.md).\n",
    ),
];

/// Every file below, with its content.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(snapshot(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}
