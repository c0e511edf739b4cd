//! `wikiwright read`: prints a source document as markdown, whole.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{Exit, bundle, output};
use crate::bundle::{ErrorKind, Read as _};
use crate::config::{Environment, Flags, Settings};
use crate::document::Progress;
use crate::document::library::{Fault, source};
use crate::okf::BundlePath;
use crate::text::Safe;

#[derive(Debug, Args)]
pub struct ReadArgs {
    /// The bundle: its folder, a .zip or .tar.gz of it, or its address in object storage (s3://BUCKET/FOLDER)
    pub path: PathBuf,
    /// The document in raw/: x.pdf, raw/x.pdf and /raw/x.pdf name the same file
    pub document: String,
    /// Write the text to this file instead of printing it
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &ReadArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let settings = Settings::load(flags, &Environment::of_process())?;
    let bundle = bundle::open(&args.path)?;
    let path = source(&args.document).map_err(anyhow::Error::msg)?;
    let counts = io::stderr().is_terminal();
    let progress = |Progress { done, total }| {
        if counts {
            // The line is the program's own, and is overwritten by the next.
            _ = write!(io::stderr(), "\r\x1b[Kreading page {done} of {total}");
        }
    };
    let read = settings.documents.open(&bundle, &path, &CancellationToken::new(), progress);
    if counts {
        _ = write!(io::stderr(), "\r\x1b[K");
    }
    let document = match read {
        Ok(source) => source.converted,
        Err(Fault::Bundle(error)) if error.kind == ErrorKind::NotFound => {
            bail!("{}", missing(&bundle, &path))
        }
        Err(fault) => bail!("{fault}"),
    };
    document.notes.iter().for_each(|note| output::note(note));
    match &args.output {
        Some(file) => save(file, &document.markdown)?,
        None => {
            let mut out = io::stdout().lock();
            // A program that reads it gets every byte; a terminal must not be driven by it (invariant I6).
            match out.is_terminal() {
                true => out.write_all(Safe::block(&document.markdown).as_str().as_bytes())?,
                false => out.write_all(document.markdown.as_bytes())?,
            }
            if !document.markdown.ends_with('\n') {
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// All of it or nothing: a conversion that is cut short leaves what stood there.
fn save(file: &Path, text: &str) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", file.display());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // As any file that a program makes: the person's umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut draft = builder.tempfile_in(folder).with_context(cannot)?;
    draft.write_all(text.as_bytes()).with_context(cannot)?;
    draft.persist(file).with_context(cannot)?;
    Ok(())
}

/// What lies in `raw/` instead.
fn missing(bundle: &crate::bundle::Bundle, path: &BundlePath) -> String {
    let folder = BundlePath::parse("raw").unwrap_or_else(|_| BundlePath::root());
    let sources = bundle.glob("**", &folder).unwrap_or_default();
    let name = |path: &BundlePath| path.name().to_lowercase();
    let near = sources.iter().filter(|source| strsim::jaro_winkler(&name(source), &name(path)) > 0.85);
    let near: Vec<&str> = near.take(3).map(BundlePath::relative).collect();
    let hint = match (near.as_slice(), sources.len()) {
        ([], 0) => "raw/ is empty; put a source there first".to_owned(),
        ([], _) => "`wikiwright PATH` shows what lies in raw/".to_owned(),
        (near, _) => format!("did you mean {}?", near.join(" or ")),
    };
    format!("{}: there is no such document; {hint}", path.relative())
}
