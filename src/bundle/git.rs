//! Committing an applied set, for a bundle that lies in a git repository and a person who asked for it. The commit is made of
//! the set's own files and contents, whatever else is changed or staged. Nothing of the repository is executed: hooks,
//! filters, signing programs and file-system monitors stay off.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::change::{ChangeKind, ChangeSet, FileChange};
use super::ledger::record::Origin;
use crate::okf::BundlePath;

#[cfg(test)]
mod tests;

/// Longest first line of a message, in characters.
const SUBJECT: usize = 72;

/// Variables that would make git look at another repository; those with the author's name stay.
const PLACES: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
];

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// The commit's short name.
    Yes(String),
    /// The bundle lies in no repository, or git ignores all files of the set.
    Nothing,
}

/// Commits the files of `changes` that landed. `root` is the bundle's folder. An error is a sentence for the person; the
/// files are written all the same.
pub fn commit(
    root: &Path,
    changes: &ChangeSet,
    landed: &[BundlePath],
    origin: &Origin,
) -> Result<Committed, String> {
    let Some(git) = Git::around(root)? else { return Ok(Committed::Nothing) };
    for (name, what) in [
        ("MERGE_HEAD", "merge"),
        ("REBASE_HEAD", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
    ] {
        if git.run(&["rev-parse", "-q", "--verify", name], b"").is_ok() {
            return Err(format!("a {what} is going on in the repository"));
        }
    }
    let files: Vec<&FileChange> = landed.iter().filter_map(|path| changes.file(path)).collect();
    let mut contents: BTreeMap<String, Option<&[u8]>> = BTreeMap::new();
    for file in &files {
        if let ChangeKind::Rename { from } = &file.kind {
            contents.entry(git.name(from)).or_insert(None);
        }
        contents.insert(git.name(&file.path), file.after.as_deref());
    }
    let head = git.line(&["rev-parse", "-q", "--verify", "HEAD^{commit}"], b"").ok();
    let known = git.known(head.as_deref(), contents.keys())?;
    let ignored = git.ignored(contents.keys())?;
    let mut entries = Vec::new();
    for (name, content) in &contents {
        let mode = known.get(name);
        let entry = match content {
            // What git does not know it does not have to forget.
            None if mode.is_none() => continue,
            None => format!("0 {}\t{name}\0", "0".repeat(40)),
            Some(_) if mode.is_none() && ignored.contains(name) => continue,
            Some(bytes) => {
                let blob = git.line(&["hash-object", "-w", "--no-filters", "--stdin"], bytes)?;
                format!("{} {blob}\t{name}\0", mode.map_or("100644", String::as_str))
            }
        };
        entries.push(entry);
    }
    if entries.is_empty() {
        return Ok(Committed::Nothing);
    }
    let entries = entries.concat();
    // The tree: the last commit's with these files, in an index of its own.
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder could be made ({e})"))?;
    let aside = git.with_index(folder.path().join("index"));
    if let Some(head) = &head {
        aside.run(&["read-tree", head], b"")?;
    }
    aside.run(&["update-index", "-z", "--index-info"], entries.as_bytes())?;
    let tree = aside.line(&["write-tree"], b"")?;
    if let Some(head) = &head
        && git.line(&["rev-parse", &format!("{head}^{{tree}}")], b"")? == tree
    {
        return Ok(Committed::Nothing);
    }
    let mut arguments = vec!["commit-tree", &tree];
    arguments.extend(head.iter().flat_map(|head| ["-p", head]));
    let commit = git.line(&arguments, message(&files, origin).as_bytes())?;
    // The person's own index keeps what else is staged in it. Before the commit counts: when this fails nothing has moved.
    git.run(&["update-index", "-z", "--index-info"], entries.as_bytes())?;
    let old = head.unwrap_or_else(|| "0".repeat(commit.len()));
    git.run(&["update-ref", "-m", "commit: wikiwright", "HEAD", &commit, &old], b"")?;
    Ok(Committed::Yes(commit.chars().take(7).collect()))
}

/// A first line made of the files, the set's own words, and who did it as trailers.
fn message(files: &[&FileChange], origin: &Origin) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let subject = match files {
        [one] => line(&one.done()),
        [first, ..] => format!("{} and {} more", line(&first.done()), files.len() - 1),
        [] => String::new(),
    };
    let mut upper = subject.chars();
    let subject: String = upper.next().into_iter().flat_map(char::to_uppercase).chain(upper).collect();
    let short = match subject.char_indices().nth(SUBJECT) {
        Some(_) => subject.chars().take(SUBJECT - 1).chain(['…']).collect(),
        None => subject,
    };
    let mut text = format!("{short}\n\n");
    if !origin.message.trim().is_empty() {
        text.push_str(&format!("{}\n\n", line(&origin.message)));
    }
    text.push_str(&format!("Wikiwright-Role: {}\n", line(&origin.who)));
    if let Some(model) = &origin.model {
        text.push_str(&format!("Wikiwright-Model: {}\n", line(model)));
    }
    text
}

