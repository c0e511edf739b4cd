//! How long a key takes until its frame stands, with 1,000 messages and 10,000 pages at 120x50, and each frame of an answer that
//! is streamed: the percentiles, which an average would hide. At most 16 ms at the 99th; twice the stream at most 2.3 times.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use wikiwright::agent::{AgentEvent, Role};
use wikiwright::bundle::MemoryBundle;
use wikiwright::lint;
use wikiwright::tui::Suggestions;
use wikiwright::tui::event::Event;
use wikiwright::tui::keymap::Keymap;
use wikiwright::tui::state::{Fixed, Pane, State};
use wikiwright::tui::theme::Theme;
use wikiwright::tui::update::{settle, update};
use wikiwright::tui::view;
use wikiwright::wiki::Wiki;

const SIZE: (u16, u16) = (120, 50);

struct Bench {
    state: State,
    terminal: Terminal<TestBackend>,
}

impl Bench {
    fn new(pages: usize) -> Self {
        let files: Vec<(String, String)> = (0..pages)
            .map(|n| {
                let next = (n + 1) % pages;
                (
                    format!("/wiki/concepts/page-{n}.md"),
                    format!("---\ntype: Concept\ntitle: Page {n}\n---\n\n# Page {n}\n\nSee [next](page-{next}.md).\n"),
                )
            })
            .collect();
        let bundle = MemoryBundle::new(files.iter().map(|(p, t)| (p.as_str(), t.as_str()))).unwrap();
        let wiki = Wiki::load(&bundle).unwrap();
        let report = lint::lint(&wiki, &lint::Options::default());
        let fixed = Fixed {
            name: "bench".to_owned(),
            model: Some("bench".to_owned()),
            hint: Vec::new(),
            banner: None,
            theme: Theme::ansi(),
            look: wikiwright::tui::Look::Dark,
            keymap: Keymap::shipped(),
            suggestions: Suggestions::default(),
            not_found: String::new(),
        };
        let mut state = State::new(fixed, SIZE);
        let (wiki, report) = (Arc::new(wiki), Arc::new(report));
        let _ = update(&mut state, Event::Model { wiki, report, changed: Vec::new() });
        state.focus = Pane::Chat;
        Self { state, terminal: Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap() }
    }

    /// An event and its frame; how long they took.
    fn step(&mut self, event: Event) -> Duration {
        let started = Instant::now();
        let _ = update(&mut self.state, event);
        let _ = settle(&mut self.state);
        self.terminal.draw(|frame| view::draw(&self.state, frame)).unwrap();
        started.elapsed()
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Duration {
        self.step(Event::Key(KeyEvent::new(code, modifiers)))
    }

    fn say(&mut self, event: AgentEvent) -> Duration {
        self.step(Event::Agent(Role::Manager, event))
    }
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 1000];
    let total: Duration = times.iter().sum();
    println!(
        "{what:<44} frames {:>5}  p50 {:>9.1?}  p99 {:>9.1?}  most {:>9.1?}  all {total:.1?}",
        times.len(),
        at(500),
        at(990),
        at(1000)
    );
}

fn streamed(words: usize) -> Duration {
    let mut bench = Bench::new(20);
    bench.say(AgentEvent::TurnStarted { message: "go".to_owned() });
    let text = "Some *prose* with `code` that tells of [page 1](/wiki/concepts/page-1.md) and why.\n\n- one\n- two\n\n";
    let pieces = text.split_inclusive(' ').cycle().take(words);
    let times: Vec<Duration> = pieces.map(|word| bench.say(AgentEvent::Text(word.to_owned()))).collect();
    let total = times.iter().sum();
    report(&format!("stream of {words} tokens"), times);
    total
}

fn main() {
    let mut bench = Bench::new(10_000);
    for n in 0..500 {
        bench.state.manager.push(wikiwright::tui::state::chat::Item::You(format!("Question {n}")));
        let answer = format!("Answer {n} is *this*, see [it](/wiki/concepts/page-{n}.md).\n\n- one\n- two\n");
        bench.state.manager.push(wikiwright::tui::state::chat::Item::Answer(answer));
    }
    println!("first layout of 1,000 messages: {:.1?}", bench.step(Event::Tick));
    let none = KeyModifiers::NONE;
    let typed =
        (0..500).map(|n| bench.key(KeyCode::Char(if n % 9 == 8 { ' ' } else { 'a' }), none)).collect();
    report("a letter typed, 1,000 messages, 10,000 pages", typed);
    bench.key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let scrolled =
        (0..500).map(|n| bench.key(if n % 50 < 25 { KeyCode::PageUp } else { KeyCode::PageDown }, none));
    let scrolled = scrolled.collect();
    report("a screen scrolled", scrolled);
    bench.key(KeyCode::Char('@'), none);
    let completed = (0..200)
        .map(|n| {
            bench.key(
                if n % 8 == 7 { KeyCode::Backspace } else { KeyCode::Char(['p', 'a', '1', '2'][n % 4]) },
                none,
            )
        })
        .collect();
    report("a letter after @, 10,000 pages", completed);
    bench.key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    bench.key(KeyCode::Char('f'), KeyModifiers::CONTROL);
    let found = "answer 499".chars().cycle().take(10).map(|c| bench.key(KeyCode::Char(c), none)).collect();
    report("a letter of the search, 1,000 messages", found);
    let (once, twice) = (streamed(2_000), streamed(4_000));
    println!("twice the stream: {:.2} times", twice.as_secs_f64() / once.as_secs_f64());
}
