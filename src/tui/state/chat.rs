//! One role's conversation as the pane shows it: entries with their drawn rows, the composer, the running turn.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::text::Line;

use super::completion::Completion;
use super::composer::Composer;
use crate::agent::answer::Problem;
use crate::agent::event::{CallId, Queued, Todo, TodoStatus, Usage};
use crate::okf::{BundlePath, Target};
use crate::tui::markdown::Stream;
use crate::wiki::passages::Passage;

/// Longer answers are laid out four times a second while they stream, not with every frame.
const LONG: usize = 16 * 1024;

/// One thing in the transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What the person said.
    You(String),
    /// What the driver told the model on the person's behalf.
    Told(String),
    Answer(String),
    Reasoning(String),
    Tool {
        call: CallId,
        tool: String,
        summary: String,
        state: ToolState,
        result: String,
    },
    Todos(Vec<Todo>),
    Note {
        text: String,
        bad: bool,
    },
    /// What the answer above rests on, checked.
    Sources(Vec<Source>),
    /// The reader says that the bundle is silent.
    NotCovered,
    /// What a plain search found for these words, without a model.
    Found {
        query: String,
        passages: Vec<Passage>,
    },
}

/// A place that an answer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub path: BundlePath,
    /// A heading's anchor.
    pub fragment: Option<String>,
    pub title: String,
    /// Words of the page that the answer quotes.
    pub quote: Option<String>,
    /// Why it cannot be relied on.
    pub problem: Option<Problem>,
}

impl Item {
    /// What it says, without frames, marks and breaks of the screen.
    pub fn plain(&self) -> String {
        match self {
            Self::You(text) | Self::Told(text) | Self::Answer(text) | Self::Reasoning(text) => text.clone(),
            Self::Tool { summary, result, .. } => format!("{summary}\n\n{result}"),
            Self::Todos(todos) => {
                let mark = |status| if status == TodoStatus::Completed { "x" } else { " " };
                todos.iter().map(|todo| format!("- [{}] {}\n", mark(todo.status), todo.content)).collect()
            }
            Self::Note { text, .. } => text.clone(),
            Self::NotCovered => NOT_COVERED.to_owned(),
            Self::Sources(sources) => {
                let line = |(at, source): (usize, &Source)| {
                    let problem = source.problem.map(|p| format!(" (not verified: {p})")).unwrap_or_default();
                    let quote = source.quote.as_ref().map(|q| format!(": “{q}”")).unwrap_or_default();
                    format!("{}. [{}]({}){quote}{problem}\n", at + 1, source.title, source.place())
                };
                sources.iter().enumerate().map(line).collect()
            }
            Self::Found { query, passages } => {
                let line = |(at, passage): (usize, &Passage)| {
                    format!("{}. [{}]({}): {}\n", at + 1, passage.title, passage.place(), passage.text)
                };
                format!("Found for: {query}\n\n{}", passages.iter().enumerate().map(line).collect::<String>())
            }
        }
    }
}

/// How it is shown that the bundle is silent.
pub const NOT_COVERED: &str = "not covered: the wiki says nothing about this";

impl Source {
    /// `/wiki/a.md#b`.
    pub fn place(&self) -> String {
        self.path.with_fragment(self.fragment.as_deref())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolState {
    Running,
    Done(Duration),
    Failed(Duration),
    /// The turn ended before it answered.
    Stopped,
}

/// A link drawn in an entry: rows and columns from the entry's first row.
#[derive(Debug, Clone, PartialEq)]
pub struct Cited {
    pub target: Target,
    pub destination: String,
    /// Words of the page at which it opens.
    pub quote: Option<String>,
    pub spans: Vec<(usize, std::ops::Range<u16>)>,
}

/// An item and its rows at the width it was last drawn for.
#[derive(Debug, Clone)]
pub struct Entry {
    pub item: Item,
    pub rows: Vec<Line<'static>>,
    pub cited: Vec<Cited>,
    /// Width the rows were made for; none when they must be made anew.
    pub width: Option<u16>,
    /// [`State::ticks`](super::State::ticks) when they were made.
    pub made: u64,
    /// What is laid out of an answer that still grows.
    pub stream: Option<Box<Stream>>,
    /// Unfolded, or folded, by the person.
    pub open: Option<bool>,
}

impl Entry {
    pub fn new(item: Item) -> Self {
        Self { item, rows: Vec::new(), cited: Vec::new(), width: None, made: 0, stream: None, open: None }
    }

    /// Laying it out anew for every streamed word would cost the square of its length.
    pub fn is_long(&self) -> bool {
        matches!(&self.item, Item::Answer(text) | Item::Reasoning(text) if text.len() > LONG)
    }
}

/// What the agent is doing, for the title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Doing {
    #[default]
    Nothing,
    Thinking,
    Answering,
    Calling(String),
    Waiting {
        attempt: u32,
        wait: Duration,
    },
    Stopping,
    /// The last turn failed.
    Failed,
}

#[derive(Debug)]
pub struct Chat {
    pub entries: Vec<Entry>,
    pub composer: Composer,
    pub doing: Doing,
    /// Between the start of a turn and its end.
    pub in_turn: bool,
    /// Sent, turn not begun.
    pub queued: VecDeque<String>,
    /// Those of them that the running turn has not been told yet and that can be taken back.
    pub waiting: Vec<Queued>,
    /// What the running turn's answer names, held against the pages.
    pub checked: Vec<crate::agent::answer::Cited>,
    pub usage: Usage,
    /// What that cost as far as prices are known; see [`Price::exact`](crate::agent::client::Price::exact).
    pub cost: Option<u128>,
    /// Tokens of the last question and its answer.
    pub context: u64,
    /// When the running turn began, by [`State::clock`](super::State::clock).
    pub started: Option<Duration>,
    /// How long the last turn took.
    pub took: Option<Duration>,
    /// What can be completed at the caret.
    pub completion: Option<Completion>,
    /// The chosen entry.
    pub chosen: Option<usize>,
    /// First visible row when not following.
    pub top: usize,
    /// Keep the end in view.
    pub follow: bool,
    /// Rows arrived below while the person read above.
    pub unseen: bool,
    /// Show reasoning and tool results.
    pub details: bool,
    /// The chosen citation: entry and index in its `cited`.
    pub cited: Option<(usize, usize)>,
    pub has_model: bool,
    /// The session's task is gone.
    pub gone: bool,
    pub suggestions: Vec<String>,
    /// The message of which it was said that it names files that are not there.
    pub doubted: Option<String>,
}

impl Chat {
    pub fn new(has_model: bool, suggestions: Vec<String>) -> Self {
        Self {
            entries: Vec::new(),
            composer: Composer::default(),
            doing: Doing::Nothing,
            in_turn: false,
            queued: VecDeque::new(),
            waiting: Vec::new(),
            checked: Vec::new(),
            usage: Usage::default(),
            cost: None,
            context: 0,
            started: None,
            took: None,
            completion: None,
            chosen: None,
            top: 0,
            follow: true,
            unseen: false,
            details: false,
            cited: None,
            has_model,
            gone: false,
            suggestions,
            doubted: None,
        }
    }

