//! Permission rules, checked below the tools for every writer (invariant I2).
//!
//! The first rule that matches decides; no match allows. Dots are ordinary characters to the matcher, and a path
//! that differs from a protected one only in letter case or Unicode form is protected too.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use crate::bundle::{ChangeKind, Error, ErrorKind, FileChange};
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
    /// A person must say yes each time: a write is never approved without being looked at, and a read is refused with the
    /// advice to ask.
    Ask,
}

/// Which paths a rule is about: a file pattern from the bundle's root. `*` and `?` stop at `/`, `**` does not; `[..]` and
/// `{a,b}` are known; dots are ordinary characters.
#[derive(Debug, Clone)]
pub struct PathPattern {
    text: String,
    matcher: GlobMatcher,
    /// The components before the first that holds a wildcard, folded: what the pattern can reach lies below them.
    root: Vec<String>,
}

/// One rule: the first whose operation and path fit decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub operations: Vec<Operation>,
    pub paths: Vec<PathPattern>,
    pub mode: Mode,
}

/// Ordered rules and the protected names (`.git`, dot-folders, `.okf`, editor and agent configuration).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// Neither read nor write of a path with a component that starts with a dot (repositories, settings and keys lie there,
    /// and what is read goes to the model's server), and no new file under a name that another system cannot hold.
    pub protect_dot_names: bool,
}

