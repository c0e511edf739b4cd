//! The two roles from their parts. What does not go together fails when it is built, with a sentence that says what to do.

use std::path::PathBuf;
use std::sync::Arc;

use super::approval::Approval;
use super::budget::Limits;
use super::client::ModelClient;
use super::client::openai::{OpenAi, OpenAiSettings};
use super::driver::{self, ManagerOptions, ReaderOptions, Session};
use super::record::Keeping;
use super::tools::ExtraTool;
use crate::bundle::{Read, Rule};

/// Parts that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("no bundle is set: give `bundle` a path, or `backend` something that reads")]
    NoBundle,
    #[error("both `bundle` and `backend` are set: leave one out")]
    TwoBundles,
    #[error("{0}")]
    Bundle(String),
    #[error("no model is set: give `model` an endpoint, or `client` something that answers")]
    NoModel,
    #[error("both `model` and `client` are set: leave one out")]
    TwoModels,
    #[error("{0}")]
    Model(String),
    #[error("{0}")]
    Tool(String),
    #[error("`system_prompt` is empty: leave it out for the role's own")]
    EmptyPrompt,
    #[error("`not_found_message` is empty: leave it out for the usual sentence")]
    EmptyNotFound,
    #[error(
        "`system_prompt` has no place for `not_found_message`: write {{not_found}} where the sentence stands"
    )]
    NoPlaceForNotFound,
}

/// What both roles have.
#[derive(Default)]
struct Parts {
    bundle: Option<PathBuf>,
    backend: Option<Arc<dyn Read>>,
    model: Option<OpenAiSettings>,
    client: Option<Arc<dyn ModelClient>>,
    extra: Vec<ExtraTool>,
    keeping: Keeping,
}

/// Parts that were put together.
struct Put {
    bundle: Arc<dyn Read>,
    client: Arc<dyn ModelClient>,
    extra: Vec<ExtraTool>,
    keeping: Keeping,
}

impl Parts {
    fn put(self) -> Result<Put, BuildError> {
        ExtraTool::check(&self.extra).map_err(BuildError::Tool)?;
        let bundle = match (self.bundle, self.backend) {
            (Some(path), None) => {
                crate::bundle::open(&path).map_err(|e| BuildError::Bundle(e.to_string()))?.reader()
            }
            (None, Some(backend)) => backend,
            (None, None) => return Err(BuildError::NoBundle),
            (Some(_), Some(_)) => return Err(BuildError::TwoBundles),
        };
        let client = match (self.model, self.client) {
            (Some(settings), None) => {
                Arc::new(OpenAi::new(settings).map_err(|e| BuildError::Model(e.to_string()))?)
            }
            (None, Some(client)) => client,
            (None, None) => return Err(BuildError::NoModel),
            (Some(_), Some(_)) => return Err(BuildError::TwoModels),
        };
        Ok(Put { bundle, client, extra: self.extra, keeping: self.keeping })
    }
}

/// The steps that both builders have.
macro_rules! common {
    () => {
        /// The bundle at this path or address, of any kind that the program opens.
        #[must_use]
        pub fn bundle(mut self, path: impl Into<PathBuf>) -> Self {
            self.parts.bundle = Some(path.into());
            self
        }

        /// A bundle that is open already, wherever it lies.
        #[must_use]
        pub fn backend(mut self, bundle: Arc<dyn Read>) -> Self {
            self.parts.backend = Some(bundle);
            self
        }

        /// A model on an endpoint that speaks OpenAI's chat completions.
        #[must_use]
        pub fn model(mut self, settings: OpenAiSettings) -> Self {
            self.parts.model = Some(settings);
            self
        }

        /// A model of one's own.
        #[must_use]
        pub fn client(mut self, client: Arc<dyn ModelClient>) -> Self {
            self.parts.client = Some(client);
            self
        }

        /// A tool of one's own beside the role's; its assistants have it too.
        #[must_use]
        pub fn extra_tool(mut self, tool: ExtraTool) -> Self {
            self.parts.extra.push(tool);
            self
        }

        /// Where the conversation is kept, and what was kept of it before.
        #[must_use]
        pub fn keeping(mut self, keeping: Keeping) -> Self {
            self.parts.keeping = keeping;
            self
        }

        /// Rules before the role's own; the first that fits decides. They never let a reader write.
        #[must_use]
        pub fn permissions(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
            self.options.rules = rules.into_iter().collect();
            self
        }

        #[must_use]
        pub fn limits(mut self, limits: Limits) -> Self {
            self.options.limits = limits;
            self
        }

        /// Instructions in place of the role's own. Those of optional tools and forms are still added.
        #[must_use]
        pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
            self.options.system_prompt = Some(text.into());
            self
        }
    };
}

/// The role that proposes changes.
pub struct Manager {
    put: Put,
    options: ManagerOptions,
}

