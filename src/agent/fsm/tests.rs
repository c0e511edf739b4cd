//! The state machine on its own: inputs in, effects out.

use super::*;
use crate::agent::client::ModelErrorKind;

fn machine() -> Loop {
    Loop::new("system".into(), Vec::new())
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: "{}".into(), opaque: Default::default() }
}

fn calls(calls: &[ToolCall]) -> Input {
    Input::Model(ModelEvent::Done(Answer { calls: calls.to_vec(), ..Answer::default() }))
}

fn says(text: &str) -> Input {
    Input::Model(ModelEvent::Done(Answer { text: text.into(), ..Answer::default() }))
}

fn done(id: u64, ok: bool) -> Input {
    Input::ToolDone {
        call: CallId(id),
        ok,
        text: format!("result {id}"),
        todos: None,
        ran: None,
        elapsed: Duration::ZERO,
    }
}

fn asks(effects: &[Effect]) -> Option<&Request> {
    effects.iter().find_map(|e| if let Effect::Ask(request) = e { Some(request) } else { None })
}

fn ended(effects: &[Effect]) -> Option<&AgentEvent> {
    effects.iter().find_map(|e| if let Effect::EndTurn(event) = e { Some(event) } else { None })
}

/// Every call of an assistant message has exactly one result right behind it.
fn assert_well_formed(messages: &[Message]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| id == call).expect("a result without a call");
                open.remove(at);
            }
            other => {
                assert!(open.is_empty(), "unanswered calls {open:?} before {other:?}");
                if let Message::Assistant { calls, .. } = other {
                    open = calls.iter().map(|c| c.id.clone()).collect();
                }
            }
        }
    }
    assert!(open.is_empty(), "unanswered calls {open:?}");
}

#[test]
fn a_question_and_its_answer() {
    let mut machine = machine();
    let effects = machine.step(Input::Say("hello".into()));
    assert_eq!(effects[0], Effect::Emit(AgentEvent::TurnStarted { message: "hello".into() }));
    assert_eq!(asks(&effects).unwrap().messages.len(), 2);
    let effects = machine.step(Input::Model(ModelEvent::Text("hi".into())));
    assert_eq!(effects, [Effect::Emit(AgentEvent::Text("hi".into()))]);
    let effects = machine.step(says("hi"));
    assert_eq!(ended(&effects), Some(&AgentEvent::Finished { interrupted: false }));
    assert!(machine.is_idle());
}

#[test]
fn results_stand_in_call_order_whatever_order_they_come_in() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    let effects = machine.step(calls(&[call("a", "ls"), call("b", "ls")]));
    assert!(matches!(effects.last(), Some(Effect::RunTools(run)) if run.len() == 2));
    assert!(asks(&machine.step(done(2, true))).is_none());
    let effects = machine.step(done(1, true));
    let request = asks(&effects).unwrap();
    let results: Vec<&Message> = request.messages.iter().skip(3).collect();
    assert!(matches!(results[0], Message::Tool { call, content } if call == "a" && content == "result 1"));
    assert!(matches!(results[1], Message::Tool { call, .. } if call == "b"));
    assert_well_formed(&request.messages);
}

#[test]
fn a_second_result_for_a_call_is_ignored() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(calls(&[call("a", "ls"), call("b", "ls")]));
    machine.step(done(1, true));
    assert!(machine.step(done(1, true)).is_empty());
    assert!(machine.step(done(7, true)).is_empty());
}

#[test]
fn an_interrupt_while_answering_keeps_the_partial_text() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(Input::Model(ModelEvent::Text("half an ans".into())));
    let effects = machine.step(Input::Interrupt);
    assert_eq!(effects[0], Effect::CancelAsk);
    assert_eq!(ended(&effects), Some(&AgentEvent::Finished { interrupted: true }));
    assert!(
        matches!(machine.messages().last(), Some(Message::Assistant { content, .. }) if content == "half an ans")
    );
    // What still arrives of the cancelled answer is dropped.
    assert!(machine.step(says("late")).is_empty());
    let effects = machine.step(Input::Say("next".into()));
    let Some(Message::User { content }) = asks(&effects).unwrap().messages.last() else { panic!() };
    assert!(content.contains("stopped your last answer") && content.ends_with("next"), "{content}");
}

#[test]
fn an_interrupt_during_calls_waits_for_their_results_and_ends() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(calls(&[call("a", "write_file"), call("b", "write_file")]));
    assert_eq!(machine.step(Input::Interrupt), [Effect::CancelTools]);
    assert!(machine.step(Input::Interrupt).is_empty());
    machine.step(done(1, true));
    let effects = machine.step(done(2, false));
    assert_eq!(ended(&effects), Some(&AgentEvent::Finished { interrupted: true }));
    assert!(asks(&effects).is_none());
    assert_well_formed(machine.messages());
}

