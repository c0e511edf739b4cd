//! One turn of an agent without a screen: the answer streams to standard output, what the tools do to standard error.

use std::io::{self, Write};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::AgentEvent;
use crate::agent::answer::{Cited, WikiAnswer};
use crate::text::Safe;

/// Why a turn gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The driver's one sentence.
    #[error("{0}")]
    Failed(String),
    #[error("the turn was interrupted")]
    Interrupted,
    #[error("the agent has stopped without an answer")]
    Gone,
    #[error("the answer cannot be printed")]
    Output(#[from] io::Error),
}

/// What came of a turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Heard {
    /// Everything the model said, as it came; what it said between two calls stands on lines of its own.
    pub text: String,
    /// The answer as data, where the session wants it so.
    pub answer: Option<WikiAnswer>,
}

/// Listens until the turn ends.
pub async fn listen(
    events: &mut UnboundedReceiver<AgentEvent>,
    out: &mut dyn Write,
    progress: &mut dyn Write,
) -> Result<Heard, Failure> {
    let (mut text, mut data) = (String::new(), None);
    let mut answer = Answer::new(out);
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::Text(delta) => {
                answer.push(&delta)?;
                text.push_str(&delta);
            }
            AgentEvent::ToolStarted { tool, summary, .. } => {
                answer.end_line()?;
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                say(progress, &format!("· {tool} {summary}"));
            }
            AgentEvent::ToolFinished { ok: false, result, .. } => {
                // A reason may come after a path with line ends in it, so not the first line alone.
                let reason: String = result.chars().take(400).collect();
                say(progress, &format!("  failed: {reason}"));
            }
            AgentEvent::Retrying { attempt, wait, cause } => {
                say(
                    progress,
                    &format!(
                        "· {}; attempt {} in {} s",
                        cause.trim_end_matches(['.', '?']),
                        attempt + 1,
                        wait.as_secs_f32().ceil()
                    ),
                );
            }
            AgentEvent::Finished { interrupted } => {
                answer.end_line()?;
                return if interrupted {
                    Err(Failure::Interrupted)
                } else {
                    Ok(Heard { text, answer: data })
                };
            }
            AgentEvent::Failed(why) => {
                answer.end_line()?;
                return Err(Failure::Failed(why));
            }
            AgentEvent::Stopped(stop) => {
                answer.end_line()?;
                return Err(Failure::Failed(stop.to_string()));
            }
            AgentEvent::SourcesRead(read) => {
                answer.end_line()?;
                read.iter().for_each(|reading| say(progress, &format!("· read {reading}")));
            }
            AgentEvent::Compacted { left_out } => {
                say(progress, &format!("· {left_out} older messages were shortened to fit the model"));
            }
            AgentEvent::Answered(given) => {
                answer.end_line()?;
                unverified(&given.citations, progress);
                data = Some(given);
            }
            AgentEvent::Cited(cited) => {
                answer.end_line()?;
                unverified(&cited, progress);
            }
            AgentEvent::Notice(text) => say(progress, &format!("· {text}")),
            // The pending changes themselves are read from the session when the turn has ended.
            AgentEvent::Staged(_)
            | AgentEvent::Rebased(_)
            | AgentEvent::Approved { .. }
            | AgentEvent::Queued(_)
            | AgentEvent::Steered { .. }
            | AgentEvent::AwaitingReview(_)
            | AgentEvent::Said(_)
            | AgentEvent::TurnStarted { .. }
            | AgentEvent::Reasoning(_)
            | AgentEvent::ToolFinished { ok: true, .. }
            | AgentEvent::Todos(_)
            | AgentEvent::Window(_)
            | AgentEvent::Usage(_) => {}
        }
    }
    Err(Failure::Gone)
}

/// Says of each citation that does not hold why.
fn unverified(cited: &[Cited], progress: &mut dyn Write) {
    for (cited, problem) in cited.iter().filter_map(|cited| Some((cited, cited.problem?))) {
        say(progress, &format!("! citation not verified: {} {problem}", cited.path));
    }
}

/// Progress is a courtesy: when nobody takes it, the turn goes on.
fn say(progress: &mut dyn Write, line: &str) {
    let _ = writeln!(progress, "{}", Safe::line(line.trim_end()));
}

/// Text that arrives in pieces, cleaned as it is printed.
struct Answer<'a> {
    out: &'a mut dyn Write,
    /// A piece ended in `\r`, which may be half of a line end.
    held: bool,
    in_line: bool,
}

