//! Records that come back, files that were damaged, and sessions taken up again.

use std::collections::BTreeSet;

use super::*;
use crate::agent::client::{Answer, Message, ModelError, ModelErrorKind, ToolCall};
use crate::agent::event::{Todo, TodoStatus, Usage};

fn change(name: &str, kind: ChangeKind, before: Option<&[u8]>, after: Option<&[u8]>) -> FileChange {
    let path = BundlePath::parse(name).unwrap();
    FileChange { path, kind, before: before.map(Arc::from), after: after.map(Arc::from) }
}

fn set(files: Vec<FileChange>) -> ChangeSet {
    ChangeSet { id: 1, files }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: "{\"a\":\"\u{2028}\\n\"}".into(),
        opaque: Default::default(),
    }
}

fn answer(text: &str, calls: &[ToolCall]) -> Input {
    let usage = Some(Usage { input: 7, cached: 2, output: 3 });
    Input::Model(ModelEvent::Done(Answer {
        text: text.into(),
        calls: calls.to_vec(),
        usage,
        ..Answer::default()
    }))
}

fn done(call: u64, ok: bool) -> Input {
    let todos = Some(vec![Todo { content: "x".into(), status: TodoStatus::InProgress }]);
    Input::ToolDone {
        call: CallId(call),
        ok,
        text: format!("r{call}"),
        todos,
        elapsed: Duration::from_millis(3),
        ran: None,
    }
}

/// Keeps the lines; after so many it fails.
#[derive(Clone, Default)]
struct Lines(Arc<std::sync::Mutex<Vec<u8>>>, Option<usize>);

impl Recorder for Lines {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        let mut lines = self.0.lock().unwrap();
        if self.1.is_some_and(|most| lines.iter().filter(|b| **b == b'\n').count() >= most) {
            return Err(io::Error::other("the disk is full"));
        }
        lines.extend(serde_json::to_vec(record).unwrap());
        lines.push(b'\n');
        Ok(())
    }
}

/// A conversation with everything in it, and what was recorded of it.
fn conversation() -> (Loop, Vec<u8>) {
    let lines = Lines::default();
    let mut log = Log::new(Some(Box::new(lines.clone())), &ChangeSet::default());
    let mut machine = Loop::new("system".into(), Vec::new());
    let inputs = [
        Input::Say("one\n\"two\"".into()),
        Input::Model(ModelEvent::Reasoning("hm".into())),
        Input::Model(ModelEvent::Text("I ".into())),
        Input::Model(ModelEvent::Text("look".into())),
        answer("I look", &[call("x", "ls"), call("y", "write_file")]),
        done(2, true),
        done(1, false),
        Input::Model(ModelEvent::Text("half".into())),
        Input::ModelFailed(ModelError { kind: ModelErrorKind::Cut, message: "broke off".into() }),
        Input::Reviewed { note: "landed".into(), answer: false },
        Input::Say("three".into()),
        Input::Model(ModelEvent::Text("stop".into())),
        Input::Interrupt,
    ];
    for input in inputs {
        log.input(&input);
        machine.step(input);
    }
    let bytes = lines.0.lock().unwrap().clone();
    (machine, bytes)
}

#[test]
fn the_same_conversation_comes_back_from_its_records() {
    let (wanted, bytes) = conversation();
    let loaded = load(bytes.as_slice()).unwrap();
    assert_eq!(loaded.skipped, 0);
    let mut machine = Loop::new("system".into(), Vec::new());
    let restored = restore(&mut machine, &loaded.records);
    assert_eq!(machine.messages(), wanted.messages());
    assert_eq!(restored.repairs, []);
    let said: Vec<_> = restored.events.iter().filter(|e| matches!(e, AgentEvent::Said(_))).collect();
    assert_eq!(said.len(), 2);
    assert!(restored.events.contains(&AgentEvent::Text("I look".into())), "pieces are joined");
    assert!(restored.events.contains(&AgentEvent::Reasoning("hm".into())));
    assert_eq!(restored.events.last(), Some(&AgentEvent::Finished { interrupted: true }));
    // Recorded again it is the same, byte for byte.
    let lines = Lines::default();
    let mut log = Log::new(Some(Box::new(lines.clone())), &ChangeSet::default());
    for record in &loaded.records {
        if let Record::Input { input } = record {
            log.input(input);
        }
    }
    assert_eq!(*lines.0.lock().unwrap(), bytes);
}

