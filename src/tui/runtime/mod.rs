//! The loop around [`update`] and [`view`]: terminal events in, effects out, frames when something changed.
//!
//! One thread owns the state and the screen. Whatever may take time runs elsewhere and answers with an event.

mod burst;
mod decode;
mod effects;
mod frames;
mod keyboard;
mod leave;
mod model;
mod suspend;
mod switch;
pub mod work;

use std::io;
use std::time::Duration;

use crossterm::event::Event as Input;
use futures::FutureExt;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::effect::Effect;
use super::event::Event;
use super::state::edit::Place;
use super::state::{Fixed, State};
use super::terminal::{self, Screen};
use super::theme::Look;
use super::update::{settle, update};
use super::{Error, ExitStatus, Setup, view};
use crate::agent::Role;
use crate::agent::prompt::NOT_FOUND;
use crate::text::Safe;
use burst::Burst;
use effects::World;
use frames::Frames;
use keyboard::Keyboard;

/// Most events taken in one go before a frame may be drawn.
const BURST: usize = 4096;

/// How fast what moves by itself moves.
const TICK: Duration = Duration::from_millis(250);

/// Why a stretch of the loop ended.
enum Pause {
    Ended(u8),
    Suspend,
    Redraw,
    /// The person's editor gets the terminal.
    Edit(Place, String),
    /// The same, with what is being written.
    Write(Role, String),
    /// The process was stopped and continued from outside.
    Continued,
}

/// Runs the workbench in this terminal.
pub async fn run(setup: Setup) -> Result<ExitStatus, Error> {
    terminal::check()?;
    let (sender, mut inbox) = unbounded_channel();
    let panics = sender.clone();
    let mut screen = Screen::enter(move |text| {
        let _ = panics.send(Event::Trouble(format!("A background task failed: {text}")));
    })?;
    leave::on_signals(&sender)?;
    leave::on_hangup(sender.clone())?;
    let mut continued = leave::continued()?;
    let size = crossterm::terminal::size().unwrap_or((80, 24));
    let mut state = State::new(fixed(&setup), size);
    state.price = setup.client.as_ref().and_then(|client| client.price());
    let mut frames = Frames::default();
    let mut burst = Burst::default();
    frames.request();
    // The first frame stands before anything of the bundle is read.
    draw(&mut state, &mut screen, &mut frames)?;
    if setup.look == Look::Auto {
        terminal::ask_background()?;
    }
    let edit = setup.edit.clone();
    let mut world = World::start(setup, sender.clone());
    loop {
        // A stopped workbench must not read the keyboard.
        let mut keyboard = Keyboard::listen(sender.clone())?;
        let pause = {
            let screen = &mut screen;
            let mut draw = |state: &mut State, frames: &mut Frames| draw(state, screen, frames);
            let input = Incoming { keys: &mut keyboard.events, burst: &mut burst };
            let turn = stretch(&mut state, &mut frames, input, &mut inbox, &mut world, &mut draw);
            tokio::select! {
                pause = turn => pause?,
                Some(()) = continued.recv() => Pause::Continued,
            }
        };
        keyboard.stop();
        match pause {
            Pause::Ended(status) => {
                drop(screen);
                return Ok(ExitStatus(status));
            }
            Pause::Suspend => {
                suspend::stop()?;
                // The continuation is this one.
                while continued.recv().now_or_never().flatten().is_some() {}
                screen.retake()?;
            }
            Pause::Continued if suspend::foreground() => screen.retake()?,
            Pause::Continued => {}
            Pause::Redraw => screen.forget()?,
            Pause::Write(role, text) => {
                let text = terminal::lend(|| edit(&text));
                screen.retake()?;
                update(&mut state, Event::Written { role, text })
                    .into_iter()
                    .for_each(|effect| world.perform(&state, effect));
            }
            Pause::Edit(place, text) => {
                let text = terminal::lend(|| edit(&text));
                screen.retake()?;
                update(&mut state, Event::Edited { place, text })
                    .into_iter()
                    .for_each(|effect| world.perform(&state, effect));
            }
        }
        if let Ok(size) = crossterm::terminal::size() {
            state.size = size;
        }
        frames.request();
    }
}

fn fixed(setup: &Setup) -> Fixed {
    let name = setup.bundle.name();
    let model = setup.client.as_ref().map(|client| Safe::line(client.name()).into_string());
    let has_model = model.is_some();
    Fixed {
        name: Safe::line(name).into_string(),
        model,
        hint: setup.model_hint.lines().map(|l| Safe::line(l).into_string()).collect(),
        banner: setup.banner.clone(),
        theme: setup.look.theme(terminal::background()),
        look: setup.look,
        keymap: super::keymap::Keymap::shipped(),
        not_found: setup.reader.not_found_message.clone().unwrap_or_else(|| NOT_FOUND.to_owned()),
        suggestions: if has_model { setup.suggestions.clone() } else { super::Suggestions::default() },
    }
}