    /// Another conversation takes this one's place; what is being written stays.
    pub fn forget(&mut self) {
        let composer = std::mem::take(&mut self.composer);
        *self = Self { composer, ..Self::new(self.has_model, Vec::new()) };
    }

    /// The turn has begun or ended.
    pub fn turn(&mut self, runs: bool, clock: Duration) {
        self.in_turn = runs;
        if runs {
            self.started = Some(clock);
        } else if let Some(started) = self.started.take() {
            self.took = Some(clock.saturating_sub(started));
        }
    }

    pub fn running(&self) -> bool {
        !self.gone && (self.in_turn || !self.queued.is_empty())
    }

    pub fn push(&mut self, item: Item) {
        self.entries.push(Entry::new(item));
        self.unseen |= !self.follow;
    }

    /// Appends streamed text to the last entry of its kind, or begins one.
    pub fn stream(&mut self, reasoning: bool, delta: &str) {
        if let Some(entry) = self.entries.last_mut() {
            match &mut entry.item {
                Item::Answer(text) if !reasoning => {
                    text.push_str(delta);
                    entry.width = None;
                    self.unseen |= !self.follow;
                    return;
                }
                Item::Reasoning(text) if reasoning => {
                    text.push_str(delta);
                    entry.width = None;
                    return;
                }
                _ => {}
            }
        }
        // Leading white space alone is no answer; models send it between tool calls.
        if delta.trim().is_empty() {
            return;
        }
        self.push(if reasoning { Item::Reasoning(delta.to_owned()) } else { Item::Answer(delta.to_owned()) });
    }

    pub fn finish_tool(&mut self, id: CallId, ok: bool, text: String, elapsed: Duration) {
        let entry =
            self.entries.iter_mut().rev().find(|e| matches!(&e.item, Item::Tool { call, .. } if *call == id));
        if let Some(entry) = entry {
            entry.width = None;
            if let Item::Tool { state, result, .. } = &mut entry.item {
                *state = if ok { ToolState::Done(elapsed) } else { ToolState::Failed(elapsed) };
                *result = text;
            }
        }
    }

    /// Calls that will not answer any more.
    pub fn stop_tools(&mut self) {
        for entry in &mut self.entries {
            if let Item::Tool { state, .. } = &mut entry.item
                && *state == ToolState::Running
            {
                *state = ToolState::Stopped;
                entry.width = None;
            }
        }
    }

    /// Rows of the whole transcript.
    pub fn rows(&self) -> usize {
        self.entries.iter().map(|e| e.rows.len()).sum()
    }

    /// First row of an entry.
    pub fn row_of(&self, entry: usize) -> usize {
        self.entries.iter().take(entry).map(|e| e.rows.len()).sum()
    }

    /// The entry that this row of the transcript belongs to.
    pub fn entry_at(&self, row: usize) -> Option<usize> {
        let mut end = 0;
        self.entries.iter().position(|entry| {
            end += entry.rows.len();
            row < end
        })
    }

    /// The citation drawn at this row and column of the transcript.
    pub fn cited_at(&self, row: usize, column: u16) -> Option<(usize, usize)> {
        let mut start = 0;
        for (index, entry) in self.entries.iter().enumerate() {
            let end = start + entry.rows.len();
            if row < end {
                let row = row.checked_sub(start)?;
                let cited = entry.cited.iter().position(|c| {
                    c.spans.iter().any(|(r, columns)| *r == row && columns.contains(&column))
                })?;
                return Some((index, cited));
            }
            start = end;
        }
        None
    }

    /// All citations in order.
    pub fn all_cited(&self) -> Vec<(usize, usize)> {
        self.entries
            .iter()
            .enumerate()
            .flat_map(|(entry, e)| (0..e.cited.len()).map(move |cited| (entry, cited)))
            .collect()
    }

    pub fn citation(&self, at: (usize, usize)) -> Option<&Cited> {
        self.entries.get(at.0)?.cited.get(at.1)
    }
}
