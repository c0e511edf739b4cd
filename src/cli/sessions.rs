//! Conversations that are kept: a file of JSON lines for each in the user's state folder, `wikiwright sessions` and `replay`,
//! and what `--continue` and `--resume` take up.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use rustix::fs::FlockOperation;

use super::{Exit, bundle, output};
use crate::agent::record::{self, Keeping, Loaded, Opened, Pending, Record, Recorder};
use crate::agent::replay;
use crate::agent::{Role, fsm::Input};
use crate::bundle::Bundle;
use crate::config::{Environment, Flags, Settings};
use crate::okf::ContentHash;
use crate::text::Safe;

#[cfg(test)]
mod tests;

#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// The bundle's folder
    pub path: PathBuf,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The conversation's file; `wikiwright sessions` says where they lie
    pub file: PathBuf,
    /// The bundle to run it on; without it the one it was held on
    #[arg(long, value_name = "PATH")]
    pub bundle: Option<PathBuf>,
}

/// Which kept conversations the workbench takes up.
#[derive(Debug, Clone, Default, Args)]
pub struct TakeUp {
    /// Go on with the newest conversations on this bundle
    #[arg(long = "continue", conflicts_with = "resume")]
    pub newest: bool,
    /// Go on with this conversation; `wikiwright sessions` lists their ids
    #[arg(long, value_name = "ID")]
    pub resume: Option<String>,
}

/// The conversations of one bundle.
pub struct Store {
    folder: PathBuf,
    bundle: String,
}

/// A kept conversation as `sessions` lists it.
pub struct Kept {
    pub opened: Opened,
    pub file: PathBuf,
    /// The person's first message.
    pub first: String,
    pub messages: usize,
    pub pending: usize,
}

impl Kept {
    /// Whether a wikiwright has it open.
    pub fn is_open(&self) -> bool {
        File::open(&self.file)
            .is_ok_and(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err())
    }
}

impl Store {
    /// None for a bundle that has no state folder: one in an archive or in object storage, or without a home folder.
    pub fn of(bundle: &Bundle) -> Option<Self> {
        let state = crate::config::state_folder(bundle.folder()?.root())?;
        Some(Self { folder: state.join("sessions"), bundle: bundle.label().to_owned() })
    }

    /// A new conversation. Its file is made with its first record.
    pub fn begin(&self, role: Role, model: &str) -> Keeping {
        let started = jiff::Timestamp::now();
        let seed = format!("{started}{role:?}{}", std::process::id());
        let id =
            format!("{}-{}", started.strftime("%Y%m%d-%H%M%S"), &ContentHash::of(seed.as_bytes()).short());
        let opened = Opened {
            version: record::VERSION,
            id: id.clone(),
            role,
            model: model.to_owned(),
            bundle: self.bundle.clone(),
            started,
        };
        let path = self.folder.join(format!("{id}.jsonl"));
        let recorder = Lines { path, file: None, opened: Some(opened) };
        Keeping { recorder: Some(Box::new(recorder)), past: Vec::new() }
    }

