//! How long converting a document takes, by format, without the start of a process: the largest document of each format among
//! those at hand (`WIKIWRIGHT_SOURCES`, else beside the repository), which are not part of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use divan::Bencher;
use wikiwright::document::{Limits, convert};

fn main() {
    divan::main();
}

fn documents() -> Vec<String> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/sources");
    let folder = std::env::var_os("WIKIWRIGHT_SOURCES").map_or(usual, PathBuf::from).join("files");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("no documents at {}; set WIKIWRIGHT_SOURCES", folder.display());
        return Vec::new();
    };
    let mut largest: BTreeMap<String, (u64, PathBuf)> = BTreeMap::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let size = path.metadata().unwrap().len();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some((_, extension)) = name.rsplit_once('.') else { continue };
        if extension != "zip" && convert(&std::fs::read(&path).unwrap(), &name, &Limits::default()).is_ok() {
            let found = largest.entry(extension.to_owned()).or_default();
            *found = found.clone().max((size, path));
        }
    }
    largest.into_values().map(|(_, path)| path.to_str().unwrap().to_owned()).collect()
}

#[divan::bench(args = documents(), sample_count = 5, sample_size = 1)]
fn conversion(bencher: Bencher, path: &str) {
    let bytes = std::fs::read(path).unwrap();
    let limits = Limits::default();
    bencher.bench_local(|| convert(black_box(&bytes), path, &limits).unwrap());
}
