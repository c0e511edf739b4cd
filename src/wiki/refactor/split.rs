//! Splitting a section off into a page of its own; what led to it leads there.

use std::collections::BTreeMap;

use super::index::with_entry;
use super::links::{Goal, aimed, goal, inline, is_defined_elsewhere, is_writable, verify_goals};
use super::{Plan, RefactorError, page_of};
use crate::okf::edit::{self, Splice};
use crate::okf::page::Heading;
use crate::okf::slug::{Slugs, slugify};
use crate::okf::{BundlePath, LinkKind, Page, scalar};
use crate::text::Span;
use crate::wiki::Wiki;

/// Fields that the new page takes over as they are.
const INHERITED: [&str; 7] = ["type", "tags", "timestamp", "sources", "status", "generated", "stale_after"];

/// Makes the section under `heading` (its anchor or its text) of `page` the page `to`. In its place stays a link; links to
/// the section and to what is below it follow; the index of the new page's folder gets an entry.
pub fn plan_split(
    wiki: &Wiki,
    page: &BundlePath,
    heading: &str,
    to: &BundlePath,
) -> Result<Plan, RefactorError> {
    let source = page_of(wiki, page)?;
    if to.reserved().is_some() {
        return Err(RefactorError::Reserved(to.clone()));
    }
    if !to.is_markdown() {
        return Err(RefactorError::NotAPage(to.clone()));
    }
    if wiki.exists(to) {
        return Err(RefactorError::Taken(to.clone()));
    }
    let cut = Cut::new(source, heading)?;
    let moved = |new: Goal| -> Goal {
        match &new {
            (path, Some(anchor)) if path == page => cut.place(anchor, page, to).unwrap_or(new),
            _ => new,
        }
    };
    let mut plan = Plan::default();
    let (text, goals) = cut.new_page(source, to, &moved)?;
    verify_goals(to, &text, &goals)?;
    plan.edits.insert(to.clone(), text);
    if source.frontmatter.get("description").is_some() {
        plan.notes.push(format!("{}: its description is still to be written", to.relative()));
    }
    for other in wiki.pages() {
        let mut expected = Vec::new();
        let mut splices = Vec::new();
        if other.path == *page {
            splices = cut.left_behind(source, to, &moved, &mut expected)?;
        } else {
            for link in &other.links {
                let old = goal(other, link);
                let new = old.clone().map(moved);
                if old != new
                    && is_writable(link)
                    && let Some(text) = new.as_ref().and_then(|new| aimed(other, link, &other.path, new))
                {
                    splices.push(Splice::new(link.destination_span, text));
                }
                if !matches!(link.kind, LinkKind::Field(_)) {
                    expected.push(if is_writable(link) { new } else { old });
                }
            }
        }
        if !splices.is_empty() {
            let text = edit::apply(&other.text, splices);
            verify_goals(&other.path, &text, &expected)?;
            plan.edits.insert(other.path.clone(), text);
        }
    }
    if let Some(index) = to.parent().and_then(|folder| folder.join("index.md").ok())
        && let Some(now) = wiki.page(&index)
    {
        let text = plan.edits.get(&index).cloned().unwrap_or_else(|| now.text.to_string());
        let entry =
            format!("* [{}]({})", cut.title(), super::links::styled("", &to.relative_to_page(&index), false));
        plan.edits.insert(index, with_entry(&text, &entry));
    }
    Ok(plan)
}

/// A heading `by` levels further down (up, when negative), between 1 and 6.
pub(super) fn levelled(page: &Page, heading: &Heading, by: i16) -> Option<Splice> {
    let level = (i16::from(heading.level) + by).clamp(1, 6);
    let source = heading.span.of(&page.text);
    if level == i16::from(heading.level) {
        return None;
    }
    let marks = "#".repeat(usize::try_from(level).unwrap_or(1));
    let hashes = source.bytes().take_while(|b| *b == b'#').count();
    if hashes == usize::from(heading.level) {
        return Some(Splice::new(Span::new(heading.span.start, heading.span.start + hashes), marks));
    }
    // Underlined: the last line is of `=` or `-`.
    let (text, underline) = source.rsplit_once('\n')?;
    let at = heading.span.end - underline.len();
    let mark = underline.trim_start_matches([' ', '\t', '>']).chars().next()?;
    if level <= 2 {
        let new = underline.replace(mark, if level == 1 { "=" } else { "-" });
        return Some(Splice::new(Span::new(at, heading.span.end), new));
    }
    if text.contains(['\n', '>']) {
        // A text of several lines cannot stand behind `###`; what is in a quote is left.
        return None;
    }
    Some(Splice::new(heading.span, format!("{marks} {}", text.trim())))
}