impl<'a> Answer<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, held: false, in_line: false }
    }

    fn push(&mut self, piece: &str) -> io::Result<()> {
        let mut text = if std::mem::take(&mut self.held) { format!("\r{piece}") } else { piece.to_owned() };
        if text.ends_with('\r') {
            text.pop();
            self.held = true;
        }
        if text.is_empty() {
            return Ok(());
        }
        self.out.write_all(Safe::block(&text).as_str().as_bytes())?;
        self.in_line = !text.ends_with('\n');
        self.out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.held = false;
        if std::mem::take(&mut self.in_line) {
            self.out.write_all(b"\n")?;
            self.out.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::answer::Problem;
    use crate::agent::event::CallId;
    use std::time::Duration;

    fn text(delta: &str) -> AgentEvent {
        AgentEvent::Text(delta.to_owned())
    }

    /// The answer, what went to standard output, and what went to standard error.
    async fn heard(said: Vec<AgentEvent>) -> (Result<Heard, Failure>, String, String) {
        let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
        for event in said {
            sender.send(event).unwrap();
        }
        drop(sender);
        let (mut out, mut progress) = (Vec::new(), Vec::new());
        let outcome = listen(&mut events, &mut out, &mut progress).await;
        (outcome, String::from_utf8(out).unwrap(), String::from_utf8(progress).unwrap())
    }

    #[tokio::test]
    async fn text_goes_to_output_and_tools_to_progress() {
        let (outcome, out, progress) = heard(vec![
            AgentEvent::TurnStarted { message: "q".to_owned() },
            text("Let me "),
            text("look."),
            AgentEvent::ToolStarted {
                call: CallId(1),
                tool: "read_file".to_owned(),
                summary: "/wiki/a.md".to_owned(),
            },
            AgentEvent::ToolFinished {
                call: CallId(1),
                ok: false,
                result: "no such file\nmore".to_owned(),
                elapsed: Duration::ZERO,
            },
            text("Done.\n"),
            AgentEvent::Finished { interrupted: false },
        ])
        .await;
        assert_eq!(outcome.unwrap().text, "Let me look.\nDone.\n");
        assert_eq!(out, "Let me look.\nDone.\n");
        assert_eq!(progress, "· read_file /wiki/a.md\n  failed: no such file more\n");
    }

    #[tokio::test]
    async fn a_citation_that_does_not_hold_is_marked() {
        let cited =
            |path: &str, problem| Cited { path: path.to_owned(), section: None, quote: None, problem };
        let (outcome, out, progress) = heard(vec![
            text("See /wiki/a.md and /wiki/b.md."),
            AgentEvent::Cited(vec![cited("/wiki/a.md", None), cited("/wiki/b.md", Some(Problem::NotRead))]),
            AgentEvent::Finished { interrupted: false },
        ])
        .await;
        assert!(outcome.is_ok());
        assert_eq!(out, "See /wiki/a.md and /wiki/b.md.\n");
        assert_eq!(progress, "! citation not verified: /wiki/b.md was not read in this session\n");
    }

    #[tokio::test]
    async fn a_failure_is_the_drivers_sentence_after_what_was_said() {
        let (outcome, out, _) = heard(vec![text("Half"), AgentEvent::Failed("it hung up".to_owned())]).await;
        assert_eq!(outcome.unwrap_err().to_string(), "it hung up");
        assert_eq!(out, "Half\n");
    }

    #[tokio::test]
    async fn an_agent_that_vanishes_is_a_failure() {
        assert!(matches!(heard(vec![text("Half")]).await.0, Err(Failure::Gone)));
    }

    #[tokio::test]
    async fn escapes_are_shown_and_a_line_end_cut_in_two_stays_one() {
        let (_, out, progress) = heard(vec![
            text("a\r"),
            text("\nb\x1b[2J"),
            AgentEvent::ToolStarted {
                call: CallId(1),
                tool: "x\x07".to_owned(),
                summary: "\x1b]0;t\x07".to_owned(),
            },
            AgentEvent::Finished { interrupted: false },
        ])
        .await;
        assert!(out.starts_with("a\nb") && !out.contains(['\x1b', '\r']), "{out:?}");
        assert!(!progress.contains(['\x1b', '\x07']), "{progress:?}");
    }
}