    /// All that can be read, the newest first.
    pub fn list(&self) -> io::Result<Vec<Kept>> {
        let files = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            files => files?,
        };
        let mut kept = Vec::new();
        for entry in files {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "jsonl")
                && let Ok(loaded) = load(&file)
                && let Some(opened) = loaded.opened()
            {
                kept.push(summary(opened.clone(), file.clone(), &loaded));
            }
        }
        kept.sort_by(|a, b| (b.opened.started, &b.opened.id).cmp(&(a.opened.started, &a.opened.id)));
        Ok(kept)
    }

    /// The one conversation whose id begins so, of this role when one is given. An error says what else there is.
    pub fn find(&self, role: Option<Role>, id: &str) -> anyhow::Result<Kept> {
        let mut kept = self.list().with_context(|| format!("{} cannot be read", self.folder.display()))?;
        kept.retain(|kept| {
            role.is_none_or(|role| kept.opened.role == role) && kept.opened.id.starts_with(id)
        });
        let whose = role.map(|role| format!(" of the {}", named(role))).unwrap_or_default();
        let what = match kept.len() {
            1 => return kept.pop().context("there is one"),
            0 => "no conversation",
            _ => "more than one conversation",
        };
        bail!("{what}{whose} on this bundle has an id that starts with {id}")
    }

    /// Takes a conversation up. Fails when another wikiwright has it.
    pub fn take_up(&self, kept: &Kept) -> anyhow::Result<Keeping> {
        let file = open(&kept.file)?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("the conversation {} is open in another wikiwright", kept.opened.id);
        }
        let past = load(&kept.file)?.records;
        let recorder = Lines { path: kept.file.clone(), file: Some(file), opened: None };
        Ok(Keeping { recorder: Some(Box::new(recorder)), past })
    }

    /// Deletes what was last written to longer ago than `days`.
    pub fn prune(&self, days: u32) {
        let Some(oldest) = SystemTime::now().checked_sub(Duration::from_secs(u64::from(days) * 86_400))
        else {
            return;
        };
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let old = entry.metadata().and_then(|m| m.modified()).is_ok_and(|modified| modified < oldest);
            let ours = entry.path().extension().is_some_and(|extension| extension == "jsonl");
            if old && ours {
                // Another time, if not now.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// What a command without a screen keeps: a conversation of its own, if conversations are kept.
pub fn begin(bundle: &Bundle, role: Role, model: &str, settings: &Settings) -> Keeping {
    let store = Store::of(bundle).filter(|_| settings.keep_sessions);
    store.map_or_else(Keeping::default, |store| {
        store.prune(settings.keep.days);
        store.begin(role, model)
    })
}

/// What the manager and the reader of a workbench keep, and take up.
pub fn keep(
    bundle: &Bundle,
    model: &str,
    take_up: &TakeUp,
    settings: &Settings,
) -> anyhow::Result<(Keeping, Keeping)> {
    let Some(store) = Store::of(bundle) else {
        if take_up.newest || take_up.resume.is_some() {
            bail!("conversations are kept for a folder of this machine only");
        }
        return Ok((Keeping::default(), Keeping::default()));
    };
    store.prune(settings.keep.days);
    let new = |role| if settings.keep_sessions { store.begin(role, model) } else { Keeping::default() };
    let (mut manager, mut reader) = (new(Role::Manager), new(Role::Reader));
    let all = match &take_up.resume {
        Some(id) => {
            let kept = store.find(None, id);
            vec![kept.map_err(|why| anyhow!("{why:#}; `wikiwright sessions` lists them"))?]
        }
        None if take_up.newest => {
            store.list().with_context(|| format!("{} cannot be read", store.folder.display()))?
        }
        None => return Ok((manager, reader)),
    };
    if all.is_empty() {
        bail!("there is no conversation on this bundle to go on with");
    }
    for (role, slot) in [(Role::Manager, &mut manager), (Role::Reader, &mut reader)] {
        if let Some(kept) = all.iter().find(|kept| kept.opened.role == role) {
            *slot = store.take_up(kept)?;
        }
    }
    Ok((manager, reader))
}

fn named(role: Role) -> &'static str {
    match role {
        Role::Manager => "manager",
        Role::Reader => "reader",
    }
}

fn load(file: &Path) -> anyhow::Result<Loaded> {
    let text = || format!("{} cannot be read", file.display());
    let opened = File::open(file).with_context(text)?;
    record::load(BufReader::new(opened)).with_context(text)
}

fn summary(opened: Opened, file: PathBuf, loaded: &Loaded) -> Kept {
    let said = |record: &Record| match record {
        Record::Input { input: Input::Say(text) } => Some(text.clone()),
        _ => None,
    };
    let mut pending = Pending::default();
    for record in &loaded.records {
        pending.follow(record);
    }
    Kept {
        opened,
        file,
        first: loaded.records.iter().find_map(said).unwrap_or_default(),
        messages: loaded.records.iter().filter_map(said).count(),
        pending: pending.len(),
    }
}

/// Opens for adding lines; only the person may read them.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    // A line that was cut off must not take the next one with it.
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// Adds each record as a line.
struct Lines {
    path: PathBuf,
    file: Option<File>,
    /// Comes first in a new file.
    opened: Option<Opened>,
}

impl Recorder for Lines {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        let mut line = Vec::new();
        if let Some(opened) = self.opened.take() {
            serde_json::to_writer(&mut line, &Record::Opened(opened))?;
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = open(&self.path)?;
                let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
                self.file.insert(file)
            }
        };
        // In one piece, so that a crash cuts off one line at most.
        file.write_all(&line)
    }
}

