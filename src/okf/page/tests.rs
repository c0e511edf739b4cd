use proptest::prelude::*;

use super::*;
use crate::okf::destination::{decode_entities, unescape};
use crate::okf::{LinkKind, Target};

fn page(text: &str) -> Page {
    Page::parse(BundlePath::parse("/wiki/concepts/a.md").unwrap(), text.into())
}

/// What must hold for every page, however broken.
pub(super) fn check(page: &Page) {
    let text = &*page.text;
    let fits = |span: Span| assert!(text.get(span.start..span.end).is_some(), "{span:?} in {}", page.path);
    fits(page.body);
    fits(page.frontmatter.yaml);
    page.frontmatter.block.into_iter().for_each(fits);
    if let Some(error) = &page.frontmatter.error {
        fits(error.span);
        assert!(!error.message.is_empty() && page.frontmatter.entries.is_empty());
    }
    for entry in &page.frontmatter.entries {
        fits(entry.key_span);
        fits(entry.value.span);
        assert!(entry.key_span.end <= entry.value.span.start, "{} {}", page.path, entry.key);
    }
    for heading in &page.headings {
        fits(heading.span);
        assert!((1..=6).contains(&heading.level));
    }
    for footnote in &page.footnotes {
        fits(footnote.span);
        assert!(footnote.span.of(text).starts_with("[^"), "{}: {footnote:?}", page.path);
    }
    for link in &page.links {
        fits(link.span);
        fits(link.destination_span);
        let written = link.destination_span.of(text);
        match link.kind {
            LinkKind::Field(_) => continue,
            LinkKind::Html => {
                assert_eq!(decode_entities(written), link.destination, "{} {link:?}", page.path)
            }
            LinkKind::Image if link.span.of(text).starts_with('<') => {
                assert_eq!(decode_entities(written), link.destination);
            }
            // An e-mail or URI in angle brackets knows no escapes.
            LinkKind::Autolink if link.span.of(text).starts_with('<') => {
                assert_eq!(written, link.destination)
            }
            _ => assert_eq!(unescape(written), link.destination, "{} {link:?}", page.path),
        }
        if !matches!(link.kind, LinkKind::Reference | LinkKind::Image) {
            assert!(
                link.span.start <= link.destination_span.start && link.destination_span.end <= link.span.end
            );
        }
    }
}

#[test]
fn a_title_comes_from_the_best_place() {
    assert_eq!(page("---\ntitle: T\n---\n# H").title(), "T");
    assert_eq!(page("---\ntitle: ''\n---\n## x\n# H").title(), "H");
    assert_eq!(page("text").title(), "a");
    assert_eq!(page("---\ntype: Concept\n---\n").kind(), Some("Concept"));
    assert_eq!(page("---\ntype: ~\n---\n").kind(), None);
}

#[test]
fn the_body_starts_after_block_or_mark() {
    assert_eq!(page("---\na: b\n---\nx").body_text(), "x");
    assert_eq!(page("---\na: b\n---").body_text(), "");
    assert_eq!(page("\u{feff}x").body_text(), "x");
    assert_eq!(page("---\nx").body_text(), "x");
    let marked = page("\u{feff}---\na: b\n---\nx");
    assert!(marked.bom && marked.frontmatter.get("a").is_some());
}

#[test]
fn path_valued_fields_are_links() {
    let text = "---\nresource: \"../../raw/x y.pdf\"\nsources:\n  - b.md\n  - id: s\n    resource: /c.md\n    title: C\n  - Some \
                prose\n  - 3\ncomputation: d.sql\nexecutor:\n  resource: run.py\n  receipt: none.md\nattester: {resource: \
                'https://x'}\nother: e.md\n---\n[z](z.md)";
    let page = page(text);
    let got: Vec<_> =
        page.links.iter().map(|l| (l.kind.clone(), l.destination_span.of(text), l.text.as_str())).collect();
    let field = |name: &str| LinkKind::Field(name.to_owned());
    assert_eq!(
        got,
        [
            (LinkKind::Inline, "z.md", "z"),
            (field("resource"), "../../raw/x y.pdf", ""),
            (field("sources"), "b.md", ""),
            (field("sources"), "/c.md", "C"),
            (field("sources"), "Some prose", ""),
            (field("computation"), "d.sql", ""),
            (field("executor.resource"), "run.py", ""),
            (field("attester.resource"), "https://x", ""),
        ]
    );
    assert_eq!(page.links[1].target.path().map(BundlePath::as_str), Some("/raw/x y.pdf"));
    assert_eq!(page.links[4].target, Target::Name("Some prose".to_owned()));
}

