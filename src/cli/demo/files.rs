//! The example bundle as it stands in `assets/demo/bundle`, compiled in.

use std::path::Path;

use anyhow::Context as _;

use crate::bundle::{LocalBundle, Write as _};
use crate::okf::BundlePath;

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../assets/demo/bundle/", $path)))),*]
    };
}

/// Path below the bundle and content, in path order.
pub const FILES: &[(&str, &str)] = embedded![
    "AGENTS.md",
    "raw/la-rance.md",
    "raw/tide-mill-primer.md",
    "wiki/concepts/horizontal-wheel.md",
    "wiki/concepts/index.md",
    "wiki/concepts/sea-gate.md",
    "wiki/concepts/tidal-range.md",
    "wiki/concepts/tide-mill.md",
    "wiki/concepts/tide-pond.md",
    "wiki/concepts/working-window.md",
    "wiki/documents/index.md",
    "wiki/documents/tide-mill-primer.md",
    "wiki/entities/eling.md",
    "wiki/entities/index.md",
    "wiki/entities/nendrum.md",
    "wiki/entities/woodbridge.md",
    "wiki/index.md",
    "wiki/log.md",
    "wiki/syntheses/index.md",
    "wiki/syntheses/why-tide-mills-stopped.md",
];

/// Writes the bundle into the empty folder `root`.
pub fn write(root: &Path) -> anyhow::Result<()> {
    let bundle = LocalBundle::open(root)?;
    for (path, text) in FILES {
        let path = BundlePath::parse(path).with_context(|| format!("the example's file {path}"))?;
        bundle.write(&path, text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files below `folder`, relative to `root`.
    fn files(root: &Path, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(files(root, &path));
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_file_of_the_example_is_compiled_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/bundle");
        let embedded: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(embedded, files(&root, &root));
    }

    #[test]
    fn the_copy_holds_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        assert_eq!(files(folder.path(), folder.path()).len(), FILES.len());
        for (path, text) in FILES {
            assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), *text);
        }
    }
}
