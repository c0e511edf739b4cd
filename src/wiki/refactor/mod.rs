//! Moving and deleting pages without breaking what points at them. Pure: from the model to a [`Plan`]; staging it is one
//! call more, and nothing is written here.
//!
//! Links are replaced by their bytes, in the style they are written in; every other byte of a page stays. Each page that was
//! changed is parsed again, and a plan in which a link would not lead where it must is refused.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Wiki;
use crate::bundle::{Error, Staged, Write};
use crate::okf::path::Reserved;
use crate::okf::{BundlePath, Link, LinkKind, Page, Target};
use crate::text::Span;

#[cfg(test)]
mod tests;

/// What is to be done, as data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// From, to.
    pub moves: Vec<(BundlePath, BundlePath)>,
    pub deletes: Vec<BundlePath>,
    /// New text of pages, by the path they have after the moves.
    pub edits: BTreeMap<BundlePath, String>,
    /// Sentences for the person: what is left as it is and may break.
    pub notes: Vec<String>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefactorError {
    #[error("{0}: there is no such file or folder in the bundle")]
    Absent(BundlePath),
    #[error("{0}: there is a file or folder of that name already")]
    Taken(BundlePath),
    #[error("{0}: the bundle itself cannot be moved or deleted")]
    Root(BundlePath),
    #[error("a folder cannot be moved into itself")]
    IntoItself,
    #[error("{0} is a folder; delete its files one by one")]
    Folder(BundlePath),
    #[error("{page}: the link to {target} cannot be written anew without doubt; change it by hand first")]
    Unsafe { page: BundlePath, target: String },
}

impl Plan {
    /// Stages the plan: moves, then edits, then deletions. Stops at the first that a rule or the bundle refuses.
    pub fn stage(&self, staged: &Staged) -> Result<(), Error> {
        for (from, to) in &self.moves {
            staged.rename(from, to)?;
        }
        for (path, text) in &self.edits {
            staged.write(path, text.as_bytes())?;
        }
        self.deletes.iter().try_for_each(|path| staged.delete(path))
    }
}

/// A replacement of bytes.
struct Splice {
    span: Span,
    text: String,
}

/// Moves a page, another file, or a folder with all that is in it. Links to what moves, links in it, and the entry in the
/// folder's index follow.
pub fn plan_move(wiki: &Wiki, from: &BundlePath, to: &BundlePath) -> Result<Plan, RefactorError> {
    if from.is_root() || to.is_root() {
        return Err(RefactorError::Root(BundlePath::root()));
    }
    if from != to && to.is_within(from) {
        return Err(RefactorError::IntoItself);
    }
    let pages = wiki.pages().map(|page| &page.path);
    let moves: Vec<(BundlePath, BundlePath)> = pages
        .chain(wiki.files())
        .filter(|path| path.is_within(from))
        .map(|path| (path.clone(), relocate(path, from, to)))
        .collect();
    if moves.is_empty() || from == to {
        return Err(if from == to {
            RefactorError::Taken(to.clone())
        } else {
            RefactorError::Absent(from.clone())
        });
    }
    // Only the letter case or Unicode form changes: the same place on some file systems.
    if wiki.exists(to) && from.fold_key() != to.fold_key() {
        return Err(RefactorError::Taken(to.clone()));
    }
    let mut plan = Plan { moves, ..Plan::default() };
    plan.moves.sort();
    plan.moves.dedup();
    let mut entry = None;
    for page in wiki.pages() {
        let at = relocate(&page.path, from, to);
        let mut splices = Vec::new();
        for link in &page.links {
            if let Some(text) = redirected(page, &at, link, from, to) {
                splices.push(Splice { span: link.destination_span, text });
            }
        }
        let expected: Vec<Target> = page.links.iter().map(|link| expected(link, from, to)).collect();
        // The entry of a page that leaves its folder goes to the new folder's index.
        let leaves = page.path.reserved() == Some(Reserved::Index)
            && from.parent() != to.parent()
            && page.path.parent() == from.parent()
            && from.is_markdown();
        let taken = if leaves { entry_line(page, from) } else { None };
        if let Some(line) = taken
            && let Some(index) = to.parent().and_then(|folder| folder.join("index.md").ok())
            && wiki.page(&index).is_some()
        {
            let mut text = line.of(&page.text).trim_end().to_owned();
            let link = page.links.iter().find(|l| line.start <= l.span.start && l.span.end <= line.end);
            if let Some(destination) = link.map(|l| l.destination_span.of(&page.text))
                && let Some(start) = text.find(destination)
            {
                let new = styled(destination, &to.relative_to_page(&index), false);
                text.replace_range(start..start + destination.len(), &new);
                splices.retain(|s| s.span.start < line.start || s.span.end > line.end);
                splices.push(Splice { span: line, text: String::new() });
                entry = Some((index, text));
            }
        } else if splices.is_empty() {
            continue;
        }
        if splices.is_empty() {
            continue;
        }
        let moved_entry = taken.is_some() && entry.is_some();
        let text = spliced(&page.text, splices);
        if !moved_entry {
            verify(page, &at, &text, &expected)?;
        }
        plan.edits.insert(at, text);
    }
    if let Some((index, line)) = entry {
        let before = match plan.edits.get(&index) {
            Some(text) => text.clone(),
            None => wiki.page(&index).map(|page| page.text.to_string()).unwrap_or_default(),
        };
        plan.edits.insert(index, with_entry(&before, &line));
    }
    for (path, _) in wiki.problems() {
        plan.notes.push(format!("{path} cannot be read as a page; links in it stay as they are"));
    }
    Ok(plan)
}

