//! `wikiwright doctor`: which model would be used and why, what it can do, and what the terminal and the folders are like.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use futures::StreamExt as _;
use serde_json::{Value, json};

use super::{Exit, model};
use crate::agent::approval::{Approval, When};
use crate::agent::client::openai::OpenAi;
use crate::agent::client::{
    Answer, Message, ModelClient as _, ModelError, ModelEvent, Money, Request, ToolSchema,
};
use crate::config::{self, Endpoint, Environment, Flags, Settings};
use crate::text::Safe;
use crate::tui;

/// The tool that the model is asked to call, and the word it shall call it with.
const TOOL: &str = "report";
const WORD: &str = "ready";

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Ask the model nothing
    #[arg(long)]
    pub offline: bool,
}

pub fn run(args: &DoctorArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let environment = Environment::of_process();
    let settings = Settings::load(flags, &environment)?;
    let out = &mut io::stdout();
    terminal(out, &environment, settings.color)?;
    folders(out, flags)?;
    approval(out, &settings.manager.approval)?;
    heading(out, "Model")?;
    super::runtime()?.block_on(async {
        let endpoint = match model::resolve(settings.model, &environment).await {
            Ok(endpoint) => endpoint,
            Err(hint) => {
                writeln!(out, "{}", Safe::block(&hint))?;
                return Ok(Exit::CouldNotRun);
            }
        };
        let client = model::connect(endpoint.clone(), &settings.model_options).map_err(anyhow::Error::msg)?;
        describe(out, &endpoint, client.place())?;
        match client.price() {
            Some(price) => {
                let cached = Money(price.cached.unwrap_or(price.input));
                let (input, output) = (Money(price.input), Money(price.output));
                let text = format!("{input} in, {cached} in from the cache, {output} out");
                row(out, "price", format!("{text}, for a million tokens"))?;
            }
            None => row(out, "price", "not set ([prices] in the configuration file)")?,
        }
        if args.offline {
            return Ok(Exit::Done);
        }
        examine(out, &client).await
    })
}

fn heading(out: &mut impl Write, title: &str) -> io::Result<()> {
    writeln!(out, "{title}")
}

fn row(out: &mut impl Write, name: &str, value: impl Display) -> io::Result<()> {
    writeln!(out, "  {name:<12} {}", Safe::line(&value.to_string()))
}

fn terminal(out: &mut impl Write, environment: &Environment, color: bool) -> io::Result<()> {
    heading(out, "Terminal")?;
    let workbench = match tui::terminal::check() {
        Ok(()) => "can run here".to_owned(),
        Err(error) => error.to_string(),
    };
    row(out, "workbench", workbench)?;
    let shown = |name: &str| environment.get(name).unwrap_or("not set").to_owned();
    row(out, "TERM", shown("TERM"))?;
    let depth = match (color, environment.get("COLORTERM")) {
        (false, _) => "none (NO_COLOR or display.color)",
        (true, Some("truecolor" | "24bit")) => "yes; the terminal says it knows 16 million",
        (true, _) => "yes",
    };
    row(out, "colours", depth)?;
    if io::stdout().is_terminal()
        && let Ok((columns, rows)) = crossterm::terminal::size()
    {
        row(out, "size", format!("{columns} columns, {rows} rows"))?;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.get(name));
    let encoding = match locale {
        Some(locale) if locale.to_lowercase().replace('-', "").contains("utf8") => locale.to_owned(),
        Some(locale) => format!("{locale}; not UTF-8, frames and letters beyond ASCII may show wrongly"),
        None => "not set; UTF-8 is assumed".to_owned(),
    };
    row(out, "locale", encoding)?;
    row(out, "editor", environment.get("VISUAL").or(environment.get("EDITOR")).unwrap_or("not set"))
}

fn folders(out: &mut impl Write, flags: &Flags) -> io::Result<()> {
    heading(out, "Folders")?;
    let unknown = "none: the home folder is unknown".to_owned();
    let file = flags.config.clone().or_else(config::user_file);
    let settings = file.map_or(unknown.clone(), |file| state_of(&file, "not there; defaults hold"));
    row(out, "settings", settings)?;
    row(out, "state", config::user_state().map_or(unknown, |folder| state_of(&folder, "not there yet")))
}

/// When the workbench asks about changes, and what it asks nothing about.
fn approval(out: &mut impl Write, approval: &Approval) -> io::Result<()> {
    heading(out, "Review")?;
    let when = match approval.when {
        When::Turn => "at the end of a turn",
        When::Write => "after each write",
    };
    row(out, "asked", format!("{when} (`review` under [manager])"))?;
    let paths: Vec<String> = approval.automatic.iter().map(ToString::to_string).collect();
    let paths = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
    row(out, "automatic", format!("{paths} (`automatic` under [manager])"))
}

fn state_of(path: &Path, absent: &str) -> String {
    match std::fs::metadata(path) {
        Ok(facts) if facts.permissions().readonly() => format!("{} (cannot be written)", path.display()),
        Ok(_) => path.display().to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!("{} ({absent})", path.display()),
        Err(error) => format!("{} ({error})", path.display()),
    }
}

fn describe(out: &mut impl Write, endpoint: &Endpoint, place: &str) -> io::Result<()> {
    let server = &endpoint.server;
    row(out, "server", format!("{place} ({})", server.url_from))?;
    row(out, "preset", server.preset.map_or("none; common ways are assumed", |preset| preset.title))?;
    row(out, "model", format!("{} ({})", endpoint.model, endpoint.model_from))?;
    let key = match (&server.api_key, &server.key_from) {
        (Some(_), Some(from)) => format!("present ({from})"),
        (Some(_), None) => "present".to_owned(),
        (None, _) => "absent".to_owned(),
    };
    row(out, "key", key)
}

