//! The tools that a role can call: what the model is shown of them, and running one call.
//!
//! A call never fails the session: whatever goes wrong is an [`Outcome`] that the model can act on. Results are
//! plain text made for a model. The reader's toolbox holds a handle without write methods.

mod arguments;
mod change;
mod document;
mod edit;
mod extra;
mod graph;
mod look;
mod plan;
mod propose;
mod provenance;
mod schema;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::arguments::Arguments;
pub use self::change::overview;
pub use self::document::Documents;
pub use self::extra::ExtraTool;
pub use self::schema::Tool;
use super::client::ToolSchema;
use super::event::{Ran, Role, Todo};
use super::reading::Ledger;

use crate::bundle::{Read, ReadOnly, Staged};
use crate::lint;

/// Most characters of a result: about 20,000 tokens.
const MAX_RESULT: usize = 80_000;

/// What one call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ok: bool,
    /// What the model is told.
    pub text: String,
    /// The plan, when the call replaced it.
    pub todos: Option<Vec<Todo>>,
    pub ran: Option<Ran>,
}

impl Outcome {
    pub fn ok(text: impl Into<String>) -> Self {
        Self { ok: true, text: text.into(), todos: None, ran: None }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), todos: None, ran: None }
    }
}

impl From<Result<String, String>> for Outcome {
    fn from(result: Result<String, String>) -> Self {
        result.map_or_else(Self::error, Self::ok)
    }
}

/// Where the calls of one session go. The reader's variant has nothing that writes (invariant I2).
#[derive(Clone)]
enum Access {
    Manager(Arc<Staged>),
    Reader(ReadOnly),
}

/// The tools of one session, bound to one bundle: the model never says where that is.
pub struct Toolbox {
    access: Access,
    seen: Ledger,
    /// Tools of the role that this session has not.
    without: &'static [Tool],
    /// Those of the caller.
    extra: Arc<[ExtraTool]>,
    /// Without it there is no `read_document`.
    documents: Option<Documents>,
    gate: Arc<Gate>,
    lint: lint::Options,
}

/// Lets calls that only look run side by side, and one that changes the staged set run alone: between reading a file and
/// staging it anew, no assistant may come. So the calls have an order in which they could have run one by one.
#[derive(Default)]
struct Gate {
    lock: RwLock<()>,
    next: AtomicU64,
}

impl Toolbox {
    /// The manager's tools. Every write goes to `staged`, which checks the rules.
    pub fn manager(staged: Arc<Staged>) -> Self {
        Self::of(Access::Manager(staged))
    }

    /// The reader's tools.
    pub fn reader(bundle: Arc<dyn Read>) -> Self {
        Self::of(Access::Reader(ReadOnly::new(bundle)))
    }

    fn of(access: Access) -> Self {
        let lint = lint::Options::default();
        Self {
            access,
            seen: Ledger::default(),
            without: &[],
            extra: Arc::default(),
            documents: None,
            gate: Arc::default(),
            lint,
        }
    }

    /// With a linter that is told this.
    pub fn judging(self, lint: lint::Options) -> Self {
        Self { lint, ..self }
    }

    /// With tools of the caller's own, which were checked; see [`ExtraTool::check`].
    pub(in crate::agent) fn with_extra(self, extra: Vec<ExtraTool>) -> Self {
        Self { extra: extra.into(), ..self }
    }

    /// With sources in any format, for a role that reads them.
    pub fn with_documents(self, documents: Option<Documents>) -> Self {
        Self { documents, ..self }
    }

    /// The tools of an assistant: the same bundle, rules and staged set, nothing read yet, and no assistants of its own.
    pub fn assistant(&self) -> Self {
        Self {
            access: self.access.clone(),
            seen: Ledger::default(),
            without: if self.without.contains(&Tool::OkfLint) {
                &[Tool::Task, Tool::OkfLint]
            } else {
                &[Tool::Task]
            },
            extra: self.extra.clone(),
            documents: self.documents.clone(),
            gate: self.gate.clone(),
            lint: self.lint.clone(),
        }
    }

    /// These tools without the linter.
    pub fn without_lint(self) -> Self {
        Self { without: &[Tool::OkfLint], ..self }
    }

    /// What the model has read through these tools.
    pub fn ledger(&self) -> &Ledger {
        &self.seen
    }

