//! Fixes of the head of a page: byte-order mark, quotes, dates, the letter case of types.

use super::{Fix, Safety, date};
use crate::lint::Finding;
use crate::lint::context::{Context, fold};
use crate::okf::Page;
use crate::okf::edit::{self, Splice};
use crate::okf::frontmatter::{Frontmatter, Value, YamlErrorKind};
use crate::text::Span;

/// Most values of one block that are put in quotes.
const MAX_QUOTED: usize = 100;

pub fn byte_order_mark(finding: &Finding, page: &Page) -> Option<Fix> {
    let mark = Splice::delete(Span::new(0, '\u{feff}'.len_utf8()));
    page.bom.then(|| Fix::of_page(finding, Safety::Safe, "byte-order mark removed", page, vec![mark]))
}

/// Puts quotes around each value that holds `: `, when the block can be read then.
pub fn unquoted(finding: &Finding, page: &Page) -> Option<Fix> {
    let block = page.frontmatter.block?;
    let head = page.text.get(..block.end)?;
    let mut splices: Vec<Splice> = Vec::new();
    let mut quoted = head.to_owned();
    while let Some(error) = Frontmatter::parse(&quoted).error {
        if error.kind != YamlErrorKind::UnquotedColon || splices.len() == MAX_QUOTED {
            return None;
        }
        // The errors come from top to bottom: all that was inserted so far stands before this one.
        let inserted: usize = splices.iter().map(|s| s.text.len() - s.span.len()).sum();
        let start = error.span.start.checked_sub(inserted)?;
        if splices.last().is_some_and(|last| start < last.span.end) {
            return None;
        }
        let text = edit::flow(&Value::String(error.span.of(&quoted).to_owned()));
        splices.push(Splice::new(Span::new(start, start + error.span.len()), text));
        quoted = edit::apply(head, splices.clone());
    }
    let what = match splices.len() {
        0 => return None,
        1 => "value put in quotes".to_owned(),
        many => format!("{many} values put in quotes"),
    };
    Some(Fix::of_page(finding, Safety::Safe, &what, page, splices))
}

/// A date as ISO 8601 where it can be read, else (unsafe) the time `now`, in seconds since 1970.
pub fn timestamp(finding: &Finding, page: &Page, now: i64) -> Option<Fix> {
    let node = page.frontmatter.get("timestamp")?;
    let (Value::String(written) | Value::Number(written)) = &node.value else { return None };
    if !edit::is_own(&page.text, &page.frontmatter, "timestamp", node.span) {
        return None;
    }
    let (stamp, safety, note) = match date::read(written) {
        Some(reading) if !reading.doubtful => (reading.stamp, Safety::Safe, ""),
        Some(reading) => (reading.stamp, Safety::Unsafe, ", one of its readings"),
        None => {
            let now = jiff::Timestamp::from_second(now).ok()?;
            (
                now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                Safety::Unsafe,
                ", the time now: no day can be read",
            )
        }
    };
    let what = format!("{} becomes {stamp}{note}", written.trim());
    Some(Fix::of_page(finding, safety, &what, page, vec![edit::set_scalar(&page.text, node, &stamp)]))
}

/// Gives the type its declared letter case in every page that has it.
pub fn type_case(context: &Context<'_>, finding: &Finding) -> Option<Fix> {
    let written = finding.data.get("type")?.as_str()?;
    let declared = context.declared_types()?;
    let mut alike = declared.iter().filter(|name| fold(name) == fold(written));
    // Two declared types of one spelling: nobody can say which is meant.
    let (declared, None) = (alike.next()?, alike.next()) else { return None };
    let mut fix = Fix::new(finding, Safety::Safe, String::new());
    for page in context.concepts().filter(|page| page.kind() == Some(written)) {
        let Some(node) = page.frontmatter.get("type") else { continue };
        if edit::is_own(&page.text, &page.frontmatter, "type", node.span) {
            fix.edits.insert(page.path.clone(), vec![edit::set_scalar(&page.text, node, declared)]);
        }
    }
    let pages = match fix.edits.len() {
        0 => return None,
        1 => "1 page".to_owned(),
        many => format!("{many} pages"),
    };
    fix.what = format!("type {written} becomes {declared} in {pages}");
    Some(fix)
}
