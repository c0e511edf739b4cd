//! The faults of other harnesses that concern the loop: each number is its item in section 5 of the reference on harnesses,
//! each test the right behaviour.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::*;
use crate::agent::budget::Stop;
use crate::agent::client::Price;
use crate::agent::client::{Answer, Message, ModelError, ModelErrorKind, ModelEvent, Request, ToolCall};
use crate::agent::context;
use crate::agent::engine::Stream;
use crate::agent::event::Usage;
use crate::bundle::ChangeSet;
use crate::bundle::hunk::Resolved;
use crate::bundle::{Decision, MemoryBundle, PathPattern, Write, apply};
use crate::okf::BundlePath;

/// A model that answers by what it is asked. Keeps the requests.
pub(super) struct Brain<F> {
    think: F,
    requests: Mutex<Vec<Request>>,
}

pub(super) enum Said {
    /// So many tokens, one by one.
    Tokens(usize),
    Answer(Answer),
    Error(ModelErrorKind),
    /// Says this and then nothing more.
    Hangs(&'static str),
}

impl<F: Fn(usize, &Request) -> Said + Send + Sync + 'static> Brain<F> {
    /// `think` gets the number of the request, from 0, and the request.
    pub(super) fn new(think: F) -> Arc<Self> {
        Arc::new(Self { think, requests: Mutex::default() })
    }

    fn request(&self, at: usize) -> Request {
        self.requests.lock().unwrap()[at].clone()
    }

    pub(super) fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl<F: Fn(usize, &Request) -> Said + Send + Sync> ModelClient for Brain<F> {
    fn name(&self) -> &str {
        "brain"
    }

    fn stream(&self, request: Request) -> Stream {
        let said = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            (self.think)(requests.len() - 1, &request)
        };
        match said {
            Said::Answer(answer) => {
                let text = ModelEvent::Text(answer.text.clone());
                futures::stream::iter([Ok(text), Ok(ModelEvent::Done(answer))]).boxed()
            }
            Said::Tokens(count) => {
                let done = Answer { text: "token ".repeat(count), ..Answer::default() };
                let tokens = (0..count).map(|_| Ok(ModelEvent::Text("token ".into())));
                futures::stream::iter(tokens.chain([Ok(ModelEvent::Done(done))])).boxed()
            }
            Said::Error(kind) => {
                futures::stream::iter([Err(ModelError { kind, message: "refused".into() })]).boxed()
            }
            Said::Hangs(text) => futures::stream::iter([Ok(ModelEvent::Text(text.into()))])
                .chain(futures::stream::pending())
                .boxed(),
        }
    }
}

pub(super) fn says(text: &str) -> Said {
    Said::Answer(Answer { text: text.into(), ..Answer::default() })
}

pub(super) fn calls(calls: &[(&str, Value)]) -> Said {
    let calls = calls.iter().enumerate().map(|(at, (name, arguments))| ToolCall {
        id: format!("c{at}"),
        name: (*name).into(),
        arguments: arguments.to_string(),
        opaque: Default::default(),
    });
    Said::Answer(Answer { calls: calls.collect(), ..Answer::default() })
}

pub(super) fn write(path: &str, text: &str) -> (&'static str, Value) {
    ("write_file", json!({"file_path": path, "content": text}))
}

pub(super) fn task(description: &str) -> (&'static str, Value) {
    ("task", json!({"description": description}))
}

/// The first message of the person, by which an assistant is known.
pub(super) fn first(request: &Request) -> &str {
    match request.messages.get(1) {
        Some(Message::User { content }) => content,
        other => panic!("{other:?}"),
    }
}

/// Results of calls in a request, in order.
pub(super) fn results(request: &Request) -> Vec<&str> {
    request
        .messages
        .iter()
        .filter_map(|m| if let Message::Tool { content, .. } = m { Some(content.as_str()) } else { None })
        .collect()
}