/// The repository around a bundle.
struct Git {
    top: PathBuf,
    /// Where the bundle lies in it: empty, or ending in `/`.
    prefix: String,
    index: Option<PathBuf>,
}

impl Git {
    fn around(root: &Path) -> Result<Option<Self>, String> {
        // Git says the same of "no repository" and of one that it does not trust, but for its words.
        if !root.ancestors().any(|folder| folder.join(".git").exists()) {
            return Ok(None);
        }
        let here = Self { top: root.to_owned(), prefix: String::new(), index: None };
        let prefix = here.line(&["rev-parse", "--show-prefix"], b"")?;
        let up = here.line(&["rev-parse", "--show-cdup"], b"")?;
        Ok(Some(Self { top: root.join(up), prefix, index: None }))
    }

    fn with_index(&self, index: PathBuf) -> Self {
        Self { top: self.top.clone(), prefix: self.prefix.clone(), index: Some(index) }
    }

    fn name(&self, path: &BundlePath) -> String {
        format!("{}{}", self.prefix, path.relative())
    }

    /// The modes of those files that the index or the commit has.
    fn known<'a>(
        &self,
        head: Option<&'a str>,
        names: impl Iterator<Item = &'a String> + Clone,
    ) -> Result<BTreeMap<String, String>, String> {
        let mut modes = BTreeMap::new();
        let commands = [
            Some(vec!["--literal-pathspecs", "ls-files", "-z", "-s", "--"]),
            head.map(|head| vec!["--literal-pathspecs", "ls-tree", "-z", "-r", head, "--"]),
        ];
        for mut arguments in commands.into_iter().flatten() {
            arguments.extend(names.clone().map(String::as_str));
            let out = self.run(&arguments, b"")?;
            for entry in String::from_utf8_lossy(&out).split('\0') {
                if let Some((facts, name)) = entry.split_once('\t')
                    && let Some(mode) = facts.split(' ').next()
                {
                    modes.insert(name.to_owned(), mode.to_owned());
                }
            }
        }
        Ok(modes)
    }

    fn ignored<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<Vec<String>, String> {
        let input: Vec<&str> = names.flat_map(|name| [name.as_str(), "\0"]).collect();
        // It ends with 1 when none is ignored.
        let out = self.output(&["check-ignore", "-z", "--no-index", "--stdin"], input.concat().as_bytes())?;
        if out.status.code().is_none_or(|code| code > 1) {
            return Err(failure(&out));
        }
        Ok(String::from_utf8_lossy(&out.stdout).split('\0').map(str::to_owned).collect())
    }

    fn line(&self, arguments: &[&str], input: &[u8]) -> Result<String, String> {
        let out = self.run(arguments, input)?;
        Ok(String::from_utf8_lossy(&out).trim_end_matches(['\n', '\r']).to_owned())
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
        let out = self.output(arguments, input)?;
        if out.status.success() {
            return Ok(out.stdout);
        }
        Err(failure(&out))
    }

    fn output(&self, arguments: &[&str], input: &[u8]) -> Result<Output, String> {
        let mut command = Command::new("git");
        // A repository may come from anywhere: what its settings would start is off.
        for setting in [
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "commit.gpgSign=false",
            "safe.bareRepository=explicit",
        ] {
            command.args(["-c", setting]);
        }
        command.args(arguments).current_dir(&self.top);
        for name in PLACES {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("git cannot be started ({e})"))?;
        let mut pipe = child.stdin.take();
        std::thread::scope(|scope| {
            // In a thread: git may fill its output before it has read all input. A git that ends early says why itself.
            scope.spawn(move || pipe.as_mut().map(|pipe| pipe.write_all(input)));
            child.wait_with_output()
        })
        .map_err(|e| format!("git cannot be run ({e})"))
    }
}

fn failure(out: &Output) -> String {
    let said = String::from_utf8_lossy(&out.stderr);
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a word");
    format!("git says: {}", first.trim())
}