/// Deletes one file and its index entries. What else points at it is named, and stays.
pub fn plan_delete(wiki: &Wiki, path: &BundlePath) -> Result<Plan, RefactorError> {
    if path.is_root() {
        return Err(RefactorError::Root(path.clone()));
    }
    let is_file = wiki.page(path).is_some() || wiki.files().any(|file| file == path);
    if !is_file {
        return Err(if wiki.exists(path) {
            RefactorError::Folder(path.clone())
        } else {
            RefactorError::Absent(path.clone())
        });
    }
    let mut plan = Plan { deletes: vec![path.clone()], ..Plan::default() };
    for (page, link) in wiki.links_to(path) {
        if page.path == *path {
            continue;
        }
        let in_index = page.path.reserved() == Some(Reserved::Index);
        if let Some(line) = in_index.then(|| entry_line(page, path)).flatten()
            && line.start <= link.span.start
        {
            plan.edits
                .entry(page.path.clone())
                .or_insert_with(|| spliced(&page.text, vec![Splice { span: line, text: String::new() }]));
            continue;
        }
        let place = page.lines.position(&page.text, link.span.start);
        plan.notes.push(format!(
            "{}:{}:{}: this link will be broken",
            page.path.relative(),
            place.line,
            place.column
        ));
    }
    Ok(plan)
}

fn relocate(path: &BundlePath, from: &BundlePath, to: &BundlePath) -> BundlePath {
    if !path.is_within(from) {
        return path.clone();
    }
    let rest = path.as_str().get(from.as_str().len()..).unwrap_or_default().trim_start_matches('/');
    // A path below a valid one, with components that were valid before.
    to.join(rest).unwrap_or_else(|_| to.clone())
}

/// What the link must mean afterwards.
fn expected(link: &Link, from: &BundlePath, to: &BundlePath) -> Target {
    match &link.target {
        Target::Path { path, absolute, folder, fragment } => Target::Path {
            path: relocate(path, from, to),
            absolute: *absolute,
            folder: *folder,
            fragment: fragment.clone(),
        },
        other => other.clone(),
    }
}

/// The link's new destination; none when it can stay as it is.
fn redirected(
    page: &Page,
    at: &BundlePath,
    link: &Link,
    from: &BundlePath,
    to: &BundlePath,
) -> Option<String> {
    let Target::Path { path, absolute, folder, .. } = &link.target else { return None };
    if matches!(link.kind, LinkKind::Wikilink | LinkKind::Autolink) {
        return None;
    }
    let target = relocate(path, from, to);
    if target == *path && (*absolute || *at == page.path) {
        return None;
    }
    let mut text = if *absolute { target.as_str().to_owned() } else { target.relative_to_page(at) };
    if *folder && !text.ends_with('/') {
        text.push('/');
    }
    let old = link.destination_span.of(&page.text);
    // A page that moves together with what it links to keeps the link as it was written.
    if at.resolve(link_path(old)).is_ok_and(|now| now == target) && !old.contains('%') && !*absolute {
        return None;
    }
    let raw = matches!(link.kind, LinkKind::Field(_));
    Some(styled(old, &text, raw))
}

