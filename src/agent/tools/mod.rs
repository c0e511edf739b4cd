//! The tools that a role can call: what the model is shown of them, and running one call.
//!
//! A call never fails the session: whatever goes wrong is an [`Outcome`] that the model can act on. Results are
//! plain text made for a model. The reader's toolbox holds a handle without write methods.

mod arguments;
mod edit;
mod look;
mod plan;
mod propose;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use self::arguments::Arguments;
use super::client::ToolSchema;
use super::event::{Role, Todo};

use crate::bundle::{Read, ReadOnly, Staged};
use crate::okf::{BundlePath, ContentHash};

/// Most characters of a result: about 20,000 tokens.
const MAX_RESULT: usize = 80_000;

/// A tool of the workbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    Ls,
    ReadFile,
    Glob,
    Grep,
    WriteFile,
    EditFile,
    Delete,
    WriteTodos,
    OkfLint,
}

/// What one call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ok: bool,
    /// What the model is told.
    pub text: String,
    /// The plan, when the call replaced it.
    pub todos: Option<Vec<Todo>>,
}

impl Outcome {
    pub fn ok(text: impl Into<String>) -> Self {
        Self { ok: true, text: text.into(), todos: None }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), todos: None }
    }
}

impl From<Result<String, String>> for Outcome {
    fn from(result: Result<String, String>) -> Self {
        result.map_or_else(Self::error, Self::ok)
    }
}

/// Content of files as the model last saw it, by hash: what an edit may start from.
#[derive(Default)]
struct Seen(Mutex<HashMap<BundlePath, ContentHash>>);

impl Seen {
    fn note(&self, path: &BundlePath, bytes: &[u8]) {
        self.map().insert(path.clone(), ContentHash::of(bytes));
    }

    fn get(&self, path: &BundlePath) -> Option<ContentHash> {
        self.map().get(path).copied()
    }

    // A poisoned lock guards a map that is whole: each entry is written in one step.
    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<BundlePath, ContentHash>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the calls of one session go. The reader's variant has nothing that writes (invariant I2).
enum Access {
    Manager(Arc<Staged>),
    Reader(ReadOnly),
}

/// The tools of one session, bound to one bundle: the model never says where that is.
pub struct Toolbox {
    access: Access,
    seen: Seen,
}

impl Tool {
    const ALL: [Self; 9] = [
        Self::Ls,
        Self::ReadFile,
        Self::Glob,
        Self::Grep,
        Self::WriteFile,
        Self::EditFile,
        Self::Delete,
        Self::WriteTodos,
        Self::OkfLint,
    ];

    /// The tools of a role, in the order the model is shown them.
    pub fn of(role: Role) -> &'static [Self] {
        match role {
            Role::Manager => &Self::ALL,
            Role::Reader => &[Self::Ls, Self::ReadFile, Self::Glob, Self::Grep],
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ls => "ls",
            Self::ReadFile => "read_file",
            Self::Glob => "glob",
            Self::Grep => "grep",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::Delete => "delete",
            Self::WriteTodos => "write_todos",
            Self::OkfLint => "okf_lint",
        }
    }

    /// Whether calls must run one after the other, in the order the model made them.
    pub fn writes(self) -> bool {
        matches!(self, Self::WriteFile | Self::EditFile | Self::Delete | Self::WriteTodos)
    }