#[test]
fn a_session_that_was_cut_off_anywhere_rests_and_is_well_formed() {
    let (_, bytes) = conversation();
    let lines = bytes.split_inclusive(|b| *b == b'\n').count();
    for kept in 0..=lines {
        let part: Vec<u8> = bytes.split_inclusive(|b| *b == b'\n').take(kept).flatten().copied().collect();
        let mut machine = Loop::new("system".into(), Vec::new());
        let restored = restore(&mut machine, &load(part.as_slice()).unwrap().records);
        assert!(machine.is_idle(), "{kept}");
        let mut open = Vec::new();
        for message in machine.messages() {
            match message {
                Message::Assistant { calls, .. } => {
                    assert!(open.is_empty(), "{kept}");
                    open.extend(calls.iter().map(|call| call.id.clone()));
                }
                Message::Tool { call, .. } => open.retain(|id| id != call),
                _ => assert!(open.is_empty(), "{kept}"),
            }
        }
        assert!(open.is_empty(), "{kept}");
        // What was told at last leaves a conversation that needs no repair.
        let mut records = load(part.as_slice()).unwrap().records;
        records.extend(restored.repairs.into_iter().map(|input| Record::Input { input }));
        let mut again = Loop::new("system".into(), Vec::new());
        assert_eq!(restore(&mut again, &records).repairs, [], "{kept}");
        assert_eq!(again.messages(), machine.messages(), "{kept}");
    }
}

#[test]
fn d12_what_no_model_takes_is_mended_before_the_next_request() {
    let calls = [
        ToolCall { arguments: "{\"file_path\": \"/wi".into(), ..call("", "write_file") },
        ToolCall { arguments: String::new(), ..call("", "ls") },
        call("same", "ls"),
        call("same", ""),
        call("null", "grep"),
    ];
    let mut records = vec![
        Record::Input { input: Input::Say("go".into()) },
        Record::Input { input: answer("", &calls) },
        Record::Input { input: done(1, true) },
        Record::Input { input: done(1, true) },
        Record::Input { input: done(77, true) },
    ];
    let lines: String = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    records = load(lines.as_bytes()).unwrap().records;
    let mut machine = Loop::new("system".into(), Vec::new());
    restore(&mut machine, &records);
    let effects = machine.step(Input::Say("go on".into()));
    let request = effects.into_iter().find_map(|effect| match effect {
        Effect::Ask(request) => Some(request),
        _ => None,
    });
    let mut open: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    for message in request.unwrap().messages {
        match message {
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "{open:?}");
                for call in calls {
                    assert!(!call.id.is_empty() && ids.insert(call.id.clone()), "{}", call.id);
                    assert!(!call.name.is_empty());
                    open.push(call.id);
                }
            }
            Message::Tool { call, .. } => assert_eq!(call, open.remove(0)),
            _ => assert!(open.is_empty(), "{open:?}"),
        }
    }
}

#[test]
fn a_long_session_is_taken_up_again_in_time_in_proportion_to_its_length() {
    let best = |turns: usize| {
        let one = |nth: usize| {
            let inputs = [
                Input::Say(format!("{nth}?")),
                answer("", &[call("x", "ls")]),
                done(nth as u64 + 1, true),
                answer(&"word ".repeat(100), &[]),
            ];
            inputs.map(|input| Record::Input { input })
        };
        let records: Vec<Record> = (0..turns).flat_map(one).collect();
        let once = |_| {
            let started = std::time::Instant::now();
            let mut machine = Loop::new("system".into(), Vec::new());
            restore(&mut machine, &records);
            assert_eq!(machine.messages().len(), 1 + turns * 4);
            started.elapsed().as_secs_f64()
        };
        (0..3).map(once).fold(f64::MAX, f64::min)
    };
    let (single, double, four) = (best(1_000), best(2_000), best(4_000));
    assert!(four < 8.0 * single || four < 3.0 * double, "{single} {double} {four}");
}

