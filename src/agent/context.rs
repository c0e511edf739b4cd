//! How long a conversation is, and making it shorter: what the provider counted first, an estimate held against it otherwise.
//! Shortening asks no model: what must not be lost is known here, so nothing can be invented and nothing can overflow.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::citation;
use super::client::{Message, Request};
use super::event::{Todo, TodoStatus};

/// Part of the window, in percent, at which the conversation is shortened, and that its last part may take then.
const FULL: u64 = 80;
const KEEP: u64 = 30;

/// Most of each kind that a record holds, and characters of one entry.
const MAX_ASKED: usize = 12;
const MAX_QUESTIONS: usize = 20;
const MAX_CITED: usize = 100;
const MAX_SAID: usize = 6;
const LONG: usize = 4_000;
const SHORT: usize = 600;

/// What a shortened conversation begins with. It is no request.
pub const HEAD: &str =
    "[Record of this conversation so far, shortened by the workbench. It is context, not a request.]";

/// What the driver knows and the conversation may not lose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// What is staged, one line for each file with its hash.
    pub pending: String,
    /// Which lines of which file were read.
    pub read: String,
    /// Characters of the last messages that stay as they are.
    pub keep: usize,
}

/// Tokens of a request, estimated: four ASCII characters or one other to the token, then as the provider counted so far.
#[derive(Debug, Clone)]
pub struct Gauge {
    /// The model's window in tokens, when it is known.
    window: Option<u64>,
    /// Counted by the provider for each 1000 estimated.
    rate: u64,
    asked: u64,
}

impl Gauge {
    pub fn new(window: Option<u64>) -> Self {
        Self { window, rate: 1_000, asked: 0 }
    }

    /// The model's window as its endpoint tells it. What an overflow showed stays when it is less.
    pub fn learn(&mut self, window: Option<u64>) {
        self.window = match (self.window, window) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// Another model answers: what was learnt of the one before says nothing of it.
    pub fn forget(&mut self) {
        *self = Self::new(None);
    }

    /// Takes note of what is asked now.
    pub fn ask(&mut self, request: &Request) {
        self.asked = raw(request);
    }

    /// The provider's count of what was asked last.
    pub fn counted(&mut self, input: u64) {
        // Too little to tell, or not a count.
        if self.asked >= 200 && input > 0 {
            self.rate = (input.saturating_mul(1_000) / self.asked).clamp(500, 4_000);
        }
    }

    pub fn estimate(&self, request: &Request) -> u64 {
        raw(request).saturating_mul(self.rate) / 1_000
    }

    /// The provider refused what was asked last as too long: the window is smaller than that.
    pub fn overflowed(&mut self) {
        let most = self.asked.saturating_mul(self.rate) / 1_000 * 9 / 10;
        self.window = Some(self.window.map_or(most, |window| window.min(most)).max(1_000));
    }

    pub fn is_full(&self, request: &Request) -> bool {
        self.window.is_some_and(|window| self.estimate(request) * 100 > window * FULL)
    }

    /// Characters of the last messages that a shortened conversation keeps.
    pub fn keep(&self) -> usize {
        let tokens = self.window.unwrap_or(32_000) * KEEP / 100;
        usize::try_from(tokens * 3_000 / self.rate).unwrap_or(usize::MAX)
    }
}

fn raw(request: &Request) -> u64 {
    let text = |text: &str| {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        let other = text.chars().filter(|c| !c.is_ascii()).count();
        ascii / 4 + other + 4
    };
    let messages: usize = request.messages.iter().map(|message| characters(message, text)).sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| text(&tool.name) + text(&tool.description) + text(&tool.parameters.to_string()))
        .sum();
    (messages + tools) as u64
}

fn characters(message: &Message, of: impl Fn(&str) -> usize) -> usize {
    match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            of(content)
        }
        Message::Assistant { content, calls, .. } => {
            of(content) + calls.iter().map(|call| of(&call.name) + of(&call.arguments)).sum::<usize>()
        }
    }
}

/// What is kept of messages that were left out. Bounded.
#[derive(Debug, Default)]
pub struct Memory {
    asked: Vec<String>,
    questions: VecDeque<String>,
    cited: BTreeSet<String>,
    said: VecDeque<String>,
}

