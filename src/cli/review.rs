//! Deciding about proposed changes on a plain terminal: shows each diff, asks, hunk by hunk if wanted, gives decisions as
//! data. Writes nothing.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::{Exit, editor, output};
use crate::bundle::apply::Applied;
use crate::bundle::change::Decisions;
use crate::bundle::change::oddity::keeps_pages_in_wiki;
use crate::bundle::hunk::bonds::{bonds, stranded};
use crate::bundle::hunk::{FileDecision, FileHunk, HunkDecision, Resolved, Verdicts, resolve};
use crate::bundle::{ChangeKind, ChangeSet, Decision, FileChange, Read};
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::text::diff::{self, Change, Part};

/// Says what became of each file.
pub fn report(resolved: &Resolved, applied: &Applied, out: &mut dyn Write) -> io::Result<()> {
    let failed = |path: &BundlePath| applied.failed.iter().any(|(at, _)| at == path);
    for file in applied.landed.iter().filter_map(|path| resolved.changes.file(path)) {
        let part = resolved.left.contains_key(&file.path) && {
            let whole = resolved.proposed.file(&file.path).map(|f| &f.after);
            whole != Some(&file.after)
        };
        writeln!(out, "{}{}", Safe::line(&file.done()), if part { ", in part" } else { "" })?;
    }
    for path in resolved.left.keys().filter(|path| !failed(path)) {
        let path_text = Safe::line(path.relative());
        let of = |count: usize| if count == 1 { "1 change".to_owned() } else { format!("{count} changes") };
        match resolved.rejected.iter().filter(|r| r.path == *path).count() {
            0 => {}
            count => writeln!(out, "rejected {} of {path_text}", of(count))?,
        }
        match resolved.replaced.iter().filter(|(at, ..)| at == path).count() {
            0 => {}
            count => writeln!(out, "written with your text: {} of {path_text}", of(count))?,
        }
        if resolved.left.get(path).is_some_and(Option::is_some) {
            writeln!(out, "left undecided in part: {path_text}")?;
        }
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
pub fn approve_all(changes: &ChangeSet) -> Resolved {
    let approved = changes.files.iter().map(|file| (file.path.clone(), approval(file)));
    Resolved::whole(changes.clone(), approved.collect())
}

/// Rejects every file for one reason.
pub fn reject_all(changes: &ChangeSet, reason: &str) -> Resolved {
    let rejected = Decision::Rejected { reason: reason.to_owned() };
    let rejected = changes.files.iter().map(|file| (file.path.clone(), rejected.clone()));
    Resolved::whole(changes.clone(), rejected.collect())
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

/// [`ask`] on the terminal of this process, with the person's editor.
pub fn ask_here(changes: &ChangeSet, look: Look) -> io::Result<Resolved> {
    let mut talk = Talk { input: &mut io::stdin().lock(), out: &mut io::stdout(), edit: &editor::edit };
    ask(changes, look, &mut talk)
}

/// Where is asked, and what edits.
pub struct Talk<'a> {
    pub input: &'a mut dyn BufRead,
    pub out: &'a mut dyn Write,
    pub edit: &'a dyn Fn(&str) -> anyhow::Result<String>,
}

/// Shows everything and asks: all, none, or hunk by hunk. The end of the input decides nothing, so nothing is applied.
pub fn ask(changes: &ChangeSet, look: Look, talk: &mut Talk<'_>) -> io::Result<Resolved> {
    show(changes, look, talk.out)?;
    let prompt = "Apply all? [y]es, [n]o, [h]unk by hunk: ";
    match talk.question(prompt, &[("y", "yes"), ("n", "no"), ("h", "hunk")])? {
        None => Ok(Resolved::whole(changes.clone(), Decisions::new())),
        Some("y") => Ok(approve_all(changes)),
        Some("n") => Ok(reject_all(changes, &talk.reason()?)),
        Some(_) => hunk_by_hunk(changes, look, talk),
    }
}

/// Walks the files and their hunks as `git add -p` does. Before it ends it says what would be torn apart.
fn hunk_by_hunk(changes: &ChangeSet, look: Look, talk: &mut Talk<'_>) -> io::Result<Resolved> {
    let mut verdicts = Verdicts::new();
    for file in &changes.files {
        let hunks = file.hunks();
        writeln!(talk.out)?;
        let mut decisions = vec![HunkDecision::PutOff; hunks.len().max(1)];
        let on = if hunks.is_empty() {
            show_file(file, look, talk.out)?;
            whole(file, &mut decisions, talk)?
        } else {
            head(file, look, talk.out)?;
            walk(file, &hunks, &mut decisions, look, talk)?
        };
        let verdict = FileDecision::of(file.shown(), &hunks, &decisions);
        verdicts.extend(verdict.map(|verdict| (file.path.clone(), verdict)));
        if !on {
            break;
        }
    }
    let torn = stranded(changes, &bonds(changes), &verdicts);
    if !torn.is_empty() {
        writeln!(talk.out)?;
        torn.iter().try_for_each(|text| writeln!(talk.out, "! {}", Safe::line(text)))?;
        let go = talk.question("Write it all the same? [y]es, [n]o: ", &[("y", "yes"), ("n", "no")])?;
        if go != Some("y") {
            return Ok(Resolved::whole(changes.clone(), Decisions::new()));
        }
    }
    Ok(resolve(changes, &verdicts))
}

/// A file that can only be decided as a whole; false to stop.
fn whole(file: &FileChange, decisions: &mut [HunkDecision], talk: &mut Talk<'_>) -> io::Result<bool> {
    let prompt = format!("Apply {}? [y]es, [n]o, [l]ater, [q]uit: ", Safe::line(file.path.relative()));
    let answers = [("y", "yes"), ("n", "no"), ("l", "later"), ("q", "quit")];
    let decision = match talk.question(&prompt, &answers)? {
        Some("y") => HunkDecision::Approved,
        Some("n") => HunkDecision::Rejected { reason: talk.reason()? },
        Some("l") => HunkDecision::PutOff,
        _ => return Ok(false),
    };
    decisions.fill(decision);
    Ok(true)
}

const ANSWERS: [(&str, &str); 9] = [
    ("y", "yes"),
    ("n", "no"),
    ("l", "later"),
    ("e", "edit"),
    ("a", "all"),
    ("d", "drop"),
    ("k", "back"),
    ("q", "quit"),
    ("?", "help"),
];

const HELP: &str = "y  apply this change
n  reject it; the manager is told why
l  leave it for later: it stays proposed
e  edit the proposed text, and apply that
a  apply this and all later changes of the file
d  reject this and all later changes of the file
k  back to the change before
q  quit: decide nothing more, apply what is decided
?  this help";

/// Decides the hunks of one file; false to stop.
fn walk(
    file: &FileChange,
    hunks: &[FileHunk],
    decisions: &mut [HunkDecision],
    look: Look,
    talk: &mut Talk<'_>,
) -> io::Result<bool> {
    let path = Safe::line(file.path.relative());
    let mut at = 0;
    while let Some(hunk) = hunks.get(at) {
        show_hunk(file, hunk, look, talk.out)?;
        let prompt =
            format!("({}/{}) Apply this change to {path}? [y,n,l,e,a,d,k,q,?]: ", at + 1, hunks.len());
        let mut decide = |decision: HunkDecision| {
            if let Some(place) = decisions.get_mut(at) {
                *place = decision;
            }
        };
        match talk.question(&prompt, &ANSWERS)? {
            Some("y") => decide(HunkDecision::Approved),
            Some("n") => decide(HunkDecision::Rejected { reason: talk.reason()? }),
            Some("l") => decide(HunkDecision::PutOff),
            Some("e") => match (talk.edit)(&hunk.after) {
                Ok(text) if text == hunk.after => decide(HunkDecision::Approved),
                Ok(text) => decide(HunkDecision::Replaced { text }),
                Err(error) => {
                    writeln!(talk.out, "{}", Safe::line(&error.to_string()))?;
                    continue;
                }
            },
            Some(answer @ ("a" | "d")) => {
                let decision = match answer {
                    "a" => HunkDecision::Approved,
                    _ => HunkDecision::Rejected { reason: talk.reason()? },
                };
                decisions.iter_mut().skip(at).for_each(|place| *place = decision.clone());
                return Ok(true);
            }
            Some("k") => {
                at = at.saturating_sub(1);
                continue;
            }
            Some("?") => {
                writeln!(talk.out, "{HELP}")?;
                continue;
            }
            _ => return Ok(false),
        }
        at += 1;
    }
    Ok(true)
}

fn approval(file: &FileChange) -> Decision {
    Decision::Approved { shown: file.shown() }
}

impl Talk<'_> {
    /// One of `answers`, by its letter or word, asked again until it is; none at the end of the input.
    fn question<'a>(&mut self, prompt: &str, answers: &[(&'a str, &'a str)]) -> io::Result<Option<&'a str>> {
        loop {
            write!(self.out, "{prompt}")?;
            self.out.flush()?;
            let Some(line) = line(self.input)? else {
                writeln!(self.out)?;
                return Ok(None);
            };
            let line = line.to_lowercase();
            if let Some((answer, _)) = answers.iter().find(|(letter, word)| line == *letter || line == *word)
            {
                return Ok(Some(answer));
            }
        }
    }

    fn reason(&mut self) -> io::Result<String> {
        write!(self.out, "Why not? The manager is told (may be empty): ")?;
        self.out.flush()?;
        Ok(line(self.input)?.unwrap_or_default())
    }
}

/// A trimmed line; bytes that are not UTF-8 are replaced.
fn line(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

fn head(file: &FileChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
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
    if file.is_line_ends_only() {
        writeln!(out, "  only line ends change")?;
    }
    Ok(())
}

fn show_file(file: &FileChange, look: Look, out: &mut dyn Write) -> io::Result<()> {
    head(file, look, out)?;
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
        hunk.lines.iter().try_for_each(|line| show_line(line.change, &line.text, look, out))?;
    }
    Ok(())
}

/// One hunk with its surroundings.
fn show_hunk(file: &FileChange, hunk: &FileHunk, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (old, new) = (hunk.old.start + 1, hunk.new.start + 1);
    write!(out, "@@ -{old},{} +{new},{} @@", hunk.old.len(), hunk.new.len())?;
    let (heads, keys) = (file.head_lines(), file.changed_keys());
    if (hunk.old.start < heads.0 || hunk.new.start < heads.1) && !keys.is_empty() {
        write!(out, " frontmatter: {}", Safe::line(&keys.join(", ")))?;
    }
    writeln!(out)?;
    let before = file.texts().ok().and_then(|(before, _)| before).unwrap_or_default();
    let lines: Vec<&str> = before.lines().collect();
    let around = |range: std::ops::Range<usize>| lines.iter().skip(range.start).take(range.len());
    around(hunk.old.start.saturating_sub(diff::CONTEXT)..hunk.old.start)
        .try_for_each(|text| show_line(Change::Context, text, look, out))?;
    for part in
        diff::parts(&hunk.before, &hunk.after, (hunk.old.start, hunk.new.start), Duration::from_secs(1))
    {
        let lines = match part {
            Part::Same(line) => vec![line],
            Part::Changed(block) => [block.removed, block.added].concat(),
        };
        lines.iter().try_for_each(|line| show_line(line.change, &line.text, look, out))?;
    }
    around(hunk.old.end..hunk.old.end + diff::CONTEXT)
        .try_for_each(|text| show_line(Change::Context, text, look, out))
}

fn show_line(change: Change, text: &str, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let text = Safe::line(text);
    let (sign, sgr) = match change {
        Change::Context => (' ', ""),
        Change::Removed => ('-', "\x1b[31m"),
        Change::Added => ('+', "\x1b[32m"),
    };
    if look.color && !sgr.is_empty() {
        writeln!(out, "{sgr}{sign}{text}\x1b[0m")
    } else {
        writeln!(out, "{sign}{text}")
    }
}

#[cfg(test)]
mod tests;
