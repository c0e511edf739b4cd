//! How long drawing takes: a page of 500 lines, again at another width, and an answer that is streamed word by word.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::hint::black_box;
use std::sync::Arc;

use divan::Bencher;
use wikiwright::bundle::{ChangeKind, FileChange};
use wikiwright::okf::{BundlePath, Page};
use wikiwright::tui::diff_view::{self, Look, Replaced};
use wikiwright::tui::markdown::{Stream, render_page, render_text};
use wikiwright::tui::theme::Theme;

fn main() {
    divan::main();
}

/// 50 sections of ten lines: prose with links, a list, a table now and then, code now and then.
fn source() -> String {
    let mut text = String::from("---\ntype: Concept\ntitle: Long\n---\n");
    for number in 0..50 {
        text.push_str(&format!(
            "\n## Section {number}\n\nSome *prose* with `code` that tells of [page {number}](../a/p{number}.md#x) \
             and why that matters, over more than one row of the pane.\n\n"
        ));
        match number % 5 {
            0 => text.push_str(&format!("```rust\nfn f{number}() -> u32 {{\n    {number} // why\n}}\n```\n")),
            1 => text.push_str("| a | b |\n|---|--:|\n| one | 1 |\n| two words | 2 |\n"),
            _ => text.push_str("- one\n- two with **weight**\n  - nested\n- [ ] to do\n"),
        }
    }
    text
}

#[divan::bench(args = [50, 80, 118])]
fn page(bencher: Bencher, width: u16) {
    let page = Page::parse(BundlePath::parse("/wiki/long.md").unwrap(), Arc::from(source()));
    let theme = Theme::ansi();
    bencher.bench(|| render_page(black_box(&page), width, &theme, &|_| false));
}

/// The words of an answer of about 2,000 tokens.
fn words() -> Vec<String> {
    source().split_inclusive(' ').cycle().take(2_000).map(str::to_owned).collect()
}

#[divan::bench]
fn stream_2000_words(bencher: Bencher) {
    let (words, theme) = (words(), Theme::ansi());
    bencher.bench(|| {
        let mut stream = Stream::default();
        let mut rows = 0;
        for word in &words {
            stream.push(word);
            rows = stream.rendered(50, &theme).lines.len();
        }
        rows
    });
}

/// What streaming would cost if nothing were kept.
#[divan::bench(sample_count = 5)]
fn whole_2000_times(bencher: Bencher) {
    let (words, theme) = (words(), Theme::ansi());
    bencher.bench(|| {
        let mut text = String::new();
        let mut rows = 0;
        for word in &words {
            text.push_str(word);
            rows = render_text(&text, 50, &theme).lines.len();
        }
        rows
    });
}

/// A page of 15,000 lines of which every third is changed: 5,000 changes.
fn change() -> FileChange {
    let line = |number: usize, word: &str| {
        format!("Line {number} tells of {word} and why that matters to the mill.\n")
    };
    let before: String = (0..15_000).map(|number| line(number, "the pond")).collect();
    let word = |number: usize| if number.is_multiple_of(3) { "the sea gate" } else { "the pond" };
    let after: String = (0..15_000).map(|number| line(number, word(number))).collect();
    FileChange {
        path: BundlePath::parse("/wiki/long.md").unwrap(),
        kind: ChangeKind::Modify,
        before: Some(Arc::from(before.as_bytes())),
        after: Some(Arc::from(after.as_bytes())),
    }
}

/// What opening the review of 5,000 changed lines waits for; at most 100 ms.
#[divan::bench(args = [false, true])]
fn diff_5000(bencher: Bencher, split: bool) {
    let (change, theme) = (change(), Theme::ansi());
    let look = Look { columns: 120, split, whole: false };
    bencher.bench(|| diff_view::render(black_box(&change), &Replaced::new(), look, &theme));
}
