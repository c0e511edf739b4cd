//! Taking links to a page out of the text around them, before the page is deleted.

use super::index::entry_line;
use super::links::{self, verify_goals};
use super::{Plan, RefactorError, place_of, plan_delete};
use crate::okf::edit::{self, Splice};
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Link, LinkKind, Page};
use crate::wiki::Wiki;

/// As [`plan_delete`], and links to the file become their plain text; images of it and entries of `sources` go. What cannot
/// be taken out (HTML, other fields) is named, and stays.
pub fn plan_unlink(wiki: &Wiki, path: &BundlePath) -> Result<Plan, RefactorError> {
    let mut plan = Plan { deletes: plan_delete(wiki, path)?.deletes, ..Plan::default() };
    for page in wiki.backlinks(path).filter_map(|source| wiki.page(source)).filter(|page| page.path != *path)
    {
        let entry = (page.path.reserved() == Some(Reserved::Index)).then(|| entry_line(page, path)).flatten();
        let mut splices: Vec<Splice> = entry.map(Splice::delete).into_iter().collect();
        let mut expected = Vec::new();
        for link in &page.links {
            if entry.is_some_and(|line| line.start <= link.span.start && link.span.end <= line.end) {
                continue;
            }
            let leads = link.target.path() == Some(path);
            let splice = if leads { without(page, link) } else { None };
            if leads && splice.is_none() {
                plan.notes.push(format!("{}: this link will be broken", place_of(page, link)));
            }
            if splice.is_none() && !matches!(link.kind, LinkKind::Field(_)) {
                expected.push(links::goal(page, link));
            }
            splices.extend(splice);
        }
        if !splices.is_empty() {
            let text = edit::apply(&page.text, splices);
            verify_goals(&page.path, &text, &expected)?;
            plan.edits.insert(page.path.clone(), text);
        }
    }
    Ok(plan)
}

fn without(page: &Page, link: &Link) -> Option<Splice> {
    match &link.kind {
        LinkKind::Inline | LinkKind::Reference => {
            Some(Splice::new(link.span, links::shown(page, link)?.to_owned()))
        }
        LinkKind::Image if link.span.of(&page.text).starts_with('!') => {
            Some(Splice::new(link.span, links::shown(page, link)?.to_owned()))
        }
        LinkKind::Field(field) if field == "sources" => {
            let items = edit::items(page.frontmatter.get("sources")?);
            let nth = items
                .iter()
                .position(|item| item.span.start <= link.span.start && link.span.end <= item.span.end)?;
            edit::remove_item(&page.text, &page.frontmatter, "sources", nth)
        }
        _ => None,
    }
}
