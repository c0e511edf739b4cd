//! What the loop costs beside the model: for each streamed token and for each step.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use divan::Bencher;
use divan::counter::ItemsCount;
use wikiwright::agent::client::{Answer, Message, ModelEvent, ToolCall};
use wikiwright::agent::context::{Facts, Memory, compact};
use wikiwright::agent::event::CallId;
use wikiwright::agent::fsm::{Input, Loop};

fn main() {
    divan::main();
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

/// One call and its result, after so many steps before it.
#[divan::bench(args = [1, 50, 500])]
fn step(bencher: Bencher, before: u64) {
    let one = |machine: &mut Loop, id: u64| {
        let call = ToolCall {
            id: id.to_string(),
            name: "ls".into(),
            arguments: "{}".into(),
            opaque: Default::default(),
        };
        machine.step(Input::Model(ModelEvent::Done(Answer { calls: vec![call], ..Answer::default() })));
        machine.step(Input::ToolDone {
            call: CallId(id),
            ok: true,
            text: "row\n".repeat(100),
            todos: None,
            ran: None,
            elapsed: std::time::Duration::ZERO,
        })
    };
    let prepared = || {
        let mut machine = asking();
        (1..before).for_each(|id| drop(one(&mut machine, id)));
        machine
    };
    bencher.with_inputs(prepared).bench_local_values(|mut machine| {
        divan::black_box(one(&mut machine, before));
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