impl Memory {
    fn note(&mut self, message: &Message) {
        match message {
            Message::User { content } if !content.starts_with(HEAD) => {
                self.asked.push(clipped(content, LONG));
                // The first says what all is about.
                if self.asked.len() > MAX_ASKED {
                    self.asked.remove(1);
                }
            }
            Message::Assistant { content, .. } if !content.trim().is_empty() => {
                self.questions.extend(questions(content));
                self.said.push_back(clipped(content.trim(), SHORT));
                for citation in citation::find(content) {
                    if self.cited.len() < MAX_CITED {
                        self.cited.insert(citation.path.to_string());
                    }
                }
            }
            _ => {}
        }
        while self.questions.len() > MAX_QUESTIONS {
            self.questions.pop_front();
        }
        while self.said.len() > MAX_SAID {
            self.said.pop_front();
        }
    }

    fn record(&self, todos: &[Todo], facts: &Facts) -> String {
        let mut text = HEAD.to_owned();
        let mut part = |name: &str, rows: Vec<String>| {
            if !rows.is_empty() {
                text.push_str(&format!("\n\n{name}:\n{}", rows.join("\n")));
            }
        };
        let rows = |items: &mut dyn Iterator<Item = &String>| items.map(|item| format!("- {item}")).collect();
        part("What the person asked and was told, in order", rows(&mut self.asked.iter()));
        let todo = |todo: &Todo| {
            let mark = match todo.status {
                TodoStatus::Pending => " ",
                TodoStatus::InProgress => "~",
                TodoStatus::Completed => "x",
            };
            format!("[{mark}] {}", todo.content)
        };
        part("The plan", todos.iter().map(todo).collect());
        let given = |text: &str| text.lines().map(str::to_owned).collect();
        part("What is staged now", given(&facts.pending));
        part("What was read (read again what you need word for word)", given(&facts.read));
        part("Questions that were raised", rows(&mut self.questions.iter()));
        part("Pages that were cited", rows(&mut self.cited.iter()));
        part("What you said last before this", rows(&mut self.said.iter()));
        text.push_str("\n\n[End of the record. What follows is the conversation itself; go on with it.]");
        text
    }
}

fn questions(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| line.ends_with('?')).map(|line| clipped(line, SHORT)).collect()
}

fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} [cut]", text.get(..at).unwrap_or_default()),
    }
}

