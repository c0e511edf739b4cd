//! A whole session over a bundle in memory, with a client that gives prepared answers.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt as _;

use serde_json::json;

use super::*;
use crate::agent::client::{Answer, Message, ModelEvent, Price, Request, ToolCall};
use crate::agent::engine::Stream;
use crate::agent::event::Usage;
use crate::bundle::apply::apply;
use crate::bundle::hunk::Resolved;
use crate::bundle::{Decision, MemoryBundle, Write};
use crate::okf::BundlePath;

/// Gives its answers in order and keeps the requests; after the last one it hangs until dropped.
struct Prepared {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Request>>,
}

impl Prepared {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), requests: Mutex::default() })
    }
}

impl ModelClient for Prepared {
    fn name(&self) -> &str {
        "prepared"
    }

    fn stream(&self, request: Request) -> Stream {
        self.requests.lock().unwrap().push(request);
        match self.answers.lock().unwrap().pop_front() {
            Some(answer) => {
                let text = ModelEvent::Text(answer.text.clone());
                futures::stream::iter([Ok(text), Ok(ModelEvent::Done(answer))]).boxed()
            }
            None => futures::stream::once(async { Ok(ModelEvent::Text("hanging".into())) })
                .chain(futures::stream::pending())
                .boxed(),
        }
    }
}

fn text(text: &str) -> Answer {
    Answer { text: text.into(), ..Answer::default() }
}

fn calls(calls: &[(&str, serde_json::Value)]) -> Answer {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| ToolCall {
            id: format!("c{at}"),
            name: (*name).into(),
            arguments: arguments.to_string(),
            opaque: Default::default(),
        })
        .collect();
    Answer { calls, ..Answer::default() }
}

fn bundle() -> Arc<MemoryBundle> {
    Arc::new(MemoryBundle::new([("/wiki/index.md", "# Wiki\n"), ("/raw/a.txt", "a\n")]).unwrap())
}

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// Events up to the end of the turn.
async fn turn(session: &mut Session) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    loop {
        let event =
            tokio::time::timeout(Duration::from_secs(20), session.events.recv()).await.unwrap().unwrap();
        let last = matches!(event, AgentEvent::Finished { .. } | AgentEvent::Failed(_));
        events.push(event);
        if last {
            return events;
        }
    }
}