#[test]
fn a_field_may_be_prose_a_list_or_a_lone_value() {
    let target = |yaml: &str| page(&format!("---\n{yaml}\n---\n")).links.first().map(|l| l.target.clone());
    assert_eq!(
        target("resource: Interview, March 2026"),
        Some(Target::Name("Interview, March 2026".to_owned()))
    );
    assert_eq!(target("resource: urn:isbn:9780131103627"), Some(Target::External));
    assert!(matches!(target("sources: [\"b, c.md\"]"), Some(Target::Path { .. })));
    assert!(matches!(target("sources: b.md"), Some(Target::Path { .. })));
    assert_eq!(target("resource: ~"), None);
    assert_eq!(target("resource: ['x']"), None);
    assert_eq!(target("resource: |\n  a b c"), Some(Target::Name("a b c".to_owned())));
}

#[test]
fn pages_of_real_bundles_keep_every_promise() {
    let bundles = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/bundles"));
    if !bundles.is_dir() {
        eprintln!("skipped: no bundles beside the repository");
        return;
    }
    let mut pages = 0;
    let walk = ignore::WalkBuilder::new(bundles).standard_filters(false).build();
    for entry in walk.filter_map(Result::ok) {
        let path = entry.path();
        if !entry.file_type().is_some_and(|t| t.is_file()) || path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let relative = path.strip_prefix(bundles).unwrap().to_string_lossy().into_owned();
        let Ok(path) = BundlePath::parse(&relative) else { continue };
        check(&Page::parse(path, text.into()));
        pages += 1;
    }
    assert!(pages > 0);
}

/// Pieces that markdown is made of, in any order.
const PIECES: &str = "(\\[a\\]\\(b\\.md\\)|\\[|\\]|\\]\\(|\\)|!\\[|\\[r\\]|\\[x\\]\\[r\\]|\\[r\\]\\[\\]|\n\n\\[r\\]: <d e>\n\n|\\[\\[w\\|v\\]\\]|\
    \\(<|>\\)| \"t\"|<https://u\\.v>|https://y\\.z/|`|``|\\*|\\*\\*|_|~~|\\\\|&amp;|&|\n> |\n- |\n    |\n|\n\n|# |\n## h\n|\\| |\n\\|-\\|-\\|\n|\
    \\[\\^f\\]|\n\\[\\^f\\]: n\n|<a href=\"q\">|</a>|<img src=p>|<!--|-->|<div>|\n```\n|\\{#i\\}|a|b c|é|\\(|\\.md|\t|\r\n){0,40}";

proptest! {
    #[test]
    fn any_markdown_is_a_page(text in PIECES) {
        check(&page(&text));
    }

    #[test]
    fn frontmatter_moves_the_spans_of_the_body_and_nothing_else(text in PIECES) {
        let head = "---\ntype: Concept\n---\n";
        let (plain, moved) = (page(&format!("\n{text}")), page(&format!("{head}\n{text}")));
        let shift = |span: Span| span.shifted(head.len());
        let links: Vec<_> = plain
            .links
            .into_iter()
            .map(|l| crate::okf::Link { span: shift(l.span), destination_span: shift(l.destination_span), ..l })
            .collect();
        prop_assert_eq!(moved.links, links);
        prop_assert_eq!(moved.words, plain.words);
        prop_assert_eq!(moved.headings.len(), plain.headings.len());
    }

    #[test]
    fn any_text_is_a_page(text in "[-\\[\\]()<>!a-c|#^\\\\`&; \n\"':/*_é]{0,80}") {
        check(&page(&text));
    }

    #[test]
    fn any_frontmatter_is_a_page(yaml in "[-\\[\\]{}a-c:,#&*!|>~ \n\"'%@é]{0,60}") {
        check(&page(&format!("---\n{yaml}\n---\nbody")));
    }

    #[test]
    fn any_html_is_a_page(html in "(<a href=|<img src=\"|'|\"|>|</a>|<!--|-->|<div>|\n|> |x.md|&amp;|- ){0,20}") {
        check(&page(&html));
    }
}
