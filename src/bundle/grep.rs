//! Searching lines: one engine, linear in the input, the same on every machine.

use regex::{Regex, RegexBuilder};

use super::error::{Error, ErrorKind};
use super::glob::Pattern;
use super::storage::{EntryKind, Read};
use crate::okf::BundlePath;

/// Bytes that a compiled expression may take: refuses `(?:a{1000}){1000}` and its like.
const REGEX_SIZE: usize = 1 << 20;

/// Files read at once; most of them in vain when the first ones fill the limit.
const PORTION: usize = 64;

/// What to look for and where.
#[derive(Debug, Clone)]
pub struct Grep {
    /// Searched literally unless `regex`.
    pub pattern: String,
    pub regex: bool,
    pub ignore_case: bool,
    pub folder: BundlePath,
    /// Only files that this glob matches; see [`super::Read::glob`].
    pub glob: Option<String>,
    /// Stop after so many lines in all.
    pub limit: usize,
}

/// Lines found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrepResult {
    pub matches: Vec<GrepMatch>,
    /// The limit cut the list.
    pub truncated: bool,
    /// Files that could not be searched (not text, unreadable).
    pub skipped: Vec<BundlePath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    pub path: BundlePath,
    /// From 1, lines end at `\n`.
    pub line: usize,
    pub text: String,
}

/// [`Read::grep`] over any backend: every regular file below the folder (or the one file that is named), dot-files
/// included, dot-folders not unless the search starts there.
pub fn search<R: Read + ?Sized>(bundle: &R, query: &Grep) -> Result<GrepResult, Error> {
    let expression = compile(query)?;
    let glob = query.glob.as_deref().map(Pattern::new).transpose()?;
    let files: Vec<BundlePath> = match bundle.stat(&query.folder)?.kind {
        EntryKind::File => vec![query.folder.clone()],
        EntryKind::Special(what) => return Err(Error::special(&query.folder, what)),
        EntryKind::Directory => {
            let (entries, _) = bundle.walk(&query.folder)?;
            entries.into_iter().filter(|e| e.kind == EntryKind::File).map(|e| e.path).collect()
        }
    };
    let wanted = |path: &BundlePath| glob.as_ref().is_none_or(|g| g.matches(path, &query.folder));
    let files: Vec<BundlePath> = files.into_iter().filter(wanted).collect();
    let mut result = GrepResult::default();
    let read = files.chunks(PORTION).flat_map(|paths| paths.iter().zip(bundle.read_all(paths)));
    for (path, bytes) in read {
        let text = match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Err(e) if e.kind == ErrorKind::NotFound => continue,
            Ok(Err(_)) | Err(_) => {
                result.skipped.push(path.clone());
                continue;
            }
        };
        // Most files hold nothing: one pass over the whole text spares the split where no line can match.
        if !query.regex && !expression.is_match(&text) {
            continue;
        }
        for (index, line) in text.split_terminator('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if !expression.is_match(line) {
                continue;
            }
            if result.matches.len() >= query.limit {
                result.truncated = true;
                return Ok(result);
            }
            result.matches.push(GrepMatch { path: path.clone(), line: index + 1, text: line.to_owned() });
        }
    }
    Ok(result)
}

fn compile(query: &Grep) -> Result<Regex, Error> {
    let invalid =
        |message: String| Error { kind: ErrorKind::Invalid, path: query.folder.as_str().to_owned(), message };
    if query.pattern.is_empty() {
        return Err(invalid("the text to search for is empty; name what to find".to_owned()));
    }
    if !query.regex && query.pattern.contains('\n') {
        return Err(invalid(
            "lines are searched one by one; search for text without a line break".to_owned(),
        ));
    }
    let source = if query.regex { query.pattern.clone() } else { regex::escape(&query.pattern) };
    RegexBuilder::new(&source).case_insensitive(query.ignore_case).size_limit(REGEX_SIZE).build().map_err(
        |e| match e {
            regex::Error::CompiledTooBig(_) => {
                invalid("the regular expression is too large; simplify it".to_owned())
            }
            e => invalid(format!("not a regular expression: {e}")),
        },
    )
}
