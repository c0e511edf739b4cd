//! What the loop costs beside the model: for each streamed token and for each step, and taking a session up again. At the end
//! the ratios of twice the work to the work: about 2 is linear.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use divan::Bencher;
use divan::counter::ItemsCount;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tokio::runtime::Runtime;
use wikiwright::agent::Manager;
use wikiwright::agent::client::{Answer, Message, ModelClient, ModelError, ModelEvent, Request, ToolCall};
use wikiwright::agent::context::{Facts, Memory, compact};
use wikiwright::agent::event::{AgentCommand, AgentEvent, CallId};
use wikiwright::agent::fsm::{Effect, Input, Loop};
use wikiwright::agent::record::{self, Record};
use wikiwright::bundle::MemoryBundle;

fn main() {
    divan::main();
    println!("\ntwice the work takes so many times as long (best of 5):");
    ratio(
        "10,000 and 20,000 streamed tokens through the session",
        |count| {
            let runtime = runtime();
            move || tokens(&runtime, count)
        },
        TOKENS,
    );
    ratio(
        "one step after 500 and after 1,000 steps",
        |count| {
            let mut machine = prepared(count as u64);
            move || drop(one(&mut machine, count as u64 + 1))
        },
        500,
    );
    ratio(
        "10,000 and 20,000 messages taken up again",
        |count| {
            let lines = session(count);
            move || assert!(resume(&lines).messages().len() > count)
        },
        MESSAGES,
    );
}

/// Prints how many times as long `work(2 n)` takes as `work(n)`; what `work` prepares is not counted.
fn ratio<F: FnMut()>(name: &str, work: impl Fn(usize) -> F, n: usize) {
    let best = |n: usize| {
        let once = |_| {
            let mut run = work(n);
            let started = Instant::now();
            run();
            started.elapsed()
        };
        (0..5).map(once).min().unwrap()
    };
    let (single, double) = (best(n), best(2 * n));
    println!("  {name}: {single:.2?}, {double:.2?}: {:.2}", double.as_secs_f64() / single.as_secs_f64());
}

const MESSAGES: usize = 10_000;

fn runtime() -> Runtime {
    // One thread: what is measured is the work, not how it is spread.
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Streams so many tokens at once.
struct Flood(usize);

impl ModelClient for Flood {
    fn name(&self) -> &str {
        "flood"
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let text = "token ".repeat(self.0);
        let done = ModelEvent::Done(Answer { text, ..Answer::default() });
        let tokens = (0..self.0).map(|_| Ok(ModelEvent::Text("token ".into())));
        futures::stream::iter(tokens.chain([Ok(done)])).boxed()
    }
}

/// A whole turn of a session in which so many tokens come.
fn tokens(runtime: &Runtime, count: usize) {
    runtime.block_on(async {
        let bundle = Arc::new(MemoryBundle::default());
        let manager = Manager::builder().backend(bundle).client(Arc::new(Flood(count)));
        let mut session = manager.build().unwrap().start();
        session.commands.send(AgentCommand::Say("go".into())).unwrap();
        while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    });
}

#[divan::bench(sample_count = 10)]
fn streamed_token_through_the_session(bencher: Bencher) {
    let runtime = runtime();
    bencher.counter(ItemsCount::new(TOKENS)).bench_local(|| tokens(&runtime, TOKENS));
}

/// The file of a session with so many messages: questions and answers in turn, each answer after a call.
fn session(messages: usize) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut line = |input: Input| {
        serde_json::to_writer(&mut lines, &Record::Input { input }).unwrap();
        lines.push(b'\n');
    };
    for nth in 1..=messages / 4 {
        line(Input::Say(format!("question {nth}?")));
        line(called(nth as u64));
        line(back(nth as u64));
        line(Input::Model(ModelEvent::Text("word ".repeat(100))));
        line(Input::Model(ModelEvent::Done(Answer { text: "word ".repeat(100), ..Answer::default() })));
    }
    lines
}

fn resume(lines: &[u8]) -> Loop {
    let loaded = record::load(lines).unwrap();
    assert_eq!(loaded.skipped, 0);
    let mut machine = Loop::new("system".into(), Vec::new());
    record::restore(&mut machine, &loaded.records);
    machine
}

#[divan::bench(args = [MESSAGES / 2, MESSAGES, 2 * MESSAGES], sample_count = 5)]
fn messages_taken_up_again(bencher: Bencher, messages: usize) {
    let lines = session(messages);
    bencher.counter(ItemsCount::new(messages)).bench_local(|| resume(&lines));
}

const TOKENS: usize = 10_000;

fn asking() -> Loop {
    let mut machine = Loop::new("system".into(), Vec::new());
    machine.step(Input::Say("go".into()));
    machine
}

#[divan::bench]
fn streamed_token(bencher: Bencher) {
    bencher.counter(ItemsCount::new(TOKENS)).with_inputs(asking).bench_local_values(|mut machine| {
        for _ in 0..TOKENS {
            divan::black_box(machine.step(Input::Model(ModelEvent::Text("token ".into()))));
        }
        machine
    });
}

fn called(id: u64) -> Input {
    let call = ToolCall {
        id: id.to_string(),
        name: "ls".into(),
        arguments: "{}".into(),
        opaque: Default::default(),
    };
    Input::Model(ModelEvent::Done(Answer { calls: vec![call], ..Answer::default() }))
}

fn back(id: u64) -> Input {
    Input::ToolDone {
        call: CallId(id),
        ok: true,
        text: "row\n".repeat(100),
        todos: None,
        ran: None,
        elapsed: Duration::ZERO,
    }
}

fn one(machine: &mut Loop, id: u64) -> Vec<Effect> {
    machine.step(called(id));
    machine.step(back(id))
}

fn prepared(steps: u64) -> Loop {
    let mut machine = asking();
    (1..=steps).for_each(|id| drop(one(&mut machine, id)));
    machine
}

/// One call and its result, after so many steps before it.
#[divan::bench(args = [1, 50, 500, 1000])]
fn step(bencher: Bencher, before: u64) {
    bencher.with_inputs(|| prepared(before)).bench_local_values(|mut machine| {
        divan::black_box(one(&mut machine, before + 1));
        machine
    });
}

#[divan::bench]
fn shortening(bencher: Bencher) {
    let messages = || {
        let mut messages = vec![Message::System { content: "system".into() }];
        for id in 0..500 {
            messages.push(Message::User { content: format!("question {id}?") });
            messages.push(Message::Assistant {
                content: "See /wiki/a.md. ".repeat(20),
                calls: Vec::new(),
                opaque: Default::default(),
            });
        }
        messages
    };
    let facts = Facts { keep: 10_000, ..Facts::default() };
    bencher
        .with_inputs(messages)
        .bench_local_values(|messages| compact(messages, &mut Memory::default(), &[], &facts));
}
