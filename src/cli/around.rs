//! What the workbench asks of the program around it: kept conversations, other models, files and the clipboard of this machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use futures::future::BoxFuture;

use super::model;
use super::sessions::{Kept, Store};
use crate::agent::Role;
use crate::agent::client::ModelClient;
use crate::agent::record::Keeping;
use crate::bundle::Bundle;
use crate::config::{Endpoint, ModelOptions};
use crate::okf::BundlePath;
use crate::tui::Around;
use crate::tui::state::picker::Choice;

pub struct Surroundings {
    /// None where no conversation is kept.
    store: Option<Store>,
    /// The bundle's folder on this machine.
    root: Option<PathBuf>,
    model: String,
    /// Where other models can be asked; none for a scripted one.
    server: Option<(Endpoint, ModelOptions)>,
}

impl Surroundings {
    pub fn new(
        bundle: &Bundle,
        model: &str,
        server: Option<(Endpoint, ModelOptions)>,
        keeps: bool,
    ) -> Arc<Self> {
        let store = if keeps { Store::of(bundle) } else { None };
        let root = bundle.folder().map(|folder| folder.root().to_owned());
        Arc::new(Self { store, root, model: model.to_owned(), server })
    }

    fn find(&self, role: Role, id: &str) -> anyhow::Result<Keeping> {
        let store = self.store.as_ref().context("no conversation is kept for this bundle")?;
        let kept = store.find(Some(role), id);
        store.take_up(&kept.map_err(|why| anyhow!("{why:#}; /resume alone lists them"))?)
    }
}

fn choice(kept: &Kept) -> Choice {
    let first = kept.first.split_whitespace().collect::<Vec<_>>().join(" ");
    let waiting = if kept.pending > 0 { format!(", {} to review", kept.pending) } else { String::new() };
    let started = kept.opened.started.strftime("%Y-%m-%d %H:%M");
    Choice {
        value: kept.opened.id.clone(),
        label: first.chars().take(120).collect(),
        note: format!("{started}, {} messages{waiting}", kept.messages),
    }
}

impl Around for Surroundings {
    fn begin(&self, role: Role) -> Keeping {
        self.store.as_ref().map(|store| store.begin(role, &self.model)).unwrap_or_default()
    }

    fn kept(&self, role: Role) -> Result<Vec<Choice>, String> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let kept = store.list().map_err(|error| format!("The kept conversations cannot be read: {error}"))?;
        // One without a message says nothing, and one that is open cannot be taken up.
        let kept =
            kept.iter().filter(|kept| kept.opened.role == role && kept.messages > 0 && !kept.is_open());
        Ok(kept.map(choice).collect())
    }

    fn take_up(&self, role: Role, id: &str) -> Result<Keeping, String> {
        self.find(role, id).map_err(|error| format!("{error:#}."))
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, String>> {
        let server = self.server.as_ref().map(|(endpoint, _)| endpoint.server.clone());
        Box::pin(async move {
            match server {
                Some(server) => model::list(&server).await,
                None => Err("This model is scripted; there is no other.".to_owned()),
            }
        })
    }

    fn connect(&self, name: &str) -> Result<Arc<dyn ModelClient>, String> {
        let Some((endpoint, options)) = &self.server else {
            return Err("This model is scripted; there is no other.".to_owned());
        };
        let endpoint = Endpoint { model: name.to_owned(), ..endpoint.clone() };
        Ok(Arc::new(model::connect(endpoint, options)?))
    }

    fn export(&self, file: &str, text: &str) -> Result<String, String> {
        export(file, text).map_err(|error| format!("The conversation cannot be written: {error:#}"))
    }

    fn copy(&self, text: &str) -> Option<String> {
        std::env::var_os("TMUX").filter(|tmux| !tmux.is_empty())?;
        let mut tmux = Command::new("tmux")
            .args(["load-buffer", "-w", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let given = tmux.stdin.take()?.write_all(text.as_bytes());
        let ended = tmux.wait().ok()?;
        (given.is_ok() && ended.success()).then(|| {
            format!("{} characters are in tmux's buffer, and went on to its terminal.", text.chars().count())
        })
    }

    fn saved(&self, path: &BundlePath) -> Option<i64> {
        let file = self.root.as_ref()?.join(path.relative());
        let saved = file.metadata().ok()?.modified().ok()?;
        let since = saved.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    }
}

/// Writes a file that is not there yet, in the current folder unless the name says otherwise; where it lies.
fn export(file: &str, text: &str) -> anyhow::Result<String> {
    let made_up = || format!("wikiwright-{}.md", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"));
    let name = if file.is_empty() { made_up() } else { file.to_owned() };
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    let path = here.join(Path::new(&name));
    // Whole or not at all: a name that appears before its text would be read half.
    let folder = path.parent().unwrap_or(&here);
    let mut kind = tempfile::Builder::new();
    #[cfg(unix)]
    kind.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut out = kind.tempfile_in(folder).with_context(|| folder.display().to_string())?;
    out.write_all(text.as_bytes()).with_context(|| path.display().to_string())?;
    if let Err(error) = out.persist_noclobber(&path) {
        match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                bail!("{} is there already; give another name: /export NAME", path.display())
            }
            _ => return Err(error.error).with_context(|| path.display().to_string()),
        }
    }
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_writes_a_new_file_and_never_over_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("talk.md");
        let name = file.to_str().unwrap();
        assert_eq!(export(name, "# A\n").unwrap(), name);
        let refused = export(name, "# B\n").unwrap_err().to_string();
        assert!(refused.contains("is there already"), "{refused}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "# A\n");
    }
}
