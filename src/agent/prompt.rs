//! The roles' instructions. Compiled in, so that they cannot be dropped (invariant I8), and put together the same way
//! every time, so that providers can cache them.

/// What the reader says when the wiki is silent.
pub const NOT_FOUND: &str = "I could not find the requested information in the wiki knowledge base.";

const MANAGER: &str = include_str!("../../assets/prompts/manager.md");
const MANAGER_LINT: &str = include_str!("../../assets/prompts/lint-tool.md");
const TASK: &str = include_str!("../../assets/prompts/task-tool.md");
const ASSISTANT: &str = include_str!("../../assets/prompts/assistant.md");
const READER: &str = include_str!("../../assets/prompts/reader.md");
const STRUCTURED: &str = include_str!("../../assets/prompts/structured-output.md");

/// The manager's system prompt.
pub fn manager() -> String {
    [MANAGER, TASK, MANAGER_LINT].map(str::trim_end).join("\n\n")
}

/// That of an assistant of the manager, which has none of its own.
pub fn assistant() -> String {
    [MANAGER, MANAGER_LINT, ASSISTANT].map(str::trim_end).join("\n\n")
}

/// The reader's system prompt, with the sentence for what is not there; `structured` when its answers are wanted as data.
pub fn reader(not_found: &str, structured: bool) -> String {
    let form = if structured { STRUCTURED } else { "" };
    [READER, form].map(str::trim_end).join("\n\n").trim_end().replace("{not_found}", not_found)
}

#[cfg(test)]
mod tests;