/// The section that goes.
struct Cut<'a> {
    heading: &'a Heading,
    span: Span,
    /// New anchors by old ones: of what goes, and of what stays.
    gone: BTreeMap<&'a str, String>,
    left: BTreeMap<&'a str, String>,
}

impl<'a> Cut<'a> {
    fn new(page: &'a Page, wanted: &str) -> Result<Self, RefactorError> {
        let heading = find(page, wanted)?;
        let start = heading.span.start;
        let alone = page.text.get(..start).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
        if !alone {
            return Err(RefactorError::InnerHeading { page: page.path.clone(), heading: wanted.to_owned() });
        }
        let next = page.headings.iter().find(|h| h.span.start > start && h.level <= heading.level);
        let span = Span::new(start, next.map_or(page.text.len(), |h| h.span.start));
        let (mut inside, mut outside) = (Slugs::default(), Slugs::default());
        let (mut gone, mut left) = (BTreeMap::new(), BTreeMap::new());
        for heading in &page.headings {
            let old = heading.slug.as_str();
            if holds(span, heading.span) {
                gone.insert(old, inside.unique(&heading.text));
            } else {
                left.insert(old, outside.unique(&heading.text));
            }
        }
        Ok(Self { heading, span, gone, left })
    }

    fn title(&self) -> &str {
        &self.heading.text
    }

    /// Where an anchor of the page is afterwards; none when it stays what it is.
    fn place(&self, anchor: &str, page: &BundlePath, to: &BundlePath) -> Option<Goal> {
        if anchor == self.heading.slug {
            return Some((to.clone(), None));
        }
        if let Some(new) = self.gone.get(anchor) {
            return Some((to.clone(), Some(new.clone())));
        }
        self.left.get(anchor).map(|new| (page.clone(), Some(new.clone())))
    }

    /// The new page's text, and where its body's links must lead.
    fn new_page(
        &self,
        source: &Page,
        to: &BundlePath,
        moved: &dyn Fn(Goal) -> Goal,
    ) -> Result<(String, Vec<Option<Goal>>), RefactorError> {
        let (mut splices, mut goals) = (Vec::new(), Vec::new());
        for link in &source.links {
            let is_field = matches!(link.kind, LinkKind::Field(_));
            if !is_field && !holds(self.span, link.span) {
                continue;
            }
            let old = goal(source, link);
            let new = old.clone().map(moved);
            let text =
                new.as_ref().filter(|_| is_writable(link)).and_then(|new| aimed(source, link, to, new));
            if !is_field && is_defined_elsewhere(link) && !holds(self.span, link.destination_span) {
                splices.push(inline(source, link, text)?);
            } else if let Some(text) = text {
                splices.push(Splice::new(link.destination_span, text));
            }
            if !is_field {
                goals.push(new);
            }
        }
        let by = 1 - i16::from(self.heading.level);
        let inner = source.headings.iter().filter(|h| holds(self.span, h.span));
        splices.extend(inner.filter_map(|heading| levelled(source, heading, by)));
        let written = |span: Span| {
            let inside = splices.iter().filter(|s| holds(span, s.span));
            let shifted = inside.map(|s| {
                Splice::new(Span::new(s.span.start - span.start, s.span.end - span.start), s.text.clone())
            });
            edit::apply(span.of(&source.text), shifted)
        };
        let end = edit::line_end(&source.text);
        let mut text = format!("---{end}");
        for key in INHERITED.iter().take(1).chain(&["title"]).chain(INHERITED.iter().skip(1)) {
            if *key == "title" {
                text.push_str(&format!("title: {}{end}", scalar::written(self.title())));
            } else if let Some(entry) = source.frontmatter.entries.iter().find(|e| e.key == *key) {
                let lines = written(edit::entry_lines(&source.text, entry));
                text.push_str(lines.trim_end());
                text.push_str(end);
            }
        }
        text.push_str(&format!("---{end}{end}{}{end}", written(self.span).trim_end()));
        // Notes that the section cites and that stand elsewhere.
        let notes: Vec<&str> = self.notes(source, true);
        for note in notes {
            text.push_str(&format!("{end}{note}{end}"));
        }
        Ok((text, goals))
    }

