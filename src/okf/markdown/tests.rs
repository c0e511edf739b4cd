use super::*;
use crate::okf::Page;

fn page(text: &str) -> Page {
    Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), text.into())
}

/// Kind, whole source, destination source, destination and text of every link.
fn links(text: &str) -> Vec<(LinkKind, String, String, String, String)> {
    page(text)
        .links
        .into_iter()
        .map(|l| {
            let source = l.span.of(text).to_owned();
            (l.kind, source, l.destination_span.of(text).to_owned(), l.destination, l.text)
        })
        .collect()
}

fn destinations(text: &str) -> Vec<String> {
    for (_, _, written, destination, _) in links(text) {
        assert_eq!(destination::unescape(&written), destination, "{text}");
    }
    links(text).into_iter().map(|l| l.2).collect()
}

fn one(text: &str) -> (LinkKind, String, String, String, String) {
    let mut all = links(text);
    assert_eq!(all.len(), 1, "{text}: {all:?}");
    all.remove(0)
}

fn link(kind: LinkKind, parts: [&str; 4]) -> (LinkKind, String, String, String, String) {
    let [source, written, destination, text] = parts.map(str::to_owned);
    (kind, source, written, destination, text)
}

#[test]
fn code_comments_and_escapes_hold_no_links() {
    for text in [
        "Write links as `[x](nope.md)`.",
        "```markdown\n[x](nope.md) https://a.b [[c]]\n```\n~~~\n[y](/nope2.md)\n~~~",
        "Example:\n\n    [x](nope.md) <https://a.b>\n",
        r"Literal: \[x\](nope.md) \[[y]]",
        "<!-- TODO [x](nope.md) <a href=\"x\"> -->",
        "a <!-- [x](nope.md) <a href=x> --> b",
        "<div>\n<!-- <a href=\"x\">\n\n",
        "<script>\n'<a href=x>'\n</script>",
        "---\nnote: \"[x](nope.md)\"\n---\nbody",
        "[note](see the minutes and the annex)",
        "[undefined] and [also][undefined]",
        "[unused]: x.md",
    ] {
        assert_eq!(links(text), [], "{text}");
    }
}

#[test]
fn inline_links_in_every_form() {
    assert_eq!(
        one("x [A **b** `c`](a.md \"the A page\") y"),
        link(LinkKind::Inline, ["[A **b** `c`](a.md \"the A page\")", "a.md", "a.md", "A b c"])
    );
    assert_eq!(destinations("[A](<my page.md>)"), ["my page.md"]);
    assert_eq!(destinations("[A](foo_(bar).md)"), ["foo_(bar).md"]);
    assert_eq!(
        destinations(r"[a](a\_b.md) [b](x&amp;y.md) [c](<a\>.md>)"),
        [r"a\_b.md", "x&amp;y.md", r"a\>.md"]
    );
    assert_eq!(destinations("[x](<>) [y]() [](z)"), ["", "", "z"]);
    assert_eq!(
        destinations("[see [1] here](missing.md) and [[A]](missing2.md) and [`a]b`](missing3.md)"),
        ["missing.md", "missing2.md", "missing3.md"]
    );
    assert_eq!(destinations(r"[a\](b)](c) [d\\](e)"), ["c", "e"]);
    assert_eq!(destinations("> [a\n> b](\n> c.md\n> 'title')"), ["c.md"]);
    assert_eq!(
        destinations("| [a](b.md) | `|` |\n|---|---|\n| [c](d.md) | [e](f.md) |"),
        ["b.md", "d.md", "f.md"]
    );
    assert_eq!(destinations("# [a](b.md)\n- [ ] [c](d.md)\n  1. [e](f.md)"), ["b.md", "d.md", "f.md"]);
}

#[test]
fn reference_links_point_into_their_definition() {
    let text = "See [the B page][b] and [gone] and [C][].\n\n[b]: b.md\n[gone]: <missing x.md>\n[c]: c.md \"title\"\n";
    assert_eq!(
        links(text),
        [
            link(LinkKind::Reference, ["[the B page][b]", "b.md", "b.md", "the B page"]),
            link(LinkKind::Reference, ["[gone]", "missing x.md", "missing x.md", "gone"]),
            link(LinkKind::Reference, ["[C][]", "c.md", "c.md", "C"]),
        ]
    );
    let text = "[b] [b]\n\n[b]: first.md\n[b]: second.md\n> [q]: <a\\_b.md>\n\n![q]";
    assert_eq!(destinations(text), ["first.md", "first.md", r"a\_b.md"]);
}

