//! Bytes of the terminal to input events. A paste is collected here and not in the parser, so that one whose end never
//! comes is given up: crossterm's own reader waits for that end for ever and swallows every key (its issue 1060).

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

const PASTE: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// After this long an ESC is the key and not the start of a sequence.
const ESCAPE: Duration = Duration::from_millis(30);

/// A paste brings [`ALIVE`] bytes in every stretch of this length, or it is over. Nobody types that fast, so keys work
/// again at most two stretches after the paste stalled.
const STRETCH: Duration = Duration::from_secs(2);
const ALIVE: usize = 250;

/// How an answer about the background begins.
const BACKGROUND: &[u8] = b"\x1b]11;";

/// Longest sequence of one key or mouse event, in bytes.
const SEQUENCE: usize = 64;

#[derive(Debug, Default)]
pub struct Decoder {
    /// A sequence that is not complete yet.
    sequence: Vec<u8>,
    paste: Option<Paste>,
    /// When the last byte came.
    last: Option<Instant>,
    events: Vec<Event>,
    /// The terminal said whether its background is light.
    pub light: Option<bool>,
}

#[derive(Debug)]
struct Paste {
    bytes: Vec<u8>,
    stretch: Instant,
    /// Bytes in the stretch that runs.
    count: usize,
}

impl Decoder {
    /// Takes bytes as they were read.
    pub fn feed(&mut self, mut bytes: &[u8], now: Instant) {
        self.idle(now);
        self.last = Some(now);
        while let Some((byte, rest)) = bytes.split_first() {
            match &mut self.paste {
                None => {
                    self.byte(*byte, now);
                    bytes = rest;
                }
                Some(paste) => match paste.take(bytes) {
                    Some(rest) => {
                        self.end_paste();
                        bytes = rest;
                    }
                    None => return,
                },
            }
        }
    }

    /// Gives up what time has decided.
    pub fn idle(&mut self, now: Instant) {
        if self.due().is_none_or(|due| now < due) {
            return;
        }
        match &mut self.paste {
            Some(paste) if paste.count >= ALIVE => {
                paste.stretch = now;
                paste.count = 0;
            }
            Some(_) => self.end_paste(),
            None if self.sequence == b"\x1b" => {
                self.sequence.clear();
                self.key(KeyCode::Esc);
            }
            // An answer that stopped halfway, or the key that begins like one.
            None => {
                if std::mem::take(&mut self.sequence) == b"\x1b]" {
                    self.events.push(Event::Key(KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT)));
                }
            }
        }
    }

    /// When [`Self::idle`] is to be called.
    pub fn due(&self) -> Option<Instant> {
        match &self.paste {
            Some(paste) => Some(paste.stretch + STRETCH),
            None => {
                let waits = self.sequence == b"\x1b" || self.sequence.starts_with(b"\x1b]");
                self.last.filter(|_| waits).map(|last| last + ESCAPE)
            }
        }
    }

    /// The events that are complete.
    pub fn events(&mut self) -> std::vec::Drain<'_, Event> {
        self.events.drain(..)
    }

    fn key(&mut self, code: KeyCode) {
        self.events.push(Event::Key(KeyEvent::from(code)));
    }

    fn byte(&mut self, byte: u8, now: Instant) {
        if self.sequence == b"\x1b" && byte == 0x1b {
            self.key(KeyCode::Esc);
            return;
        }
        self.sequence.push(byte);
        if self.sequence == b"\x1b" {
            return;
        }
        if self.sequence == PASTE {
            self.sequence.clear();
            self.paste = Some(Paste { bytes: Vec::new(), stretch: now, count: 0 });
            return;
        }
        if self.sequence.starts_with(b"\x1b]") && self.answer() {
            return;
        }
        match terminput::Event::parse_from(&self.sequence) {
            Ok(Some(event)) => {
                self.sequence.clear();
                self.events.extend(terminput_crossterm::to_crossterm(event));
            }
            Ok(None) if self.sequence.len() < SEQUENCE => {}
            // Neither a key nor the start of one.
            Ok(None) | Err(_) => self.sequence.clear(),
        }
    }

    /// Whether what is there is, or may become, an answer about the background.
    fn answer(&mut self) -> bool {
        let known = self.sequence.len().min(BACKGROUND.len());
        if self.sequence.get(..known) != BACKGROUND.get(..known) || self.sequence.len() > SEQUENCE {
            return false;
        }
        if self.sequence.ends_with(b"\x07") || self.sequence.ends_with(b"\x1b\\") {
            let answer = std::mem::take(&mut self.sequence);
            self.light = is_light(answer.get(BACKGROUND.len()..).unwrap_or_default());
        }
        true
    }

    fn end_paste(&mut self) {
        if let Some(paste) = self.paste.take() {
            self.events.push(Event::Paste(String::from_utf8_lossy(&paste.bytes).into_owned()));
        }
    }
}

/// Of `rgb:RRRR/GGGG/BBBB` with one to four digits each: whether dark text is easier to read on it.
fn is_light(color: &[u8]) -> Option<bool> {
    let color = std::str::from_utf8(color).ok()?.trim_end_matches(['\x07', '\x1b', '\\']);
    let (_, digits) = color.split_once(':')?;
    let channel = |digits: &str| {
        let value = f64::from(u16::from_str_radix(digits, 16).ok()?);
        Some(value / f64::from((1u32 << (4 * digits.len())) - 1))
    };
    let mut channels = digits.split('/').map(channel);
    let mut next = || channels.next()?;
    let (red, green, blue) = (next()?, next()?, next()?);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

impl Paste {
    /// Adds bytes up to the end of the paste; what stands behind that end.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.count += bytes.len();
        // The mark may have begun in the bytes before.
        let from = before.saturating_sub(PASTE_END.len() - 1);
        let tail = self.bytes.get(from..).unwrap_or_default();
        let end = from + tail.windows(PASTE_END.len()).position(|w| w == PASTE_END)?;
        self.bytes.truncate(end);
        bytes.get((end + PASTE_END.len()).saturating_sub(before)..)
    }
}

#[cfg(test)]
mod tests;
