//! Deciding about proposed changes on a plain terminal: shows each diff, asks, gives decisions as data. Writes nothing.

use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::Context as _;

use super::{Exit, output};
use crate::bundle::apply::Applied;
use crate::bundle::change::Decisions;
use crate::bundle::change::oddity::keeps_pages_in_wiki;
use crate::bundle::{ChangeKind, ChangeSet, Decision, FileChange, Read};
use crate::text::Safe;
use crate::text::diff::{self, Change};

/// Says what became of each file.
pub fn report(changes: &ChangeSet, applied: &Applied, out: &mut dyn Write) -> io::Result<()> {
    for file in applied.landed.iter().filter_map(|path| changes.file(path)) {
        writeln!(out, "{}", Safe::line(&file.done()))?;
    }
    for (path, _) in &applied.rejected {
        writeln!(out, "rejected {}", Safe::line(path.relative()))?;
    }
    for path in &applied.pending {
        writeln!(out, "left undecided, not applied: {}", Safe::line(path.relative()))?;
    }
    for (_, error) in &applied.failed {
        output::complain(&format!("not applied: {error}"));
    }
    for note in &applied.notes {
        output::note(&Safe::line(note).into_string());
    }
    Ok(())
}

/// How changes are shown.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub color: bool,
    /// Pages lie in `wiki/`.
    pub wiki: bool,
}

impl Look {
    pub fn of(bundle: &dyn Read, color: bool) -> Self {
        Self { color, wiki: keeps_pages_in_wiki(bundle) }
    }
}

/// Says of every file that no wiki needs why it is marked, one sentence each.
pub fn warnings(changes: &ChangeSet, look: Look) -> Vec<String> {
    let warning = |file: &FileChange| {
        let why = file.oddity(look.wiki)?;
        Some(format!("{} {why}; look at it before you let it be written.", Safe::line(file.path.relative())))
    };
    changes.files.iter().filter_map(warning).collect()
}

/// Writes the set as a patch and says what to do with it.
pub fn write_patch(file: &Path, changes: &ChangeSet, look: Look, place: &str) -> anyhow::Result<Exit> {
    std::fs::write(file, changes.patch()).with_context(|| format!("cannot write {}", file.display()))?;
    output::note(&format!(
        "{}: {}. Nothing was changed; `git apply` in {} applies it.",
        file.display(),
        summary(changes),
        Safe::line(place)
    ));
    warnings(changes, look).iter().for_each(|text| output::note(&format!("! {text}")));
    Ok(Exit::Done)
}

/// Approves every file as it is.
pub fn approve_all(changes: &ChangeSet) -> Decisions {
    changes.files.iter().map(|file| (file.path.clone(), approval(file))).collect()
}

/// Rejects every file for one reason.
pub fn reject_all(changes: &ChangeSet, reason: &str) -> Decisions {
    let rejected = Decision::Rejected { reason: reason.to_owned() };
    changes.files.iter().map(|file| (file.path.clone(), rejected.clone())).collect()
}

/// Prints the diffs of all files, a count, and what to look at.
pub fn show(changes: &ChangeSet, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for file in &changes.files {
        writeln!(out)?;
        show_file(file, look, out)?;
    }
    writeln!(out, "\n{}", summary(changes))?;
    warnings(changes, look).iter().try_for_each(|text| writeln!(out, "! {text}"))
}

/// `"3 files: 1 new, 2 changed"`.
pub fn summary(changes: &ChangeSet) -> String {
    let count = |wanted: fn(&ChangeKind) -> bool| changes.files.iter().filter(|f| wanted(&f.kind)).count();
    let parts: Vec<String> = [
        (count(|k| *k == ChangeKind::Create), "new"),
        (count(|k| *k == ChangeKind::Modify), "changed"),
        (count(|k| matches!(k, ChangeKind::Rename { .. })), "moved"),
        (count(|k| *k == ChangeKind::Delete), "deleted"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, word)| format!("{n} {word}"))
    .collect();
    let files = changes.files.len();
    format!("{files} file{}: {}", if files == 1 { "" } else { "s" }, parts.join(", "))
}