pub fn list(args: &SessionsArgs) -> anyhow::Result<Exit> {
    let bundle = bundle::open(&args.path)?;
    let store = Store::of(&bundle).context("conversations are kept for a folder of this machine only")?;
    let kept = store.list().with_context(|| format!("{} cannot be read", store.folder.display()))?;
    if kept.is_empty() {
        output::note("There is no conversation on this bundle yet.");
        return Ok(Exit::Done);
    }
    let mut out = io::stdout();
    for Kept { opened, first, messages, pending, .. } in &kept {
        let role = named(opened.role);
        let started = opened.started.strftime("%Y-%m-%dT%H:%MZ");
        let waiting = if *pending > 0 {
            format!(", {} for review", crate::bundle::waiting(*pending))
        } else {
            String::new()
        };
        let first: String = first.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect();
        writeln!(
            out,
            "{}  {started}  {role} ({})  {messages} messages{waiting}: {}",
            Safe::line(&opened.id),
            Safe::line(&opened.model),
            Safe::line(&first)
        )?;
    }
    writeln!(out, "\nThey lie in {}", store.folder.display())?;
    Ok(Exit::Done)
}

pub fn run_again(args: &ReplayArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let loaded = load(&args.file)?;
    let opened =
        loaded.opened().with_context(|| format!("{} is no kept conversation", args.file.display()))?;
    let place = args.bundle.clone().unwrap_or_else(|| PathBuf::from(&opened.bundle));
    let bundle = bundle::open(&place)?;
    let rules = match opened.role {
        Role::Manager => settings.manager.rules(),
        Role::Reader => settings.reader.rules(),
    };
    let lint = bundle::lint_options(&bundle, &settings);
    let replayed = replay::replay(&loaded.records, opened.role, bundle.reader(), rules, lint);
    if loaded.skipped > 0 {
        output::note(&format!("{} lines of the file are damaged and were left out.", loaded.skipped));
    }
    let mut out = io::stdout();
    for difference in &replayed.differences {
        let first = |text: &str, other: &str| {
            let line = text.lines().zip(other.lines()).position(|(a, b)| a != b);
            let line = line.unwrap_or_else(|| text.lines().count().min(other.lines().count()));
            Safe::line(text.lines().nth(line).unwrap_or("(no more)")).into_string()
        };
        writeln!(out, "record {}, {}:", difference.record, Safe::line(&difference.what))?;
        writeln!(out, "  - {}", first(&difference.recorded, &difference.now))?;
        writeln!(out, "  + {}", first(&difference.now, &difference.recorded))?;
    }
    if replayed.taken > 0 {
        output::note(&format!(
            "{} calls were of tools that are not here; what they came to was taken from the record.",
            replayed.taken
        ));
    }
    writeln!(
        out,
        "{} answers played, {} calls run again, {} came out differently",
        replayed.answers,
        replayed.calls,
        replayed.differences.len()
    )?;
    Ok(if replayed.differences.is_empty() { Exit::Done } else { Exit::Negative })
}
