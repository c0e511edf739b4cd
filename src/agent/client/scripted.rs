//! A client that plays a script, for the demo. It takes the place of the model alone: loop, tools, staging and review are those
//! of any session.
//!
//! A script is TOML:
//!
//! ```toml
//! [[exchange]]
//! role = "manager"            # or "reader"
//! when = ["ingest", "source"] # any of these in the person's message, letter case ignored; empty: any message
//!
//! [[exchange.answer]]         # played one after the other, the next one when the results of the calls are there
//! text = "I read the source."
//! calls = [{ tool = "read_file", arguments = { file_path = "/raw/x.md" } }]
//! ```
//!
//! For each message of the person the first exchange of the role that fits and has not been played is taken, else the
//! last that fits. One client serves both roles: it tells them apart by the tools it is offered.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Answer, Message, ModelClient, ModelError, ModelEvent, Request, ToolCall};
use crate::agent::event::Role;

/// A script that was read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default, rename = "exchange")]
    exchanges: Vec<Exchange>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    role: RoleName,
    #[serde(default)]
    when: Vec<String>,
    #[serde(rename = "answer")]
    answers: Vec<ScriptedAnswer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RoleName {
    Manager,
    Reader,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedAnswer {
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// A text that is no script; says the line and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a script: {0}")]
pub struct ScriptError(String);

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        toml::from_str(text).map_err(|error| ScriptError(error.to_string()))
    }
}

impl Exchange {
    fn fits(&self, role: Role, message: &str) -> bool {
        let same = match self.role {
            RoleName::Manager => role == Role::Manager,
            RoleName::Reader => role == Role::Reader,
        };
        same && (self.when.is_empty() || self.when.iter().any(|word| message.contains(&word.to_lowercase())))
    }
}

/// Plays a [`Script`].
pub struct Scripted {
    script: Script,
    /// Pause between words.
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    played: Vec<usize>,
    /// What is left of the running exchange, per role.
    manager: VecDeque<ScriptedAnswer>,
    reader: VecDeque<ScriptedAnswer>,
    calls: u64,
}

impl Scripted {
    pub fn new(script: Script, pause: Duration) -> Self {
        Self { script, pause, state: Mutex::default() }
    }

    fn next(&self, request: &Request) -> Answer {
        let role = if request.tools.iter().any(|tool| tool.name == "write_file") {
            Role::Manager
        } else {
            Role::Reader
        };
        // A poisoned lock guards a whole state: each change is one step.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Message::User { content }) = request.messages.last() {
            let message = content.to_lowercase();
            let fitting = || self.script.exchanges.iter().enumerate().filter(|(_, e)| e.fits(role, &message));
            let taken =
                fitting().find(|(at, _)| !state.played.contains(at)).or_else(|| fitting().next_back());
            if let Some((at, exchange)) = taken {
                state.played.push(at);
                *state.of(role) = exchange.answers.clone().into();
            } else {
                state.of(role).clear();
            }
        }
        let Some(answer) = state.of(role).pop_front() else {
            return Answer { text: "The script has no more to say here.".to_owned(), ..Answer::default() };
        };
        let calls = answer
            .calls
            .into_iter()
            .map(|call| {
                state.calls += 1;
                ToolCall {
                    id: format!("scripted-{}", state.calls),
                    name: call.tool,
                    arguments: Value::Object(call.arguments).to_string(),
                    opaque: Map::new(),
                }
            })
            .collect();
        Answer { text: answer.text.trim().to_owned(), calls, ..Answer::default() }
    }
}

impl State {
    fn of(&mut self, role: Role) -> &mut VecDeque<ScriptedAnswer> {
        match role {
            Role::Manager => &mut self.manager,
            Role::Reader => &mut self.reader,
        }
    }
}

impl ModelClient for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let answer = self.next(&request);
        let pause = self.pause;
        let words: Vec<String> = answer.text.split_inclusive(' ').map(str::to_owned).collect();
        futures::stream::iter(words.into_iter().map(ModelEvent::Text).chain([ModelEvent::Done(answer)]))
            .then(move |event| async move {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                Ok(event)
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::Tool;

    const SCRIPT: &str = r#"
        [[exchange]]
        role = "manager"
        when = ["Ingest"]
        [[exchange.answer]]
        text = "One moment."
        calls = [{ tool = "ls", arguments = { path = "/wiki" } }]
        [[exchange.answer]]
        text = "Done."
        [[exchange]]
        role = "manager"
        [[exchange.answer]]
        text = "Anything else."
        [[exchange]]
        role = "reader"
        [[exchange.answer]]
        text = "An answer."
    "#;

    fn request(role: Role, last: Message) -> Request {
        Request {
            messages: vec![last],
            tools: Tool::of(role).iter().map(|tool| tool.schema()).collect(),
            ..Request::default()
        }
    }

    fn user(text: &str) -> Message {
        Message::User { content: text.into() }
    }

    #[tokio::test]
    async fn an_exchange_goes_on_when_the_results_are_there() {
        let client = Scripted::new(Script::parse(SCRIPT).unwrap(), Duration::ZERO);
        let events: Vec<_> = client.stream(request(Role::Manager, user("please INGEST it"))).collect().await;
        assert_eq!(events[0], Ok(ModelEvent::Text("One ".into())));
        let Some(Ok(ModelEvent::Done(answer))) = events.last() else { panic!() };
        assert_eq!(
            (answer.text.as_str(), answer.calls[0].arguments.as_str()),
            ("One moment.", r#"{"path":"/wiki"}"#)
        );
        let result = Message::Tool { call: "scripted-1".into(), content: "x".into() };
        assert_eq!(client.next(&request(Role::Manager, result.clone())).text, "Done.");
        assert!(client.next(&request(Role::Manager, result)).text.contains("no more to say"));
    }

    #[test]
    fn roles_and_words_choose_the_exchange() {
        let client = Scripted::new(Script::parse(SCRIPT).unwrap(), Duration::ZERO);
        assert_eq!(client.next(&request(Role::Reader, user("ingest"))).text, "An answer.");
        assert_eq!(client.next(&request(Role::Manager, user("hello"))).text, "Anything else.");
        assert_eq!(client.next(&request(Role::Manager, user("ingest"))).text, "One moment.");
        assert_eq!(client.next(&request(Role::Manager, user("ingest"))).text, "Anything else.");
    }

    #[test]
    fn a_wrong_script_says_where() {
        let error = Script::parse("[[exchange]]\nrole = \"cook\"\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("cook"), "{error}");
        assert!(Script::parse("exchange = 3").is_err());
    }
}