    /// Definitions of footnotes on the other side of the cut that this side cites.
    fn notes<'p>(&self, page: &'p Page, inside: bool) -> Vec<&'p str> {
        let is_here = |span: Span| holds(self.span, span) == inside;
        let cited =
            |label: &str| page.footnotes.iter().any(|f| !f.definition && f.label == label && is_here(f.span));
        let definitions = page.footnotes.iter().filter(|f| f.definition && !is_here(f.span));
        definitions.filter(|f| cited(&f.label)).map(|f| f.span.of(&page.text)).collect()
    }

    /// What changes in the old page; adds where its links must lead.
    fn left_behind(
        &self,
        source: &Page,
        to: &BundlePath,
        moved: &dyn Fn(Goal) -> Goal,
        expected: &mut Vec<Option<Goal>>,
    ) -> Result<Vec<Splice>, RefactorError> {
        let end = edit::line_end(&source.text);
        let mut splices = Vec::new();
        let mut placed = false;
        for link in &source.links {
            let is_field = matches!(link.kind, LinkKind::Field(_));
            if !is_field && !placed && link.span.start >= self.span.start {
                expected.push(Some((to.clone(), None)));
                placed = true;
            }
            if !is_field && holds(self.span, link.span) {
                continue;
            }
            let old = goal(source, link);
            let new = old.clone().map(moved);
            let text = new
                .as_ref()
                .filter(|_| is_writable(link) && old != new)
                .and_then(|new| aimed(source, link, &source.path, new));
            if !is_field && is_defined_elsewhere(link) && holds(self.span, link.destination_span) {
                splices.push(inline(source, link, text)?);
            } else if let Some(text) = text {
                splices.push(Splice::new(link.destination_span, text));
            }
            if !is_field {
                expected.push(new);
            }
        }
        if !placed {
            expected.push(Some((to.clone(), None)));
        }
        let title = escaped(self.title());
        let path = super::links::styled("", &to.relative_to_page(&source.path), false);
        let mut text = format!("[{title}]({path}){end}");
        for note in self.notes(source, false) {
            text.push_str(&format!("{end}{note}{end}"));
        }
        if self.span.end < source.text.len() {
            text.push_str(end);
        }
        splices.push(Splice::new(self.span, text));
        Ok(splices)
    }
}

/// Text as link text.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut all, c| {
        if matches!(c, '[' | ']' | '\\' | '`' | '*' | '_' | '<') {
            all.push('\\');
        }
        all.push(c);
        all
    })
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn find<'a>(page: &'a Page, wanted: &str) -> Result<&'a Heading, RefactorError> {
    let wanted = wanted.trim();
    let anchor = wanted.strip_prefix('#').map_or(wanted, str::trim_start);
    let anchors = |headings: &[&Heading]| {
        let names: Vec<String> = headings.iter().take(10).map(|h| format!("#{}", h.slug)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    if let Some(heading) = page.headings.iter().find(|h| h.slug == anchor) {
        return Ok(heading);
    }
    let named: Vec<&Heading> = page.headings.iter().filter(|h| slugify(&h.text) == slugify(anchor)).collect();
    match named.as_slice() {
        [one] => Ok(one),
        [] => Err(RefactorError::NoHeading {
            page: page.path.clone(),
            heading: wanted.to_owned(),
            there: anchors(&page.headings.iter().collect::<Vec<_>>()),
        }),
        many => Err(RefactorError::ManyHeadings {
            page: page.path.clone(),
            heading: wanted.to_owned(),
            there: anchors(many),
        }),
    }
}