pub(super) fn bundle() -> Arc<MemoryBundle> {
    Arc::new(MemoryBundle::new([("/wiki/index.md", "# Wiki\n"), ("/raw/a.txt", "a\nb\nc\n")]).unwrap())
}

pub(super) fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn manager(client: Arc<dyn ModelClient>, options: ManagerOptions) -> Session {
    let session = start_manager(bundle(), client, options);
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    session
}

/// A manager whose conversation is kept, gone on with from these records.
pub(super) fn manager_kept(
    base: Arc<MemoryBundle>,
    client: Arc<dyn ModelClient>,
    kept: &super::tests::Kept,
    past: Vec<record::Record>,
) -> Session {
    let keeping = Keeping { recorder: Some(Box::new(kept.clone())), past };
    keep_manager(base, client, ManagerOptions::default(), keeping)
}

async fn event(session: &mut Session) -> AgentEvent {
    tokio::time::timeout(Duration::from_secs(20), session.events.recv()).await.unwrap().unwrap()
}

pub(super) async fn turn(session: &mut Session) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    loop {
        let event = event(session).await;
        let last =
            matches!(event, AgentEvent::Finished { .. } | AgentEvent::Failed(_) | AgentEvent::Stopped(_));
        events.push(event);
        if last {
            return events;
        }
    }
}

const DONE: AgentEvent = AgentEvent::Finished { interrupted: false };

#[tokio::test]
async fn h28_writes_of_assistants_to_one_file_are_all_kept() {
    let edits = |name: &str| {
        let old = json!({"file_path": "/wiki/shared.md", "old_string": format!("{name}: open"), "new_string": format!("{name}: done")});
        (name.to_owned(), old)
    };
    let brain = Brain::new(move |_, request| {
        let asked = first(request);
        let done = results(request);
        match (asked, done.len()) {
            ("go", 0) => calls(&[write("/wiki/shared.md", "one: open\ntwo: open\nthree: open\n")]),
            ("go", 1) => calls(&[task("one"), task("two"), task("three")]),
            ("go", _) => says("Proposed."),
            // Until its edit is in: another may have come between reading and editing.
            (_, 0) => calls(&[("read_file", json!({"file_path": "/wiki/shared.md"}))]),
            (name, _) if !done.iter().any(|text| text.starts_with("Staged")) => {
                if done.last().is_some_and(|text| text.contains("has changed")) {
                    calls(&[("read_file", json!({"file_path": "/wiki/shared.md"}))])
                } else {
                    calls(&[("edit_file", edits(name).1)])
                }
            }
            _ => says("Did my part."),
        }
    });
    let mut session = manager(brain, ManagerOptions::default());
    assert_eq!(turn(&mut session).await.last(), Some(&DONE));
    let text = session.staged.unwrap().read(&path("/wiki/shared.md")).unwrap();
    assert_eq!(text, "one: done\ntwo: done\nthree: done\n");
}

#[tokio::test]
async fn h32_what_the_person_wrote_meanwhile_is_not_overwritten() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[("read_file", json!({"file_path": "/wiki/index.md"}))]),
        1 => calls(&[write("/wiki/index.md", "# Changed\n")]),
        _ => says("ok"),
    });
    let base = bundle();
    let mut session = start_manager(base.clone(), brain, ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    base.write(&path("/wiki/index.md"), b"# By hand\n").unwrap();
    let changes = session.staged.as_ref().unwrap().changes();
    let decisions =
        changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
    let applied = apply(base.as_ref(), &changes, &decisions);
    assert!(applied.landed.is_empty() && !applied.failed.is_empty());
    assert_eq!(base.read(&path("/wiki/index.md")).unwrap(), "# By hand\n");
}

/// Approves and writes the whole set, as the workbench does.
fn approve(session: &Session, base: &MemoryBundle, changes: ChangeSet) {
    let decisions =
        changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
    let applied = apply(base, &changes, &decisions);
    session
        .commands
        .send(AgentCommand::Reviewed { resolved: Resolved::whole(changes, decisions).into(), applied })
        .unwrap();
}