impl Manager {
    /// ```
    /// use std::sync::Arc;
    /// use serde_json::json;
    /// use wikiwright::agent::{ExtraTool, Manager};
    /// use wikiwright::agent::client::openai::OpenAiSettings;
    /// use wikiwright::bundle::MemoryBundle;
    ///
    /// let bundle = MemoryBundle::new([("/wiki/index.md", "# Wiki\n")])?;
    /// let manager = Manager::builder()
    ///     .backend(Arc::new(bundle))
    ///     .model(OpenAiSettings::new("http://localhost:11434/v1", "qwen3:8b", None))
    ///     .protect_raw(true)
    ///     .extra_tool(ExtraTool::new(
    ///         "word_count",
    ///         "Counts the words of a text.",
    ///         json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
    ///         |arguments| {
    ///             let text = arguments.get("text").and_then(|text| text.as_str()).ok_or("text is missing")?;
    ///             Ok(text.split_whitespace().count().to_string())
    ///         },
    ///     ))
    ///     .build()?;
    /// // Within a tokio runtime `manager.start()` gives the session: commands in, events out, changes staged.
    /// # drop(manager);
    ///
    /// let error = Manager::builder().bundle("wiki").build().err().map(|e| e.to_string());
    /// assert!(error.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ManagerBuilder {
        ManagerBuilder::default()
    }

    /// Starts a session on the current tokio runtime. Its writes stay in [`Session::staged`].
    pub fn start(self) -> Session {
        driver::manage(self.put.bundle, self.put.client, self.options, self.put.extra, self.put.keeping)
    }
}

/// Puts a [`Manager`] together.
#[derive(Default)]
pub struct ManagerBuilder {
    parts: Parts,
    options: ManagerOptions,
}

impl ManagerBuilder {
    common!();

    /// All options at once.
    #[must_use]
    pub fn options(mut self, options: ManagerOptions) -> Self {
        self.options = options;
        self
    }

    /// `raw/` cannot be written; so it is unless this is `false`.
    #[must_use]
    pub fn protect_raw(mut self, protect: bool) -> Self {
        self.options.protect_raw = protect;
        self
    }

    /// The model can lint the bundle as it proposes it; so it is unless this is `false`.
    #[must_use]
    pub fn lint_tool(mut self, lint: bool) -> Self {
        self.options.lint_tool = lint;
        self
    }

    /// The model reads sources that are no plain text (PDF, office, web, mail) with this; without it it has no tool for them.
    #[cfg(feature = "documents")]
    #[must_use]
    pub fn documents(mut self, documents: super::tools::Documents) -> Self {
        self.options.documents = Some(documents);
        self
    }

    /// When changes are decided, and which need no question.
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.options.approval = approval;
        self
    }

    /// Fails when parts are missing or do not go together; connects to nothing yet.
    pub fn build(self) -> Result<Manager, BuildError> {
        check_prompt(self.options.system_prompt.as_deref())?;
        Ok(Manager { put: self.parts.put()?, options: self.options })
    }
}

/// The role that answers from the bundle. It holds nothing that writes:
///
/// ```compile_fail
/// # fn f(reader: wikiwright::agent::Reader) {
/// reader.write("/wiki/a.md", b"text");
/// # }
/// ```
///
/// ```compile_fail
/// wikiwright::agent::Reader::builder().protect_raw(false);
/// ```
pub struct Reader {
    put: Put,
    options: ReaderOptions,
}

impl Reader {
    /// Semantic search is not there yet, so there is no option for it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use wikiwright::agent::Reader;
    /// use wikiwright::agent::client::openai::OpenAiSettings;
    /// use wikiwright::bundle::MemoryBundle;
    ///
    /// let bundle = MemoryBundle::new([("/wiki/index.md", "# Wiki\n")])?;
    /// let reader = Reader::builder()
    ///     .backend(Arc::new(bundle))
    ///     .model(OpenAiSettings::new("http://localhost:11434/v1", "qwen3:8b", None))
    ///     .not_found_message("The wiki says nothing on that.")
    ///     .structured_output(true)
    ///     .build()?;
    /// # drop(reader);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ReaderBuilder {
        ReaderBuilder::default()
    }

    /// Starts a session on the current tokio runtime.
    pub fn start(self) -> Session {
        driver::answer(self.put.bundle, self.put.client, self.options, self.put.extra, self.put.keeping)
    }
}

/// Puts a [`Reader`] together.
#[derive(Default)]
pub struct ReaderBuilder {
    parts: Parts,
    options: ReaderOptions,
}

impl ReaderBuilder {
    common!();

    /// All options at once.
    #[must_use]
    pub fn options(mut self, options: ReaderOptions) -> Self {
        self.options = options;
        self
    }