#[test]
fn an_interrupt_with_nothing_running_does_nothing() {
    assert!(machine().step(Input::Interrupt).is_empty());
}

#[test]
fn messages_said_during_a_turn_follow_it_in_order() {
    let mut machine = machine();
    machine.step(Input::Say("one".into()));
    machine.step(Input::Say("two".into()));
    let queued = machine.step(Input::Say("three".into()));
    assert!(matches!(&queued[..], [Effect::Emit(AgentEvent::Queued(waiting))] if waiting.len() == 2));
    let effects = machine.step(says("1"));
    assert!(
        matches!(&asks(&effects).unwrap().messages.last(), Some(Message::User { content }) if content == "two")
    );
    let effects = machine.step(says("2"));
    assert!(
        matches!(&asks(&effects).unwrap().messages.last(), Some(Message::User { content }) if content == "three")
    );
}

#[test]
fn an_empty_answer_gets_one_nudge_then_a_plain_end() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    let effects = machine.step(says(" \n"));
    assert!(asks(&effects).is_some());
    let effects = machine.step(says(""));
    assert!(matches!(ended(&effects), Some(AgentEvent::Stopped(Stop::Empty))));
}

#[test]
fn calls_of_a_cut_answer_are_never_run() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    let cut =
        Answer { text: "I will".into(), calls: vec![call("a", "delete")], cut: true, ..Answer::default() };
    let effects = machine.step(Input::Model(ModelEvent::Done(cut.clone())));
    assert!(!effects.iter().any(|e| matches!(e, Effect::RunTools(_))));
    assert_well_formed(&asks(&effects).unwrap().messages);
    let effects = machine.step(Input::Model(ModelEvent::Done(cut)));
    assert!(matches!(ended(&effects), Some(AgentEvent::Stopped(Stop::Cut))));
}

#[test]
fn the_same_failing_call_three_times_ends_the_turn() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    for id in 1..=2 {
        machine.step(calls(&[call("a", "ls")]));
        assert!(asks(&machine.step(done(id, false))).is_some());
    }
    machine.step(calls(&[call("a", "ls")]));
    let effects = machine.step(done(3, false));
    assert!(matches!(ended(&effects), Some(AgentEvent::Stopped(Stop::Repeated(tool))) if tool == "ls"));
    assert_well_formed(machine.messages());
}

#[test]
fn n09_calls_that_fail_in_turns_end_the_turn_too_and_a_success_counts_anew() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    let mut id = 0;
    let mut step = |name: &str, ok: bool| {
        id += 1;
        machine.step(calls(&[call("a", name)]));
        machine.step(done(id, ok))
    };
    for (name, ok) in [
        ("ls", false),
        ("grep", false),
        ("ls", false),
        ("ls", true),
        ("grep", false),
        ("ls", false),
        ("ls", false),
    ] {
        assert!(asks(&step(name, ok)).is_some(), "{name}");
    }
    assert!(
        matches!(ended(&step("grep", false)), Some(AgentEvent::Stopped(Stop::Repeated(tool))) if tool == "grep")
    );
    assert_well_formed(machine.messages());
}

#[test]
fn a_stop_for_a_reason_ends_the_turn_and_is_told_to_the_model_later() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(Input::Model(ModelEvent::Text("half".into())));
    let effects = machine.step(Input::Stop(Stop::Steps(3)));
    assert_eq!(effects[0], Effect::CancelAsk);
    assert_eq!(ended(&effects), Some(&AgentEvent::Stopped(Stop::Steps(3))));
    let effects = machine.step(Input::Say("go on".into()));
    let Some(Message::User { content }) = asks(&effects).unwrap().messages.last() else { panic!() };
    assert!(content.contains("ended by the workbench") && content.ends_with("go on"), "{content}");

    machine.step(calls(&[call("a", "ls"), call("b", "ls")]));
    assert_eq!(machine.step(Input::Stop(Stop::Time(60))), [Effect::CancelTools]);
    assert!(machine.step(Input::Interrupt).is_empty(), "it ends already");
    machine.step(done(1, true));
    assert_eq!(ended(&machine.step(done(2, false))), Some(&AgentEvent::Stopped(Stop::Time(60))));
    assert_well_formed(machine.messages());
}

