//! Which tools a role has, and what the model is shown of each.

use serde_json::{Value, json};

use crate::agent::client::ToolSchema;
use crate::agent::event::Role;

/// A tool of the workbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    Ls,
    ReadFile,
    Glob,
    Grep,
    Backlinks,
    Outline,
    WriteFile,
    EditFile,
    MultiEdit,
    Delete,
    Rename,
    Diff,
    Discard,
    WriteTodos,
    OkfLint,
    Task,
    ReadDocument,
}

impl Tool {
    const ALL: [Self; 17] = [
        Self::Ls,
        Self::ReadFile,
        Self::Glob,
        Self::Grep,
        Self::Backlinks,
        Self::Outline,
        Self::WriteFile,
        Self::EditFile,
        Self::MultiEdit,
        Self::Delete,
        Self::Rename,
        Self::Diff,
        Self::Discard,
        Self::WriteTodos,
        Self::OkfLint,
        Self::Task,
        Self::ReadDocument,
    ];

    const READER: [Self; 6] =
        [Self::Ls, Self::ReadFile, Self::Glob, Self::Grep, Self::Backlinks, Self::Outline];

    /// The tools of a role, in the order the model is shown them.
    pub fn of(role: Role) -> &'static [Self] {
        match role {
            Role::Manager => &Self::ALL,
            Role::Reader => &Self::READER,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ls => "ls",
            Self::ReadFile => "read_file",
            Self::Glob => "glob",
            Self::Grep => "grep",
            Self::Backlinks => "backlinks",
            Self::Outline => "outline",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::MultiEdit => "multi_edit",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Diff => "diff",
            Self::Discard => "discard",
            Self::WriteTodos => "write_todos",
            Self::OkfLint => "okf_lint",
            Self::Task => "task",
            Self::ReadDocument => "read_document",
        }
    }

    /// Whether calls must run one after the other, in the order the model made them.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::WriteFile
                | Self::EditFile
                | Self::MultiEdit
                | Self::Delete
                | Self::Rename
                | Self::Discard
                | Self::WriteTodos
                | Self::OkfLint
        )
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
                "Search the lines of the files for a text (literal unless regex is true). Gives `path:line: text` rows, with \
                 `context` also the lines around as `path-line- text`, or only the files, or counts."
            }
            Self::Backlinks => "List the pages that link to a page or file, with line and text of each link.",
            Self::Outline => {
                "Show the shape of a page without its text: fields, headings with their line numbers, links, length."
            }
            Self::WriteFile => {
                "Propose a new file, or the whole new content of one that you have read. The change is staged: a person reviews \
                 it before anything is written."
            }
            Self::EditFile => {
                "Propose an edit of a file that you have read: old_string is replaced by new_string. old_string must stand in \
                 the file exactly once (or give replace_all, or the line it starts at). The change is staged for review."
            }
            Self::MultiEdit => {
                "Propose several edits of one file that you have read, made in order, each on the result of the one before. \
                 All of them are staged, or none."
            }
            Self::Delete => {
                "Propose to delete one file that you have read. The deletion is staged for review. Folders cannot be deleted."
            }
            Self::Rename => {
                "Propose to move a page, another file or a folder. Links to it, links in it and its entry in the index follow. \
                 All of it is staged for review."
            }
            Self::Diff => "Show what is staged: all files with their counts, or the full diff of one file.",
            Self::Discard => {
                "Take back what is staged for one file, whoever of you staged it. The file is then as it is in the bundle."
            }
            Self::WriteTodos => {
                "Show your plan: the whole list each time. For work of three steps or more; keep one item in_progress and mark \
                 items completed as soon as they are."
            }
            Self::OkfLint => {
                "Check the bundle as it would be with everything that is staged. Lists findings by level; run it before you \
                 say that you are done. With fix it first stages what mends findings beyond doubt."
            }
            Self::ReadDocument => {
                "Read a source of /raw in any usual format as markdown: PDF, Word, PowerPoint, Excel, OpenDocument, web page, \
                 EPUB, mail, notebook, CSV, RTF. Lines <!-- page 3 --> (or slide, sheet, chapter) say where in the document the \
                 text after them stands. A long document comes in parts; go on with offset as the first line of the result says."
            }
            Self::Task => {
                "Give a part of the work that can be described in full to an assistant of your kind with a memory of its own: \
                 it sees only the description, stages into the same set and answers with a report. Several calls in one answer \
                 run at the same time; give them different files."
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
                    "context": count("lines to show before and after each found one, at most 20"),
                    "max_count": count("most lines in all, default 500"),
                }),
                json!(["pattern"]),
            ),
            Self::Backlinks => {
                (json!({"file_path": text("page or file that is linked to")}), json!(["file_path"]))
            }
            Self::Outline => (json!({"file_path": text("page")}), json!(["file_path"])),
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
                    "line": count("line where the occurrence starts that is meant, from 1"),
                }),
                json!(["file_path", "old_string", "new_string"]),
            ),
            Self::MultiEdit => (
                json!({
                    "file_path": text("file to change"),
                    "edits": {"type": "array", "minItems": 1, "items": {
                        "type": "object",
                        "properties": {
                            "old_string": text("text to replace, exactly as it stands after the edits before"),
                            "new_string": text("text to put there"),
                            "replace_all": flag("replace every occurrence"),
                            "line": count("line where the occurrence starts that is meant, from 1"),
                        },
                        "required": ["old_string", "new_string"],
                    }},
                }),
                json!(["file_path", "edits"]),
            ),
            Self::Delete => (json!({"file_path": text("file to delete")}), json!(["file_path"])),
            Self::Rename => (
                json!({"from": text("page, file or folder"), "to": text("its new path")}),
                json!(["from", "to"]),
            ),
            Self::Diff => (json!({"file_path": text("only this file")}), json!([])),
            Self::Discard => (json!({"file_path": text("file to take back")}), json!(["file_path"])),
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
            Self::OkfLint => (json!({"fix": flag("stage the fixes that are beyond doubt")}), json!([])),
            Self::ReadDocument => (
                json!({
                    "path": text("document, for example /raw/report.pdf"),
                    "offset": count("characters to skip from the start, default 0"),
                    "limit": count("most characters to show"),
                }),
                json!(["path"]),
            ),
            Self::Task => (
                json!({"description": text("all that is to be done, with every path and fact that is needed for it, and what to report")}),
                json!(["description"]),
            ),
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
