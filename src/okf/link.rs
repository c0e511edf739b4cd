//! Links: every form in which a page points at something, as CommonMark parses it.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::path::{BundlePath, PathError};
use super::slug::slugify;
use crate::text::Span;

/// How a link is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `[text](destination)`
    Inline,
    /// `[text][label]`, `[label][]`, `[label]`; its destination stands in the definition.
    Reference,
    /// `<https://…>` and bare URLs.
    Autolink,
    /// `<a href="…">`
    Html,
    /// `![alt](destination)`, all forms of it, and `<img src="…">`.
    Image,
    /// `[[target]]`, not OKF.
    Wikilink,
    /// A path in the frontmatter field of this name: `resource`, `sources`, or another path-valued field of
    /// OKF 0.2 written as `executor.resource`.
    Field(String),
}

/// One occurrence of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub kind: LinkKind,
    /// The whole construct, as byte offsets into the file.
    pub span: Span,
    /// The destination as written, without angle brackets or quotes. For reference links it lies in the
    /// definition.
    pub destination_span: Span,
    /// Link text or alt text, plain.
    pub text: String,
    /// The destination with CommonMark escapes and entities resolved, percent-encoding kept.
    pub destination: String,
    pub target: Target,
}

/// What a destination means, seen from its page. Says nothing about what exists.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// `[x]()`: the page itself.
    Empty,
    /// It has a scheme or an authority (`https:`, `mailto:`, `//host/x`).
    External,
    /// A heading of the same page, without `#`, percent-decoded.
    Anchor(String),
    /// A file or folder of the bundle.
    Path {
        /// Percent-decoded once, query dropped, resolved from the page's folder, or from the bundle
        /// when `absolute`.
        path: BundlePath,
        /// Written with a leading `/`.
        absolute: bool,
        /// Written with a trailing `/`.
        folder: bool,
        fragment: Option<String>,
    },
    /// A path that cannot be one of this bundle.
    Invalid(PathError),
    /// Text that is no path: prose in `resource`, the name in a wikilink.
    Name(String),
}

impl Target {
    /// Reads a destination written in `page`. See CommonMark 0.31 section 6.3 and RFC 3986 for what is cut off.
    pub fn of(page: &BundlePath, destination: &str) -> Self {
        let destination = destination.trim_matches(|c: char| c.is_ascii_whitespace());
        if destination.starts_with("//") {
            return Self::External;
        }
        if let Some((scheme, rest)) = split_scheme(destination) {
            return match (scheme.len(), rest.chars().next()) {
                // One letter, a colon and a separator: a Windows drive, which no link scheme looks like.
                (1, Some('\\')) => Self::Invalid(PathError::Backslash),
                (1, Some('/')) => Self::Invalid(PathError::Outside),
                _ => Self::External,
            };
        }
        let (rest, fragment) = match destination.split_once('#') {
            Some((rest, fragment)) => (rest, Some(decode(fragment).into_owned()).filter(|f| !f.is_empty())),
            None => (destination, None),
        };
        let written = rest.split_once('?').map_or(rest, |(path, _)| path);
        if written.is_empty() {
            return fragment.map_or(Self::Empty, Self::Anchor);
        }
        let path = decode(written);
        match page.resolve(&path) {
            Ok(resolved) => Self::Path {
                path: resolved,
                absolute: path.starts_with('/'),
                folder: path.ends_with('/'),
                fragment,
            },
            Err(error) => Self::Invalid(error),
        }
    }

    /// Reads the value of a path-valued frontmatter field: as [`Self::of`], but prose stays a name. Prose has white
    /// space and no `/` (the wiki convention's rule), or a `/` in the middle of words that end in no file name
    /// (`Interview of 03/2026 with the CFO`), or is `N/A`.
    pub fn of_field(page: &BundlePath, value: &str) -> Self {
        let value = value.trim();
        if is_prose(value) { Self::Name(value.to_owned()) } else { Self::of(page, value) }
    }

    /// Reads an entry of `sources`: as [`Self::of_field`], but a file name with blanks and an extension is a path.
    pub fn of_source(page: &BundlePath, value: &str) -> Self {
        let value = value.trim();
        if has_extension(value) { Self::of(page, value) } else { Self::of_field(page, value) }
    }

    /// Reads the inside of `[[…]]`: the name before `|` and `#`, or the heading of the same page.
    pub fn of_wikilink(inside: &str) -> Self {
        let name = inside.split_once('|').map_or(inside, |(name, _)| name);
        // Inside a table the bar must be escaped.
        let name = name.strip_suffix('\\').unwrap_or(name);
        match name.split_once('#') {
            Some((page, heading)) if page.trim().is_empty() => Self::Anchor(slugify(heading.trim())),
            Some((page, _)) => Self::Name(page.trim().to_owned()),
            None => Self::Name(name.trim().to_owned()),
        }
    }

