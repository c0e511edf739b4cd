//! The rules, one file per family. A rule of one page looks at that page, at what exists around it and at the pages it links to; a rule of the
//! bundle looks at all pages together. The two are kept apart so that a change needs only the pages it touches judged
//! again.

mod bundle;
mod fields;
mod graph;
mod links;
mod log;
mod mention;
mod names;
mod provenance;
mod structure;
mod types;

use super::context::{Context, Findings};
use crate::okf::Page;

type PageRule = fn(&Context<'_>, &Page, &mut Findings);
type BundleRule = fn(&Context<'_>, &mut Findings);

const PAGE_RULES: [PageRule; 6] = [
    bundle::check_page,
    fields::check,
    links::check,
    structure::check_page,
    log::check,
    provenance::check_page,
];
const BUNDLE_RULES: [BundleRule; 6] =
    [bundle::check, names::check, structure::check, graph::check, types::check, provenance::check];

/// Every rule that judges one page.
pub fn check_page(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    PAGE_RULES.iter().for_each(|rule| rule(context, page, findings));
}

/// Every rule that judges the bundle as a whole.
pub fn check_bundle(context: &Context<'_>, findings: &mut Findings) {
    BUNDLE_RULES.iter().for_each(|rule| rule(context, findings));
}
