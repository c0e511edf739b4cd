//! `wikiwright lint`: prints the findings of a bundle, or explains rules.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};

use super::{Exit, bundle, fix, output, watch};
use crate::config::{BUNDLE_FILE, Environment, Flags, Manner};
use crate::lint::{Level, Levels, OkfVersion, Options, Profile, Report, Selector, format, registry, select};
use crate::wiki::Wiki;

#[derive(Debug, Args)]
#[command(after_long_help = format!("Rules, and their level in each profile:\n{}", registry::table()))]
pub struct LintArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    #[arg(required_unless_present = "explain")]
    pub path: Option<PathBuf>,
    /// Which reading of the format judges; without it what the configuration says, else auto
    #[arg(long, value_enum)]
    pub profile: Option<ProfileChoice>,
    /// The version that judges in profile okf, 0.1 or 0.2; without it what the root's index.md says, else 0.2
    #[arg(long, value_name = "VERSION", value_parser = okf_version)]
    pub okf_version: Option<OkfVersion>,
    /// Only these rules: codes, names, beginnings of codes (L), or ALL, with commas between them
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub select: Option<Vec<Selector>>,
    /// Not these rules; where one is selected and ignored, the narrower word counts
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub ignore: Vec<Selector>,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Print how often each rule found something, not where
    #[arg(long)]
    pub statistics: bool,
    /// The day, as 2026-07-19, that decides what is stale; without it today
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub today: Option<jiff::civil::Date>,
    /// Explain these rules, and judge nothing
    #[arg(long, value_name = "RULES", value_delimiter = ',', conflicts_with = "statistics")]
    pub explain: Option<Vec<Selector>>,
    /// Exit with 1 when there is a finding of this level or a worse one
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    /// Exit with 0 whatever is found
    #[arg(long, conflicts_with = "fail_on")]
    pub exit_zero: bool,
    /// Read no configuration file, neither yours nor the bundle's .okf/config.toml
    #[arg(long, conflicts_with = "config")]
    pub isolated: bool,
    /// Go on: print the report again whenever a change makes another one of it, until Ctrl-C
    #[arg(long, conflicts_with_all = ["explain", "fix", "unsafe_fixes", "diff"])]
    pub watch: bool,
    #[command(flatten)]
    pub fix: fix::FixArgs,
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
    /// A line for each finding
    Text,
    /// One object for programs
    Json,
    /// SARIF 2.1.0, for code scanning services and editors
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Hint,
}

impl FailOn {
    fn level(self) -> Level {
        match self {
            Self::Error => Level::Error,
            Self::Warning => Level::Warning,
            Self::Hint => Level::Hint,
        }
    }
}

fn okf_version(text: &str) -> Result<OkfVersion, String> {
    let known = OkfVersion::ALL.map(OkfVersion::as_str).join(" and ");
    OkfVersion::parse(text).ok_or_else(|| format!("versions {known} are implemented"))
}

fn day(text: &str) -> Result<jiff::civil::Date, String> {
    text.parse().map_err(|_| "a day is written like 2026-07-19".to_owned())
}

