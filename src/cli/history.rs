//! `wikiwright history`, `undo` and `redo`: what was applied to a bundle, and taking it back.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;

use super::{Exit, bundle, output, review};
pub use crate::bundle::ledger::record::Direction;
use crate::bundle::ledger::record::{Origin, Record, newest};
use crate::bundle::{Bundle, Ledger};
use crate::config::{Environment, Flags, Settings};
use crate::text::Safe;

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The bundle's folder
    pub path: PathBuf,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The bundle's folder
    pub path: PathBuf,
    /// Number of the set, as `history` lists it; without it the newest that fits
    pub id: Option<u64>,
    /// Write it without asking
    #[arg(long)]
    pub yes: bool,
}

fn open(path: &std::path::Path, flags: &Flags) -> anyhow::Result<(Bundle, Settings)> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let bundle = bundle::remember(bundle::open(path)?, &settings);
    Ok((bundle, settings))
}

fn ledger(bundle: &Bundle) -> anyhow::Result<&Ledger> {
    bundle
        .ledger()
        .map(|ledger| &**ledger)
        .context("this bundle keeps no history: only a folder of this machine does")
}

pub fn history(args: &HistoryArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let (bundle, _) = open(&args.path, flags)?;
    let records = ledger(&bundle)?.history()?;
    if records.is_empty() {
        output::note("Nothing has been applied to this bundle yet.");
        return Ok(Exit::Done);
    }
    let mut out = io::stdout();
    for record in &records {
        let Origin { who, model, message, undoes, redoes } = &record.origin;
        let mut who = who.clone();
        if let Some(model) = model {
            who.push_str(&format!(" ({model})"));
        }
        if let Some(id) = undoes.or(*redoes) {
            who.push_str(&format!(" of {id}"));
        }
        writeln!(out, "{:>5}  {}  {}  {}", record.id, record.time, Safe::line(&who), Safe::line(message))?;
        for step in &record.steps {
            let what = match (&step.before, &step.after) {
                (None, _) => "new",
                (_, None) => "deleted",
                _ => "changed",
            };
            writeln!(out, "       {what} {}", Safe::line(step.path.trim_start_matches('/')))?;
        }
    }
    Ok(Exit::Done)
}

pub fn turn(args: &UndoArgs, direction: Direction, flags: &Flags) -> anyhow::Result<Exit> {
    let (bundle, settings) = open(&args.path, flags)?;
    let ledger = ledger(&bundle)?;
    let records = ledger.history()?;
    let record = choose(&records, args.id, direction)?;
    let changes = match direction {
        Direction::Undo => ledger.undo(record)?,
        Direction::Redo => ledger.redo(record)?,
    };
    let origin = Origin::turning(record, direction);
    let look = review::Look::of(&*bundle.reader(), settings.color);
    let resolved = if args.yes {
        review::approve_all(&changes)
    } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
        review::ask_here(&changes, look)?
    } else {
        review::show(&changes, review::Look { color: false, ..look }, &mut io::stdout())?;
        output::note("Nothing was changed: there is no terminal to ask on. --yes does it without asking.");
        return Ok(Exit::Negative);
    };
    let applied = bundle.apply(&resolved.changes, &resolved.decisions, &origin);
    review::report(&resolved, &applied, &mut io::stdout())?;
    Ok(if applied.landed.is_empty() || !applied.failed.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The set that is meant. The newest set that counts now for an undo, the newest that was taken back for a redo.
fn choose(records: &[Record], id: Option<u64>, direction: Direction) -> anyhow::Result<&Record> {
    if let Some(id) = id {
        return records
            .iter()
            .find(|record| record.id == id)
            .with_context(|| format!("there is no set {id}; `wikiwright history` lists them"));
    }
    match newest(records, direction) {
        Some(record) => Ok(record),
        None if direction == Direction::Undo => bail!("there is nothing to undo"),
        None => bail!("there is nothing to redo"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: u64, undoes: Option<u64>, redoes: Option<u64>) -> Record {
        let origin = Origin { who: "x".into(), undoes, redoes, ..Origin::default() };
        Record { id, time: String::new(), origin, steps: Vec::new() }
    }

    fn chosen(records: &[Record], direction: Direction) -> Option<u64> {
        choose(records, None, direction).ok().map(|record| record.id)
    }

    #[test]
    fn undo_and_redo_answer_each_other() {
        let mut records = vec![record(2, None, None), record(1, None, None)];
        assert_eq!((chosen(&records, Direction::Undo), chosen(&records, Direction::Redo)), (Some(2), None));
        records.insert(0, record(3, Some(2), None));
        assert_eq!(
            (chosen(&records, Direction::Undo), chosen(&records, Direction::Redo)),
            (Some(1), Some(2))
        );
        records.insert(0, record(4, Some(1), None));
        assert_eq!((chosen(&records, Direction::Undo), chosen(&records, Direction::Redo)), (None, Some(1)));
        records.insert(0, record(5, None, Some(1)));
        assert_eq!(
            (chosen(&records, Direction::Undo), chosen(&records, Direction::Redo)),
            (Some(1), Some(2))
        );
    }

    #[test]
    fn a_number_that_is_not_there_is_an_error() {
        assert!(choose(&[], Some(7), Direction::Undo).unwrap_err().to_string().contains("no set 7"));
    }
}