#[tokio::test]
async fn writes_of_a_turn_are_staged_in_call_order_and_handed_out_for_review() {
    let client = Prepared::new([
        calls(&[
            ("write_file", json!({"file_path": "/wiki/a.md", "content": "one\n"})),
            ("edit_file", json!({"file_path": "/wiki/a.md", "old_string": "one", "new_string": "two"})),
            ("read_file", json!({"file_path": "/wiki/a.md"})),
        ]),
        text("Proposed."),
    ]);
    let base = bundle();
    let mut session = start_manager(base.clone(), client.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let events = turn(&mut session).await;
    let changes = events
        .iter()
        .find_map(|e| if let AgentEvent::AwaitingReview(changes) = e { Some(changes.clone()) } else { None })
        .unwrap();
    assert_eq!(changes.files[0].after.as_deref(), Some(&b"two\n"[..]));
    assert!(!base.exists(&path("/wiki/a.md")).unwrap(), "nothing is on disk before a decision");
    let requests = client.requests.lock().unwrap();
    let Some(Message::Tool { content, .. }) = requests[1].messages.last() else { panic!() };
    assert!(content.ends_with("\ntwo\n"), "the read after the writes sees them: {content}");
}

#[tokio::test]
async fn the_manager_hears_what_landed_and_why_the_rest_did_not() {
    let client = Prepared::new([
        calls(&[
            ("write_file", json!({"file_path": "/wiki/a.md", "content": "a\n"})),
            ("write_file", json!({"file_path": "/wiki/b.md", "content": "b\n"})),
        ]),
        text("Proposed."),
        text("I see."),
    ]);
    let base = bundle();
    let mut session = start_manager(base.clone(), client.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    let staged = session.staged.clone().unwrap();
    let changes = staged.changes();
    let decisions: crate::bundle::Decisions = changes
        .files
        .iter()
        .map(|file| {
            let decision = if file.path == path("/wiki/a.md") {
                Decision::Approved { shown: file.shown() }
            } else {
                Decision::Rejected { reason: "not needed".into() }
            };
            (file.path.clone(), decision)
        })
        .collect();
    let applied = apply(base.as_ref(), &changes, &decisions);
    let resolved = Box::new(Resolved::whole(changes, decisions));
    session.commands.send(AgentCommand::Reviewed { resolved, applied }).unwrap();
    turn(&mut session).await;
    assert_eq!(base.read(&path("/wiki/a.md")).unwrap(), "a\n");
    assert!(!base.exists(&path("/wiki/b.md")).unwrap());
    assert!(staged.changes().is_empty());
    let requests = client.requests.lock().unwrap();
    let Some(Message::User { content }) = requests[2].messages.last() else { panic!() };
    assert!(content.contains("- /wiki/a.md") && content.contains("- /wiki/b.md: not needed"), "{content}");
}

#[tokio::test]
async fn an_interrupt_ends_a_hanging_answer_and_the_session_lives_on() {
    let client = Prepared::new([]);
    let mut session = start_reader(bundle(), client.clone(), ReaderOptions::default());
    session.commands.send(AgentCommand::Say("hello".into())).unwrap();
    while session.events.recv().await != Some(AgentEvent::Text("hanging".into())) {}
    session.commands.send(AgentCommand::Interrupt).unwrap();
    assert_eq!(turn(&mut session).await, [AgentEvent::Finished { interrupted: true }]);
    client.answers.lock().unwrap().push_back(text("here"));
    session.commands.send(AgentCommand::Say("again".into())).unwrap();
    assert_eq!(turn(&mut session).await.last(), Some(&AgentEvent::Finished { interrupted: false }));
}

#[tokio::test]
async fn the_reader_is_shown_no_writing_tool_and_stages_nothing() {
    let client = Prepared::new([
        calls(&[("write_file", json!({"file_path": "/wiki/x.md", "content": "x"}))]),
        text("no"),
    ]);
    let base = bundle();
    let mut session = start_reader(base.clone(), client.clone(), ReaderOptions::default());
    assert!(session.staged.is_none());
    session.commands.send(AgentCommand::Say("write".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(events.iter().any(|e| matches!(e, AgentEvent::ToolFinished { ok: false, .. })));
    assert!(!base.exists(&path("/wiki/x.md")).unwrap());
    let requests = client.requests.lock().unwrap();
    assert!(
        requests[0].tools.iter().all(|t| !["write_file", "edit_file", "delete"].contains(&t.name.as_str()))
    );
}

#[tokio::test]
async fn dropping_the_commands_ends_the_session() {
    let mut session = start_reader(bundle(), Prepared::new([]), ReaderOptions::default());
    drop(session.commands);
    assert_eq!(session.events.recv().await, None);
}

/// A bundle whose reads panic, as a fault in a tool would.
struct Panics;

impl Read for Panics {
    fn list(&self, _: &BundlePath) -> Result<Vec<crate::bundle::Entry>, crate::bundle::Error> {
        panic!("a fault")
    }
    fn stat(&self, _: &BundlePath) -> Result<crate::bundle::Stat, crate::bundle::Error> {
        panic!("a fault")
    }
    fn read_bytes(&self, _: &BundlePath) -> Result<Vec<u8>, crate::bundle::Error> {
        panic!("a fault")
    }
}

#[tokio::test]
async fn a_panic_in_a_tool_is_that_calls_error() {
    let client =
        Prepared::new([calls(&[("ls", json!({"path": "/"})), ("ls", json!({"path": "/"}))]), text("Odd.")]);
    let mut session = start_reader(Arc::new(Panics), client, ReaderOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let events = turn(&mut session).await;
    let failed = events.iter().filter(|e| matches!(e, AgentEvent::ToolFinished { ok: false, .. })).count();
    assert_eq!(failed, 2);
    assert_eq!(events.last(), Some(&AgentEvent::Finished { interrupted: false }));
}

#[tokio::test]
async fn a_tool_of_the_callers_is_offered_and_called_and_its_panic_is_an_error_for_the_model() {
    let echo = || {
        ExtraTool::new("echo", "Echoes.", json!({"type": "object"}), |arguments| {
            match arguments.get("text").and_then(|text| text.as_str()) {
                Some("panic") => panic!("as asked"),
                Some(text) => Ok(format!("echo: {text}")),
                None => Err("text is missing; send it".to_owned()),
            }
        })
    };
    let bundle = || Arc::new(MemoryBundle::new([("/wiki/a.md", "a\n")]).unwrap());
    for role in [Role::Manager, Role::Reader] {
        let given =
            [json!({"text": "hi"}), json!({}), json!({"text": "panic"}), json!({"text": "x".repeat(90_000)})];
        let asked: Vec<_> = given.into_iter().map(|arguments| ("echo", arguments)).collect();
        let client = Prepared::new([calls(&asked), text("Done.")]);
        let mut session = match role {
            Role::Manager => {
                let manager = crate::agent::Manager::builder().backend(bundle()).client(client.clone());
                manager.extra_tool(echo()).build().unwrap().start()
            }
            Role::Reader => {
                let reader = crate::agent::Reader::builder().backend(bundle()).client(client.clone());
                reader.extra_tool(echo()).build().unwrap().start()
            }
        };
        session.commands.send(AgentCommand::Say("go".into())).unwrap();
        turn(&mut session).await;
        let requests = client.requests.lock().unwrap();
        assert_eq!(requests[0].tools.iter().filter(|tool| tool.name == "echo").count(), 1);
        let told: Vec<&str> = requests[1]
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Tool { content, .. } => Some(content.as_str()),
                _ => None,
            })
            .collect();
        assert!(told[0].contains("echo: hi"), "{told:?}");
        assert!(told[1].contains("text is missing; send it"), "{told:?}");
        assert!(!told[2].is_empty() && !told[2].contains("echo:"), "{told:?}");
        assert!(told[3].len() < 81_000 && told[3].contains("cut here"), "{}", told[3].len());
    }
}

#[tokio::test]
async fn a_page_that_was_read_before_a_reader_goes_on_still_bears_an_answer() {
    let bundle = || Arc::new(MemoryBundle::new([("/wiki/a.md", "A\n"), ("/wiki/b.md", "B\n")]).unwrap());
    let reader = |client: &Arc<Prepared>, kept: &Kept, past| {
        let keeping = Keeping { recorder: Some(Box::new(kept.clone())), past };
        let reader = crate::agent::Reader::builder().backend(bundle()).client(client.clone());
        reader.keeping(keeping).build().unwrap().start()
    };
    let kept = Kept::default();
    let client = Prepared::new([
        calls(&[("read_file", json!({"file_path": "/wiki/a.md"}))]),
        text("See /wiki/a.md."),
        text("See /wiki/a.md and /wiki/b.md."),
    ]);
    let mut session = reader(&client, &kept, Vec::new());
    session.commands.send(AgentCommand::Say("one".into())).unwrap();
    turn(&mut session).await;
    drop(session);
    let past = kept.0.lock().unwrap().clone();
    let mut session = reader(&client, &Kept::default(), past);
    // What was said before comes first.
    turn(&mut session).await;
    session.commands.send(AgentCommand::Say("two".into())).unwrap();
    let events = turn(&mut session).await;
    let cited = events.iter().rev().find_map(|event| match event {
        AgentEvent::Cited(cited) => {
            Some(cited.iter().map(|c| (c.path.as_str(), c.problem)).collect::<Vec<_>>())
        }
        _ => None,
    });
    let wanted = vec![("/wiki/a.md", None), ("/wiki/b.md", Some(answer::Problem::NotRead))];
    assert_eq!(cited, Some(wanted));
}

#[tokio::test]
async fn a_proposal_over_a_file_that_was_edited_is_merged_and_shown_again() {
    let old = "one\ntwo\nthree\n";
    let base = Arc::new(MemoryBundle::new([("/wiki/a.md", old)]).unwrap());
    let client = Prepared::new([
        calls(&[("read_file", json!({"file_path": "/wiki/a.md"}))]),
        calls(&[("edit_file", json!({"file_path": "/wiki/a.md", "old_string": "one", "new_string": "ONE"}))]),
        text("Proposed."),
    ]);
    let mut session = start_manager(base.clone(), client.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    let staged = session.staged.clone().unwrap();
    base.write(&path("/wiki/a.md"), b"one\ntwo\nTHREE by hand\n").unwrap();
    let approve = |changes: &crate::bundle::ChangeSet| {
        let file = &changes.files[0];
        std::collections::BTreeMap::from([(file.path.clone(), Decision::Approved { shown: file.shown() })])
    };
    let changes = staged.changes();
    let applied = apply(base.as_ref(), &changes, &approve(&changes));
    assert_eq!(applied.failed.len(), 1);
    let resolved = Box::new(Resolved::whole(changes.clone(), approve(&changes)));
    session.commands.send(AgentCommand::Reviewed { resolved, applied }).unwrap();
    let Some(AgentEvent::Rebased(moved)) = session.events.recv().await else { panic!() };
    assert_eq!(moved, [Moved { path: path("/wiki/a.md"), how: Carried::Merged }]);
    let Some(AgentEvent::AwaitingReview(merged)) = session.events.recv().await else { panic!() };
    assert_eq!(merged.files[0].after.as_deref(), Some(&b"ONE\ntwo\nTHREE by hand\n"[..]));
    let applied = apply(base.as_ref(), &merged, &approve(&merged));
    assert_eq!(applied.landed.len(), 1);
    assert_eq!(client.requests.lock().unwrap().len(), 3, "the model has nothing to answer");
}

/// Keeps its records in memory.
#[derive(Clone, Default)]
pub(super) struct Kept(pub(super) Arc<Mutex<Vec<record::Record>>>);

impl record::Recorder for Kept {
    fn record(&mut self, record: &record::Record) -> std::io::Result<()> {
        self.0.lock().unwrap().push(record.clone());
        Ok(())
    }
}

#[tokio::test]
async fn a_kept_session_goes_on_where_it_was_left_and_its_pending_changes_wait_again() {
    let bundle = Arc::new(MemoryBundle::new([("/AGENTS.md", "x"), ("/wiki/index.md", "# W\n")]).unwrap());
    let kept = Kept::default();
    let keeping = |past: Vec<record::Record>| Keeping { recorder: Some(Box::new(kept.clone())), past };
    let write = json!({"file_path": "/wiki/a.md", "content": "new\n"});
    let client = Prepared::new([calls(&[("write_file", write)]), text("Proposed.")]);
    let mut session = keep_manager(bundle.clone(), client, ManagerOptions::default(), keeping(Vec::new()));
    session.commands.send(AgentCommand::Say("Write a page.".into())).unwrap();
    while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    drop(session);

    let past = kept.0.lock().unwrap().clone();
    let client = Prepared::new([text("Yes.")]);
    let mut session = keep_manager(bundle, client.clone(), ManagerOptions::default(), keeping(past));
    let mut heard = Vec::new();
    loop {
        let event = session.events.recv().await.unwrap();
        let waits = matches!(event, AgentEvent::AwaitingReview(_));
        heard.push(event);
        if waits {
            break;
        }
    }
    assert_eq!(heard[0], AgentEvent::Said("Write a page.".into()));
    assert!(heard.contains(&AgentEvent::Text("Proposed.".into())));
    let Some(AgentEvent::AwaitingReview(changes)) = heard.last() else { panic!() };
    assert_eq!(changes.files[0].after.as_deref(), Some(b"new\n".as_slice()));
    session.commands.send(AgentCommand::Say("Are you there?".into())).unwrap();
    while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    let requests = client.requests.lock().unwrap();
    assert_eq!(requests[0].messages.len(), 6, "system, question, call, result, answer, question");
}

#[tokio::test]
async fn a_kept_session_can_be_run_again_and_says_what_differs() {
    use crate::agent::replay::replay;

    let files = [("/AGENTS.md", "x"), ("/wiki/index.md", "# W\n"), ("/wiki/b.md", "b\n")];
    let bundle = Arc::new(MemoryBundle::new(files).unwrap());
    let kept = Kept::default();
    let keeping = Keeping { recorder: Some(Box::new(kept.clone())), past: Vec::new() };
    let client = Prepared::new([
        calls(&[
            ("ls", json!({"path": "/wiki"})),
            ("write_file", json!({"file_path": "/wiki/a.md", "content": "new\n"})),
        ]),
        calls(&[
            ("read_file", json!({"file_path": "/wiki/b.md"})),
            ("delete", json!({"file_path": "/wiki/b.md"})),
        ]),
        text("Proposed."),
        calls(&[
            ("read_file", json!({"file_path": "/wiki/a.md"})),
            ("read_file", json!({"file_path": "/wiki/none.md"})),
        ]),
        text("Done."),
    ]);
    let mut session = keep_manager(bundle.clone(), client, ManagerOptions::default(), keeping);
    session.commands.send(AgentCommand::Say("Write a page.".into())).unwrap();
    while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    // One is approved, one rejected with a reason, which the manager answers.
    let changes = session.staged.as_ref().unwrap().changes();
    let decisions = [
        (changes.files[0].path.clone(), Decision::Approved { shown: changes.files[0].shown() }),
        (changes.files[1].path.clone(), Decision::Rejected { reason: "keep it".into() }),
    ];
    let decisions = decisions.into_iter().collect();
    let applied = apply(bundle.as_ref(), &changes, &decisions);
    let resolved = Box::new(Resolved::whole(changes, decisions));
    session.commands.send(AgentCommand::Reviewed { resolved, applied }).unwrap();
    while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    drop(session);

    let records = kept.0.lock().unwrap().clone();
    let again =
        replay(&records, Role::Manager, bundle.clone(), Rules::manager(true), lint::Options::default());
    assert_eq!((again.calls, again.answers, again.differences), (6, 5, vec![]));
    // The bundle is another than the session saw.
    bundle.write(&BundlePath::parse("/wiki/b.md").unwrap(), b"other\n").unwrap();
    let again = replay(&records, Role::Manager, bundle, Rules::manager(true), lint::Options::default());
    let what: Vec<_> = again.differences.iter().map(|d| d.what.as_str()).collect();
    assert_eq!(what, ["ls", "read_file", "pending changes"], "{:?}", again.differences);
    assert!(again.differences[1].recorded.contains("b\n") && again.differences[1].now.contains("other"));
}

#[tokio::test]
async fn a_set_that_was_kept_ahead_of_its_calls_is_compared_when_they_are_back() {
    use crate::agent::record::Record;
    use crate::agent::replay::replay;

    let bundle = Arc::new(MemoryBundle::new([("/AGENTS.md", "x")]).unwrap());
    let kept = Kept::default();
    let keeping = Keeping { recorder: Some(Box::new(kept.clone())), past: Vec::new() };
    let write = |name: &str| ("write_file", json!({"file_path": name, "content": "new\n"}));
    let client = Prepared::new([calls(&[write("/wiki/a.md"), write("/wiki/b.md")]), text("Proposed.")]);
    let mut session = keep_manager(bundle.clone(), client, ManagerOptions::default(), keeping);
    session.commands.send(AgentCommand::Say("Write two pages.".into())).unwrap();
    while !matches!(session.events.recv().await.unwrap(), AgentEvent::Finished { .. }) {}
    // As it comes when the second call is quick, and a limit is near: both files, a warning, then the second result.
    let mut records = kept.0.lock().unwrap().clone();
    let (staged, rest): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|record| matches!(record, Record::Staged { .. }));
    records = rest;
    let second = records.iter().rposition(|r| matches!(r, Record::Input { input: Input::ToolDone { .. } }));
    let warning = Record::Input { input: Input::Warn("Four fifths are used.".into()) };
    records.splice(second.unwrap()..second.unwrap(), staged.into_iter().chain([warning]));
    let again = replay(&records, Role::Manager, bundle, Rules::manager(true), lint::Options::default());
    assert_eq!((again.calls, again.differences), (2, vec![]));
}

/// A client behind which another model can stand.
struct Changing {
    client: Arc<Prepared>,
    window: AtomicU64,
    price: Mutex<Option<Price>>,
}

impl ModelClient for Changing {
    fn name(&self) -> &str {
        "changing"
    }

    fn stream(&self, request: Request) -> Stream {
        self.client.stream(request)
    }

    fn context_window(&self) -> futures::future::BoxFuture<'_, Option<u64>> {
        Box::pin(std::future::ready(Some(self.window.load(Ordering::SeqCst))))
    }

    fn price(&self) -> Option<Price> {
        *self.price.lock().unwrap()
    }
}

#[tokio::test]
async fn another_model_has_its_own_window_and_price_and_what_was_spent_stays_spent() {
    let usage = Usage { input: 100, ..Usage::default() };
    let said = |words: usize| Answer { usage: Some(usage), ..text(&"word ".repeat(words)) };
    let client = Prepared::new([said(4_000), said(4_000), said(1), said(1), said(1)]);
    let price = |input| Some(Price { input, ..Price::default() });
    let changing = Arc::new(Changing {
        client: client.clone(),
        window: AtomicU64::new(1_000_000),
        price: Mutex::new(price(1_000_000)),
    });
    let limits = Limits { money: Some(400), ..Limits::default() };
    let options = ManagerOptions { limits, ..ManagerOptions::default() };
    let mut session = start_manager(bundle(), changing.clone(), options);
    let windows = |events: &[AgentEvent]| -> Vec<Option<u64>> {
        let window = |event: &AgentEvent| match event {
            AgentEvent::Window(window) => Some(*window),
            _ => None,
        };
        events.iter().filter_map(window).collect()
    };
    for expected in [vec![Some(1_000_000)], vec![]] {
        session.commands.send(AgentCommand::Say("go".into())).unwrap();
        let events = turn(&mut session).await;
        assert_eq!(windows(&events), expected, "it is asked for once");
        assert!(!events.iter().any(|event| matches!(event, AgentEvent::Compacted { .. })));
    }
    // 200 are spent. A small model for half of the money: 50 for each answer.
    changing.window.store(8_000, Ordering::SeqCst);
    *changing.price.lock().unwrap() = price(500_000);
    session.commands.send(AgentCommand::Switched).unwrap();
    assert_eq!(
        session.events.recv().await,
        Some(AgentEvent::Window(Some(8_000))),
        "before it is asked anything"
    );
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Compacted { .. })), "{events:?}");
    // 250 are spent; one that costs ten times as much uses up the rest with one answer.
    *changing.price.lock().unwrap() = price(5_000_000);
    session.commands.send(AgentCommand::Switched).unwrap();
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let stop = loop {
        if let AgentEvent::Stopped(stop) = session.events.recv().await.unwrap() {
            break stop;
        }
    };
    assert_eq!(stop, crate::agent::budget::Stop::Money(400));
    assert_eq!(client.requests.lock().unwrap().len(), 4);
    // One without a price cannot be limited, and that is said.
    *changing.price.lock().unwrap() = None;
    session.commands.send(AgentCommand::Switched).unwrap();
    let said = loop {
        if let AgentEvent::Notice(said) = session.events.recv().await.unwrap() {
            break said;
        }
    };
    assert!(said.contains("Money is not limited any more"), "{said}");
}