pub fn run(args: &LintArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let format = if args.json { Format::Json } else { args.format };
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let mut out = BufWriter::new(stdout.lock());
    if let Some(selectors) = &args.explain {
        explain(selectors, format, &mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let Some(path) = &args.path else { bail!("the bundle is missing: wikiwright lint PATH") };
    if args.statistics && !matches!(format, Format::Text | Format::Json) {
        bail!("--statistics are printed as text or json only");
    }
    let environment = Environment::of_process();
    let mut manner =
        if args.isolated { Manner::new(&environment) } else { Manner::load(flags, &environment)? };
    let bundle = bundle::open(path)?;
    let own = manner.lint.levels.clone();
    if !args.isolated
        && let Err(error) = manner.heed(&bundle, &environment)
    {
        output::complain(&error.to_string());
    }
    let of_bundle = manner.lint.levels.clone();
    let options = options(args, manner.lint);
    let colours = manner.color && is_terminal;
    if args.watch {
        let mut told = None;
        watch::follow(&bundle, &options, |report| {
            let hidden = what_the_bundle_hides(&own, &of_bundle, report);
            if hidden != told {
                hidden.iter().for_each(|text| output::note(text));
                told = hidden;
            }
            print(args, format, report, path, colours, &mut out)?;
            Ok(out.flush()?)
        })
        .with_context(|| format!("cannot watch {}", path.display()))?;
        return Ok(Exit::Done);
    }
    let wiki = Wiki::load(&bundle).with_context(|| format!("cannot read {}", path.display()))?;
    let (report, whole) = match fix::judge(&args.fix, &bundle, wiki, &options, format == Format::Json, flags)?
    {
        fix::Judged::Shown(exit) => return Ok(if args.exit_zero { Exit::Done } else { exit }),
        fix::Judged::Report { report, whole } => (report, whole),
    };
    what_the_bundle_hides(&own, &of_bundle, &report).iter().for_each(|text| output::note(text));
    print(args, format, &report, path, colours, &mut out)?;
    out.flush()?;
    let worst = report.findings.iter().map(|finding| finding.level).min();
    // `Error` is the least of the levels.
    let fails = worst.is_some_and(|worst| worst <= args.fail_on.level()) && !args.exit_zero;
    Ok(if fails || !whole { Exit::Negative } else { Exit::Done })
}

/// Flags over what the files say.
fn options(args: &LintArgs, files: Options) -> Options {
    let mut options = files;
    match args.profile {
        None => {}
        Some(ProfileChoice::Auto) => options.profile = None,
        Some(ProfileChoice::Wiki) => options.profile = Some(Profile::Wiki),
        Some(ProfileChoice::Okf) => options.profile = Some(Profile::Okf),
    }
    options.okf_version = args.okf_version.or(options.okf_version);
    options.today = args.today.or(options.today);
    options.levels.lay(&select::Layer {
        select: args.select.clone(),
        ignore: args.ignore.clone(),
        ..select::Layer::default()
    });
    options
}

/// A bundle may be somebody else's: whoever trusts the verdict should know what it left out.
fn what_the_bundle_hides(own: &Levels, of_bundle: &Levels, report: &Report) -> Option<String> {
    let (off, lower) = of_bundle.weaker_than(own, report);
    let mut parts = Vec::new();
    if !off.is_empty() {
        parts.push(format!("turns off {}", off.join(", ")));
    }
    if !lower.is_empty() {
        parts.push(format!("lowers {}", lower.join(", ")));
    }
    let what = parts.join(" and ");
    (!parts.is_empty()).then(|| format!("The bundle's {BUNDLE_FILE} {what} (--isolated does not read it)."))
}

fn print(
    args: &LintArgs,
    format: Format,
    report: &Report,
    path: &Path,
    colours: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match format {
        Format::Json if args.statistics => format::statistics_json(report, out)?,
        _ if args.statistics => format::statistics(report, out)?,
        Format::Text => format::text(report, colours, out)?,
        Format::Json => format::json(report, &path.display().to_string(), out)?,
        Format::Sarif => format::sarif(report, &prefix(path), out)?,
        Format::Github => format::github(report, &prefix(path), out)?,
    }
    Ok(())
}

/// The repository is where the command runs, as in a CI job.
fn prefix(path: &Path) -> format::Prefix {
    std::env::current_dir().map(|here| format::Prefix::new(path, &here)).unwrap_or_default()
}

fn explain(selectors: &[Selector], format: Format, out: &mut dyn Write) -> anyhow::Result<()> {
    let rules: Vec<&registry::Rule> =
        registry::ALL.iter().copied().filter(|rule| selectors.iter().any(|s| s.matches(rule))).collect();
    match format {
        Format::Text => format::explain(&rules, out)?,
        Format::Json => format::explain_json(&rules, out)?,
        _ => bail!("--explain prints text or json only"),
    }
    Ok(())
}