    fn tools(&self) -> impl Iterator<Item = Tool> {
        let has = |tool: &Tool| match tool {
            Tool::ReadDocument => self.documents.is_some(),
            tool => !self.without.contains(tool),
        };
        Tool::of(self.role()).iter().copied().filter(has)
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
        self.tools().map(Tool::schema).chain(self.extra.iter().map(|tool| tool.schema.clone())).collect()
    }

    /// The tool of this name, when the role has it.
    pub fn find(&self, name: &str) -> Option<Tool> {
        self.tools().find(|tool| tool.name() == name)
    }

    /// The order of the calls goes on with this number: a session that is gone on with has had others.
    pub fn count_from(&self, order: u64) {
        self.gate.next.store(order, Ordering::Relaxed);
    }

    /// Runs one call. May block on the disk, and for as long as a document is converted.
    pub fn run(&self, name: &str, arguments: &str) -> Outcome {
        self.run_at(name, arguments, None, &CancellationToken::new())
    }

    /// [`Toolbox::run`] as if it were this time; what takes long stops when it is cancelled.
    pub fn run_at(
        &self,
        name: &str,
        arguments: &str,
        at: Option<Timestamp>,
        cancel: &CancellationToken,
    ) -> Outcome {
        let writes = self.find(name).is_some_and(Tool::writes);
        // A poisoned gate guards nothing by itself.
        let _alone = writes.then(|| self.gate.lock.write().unwrap_or_else(PoisonError::into_inner));
        let _beside = (!writes).then(|| self.gate.lock.read().unwrap_or_else(PoisonError::into_inner));
        let order = self.gate.next.fetch_add(1, Ordering::Relaxed);
        let at = at.unwrap_or_else(Timestamp::now);
        Outcome { ran: Some(Ran { order, at }), ..self.run_now(name, arguments, at, cancel) }
    }

    fn run_now(&self, name: &str, arguments: &str, now: Timestamp, cancel: &CancellationToken) -> Outcome {
        let extra = self.extra.iter().find(|extra| extra.name() == name);
        match (self.find(name), extra, parse(arguments)) {
            (None, None, _) => {
                let mut names: Vec<&str> = self.tools().map(Tool::name).collect();
                names.extend(self.extra.iter().map(ExtraTool::name));
                let names = names.join(", ");
                Outcome::error(format!("There is no tool `{name}`. The tools are: {names}."))
            }
            (.., Err(problem)) => Outcome::error(format!(
                "The arguments of {name} are not a JSON object ({problem}). Send them again."
            )),
            (Some(tool), _, Ok(arguments)) => self.run_own(tool, &Arguments::new(arguments), now, cancel),
            (None, Some(extra), Ok(arguments)) => {
                let cut = |text| capped(text, "the result is longer than a model can be sent");
                (extra.handler)(&arguments).map(cut).map_err(cut).into()
            }
        }
    }

    fn run_own(
        &self,
        tool: Tool,
        arguments: &Arguments,
        now: Timestamp,
        cancel: &CancellationToken,
    ) -> Outcome {
        let name = tool.name();
        if let Some(path) = arguments.leads_out() {
            self.seen.refuse(format!("{name} {path}"));
        }
        self.call(tool, arguments, now, cancel).unwrap_or_else(|problem| {
            let given = arguments.names().join(", ");
            let given = if given.is_empty() { "none".to_owned() } else { given };
            Outcome::error(format!("{name}: {problem} Arguments given: {given}."))
        })
    }

    /// The bundle as the role sees it.
    pub fn bundle(&self) -> &dyn Read {
        match &self.access {
            Access::Manager(staged) => staged,
            Access::Reader(bundle) => bundle,
        }
    }

