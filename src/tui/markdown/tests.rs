//! What markdown looks like, and that nothing is lost on the way.

use proptest::prelude::*;

use super::*;
use std::sync::Arc;

fn rows(text: &str, width: u16) -> Vec<String> {
    render_text(text, width, &Theme::plain())
        .lines
        .iter()
        .map(|l| l.to_string().trim_end().to_owned())
        .collect()
}

#[test]
fn blocks_stand_apart_by_one_blank_row() {
    assert_eq!(
        rows("# One\n\ntext\nmore\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> said\n\n---\n\nend", 20),
        [
            "One",
            "",
            "text more",
            "",
            "• a",
            "• b",
            "  • c",
            "",
            "1. x",
            "2. y",
            "",
            "▎ said",
            "",
            "────────────────────",
            "",
            "end"
        ]
    );
}

#[test]
fn paragraphs_wrap_behind_their_marks() {
    assert_eq!(rows("- one two three four\n- five", 10), ["• one two", "  three", "  four", "• five"]);
    assert_eq!(rows("> one two three", 10), ["▎ one two", "▎ three"]);
}

#[test]
fn loose_lists_and_code() {
    assert_eq!(rows("- a\n\n- b\n\n  more\n", 20), ["• a", "", "• b", "", "  more"]);
    assert_eq!(rows("```\na\n\n  b\n```\n", 20), ["│ a", "│", "│   b"]);
}

#[test]
fn tables_fit_or_become_records() {
    let table = "| a | number |\n|---|---:|\n| one | 1 |\n";
    assert_eq!(rows(table, 20), ["a   │ number", "────┼───────", "one │      1"]);
    let wide = "| first column | second column | third column |\n|-|-|-|\n| x | y | z |\n";
    assert_eq!(rows(wide, 20), ["first column: x", "second column: y", "third column: z"]);
}

#[test]
fn links_know_where_they_are_drawn() {
    let rendered = render_text("see [the long name](/wiki/a.md#b) now", 12, &Theme::plain());
    let link = &rendered.links[0];
    assert_eq!(link.target.path().unwrap().as_str(), "/wiki/a.md");
    assert_eq!(link.spans, [(0, 4..12), (1, 0..4)]);
}

#[test]
fn a_page_ties_its_links_and_headings_to_its_facts() {
    let text = "---\ntype: Concept\ndescription: Short.\n---\n\n# A\n\n[x](b.md) and [y](c.md)\n\n## A\n";
    let page = Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), Arc::from(text));
    let rendered = render_page(&page, 40, &Theme::plain(), &|l| l.destination == "c.md");
    let links: Vec<usize> = rendered.links.iter().map(|l| l.link).collect();
    assert_eq!(links, [0, 1]);
    let slugs: Vec<&str> = rendered.headings.iter().map(|(_, s)| s.as_str()).collect();
    assert_eq!(slugs, ["a", "a-1"]);
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert_eq!(&drawn[..2], ["Concept", "Short."]);
    assert!(drawn.iter().any(|l| l == "x and y\u{a0}✗"), "{drawn:?}");
    assert_eq!(rendered.lines.len(), rendered.rows.len());
}

#[test]
fn hostile_nesting_is_drawn_at_a_bounded_depth() {
    let million = 1_000_000;
    let texts = [
        ">".repeat(million),
        "- ".repeat(2000),
        format!("{}x", "1. ".repeat(2000)),
        "*".repeat(20_000),
        "[".repeat(2000),
        "![".repeat(2000),
        format!("{}x{}", "![".repeat(500), "](y)".repeat(500)),
        "`".repeat(20_000),
        "a*".repeat(20_000),
        "&lt;".repeat(20_000),
        "<b>".repeat(20_000),
        "🇦*🇦*".repeat(2_000),
    ];
    for text in texts {
        let rendered = render_text(&text, 20, &Theme::plain());
        assert_fits(&rendered, 20);
        assert!(rendered.lines.len() < 25_000);
    }
}

#[test]
fn marks_without_room_stand_in_the_text() {
    assert_eq!(rows("- a\n  - b\n    - c\n      - d", 8), ["• a", "  • b", "    • c", "    • d"]);
    assert_eq!(rows("> > > deep", 5), ["▎ dee", "▎ p"]);
}

