//! Fixes of catalogues: making an `index.md`, adding entries, dropping the entry of a page that is gone.

use std::collections::HashSet;

use super::{Fix, Safety};
use crate::lint::Finding;
use crate::lint::context::Context;
use crate::lint::rules::links;
use crate::okf::edit::{Splice, line_end};
use crate::okf::{BundlePath, LinkKind, Page};
use crate::text::Span;
use crate::wiki::refactor::styled;

/// A new index with an entry for each concept page of its folder.
pub fn create(context: &Context<'_>, finding: &Finding) -> Option<Fix> {
    let (wiki, index) = (context.wiki, &finding.path);
    // Beside an `Index.md` many file systems have no room for it.
    if wiki.exists(index) || !context.names.alike(index).is_empty() || !wiki.would_be_page(index) {
        return None;
    }
    let folder = index.parent()?;
    let pages = context.concepts().filter(|page| page.path.parent().as_ref() == Some(&folder));
    let entries: Vec<String> = pages.filter_map(|page| entry("*", page)).collect();
    let text = format!("# {}\n\n{}\n", heading(&folder), entries.join("\n"));
    let what = format!("created with {}", counted(entries.len()));
    let mut fix = Fix::new(finding, Safety::Safe, what);
    fix.edits.insert(index.clone(), vec![Splice::insert(0, text)]);
    (!entries.is_empty()).then_some(fix)
}

/// Entries for the pages that are not mentioned, after the last entry, else at the end. A page that a broken link of the
/// index means gets none: mending the link makes it the entry.
pub fn append(context: &Context<'_>, finding: &Finding, index: &Page) -> Option<Fix> {
    let missing = finding.data.get("pages")?.as_array()?;
    let folder = index.path.parent()?;
    let meant: HashSet<BundlePath> =
        index.links.iter().filter_map(|link| links::meant(context, index, link)).collect();
    let pages: Vec<&Page> = missing
        .iter()
        .filter_map(|name| context.wiki.page(&folder.join(name.as_str()?).ok()?).map(|page| &**page))
        .filter(|page| !meant.contains(&page.path))
        .collect();
    let after_list = after_entries(index);
    let splices = after_list.into_iter().chain([(index.text.len(), "*")]);
    // What is added stands in no code and no comment only if it reads back.
    let splice = splices.filter_map(|(at, marker)| addition(index, at, marker, &pages)).find(|splice| {
        let text = crate::okf::edit::apply(&index.text, [splice.clone()]);
        let now = Page::parse(index.path.clone(), text.into());
        let linked: HashSet<&BundlePath> = now.links.iter().filter_map(|l| l.target.path()).collect();
        now.links.len() == index.links.len() + pages.len()
            && pages.iter().all(|page| linked.contains(&page.path))
    })?;
    let what = format!("{} added", counted(pages.len()));
    Some(Fix::of_page(finding, Safety::Safe, &what, index, vec![splice]))
}

/// Where a list of entries ends that another one can be added to, and its marker.
fn after_entries(index: &Page) -> Option<(usize, &str)> {
    let text = &*index.text;
    let last = index.entries.iter().map(|entry| entry.span.end).max()?;
    let top = index.entries.iter().rev().find(|entry| at_line_start(text, entry.span.start))?;
    let marker =
        text.get(top.span.start..top.span.start + 1).filter(|mark| matches!(*mark, "*" | "-" | "+"))?;
    let at = next_line(text, last);
    // More text of the entry above would become that of the new one.
    let follows = text.get(at..)?.lines().find(|line| !line.trim().is_empty());
    (!follows.is_some_and(|line| line.starts_with([' ', '\t']))).then_some((at, marker))
}

fn addition(index: &Page, at: usize, marker: &str, pages: &[&Page]) -> Option<Splice> {
    let end = line_end(&index.text);
    let lines: Option<Vec<String>> = pages.iter().map(|page| entry(marker, page)).collect();
    let lines = lines.filter(|lines| !lines.is_empty())?.join(end);
    let before = index.text.get(..at)?;
    let in_list = index.entries.iter().any(|entry| next_line(&index.text, entry.span.end) == at);
    let body = index.text.get(index.body.start..at).unwrap_or_default();
    let separate = !in_list && !body.trim().is_empty();
    let newline = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    let blank = if separate && !before.ends_with(&format!("{end}{end}")) { end } else { "" };
    // A file without a line end at its end stays one.
    let tail = if before.len() == index.text.len() && !newline.is_empty() { "" } else { end };
    Some(Splice::insert(at, format!("{newline}{blank}{lines}{tail}")))
}

/// Takes the whole line of an entry away. One that links anything that is still there, or goes on over more lines, stays:
/// that may be wanted.
pub fn drop_entry(context: &Context<'_>, finding: &Finding, index: &Page) -> Option<Fix> {
    let (text, span) = (&*index.text, finding.span?);
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let lead = text.get(start..span.start)?;
    let end = next_line(text, span.end);
    let inside = |link: &&crate::okf::Link| span.start <= link.span.start && link.span.end <= span.end;
    let mut own = index.links.iter().filter(inside).filter(|link| !matches!(link.kind, LinkKind::Field(_)));
    let deeper = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len() > lead.len();
    let has_children = text.get(end..)?.lines().find(|line| !line.trim().is_empty()).is_some_and(deeper);
    if !lead.trim().is_empty()
        || !own.all(|link| links::is_gone(context, index, link))
        || has_children
        || span.of(text).contains('\n')
    {
        return None;
    }
    let target = finding.data.get("target")?.as_str()?;
    let splice = Splice::delete(Span::new(start, end));
    Some(Fix::of_page(finding, Safety::Unsafe, &format!("entry for {target} dropped"), index, vec![splice]))
}

/// `* [Title](page.md) - description`
fn entry(marker: &str, page: &Page) -> Option<String> {
    let title = plain(page.title());
    let name = page.path.name();
    let lead = if name.contains(':') { "./" } else { "" };
    let description = page.frontmatter.text("description").map(plain).unwrap_or_default();
    let tail = if description.is_empty() { String::new() } else { format!(" - {description}") };
    let title = if title.is_empty() { plain(page.path.stem()) } else { title };
    Some(format!("{marker} [{title}]({lead}{}){tail}", styled("", name, false)))
}

/// A text on one line, with no markup in it.
pub fn plain(text: &str) -> String {
    let line = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let mut out = String::with_capacity(line.len());
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let after = line.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        let inner = before.is_alphanumeric() && after.is_alphanumeric();
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '|' | '$')
            || (c == '&' && after != ' ')
            || (c == '_' && !inner)
        {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

fn heading(folder: &BundlePath) -> String {
    let name = folder.name().replace(['-', '_'], " ");
    let mut chars = name.trim().chars();
    match chars.next() {
        Some(first) => plain(&(first.to_uppercase().collect::<String>() + chars.as_str())),
        None => "Index".to_owned(),
    }
}

fn counted(entries: usize) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

fn at_line_start(text: &str, at: usize) -> bool {
    at == 0 || text.get(..at).is_some_and(|before| before.ends_with('\n'))
}

fn next_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |nl| at + nl + 1)
}
