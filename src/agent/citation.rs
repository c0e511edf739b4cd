//! Citations in answers: where a text names pages of the bundle, by markdown link or by plain bundle path
//! (`/wiki/concepts/x.md`).

use std::sync::LazyLock;

use regex::Regex;

use crate::okf::BundlePath;
use crate::text::Span;

/// A place in an answer that names a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The path as it stands in the text, and the same with its `#heading`.
    pub span: Span,
    pub whole: Span,
    pub path: BundlePath,
    /// The heading after `#`, when the text names one.
    pub fragment: Option<String>,
}

// A constant expression that the tests compile; without it there would be no citations, and no panic.
static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s(\[<`\x22'\u{201c}])(/?(?:wiki/)?[^\s()\[\]<>`\x22'\u{201c}\u{201d}#*|,;:]+\.md)(?:#([^\s()\[\]<>`\x22'*|,;]+))?")
        .ok()
});

/// Citations in the order of the text.
pub fn find(text: &str) -> Vec<Citation> {
    let Some(path) = PATH.as_ref() else { return Vec::new() };
    path.captures_iter(text)
        .filter_map(|captures| {
            let path = captures.get(1)?;
            let parsed = BundlePath::parse(path.as_str()).ok()?;
            let fragment = captures.get(2).map(|m| m.as_str().trim_end_matches(['.', '!', '?']).to_owned());
            let end = fragment.as_ref().map_or(path.end(), |fragment| path.end() + 1 + fragment.len());
            let whole = Span::new(path.start(), end);
            Some(Citation { span: path.range().into(), whole, path: parsed, fragment })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        find(text).iter().map(|c| c.path.to_string()).collect()
    }

    #[test]
    fn links_and_plain_paths_are_found() {
        let text = "See [Sail](/wiki/concepts/sail.md#rig), /wiki/a.md and `wiki/b.md`.\n- wiki/documents/c.md: more (/wiki/d.md).";
        assert_eq!(
            paths(text),
            ["/wiki/concepts/sail.md", "/wiki/a.md", "/wiki/b.md", "/wiki/documents/c.md", "/wiki/d.md"]
        );
        assert_eq!(find(text)[0].fragment.as_deref(), Some("rig"));
        assert_eq!(find(text)[0].span.of(text), "/wiki/concepts/sail.md");
        assert_eq!(find(text)[0].whole.of(text), "/wiki/concepts/sail.md#rig");
    }

    #[test]
    fn what_leaves_the_bundle_or_is_no_page_is_not_a_citation() {
        assert_eq!(paths("../x.md https://example.org/x.md /raw/x.pdf"), Vec::<String>::new());
    }
}