#[tokio::test]
async fn calls_that_look_run_side_by_side_and_a_write_between_them_alone_and_in_its_place() {
    let write = |text: &str| ("write_file", json!({"file_path": "/wiki/a.md", "content": text}));
    let meet = || ("meet", json!({}));
    let asked =
        [meet(), meet(), write("one\n"), ("ls", json!({"path": "/wiki"})), write("two\n"), meet(), meet()];
    let client = Prepared::new([calls(&asked), text("Done.")]);
    // Each waits for another one that runs at the same time, and says what is staged by then.
    let met = Arc::new((Mutex::new(0_usize), std::sync::Condvar::new()));
    let tool = ExtraTool::new("meet", "Meets.", json!({"type": "object"}), move |_| {
        let (count, changed) = &*met;
        let mut here = count.lock().unwrap();
        *here += 1;
        changed.notify_all();
        let wanted = here.next_multiple_of(2);
        let (here, late) =
            changed.wait_timeout_while(here, Duration::from_secs(10), |here| *here < wanted).unwrap();
        drop(here);
        if late.timed_out() { Err("nobody came".to_owned()) } else { Ok("met".to_owned()) }
    });
    let manager = crate::agent::Manager::builder().backend(bundle()).client(client).extra_tool(tool);
    let mut session = manager.build().unwrap().start();
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let events = turn(&mut session).await;
    let told: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::ToolFinished { ok: true, result, .. } => {
                Some(result.lines().next().unwrap_or_default())
            }
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 7, "{events:?}");
    assert_eq!((told[0], told[1], told[5], told[6]), ("met", "met", "met", "met"));
    assert!(
        told[2].starts_with("Staged: new file") && told[4].starts_with("Staged: /wiki/a.md replaced"),
        "{told:?}"
    );
    let changes = session.staged.unwrap().changes();
    assert_eq!(changes.files[0].after.as_deref(), Some(&b"two\n"[..]));
}

