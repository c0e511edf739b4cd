//! Paths that an answer names become links, so that a citation opens whichever way the model wrote it.

use std::sync::LazyLock;

use regex::Regex;

use crate::okf::BundlePath;

/// A path to a page, perhaps with an anchor, perhaps in backticks.
static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"`?/?(?:[\p{L}\p{N}_.\-]+/)*[\p{L}\p{N}_.\-]+\.md(?:#[\p{L}\p{N}_\-]+)?`?").ok()
});

/// `markdown` with bare paths of existing pages turned into links. Code blocks and what is a link already stay.
pub fn link_paths(markdown: &str, exists: &dyn Fn(&BundlePath) -> bool) -> String {
    let Some(pattern) = PATH.as_ref() else { return markdown.to_owned() };
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
        for found in pattern.find_iter(line) {
            let before = line.get(..found.start()).unwrap_or_default();
            let after = line.get(found.end()..).unwrap_or_default();
            let ticked = found.as_str().starts_with('`') && found.as_str().ends_with('`');
            let path = found.as_str().trim_matches('`');
            let file = path.split('#').next().unwrap_or(path);
            let inside_link = before.ends_with("](")
                || before.ends_with('<')
                || after.starts_with("](")
                || before.ends_with(':')
                || before.ends_with('/');
            let bare = found.as_str().starts_with('`') == found.as_str().ends_with('`');
            let ok = bare && !inside_link && BundlePath::parse(file).is_ok_and(|p| exists(&p));
            out.push_str(line.get(done..found.start()).unwrap_or_default());
            if ok {
                let shown = if ticked { found.as_str().to_owned() } else { path.to_owned() };
                out.push_str(&format!("[{shown}](</{}>)", path.trim_start_matches('/')));
            } else {
                out.push_str(found.as_str());
            }
            done = found.end();
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
        assert_eq!(linked("[/wiki/a.md]"), "[[/wiki/a.md](</wiki/a.md>)]");
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