    fn description(self) -> &'static str {
        match self {
            Self::Ls => {
                "List one folder of the bundle: one entry a line, folders end in /, files with their size."
            }
            Self::ReadFile => {
                "Read a text file. The first line of the result names the file and the lines shown; the rest is the file, \
                 verbatim. Without limit it reads up to 2000 lines; go on with offset when the result says so."
            }
            Self::Glob => {
                "Find files by name. A pattern without / matches names at any depth (*.md); with / it matches the path below \
                 `path` (wiki/**/*.md). * ? [..] {a,b} ** are known."
            }
            Self::Grep => {
                "Search the lines of the files for a text (literal unless regex is true). Gives `path:line: text` rows, or only \
                 the files, or counts."
            }
            Self::WriteFile => {
                "Propose a new file, or the whole new content of one that you have read. The change is staged: a person reviews \
                 it before anything is written."
            }
            Self::EditFile => {
                "Propose an edit of a file that you have read: old_string is replaced by new_string. old_string must stand in \
                 the file exactly once (or give replace_all). The change is staged for review."
            }
            Self::Delete => {
                "Propose to delete one file. The deletion is staged for review. Folders cannot be deleted."
            }
            Self::WriteTodos => {
                "Show your plan: the whole list each time. For work of three steps or more; keep one item in_progress and mark \
                 items completed as soon as they are."
            }
            Self::OkfLint => {
                "Check the bundle as it would be with everything that is staged. Lists findings by level; run it before you \
                 say that you are done."
            }
        }
    }

    fn parameters(self) -> Value {
        let text = |what: &str| json!({"type": "string", "description": what});
        let count = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
        let flag = |what: &str| json!({"type": "boolean", "description": what});
        let (properties, required) = match self {
            Self::Ls => (json!({"path": text("folder, for example /wiki")}), json!(["path"])),
            Self::ReadFile => (
                json!({
                    "file_path": text("file, for example /wiki/index.md"),
                    "offset": count("lines to skip from the start, default 0"),
                    "limit": count("most lines to show, default 2000"),
                    "numbered": flag("put line numbers before the lines"),
                }),
                json!(["file_path"]),
            ),
            Self::Glob => (
                json!({"pattern": text("for example **/*.md"), "path": text("folder to start in, default /")}),
                json!(["pattern"]),
            ),
            Self::Grep => (
                json!({
                    "pattern": text("text to find"),
                    "regex": flag("read pattern as a regular expression"),
                    "ignore_case": flag("letter case does not matter"),
                    "path": text("folder or file to search, default /"),
                    "glob": text("only files with such names, for example *.md"),
                    "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
                    "max_count": count("most lines in all, default 500"),
                }),
                json!(["pattern"]),
            ),
            Self::WriteFile => (
                json!({"file_path": text("file to create or replace"), "content": text("the whole content")}),
                json!(["file_path", "content"]),
            ),
            Self::EditFile => (
                json!({
                    "file_path": text("file to change"),
                    "old_string": text("text to replace, exactly as it stands in the file"),
                    "new_string": text("text to put there"),
                    "replace_all": flag("replace every occurrence"),
                }),
                json!(["file_path", "old_string", "new_string"]),
            ),
            Self::Delete => (json!({"file_path": text("file to delete")}), json!(["file_path"])),
            Self::WriteTodos => (
                json!({"todos": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "content": text("what is to do"),
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                    },
                    "required": ["content", "status"],
                }}}),
                json!(["todos"]),
            ),
            Self::OkfLint => (json!({}), json!([])),
        };
        json!({"type": "object", "properties": properties, "required": required})
    }

    pub fn schema(self) -> ToolSchema {
        ToolSchema {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            parameters: self.parameters(),
        }
    }
}

impl Toolbox {
    /// The manager's tools. Every write goes to `staged`, which checks the rules.
    pub fn manager(staged: Arc<Staged>) -> Self {
        Self { access: Access::Manager(staged), seen: Seen::default() }
    }

    /// The reader's tools.
    pub fn reader(bundle: Arc<dyn Read>) -> Self {
        Self { access: Access::Reader(ReadOnly::new(bundle)), seen: Seen::default() }
    }

    pub fn role(&self) -> Role {
        match self.access {
            Access::Manager(_) => Role::Manager,
            Access::Reader(_) => Role::Reader,
        }
    }

    pub fn staged(&self) -> Option<&Arc<Staged>> {
        match &self.access {
            Access::Manager(staged) => Some(staged),
            Access::Reader(_) => None,
        }
    }

    pub fn schemas(&self) -> Vec<ToolSchema> {
        Tool::of(self.role()).iter().map(|tool| tool.schema()).collect()
    }

