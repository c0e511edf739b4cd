//! Links: every form in which a page points at something, as CommonMark parses it.

use super::path::{BundlePath, PathError};
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
        let _ = (page, destination);
        unimplemented!("okf helper")
    }

    pub fn path(&self) -> Option<&BundlePath> {
        match self {
            Self::Path { path, .. } => Some(path),
            _ => None,
        }
    }
}