/// How one question went.
struct Outcome {
    answer: Answer,
    /// Until the first piece came, and until the end.
    first: Option<Duration>,
    whole: Duration,
    pieces: usize,
}

async fn examine(out: &mut impl Write, client: &OpenAi) -> anyhow::Result<Exit> {
    match client.context_window().await {
        Some(tokens) => row(out, "context", format!("{tokens} tokens"))?,
        None => row(out, "context", "unknown (context_tokens in the configuration file sets it)")?,
    }
    heading(out, "Question")?;
    out.flush()?;
    let outcome = match ask(out, client, question()).await? {
        Ok(outcome) => outcome,
        Err(error) => {
            row(out, "answer", format!("none: {error}"))?;
            return Ok(Exit::CouldNotRun);
        }
    };
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    let first =
        outcome.first.map(|first| format!(", the first piece after {}", seconds(first))).unwrap_or_default();
    row(out, "answer", format!("after {}{first}", seconds(outcome.whole)))?;
    let called = outcome.answer.calls.iter().find(|call| call.name == TOOL);
    let right = called.is_some_and(|call| {
        serde_json::from_str::<Value>(&call.arguments)
            .is_ok_and(|arguments| arguments.get("word").is_some_and(|word| word == WORD))
    });
    row(
        out,
        "tools",
        match (called, right) {
            (Some(_), true) => "yes",
            (Some(_), false) => "called, but with other arguments than asked for",
            (None, _) if outcome.answer.cut => {
                "no: the answer was cut at its length limit (max_output_tokens)"
            }
            (None, _) => "no: the model answered without calling the tool; the agents need one that does",
        },
    )?;
    let usage = outcome.answer.usage;
    row(
        out,
        "usage",
        match usage {
            Some(usage) => {
                format!("yes: {} tokens in, {} cached, {} out", usage.input, usage.cached, usage.output)
            }
            None => "no: the provider reports none".to_owned(),
        },
    )?;
    if let (Some(usage), Some(price)) = (usage, client.price()) {
        row(out, "cost", Money(price.of(usage)))?;
    }
    schema(out, client, outcome.pieces).await?;
    Ok(if right { Exit::Done } else { Exit::Negative })
}

/// Asks again, for an answer in a schema; its text also tells whether answers stream.
async fn schema(out: &mut impl Write, client: &OpenAi, pieces: usize) -> anyhow::Result<()> {
    let text = "Give three short reasons to keep a wiki, and the word ready.";
    let wanted = client.takes_schema();
    let request = Request {
        messages: vec![Message::User { content: text.to_owned() }],
        answer_schema: Some(json!({
            "type": "object",
            "properties": {"reasons": {"type": "array", "items": {"type": "string"}}, "word": {"type": "string"}},
            "required": ["reasons", "word"],
            "additionalProperties": false,
        })),
        ..Request::default()
    };
    let outcome = ask(out, client, request).await?;
    let pieces = pieces.max(outcome.as_ref().map_or(0, |outcome| outcome.pieces));
    row(out, "streaming", if pieces > 1 { format!("yes: {pieces} pieces") } else { "not seen".to_owned() })?;
    let verdict = match &outcome {
        // Not asked for, or the server refused it on the way.
        _ if !wanted || !client.takes_schema() => "no".to_owned(),
        Ok(outcome) if follows(&outcome.answer.text) => "yes".to_owned(),
        Ok(_) => "no: it was taken, and not followed".to_owned(),
        Err(error) => format!("no: {error}"),
    };
    Ok(row(out, "JSON schema", verdict)?)
}

fn follows(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|answer| {
        answer.get("reasons").is_some_and(Value::is_array) && answer.get("word").is_some_and(Value::is_string)
    })
}

fn question() -> Request {
    Request {
        messages: vec![
            Message::System {
                content: "You test a connection. Do what you are asked with the tool.".to_owned(),
            },
            Message::User { content: format!("Call the tool {TOOL} with the word \"{WORD}\".") },
        ],
        tools: vec![ToolSchema {
            name: TOOL.to_owned(),
            description: "Reports one word.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"word": {"type": "string", "description": "The word to report."}},
                "required": ["word"],
            }),
        }],
        ..Request::default()
    }
}

async fn ask(
    out: &mut impl Write,
    client: &OpenAi,
    request: Request,
) -> io::Result<Result<Outcome, ModelError>> {
    let started = Instant::now();
    let (mut first, mut pieces) = (None, 0);
    let mut events = client.stream(request);
    while let Some(event) = events.next().await {
        match event {
            Ok(ModelEvent::Text(_) | ModelEvent::Reasoning(_)) => {
                pieces += 1;
                first.get_or_insert_with(|| started.elapsed());
            }
            Ok(ModelEvent::Retrying { wait, cause, .. }) => {
                row(out, "waits", format!("{:.1} s: {cause}", wait.as_secs_f64()))?;
                out.flush()?;
            }
            Ok(ModelEvent::Done(answer)) => {
                return Ok(Ok(Outcome { answer, first, whole: started.elapsed(), pieces }));
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Err(ModelError {
        kind: crate::agent::client::ModelErrorKind::Cut,
        message: "The answer broke off. Ask again.".to_owned(),
    }))
}
