//! Paths that an answer names become links, so that a citation opens whichever way the model wrote it.

use crate::agent::citation;
use crate::okf::BundlePath;

/// `markdown` with bare paths of existing pages turned into links. Code blocks and what is a link already stay.
pub fn link_paths(markdown: &str, exists: &dyn Fn(&BundlePath) -> bool) -> String {
    let mut out = String::with_capacity(markdown.len() + 64);
    let mut fence: Option<char> = None;
    for line in markdown.split_inclusive('\n') {
        let mark = line.trim_start().chars().next().filter(|c| {
            matches!(c, '`' | '~') && line.trim_start().chars().take_while(|d| d == c).count() >= 3
        });
        if let Some(mark) = mark {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            out.push_str(line);
            continue;
        }
        if fence.is_some() {
            out.push_str(line);
            continue;
        }
        let mut done = 0;
        for found in citation::find(line) {
            let (mut start, mut end) = (found.whole.start, found.whole.end);
            let sides =
                |start, end| (line.get(..start).unwrap_or_default(), line.get(end..).unwrap_or_default());
            let (before, after) = sides(start, end);
            if before.ends_with('`') && after.starts_with('`') {
                (start, end) = (start - 1, end + 1);
            }
            let (before, after) = sides(start, end);
            let open = before.ends_with('`') || after.starts_with('`');
            let inside_link = before.ends_with("](") || before.ends_with('<') || after.starts_with("](");
            if open || inside_link || !exists(&found.path) {
                continue;
            }
            // `[/wiki/x.md]` is a link that lacks its destination: its brackets are the link's.
            if before.ends_with('[') && after.starts_with(']') {
                (start, end) = (start - 1, end + 1);
            }
            let shown = line.get(start..end).unwrap_or_default().trim_matches(['[', ']']);
            let path = found.whole.of(line).trim_start_matches('/');
            out.push_str(line.get(done..start).unwrap_or_default());
            out.push_str(&format!("[{shown}](</{path}>)"));
            done = end;
        }
        out.push_str(line.get(done..).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(text: &str) -> String {
        link_paths(text, &|p| p.as_str() == "/wiki/a.md")
    }

    #[test]
    fn bare_and_ticked_paths_become_links_and_others_stay() {
        assert_eq!(linked("See wiki/a.md."), "See [wiki/a.md](</wiki/a.md>).");
        assert_eq!(linked("See `/wiki/a.md#b`"), "See [`/wiki/a.md#b`](</wiki/a.md#b>)");
        assert_eq!(linked("[/wiki/a.md]"), "[/wiki/a.md](</wiki/a.md>)");
        assert_eq!(
            linked("[/wiki/a.md, /wiki/a.md]"),
            "[[/wiki/a.md](</wiki/a.md>), [/wiki/a.md](</wiki/a.md>)]"
        );
        for same in [
            "[A](/wiki/a.md)",
            "[wiki/a.md](/wiki/a.md)",
            "<wiki/a.md>",
            "wiki/b.md",
            "https://x.test/wiki/a.md",
            "```\nwiki/a.md\n```\n",
        ] {
            assert_eq!(linked(same), same);
        }
    }
}
