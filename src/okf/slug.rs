//! Heading anchors as GitHub makes them.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// What an anchor keeps besides the blank and the hyphen: letters, marks, decimal digits, connectors.
static DROPPED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\w\- ]|[\u{200c}\u{200d}]").ok());

/// The anchor of a heading's plain text, without regard to other headings.
pub fn slugify(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let plain = lower.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_'));
    match &*DROPPED {
        Some(dropped) if !plain => dropped.replace_all(&lower, "").replace(' ', "-"),
        _ => lower.replace(' ', "-"),
    }
}

/// Hands out anchors that are unique within a page: the second `x` becomes `x-1`.
#[derive(Debug, Clone, Default)]
pub struct Slugs {
    /// How often each anchor was asked for.
    seen: HashMap<String, usize>,
}

impl Slugs {
    pub fn unique(&mut self, text: &str) -> String {
        let base = slugify(text);
        let mut count = self.seen.get(&base).copied();
        let mut slug = base.clone();
        // `x`, `x-1`, `x`: the third must step over the second.
        while let Some(next) = count.map(|c| c + 1) {
            slug = format!("{base}-{next}");
            count = Some(next);
            if !self.seen.contains_key(&slug) {
                break;
            }
        }
        self.seen.insert(base, count.unwrap_or(0));
        self.seen.entry(slug.clone()).or_insert(0);
        slug
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use proptest::prelude::*;

    #[test]
    fn anchors_are_those_of_github() {
        for (heading, slug) in [
            ("Real heading", "real-heading"),
            ("What's new?", "whats-new"),
            ("A & B", "a--b"),
            ("snake_case -- x", "snake_case----x"),
            ("Überblick 日本", "überblick-日本"),
            ("v1.2 (beta)", "v12-beta"),
            ("x² 👩‍🚀", "x-"),
            ("e\u{301}t", "e\u{301}t"),
            ("!!!", ""),
        ] {
            assert_eq!(slugify(heading), slug, "{heading}");
        }
    }

    #[test]
    fn doubles_are_numbered_and_step_over_what_is_taken() {
        let mut slugs = Slugs::default();
        let got: Vec<String> = ["X", "x", "x-1", "x", "X-1"].map(|h| slugs.unique(h)).into();
        assert_eq!(got, ["x", "x-1", "x-1-1", "x-2", "x-1-2"]);
    }

    proptest! {
        #[test]
        fn anchors_of_a_page_never_repeat(headings in prop::collection::vec("[a-b]{0,1}(-[12]){0,2}", 0..30)) {
            let mut slugs = Slugs::default();
            let mut seen = HashSet::new();
            for heading in headings {
                prop_assert!(seen.insert(slugs.unique(&heading)));
            }
        }
    }
}
