//! Fixes: what mends a finding, as byte splices on the text that was judged. [`offers`] says it, [`run`] applies it to a
//! fixed point over a staged bundle; nothing is written here.

mod date;
mod fields;
mod index;
mod links;
mod rounds;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::context::Context;
use super::names::Names;
use super::registry::{
    BYTE_ORDER_MARK, FRONTMATTER_INVALID, IMAGE_MISSING, INDEX_ENTRY_BROKEN, INDEX_MISSING, INDEX_STALE,
    LINK_ABSOLUTE, LINK_BROKEN, LINK_CASE, PATH_ABSOLUTE, PATH_BROKEN, TIMESTAMP_INVALID, TYPE_CASE,
    WIKILINK,
};
use super::{Finding, Options, Report, Rule};
use crate::okf::edit::Splice;
use crate::okf::{BundlePath, Page};
use crate::wiki::Wiki;
use links::Places;

pub use rounds::{Fixed, Outcome, Request, change, run};

/// Whether a fix can be applied unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// The right text is beyond doubt.
    Safe,
    /// The meaning may change, or somebody may have meant something else.
    Unsafe,
}

impl Safety {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// What mends one finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    pub rule: &'static Rule,
    pub safety: Safety,
    /// Where the finding stands.
    pub path: BundlePath,
    /// From 1.
    pub line: u32,
    pub column: u32,
    /// What becomes of it, for people: `/b.md becomes b.md`.
    pub what: String,
    /// By file. A file that is not there is the empty text.
    pub edits: BTreeMap<BundlePath, Vec<Splice>>,
}

/// What a report says of a fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub safety: Safety,
    pub message: String,
}

/// Notes in each finding what would mend it.
pub fn annotate(wiki: &Wiki, report: &mut Report, options: &Options) {
    let fixes = offers(wiki, report, options, &report.findings);
    for (finding, fix) in report.findings.iter_mut().zip(fixes) {
        finding.fix = fix.map(|fix| Offer { safety: fix.safety, message: fix.what });
    }
}

impl Fix {
    fn new(finding: &Finding, safety: Safety, what: String) -> Self {
        Self {
            rule: finding.rule,
            safety,
            path: finding.path.clone(),
            line: finding.line,
            column: finding.column,
            what,
            edits: BTreeMap::new(),
        }
    }

    fn of_page(finding: &Finding, safety: Safety, what: &str, page: &Page, splices: Vec<Splice>) -> Self {
        let mut fix = Self::new(finding, safety, what.to_owned());
        fix.edits.insert(page.path.clone(), splices);
        fix
    }
}

/// The fix of each finding, where it has one, in the order of the findings.
pub fn offers<'r>(
    wiki: &Wiki,
    report: &'r Report,
    options: &Options,
    findings: impl IntoIterator<Item = &'r Finding>,
) -> Vec<Option<Fix>> {
    let version = super::okf_version(wiki, report.profile, options);
    let names = Names::of(wiki);
    let context = Context {
        wiki,
        names: &names,
        profile: report.profile,
        version,
        now: super::now(options),
        any_deprecated: true,
    };
    let mut places: Option<Places<'_>> = None;
    findings.into_iter().map(|finding| offer(&context, finding, &mut places)).collect()
}

/// `places` are those of the page that was looked at last: findings come page by page.
fn offer<'a>(context: &Context<'a>, finding: &Finding, places: &mut Option<Places<'a>>) -> Option<Fix> {
    let is = |rule: &Rule| finding.rule.code == rule.code;
    if is(&INDEX_MISSING) {
        return index::create(context, finding);
    }
    if is(&TYPE_CASE) {
        return fields::type_case(context, finding);
    }
    let page: &'a Page = context.wiki.page(&finding.path)?;
    if is(&BYTE_ORDER_MARK) {
        return fields::byte_order_mark(finding, page);
    }
    if is(&FRONTMATTER_INVALID) {
        return fields::unquoted(finding, page);
    }
    if is(&TIMESTAMP_INVALID) {
        return fields::timestamp(finding, page, context.now);
    }
    if is(&INDEX_STALE) {
        return index::append(context, finding, page);
    }
    if is(&INDEX_ENTRY_BROKEN) {
        return index::drop_entry(context, finding, page);
    }
    let redirected = [&LINK_ABSOLUTE, &PATH_ABSOLUTE, &LINK_CASE, &LINK_BROKEN, &PATH_BROKEN, &IMAGE_MISSING];
    let is_redirected = redirected.into_iter().any(is);
    if !is_redirected && !is(&WIKILINK) {
        return None;
    }
    if !places.as_ref().is_some_and(|places| places.is_of(page)) {
        *places = Some(Places::new(page));
    }
    let places = places.as_ref()?;
    if is_redirected { places.redirect(context, finding) } else { places.wikilink(context, finding) }
}
