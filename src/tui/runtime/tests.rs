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
        theme: Theme::ansi(),
        keymap: crate::tui::keymap::Keymap::shipped(),
        suggestions: crate::tui::Suggestions::default(),
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
        let run = stretch(state, &mut frames, &mut input, &mut inbox, &mut nothing, &mut draw);
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
        stretch(&mut state(), &mut Frames::default(), &mut input, &mut inbox, &mut Nothing, &mut draw).await
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