impl PathPattern {
    /// A pattern starts with `/` and holds no `..`. `Err` says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let Some(below) = text.strip_prefix('/') else {
            return Err(format!("{text}: a pattern starts with /, the bundle"));
        };
        if below.split('/').any(|part| part == "..") {
            return Err(format!("{text}: a pattern may not hold .."));
        }
        let wild = |part: &&str| part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        // What is spelled out is folded as paths are; a wildcard only to lower case.
        let parts = below.split('/').filter(|part| !part.is_empty());
        let pattern: Vec<String> =
            parts.clone().map(|part| if wild(&part) { part.to_lowercase() } else { folded(part) }).collect();
        let root = parts.take_while(|part| !wild(part)).map(folded).collect();
        let glob = GlobBuilder::new(&pattern.join("/"))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| format!("{text}: not a file pattern: {}", error.kind()))?;
        Ok(Self { text: text.to_owned(), matcher: glob.compile_matcher(), root })
    }

    fn matches(&self, key: &[String]) -> bool {
        self.matcher.is_match(key.join("/"))
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

/// As it was written.
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Rule {
    /// A rule for a folder and everything below it.
    pub fn folder(operation: Operation, folder: &BundlePath, mode: Mode) -> Self {
        let escaped: String = folder
            .relative()
            .chars()
            .flat_map(|c| if "*?[]{}\\".contains(c) { vec!['\\', c] } else { vec![c] })
            .collect();
        let patterns = if folder.is_root() {
            vec!["/".to_owned(), "/**".to_owned()]
        } else {
            vec![format!("/{escaped}"), format!("/{escaped}/**")]
        };
        // A spelled-out folder is always a pattern.
        let paths = patterns.iter().filter_map(|text| PathPattern::new(text).ok()).collect();
        Self { operations: vec![operation], paths, mode }
    }

    fn covers(&self, operation: Operation, key: &[String]) -> Option<&PathPattern> {
        self.operations.contains(&operation).then(|| self.paths.iter().find(|path| path.matches(key)))?
    }
}

impl Rules {
    /// The manager: no write under `/raw` (when `protect_raw`), none to protected names.
    pub fn manager(protect_raw: bool) -> Self {
        let raw = BundlePath::root().join("raw").ok().filter(|_| protect_raw);
        let rules = raw.map(|folder| Rule::folder(Operation::Write, &folder, Mode::Deny));
        Self { rules: rules.into_iter().collect(), protect_dot_names: true }
    }

    /// The reader: no write anywhere.
    pub fn reader() -> Self {
        let all = Rule::folder(Operation::Write, &BundlePath::root(), Mode::Deny);
        Self { rules: vec![all], protect_dot_names: true }
    }

    /// These rules after `first`, which win over them.
    pub fn after(mut self, first: &[Rule]) -> Self {
        self.rules.splice(0..0, first.iter().cloned());
        self
    }

    /// What the rules say of one path, protected names aside. No rule: allowed.
    pub fn mode(&self, operation: Operation, path: &BundlePath) -> Mode {
        let key = key(path);
        self.rules
            .iter()
            .find(|rule| rule.covers(operation, &key).is_some())
            .map_or(Mode::Allow, |rule| rule.mode)
    }

    /// Whether a person must look at this change before it is written, at the path it comes from too.
    pub fn asks(&self, change: &FileChange) -> bool {
        let from = match &change.kind {
            ChangeKind::Rename { from } => Some(from),
            _ => None,
        };
        from.into_iter().chain([&change.path]).any(|path| self.mode(Operation::Write, path) == Mode::Ask)
    }

    /// `Err` with kind `Denied` and a sentence the model can act on. A write to a folder that holds a denied one is
    /// denied as well: deleting or moving it would reach what lies below. A write that must be asked about is no error: it is
    /// staged, and [`Rules::mode`] tells whoever approves.
    pub fn check(&self, operation: Operation, path: &BundlePath) -> Result<(), Error> {
        let judged = self.rules.iter().any(|rule| rule.operations.contains(&operation));
        // Without a rule that could fit, most reads need no folded form of the path.
        let key = if judged { key(path) } else { Vec::new() };
        let deciding = self.rules.iter().find_map(|rule| Some((rule.mode, rule.covers(operation, &key)?)));
        match deciding {
            Some((Mode::Deny, pattern)) => return Err(denied(operation, path, &pattern.text)),
            Some((Mode::Ask, pattern)) if operation == Operation::Read => {
                return Err(asked(path, &pattern.text));
            }
            _ => {}
        }
        if self.protect_dot_names
            && let Some(name) = path.components().find(|name| is_dot_name(name))
        {
            let (what, advice) = match operation {
                Operation::Read => ("read of", "use the pages and sources of the bundle"),
                Operation::Write => ("write to", "choose a name without the dot"),
            };
            return Err(Error::new(
                ErrorKind::Denied,
                path,
                format!(
                    "permission denied: {} is a protected name (rule: no {what} names that start with a dot); {advice}",
                    name.escape_debug()
                ),
            ));
        }
        if operation == Operation::Read {
            return Ok(());
        }
        let above = |rule: &&Rule| rule.operations.contains(&operation) && rule.mode == Mode::Deny;
        let below = |pattern: &&PathPattern| pattern.root.starts_with(&key);
        match self.rules.iter().filter(above).find_map(|rule| rule.paths.iter().find(below)) {
            Some(pattern) => Err(Error::new(
                ErrorKind::Denied,
                path,
                format!(
                    "permission denied: it holds {0} (rule: no write under {0}); change single files outside it",
                    pattern.text
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

fn denied(operation: Operation, path: &BundlePath, pattern: &str) -> Error {
    let folder = pattern.trim_end_matches("/**");
    let message = match operation {
        Operation::Read => format!("permission denied: no read under {pattern}; use other files"),
        Operation::Write if folder.trim_matches('/').is_empty() => {
            "permission denied: this role only reads (rule: no write under /); answer without changing files"
                .to_owned()
        }
        Operation::Write => format!(
            "permission denied (rule: no write under {folder}); {folder} is kept as it is, put what you write elsewhere"
        ),
    };
    Error::new(ErrorKind::Denied, path, message)
}

fn asked(path: &BundlePath, pattern: &str) -> Error {
    let message = format!(
        "permission denied: a person must allow each read under {pattern}; say in your answer what you want to read and why"
    );
    Error::new(ErrorKind::Denied, path, message)
}

/// One component as [`key`] has it.
fn folded(component: &str) -> String {
    match BundlePath::root().join(component) {
        Ok(path) => key(&path).pop().unwrap_or_default(),
        Err(_) => fold(&component.to_lowercase()),
    }
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
    if component.is_ascii() && !component.starts_with('.') && !component.contains('~') {
        return false;
    }
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