#[tokio::test]
async fn h34_the_model_is_told_what_landed_and_not_asked_to_do_it_again() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[write("/wiki/a.md", "x\n")]),
        _ => says("ok"),
    });
    let base = bundle();
    let mut session = start_manager(base.clone(), brain.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    let changes = session.staged.as_ref().unwrap().changes();
    approve(&session, base.as_ref(), changes);
    session.commands.send(AgentCommand::Say("next".into())).unwrap();
    turn(&mut session).await;
    let request = brain.request(2);
    let Some(Message::User { content }) = request.messages.last() else { panic!() };
    assert!(
        content.contains("written to the bundle:\n- /wiki/a.md") && content.ends_with("next"),
        "{content}"
    );
}

#[tokio::test]
async fn h38_a_conversation_that_is_too_long_is_shortened_and_asked_once_more() {
    let brain = Brain::new(|at, request| match at {
        0..4 => calls(&[("grep", json!({"pattern": "word", "path": "/raw/long.txt"}))]),
        4 => Said::Error(ModelErrorKind::ContextLength),
        5 if results(request).len() < 4 => says("Done."),
        _ => Said::Error(ModelErrorKind::ContextLength),
    });
    let base = Arc::new(MemoryBundle::new([("/raw/long.txt", "word ".repeat(70).as_str())]).unwrap());
    base.write(&path("/raw/long.txt"), format!("{}\n", "word ".repeat(70)).repeat(400).as_bytes()).unwrap();
    let mut session = start_manager(base, brain.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("Find the word.".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(events.iter().any(|e| matches!(e, AgentEvent::Compacted { .. })), "{:?}", events.last());
    assert_eq!(events.last(), Some(&DONE));
    let request = brain.request(5);
    let record = first(&request);
    assert!(record.starts_with(context::HEAD) && record.contains("Find the word."), "{record}");

    let never = Brain::new(|at, _| match at {
        0 => calls(&[("ls", json!({"path": "/"}))]),
        _ => Said::Error(ModelErrorKind::ContextLength),
    });
    let mut session = manager(never.clone(), ManagerOptions::default());
    assert!(matches!(turn(&mut session).await.last(), Some(AgentEvent::Failed(_))));
    assert_eq!(never.asked(), 2, "nothing could be left out, so the same is not asked again");

    let long = format!("{}\n", "word ".repeat(70)).repeat(400);
    let always = Brain::new(|at, _| match at {
        0..4 => calls(&[("grep", json!({"pattern": "word", "path": "/raw/long.txt"}))]),
        _ => Said::Error(ModelErrorKind::ContextLength),
    });
    let base = Arc::new(MemoryBundle::new([("/raw/long.txt", long.as_str())]).unwrap());
    let mut session = start_manager(base, always.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    assert!(matches!(turn(&mut session).await.last(), Some(AgentEvent::Failed(_))));
    assert_eq!(always.asked(), 6, "one more try and no second");
}

#[tokio::test]
async fn a_person_has_a_conversation_shortened_between_turns_and_not_within_one() {
    let long = format!("{}\n", "word ".repeat(20)).repeat(90);
    let brain = Brain::new(|at, _| match at {
        0 | 2 => calls(&[("read_file", json!({"file_path": "/raw/long.txt"}))]),
        _ => says("Done."),
    });
    let base = Arc::new(MemoryBundle::new([("/raw/long.txt", long.as_str())]).unwrap());
    let mut session = start_manager(base, brain.clone(), ManagerOptions::default());
    let compacted = |events: &[AgentEvent]| -> Vec<usize> {
        let left_out = |event: &AgentEvent| match event {
            AgentEvent::Compacted { left_out } => Some(*left_out),
            _ => None,
        };
        events.iter().filter_map(left_out).collect()
    };
    // Nothing is said yet.
    session.commands.send(AgentCommand::Compact).unwrap();
    session.commands.send(AgentCommand::Say("Read it.".into())).unwrap();
    assert_eq!(compacted(&turn(&mut session).await), [0]);
    session.commands.send(AgentCommand::Say("Read it again.".into())).unwrap();
    // The turn has begun by now, or begins before this is looked at.
    session.commands.send(AgentCommand::Compact).unwrap();
    assert_eq!(compacted(&turn(&mut session).await), [] as [usize; 0]);
    session.commands.send(AgentCommand::Compact).unwrap();
    session.commands.send(AgentCommand::Say("And now?".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(compacted(&events)[0] > 0, "{events:?}");
    assert_eq!(brain.asked(), 5, "no model is asked for it");
    let request = brain.request(4);
    let record = first(&request);
    assert!(record.starts_with(context::HEAD) && record.contains("Read it."), "{record}");
    assert!(matches!(request.messages.last(), Some(Message::User { content }) if content == "And now?"));
    assert!(request.messages.len() < brain.request(3).messages.len());
}

/// A client whose endpoint tells the model's window.
struct Windowed {
    client: Arc<dyn ModelClient>,
    window: u64,
}

impl ModelClient for Windowed {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn stream(&self, request: Request) -> Stream {
        self.client.stream(request)
    }

    fn context_window(&self) -> futures::future::BoxFuture<'_, Option<u64>> {
        Box::pin(std::future::ready(Some(self.window)))
    }
}

#[tokio::test]
async fn h41_a_known_window_is_kept_to_before_the_server_refuses() {
    let brain = Brain::new(|at, _| match at {
        0..12 => calls(&[("read_file", json!({"file_path": "/raw/long.txt"}))]),
        _ => says("Done."),
    });
    let long = "word word word word word word word word\n".repeat(400);
    let base = Arc::new(MemoryBundle::new([("/raw/long.txt", long.as_str())]).unwrap());
    let client = Arc::new(Windowed { client: brain.clone(), window: 16_000 });
    let mut session = start_manager(base, client, ManagerOptions::default());
    session.commands.send(AgentCommand::Say("Read it.".into())).unwrap();
    assert_eq!(turn(&mut session).await.last(), Some(&DONE));
    let longest = brain.requests.lock().unwrap().iter().map(|r| results(r).concat().len() / 4).max();
    assert!(longest.unwrap() < 16_000, "{longest:?}");
}

#[tokio::test]
async fn h43_calls_of_a_cut_answer_are_never_run() {
    let brain = Brain::new(|at, _| match (at, calls(&[write("/wiki/a.md", "half")])) {
        (0, Said::Answer(answer)) => Said::Answer(Answer { cut: true, ..answer }),
        _ => says("ok"),
    });
    let mut session = manager(brain, ManagerOptions::default());
    assert_eq!(turn(&mut session).await.last(), Some(&DONE));
    assert!(session.staged.unwrap().changes().is_empty());
}

#[tokio::test]
async fn h44_an_assistant_that_fails_takes_no_sibling_with_it() {
    let brain = Brain::new(|_, request| match (first(request), results(request).len()) {
        ("go", 0) => calls(&[task("fails"), task("works"), ("ls", json!({"path": "/wiki"}))]),
        ("go", _) => says("Proposed."),
        ("fails", _) => Said::Error(ModelErrorKind::Provider),
        ("works", 0) => {
            calls(&[write("/wiki/a.md", "x\n"), ("read_file", json!({"file_path": "/raw/a.txt"}))])
        }
        _ => says("Wrote /wiki/a.md."),
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    let events = turn(&mut session).await;
    assert_eq!(events.last(), Some(&DONE));
    let request = brain.request(brain.asked() - 1);
    let told = results(&request);
    assert!(told[0].contains("not done: refused"), "{}", told[0]);
    for part in ["Status: done", "Wrote /wiki/a.md.", "Staged by it: /wiki/a.md", "/raw/a.txt: all 3 lines"] {
        assert!(told[1].contains(part), "{part} in {}", told[1]);
    }
    assert!(told[2].contains("/wiki/index.md"));
    assert!(events.iter().any(|e| matches!(e, AgentEvent::Staged(_))));
    assert!(
        events
            .iter()
            .any(|e| matches!(e, AgentEvent::SourcesRead(read) if read[0].path == path("/raw/a.txt")))
    );
}

#[tokio::test]
async fn h44_a_call_that_fails_hides_no_write_beside_it() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[
            write("/wiki/a.md", "x\n"),
            write("/.git/config", "x"),
            ("read_file", json!({"file_path": "/wiki/none.md"})),
            write("/wiki/b.md", "y\n"),
            ("no_such_tool", json!({})),
        ]),
        1 => Said::Error(ModelErrorKind::Provider),
        _ => says("ok"),
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    assert!(matches!(turn(&mut session).await.last(), Some(AgentEvent::Failed(_))));
    session.commands.send(AgentCommand::Say("go on".into())).unwrap();
    assert_eq!(turn(&mut session).await.last(), Some(&DONE));
    let request = brain.request(2);
    let told = results(&request);
    let begins = [
        "Staged: new file /wiki/a.md",
        "/.git/config: permission denied",
        "/wiki/none.md: no such file",
        "Staged: new file /wiki/b.md",
        "There is no tool",
    ];
    assert_eq!(told.len(), begins.len());
    for (told, begin) in told.iter().zip(begins) {
        assert!(told.starts_with(begin), "{told}");
    }
    assert_eq!(session.staged.unwrap().changes().files.len(), 2);
}

#[tokio::test]
async fn h45_a_report_says_how_it_ended_and_what_was_staged_and_used() {
    let usage = |said: Said| match said {
        Said::Answer(answer) => {
            Said::Answer(Answer { usage: Some(Usage { input: 10, output: 2, ..Usage::default() }), ..answer })
        }
        other => other,
    };
    let brain = Brain::new(move |_, request| match (first(request), results(request).len()) {
        ("go", 0) => calls(&[task("silent")]),
        ("go", _) => says("ok"),
        (_, 0) => usage(calls(&[write("/wiki/a.md", "x\n")])),
        _ => usage(says("")),
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    turn(&mut session).await;
    let request = brain.request(brain.asked() - 1);
    let told = results(&request)[0];
    for part in [
        "not done: The model's answer was empty",
        "3 steps, 30 tokens in, 6 out",
        "It said nothing",
        "Staged by it: /wiki/a.md",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[tokio::test]
async fn an_assistant_has_no_assistants_the_same_rules_and_a_conversation_of_its_own() {
    let brain = Brain::new(|_, request| match (first(request), results(request).len()) {
        ("go", 0) => calls(&[task("part")]),
        ("go", _) => says("ok"),
        (_, 0) => calls(&[task("more"), write("/raw/x.md", "y")]),
        _ => says("no"),
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    turn(&mut session).await;
    let of_child = brain.request(2);
    assert!(of_child.tools.iter().all(|tool| tool.name != "task"));
    assert!(results(&of_child)[0].contains("no tool `task`") && results(&of_child)[1].contains("denied"));
    assert_eq!(of_child.messages.len(), 5, "system, task, calls, two results");
}

#[tokio::test]
async fn limits_are_shared_with_assistants_and_end_with_a_reason() {
    let brain = Brain::new(|_, request| match first(request) {
        "go" if results(request).is_empty() => calls(&[task("endless")]),
        "go" => says("ok"),
        _ => calls(&[("ls", json!({"path": "/wiki"}))]),
    });
    let limits = Limits { steps: 10, ..Limits::default() };
    let mut session = manager(brain.clone(), ManagerOptions { limits, ..ManagerOptions::default() });
    let events = turn(&mut session).await;
    assert_eq!(events.last(), Some(&AgentEvent::Stopped(Stop::Steps(10))));
    assert_eq!(brain.asked(), 10);
    let warned = brain
        .request(9)
        .messages
        .iter()
        .any(|m| matches!(m, Message::User { content } if content.contains("Of the steps allowed")));
    assert!(warned, "the model is told before");
    let told = events.iter().find_map(|e| match e {
        AgentEvent::ToolFinished { ok: false, result, .. } => Some(result.clone()),
        _ => None,
    });
    assert!(told.unwrap().contains("not done: Stopped after 10 steps"));
}

#[tokio::test]
async fn h63_tokens_money_and_time_stop_a_session() {
    let endless = || {
        Brain::new(|_, _| match calls(&[("ls", json!({"path": "/wiki"}))]) {
            Said::Answer(answer) => Said::Answer(Answer {
                usage: Some(Usage { input: 100, output: 0, ..Usage::default() }),
                ..answer
            }),
            other => other,
        })
    };
    let price = Price { input: 1_000_000, cached: None, output: 0 };
    for (limits, reason, asked) in [
        (Limits { tokens: Some(300), ..Limits::default() }, Stop::Tokens(300), 3),
        (Limits { money: Some(200), price, ..Limits::default() }, Stop::Money(200), 2),
    ] {
        let brain = endless();
        let mut session = manager(brain.clone(), ManagerOptions { limits, ..ManagerOptions::default() });
        assert_eq!(turn(&mut session).await.last(), Some(&AgentEvent::Stopped(reason)));
        assert_eq!(brain.asked(), asked);
    }
    let hanging = Brain::new(|_, _| Said::Hangs("half"));
    let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
    let mut session = manager(hanging, ManagerOptions { limits, ..ManagerOptions::default() });
    assert_eq!(turn(&mut session).await.last(), Some(&AgentEvent::Stopped(Stop::Time(1))));
}

#[tokio::test]
async fn an_interrupt_ends_assistants_too_within_200_ms_and_what_they_staged_is_told() {
    let brain = Brain::new(|_, request| match (first(request), results(request).len()) {
        ("go", 0) => calls(&[task("one"), task("two")]),
        ("go", _) => says("ok"),
        (name, 0) => calls(&[write(&format!("/wiki/{name}.md"), "x\n")]),
        _ => Said::Hangs("thinking"),
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    while brain.asked() < 5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let started = Instant::now();
    session.commands.send(AgentCommand::Interrupt).unwrap();
    let events = turn(&mut session).await;
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    assert_eq!(events.last(), Some(&AgentEvent::Finished { interrupted: true }));
    let told: Vec<&String> = events
        .iter()
        .filter_map(|e| if let AgentEvent::ToolFinished { result, .. } = e { Some(result) } else { None })
        .collect();
    assert!(told.iter().all(|text| text.contains("stopped by the person")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("Staged by it: /wiki/one.md")), "{told:?}");
    assert_eq!(session.staged.unwrap().changes().files.len(), 2);
}

#[tokio::test]
async fn a_long_answer_takes_time_in_proportion_to_its_length() {
    let mut best = [f64::MAX; 4];
    for (at, count) in [10_000, 20_000, 40_000, 80_000].into_iter().enumerate() {
        for _ in 0..3 {
            let mut session = manager(Brain::new(move |_, _| Said::Tokens(count)), ManagerOptions::default());
            let started = Instant::now();
            assert_eq!(turn(&mut session).await.last(), Some(&DONE));
            best[at] = best[at].min(started.elapsed().as_secs_f64());
        }
    }
    assert!(best[3] < 8.0 * best[1], "{best:?}");
}

#[tokio::test]
async fn n09_calls_in_circles_that_never_fail_or_are_never_the_same_end_at_the_limit_which_is_told() {
    for varied in [false, true] {
        let brain = Brain::new(move |at, _| {
            let pattern = if varied { format!("word {at}") } else { "word".to_owned() };
            calls(&[if at % 2 == 0 {
                ("grep", json!({"pattern": pattern}))
            } else {
                ("ls", json!({"path": "/wiki"}))
            }])
        });
        let mut session = manager(brain.clone(), ManagerOptions::default());
        let events = turn(&mut session).await;
        assert_eq!(events.last(), Some(&AgentEvent::Stopped(Stop::Steps(100))));
        assert_eq!(brain.asked(), 100);
        // The model was warned before.
        let warned = |m: &Message| matches!(m, Message::User { content } if content.contains("80 in 100"));
        assert!(brain.request(99).messages.iter().any(warned));
    }
}

#[tokio::test]
async fn h62_partial_text_is_kept_after_an_interrupt() {
    let brain = Brain::new(|at, _| if at == 0 { Said::Hangs("half an answer") } else { says("ok") });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    while event(&mut session).await != AgentEvent::Text("half an answer".into()) {}
    let started = Instant::now();
    session.commands.send(AgentCommand::Interrupt).unwrap();
    turn(&mut session).await;
    assert!(started.elapsed() < Duration::from_millis(200));
    session.commands.send(AgentCommand::Say("again".into())).unwrap();
    turn(&mut session).await;
    let request = brain.request(1);
    assert!(
        request
            .messages
            .iter()
            .any(|m| matches!(m, Message::Assistant { content, .. } if content == "half an answer"))
    );
}

#[tokio::test]
async fn a_word_during_a_turn_is_told_with_the_next_step() {
    let gate = Arc::new(AtomicUsize::new(0));
    let held = gate.clone();
    let brain = Brain::new(move |at, _| {
        // The first answer comes when the second word is queued.
        while at == 0 && held.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        if at == 0 { calls(&[("ls", json!({"path": "/wiki"}))]) } else { says("ok") }
    });
    let mut session = manager(brain.clone(), ManagerOptions::default());
    session.commands.send(AgentCommand::Say("in English".into())).unwrap();
    gate.store(1, Ordering::SeqCst);
    let events = turn(&mut session).await;
    assert!(events.contains(&AgentEvent::Steered { message: "in English".into() }), "{events:?}");
    assert_eq!(brain.asked(), 2);
    assert!(
        matches!(brain.request(1).messages.last(), Some(Message::User { content }) if content == "in English")
    );
}

#[tokio::test]
async fn h33_a_review_after_each_write_holds_the_turn_and_shows_all_of_it() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[write("/wiki/a.md", "x\n")]),
        1 => calls(&[("ls", json!({"path": "/wiki"}))]),
        _ => says("ok"),
    });
    let base = bundle();
    let approval = Approval { when: When::Write, automatic: Vec::new() };
    let options = ManagerOptions { approval, ..ManagerOptions::default() };
    let mut session = start_manager(base.clone(), brain.clone(), options);
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let changes = loop {
        if let AgentEvent::AwaitingReview(changes) = event(&mut session).await {
            break changes;
        }
    };
    assert_eq!(changes.files[0].after.as_deref(), Some(&b"x\n"[..]));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(brain.asked(), 1, "it waits");
    approve(&session, base.as_ref(), changes);
    assert_eq!(turn(&mut session).await.last(), Some(&DONE));
    assert_eq!(brain.asked(), 3);
    let request = brain.request(1);
    assert!(
        matches!(request.messages.last(), Some(Message::User { content }) if content.contains("- /wiki/a.md")),
        "{request:?}"
    );
}

#[tokio::test]
async fn h36_named_paths_are_approved_at_once_and_the_rest_is_reviewed() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[write("/wiki/log.md", "x\n"), write("/wiki/a.md", "y\n")]),
        _ => says("ok"),
    });
    let base = bundle();
    let automatic = vec![PathPattern::new("/wiki/log.md").unwrap()];
    let approval = Approval { when: When::Turn, automatic };
    let options = ManagerOptions { approval, ..ManagerOptions::default() };
    let mut session = start_manager(base.clone(), brain, options);
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(!events.iter().any(|e| matches!(e, AgentEvent::AwaitingReview(_))));
    let Some(AgentEvent::Approved { changes, decisions }) =
        events.into_iter().find(|e| matches!(e, AgentEvent::Approved { .. }))
    else {
        panic!()
    };
    let applied = apply(base.as_ref(), &changes, &decisions);
    assert_eq!(applied.landed, [path("/wiki/log.md")]);
    session
        .commands
        .send(AgentCommand::Reviewed { resolved: Resolved::whole(changes, decisions).into(), applied })
        .unwrap();
    let AgentEvent::AwaitingReview(rest) = event(&mut session).await else { panic!() };
    assert_eq!(rest.files.len(), 1);
    assert_eq!(rest.files[0].path, path("/wiki/a.md"));
}

#[tokio::test]
async fn what_would_replace_somebodys_text_is_never_approved_by_a_setting() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[
            ("read_file", json!({"file_path": "/wiki/index.md"})),
            write("/wiki/index.md", "# Changed\n"),
        ]),
        2 => calls(&[write("/wiki/a.md", "x\n")]),
        _ => says("ok"),
    });
    let base = bundle();
    let automatic = vec![PathPattern::new("/wiki/*.md").unwrap()];
    let approval = Approval { when: When::Turn, automatic };
    let options = ManagerOptions { approval, ..ManagerOptions::default() };
    let mut session = start_manager(base.clone(), brain, options);
    session.commands.send(AgentCommand::Say("go".into())).unwrap();
    turn(&mut session).await;
    base.write(&path("/wiki/index.md"), b"# By hand\n").unwrap();
    session.commands.send(AgentCommand::Rebase).unwrap();
    let AgentEvent::Rebased(moved) = event(&mut session).await else { panic!() };
    assert_eq!(moved, [Moved { path: path("/wiki/index.md"), how: Carried::Contested }]);
    let AgentEvent::Staged(changes) = event(&mut session).await else { panic!() };
    assert_eq!(changes.files[0].before.as_deref(), Some(&b"# By hand\n"[..]), "over what stands there");
    session.commands.send(AgentCommand::Say("on".into())).unwrap();
    let events = turn(&mut session).await;
    let approved = events.iter().find_map(|event| match event {
        AgentEvent::Approved { decisions, .. } => Some(decisions.keys().cloned().collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(approved, Some(vec![path("/wiki/a.md")]));
    session.commands.send(AgentCommand::Rebase).unwrap();
    session.commands.send(AgentCommand::Say("done".into())).unwrap();
    let events = turn(&mut session).await;
    assert!(!events.iter().any(|e| matches!(e, AgentEvent::Rebased(_))), "nothing moved, nothing is said");
}

#[tokio::test]
async fn what_was_read_of_a_source_is_shown_at_the_end_of_the_turn() {
    let brain = Brain::new(|at, _| match at {
        0 => calls(&[
            ("read_file", json!({"file_path": "/raw/a.txt", "limit": 2})),
            ("read_file", json!({"file_path": "/wiki/index.md"})),
        ]),
        _ => says("ok"),
    });
    let mut session = manager(brain, ManagerOptions::default());
    let events = turn(&mut session).await;
    let Some(AgentEvent::SourcesRead(read)) = events.iter().find(|e| matches!(e, AgentEvent::SourcesRead(_)))
    else {
        panic!("{events:?}")
    };
    assert_eq!(read.iter().map(ToString::to_string).collect::<Vec<_>>(), ["/raw/a.txt: 2 of 3 lines (1-2)"]);
}