    /// `Err` is what is wrong with the arguments.
    fn call(
        &self,
        tool: Tool,
        arguments: &Arguments,
        now: Timestamp,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let bundle = self.bundle();
        Ok(match (tool, &self.access) {
            (Tool::Ls, _) => look::ls(bundle, &arguments.path("path")?).into(),
            (Tool::ReadFile, _) => look::read_file(bundle, &self.seen, arguments)?.into(),
            (Tool::Glob, _) => look::glob(bundle, arguments)?.into(),
            (Tool::Grep, _) => look::grep(bundle, arguments)?.into(),
            (Tool::Backlinks, _) => graph::backlinks(self.whole(), bundle, arguments)?.into(),
            (Tool::Outline, _) => graph::outline(bundle, arguments)?.into(),
            (Tool::WriteFile, Access::Manager(staged)) => {
                propose::write_file(staged, &self.seen, arguments, now)?.into()
            }
            (Tool::EditFile, Access::Manager(staged)) => {
                propose::edit_file(staged, &self.seen, arguments, now)?.into()
            }
            (Tool::MultiEdit, Access::Manager(staged)) => {
                propose::multi_edit(staged, &self.seen, arguments, now)?.into()
            }
            (Tool::Delete, Access::Manager(staged)) => propose::delete(staged, &self.seen, arguments)?.into(),
            (Tool::Rename, Access::Manager(staged)) => change::rename(staged, &self.seen, arguments)?.into(),
            (Tool::Diff, Access::Manager(staged)) => change::diff(staged, arguments)?.into(),
            (Tool::Discard, Access::Manager(staged)) => change::discard(staged, arguments)?.into(),
            (Tool::WriteTodos, Access::Manager(_)) => plan::write_todos(arguments)?,
            (Tool::OkfLint, Access::Manager(staged)) => {
                plan::okf_lint(staged, &self.seen, &self.lint, arguments)?.into()
            }
            (Tool::ReadDocument, Access::Manager(_)) => match &self.documents {
                Some(documents) => {
                    document::read_document(documents, bundle, &self.seen, arguments, cancel)?.into()
                }
                None => Outcome::error("Nothing here converts documents."),
            },
            (Tool::Task, Access::Manager(_)) => Outcome::error("There is nobody here to give a task to."),
            (_, Access::Reader(_)) => Outcome::error("This tool is not for the reader."),
        })
    }

    /// The bundle as it would be, for judging links: what may not be read is looked at as well, and never told.
    fn whole(&self) -> Result<crate::wiki::Wiki, String> {
        match &self.access {
            Access::Manager(staged) => change::proposed(staged),
            Access::Reader(bundle) => crate::wiki::Wiki::load(bundle).map_err(|e| e.to_string()),
        }
    }

    /// The description in a call of `task`; an error is a sentence for the model.
    pub fn task(arguments: &str) -> Result<String, String> {
        let map = parse(arguments).map_err(|problem| {
            format!("The arguments of task are not a JSON object ({problem}). Send them again.")
        })?;
        match map.get("description").and_then(Value::as_str).map(str::trim) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err("task: `description` must say what is to be done.".to_owned()),
        }
    }

    /// One short line about a call, for people: `read /raw/x.md`. Holds foreign text as it came.
    pub fn summary(name: &str, arguments: &str) -> String {
        let map = parse(arguments).unwrap_or_default();
        let get = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let file = if map.contains_key("file_path") { get("file_path") } else { get("path") };
        match name {
            "ls" => format!("list {file}"),
            "read_file" | "read_document" => format!("read {file}"),
            "write_file" => format!("write {file}"),
            "edit_file" => format!("edit {file}"),
            "multi_edit" => format!("edit {file}"),
            "delete" => format!("delete {file}"),
            "rename" => format!("rename {} to {}", get("from"), get("to")),
            "backlinks" => format!("links to {file}"),
            "outline" => format!("outline of {file}"),
            "diff" if file.is_empty() => "look at what is staged".to_owned(),
            "diff" => format!("diff of {file}"),
            "discard" => format!("take back {file}"),
            "task" => {
                let description = get("description");
                let line = description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                format!("assistant: {}", line.trim().chars().take(120).collect::<String>())
            }
            "glob" => format!("find {}", get("pattern")),
            "grep" => format!("search \u{201c}{}\u{201d}", get("pattern")),
            "write_todos" => {
                let steps = map.get("todos").and_then(Value::as_array).map_or(0, Vec::len);
                format!("plan {steps} {}", if steps == 1 { "step" } else { "steps" })
            }
            "okf_lint" if map.get("fix").is_some_and(|fix| fix != false && fix != "false") => {
                "fix what lint finds".to_owned()
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
mod faults;
#[cfg(test)]
mod tests;
