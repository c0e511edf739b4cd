//! The loop over a scripted terminal and paused time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use super::*;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::sync::mpsc::{UnboundedSender, channel};

struct Nothing;

impl Perform for Nothing {
    fn perform(&mut self, _: &State, _: Effect) {}
}

fn state() -> State {
    let fixed = Fixed {
        name: "wiki".to_owned(),
        model: None,
        hint: Vec::new(),
        banner: None,
        theme: crate::tui::theme::Theme::ansi(),
        look: crate::tui::Look::Dark,
        keymap: crate::tui::keymap::Keymap::shipped(),
        suggestions: crate::tui::Suggestions::default(),
        not_found: String::new(),
    };
    let mut state = State::new(fixed, (80, 24));
    // Neither loading nor running: nothing moves by itself.
    state.unreadable = Some("not there".to_owned());
    state
}

fn key(c: char) -> io::Result<Input> {
    Ok(Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)))
}

/// Counts how often it is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls the loop `polls` times by hand; says how many frames it drew and how often it asked to be polled again.
fn poll_loop(state: &mut State, keys: &[char], polls: usize) -> (usize, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _guard = runtime.enter();
    let (_sender, mut inbox): (UnboundedSender<Event>, _) = unbounded_channel();
    let (typed, mut input) = channel(4096);
    keys.iter().for_each(|c| typed.try_send(key(*c)).unwrap());
    let (mut frames, mut count) = (Frames::default(), 0);
    frames.request();
    let mut draw = |_: &mut State, frames: &mut Frames| {
        count += 1;
        frames.drawn(Instant::now());
        Ok(())
    };
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    {
        let mut nothing = Nothing;
        let mut burst = Burst::default();
        let input = Incoming { keys: &mut input, burst: &mut burst };
        let run = stretch(state, &mut frames, input, &mut inbox, &mut nothing, &mut draw);
        let mut run = std::pin::pin!(run);
        for _ in 0..polls {
            assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
    }
    (count, wakes.0.load(Ordering::SeqCst))
}

#[test]
fn an_idle_workbench_draws_once_and_asks_for_no_more() {
    assert_eq!(poll_loop(&mut state(), &[], 50), (1, 0));
}

#[test]
fn a_flood_of_keys_is_drained_before_it_is_drawn() {
    let (drawn, _) = poll_loop(&mut state(), &['j'; 3000], 1);
    assert!(drawn <= 2, "3000 keys made {drawn} frames");
}

#[test]
fn a_closed_input_ends_the_loop_as_a_hangup() {
    assert!(matches!(ended(true, None), Ok(Pause::Ended(129))));
}

#[test]
fn a_signal_ends_the_loop_with_its_status() {
    assert!(matches!(ended(false, Some(Event::Leave(143))), Ok(Pause::Ended(143))));
}

fn ended(closed: bool, event: Option<Event>) -> io::Result<Pause> {
    let (typed, mut input) = channel(1);
    let _typed = (!closed).then_some(typed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (sender, mut inbox) = unbounded_channel();
    event.into_iter().for_each(|e| sender.send(e).unwrap());
    let mut draw = |_: &mut State, _: &mut Frames| Ok(());
    runtime.block_on(async {
        let input = Incoming { keys: &mut input, burst: &mut Burst::default() };
        stretch(&mut state(), &mut Frames::default(), input, &mut inbox, &mut Nothing, &mut draw).await
    })
}

#[test]
fn a_frame_is_due_only_after_a_request_and_not_too_soon() {
    let mut frames = Frames::default();
    let start = Instant::now();
    assert_eq!(frames.due(start), None);
    frames.request();
    assert_eq!(frames.due(start), Some(start));
    frames.drawn(start);
    assert_eq!(frames.due(start), None);
    frames.request();
    assert_eq!(frames.due(start), Some(start + frames::FRAME));
}

/// What was said to the agents.
#[derive(Default)]
struct Said(Vec<String>);

impl Perform for Said {
    fn perform(&mut self, _: &State, effect: Effect) {
        if let Effect::Agent(_, crate::agent::AgentCommand::Say(text)) = effect {
            self.0.push(text);
        }
    }
}

/// Sends these keys to the composer, `\r` for Enter, `|` for a pause; the composer's text, all that
/// was sent, and the seconds it took.
fn type_fast(keys: &str) -> (String, Vec<String>, f64) {
    let mut state = state();
    state.fixed.model = Some("scripted".to_owned());
    state.manager = crate::tui::state::chat::Chat::new(true, Vec::new());
    state.focus = crate::tui::state::Pane::Chat;
    let mut said = Said::default();
    let (typed, mut input) = channel(4096);
    let (_sender, mut inbox) = unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let began = std::time::Instant::now();
    runtime.block_on(async {
        let mut draw = |_: &mut State, frames: &mut Frames| {
            frames.drawn(Instant::now());
            Ok(())
        };
        let (mut frames, mut burst) = (Frames::default(), Burst::default());
        let input = Incoming { keys: &mut input, burst: &mut burst };
        let run = stretch(&mut state, &mut frames, input, &mut inbox, &mut said, &mut draw);
        let send = async {
            for c in keys.chars() {
                match c {
                    '|' => tokio::time::sleep(Duration::from_millis(120)).await,
                    '\r' => typed.send(Ok(Input::Key(KeyCode::Enter.into()))).await.unwrap(),
                    '\t' => typed.send(Ok(Input::Key(KeyCode::Tab.into()))).await.unwrap(),
                    '\n' => {
                        let key = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
                        typed.send(Ok(Input::Key(key))).await.unwrap();
                    }
                    c => typed.send(key(c)).await.unwrap(),
                }
            }
            tokio::time::sleep(Duration::from_millis(120)).await;
        };
        tokio::select! { _ = run => panic!("it ended"), () = send => {} }
    });
    (state.manager.composer.text(), said.0, began.elapsed().as_secs_f64())
}

#[test]
fn a_paste_without_marks_is_one_insertion_and_sends_nothing() {
    let page = "Some line of text that somebody pasted.\r".repeat(7500);
    let (text, said, seconds) = type_fast(&page);
    assert_eq!(text, "[pasted 7500 lines]");
    assert_eq!(said, [""; 0]);
    assert!(seconds < 5.0, "{seconds} s");
}

#[test]
fn what_a_small_paste_without_marks_holds_stands_in_the_field() {
    for (typed, text) in [
        ("a first line\rand a second\r", "a first line\nand a second\n"),
        ("a first line\nand\ta second", "a first line\nand\ta second"),
        ("|x|a first line\rand a second", "xa first line\nand a second"),
    ] {
        let (field, said, _) = type_fast(typed);
        assert_eq!((field.as_str(), said), (text, Vec::new()));
    }
}

#[test]
fn keys_that_are_typed_stay_keys() {
    let (text, said, _) = type_fast("h|i|\r|t|h|e|r|e");
    assert_eq!((text.as_str(), said), ("there", vec!["hi".to_owned()]));
    // What a script types at once and sends.
    for line in ["What is a tide mill?\r", "What is a tide mill?|\r", "What\r"] {
        let (text, said, _) = type_fast(line);
        assert_eq!((text.as_str(), said), ("", vec![line.replace(['|', '\r'], "")]), "{line}");
    }
}

#[test]
fn a_long_line_without_marks_is_not_sent_by_the_line_end_it_brings() {
    let (text, said, _) = type_fast(&format!("{}\r", "x".repeat(50_000)));
    assert_eq!((text.as_str(), said), ("[pasted 50001 characters]", Vec::new()));
}

#[test]
fn a_paste_without_marks_that_is_too_large_is_refused() {
    let (text, said, _) = type_fast(&"x".repeat(crate::tui::state::composer::MAX_PASTE + 2));
    assert!(text.is_empty() && said.is_empty());
}