#[test]
fn a_block_of_megabytes_is_cut_with_a_word_about_it() {
    let text = format!("{}\n\nafter", "word ".repeat(1_000_000));
    let drawn = rows(&text, 80);
    let cut = 5_000_000 - 1 - walk::MAX_BLOCK;
    assert!(
        drawn.contains(&format!("… {cut} more bytes of this block are not shown")),
        "{:?}",
        &drawn[drawn.len() - 4..]
    );
    assert_eq!(drawn.last().unwrap(), "after");
    assert!(drawn.len() < 3000);
    let code = format!("```\n{}\n```\n", "x".repeat(1_000_000));
    let cut = 1_000_001 - walk::MAX_BLOCK;
    assert!(rows(&code, 80).contains(&format!("… {cut} more bytes of this block are not shown")));
}

#[test]
fn a_table_of_many_cells_is_cut_with_a_word_about_it() {
    let bomb = format!("|{}\n|{}\n{}", "x|".repeat(1500), "-|".repeat(1500), "|\n".repeat(1000));
    let rendered = render_text(&bomb, 60, &Theme::plain());
    assert_fits(&rendered, 60);
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert!(drawn.iter().any(|l| l == "… 1300 more columns are not shown"), "{drawn:?}");
    let long = format!("|a|\n|-|\n{}", "|x|\n".repeat(3000));
    let drawn = rows(&long, 60);
    assert_eq!(drawn.last().unwrap(), "… 1001 more rows are not shown");
    assert_eq!(drawn.len(), 2 + 1999 + 1);
}

#[test]
fn callouts_say_their_kind() {
    assert_eq!(rows("> [!WARNING]\n> Mind *this*.", 20), ["▎ Warning", "▎ Mind this."]);
    assert_eq!(rows("> [!custom]\n> x", 20), ["▎ [!custom] x"]);
}

#[test]
fn tasks_have_their_box_for_a_bullet() {
    assert_eq!(
        rows("- [ ] to do\n- [x] done\n\n1. [ ] two words", 11),
        ["☐ to do", "☑ done", "", "1. ☐ two", "   words"]
    );
}

#[test]
fn images_show_text_and_path() {
    assert_eq!(rows("![a cat](raw/c.png) ![](d.png)", 60), ["[image: a cat · raw/c.png] [image: d.png]"]);
    let rendered = render_text("[![a](b.png)](c.md) ![d](e.png)", 60, &Theme::plain());
    let targets: Vec<&str> = rendered.links.iter().map(|l| l.destination.as_str()).collect();
    assert_eq!(targets, ["c.md", "e.png"]);
}

#[test]
fn links_of_every_kind_are_drawn_and_marked() {
    let text = "[out](https://e.org) <https://a.b> https://c.d. [[w|label]] <a href=\"h.md\">html</a> [ref][r] []( e.md )\n\n[r]: f.md";
    let rendered = render_text(text, 120, &Theme::plain());
    assert_eq!(
        rendered.lines[0].to_string(),
        "out↗ https://a.b↗ https://c.d↗. [[w|label]] <a href=\"h.md\">html</a> ref e.md"
    );
    let line = rendered.lines[0].to_string();
    let drawn: Vec<(usize, &str, String)> = rendered
        .links
        .iter()
        .map(|l| {
            let columns = &l.spans[0].1;
            let text: String =
                line.chars().skip(columns.start.into()).take((columns.end - columns.start).into()).collect();
            (l.link, l.destination.as_str(), text)
        })
        .collect();
    let want = [
        (0, "https://e.org", "out↗"),
        (1, "https://a.b", "https://a.b↗"),
        (2, "https://c.d", "https://c.d↗"),
        (3, "w", "[[w|label]]"),
        (4, "h.md", "<a href=\"h.md\">html</a>"),
        (5, "f.md", "ref"),
        (6, "e.md", "e.md"),
    ];
    assert_eq!(drawn, want.map(|(n, d, t)| (n, d, t.to_owned())));
}

#[test]
fn a_link_that_is_never_closed_ends_with_its_block() {
    let rendered = render_text("<a href=\"x.md\">one\n\ntwo", 40, &Theme::plain());
    let rows: Vec<usize> = rendered.links.iter().flat_map(|l| &l.spans).map(|(row, _)| *row).collect();
    assert_eq!(rows, [0]);
}