#[test]
fn d11_a_session_of_100_megabytes_loads_past_what_is_torn() {
    let line = |input| serde_json::to_string(&Record::Input { input }).unwrap() + "\n";
    let said = line(Input::Say("go".into()));
    let turn = said.clone() + &line(answer(&"word ".repeat(20_000), &[]));
    let mut bytes = Vec::with_capacity(102 << 20);
    let mut turns = 0;
    while bytes.len() < 100 << 20 {
        bytes.extend_from_slice(turn.as_bytes());
        turns += 1;
        if turns == 500 {
            bytes.extend_from_slice(&[0; 1 << 20]);
            bytes.extend_from_slice(turn.as_bytes());
            bytes.extend_from_slice(b"{\"kind\":\"input\",\"inp\n");
        }
    }
    bytes.extend_from_slice(&turn.as_bytes()[..turn.len() / 2]);
    let loaded = load(bytes.as_slice()).unwrap();
    // The turn behind the zeros is there, and the last question; the cut line in the middle and the torn end are not.
    assert_eq!((loaded.records.len(), loaded.skipped), (2 * (turns + 1) + 1, 2));
    let mut machine = Loop::new("system".into(), Vec::new());
    restore(&mut machine, &loaded.records);
    assert_eq!(machine.messages().len(), 1 + 2 * (turns + 1) + 1);
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let (_, bytes) = conversation();
    let whole = load(bytes.as_slice()).unwrap().records;
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    lines.insert(1, b"\n\n  \n".to_vec());
    lines.insert(2, b"{\"kind\":\"input\",\"inp\n".to_vec());
    lines.insert(3, vec![0; 4096]);
    lines.insert(5, b"\xff\xfe\n".to_vec());
    lines.push(b"{\"kind\":\"later\",\"what\":[1]}\n".to_vec());
    lines.push(b"{\"kind\":\"input\",\"input\":{\"say\":\"to".to_vec());
    let loaded = load(lines.concat().as_slice()).unwrap();
    assert_eq!(loaded.skipped, 3);
    let (last, rest) = loaded.records.split_last().unwrap();
    assert_eq!((last, rest), (&Record::Unknown, whole.as_slice()));
    // A field of a later version.
    let record: Record = serde_json::from_str(r#"{"kind":"landed","paths":["/a.md"],"by":"x"}"#).unwrap();
    assert_eq!(record, Record::Landed { paths: vec!["/a.md".into()], changed: Vec::new() });
}

#[test]
fn pending_changes_come_back_of_every_kind() {
    let lines = Lines::default();
    let mut log = Log::new(Some(Box::new(lines.clone())), &ChangeSet::default());
    let first = set(vec![
        change("/a.md", ChangeKind::Create, None, Some(b"a")),
        change("/b.md", ChangeKind::Modify, Some(b"b\r\n"), Some(b"B\r\n")),
        change("/gone.md", ChangeKind::Delete, Some(b"g"), None),
    ]);
    log.staged(&first);
    let from = BundlePath::parse("/i.png").unwrap();
    let second = set(vec![
        change("/b.md", ChangeKind::Modify, Some(b"b\r\n"), Some(b"BB\r\n")),
        change("/gone.md", ChangeKind::Delete, Some(b"g"), None),
        change("/j.png", ChangeKind::Rename { from }, Some(b"\x89\xff"), Some(b"\x89\xff")),
    ]);
    log.staged(&second);
    log.staged(&second);
    let loaded = load(lines.0.lock().unwrap().as_slice()).unwrap();
    assert_eq!(loaded.records.len(), 2, "what has not changed is not written again");
    let restored = restore(&mut Loop::new(String::new(), Vec::new()), &loaded.records);
    assert_eq!(restored.staged.files, second.files);

    let bundle = crate::bundle::MemoryBundle::new([("/b.md", "b\r\n"), ("/gone.md", "g")]).unwrap();
    let staged = crate::bundle::Staged::new(Arc::new(bundle), crate::bundle::Rules::manager(true));
    staged.restore(&restored.staged);
    assert_eq!(staged.changes().files, second.files);
    // What makes no sense is left out.
    for bad in [
        r#"{"path":"../x","after":"a","before":null}"#,
        r#"{"path":"/x","after":null,"before":null}"#,
        r#"{"path":"/x","after":{"base64":"%"},"before":null}"#,
    ] {
        assert_eq!(serde_json::from_str::<StagedFile>(bad).unwrap().change(), None, "{bad}");
    }
}

#[test]
fn a_disk_that_is_full_is_told_once() {
    let mut log = Log::new(Some(Box::new(Lines(Arc::default(), Some(1)))), &ChangeSet::default());
    log.input(&Input::Interrupt);
    assert!(log.trouble().is_none());
    log.input(&Input::Interrupt);
    assert_eq!(log.trouble().unwrap().to_string(), "the disk is full");
    log.input(&Input::Interrupt);
    assert!(log.trouble().is_none());
}
