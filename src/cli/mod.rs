//! The command line: arguments, one file per subcommand, exit codes. Nothing above this room decides anything; nothing
//! below it prints.

mod around;
pub mod ask;
pub mod bundle;
#[cfg(feature = "documents")]
pub mod convert;
pub mod demo;
pub mod doctor;
pub mod editor;
pub mod fix;
pub mod fmt;
pub mod history;
pub mod init;
pub mod lint;
pub mod manage;
pub mod migrate;
pub mod model;
pub mod open;
pub mod output;
#[cfg(feature = "documents")]
pub mod read;
pub mod refactor;
pub mod review;
pub mod sessions;
pub mod turn;
pub mod watch;

use std::io;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use self::history::Direction;
use crate::config::Flags;
use crate::tui::terminal;

/// What a command says to whoever started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked; for `lint`: no errors.
    Done,
    /// `lint` found errors or could not write a fix, `ask` found nothing in the bundle, `manage` changed nothing because it was
    /// declined or could not ask, `doctor` found that the model calls no tools.
    Negative,
    /// Bad arguments, no such bundle, no terminal, no model, the model failed.
    CouldNotRun,
    /// The workbench's own status: 128 + n after signal n.
    Status(u8),
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Negative => 1,
            Self::CouldNotRun => 2,
            Self::Status(code) => code,
        }
    }
}

/// The exit codes as `--help` and the README show them.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done; for lint: no errors
  1  lint found errors or could not write a fix; fmt --check found pages to format; ask found no answer in the bundle; manage: nothing proposed was approved; doctor: the model calls no tools
  2  could not run: bad arguments, no bundle there, no terminal, no model, the model failed
  128+n  the workbench was ended by signal n";

/// A terminal workbench for wikis in the Open Knowledge Format.
///
/// Without a subcommand it opens the workbench on PATH. A folder whose name is that of a subcommand is opened as
/// `./NAME`.
#[derive(Debug, Parser)]
#[command(name = "wikiwright", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER); without
    /// it, the bundle around the current folder
    pub path: Option<PathBuf>,
    #[command(flatten)]
    pub take_up: sessions::TakeUp,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Base URL of an OpenAI-compatible server, up to and with /v1
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// The model's name on that server
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// Read this configuration file instead of the user's
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Let the manager propose changes to sources in raw/ too
    #[arg(long, global = true)]
    pub no_protect_raw: bool,
}

impl Global {
    fn flags(&self) -> Flags {
        Flags {
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            config: self.config.clone(),
            no_protect_raw: self.no_protect_raw,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the workbench on a small example wiki, with a scripted model: no key, no network
    Demo,
    /// Make an empty bundle that lints clean: AGENTS.md, raw/ and wiki/ with its categories
    Init(init::InitArgs),
    /// Judge a bundle and print the findings
    Lint(lint::LintArgs),
    /// Bring the frontmatter of every page into one form: keys in order, lists in one style
    Fmt(fmt::FmtArgs),
    /// Carry the pages over to a later version of the format; shows the diff and asks
    Migrate(migrate::MigrateArgs),
    /// Ask the reader a question; the answer comes from the bundle only and cites its pages
    Ask(ask::AskArgs),
    /// Let the manager propose changes; nothing is written without a decision
    Manage(manage::ManageArgs),
    /// Move a page, file or folder; links to it and in it follow, and its index entry too
    Mv(refactor::MoveArgs),
    /// Delete a page or file and its index entries; says what will be broken
    Rm(refactor::RemoveArgs),
    /// Make a page a section of another; links follow
    Merge(refactor::MergeArgs),
    /// Make a section a page of its own; links follow
    Split(refactor::SplitArgs),
    /// List what was applied to a bundle, the newest first
    History(history::HistoryArgs),
    /// List the conversations that are kept of a bundle
    Sessions(sessions::SessionsArgs),
    /// Run a kept conversation again with its recorded model answers, and say what comes out differently; writes nothing
    Replay(sessions::ReplayArgs),
    /// Take an applied set back; where a file was changed since, nothing is written
    Undo(history::UndoArgs),
    /// Bring back a set that was taken back
    Redo(history::UndoArgs),
    /// Say which model is used and why, ask it a question with a tool, and report on terminal and folders
    Doctor(doctor::DoctorArgs),
    /// Print a source document of raw/ as markdown: PDF, office, web page, mail
    #[cfg(feature = "documents")]
    Read(read::ReadArgs),
    /// Convert the document on standard input; started by the program itself
    #[cfg(feature = "documents")]
    #[command(hide = true)]
    ConvertDocument,
}

/// Parses the arguments, runs the command, prints what went wrong; gives the exit code.
pub fn main() -> u8 {
    std::panic::set_hook(Box::new(|info| {
        output::complain(&format!("a part of the program failed: {}", terminal::panic_text(info)));
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Fails only when the stream is gone, and then there is nobody to tell.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match run(&cli) {
        Ok(exit) => exit.code(),
        // `wikiwright lint | head` is no failure.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            output::complain(&format!("{error:#}"));
            Exit::CouldNotRun.code()
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<Exit> {
    let flags = cli.global.flags();
    match (&cli.path, &cli.command) {
        (Some(path), Some(_)) => anyhow::bail!(
            "{} stands before a subcommand. Write the folder after it, or leave the subcommand out to open the workbench.",
            path.display()
        ),
        (path, None) => open::run(path.as_deref(), &cli.take_up, &flags),
        (None, Some(Command::Demo)) => demo::run(&flags),
        (None, Some(Command::Init(args))) => init::run(args, &flags),
        (None, Some(Command::Lint(args))) => lint::run(args, &flags),
        (None, Some(Command::Fmt(args))) => fmt::run(args, &flags),
        (None, Some(Command::Migrate(args))) => migrate::run(args, &flags),
        (None, Some(Command::Ask(args))) => ask::run(args, &flags),
        (None, Some(Command::Manage(args))) => manage::run(args, &flags),
        (None, Some(Command::Mv(args))) => refactor::mv(args, &flags),
        (None, Some(Command::Rm(args))) => refactor::rm(args, &flags),
        (None, Some(Command::Merge(args))) => refactor::merge(args, &flags),
        (None, Some(Command::Split(args))) => refactor::split(args, &flags),
        (None, Some(Command::Sessions(args))) => sessions::list(args),
        (None, Some(Command::Replay(args))) => sessions::run_again(args, &flags),
        (None, Some(Command::History(args))) => history::history(args, &flags),
        (None, Some(Command::Undo(args))) => history::turn(args, Direction::Undo, &flags),
        (None, Some(Command::Doctor(args))) => doctor::run(args, &flags),
        #[cfg(feature = "documents")]
        (None, Some(Command::Read(args))) => read::run(args, &flags),
        #[cfg(feature = "documents")]
        (None, Some(Command::ConvertDocument)) => convert::run(),
        (None, Some(Command::Redo(args))) => history::turn(args, Direction::Redo, &flags),
    }
}

/// What the commands with a model run on.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn arguments_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_before_and_after_a_subcommand() {
        for arguments in [["wikiwright", "--model", "m", "demo"], ["wikiwright", "demo", "--model", "m"]] {
            let cli = Cli::try_parse_from(arguments).unwrap();
            assert_eq!(cli.global.model.as_deref(), Some("m"));
            assert!(matches!(cli.command, Some(Command::Demo)));
        }
    }

    #[test]
    fn a_broken_pipe_is_found_below_context() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("printing");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("something else")));
    }
}