fn draw(state: &mut State, screen: &mut Screen, frames: &mut Frames) -> io::Result<()> {
    if state.size.0 > 0 && state.size.1 > 0 {
        screen.draw(|frame| {
            // The terminal may have changed since the last resize event.
            let area = frame.area();
            state.size = (area.width, area.height);
            view::draw(state, frame);
        })?;
    }
    frames.drawn(Instant::now());
    Ok(())
}

/// What performs effects; a fake in tests.
trait Perform {
    fn perform(&mut self, state: &State, effect: Effect);
}

/// What the terminal sends, and text of it that is still coming in.
struct Incoming<'a> {
    keys: &'a mut Receiver<io::Result<Input>>,
    burst: &'a mut Burst,
}

/// Runs until the state ends or the terminal must be handled from outside.
async fn stretch<P, D>(
    state: &mut State,
    frames: &mut Frames,
    input: Incoming<'_>,
    inbox: &mut UnboundedReceiver<Event>,
    world: &mut P,
    draw: &mut D,
) -> io::Result<Pause>
where
    P: Perform,
    D: FnMut(&mut State, &mut Frames) -> io::Result<()>,
{
    let Incoming { keys, burst } = input;
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    tick.reset();
    loop {
        let now = Instant::now();
        let due = frames.due(now);
        // A frame that is due comes before more events, so that a flood cannot hold it up.
        if due.is_some_and(|due| due <= now) {
            for effect in settle(state) {
                world.perform(state, effect);
            }
            draw(state, frames)?;
            // Keys from now on are meant for what is on screen.
            update(state, Event::Drawn);
            continue;
        }
        let mut events: Vec<Event> = Vec::new();
        tokio::select! {
            biased;
            () = sleep_until(due.unwrap_or(now)), if due.is_some() => continue,
            next = keys.recv() => match next {
                Some(next) => {
                    events.extend(translate(next?));
                    for _ in 0..BURST {
                        match keys.try_recv() {
                            Ok(next) => events.extend(translate(next?)),
                            Err(_) => break,
                        }
                    }
                }
                None => return Ok(Pause::Ended(129)),
            },
            // Keys that already wait belong to the burst.
            () = sleep_until(burst.due().unwrap_or(now)), if burst.due().is_some() => {}
            event = inbox.recv() => {
                events.extend(event);
                while events.len() < BURST {
                    match inbox.try_recv() {
                        Ok(event) => events.push(event),
                        Err(_) => break,
                    }
                }
            }
            _ = tick.tick(), if state.animated() => events.push(Event::Tick),
        }
        let now = Instant::now();
        state.clock = frames.since_start(now);
        let mut pause = None;
        for event in events {
            let event = match event {
                Event::Key(key) if state.typing() => match burst.take(key, now) {
                    Ok(()) => continue,
                    Err(key) => Event::Key(key),
                },
                event => event,
            };
            if matches!(event, Event::Key(_) | Event::Mouse(_) | Event::Paste(_)) {
                burst.give().into_iter().for_each(|event| pass(state, frames, world, event, &mut pause));
            }
            pass(state, frames, world, event, &mut pause);
        }
        if !burst.waits(now) {
            burst.give().into_iter().for_each(|event| pass(state, frames, world, event, &mut pause));
        }
        if let Some(pause) = pause {
            return Ok(pause);
        }
    }
}

/// Gives one event to the state and has done what follows; after the end nothing more counts.
fn pass<P: Perform>(
    state: &mut State,
    frames: &mut Frames,
    world: &mut P,
    event: Event,
    pause: &mut Option<Pause>,
) {
    if state.ended.is_some() {
        return;
    }
    for effect in update(state, event) {
        match effect {
            Effect::Suspend => *pause = Some(Pause::Suspend),
            Effect::Redraw => *pause = Some(Pause::Redraw),
            Effect::Write { role, text } => *pause = Some(Pause::Write(role, text)),
            Effect::Edit { place, text } => *pause = Some(Pause::Edit(place, text)),
            Effect::Quit => {}
            effect => world.perform(state, effect),
        }
    }
    frames.request();
    if let Some(status) = state.ended {
        *pause = Some(Pause::Ended(status));
    }
}

/// An input event of the terminal; those that mean nothing here wake nothing.
fn translate(input: Input) -> Option<Event> {
    match input {
        Input::Key(key) => Some(Event::Key(key)),
        Input::Mouse(mouse) => Some(Event::Mouse(mouse)),
        Input::Paste(text) => Some(Event::Paste(text)),
        Input::Resize(columns, rows) => Some(Event::Resize(columns, rows)),
        Input::FocusGained | Input::FocusLost => None,
    }
}

#[cfg(test)]
mod tests;
