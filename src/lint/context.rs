//! What rules read and write: one bundle seen by one profile, and the list that findings go to.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use super::names::Names;
use super::registry::Rule;
use super::{Finding, OkfVersion, Profile};
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Page, schema};
use crate::text::Span;
use crate::wiki::Wiki;

/// At most this many names are listed in one finding; the count stays exact.
pub const MAX_NAMED: usize = 10;

/// One bundle as one profile reads it.
pub struct Context<'a> {
    pub wiki: &'a Wiki,
    pub names: &'a Names,
    pub profile: Profile,
    pub version: OkfVersion,
    /// Seconds since 1970.
    pub now: i64,
    /// Whether any page is deprecated; mostly none is, and then no link need be followed to see.
    pub any_deprecated: bool,
}

impl<'a> Context<'a> {
    /// Whether fields that only OKF 0.2 knows mean what it says of them.
    pub fn has_provenance(&self) -> bool {
        self.profile == Profile::Okf && self.version >= OkfVersion::V0_2
    }

    /// Whether the profile expects a concept in a page of this name. The specification reserves two names, the
    /// convention a third.
    pub fn is_concept(&self, path: &BundlePath) -> bool {
        match path.reserved() {
            None => true,
            Some(Reserved::Agents) => self.profile == Profile::Okf,
            Some(_) => false,
        }
    }

    /// Pages that are no structure in any profile, in path order.
    pub fn concepts(&self) -> impl Iterator<Item = &'a Page> + use<'a> {
        self.wiki.pages().map(|page| &**page).filter(|page| page.path.reserved().is_none())
    }

    /// The types that `AGENTS.md` declares.
    pub fn declared_types(&self) -> Option<Vec<String>> {
        let path = BundlePath::parse("/AGENTS.md").ok()?;
        schema::declared_types(self.wiki.page(&path)?)
    }

    /// What exists under another letter case or Unicode form of `path`, when that is one thing.
    pub fn same_but_for_case(&self, path: &BundlePath) -> Option<&'a BundlePath> {
        match self.names.alike(path) {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The page of this slug (file name without `.md`), when there is exactly one.
    pub fn page_of_slug(&self, slug: &str) -> Option<&'a BundlePath> {
        match self.names.of_slug(slug) {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The pages that a wikilink of this name on `page` can mean: of that slug in any letter case, or at that path from
    /// the bundle, its `wiki/` or the page.
    pub fn pages_named(&self, name: &str, page: &Page) -> Vec<&'a BundlePath> {
        let name = name.strip_suffix(".md").unwrap_or(name);
        if name.contains('/') {
            let found: BTreeSet<&BundlePath> = wikilink_paths(name, page)
                .filter_map(|path| self.wiki.page(&path))
                .map(|page| &page.path)
                .collect();
            return found.into_iter().collect();
        }
        match self.page_of_slug(name) {
            Some(exact) => vec![exact],
            None => self.names.of_stem(name, self.wiki).iter().collect(),
        }
    }
}

/// Where a wikilink that holds a `/` can lead: from the bundle, its `wiki/` or the page.
pub fn wikilink_paths(name: &str, page: &Page) -> impl Iterator<Item = BundlePath> {
    let name = format!("{}.md", name.trim_start_matches('/'));
    let places =
        [BundlePath::parse(&name), BundlePath::parse(&format!("/wiki/{name}")), page.path.resolve(&name)];
    places.into_iter().flatten()
}

/// Where rules put what they find. Rules that the profile has switched off leave nothing.
pub struct Findings {
    profile: Profile,
    pub list: Vec<Finding>,
}

/// Machine-readable keys of a finding.
pub type Data<const N: usize> = [(&'static str, Value); N];

impl Findings {
    pub fn new(profile: Profile) -> Self {
        Self { profile, list: Vec::new() }
    }

    /// A fault at one place of a page.
    pub fn at<const N: usize>(
        &mut self,
        rule: &'static Rule,
        page: &Page,
        span: Span,
        message: impl Into<String>,
        data: Data<N>,
    ) {
        self.push(rule, page, span, message.into(), to_map(data));
    }

    /// [`Self::at`] with data of any length.
    pub fn push(
        &mut self,
        rule: &'static Rule,
        page: &Page,
        span: Span,
        message: String,
        data: Map<String, Value>,
    ) {
        let Some(level) = rule.level(self.profile) else { return };
        let start = page.lines.position(&page.text, span.start);
        let end = page.lines.position(&page.text, span.end);
        self.list.push(Finding {
            rule,
            level,
            path: page.path.clone(),
            span: Some(span),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            message,
            data: Arc::new(data),
            fix: None,
        });
    }

    /// A fault of a whole file, of a file that is not there, or (with the root) of the bundle.
    pub fn whole<const N: usize>(
        &mut self,
        rule: &'static Rule,
        path: &BundlePath,
        message: impl Into<String>,
        data: Data<N>,
    ) {
        let Some(level) = rule.level(self.profile) else { return };
        self.list.push(Finding {
            rule,
            level,
            path: path.clone(),
            span: None,
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            message: message.into(),
            data: Arc::new(to_map(data)),
            fix: None,
        });
    }
}

fn to_map<const N: usize>(data: Data<N>) -> Map<String, Value> {
    data.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Folder by folder: `/a/x` before `/a-b/x`, as a tree shows them and as the convention's "first page" means it.
pub fn tree_order(a: &BundlePath, b: &BundlePath) -> Ordering {
    let key = |byte: u8| if byte == b'/' { 0 } else { byte };
    let (a, b) = (a.as_str().as_bytes(), b.as_str().as_bytes());
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((a, b)) => key(*a).cmp(&key(*b)),
        None => a.len().cmp(&b.len()),
    }
}

/// Equal for texts that differ only in letter case or Unicode form. Upper-casing first brings together what lower-casing
/// alone keeps apart (`ß` and `SS`, both forms of sigma).
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().collect::<String>().to_uppercase().to_lowercase().nfc().collect()
}

/// The first names, and how many more there are: `a.md, b.md (+3)`.
pub fn named<'t>(names: impl ExactSizeIterator<Item = &'t str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names.take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} (+{more})") }
}

/// At most as many paths as a finding names, as JSON.
pub fn named_paths(paths: &[BundlePath]) -> Value {
    paths.iter().take(MAX_NAMED).map(|path| path.relative()).collect()
}