/// The conversation with its older part as a record. A call and its results are never parted; a result that alone is too long
/// is cut. The same facts make the same conversation.
pub fn compact(messages: Vec<Message>, memory: &mut Memory, todos: &[Todo], facts: &Facts) -> Vec<Message> {
    let length = |message: &Message| characters(message, |text| text.chars().count());
    let mut cut = messages.len();
    let mut kept = 0;
    for (at, message) in messages.iter().enumerate().skip(1).rev() {
        kept += length(message);
        let whole = !matches!(message, Message::Tool { .. });
        // The last step stays whatever its length.
        if kept > facts.keep && cut < messages.len() {
            break;
        }
        if whole {
            cut = at;
        }
    }
    let mut rest = messages.into_iter();
    let mut out: Vec<Message> = rest.next().into_iter().collect();
    let mut tail = Vec::new();
    for (at, message) in (1..).zip(rest) {
        if at < cut {
            memory.note(&message);
        } else {
            tail.push(message);
        }
    }
    out.push(Message::User { content: memory.record(todos, facts) });
    let results = tail.iter().filter(|message| matches!(message, Message::Tool { .. })).count().max(1);
    let most = (facts.keep / results).max(500);
    for message in &mut tail {
        if let Message::Tool { content, .. } = message
            && let Some((at, _)) = content.char_indices().nth(most)
        {
            content.truncate(at);
            content.push_str("\n[the rest was left out for lack of room; ask for a smaller part]");
        }
    }
    tail.retain(|message| !matches!(message, Message::User { content } if content.starts_with(HEAD)));
    out.extend(tail);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::client::ToolCall;

    fn user(text: &str) -> Message {
        Message::User { content: text.into() }
    }

    fn says(text: &str) -> Message {
        Message::Assistant { content: text.into(), calls: Vec::new(), opaque: Default::default() }
    }

    fn call(id: usize, result: &str) -> [Message; 2] {
        let call = ToolCall {
            id: id.to_string(),
            name: "ls".into(),
            arguments: "{}".into(),
            opaque: Default::default(),
        };
        [
            Message::Assistant { content: String::new(), calls: vec![call], opaque: Default::default() },
            Message::Tool { call: id.to_string(), content: result.into() },
        ]
    }

    fn long() -> Vec<Message> {
        let mut messages = vec![Message::System { content: "system".into() }, user("Ingest the report.")];
        messages.push(says("See /wiki/a.md.\nWhich year is meant?"));
        for id in 0..40 {
            messages.extend(call(id, &"word ".repeat(100)));
        }
        messages
    }

    fn facts(keep: usize) -> Facts {
        Facts {
            pending: "1 file is staged:\ncreated /wiki/b.md".into(),
            read: "/raw/x.md: all 9 lines".into(),
            keep,
        }
    }

    #[test]
    fn h37_task_plan_pending_changes_questions_and_citations_survive() {
        let todos = [Todo { content: "read it".into(), status: TodoStatus::InProgress }];
        let mut memory = Memory::default();
        let mut messages = compact(long(), &mut memory, &todos, &facts(2_000));
        for _ in 0..3 {
            messages.extend(call(99, &"word ".repeat(100)));
            messages = compact(messages, &mut memory, &todos, &facts(1_000));
        }
        let Some(Message::User { content }) = messages.get(1) else { panic!("{messages:?}") };
        for kept in [
            "Ingest the report.",
            "[~] read it",
            "created /wiki/b.md",
            "Which year is meant?",
            "- /wiki/a.md",
            "all 9 lines",
        ] {
            assert!(content.contains(kept), "{kept} in {content}");
        }
    }

    #[test]
    fn h38_shortening_never_overflows_and_h39_stays_bounded_however_often() {
        let mut memory = Memory::default();
        let mut messages = long();
        let mut sizes = Vec::new();
        for round in 0..200 {
            messages.push(user(&format!("{round} {}", "x".repeat(9_000))));
            messages.push(says(&format!("Is {round} right?")));
            messages.extend(call(round, &"y".repeat(100_000)));
            messages = compact(messages, &mut memory, &[], &facts(2_000));
            sizes.push(messages.iter().map(|m| characters(m, str::len)).sum::<usize>());
        }
        assert!(sizes.iter().all(|size| *size < 90_000), "{sizes:?}");
        assert_eq!(
            messages
                .iter()
                .filter(|m| matches!(m, Message::User { content } if content.starts_with(HEAD)))
                .count(),
            1
        );
    }

    #[test]
    fn h40_the_record_says_that_it_is_no_request() {
        let messages = compact(long(), &mut Memory::default(), &[], &facts(1_000));
        let Some(Message::User { content }) = messages.get(1) else { panic!("{messages:?}") };
        assert!(content.contains("context, not a request") && content.ends_with("go on with it.]"));
        assert!(matches!(messages.last(), Some(Message::Tool { .. })));
    }

    #[test]
    fn a_call_and_its_results_are_never_parted() {
        for keep in [0, 100, 700, 1_500, 5_000, 100_000] {
            let messages = compact(long(), &mut Memory::default(), &[], &facts(keep));
            let mut open = 0;
            for message in &messages {
                match message {
                    Message::Assistant { calls, .. } => open = calls.len(),
                    Message::Tool { .. } => {
                        assert_eq!(open, 1, "{keep}");
                        open -= 1;
                    }
                    _ => assert_eq!(open, 0),
                }
            }
        }
    }

    #[test]
    fn h41_the_providers_count_wins_and_other_scripts_are_counted_dearer() {
        let request = |text: &str| Request {
            messages: vec![user(&text.repeat(1_000))],
            tools: Vec::new(),
            ..Request::default()
        };
        let mut gauge = Gauge::new(Some(3_000));
        let (latin, han) = (request("word"), request("\u{6c34}\u{8eca}"));
        assert_eq!(gauge.estimate(&latin), 1_004);
        assert!(gauge.estimate(&han) > 1_900);
        assert!(!gauge.is_full(&latin));
        gauge.ask(&latin);
        gauge.counted(2_600);
        assert_eq!(gauge.estimate(&latin), 2_599);
        assert!(gauge.is_full(&latin));
        let mut unknown = Gauge::new(None);
        unknown.ask(&latin);
        assert!(!unknown.is_full(&latin));
        unknown.overflowed();
        assert!(unknown.is_full(&latin), "the window is smaller than what was refused");
    }
}
