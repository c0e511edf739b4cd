//! Tools that a caller of the library adds to a role.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::schema::Tool;
use crate::agent::answer;
use crate::agent::client::ToolSchema;
use crate::agent::event::Role;

type Handler = dyn Fn(&Map<String, Value>) -> Result<String, String> + Send + Sync;

/// A tool of the caller's own. It is given its arguments and nothing of the bundle: what it may reach is what its function holds.
#[derive(Clone)]
pub struct ExtraTool {
    pub(super) schema: ToolSchema,
    pub(super) handler: Arc<Handler>,
}

impl ExtraTool {
    /// `parameters` is a JSON Schema of kind object. The handler runs on a thread that may block, beside other calls; its text is
    /// told to the model, and so is its error. A panic is an error too.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        handler: impl Fn(&Map<String, Value>) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        let schema = ToolSchema { name: name.into(), description: description.into(), parameters };
        Self { schema, handler: Arc::new(handler) }
    }

    pub fn name(&self) -> &str {
        &self.schema.name
    }

    /// Why these tools cannot be added to a role, as a sentence.
    pub(in crate::agent) fn check(tools: &[Self]) -> Result<(), String> {
        for (at, tool) in tools.iter().enumerate() {
            let name = tool.name();
            // What providers take as the name of a function.
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
                return Err(format!("the tool {name:?}: a name is 1 to 64 letters, digits, _ and -"));
            }
            if Tool::of(Role::Manager).iter().any(|own| own.name() == name) || name == answer::TOOL {
                return Err(format!("the tool {name}: wikiwright has a tool of this name; choose another"));
            }
            if tools.iter().take(at).any(|other| other.name() == name) {
                return Err(format!("the tool {name} is added twice"));
            }
            if tool.schema.parameters.get("type").and_then(Value::as_str) != Some("object") {
                return Err(format!(
                    "the tool {name}: its parameters are no JSON Schema with \"type\": \"object\""
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ExtraTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtraTool").field("schema", &self.schema).finish_non_exhaustive()
    }
}