#[test]
fn what_is_said_during_calls_reaches_the_model_with_the_next_step_or_is_taken_back() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(calls(&[call("a", "ls")]));
    machine.step(Input::Say("one".into()));
    let effects = machine.step(Input::Say("two".into()));
    let [Effect::Emit(AgentEvent::Queued(waiting))] = &effects[..] else { panic!("{effects:?}") };
    let (one, two) = (waiting[0].id, waiting[1].id);
    assert!(one != two);
    assert_eq!(
        machine.step(Input::Unqueue(one)),
        [Effect::Emit(AgentEvent::Queued(vec![Queued { id: two, text: "two".into() }]))]
    );
    assert!(machine.step(Input::Unqueue(one)).is_empty(), "it is gone");
    machine.step(Input::Warn("scarce".into()));
    let effects = machine.step(done(1, true));
    assert!(effects.contains(&Effect::Emit(AgentEvent::Steered { message: "two".into() })), "{effects:?}");
    let messages = &asks(&effects).unwrap().messages;
    let said: Vec<&str> = messages
        .iter()
        .filter_map(|m| if let Message::User { content } = m { Some(content.as_str()) } else { None })
        .collect();
    assert_eq!(said, ["go", "scarce", "two"]);
    assert!(machine.step(Input::Unqueue(two)).is_empty(), "it was told already");
    assert_eq!(ended(&machine.step(says("done"))), Some(&AgentEvent::Finished { interrupted: false }));
    assert!(machine.is_idle());
}

#[test]
fn a_held_turn_waits_for_the_review_and_an_interrupt_or_a_word_frees_it() {
    for (input, text) in [
        (Input::Reviewed { note: "landed".into(), answer: false }, Some("landed")),
        (Input::Say("never mind".into()), Some("never mind")),
        (Input::Interrupt, None),
    ] {
        let mut machine = machine();
        machine.step(Input::Say("go".into()));
        machine.step(calls(&[call("a", "write_file")]));
        machine.step(Input::Hold);
        let effects = machine.step(done(1, true));
        assert!(asks(&effects).is_none() && ended(&effects).is_none() && machine.is_waiting());
        let effects = machine.step(input);
        match text {
            Some(text) => {
                let last = asks(&effects).unwrap().messages.last();
                assert!(matches!(last, Some(Message::User { content }) if content == text), "{last:?}");
            }
            None => assert_eq!(ended(&effects), Some(&AgentEvent::Finished { interrupted: true })),
        }
        assert_well_formed(machine.messages());
    }
}

#[test]
fn a_failed_request_keeps_what_was_said_and_frees_the_session() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    machine.step(Input::Model(ModelEvent::Text("par".into())));
    let error = ModelError { kind: ModelErrorKind::Cut, message: "broke off".into() };
    let effects = machine.step(Input::ModelFailed(error));
    assert_eq!(ended(&effects), Some(&AgentEvent::Failed("broke off".into())));
    assert!(machine.is_idle());
    let effects = machine.step(Input::Say("again".into()));
    assert_well_formed(&asks(&effects).unwrap().messages);
}

#[test]
fn an_approval_is_told_with_the_next_message_and_a_rejection_at_once() {
    let mut machine = machine();
    assert!(machine.step(Input::Reviewed { note: "landed a".into(), answer: false }).is_empty());
    let effects = machine.step(Input::Reviewed { note: "rejected b".into(), answer: true });
    let Some(Message::User { content }) = asks(&effects).unwrap().messages.last() else { panic!() };
    assert_eq!(content, "landed a\n\nrejected b");
}

#[test]
fn a_blank_message_is_answered_at_once_and_asks_nothing() {
    for text in ["", "  \n"] {
        let mut machine = machine();
        let effects = machine.step(Input::Say(text.into()));
        assert!(
            matches!(&effects[..], [Effect::Emit(AgentEvent::Failed(why))] if why.contains("empty")),
            "{effects:?}"
        );
        machine.step(Input::Say("go".into()));
        assert!(machine.step(Input::Say(text.into())).is_empty());
        let effects = machine.step(says("done"));
        assert_eq!(ended(&effects), Some(&AgentEvent::Finished { interrupted: false }));
        assert!(machine.is_idle());
    }
}

#[test]
fn what_follows_a_cut_answer_stands_apart_from_it() {
    let mut machine = machine();
    machine.step(Input::Say("go".into()));
    let cut = Answer { text: "half".into(), cut: true, ..Answer::default() };
    let effects = machine.step(Input::Model(ModelEvent::Done(cut)));
    assert!(effects.contains(&Effect::Emit(AgentEvent::Text("\n\n".into()))), "{effects:?}");
}
