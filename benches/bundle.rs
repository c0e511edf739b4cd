//! Ten thousand pages: how long opening, a glob and an applied set take, and what the staged overlay costs a read.
//! `cargo bench --bench bundle`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::sync::Arc;

use divan::{Bencher, black_box};
use tempfile::TempDir;
use wikiwright::bundle::ledger::Keep;
use wikiwright::bundle::ledger::record::Origin;
use wikiwright::bundle::{Decision, Grep, Ledger, LocalBundle, Read, Rules, Staged, Write};
use wikiwright::okf::BundlePath;
use wikiwright::wiki::Wiki;

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

/// From nothing to the model of all pages, as a command does it.
#[divan::bench(sample_count = 10)]
fn open_and_scan_10_000_pages(bencher: Bencher) {
    let (temp, _bundle) = bundle();
    bencher.bench(|| {
        let bundle = LocalBundle::open(temp.path()).unwrap();
        let wiki = Wiki::load(&bundle).unwrap();
        assert_eq!(wiki.pages().count(), FOLDERS * PAGES);
    });
}

/// Fifteen files, changed and created: all or nothing, down to the disk.
#[divan::bench(sample_count = 20)]
fn apply_15_files(bencher: Bencher) {
    let (temp, bundle) = bundle();
    let ledger = Ledger::new(bundle.clone(), temp.path().join("state"), Keep::default());
    let mut round = 0;
    bencher.bench_local(|| {
        round += 1;
        let staged = Staged::new(bundle.clone(), Rules::manager(true));
        for n in 0..10 {
            staged.write(&page(n, 1), format!("changed {round}\n").as_bytes()).unwrap();
        }
        for n in 0..5 {
            staged.write(&path(&format!("/wiki/f{n}/new{round}.md")), b"new\n").unwrap();
        }
        let changes = staged.changes();
        let decisions =
            changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
        let applied = ledger.apply(&changes, &decisions, &Origin::default());
        assert_eq!(applied.landed.len(), 15);
    });
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