/// A destination without its query and fragment.
fn link_path(destination: &str) -> &str {
    destination.split(['?', '#']).next().unwrap_or_default()
}

/// What a destination cannot hold as it is.
const SPECIAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'%')
    .add(b'"')
    .add(b'\'')
    .add(b'&')
    .add(b'\\')
    .add(b'#')
    .add(b'?');

/// `path` written as `old` was: its query and fragment kept, other alphabets encoded when they were.
fn styled(old: &str, path: &str, raw: bool) -> String {
    let tail = old.get(link_path(old).len()..).unwrap_or_default();
    if raw {
        return format!("{path}{tail}");
    }
    let encodes = link_path(old).is_ascii() && link_path(old).contains('%');
    let encoded = if encodes && !path.is_ascii() {
        path.split('/').map(|part| utf8_percent_encode(part, KEPT).to_string()).collect::<Vec<_>>().join("/")
    } else {
        let mut out = String::with_capacity(path.len());
        for c in path.chars() {
            let mut buffer = [0; 4];
            let c = &*c.encode_utf8(&mut buffer);
            if c.is_ascii() { out.extend(utf8_percent_encode(c, SPECIAL)) } else { out.push_str(c) }
        }
        out
    };
    format!("{encoded}{tail}")
}

const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The whole line of a list entry whose first link leads to `target`, line end included.
fn entry_line(index: &Page, target: &BundlePath) -> Option<Span> {
    let link = index.links.iter().find(|l| l.target.path() == Some(target) && l.kind == LinkKind::Inline)?;
    let start = index.text.get(..link.span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end =
        index.text.get(link.span.end..)?.find('\n').map_or(index.text.len(), |at| link.span.end + at + 1);
    let lead = index.text.get(start..link.span.start)?.trim();
    matches!(lead, "*" | "-" | "+").then(|| Span::new(start, end))
}

/// The text with one more entry, after the last list item, else at the end.
fn with_entry(text: &str, line: &str) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut at = 0;
    let mut after = None;
    let mut bullet = None;
    for row in text.split_inclusive('\n') {
        at += row.len();
        let mark = row.chars().next().filter(|c| "*-+".contains(*c));
        if mark.is_some() && row.chars().nth(1) == Some(' ') {
            (after, bullet) = (Some(at), mark);
        }
    }
    let mut line = line.trim_start().to_owned();
    if let Some(mark) = bullet {
        line.replace_range(..1, &mark.to_string());
    }
    let (head, tail) = match after {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default()),
        None => (text, ""),
    };
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { ending };
    let space = if after.is_none() && !head.trim().is_empty() { ending } else { "" };
    format!("{head}{gap}{space}{line}{ending}{tail}")
}

/// The text with its splices; several of one span (links that share a definition) count once.
fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|s| (s.span.start, s.span.end));
    splices.dedup_by_key(|s| s.span);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        out.push_str(text.get(at..splice.span.start).unwrap_or_default());
        out.push_str(&splice.text);
        at = at.max(splice.span.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Parses the new text and compares each link with what it must mean.
fn verify(page: &Page, at: &BundlePath, text: &str, expected: &[Target]) -> Result<(), RefactorError> {
    let now = Page::parse(at.clone(), text.into());
    let wrong = expected.iter().zip(now.links.iter().map(|l| Some(&l.target)).chain(std::iter::repeat(None)));
    let meaning = |target: &Target| match target {
        // A link of the same text that is no path of the bundle may be resolved from elsewhere now.
        Target::Path { path, fragment, .. } => (Some(path.clone()), fragment.clone()),
        _ => (None, None),
    };
    for (wanted, found) in wrong {
        if found.map(meaning) != Some(meaning(wanted)) {
            let target = wanted.path().map_or_else(|| "it".to_owned(), ToString::to_string);
            return Err(RefactorError::Unsafe { page: page.path.clone(), target });
        }
    }
    Ok(())
}