#[test]
fn text_that_reads_otherwise_than_it_is_written_stays_whole() {
    assert_eq!(rows("a &amp; b &acE; \\* c&nbsp;d", 40), ["a & b \u{223e}\u{333} * c\u{a0}d"]);
    assert_eq!(rows("see https://e.org/?a=1&amp;b=2 now", 60), ["see https://e.org/?a=1&b=2↗ now"]);
}

#[test]
fn accents_at_the_border_of_styles_stay_with_their_letter() {
    let rendered = render_text("abcde*\u{301}x*", 5, &Theme::plain());
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert!(drawn[0].starts_with("abcde"), "{drawn:?}");
    assert_fits(&rendered, 5);
}

#[test]
fn footnotes_stand_where_they_are_written() {
    assert_eq!(
        rows("Said.[^b] So.[^A]\n\n[^a]: By one\n\n    and another.\n\n[^b]: b\n\nEnd", 16),
        ["Said.[1] So.[2]", "", "[2] By one", "", "    and another.", "[1] b", "", "End"]
    );
}

#[test]
fn long_code_lines_are_cut_with_a_mark_and_lose_nothing() {
    assert_eq!(rows("```rust\nlet a  =  1;\n```", 9), ["│ rust", "│ let a", "↪ =  1;"]);
    assert_eq!(rows("    x\n\n    y", 9), ["│ x", "│", "│ y"]);
    assert_eq!(rows("```\n```", 9), ["│ (empty)"]);
}

#[test]
fn lines_of_japanese_are_joined_without_a_blank() {
    assert_eq!(rows("日本語\nです。\n次\nword\n*次*\n字", 40), ["日本語です。次 word 次字"]);
}

#[test]
fn html_and_breaks() {
    assert_eq!(
        rows("<div>\n  <b>x</b>\n</div>\n\ny<br/> z<br>\nv\\\nw", 20),
        ["<div>", "  <b>x</b>", "</div>", "", "y", "z", "v", "w"]
    );
}

#[test]
fn rows_of_several_lines_are_told_apart() {
    let table = "| a | b |\n|---|---|\n| one two | x |\n| three | y |\n";
    assert_eq!(rows(table, 9), ["a     │ b", "──────┼──", "one   │ x", "two   │", "┈┈┈┈┈┈┼┈┈", "three │ y"]);
}