    /// The tool of this name, when the role has it.
    pub fn find(&self, name: &str) -> Option<Tool> {
        Tool::of(self.role()).iter().copied().find(|tool| tool.name() == name)
    }

    /// Runs one call. May block on the disk.
    pub fn run(&self, name: &str, arguments: &str) -> Outcome {
        let Some(tool) = self.find(name) else {
            let names: Vec<&str> = Tool::of(self.role()).iter().map(|tool| tool.name()).collect();
            return Outcome::error(format!(
                "There is no tool `{name}`. The tools are: {}.",
                names.join(", ")
            ));
        };
        let arguments = match parse(arguments) {
            Ok(map) => Arguments::new(map),
            Err(problem) => {
                return Outcome::error(format!(
                    "The arguments of {name} are not a JSON object ({problem}). Send them again."
                ));
            }
        };
        self.call(tool, &arguments).unwrap_or_else(|problem| {
            let given = arguments.names().join(", ");
            let given = if given.is_empty() { "none".to_owned() } else { given };
            Outcome::error(format!("{name}: {problem} Arguments given: {given}."))
        })
    }

    /// `Err` is what is wrong with the arguments.
    fn call(&self, tool: Tool, arguments: &Arguments) -> Result<Outcome, String> {
        let bundle: &dyn Read = match &self.access {
            Access::Manager(staged) => staged,
            Access::Reader(bundle) => bundle,
        };
        Ok(match (tool, &self.access) {
            (Tool::Ls, _) => look::ls(bundle, &arguments.path("path")?).into(),
            (Tool::ReadFile, _) => look::read_file(bundle, &self.seen, arguments)?.into(),
            (Tool::Glob, _) => look::glob(bundle, arguments)?.into(),
            (Tool::Grep, _) => look::grep(bundle, arguments)?.into(),
            (Tool::WriteFile, Access::Manager(staged)) => {
                propose::write_file(staged, &self.seen, arguments)?.into()
            }
            (Tool::EditFile, Access::Manager(staged)) => {
                propose::edit_file(staged, &self.seen, arguments)?.into()
            }
            (Tool::Delete, Access::Manager(staged)) => propose::delete(staged, arguments)?.into(),
            (Tool::WriteTodos, Access::Manager(_)) => plan::write_todos(arguments)?,
            (Tool::OkfLint, Access::Manager(staged)) => plan::okf_lint(staged).into(),
            (_, Access::Reader(_)) => Outcome::error("This tool is not for the reader."),
        })
    }

    /// One short line about a call, for people: `read /raw/x.md`. Holds foreign text as it came.
    pub fn summary(name: &str, arguments: &str) -> String {
        let map = parse(arguments).unwrap_or_default();
        let get = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let file = if map.contains_key("file_path") { get("file_path") } else { get("path") };
        match name {
            "ls" => format!("list {file}"),
            "read_file" => format!("read {file}"),
            "write_file" => format!("write {file}"),
            "edit_file" => format!("edit {file}"),
            "delete" => format!("delete {file}"),
            "glob" => format!("find {}", get("pattern")),
            "grep" => format!("search \u{201c}{}\u{201d}", get("pattern")),
            "write_todos" => {
                let steps = map.get("todos").and_then(Value::as_array).map_or(0, Vec::len);
                format!("plan {steps} {}", if steps == 1 { "step" } else { "steps" })
            }
            "okf_lint" => "lint the proposed bundle".to_owned(),
            other => other.to_owned(),
        }
    }
}

/// Arguments as an object. An empty text is an empty object: some models send that for tools without arguments.
fn parse(arguments: &str) -> Result<Map<String, Value>, String> {
    if arguments.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("another kind of JSON value".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Cuts a result at the budget and says so.
fn capped(text: String, hint: &str) -> String {
    match text.char_indices().nth(MAX_RESULT) {
        None => text,
        Some((at, _)) => {
            let head = text.get(..at).unwrap_or_default();
            let end = head.rfind('\n').unwrap_or(at);
            format!("{}\n[cut here: {hint}]", head.get(..end).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests;