#[test]
fn images_and_links_nest() {
    assert_eq!(
        links("[![alt *x*](img/p.png)](b.md)"),
        [
            link(LinkKind::Inline, ["[![alt *x*](img/p.png)](b.md)", "b.md", "b.md", "alt x"]),
            link(LinkKind::Image, ["![alt *x*](img/p.png)", "img/p.png", "img/p.png", "alt x"]),
        ]
    );
}

#[test]
fn autolinks_with_and_without_brackets() {
    assert_eq!(
        links("<https://a.b/c> https://d.e/f_g_h. <x@y.z> *https://i.j*"),
        [
            link(LinkKind::Autolink, ["<https://a.b/c>", "https://a.b/c", "https://a.b/c", "https://a.b/c"]),
            link(
                LinkKind::Autolink,
                ["https://d.e/f_g_h", "https://d.e/f_g_h", "https://d.e/f_g_h", "https://d.e/f_g_h"]
            ),
            link(LinkKind::Autolink, ["<x@y.z>", "x@y.z", "x@y.z", "x@y.z"]),
            link(LinkKind::Autolink, ["https://i.j", "https://i.j", "https://i.j", "https://i.j"]),
        ]
    );
    assert!(page("<x@y.z>").links.iter().all(|l| l.target == Target::External));
    assert_eq!(links("[https://a.b](c.md)").len(), 1);
}

#[test]
fn html_links_inline_and_in_blocks() {
    assert_eq!(
        links("<a href=\"missing.md\">x *y*</a> and <A HREF=b.md>z</A> <img alt='p&amp;q' src=\"r.png\">"),
        [
            link(LinkKind::Html, ["<a href=\"missing.md\">x *y*</a>", "missing.md", "missing.md", "x y"]),
            link(LinkKind::Html, ["<A HREF=b.md>z</A>", "b.md", "b.md", "z"]),
            link(LinkKind::Image, ["<img alt='p&amp;q' src=\"r.png\">", "r.png", "r.png", "p&q"]),
        ]
    );
    let block = "> <div>\n> <a\n>   class=c\n>   href=' x.md '><b>X</b> y</a>\n> </div>\n";
    let got = one(block);
    assert_eq!((got.0, got.2.as_str(), got.4.as_str()), (LinkKind::Html, "x.md", "X y"));
    assert!(got.1.starts_with("<a\n") && got.1.ends_with("</a>"));
    assert_eq!(one("<p><a href=\"a&amp;b.md\">t</a></p>").3, "a&b.md");
}

#[test]
fn wikilinks_are_links_of_their_own_kind() {
    assert_eq!(
        links("see [[b|the B page]], [[missing page#Part]] and ![[p.png]] | x"),
        [
            link(LinkKind::Wikilink, ["[[b|the B page]]", "b", "b", "the B page"]),
            link(
                LinkKind::Wikilink,
                ["[[missing page#Part]]", "missing page#Part", "missing page#Part", "missing page#Part"]
            ),
            link(LinkKind::Wikilink, ["![[p.png]]", "p.png", "p.png", "p.png"]),
        ]
    );
    assert_eq!(one("| [[a\\|b]] |\n|---|").2, "a");
    assert_eq!(one("[[b]]\n\n[b]: c.md").0, LinkKind::Reference, "CommonMark wins");
    assert_eq!(page("[[missing page#Part]]").links[0].target, Target::Name("missing page".to_owned()));
}

#[test]
fn headings_have_text_anchor_and_source() {
    let text = "# A *b* `c` &amp; [d](e) ![alt](f)\n\nSetext\n===\n\n## A ##\n### A {#own-id .x}\n## Using {braces}\n> ## \
                Quoted\n\n```\n# no\n```\n<!--\n# no\n-->\n";
    let got: Vec<_> = page(text)
        .headings
        .into_iter()
        .map(|h| (h.level, h.text, h.slug, h.span.of(text).to_owned()))
        .collect();
    let want = [
        (1, "A b c & d", "a-b-c--d", "# A *b* `c` &amp; [d](e) ![alt](f)"),
        (1, "Setext", "setext", "Setext\n==="),
        (2, "A", "a", "## A ##"),
        (3, "A", "a-1", "### A {#own-id .x}"),
        (2, "Using {braces}", "using-braces", "## Using {braces}"),
        (2, "Quoted", "quoted", "## Quoted"),
    ];
    let want: Vec<_> = want.map(|(l, t, s, p)| (l, t.to_owned(), s.to_owned(), p.to_owned())).into();
    assert_eq!(got, want);
}

#[test]
fn anchors_are_headings_and_explicit_ids() {
    let page = page(
        "# Real heading\n## X {#own}\n<a name=\"old\"></a> <span id='sp'>x</span>\n\n<div id=block>\n</div>\n",
    );
    for anchor in ["real-heading", "own", "old", "sp", "block", "", "top"] {
        assert!(page.has_anchor(anchor), "{anchor}");
    }
    for anchor in ["no-such", "Real-heading"] {
        assert!(!page.has_anchor(anchor), "{anchor}");
    }
}

