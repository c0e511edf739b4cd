//! How long an answer takes to arrive, from a server on loopback: each size is twice the one before, and so should be its
//! time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use futures::StreamExt as _;
use serde_json::json;
use wikiwright::agent::client::openai::{OpenAi, OpenAiSettings};
use wikiwright::agent::client::{Answer, Message, ModelClient as _, ModelEvent, Request};

#[path = "../tests/e2e/support/server.rs"]
#[allow(dead_code)]
mod server;

use server::{Reply, Server, delta, finish, stream};

fn main() {
    divan::main();
    let runtime = runtime();
    let best = |kib: usize| {
        let reply = in_pieces(kib);
        let once = |_| {
            let server = Server::start([reply.clone()]);
            let started = std::time::Instant::now();
            assert_eq!(ask(&runtime, &server).calls[0].arguments.len(), kib * 1024);
            started.elapsed()
        };
        (0..5).map(once).min().unwrap()
    };
    let (single, double) = (best(1024), best(2048));
    println!(
        "\n1 and 2 MiB of arguments in pieces of 16 bytes (best of 5): {single:.2?}, {double:.2?}: {:.2} times",
        double.as_secs_f64() / single.as_secs_f64()
    );
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

fn ask(runtime: &tokio::runtime::Runtime, server: &Server) -> Answer {
    runtime.block_on(async {
        let client = OpenAi::new(OpenAiSettings::new(server.base_url(), "m", None)).unwrap();
        let messages = vec![Message::User { content: "q".to_owned() }];
        let mut events = client.stream(Request { messages, ..Request::default() });
        while let Some(event) = events.next().await {
            if let ModelEvent::Done(answer) = event.unwrap() {
                return answer;
            }
        }
        panic!("no answer");
    })
}

fn bench(bencher: Bencher, reply: &Reply, check: impl Fn(&Answer) + Sync) {
    let runtime = runtime();
    bencher
        .with_inputs(|| Server::start([reply.clone()]))
        .bench_local_values(|server| check(&ask(&runtime, &server)));
}

/// Arguments of this many KiB in pieces of 16 bytes, as providers send them.
fn in_pieces(kib: usize) -> Reply {
    let piece = |index: usize, arguments: &str| {
        let name = if index == 0 { json!("write_file") } else { json!(null) };
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}]}),
        )
    };
    let count = kib * 1024 / 16;
    let mut chunks: Vec<_> = (0..count).map(|index| piece(index, "{[\"0123456789\"]}")).collect();
    chunks.push(finish("tool_calls"));
    stream(&chunks)
}

#[divan::bench(args = [256, 512, 1024, 2048], sample_count = 5)]
fn arguments_in_pieces(bencher: Bencher, kib: usize) {
    bench(bencher.counter(BytesCount::new(kib * 1024)), &in_pieces(kib), |answer| {
        assert_eq!(answer.calls[0].arguments.len(), kib * 1024);
    });
}

/// Arguments of this many KiB in one event, which arrives in pieces of 1 KiB.
#[divan::bench(args = [256, 512, 1024, 2048], sample_count = 5)]
fn arguments_at_once(bencher: Bencher, kib: usize) {
    let arguments = "x".repeat(kib * 1024);
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "write_file", "arguments": arguments}}]});
    let Reply::Raw(whole) = stream(&[delta(call), finish("tool_calls")]) else { unreachable!() };
    let pieces = whole.iter().flat_map(|part| part.chunks(1024).map(<[u8]>::to_vec)).collect();
    bench(bencher.counter(BytesCount::new(kib * 1024)), &Reply::Raw(pieces), |answer| {
        assert_eq!(answer.calls[0].arguments.len(), kib * 1024);
    });
}

/// What one token of text costs on its way.
#[divan::bench(args = [5_000, 10_000, 20_000, 40_000], sample_count = 5)]
fn tokens(bencher: Bencher, count: usize) {
    let mut chunks = vec![delta(json!({"content": "word "})); count];
    chunks.push(finish("stop"));
    bench(bencher.counter(ItemsCount::new(count)), &stream(&chunks), |answer| {
        assert_eq!(answer.text.len(), count * 5);
    });
}