/// Shows everything and asks: all, none, or file by file. The end of the input decides nothing, so nothing is applied.
pub fn ask(
    changes: &ChangeSet,
    look: Look,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<Decisions> {
    show(changes, look, out)?;
    let Some(answer) = question(input, out, "Apply all? [y]es, [n]o, [f]ile by file: ", &["y", "n", "f"])?
    else {
        return Ok(Decisions::new());
    };
    match answer {
        "y" => Ok(approve_all(changes)),
        "n" => Ok(reject_all(changes, &reason(input, out)?)),
        _ => file_by_file(changes, look, input, out),
    }
}

fn file_by_file(
    changes: &ChangeSet,
    look: Look,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<Decisions> {
    let mut decisions = Decisions::new();
    for file in &changes.files {
        writeln!(out)?;
        show_file(file, look, out)?;
        let prompt = format!("Apply {}? [y]es, [n]o, [q]uit: ", Safe::line(file.path.relative()));
        let decision = match question(input, out, &prompt, &["y", "n", "q"])? {
            Some("y") => approval(file),
            Some("n") => Decision::Rejected { reason: reason(input, out)? },
            _ => break,
        };
        decisions.insert(file.path.clone(), decision);
    }
    Ok(decisions)
}

fn approval(file: &FileChange) -> Decision {
    Decision::Approved { shown: file.shown() }
}

/// One of `answers`, asked again until it is; none at the end of the input.
fn question<'a>(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    prompt: &str,
    answers: &[&'a str],
) -> io::Result<Option<&'a str>> {
    loop {
        write!(out, "{prompt}")?;
        out.flush()?;
        let Some(line) = line(input)? else {
            writeln!(out)?;
            return Ok(None);
        };
        let line = line.to_lowercase();
        if let Some(answer) = answers.iter().find(|a| line == **a || (line.len() > 1 && word(a) == line)) {
            return Ok(Some(answer));
        }
    }
}

fn word(answer: &str) -> &'static str {
    match answer {
        "y" => "yes",
        "n" => "no",
        "f" => "file",
        _ => "quit",
    }
}

fn reason(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "Why not? The manager is told (may be empty): ")?;
    out.flush()?;
    Ok(line(input)?.unwrap_or_default())
}

/// A trimmed line; bytes that are not UTF-8 are replaced.
fn line(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

fn show_file(file: &FileChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let path = Safe::line(file.path.relative());
    match &file.kind {
        ChangeKind::Create => writeln!(out, "new {path}")?,
        ChangeKind::Modify => writeln!(out, "changed {path}")?,
        ChangeKind::Delete => writeln!(out, "deleted {path}")?,
        ChangeKind::Rename { from } => writeln!(out, "moved {} to {path}", Safe::line(from.relative()))?,
    }
    if let Some(why) = file.oddity(look.wiki) {
        writeln!(out, "! This file {why}.")?;
    }
    let Ok((before, after)) = file.texts() else {
        let bytes = |side: &Option<std::sync::Arc<[u8]>>| side.as_ref().map_or(0, |b| b.len());
        return writeln!(
            out,
            "  not text: {} bytes before, {} after",
            bytes(&file.before),
            bytes(&file.after)
        );
    };
    for hunk in diff::hunks(before.unwrap_or_default(), after.unwrap_or_default()) {
        writeln!(out, "@@ -{},{} +{},{} @@", hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len)?;
        for line in &hunk.lines {
            let text = Safe::line(&line.text);
            let (sign, sgr) = match line.change {
                Change::Context => (' ', ""),
                Change::Removed => ('-', "\x1b[31m"),
                Change::Added => ('+', "\x1b[32m"),
            };
            if look.color && !sgr.is_empty() {
                writeln!(out, "{sgr}{sign}{text}\x1b[0m")?;
            } else {
                writeln!(out, "{sign}{text}")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