#[test]
fn footnotes_defined_or_not() {
    let text = "a[^s1] b[^s2] `[^no]` [^s3](x)\n\n[^s1]: https://a.b text\n    more\n\nend";
    let got: Vec<_> = page(text)
        .footnotes
        .into_iter()
        .map(|f| (f.label, f.definition, f.span.of(text).to_owned()))
        .collect();
    let want =
        [("s1", false, "[^s1]"), ("s2", false, "[^s2]"), ("s1", true, "[^s1]: https://a.b text\n    more")];
    assert_eq!(got, want.map(|(l, d, s)| (l.to_owned(), d, s.to_owned())));
}

#[test]
fn words_are_counted_in_prose_only() {
    assert_eq!(
        page("---\na: b c d\n---\nOne *two* th**re**e. - 4!\n\n```\nno no\n```\n<!-- no -->\n").words,
        4
    );
    assert_eq!(page("日本 x").words, 3);
    assert_eq!(page("a\u{b}b\u{c}c d-é e_f - 4 ü\u{a0}g日h").words, 10);
}

#[test]
fn spans_count_from_the_file_with_mark_and_frontmatter() {
    let text = "\u{feff}---\r\ntitle: Ä\r\n---\r\nline ü\r\n[x](/b.md)\r\n";
    assert_eq!(one(text), link(LinkKind::Inline, ["[x](/b.md)", "/b.md", "/b.md", "x"]));
}

#[test]
fn hostile_nesting_ends() {
    let deep = |open: &str, n: usize| page(&open.repeat(n)).links.len();
    assert_eq!(deep(">", 1_000_000), 0);
    assert_eq!(deep("[", 200_000), 0);
    assert_eq!(deep("*", 200_000), 0);
    assert_eq!(deep("![", 100_000), 0);
    assert_eq!(deep("<a href=x", 50_000), 0);
    assert_eq!(deep("<!--", 50_000), 0);
    assert_eq!(deep("[[", 100_000), 0);
    assert_eq!(deep("[^", 100_000), 0);
    assert_eq!(deep("[[a]] ", 20_000), 20_000);
    assert_eq!(deep("[a](b) ", 20_000), 20_000);
    assert_eq!(deep("https://a.b ", 20_000), 20_000);
    let nested = format!("{}x{}", "![".repeat(2_000), "](y)".repeat(2_000));
    assert!(page(&nested).links.len() >= 1_000);
    let line = "word https://a.b/)))) ".repeat(250_000);
    assert_eq!(page(&line).links.len(), 250_000);
}

#[test]
fn runs_of_prose_that_name_a_file_are_kept() {
    let text = "foo_bar.md and [x_y.md](z.md) `no.md` **b.md** plain\n<!-- no.md -->\n\n    no.md\n";
    let got: Vec<_> = page(text).mentions.into_iter().map(|s| s.of(text)).collect();
    assert_eq!(got, ["foo_bar.md and ", "x_y.md", "b.md"]);
}

#[test]
fn entries_of_a_catalogue_are_its_items_with_a_link() {
    let text = "* [A](a.md) - d\n* plain\n* see [B](b.md)\n  goes on\n    * [C](c.md)\n\n1. <a href=\"d.md\">D</a>\n\n[E](e.md)\n";
    let read = |path: &str| Page::parse(BundlePath::parse(path).unwrap(), text.into());
    let index = read("/x/index.md");
    let got: Vec<_> = index
        .entries
        .iter()
        .map(|entry| {
            let link = index.links.iter().find(|link| link.span.start == entry.link).unwrap();
            (entry.span.of(text), link.destination.as_str())
        })
        .collect();
    let want = [
        ("* [A](a.md) - d", "a.md"),
        ("* see [B](b.md)\n  goes on", "b.md"),
        ("* [C](c.md)", "c.md"),
        ("1. <a href=\"d.md\">D</a>", "d.md"),
    ];
    assert_eq!(got, want);
    assert_eq!(read("/x/a.md").entries, []);
}

#[test]
fn fences_are_facts_and_indented_code_is_none() {
    let text = "# A\n\n```sql\nselect 1\n```\n\n    indented\n\n> ~~~\n> x\n> ~~~\n";
    let page = Page::parse(BundlePath::parse("/a.md").unwrap(), text.into());
    let got: Vec<_> = page.fences.iter().map(|span| span.of(text)).collect();
    assert_eq!(got, ["```sql\nselect 1\n```", "~~~\n> x\n> ~~~"]);
}
