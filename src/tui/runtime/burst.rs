//! Text that arrives faster than anybody types: a paste of a terminal that does not mark pastes. It is put in at once,
//! and a line end in it sends nothing. Used only while a text field has the keys.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tokio::time::Instant;

use crate::tui::event::Event;
use crate::tui::keymap::Key;
use crate::tui::state::composer::MAX_PASTE;

/// Keys closer together than this were not typed one by one.
const FAST: Duration = Duration::from_millis(15);

/// This long without a key and the burst is over.
const QUIET: Duration = Duration::from_millis(40);

/// From this many characters on, keys are a paste.
const MANY: usize = 16;

/// Longest single line, in bytes, after which an Enter still sends and a Tab still is a key: what a script types.
const LINE: usize = 1024;

/// The keys of one burst that were not given on yet.
#[derive(Debug, Default)]
pub struct Burst {
    held: String,
    /// Characters of this burst, those given on included.
    typed: usize,
    last: Option<Instant>,
    /// A key that is no text came after it.
    ended: bool,
}

impl Burst {
    /// Takes a key, or gives it back when it is no text.
    pub fn take(&mut self, event: KeyEvent, now: Instant) -> Result<(), KeyEvent> {
        let key = Key::from(event);
        let text = match key.code {
            _ if event.kind == KeyEventKind::Release => None,
            KeyCode::Enter if key.modifiers.is_empty() => Some('\r'),
            KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
            // A line feed arrives as Ctrl-J.
            KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
            _ => key.typed(),
        };
        let fast = self.last.is_some_and(|last| now.saturating_duration_since(last) < FAST);
        if self.held.is_empty() && (self.ended || !fast) {
            self.typed = 0;
        }
        let Some(c) = text.filter(|c| !c.is_control() || self.typed > 0) else {
            // What is held still belongs to the burst.
            self.ended = true;
            return Err(event);
        };
        self.ended = false;
        self.last = Some(now);
        self.typed += usize::from(!c.is_control());
        // One byte more than is taken is enough for the refusal.
        if self.held.len() <= MAX_PASTE {
            self.held.push(c);
        }
        Ok(())
    }

    /// When what is held is to be given on; none while nothing is held.
    pub fn due(&self) -> Option<Instant> {
        self.last.filter(|_| !self.held.is_empty()).map(|last| last + QUIET)
    }

    /// Whether more must be waited for: a paste is under way, or an Enter may stand in its middle.
    pub fn waits(&self, now: Instant) -> bool {
        (self.typed >= MANY || self.held.contains('\r')) && self.due().is_some_and(|due| due > now)
    }

    /// What is held, as events.
    pub fn give(&mut self) -> Vec<Event> {
        let held = std::mem::take(&mut self.held);
        if self.typed < MANY {
            return held.chars().map(key).collect();
        }
        let line = held.strip_suffix(['\r', '\t']).filter(|l| l.len() <= LINE && !l.contains(['\r', '\n']));
        let last = line.and_then(|_| held.chars().next_back()).map(key);
        let text = line.unwrap_or(&held).to_owned();
        (!text.is_empty()).then_some(Event::Paste(text)).into_iter().chain(last).collect()
    }
}

fn key(c: char) -> Event {
    let code = match c {
        '\r' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\n' => return Event::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL)),
        c => KeyCode::Char(c),
    };
    Event::Key(code.into())
}
