//! How long it takes to judge a bundle again after one edit. Goals: 5 ms with 10,000 pages, 20 ms with 60,000.
//!
//! `WIKIWRIGHT_BENCH_BUNDLE=FOLDER` measures an edit of a bundle on disk instead of made ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use divan::Bencher;
use wikiwright::bundle::{LocalBundle, MemoryBundle, Read, Write as _};
use wikiwright::lint::{Incremental, Options};
use wikiwright::okf::BundlePath;
use wikiwright::wiki::Wiki;

const SIZES: [usize; 2] = [10_000, 60_000];
const FOLDERS: usize = 4;

fn main() {
    divan::main();
}

fn path(number: usize) -> BundlePath {
    BundlePath::parse(&format!("/wiki/f{:02}/p{number:05}.md", number % FOLDERS)).unwrap()
}

/// One page in fifty has a broken link.
fn page(number: usize, pages: usize, body: &str) -> String {
    let mut text = format!(
        "---\ntype: Type {}\ntitle: Page {number}\ndescription: What page {number} is about.\n\
         timestamp: 2026-07-19T10:30:00Z\nsources: [p{:05}.md]\n---\n\n# Page {number}\n\n",
        number % 9,
        number % FOLDERS + number / FOLDERS / 2 * FOLDERS
    );
    for link in 0..8 {
        let target = (number * 31 + link * 977) % pages;
        text.push_str(&format!(
            "## Section {link}\n\nSome prose with `code` and *emphasis* that says how this relates to \
             [page {target}](../f{:02}/p{target:05}.md#section-1), and why that matters to the reader.\n\n",
            target % FOLDERS
        ));
    }
    if number.is_multiple_of(50) {
        text.push_str("See [nothing](gone.md).\n\n");
    }
    text + body
}

fn made(pages: usize) -> MemoryBundle {
    let bundle = MemoryBundle::default();
    for number in 0..pages {
        bundle.write(&path(number), page(number, pages, "").as_bytes()).unwrap();
    }
    for folder in 0..FOLDERS {
        let mut index = String::from("# Index\n\n");
        for number in (folder..pages).step_by(FOLDERS) {
            index.push_str(&format!("* [Page {number}](p{number:05}.md) - what it is about\n"));
        }
        let at = BundlePath::parse(&format!("/wiki/f{folder:02}/index.md")).unwrap();
        bundle.write(&at, index.as_bytes()).unwrap();
    }
    bundle
}

/// Judges `texts` of one page in turn, with a snapshot of the model before each alive or not.
fn edits(bencher: Bencher, bundle: MemoryBundle, at: &BundlePath, texts: [String; 2], snapshot: bool) {
    let mut wiki = Wiki::load(&bundle).unwrap();
    let mut kept = Incremental::new(&wiki, &Options::default());
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        bundle.write(at, texts[turn % 2].as_bytes()).unwrap();
        let before = snapshot.then(|| wiki.clone());
        let changed = wiki.update(&bundle, std::slice::from_ref(at));
        kept.update(&wiki, &changed);
        (kept.report(), before)
    });
}

#[divan::bench(args = SIZES)]
fn one_word(bencher: Bencher, pages: usize) {
    let texts = [page(7, pages, "One word.\n"), page(7, pages, "Another.\n")];
    edits(bencher, made(pages), &path(7), texts, false);
}

#[divan::bench(args = SIZES)]
fn one_link(bencher: Bencher, pages: usize) {
    let texts = [page(7, pages, "[b](p00011.md)\n"), page(7, pages, "[b](gone.md)\n")];
    edits(bencher, made(pages), &path(7), texts, false);
}

/// As in the workbench, which shows one state while the next is made.
#[divan::bench(args = SIZES)]
fn one_link_with_a_snapshot(bencher: Bencher, pages: usize) {
    let texts = [page(7, pages, "[b](p00011.md)\n"), page(7, pages, "[b](gone.md)\n")];
    edits(bencher, made(pages), &path(7), texts, true);
}

/// A page comes and goes: all that a broken link may mean is asked again.
#[divan::bench(args = SIZES)]
fn one_page(bencher: Bencher, pages: usize) {
    let bundle = made(pages);
    let at = BundlePath::parse("/wiki/f00/gone.md").unwrap();
    let text = page(pages, pages, "");
    let mut wiki = Wiki::load(&bundle).unwrap();
    let mut kept = Incremental::new(&wiki, &Options::default());
    bencher.bench_local(|| {
        match bundle.read_bytes(&at) {
            Ok(bytes) => bundle.remove(&at, wikiwright::okf::ContentHash::of(&bytes)).unwrap(),
            Err(_) => bundle.write(&at, text.as_bytes()).unwrap(),
        }
        let changed = wiki.update(&bundle, std::slice::from_ref(&at));
        kept.update(&wiki, &changed);
        kept.report()
    });
}

#[divan::bench]
fn on_disk(bencher: Bencher) {
    let Some(folder) = std::env::var_os("WIKIWRIGHT_BENCH_BUNDLE") else { return };
    let disk = LocalBundle::open(std::path::Path::new(&folder)).unwrap();
    let bundle = MemoryBundle::default();
    let wiki = Wiki::load(&disk).unwrap();
    for path in wiki.pages().map(|page| &page.path).chain(wiki.files()) {
        bundle.write(path, &disk.read_bytes(path).unwrap()).unwrap();
    }
    let page = wiki.pages().filter(|page| page.path.reserved().is_none()).nth(1000).unwrap();
    let texts = [format!("{}\n[x](gone.md)\n", page.text), page.text.to_string()];
    edits(bencher, bundle, &page.path, texts, false);
}

#[divan::bench(args = SIZES)]
fn everything(bencher: Bencher, pages: usize) {
    let wiki = Wiki::load(&made(pages)).unwrap();
    bencher.bench_local(|| wikiwright::lint::lint(&wiki, &Options::default()));
}