#[tokio::test]
async fn an_interrupt_does_not_wait_for_a_call_that_hangs() {
    let client = Prepared::new([calls(&[("wait", json!({})), ("wait", json!({}))]), text("Well.")]);
    let tool = ExtraTool::new("wait", "Waits.", json!({"type": "object"}), |_| {
        std::thread::sleep(Duration::from_secs(2));
        Ok("waited".to_owned())
    });
    let manager = crate::agent::Manager::builder().backend(bundle()).client(client.clone()).extra_tool(tool);
    let mut session = manager.build().unwrap().start();
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    while !matches!(session.events.recv().await, Some(AgentEvent::ToolStarted { .. })) {}
    let started = std::time::Instant::now();
    session.commands.send(AgentCommand::Interrupt).unwrap();
    let events = turn(&mut session).await;
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    assert_eq!(events.last(), Some(&AgentEvent::Finished { interrupted: true }));
    session.commands.send(AgentCommand::Say("again".into())).unwrap();
    turn(&mut session).await;
    let request = client.requests.lock().unwrap()[1].clone();
    let told = request.messages.iter().filter(|message| {
        matches!(message, Message::Tool { content, .. } if content.contains("the person stopped you"))
    });
    assert_eq!(told.count(), 2, "each call is answered, and truthfully: {request:?}");
}
