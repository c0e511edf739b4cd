//! How findings are judged and shown: all that a bundle may have a say in, through its own `.okf/config.toml`. A bundle is
//! foreign text: a file that wants anything else is not used at all, and whoever started the program is told.

use std::path::PathBuf;

use serde::Deserialize;

use super::file::{Color, Display, File, Lint, MAX_BYTES, Profile, from_toml};
use super::{Environment, Error, Flags, read_file};
use crate::bundle::storage::{Read, Stat};
use crate::bundle::{EntryKind, ErrorKind};
use crate::lint::{self, select};
use crate::okf::BundlePath;
use crate::tui::Look;

/// Where a bundle keeps its own settings, from its root.
pub const BUNDLE_FILE: &str = ".okf/config.toml";

#[derive(Debug, Clone)]
pub struct Manner {
    pub lint: lint::Options,
    pub color: bool,
    /// How the workbench looks when it shows colours.
    pub theme: Look,
}

/// All keys that a bundle may set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OfBundle {
    lint: Lint,
    display: Display,
}

impl Manner {
    /// Without any file.
    pub fn new(environment: &Environment) -> Self {
        Self {
            lint: lint::Options::default(),
            color: shows_color(Color::Auto, environment),
            theme: Look::Auto,
        }
    }

    /// As the user's file says. Needs no model, so a wrong one does not matter.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, Error> {
        Ok(Self::of_file(&read_file(flags)?.0, environment))
    }

    pub(super) fn of_file(file: &File, environment: &Environment) -> Self {
        let mut manner = Self::new(environment);
        manner.lay(&file.lint, &file.display, environment);
        manner
    }

    fn lay(&mut self, lint: &Lint, display: &Display, environment: &Environment) {
        if let Some(profile) = lint.profile {
            self.lint.profile = match profile {
                Profile::Auto => None,
                Profile::Wiki => Some(lint::Profile::Wiki),
                Profile::Okf => Some(lint::Profile::Okf),
            };
        }
        self.lint.levels.lay(&select::Layer {
            select: lint.select.clone(),
            ignore: lint.ignore.clone(),
            levels: lint.levels.clone(),
        });
        if let Some(color) = display.color {
            self.color = shows_color(color, environment);
        }
        if let Some(theme) = display.theme {
            self.theme = theme;
        }
    }

    /// How the workbench looks.
    pub fn look(&self) -> Look {
        if self.color { self.theme } else { Look::Plain }
    }

    /// Lays what the bundle says over this. The error is for the person to read; nothing of the file is used then.
    pub fn heed(&mut self, bundle: &dyn Read, environment: &Environment) -> Result<(), Error> {
        let Some(file) = read(bundle)? else { return Ok(()) };
        self.lay(&file.lint, &file.display, environment);
        Ok(())
    }
}

fn shows_color(color: Color, environment: &Environment) -> bool {
    match color {
        Color::Auto => environment.get("NO_COLOR").is_none(),
        Color::Never => false,
    }
}

/// `None` when the bundle has no such file.
fn read(bundle: &dyn Read) -> Result<Option<OfBundle>, Error> {
    let refused = |message: String| Error::Refused { place: BUNDLE_FILE.to_owned(), message };
    let path = BundlePath::parse(BUNDLE_FILE).map_err(|e| refused(e.to_string()))?;
    match bundle.stat(&path) {
        Ok(Stat { kind: EntryKind::File, len }) if len <= MAX_BYTES => {}
        Ok(Stat { kind: EntryKind::File, .. }) => {
            return Err(refused(format!("larger than {MAX_BYTES} bytes")));
        }
        Ok(_) => return Err(refused("not a regular file".to_owned())),
        // `NotADirectory`: `.okf` itself is a file.
        Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(refused(e.message)),
    }
    let text = bundle.read(&path).map_err(|e| refused(e.message))?;
    from_toml(&text, &PathBuf::from(BUNDLE_FILE)).map(Some).map_err(|error| match error {
        Error::Invalid { line, column, message, .. } => {
            Error::Refused { place: format!("{BUNDLE_FILE}:{line}:{column}"), message }
        }
        other => refused(other.to_string()),
    })
}

#[cfg(test)]
mod tests;
