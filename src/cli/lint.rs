//! `wikiwright lint`: prints the findings of a bundle.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::{Exit, bundle, watch};
use crate::lint::{self, Level, Options, Profile, Report, format, registry};
use crate::wiki::Wiki;

#[derive(Debug, Args)]
#[command(after_long_help = format!("Rules, and their level in each profile:\n{}", registry::table()))]
pub struct LintArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    pub path: PathBuf,
    /// Which reading of the format judges
    #[arg(long, value_enum, default_value_t = ProfileChoice::Auto)]
    pub profile: ProfileChoice,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Go on: print the report again whenever a change makes another one of it, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileChoice {
    /// wiki when a wiki/ folder stands beside AGENTS.md or raw/, else okf
    Auto,
    /// The wiki convention over OKF 0.1
    Wiki,
    /// The specification alone
    Okf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

pub fn run(args: &LintArgs) -> anyhow::Result<Exit> {
    let shown = args.path.display().to_string();
    let bundle = bundle::open(&args.path)?;
    let profile = match args.profile {
        ProfileChoice::Auto => None,
        ProfileChoice::Wiki => Some(Profile::Wiki),
        ProfileChoice::Okf => Some(Profile::Okf),
    };
    let options = Options { profile, ..Options::default() };
    if args.watch {
        watch::follow(&bundle, &options, |report| print(report, args, &shown))
            .with_context(|| format!("cannot watch {shown}"))?;
        return Ok(Exit::Done);
    }
    let wiki = Wiki::load(&bundle).with_context(|| format!("cannot read {shown}"))?;
    let report = lint::lint(&wiki, &options);
    print(&report, args, &shown)?;
    // The process ends here: taking the model apart would only cost time.
    std::mem::forget(wiki);
    Ok(if report.count(Level::Error) > 0 { Exit::Negative } else { Exit::Done })
}

fn print(report: &Report, args: &LintArgs, shown: &str) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let colours = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut out = BufWriter::new(stdout.lock());
    if args.json || args.format == Format::Json {
        format::json(report, shown, &mut out)?;
    } else {
        format::text(report, colours, &mut out)?;
    }
    out.flush()?;
    Ok(())
}