    /// What is said when the wiki is silent.
    #[must_use]
    pub fn not_found_message(mut self, sentence: impl Into<String>) -> Self {
        self.options.not_found_message = Some(sentence.into());
        self
    }

    /// Each answer comes as data too: [`AgentEvent::Answered`](super::AgentEvent::Answered).
    #[must_use]
    pub fn structured_output(mut self, structured: bool) -> Self {
        self.options.structured_output = structured;
        self
    }

    /// Fails when parts are missing or do not go together; connects to nothing yet.
    pub fn build(self) -> Result<Reader, BuildError> {
        let ReaderOptions { system_prompt, not_found_message, .. } = &self.options;
        check_prompt(system_prompt.as_deref())?;
        match (not_found_message, system_prompt) {
            (Some(sentence), _) if sentence.trim().is_empty() => return Err(BuildError::EmptyNotFound),
            (Some(_), Some(prompt)) if !prompt.contains("{not_found}") => {
                return Err(BuildError::NoPlaceForNotFound);
            }
            _ => {}
        }
        Ok(Reader { put: self.parts.put()?, options: self.options })
    }
}

fn check_prompt(prompt: Option<&str>) -> Result<(), BuildError> {
    match prompt {
        Some(prompt) if prompt.trim().is_empty() => Err(BuildError::EmptyPrompt),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::MemoryBundle;

    fn backend() -> Arc<dyn Read> {
        Arc::new(MemoryBundle::new([("/wiki/index.md", "# Wiki\n")]).unwrap())
    }

    fn endpoint() -> OpenAiSettings {
        OpenAiSettings::new("http://127.0.0.1:9/v1", "m", None)
    }

    fn client() -> Arc<dyn ModelClient> {
        Arc::new(OpenAi::new(endpoint()).unwrap())
    }

    fn reader() -> ReaderBuilder {
        Reader::builder().backend(backend()).client(client())
    }

    #[test]
    fn exactly_one_bundle_and_one_model() {
        let fails = |builder: ManagerBuilder| builder.build().err().unwrap();
        assert_eq!(fails(Manager::builder().client(client())), BuildError::NoBundle);
        let two = Manager::builder().backend(backend()).bundle("x").client(client());
        assert_eq!(fails(two), BuildError::TwoBundles);
        assert_eq!(fails(Manager::builder().backend(backend())), BuildError::NoModel);
        let two = Manager::builder().backend(backend()).client(client()).model(endpoint());
        assert_eq!(fails(two), BuildError::TwoModels);
        let gone = fails(Manager::builder().bundle("/no/such/folder").model(endpoint()));
        assert!(matches!(gone, BuildError::Bundle(_)), "{gone}");
        assert!(Manager::builder().backend(backend()).model(endpoint()).build().is_ok());
    }

    #[test]
    fn sentences_and_prompts_must_go_together() {
        let fails = |builder: ReaderBuilder| builder.build().err();
        assert_eq!(fails(reader().system_prompt(" ")), Some(BuildError::EmptyPrompt));
        assert_eq!(fails(reader().not_found_message("")), Some(BuildError::EmptyNotFound));
        let placeless = reader().system_prompt("Answer.").not_found_message("No.");
        assert_eq!(fails(placeless), Some(BuildError::NoPlaceForNotFound));
        let placed = reader().system_prompt("Answer, or say {not_found}").not_found_message("No.");
        assert_eq!(fails(placed), None);
    }

    fn extra(name: &str) -> ExtraTool {
        ExtraTool::new(name, "Does nothing.", serde_json::json!({"type": "object"}), |_| Ok(String::new()))
    }

    #[test]
    fn a_tool_of_the_callers_needs_a_name_of_its_own() {
        for (name, part) in [
            ("read_file", "wikiwright has a tool of this name"),
            ("task", "wikiwright has a tool of this name"),
            ("wiki_answer", "wikiwright has a tool of this name"),
            ("two words", "letters, digits"),
            ("", "letters, digits"),
        ] {
            let error = reader().extra_tool(extra(name)).build().err().unwrap().to_string();
            assert!(error.contains(part), "{name}: {error}");
        }
        let twice = reader().extra_tool(extra("echo")).extra_tool(extra("echo")).build().err();
        assert_eq!(twice, Some(BuildError::Tool("the tool echo is added twice".to_owned())));
        let odd = ExtraTool::new("odd", "", serde_json::json!({"type": "string"}), |_| Ok(String::new()));
        let error = reader().extra_tool(odd).build().err().unwrap().to_string();
        assert!(error.contains("no JSON Schema"), "{error}");
    }

    #[test]
    fn every_error_says_what_to_do() {
        let text = BuildError::NoPlaceForNotFound.to_string();
        assert!(text.contains("write {not_found} where"), "{text}");
    }
}
