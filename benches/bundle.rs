//! Ten thousand pages: how long a glob takes, and what the staged overlay costs a read. `cargo bench --bench bundle`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::sync::Arc;

use divan::{Bencher, black_box};
use tempfile::TempDir;
use wikiwright::bundle::{Grep, LocalBundle, Read, Rules, Staged, Write};
use wikiwright::okf::BundlePath;

const FOLDERS: usize = 100;
const PAGES: usize = 100;

fn main() {
    divan::main();
}

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn page(folder: usize, page: usize) -> BundlePath {
    path(&format!("/wiki/f{folder}/p{page}.md"))
}

fn bundle() -> (TempDir, Arc<LocalBundle>) {
    let temp = TempDir::new().unwrap();
    for folder in 0..FOLDERS {
        std::fs::create_dir_all(temp.path().join(format!("wiki/f{folder}"))).unwrap();
        for page in 0..PAGES {
            let text =
                format!("---\ntype: concept\n---\n\n# Page {page}\n\n{}", "Some words of text.\n".repeat(40));
            std::fs::write(temp.path().join(format!("wiki/f{folder}/p{page}.md")), text).unwrap();
        }
    }
    let bundle = LocalBundle::open(temp.path()).unwrap();
    (temp, Arc::new(bundle))
}

fn staged(base: Arc<LocalBundle>) -> Staged {
    let staged = Staged::new(base, Rules::manager(true));
    for folder in 0..10 {
        staged.write(&page(folder, 0), b"changed").unwrap();
    }
    staged
}

#[divan::bench]
fn glob_10_000_files(bencher: Bencher) {
    let (_temp, bundle) = bundle();
    bencher.bench(|| {
        let found = bundle.glob("**/*.md", &BundlePath::root()).unwrap();
        assert_eq!(found.len(), FOLDERS * PAGES);
    });
}

#[divan::bench]
fn glob_10_000_files_staged(bencher: Bencher) {
    let (_temp, bundle) = bundle();
    let staged = staged(bundle);
    bencher.bench(|| staged.glob("**/*.md", &BundlePath::root()).unwrap().len());
}

#[divan::bench(sample_count = 10)]
fn grep_10_000_files(bencher: Bencher) {
    let (_temp, bundle) = bundle();
    let query = Grep {
        pattern: "Page 77".to_owned(),
        regex: false,
        ignore_case: false,
        folder: BundlePath::root(),
        glob: None,
        limit: 1000,
    };
    bencher.bench(|| bundle.grep(&query).unwrap().matches.len());
}

#[divan::bench]
fn read_1_000_pages(bencher: Bencher) {
    let (_temp, bundle) = bundle();
    bencher.bench(|| {
        for i in 0..1000 {
            black_box(bundle.read(&page(i / PAGES, i % PAGES)).unwrap());
        }
    });
}

#[divan::bench]
fn read_1_000_pages_staged(bencher: Bencher) {
    let (_temp, bundle) = bundle();
    let staged = staged(bundle);
    bencher.bench(|| {
        for i in 0..1000 {
            black_box(staged.read(&page(i / PAGES, i % PAGES)).unwrap());
        }
    });
}
