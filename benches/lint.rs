//! How long loading, judging and one change take on a bundle of the size of the largest published ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::hint::black_box;

use divan::Bencher;
use wikiwright::bundle::{MemoryBundle, Write as _};
use wikiwright::lint::{Levels, Options, Profile, lint};
use wikiwright::okf::BundlePath;
use wikiwright::wiki::Wiki;

const PAGES: usize = 2_288;
const FOLDERS: usize = 40;

fn main() {
    divan::main();
}

fn page(number: usize, links: usize) -> String {
    let mut text = format!(
        "---\ntype: Type {}\ntitle: Page {number}\ndescription: What page {number} is about.\n\
         timestamp: 2026-07-19T10:30:00Z\nsources: [p{:05}.md]\n---\n\n# Page {number}\n\n",
        number % 9,
        (number + FOLDERS) % PAGES
    );
    for link in 0..links {
        let target = (number * 31 + link * 977) % PAGES;
        text.push_str(&format!(
            "## Section {link}\n\nSome prose with `code` and *emphasis* that says how this relates to \
             [page {target}](../f{:02}/p{target:05}.md#section-1), and why that matters to the reader.\n\n",
            target % FOLDERS
        ));
    }
    text
}

fn bundle() -> MemoryBundle {
    let bundle = MemoryBundle::default();
    for number in 0..PAGES {
        let path = BundlePath::parse(&format!("/wiki/f{:02}/p{number:05}.md", number % FOLDERS)).unwrap();
        bundle.write(&path, page(number, 8).as_bytes()).unwrap();
    }
    for folder in 0..FOLDERS {
        let mut index = String::from("# Index\n\n");
        for number in (folder..PAGES).step_by(FOLDERS) {
            index.push_str(&format!("* [Page {number}](p{number:05}.md) - what it is about\n"));
        }
        let path = BundlePath::parse(&format!("/wiki/f{folder:02}/index.md")).unwrap();
        bundle.write(&path, index.as_bytes()).unwrap();
    }
    bundle
}

const WIKI: Options =
    Options { profile: Some(Profile::Wiki), okf_version: None, today: None, levels: Levels::NONE };

#[divan::bench]
fn load(bencher: Bencher) {
    let bundle = bundle();
    bencher.bench(|| Wiki::load(black_box(&bundle)).unwrap());
}

#[divan::bench]
fn lint_all(bencher: Bencher) {
    let wiki = Wiki::load(&bundle()).unwrap();
    bencher.bench(|| lint(black_box(&wiki), &WIKI));
}

/// With a snapshot alive, as the workbench has one.
#[divan::bench]
fn update_one_page_and_lint(bencher: Bencher) {
    let bundle = bundle();
    let wiki = Wiki::load(&bundle).unwrap();
    let path = BundlePath::parse("/wiki/f07/p00007.md").unwrap();
    bundle.write(&path, page(7, 12).as_bytes()).unwrap();
    bencher.with_inputs(|| wiki.clone()).bench_values(|mut wiki| {
        wiki.update(&bundle, std::slice::from_ref(&path));
        lint(&wiki, &WIKI)
    });
}

#[divan::bench]
fn snapshot(bencher: Bencher) {
    let wiki = Wiki::load(&bundle()).unwrap();
    bencher.bench(|| black_box(&wiki).clone());
}
