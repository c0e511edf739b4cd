//! `wikiwright lint --fix` and `--diff`: applies or shows what mends findings, and applies sets file by file for others.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use clap::Args;

use super::{Exit, bundle as opened, output};
use crate::bundle::ledger::{record::Origin, waits};
use crate::bundle::{Bundle, ChangeSet, Error, ErrorKind, Rules, Staged, Write as _};
use crate::config::{Environment, Flags, Settings};
use crate::lint::fix::{self, Request};
use crate::lint::{self, Level, Options, Report};
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::wiki::Wiki;

#[derive(Debug, Clone, Default, Args)]
pub struct FixArgs {
    /// Mend what can be mended beyond doubt; `undo` takes it back
    #[arg(long)]
    pub fix: bool,
    /// With --fix or --diff: mend too what somebody may have meant otherwise
    #[arg(long)]
    pub unsafe_fixes: bool,
    /// Change nothing; print what --fix would change as a patch
    #[arg(long)]
    pub diff: bool,
}

/// What there is to say after fixing.
pub enum Judged {
    /// The patch was printed.
    Shown(Exit),
    /// `whole` is false when something could not be written.
    Report { report: Report, whole: bool },
}

/// Judges a bundle; before that fixes its findings, when it was asked for: those of rules that are on. With `says_fixes` each
/// finding that is left says what would mend it.
pub fn judge(
    args: &FixArgs,
    bundle: &Bundle,
    wiki: Wiki,
    options: &Options,
    says_fixes: bool,
    flags: &Flags,
) -> anyhow::Result<Judged> {
    if args.unsafe_fixes && !args.fix && !args.diff {
        anyhow::bail!("--unsafe-fixes says what to fix; add --fix to do it or --diff to see it");
    }
    if !args.fix && !args.diff {
        let mut report = lint::lint(&wiki, options);
        if says_fixes {
            fix::annotate(&wiki, &mut report, options);
        }
        // The process ends after this: taking the model apart would only cost time.
        std::mem::forget(wiki);
        return Ok(Judged::Report { report, whole: true });
    }
    let settings = Settings::load(flags, &Environment::of_process())?;
    let rules = settings.manager.rules();
    let before = lint::lint(&wiki, options).count(Level::Error);
    let base = Arc::new(bundle.clone());
    let request = Request { base, rules: &rules, options, all: args.unsafe_fixes, wanted: &|_| true };
    let mut outcome = fix::run(wiki, &request);
    for error in outcome.refused.values() {
        output::complain(&format!("not fixed: {error}"));
    }
    if args.diff {
        print_patch(&outcome.changes)?;
        let fixes = outcome.fixed.len();
        let unsafe_fixes = if args.unsafe_fixes { " --unsafe-fixes" } else { "" };
        let alone = if args.fix { " without --diff" } else { "" };
        let makes = |what: &str| format!("nothing was changed. --fix{unsafe_fixes}{alone} makes {what}.");
        output::note(&match fixes {
            0 => "Nothing to fix; nothing was changed.".to_owned(),
            1 => format!("1 fix; {}", makes("it")),
            _ => format!("{fixes} fixes; {}", makes("them")),
        });
        return Ok(Judged::Shown(if before > 0 { Exit::Negative } else { Exit::Done }));
    }
    let remembering = opened::remember(bundle.clone(), &settings);
    let origin = Origin {
        who: "lint".to_owned(),
        message: format!("lint --fix: {} fixed", outcome.fixed.len()),
        ..Origin::default()
    };
    let written = apply(&remembering, &outcome.changes, &rules, &origin);
    let whole = written.failed.is_empty();
    if !whole {
        outcome.fixed.retain(|fixed| fixed.files.iter().any(|file| written.landed.contains(file)));
        outcome.wiki = Wiki::load(bundle)?;
        outcome.report = lint::lint(&outcome.wiki, options);
    } else {
        options.levels.apply(&mut outcome.report.findings);
    }
    if says_fixes {
        fix::annotate(&outcome.wiki, &mut outcome.report, options);
    }
    outcome.report.fixed = outcome.fixed;
    Ok(Judged::Report { report: outcome.report, whole })
}

/// Stages new texts of pages; what may not be written, or changed since it was read, is said and left out. The last is true
/// when all could be staged.
pub fn stage(
    bundle: &Bundle,
    wiki: &Wiki,
    settings: &Settings,
    texts: impl IntoIterator<Item = (BundlePath, String)>,
) -> (ChangeSet, bool) {
    let rules = settings.manager.rules();
    let staged = Staged::new(Arc::new(bundle.clone()), rules);
    let mut whole = true;
    for (path, text) in texts {
        if let Err(error) = staged.write(&path, text.as_bytes()) {
            output::complain(&format!("left as it is: {error}"));
            whole = false;
        }
    }
    let mut changes = staged.changes();
    changes.files.retain(|file| {
        let same = file.before.as_deref() == wiki.page(&file.path).map(|page| page.text.as_bytes());
        if !same {
            let path = file.path.relative();
            output::complain(&format!("left as it is: {path}: changed since it was read; run it again"));
            whole = false;
        }
        same
    });
    (changes, whole)
}

/// What became of a set.
pub struct Written {
    pub landed: Vec<BundlePath>,
    pub failed: Vec<Error>,
}

/// Writes a set whose files do not need each other: a file that cannot be written, or that the rules want looked at, is said
/// and left out, the others land together.
pub fn apply(bundle: &Bundle, changes: &ChangeSet, rules: &Rules, origin: &Origin) -> Written {
    let mut left = changes.clone();
    let mut written = Written { landed: Vec::new(), failed: Vec::new() };
    for change in &changes.files {
        let asked = rules.asks(change).then(|| Error::must_be_looked_at(&change.path));
        if let Some(error) = asked.or_else(|| locked(bundle, &change.path)) {
            left.files.retain(|file| file.path != change.path);
            written.failed.push(error);
        }
    }
    let mut tried = usize::MAX;
    while !left.is_empty() && left.files.len() < tried {
        tried = left.files.len();
        let mut applied = bundle.apply(&left, &super::review::approve_all(&left).decisions, origin);
        applied.notes.iter().for_each(|note| output::note(note));
        written.landed.append(&mut applied.landed);
        left.files.retain(|file| {
            applied.failed.iter().any(|(path, error)| *path == file.path && *error == waits(path))
        });
        written
            .failed
            .extend(applied.failed.into_iter().filter(|(path, e)| *e != waits(path)).map(|(_, e)| e));
    }
    written.failed.iter().for_each(|error| output::complain(&format!("cannot write {error}")));
    written
}

/// A file that nobody may write is left alone, though its folder would let another one take its place.
fn locked(bundle: &Bundle, path: &BundlePath) -> Option<Error> {
    let place = bundle.folder()?.root().join(path.relative());
    let facts = std::fs::symlink_metadata(place).ok()?;
    let text = "the file is read-only; make it writable first";
    facts.permissions().readonly().then(|| Error::new(ErrorKind::Denied, path, text))
}

/// The patch as it is for programs; for a terminal without what would steer it.
pub fn print_patch(changes: &ChangeSet) -> io::Result<()> {
    let (patch, mut out) = (changes.patch(), io::stdout().lock());
    match out.is_terminal() {
        true => out.write_all(Safe::block(&patch).to_string().as_bytes())?,
        false => out.write_all(patch.as_bytes())?,
    }
    out.flush()
}