    pub fn path(&self) -> Option<&BundlePath> {
        match self {
            Self::Path { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Percent-decodes once. Bytes that are no UTF-8 become U+FFFD, so that such a path exists nowhere.
fn decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// The scheme of a URI reference (RFC 3986 section 3.1) and what follows its colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let valid = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    valid.then_some((scheme, rest))
}

fn is_prose(value: &str) -> bool {
    if value.eq_ignore_ascii_case("n/a") {
        return true;
    }
    if !value.contains(char::is_whitespace) || value.starts_with(['/', '.']) {
        return false;
    }
    if split_scheme(value).is_some_and(|(scheme, rest)| {
        rest.starts_with("//") || (scheme.len() > 1 && !rest.starts_with(char::is_whitespace))
    }) {
        return false;
    }
    match value.rsplit_once('/') {
        None => true,
        Some((_, "")) => false,
        Some((_, last)) => !has_extension(last),
    }
}

fn has_extension(name: &str) -> bool {
    let name = name.split(['#', '?']).next().unwrap_or(name);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.chars().any(|c| c.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(destination: &str) -> Target {
        Target::of(&BundlePath::parse("/wiki/concepts/a.md").unwrap(), destination)
    }

    fn path(text: &str) -> Target {
        Target::Path {
            path: BundlePath::parse(text).unwrap(),
            absolute: false,
            folder: false,
            fragment: None,
        }
    }

    #[test]
    fn a_path_is_resolved_from_its_page() {
        assert_eq!(of("b.md"), path("/wiki/concepts/b.md"));
        assert_eq!(of("../x/./b.md"), path("/wiki/x/b.md"));
        assert_eq!(of("b.md?plain=1"), path("/wiki/concepts/b.md"));
        assert_eq!(of("b.md#"), path("/wiki/concepts/b.md"));
        assert_eq!(of("b:c/../d.md"), Target::External, "RFC 3986: a colon in the first segment is a scheme");
        assert_eq!(of("./b:c.md"), path("/wiki/concepts/b:c.md"));
        assert_eq!(
            of("/raw/?x#A%20b"),
            Target::Path {
                path: BundlePath::parse("/raw").unwrap(),
                absolute: true,
                folder: true,
                fragment: Some("A b".to_owned()),
            }
        );
    }

    #[test]
    fn percent_is_decoded_exactly_once() {
        assert_eq!(of("my%20page.md"), path("/wiki/concepts/my page.md"));
        assert_eq!(of("a%2520b.md"), path("/wiki/concepts/a%20b.md"));
        assert_eq!(of("a%3Fb%23c.md"), path("/wiki/concepts/a?b#c.md"));
        assert_eq!(of("100%.md"), path("/wiki/concepts/100%.md"));
        assert_eq!(of("caf%E9.md"), path("/wiki/concepts/caf\u{fffd}.md"));
        assert_eq!(of("%2e%2e/%2e%2e/%2e%2e/x"), Target::Invalid(PathError::Outside));
        assert_eq!(of("a%00b"), Target::Invalid(PathError::Nul));
    }

    #[test]
    fn what_is_no_path_is_told_apart() {
        for external in ["https://a.b/c", "HTTPS://a", "mailto:a@b", "//host/x", "urn:isbn:978", "s3://b/k"] {
            assert_eq!(of(external), Target::External, "{external}");
        }
        assert_eq!(of(""), Target::Empty);
        assert_eq!(of("#"), Target::Empty);
        assert_eq!(of("?x=1"), Target::Empty);
        assert_eq!(of("#%C3%A9t%C3%A9"), Target::Anchor("été".to_owned()));
        assert_eq!(of("C:\\x.md"), Target::Invalid(PathError::Backslash));
        assert_eq!(of("c:/x.md"), Target::Invalid(PathError::Outside));
        assert_eq!(of("..\\x.md"), Target::Invalid(PathError::Backslash));
        assert_eq!(of("../../../x.md"), Target::Invalid(PathError::Outside));
        assert_eq!(of(&"x".repeat(300)), Target::Invalid(PathError::TooLong));
    }

    #[test]
    fn prose_in_a_field_is_a_name() {
        let page = BundlePath::parse("/a.md").unwrap();
        for prose in
            ["Interview, March 2026", "N/A", "Interview of 03/2026 with the CFO", "Notes: see the minutes"]
        {
            assert_eq!(Target::of_field(&page, prose), Target::Name(prose.to_owned()), "{prose}");
        }
        for external in
            ["urn:isbn:9780131103627", "s3://bucket/my key.csv", "doi:10.1000/182", "HTTPS://e.com/a"]
        {
            assert_eq!(Target::of_field(&page, external), Target::External, "{external}");
        }
        for file in ["raw/My notes.pdf", "raw/x", "x.md", "../raw/a b", "/raw/a b", "raw/a b/"] {
            let is_prose = matches!(Target::of_field(&page, file), Target::Name(_));
            assert!(!is_prose, "{file}");
        }
    }

    #[test]
    fn a_wikilink_names_a_page_or_a_heading() {
        assert_eq!(Target::of_wikilink(" b |the B page"), Target::Name("b".to_owned()));
        assert_eq!(Target::of_wikilink("b#Part two|x"), Target::Name("b".to_owned()));
        assert_eq!(Target::of_wikilink("b\\|x"), Target::Name("b".to_owned()));
        assert_eq!(Target::of_wikilink("#Part two"), Target::Anchor("part-two".to_owned()));
    }
}
