//! The person's own editor on a piece of text: `$VISUAL`, else `$EDITOR`, else `vi`.

use std::ffi::OsString;
use std::io::{Read as _, Seek as _, Write as _};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};

/// Largest text that is taken back, in bytes.
const MAX: u64 = 4 << 20;

/// Gives `text` to the editor and takes what was saved. The editor has the terminal until it ends. It fails when the editor
/// does, so that an abandoned edit changes nothing.
pub fn edit(text: &str) -> anyhow::Result<String> {
    let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os).find(|v| !v.is_empty());
    run(&chosen.unwrap_or_else(|| OsString::from("vi")), text)
}

/// [`edit`] for the workbench.
pub fn for_workbench() -> crate::tui::Edit {
    Arc::new(|text| edit(text).map_err(|error| error.to_string()))
}

fn run(editor: &OsString, text: &str) -> anyhow::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("wikiwright-")
        .suffix(".md")
        .tempfile()
        .context("no temporary file can be made for the editor")?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).context("the text cannot be written")?;
    // The variable may hold arguments and quotes, as for git: the shell splits it.
    let name = editor.to_string_lossy().into_owned();
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{name} \"$@\""))
        .arg(&name)
        .arg(file.path())
        .status()
        .with_context(|| format!("the editor `{name}` cannot be started; set EDITOR"))?;
    if !status.success() {
        bail!("the editor `{name}` ended with {status}; the text stays as it was");
    }
    // Some editors put another file in its place, others write into it.
    let mut saved = std::fs::File::open(file.path()).context("what the editor saved cannot be read")?;
    saved.rewind().context("what the editor saved cannot be read")?;
    let mut bytes = Vec::new();
    saved.take(MAX + 1).read_to_end(&mut bytes).context("what the editor saved cannot be read")?;
    if bytes.len() as u64 > MAX {
        bail!("what the editor saved is larger than {} MiB", MAX >> 20);
    }
    String::from_utf8(bytes).ok().context("what the editor saved is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_comes_back_and_a_failing_editor_changes_nothing() {
        let saved = run(&OsString::from("sh -c 'printf two >> \"$1\"' x"), "one\n").unwrap();
        assert_eq!(saved, "one\ntwo");
        assert!(run(&OsString::from("false"), "one\n").unwrap_err().to_string().contains("stays as it was"));
    }
}
