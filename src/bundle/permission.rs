//! Permission rules, checked below the tools for every writer (invariant I2).
//!
//! The first rule that matches decides; no match allows. Dots are ordinary characters to the matcher, and a path
//! that differs from a protected one only in letter case or Unicode form is protected too.

use crate::bundle::{Error, ErrorKind};
use crate::okf::BundlePath;

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Read,
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    Allow,
    Deny,
}

/// One rule. `folder` covers itself and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub operation: Operation,
    pub folder: BundlePath,
    pub mode: Mode,
}

/// Ordered rules and the protected names (`.git`, dot-folders, `.okf`, editor and agent configuration).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// No write to a path with a component that starts with a dot, and no new file under a name that another system
    /// cannot hold.
    pub protect_dot_names: bool,
}

impl Rules {
    /// The manager: no write under `/raw` (when `protect_raw`), none to protected names.
    pub fn manager(protect_raw: bool) -> Self {
        let raw = BundlePath::root().join("raw").ok().filter(|_| protect_raw);
        let rules = raw.map(|folder| Rule { operation: Operation::Write, folder, mode: Mode::Deny });
        Self { rules: rules.into_iter().collect(), protect_dot_names: true }
    }

    /// The reader: no write anywhere.
    pub fn reader() -> Self {
        let all = Rule { operation: Operation::Write, folder: BundlePath::root(), mode: Mode::Deny };
        Self { rules: vec![all], protect_dot_names: true }
    }

    /// `Err` with kind `Denied` and a sentence the model can act on. A write to a folder that holds a denied one is
    /// denied as well: deleting or moving it would reach what lies below.
    pub fn check(&self, operation: Operation, path: &BundlePath) -> Result<(), Error> {
        let key = key(path);
        let matching =
            |rule: &&Rule| rule.operation == operation && key.starts_with(&self::key(&rule.folder));
        if let Some(Rule { mode: Mode::Deny, folder, .. }) = self.rules.iter().find(matching) {
            return Err(denied(operation, path, folder));
        }
        if operation == Operation::Read {
            return Ok(());
        }
        if self.protect_dot_names
            && let Some(name) = path.components().find(|name| is_dot_name(name))
        {
            return Err(Error::new(
                ErrorKind::Denied,
                path,
                format!(
                    "permission denied: {} is a protected name (rule: no write to names that start with a dot); \
                     choose a name without the dot",
                    name.escape_debug()
                ),
            ));
        }
        let above = |rule: &&Rule| {
            rule.operation == operation
                && rule.mode == Mode::Deny
                && self::key(&rule.folder).starts_with(&key)
        };
        match self.rules.iter().find(above) {
            Some(rule) => Err(Error::new(
                ErrorKind::Denied,
                path,
                format!(
                    "permission denied: it holds {0} (rule: no write under {0}); change single files outside it",
                    rule.folder
                ),
            )),
            None => Ok(()),
        }
    }

    /// For a file that does not exist yet: `Err` with kind `Invalid` when its name could not be carried to another
    /// system or would not read as it is written.
    pub fn check_new(&self, path: &BundlePath) -> Result<(), Error> {
        if !self.protect_dot_names {
            return Ok(());
        }
        match path.components().find_map(|name| unportable(name).map(|why| (name, why))) {
            Some((name, why)) => Err(Error::new(
                ErrorKind::Invalid,
                path,
                format!("the name {} {why}; choose another name", name.escape_debug()),
            )),
            None => Ok(()),
        }
    }
}

fn denied(operation: Operation, path: &BundlePath, folder: &BundlePath) -> Error {
    let message = match operation {
        Operation::Read => format!("permission denied: no read under {folder}; use other files"),
        Operation::Write if folder.is_root() => {
            "permission denied: this role only reads (rule: no write under /); answer without changing files"
                .to_owned()
        }
        Operation::Write => format!(
            "permission denied (rule: no write under {folder}); {folder} is kept as it is, put what you write elsewhere"
        ),
    };
    Error::new(ErrorKind::Denied, path, message)
}

/// Components in the form in which every file system we know of would take them for one another.
fn key(path: &BundlePath) -> Vec<String> {
    // Folding the whole path first: normal forms may join characters of one component only.
    path.fold_key().split('/').filter(|c| !c.is_empty()).map(fold).collect()
}

/// What HFS+ ignores in names is dropped, and so is what NTFS cuts off their end (dots, spaces, a stream).
fn fold(component: &str) -> String {
    let kept: String = component.chars().filter(|c| !ignorable(*c)).collect();
    let stem = kept.split(':').next().unwrap_or_default();
    let cut = stem.trim_end_matches(['.', ' ']);
    // A name of nothing but dots and spaces stays what it is.
    if cut.is_empty() { kept } else { cut.to_owned() }
}

/// See git's `is_hfs_dotgit` for the list: joiners, marks of direction and the like.
fn ignorable(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{AD}')
}

fn is_dot_name(component: &str) -> bool {
    let folded = fold(&component.to_lowercase());
    if folded.starts_with('.') {
        return true;
    }
    // NTFS gives `.git` and `.okf` the short names `GIT~1` and `OKF~1`.
    folded.split_once('~').is_some_and(|(stem, number)| {
        matches!(stem, "git" | "okf") && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Why a component makes no file name on every system, or shows as something else than it is.
fn unportable(component: &str) -> Option<&'static str> {
    if component.chars().any(|c| c.is_control() || ignorable(c) || ('\u{E0000}'..='\u{E007F}').contains(&c)) {
        return Some("holds invisible characters");
    }
    if component.contains(['<', '>', ':', '"', '|', '?', '*']) {
        return Some("holds one of < > : \" | ? *, which Windows does not allow");
    }
    if component.ends_with(['.', ' ']) || component.starts_with(' ') {
        return Some("starts or ends with a space or ends with a dot, which gets lost on Windows");
    }
    let stem = component.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || ["com", "lpt"].iter().any(|device| {
            stem.strip_prefix(device)
                .is_some_and(|n| matches!(n, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"))
        });
    device.then_some("is a device on Windows")
}
