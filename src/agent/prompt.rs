//! The roles' instructions. Compiled in, so that they cannot be dropped (invariant I8), and put together the same way
//! every time, so that providers can cache them.

/// What the reader says when the wiki is silent.
pub const NOT_FOUND: &str = "I could not find the requested information in the wiki knowledge base.";

const MANAGER: &str = include_str!("../../assets/prompts/manager.md");
const MANAGER_LINT: &str = include_str!("../../assets/prompts/lint-tool.md");
const DOCUMENTS: &str = include_str!("../../assets/prompts/documents.md");
const TASK: &str = include_str!("../../assets/prompts/task-tool.md");
const ASSISTANT: &str = include_str!("../../assets/prompts/assistant.md");
const READER: &str = include_str!("../../assets/prompts/reader.md");
const STRUCTURED: &str = include_str!("../../assets/prompts/structured-output.md");

/// Tools that a manager may lack; each has a block of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optional {
    pub lint: bool,
    pub documents: bool,
}

impl Optional {
    fn blocks(self) -> [&'static str; 2] {
        [if self.documents { DOCUMENTS } else { "" }, if self.lint { MANAGER_LINT } else { "" }]
    }
}

/// The manager's system prompt. `own` stands for the role's instructions.
pub fn manager(own: Option<&str>, tools: Optional) -> String {
    let [documents, lint] = tools.blocks();
    joined(&[own.unwrap_or(MANAGER), TASK, documents, lint])
}

/// That of an assistant of the manager, which has none of its own.
pub fn assistant(own: Option<&str>, tools: Optional) -> String {
    let [documents, lint] = tools.blocks();
    joined(&[own.unwrap_or(MANAGER), documents, lint, ASSISTANT])
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The reader's system prompt, with the sentence for what is not there; `structured` when its answers are wanted as data.
pub fn reader(not_found: &str, structured: bool) -> String {
    reader_with(None, not_found, structured)
}

/// [`reader`] with instructions in place of the role's.
pub fn reader_with(own: Option<&str>, not_found: &str, structured: bool) -> String {
    joined(&[own.unwrap_or(READER), if structured { STRUCTURED } else { "" }])
        .replace("{not_found}", not_found)
}

#[cfg(test)]
mod tests;
