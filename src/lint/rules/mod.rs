//! The rules, one file per family. A rule of one page looks at that page, at what exists around it and at the pages it links to; a rule of the
//! bundle looks at one group of pages that belong together (a folder, a title, a type, an island), so that a change needs only
//! the pages and groups that it touches judged again.

pub mod bundle;
mod fields;
pub mod graph;
pub mod links;
mod log;
pub mod mention;
pub mod names;
pub mod provenance;
pub mod structure;
pub mod types;

use super::context::{Context, Findings};
use crate::okf::Page;

type PageRule = fn(&Context<'_>, &Page, &mut Findings);

const PAGE_RULES: [PageRule; 6] = [
    bundle::check_page,
    fields::check,
    links::check,
    structure::check_page,
    log::check,
    provenance::check_page,
];

/// Every rule that judges one page.
pub fn check_page(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    PAGE_RULES.iter().for_each(|rule| rule(context, page, findings));
}