#[test]
fn the_card_leaves_no_key_out() {
    let text = "---\ntype: Concept\ntitle: Other\ntags: [a, b]\nsources: [b.md, lost.md]\nowner: {name: Data, id: 7}\ntype: Again\nresource: https://e.org\n---\n\n# A\n";
    let page = Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), Arc::from(text));
    let rendered = render_page(&page, 60, &Theme::plain(), &|l| l.destination == "lost.md");
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert_eq!(
        drawn,
        [
            "Other",
            "Concept · #a #b",
            "sources: b.md, lost.md\u{a0}✗",
            "resource: https://e.org↗",
            "owner: {name: Data, id: 7} · type: Again",
            "",
            "A"
        ]
    );
    assert_eq!(rendered.links.iter().map(|l| l.link).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn broken_frontmatter_is_shown_as_written() {
    let text = "---\ntitle: a: b\n---\n\nbody\n";
    let page = Page::parse(BundlePath::parse("/a.md").unwrap(), Arc::from(text));
    let rendered = render_page(&page, 200, &Theme::plain(), &|_| false);
    let drawn: Vec<String> = rendered.lines.iter().map(ToString::to_string).collect();
    assert!(drawn[0].starts_with("The frontmatter is not readable YAML: "), "{drawn:?}");
    assert_eq!(drawn[1..], ["│ ---", "│ title: a: b", "│ ---", "", "body"]);
}

#[test]
fn rows_know_their_place_in_the_file() {
    let text =
        "---\ntype: T\n---\n\n# Head\n\none two three\n\n> - ```rust\n>   let a;\n>   let b;\n>   ```\n";
    let page = Page::parse(BundlePath::parse("/a.md").unwrap(), Arc::from(text));
    let rendered = render_page(&page, 10, &Theme::plain(), &|_| false);
    let place = |part: &str| {
        let row = rendered.lines.iter().position(|l| l.to_string().contains(part)).unwrap();
        &text[rendered.rows[row]..]
    };
    assert!(place("Head").starts_with("# Head"));
    assert!(place("three").starts_with("three"), "{}", place("three"));
    assert!(place("let b").starts_with("let b;"), "{}", place("let b"));
}

fn assert_fits(rendered: &Rendered, width: u16) {
    check(rendered, width).unwrap();
}

/// What holds for every text at every width.
fn check(rendered: &Rendered, width: u16) -> Result<(), TestCaseError> {
    prop_assert_eq!(rendered.lines.len(), rendered.rows.len());
    prop_assert!(rendered.rows.is_sorted());
    let widths: Vec<usize> =
        rendered.lines.iter().map(|l| crate::text::width::width(&l.to_string())).collect();
    for (line, columns) in rendered.lines.iter().zip(&widths) {
        prop_assert!(*columns <= usize::from(width.max(1)), "{columns} > {width}: {line:?}");
        prop_assert!(line.width() <= usize::from(width.max(1)));
        prop_assert!(!line.to_string().chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
    for (row, columns) in rendered.links.iter().flat_map(|l| &l.spans) {
        prop_assert!(columns.start < columns.end);
        prop_assert!(widths.get(*row).is_some_and(|w| usize::from(columns.end) <= *w), "{row} {columns:?}");
    }
    prop_assert!(rendered.headings.iter().all(|(row, _)| *row < rendered.lines.len()));
    Ok(())
}

/// Pieces of markdown that meet badly.
fn nasty() -> impl Strategy<Value = String> {
    const PIECES: [&str; 95] = [
        "a",
        "word ",
        "long-word-without-end",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\n\n\n",
        "# ",
        "### ",
        "#\n",
        "===\n",
        "---\n",
        "***\n",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2",
        ". ",
        "99) ",
        "- [ ] ",
        "- [x] ",
        "> ",
        ">> ",
        "> [!NOTE]\n> ",
        "```rust\n",
        "```\n",
        "~~~\n",
        "    let x = 1;\n",
        "fn f() { \"s\" } // c\n",
        "*",
        "**",
        "_",
        "~~",
        "`",
        "``",
        "[",
        "]",
        "(",
        ")",
        "[a](b.md)",
        "[a](/b.md \"t\")",
        "[](x.md)",
        "![alt](i.png)",
        "[![a](b)](c)",
        "[x][r]",
        "[r]",
        "[r]: /z.md\n",
        "[^1]",
        "[^1]: note\n",
        "[[wiki|w]]",
        "[[",
        "]]",
        "https://e.org/x",
        "<https://e.org>",
        "<a href=\"h.md\">",
        "</a>",
        "<img src=\"p.png\">",
        "<br>",
        "<div>\n",
        "</div>\n",
        "<!-- c",
        "-->",
        "|",
        "|a|b|\n",
        "|-|:-:|\n",
        "| long cell text | 日本 |\n",
        "\\",
        "\\*",
        "&amp;",
        "&nbsp;",
        "&acE;",
        "&#0;",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{feff}",
        "\u{301}",
        "é",
        "日本語",
        "テスト",
        "👩\u{200d}🚀",
        "👩",
        "\u{200d}",
        "🇦",
        "ﷺ",
        "क्ष",
        "\u{0}",
        "\u{a0}",
        "ẞ",
        "{#id}",
        "$x$",
    ];
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn any_text_at_any_width_has_rows_that_fit_and_no_controls(text in nasty(), width in 0u16..150) {
        check(&render_text(&text, width, &Theme::ansi()), width)?;
        let narrow = width % 7;
        check(&render_text(&text, narrow, &Theme::plain()), narrow)?;
    }

    #[test]
    fn any_page_has_rows_that_fit(yaml in "[a-z: \\[\\]{}'\"\n,日-]{0,60}", text in nasty(), width in 0u16..150) {
        let page = Page::parse(
            BundlePath::parse("/wiki/a.md").unwrap(),
            Arc::from(format!("---\ntype: T\n{yaml}\n---\n{text}")),
        );
        let rendered = render_page(&page, width, &Theme::plain(), &|l| l.span.start % 2 == 0);
        check(&rendered, width)?;
        prop_assert!(rendered.links.iter().all(|l| page.links.get(l.link).is_some_and(|f| f.destination == l.destination)));
    }

    #[test]
    fn a_stream_looks_like_the_whole(text in nasty(), cuts in proptest::collection::vec(1usize..30, 1..20), width in 1u16..60) {
        let mut stream = Stream::default();
        let mut rest = text.as_str();
        for cut in cuts.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let end = rest.char_indices().map(|(at, _)| at).find(|at| *at >= cut).unwrap_or(rest.len());
            let (chunk, after) = rest.split_at(end);
            stream.push(chunk);
            rest = after;
            let shown = &text[..text.len() - rest.len()];
            prop_assert_eq!(stream.rendered(width, &Theme::ansi()), &render_text(shown, width, &Theme::ansi()));
        }
    }
}

#[test]
fn a_stream_keeps_what_is_finished_and_forgets_what_changes() {
    let theme = Theme::plain();
    let mut stream = Stream::default();
    stream.push("# A\n\none [x](y.md)\n\n- a\n\n2");
    let whole = render_text(stream.text(), 20, &theme);
    assert_eq!(*stream.rendered(20, &theme), whole);
    stream.push("\n\n# A\n\nend [z](w.md)");
    let rendered = stream.rendered(20, &theme).clone();
    assert_eq!(rendered, render_text(stream.text(), 20, &theme));
    assert_eq!(rendered.headings.iter().map(|(_, s)| s.as_str()).collect::<Vec<_>>(), ["a", "a-1"]);
    assert_eq!(rendered.links[1].link, 1);
    let whole = render_text(stream.text(), 9, &theme);
    assert_eq!(*stream.rendered(9, &theme), whole);
    stream.set("# B\n\nother");
    assert_eq!(*stream.rendered(9, &theme), render_text("# B\n\nother", 9, &theme));
}

/// Rows, then for every cell a letter that names its style, then what the letters mean, then links and headings.
fn dump(rendered: &Rendered) -> String {
    use std::fmt::Write;
    let mut legend: Vec<String> = Vec::new();
    let (mut text, mut grid) = (String::new(), String::new());
    for line in &rendered.lines {
        writeln!(text, "{}", line.to_string().trim_end()).unwrap();
        let mut row = String::new();
        for span in &line.spans {
            let style = line.style.patch(span.style);
            let colour = style.fg.map_or("–".to_owned(), |c| format!("{c:?}"));
            let name = format!("{colour} {:?}", style.add_modifier);
            let at = legend.iter().position(|s| *s == name).unwrap_or_else(|| {
                legend.push(name);
                legend.len() - 1
            });
            let letter = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().nth(at).unwrap();
            row.extend(std::iter::repeat_n(letter, crate::text::width::width(&span.content)));
        }
        writeln!(grid, "{}", row.trim_end_matches('.')).unwrap();
    }
    let letters = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".chars();
    let legend: String = letters.zip(&legend).map(|(letter, name)| format!("{letter} {name}\n")).collect();
    let links: String =
        rendered.links.iter().map(|l| format!("{} {} {:?}\n", l.link, l.destination, l.spans)).collect();
    let headings: String = rendered.headings.iter().map(|(row, slug)| format!("{row} {slug}\n")).collect();
    format!("{text}---\n{grid}---\n{legend}---\n{links}---\n{headings}")
}

#[test]
fn every_construct() {
    let text = include_str!("every_construct.md");
    let page = Page::parse(BundlePath::parse("/wiki/every.md").unwrap(), Arc::from(text));
    for width in [38, 78, 118] {
        let rendered = render_page(&page, width, &Theme::ansi(), &|l| l.destination.contains("lost"));
        assert_fits(&rendered, width);
        insta::assert_snapshot!(format!("every_construct_{width}"), dump(&rendered));
    }
}

#[test]
fn real_pages_fit_and_every_link_is_drawn() {
    let bundles = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/bundles"));
    if !bundles.is_dir() {
        eprintln!("skipped: there are no bundles beside the repository");
        return;
    }
    let mut folders = vec![bundles.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "md") {
                files.push(entry);
            }
        }
    }
    files.sort();
    // Each of them would take minutes unoptimised.
    for file in files.iter().step_by(40) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let page = Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), Arc::from(text));
        for width in [3, 38, 118] {
            let rendered = render_page(&page, width, &Theme::ansi(), &|_| false);
            check(&rendered, width).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
            let drawn: std::collections::HashSet<usize> = rendered.links.iter().map(|l| l.link).collect();
            // A badge is drawn as part of the link around it.
            let lost = page
                .links
                .iter()
                .enumerate()
                .find(|(at, l)| !drawn.contains(at) && l.kind != crate::okf::LinkKind::Image);
            assert_eq!(lost, None, "{}", file.display());
        }
    }
}
