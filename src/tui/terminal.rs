//! The terminal as the workbench found it, and how it is given back: on exit, error, panic, signal and suspension.
//!
//! Everything is restored once, in the reverse order of entering, by whichever thread gets there first. A panic on
//! another thread than the screen's restores nothing: the workbench lives on and shows a message.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;

use super::Error;
use crate::agent::client::openai::hide;
use crate::text::Safe;

/// Buttons and wheel, with coordinates beyond 223; no motion, which would wake the workbench for nothing.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

static ENTERED: AtomicBool = AtomicBool::new(false);
static KEYBOARD: AtomicBool = AtomicBool::new(false);
static LENT: AtomicBool = AtomicBool::new(false);
static SCREEN_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);
static ON_PANIC: OnceLock<()> = OnceLock::new();
type Report = Box<dyn Fn(String) + Send>;
static REPORT: Mutex<Option<Report>> = Mutex::new(None);

/// Whether there is a terminal to work in. Writes nothing to it.
pub fn check() -> Result<(), Error> {
    let missing = match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        (true, true) => None,
        (false, true) => Some("standard input is not a terminal"),
        (true, false) => Some("standard output is not a terminal"),
        (false, false) => Some("there is no terminal"),
    };
    if let Some(missing) = missing {
        return Err(Error::NoTerminal(format!(
            "the workbench needs a terminal, and {missing}; use `wikiwright lint`, `ask` or `manage` in scripts"
        )));
    }
    if std::env::var_os("TERM").is_none_or(|t| t.is_empty() || t == "dumb") {
        return Err(Error::NoTerminal(
            "the workbench needs a terminal that can move its cursor (TERM is unset or `dumb`); \
             use `wikiwright lint`, `ask` or `manage` instead"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The screen while the workbench has it.
pub struct Screen {
    /// Never dropped: its drop complains about a cursor it cannot show with a print that panics when standard error is the
    /// terminal that went away. [`restore`] shows the cursor.
    terminal: ManuallyDrop<ratatui::Terminal<CrosstermBackend<BufWriter<io::Stdout>>>>,
}

impl Screen {
    /// Takes the terminal. `report` gets the text of panics on other threads.
    pub fn enter(report: impl Fn(String) + Send + 'static) -> io::Result<Self> {
        *SCREEN_THREAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
        *REPORT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(report));
        ON_PANIC.get_or_init(hook);
        take()?;
        Ok(Self { terminal: ManuallyDrop::new(terminal()?) })
    }

    /// Draws one frame as one update of the terminal, where it knows that (DEC mode 2026).
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(view)?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen, so that the next frame is complete. `Terminal::clear` would ask the terminal
    /// where its cursor is and wait for the answer.
    pub fn forget(&mut self) -> io::Result<()> {
        self.terminal = ManuallyDrop::new(terminal()?);
        execute!(self.terminal.backend_mut(), Clear(ClearType::All))
    }

    /// Takes the terminal again after it was given back or something else may have changed it.
    pub fn retake(&mut self) -> io::Result<()> {
        ENTERED.store(false, Ordering::SeqCst);
        // crossterm remembers the mode it first found; only leaving it makes entering happen again.
        disable_raw_mode()?;
        take()?;
        self.forget()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        *REPORT.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *SCREEN_THREAD.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn terminal() -> io::Result<ratatui::Terminal<CrosstermBackend<BufWriter<io::Stdout>>>> {
    ratatui::Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout())))
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    ENTERED.store(true, Ordering::SeqCst);
    let mut out = io::stdout().lock();
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, Print(MOUSE_ON))?;
    if knows_keyboard_flags() {
        execute!(out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES))?;
        KEYBOARD.store(true, Ordering::SeqCst);
    }
    Ok(())
}

/// Gives the terminal to another program while `job` runs. An interrupt from its keyboard is that program's meanwhile.
pub fn lend<T>(job: impl FnOnce() -> T) -> T {
    restore();
    LENT.store(true, Ordering::SeqCst);
    let done = job();
    LENT.store(false, Ordering::SeqCst);
    done
}

/// Whether another program has the terminal.
pub fn is_lent() -> bool {
    LENT.load(Ordering::SeqCst)
}

/// Gives the terminal back. Safe to call from any thread, any number of times.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    // Every step is tried whatever became of the one before: a half-restored terminal is worse.
    if KEYBOARD.swap(false, Ordering::SeqCst) {
        let _ = queue!(out, PopKeyboardEnhancementFlags);
    }
    let _ = queue!(
        out,
        EndSynchronizedUpdate,
        Print(MOUSE_OFF),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Terminals that are known to speak the kitty keyboard protocol. Asking the terminal would hold up the keyboard
/// until it answers, or for ever.
fn knows_keyboard_flags() -> bool {
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    if !var("TMUX").is_empty() || var("TERM").starts_with("screen") {
        return false;
    }
    let term = var("TERM");
    ["xterm-kitty", "xterm-ghostty", "foot", "alacritty"].iter().any(|t| term.starts_with(t))
        || ["WezTerm", "ghostty"].contains(&var("TERM_PROGRAM").as_str())
}

/// Whether the terminal's background is light, as far as the environment says it (`COLORFGBG`: `15;0`).
pub fn background() -> Option<bool> {
    light_of(&std::env::var("COLORFGBG").ok()?)
}

fn light_of(colors: &str) -> Option<bool> {
    let background: u8 = colors.rsplit(';').next()?.parse().ok()?;
    (background < 16).then_some(background == 7 || background > 8)
}

/// Asks the terminal for its background (OSC 11). Nothing waits for the answer: it comes in with the keys, or never. Not over SSH, where it
/// may come so late that the shell gets it.
pub fn ask_background() -> io::Result<()> {
    let set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let term = std::env::var("TERM").unwrap_or_default();
    if set("SSH_TTY") || set("SSH_CONNECTION") || ["dumb", "linux"].contains(&term.as_str()) {
        return Ok(());
    }
    execute!(io::stdout().lock(), Print("\x1b]11;?\x1b\\"))
}

/// What a panic says and where, in one line that shows no key.
pub fn panic_text(info: &panic::PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map_or_else(String::new, |l| format!(" ({}:{})", l.file(), l.line()));
    Safe::line(&hide(&format!("{text}{place}"))).into_string()
}

fn hook() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let text = panic_text(info);
        let screen = *SCREEN_THREAD.lock().unwrap_or_else(PoisonError::into_inner);
        match screen {
            // No workbench is running.
            None => previous(info),
            Some(thread) if thread == thread::current().id() => {
                restore();
                let _ = writeln!(io::stderr(), "wikiwright failed and gave the terminal back: {text}");
            }
            Some(_) => {
                tracing::error!("a background task panicked: {text}");
                if let Ok(report) = REPORT.try_lock()
                    && let Some(report) = report.as_ref()
                {
                    report(text);
                }
            }
        }
    }));
}

/// Asks the terminal to take a text into the clipboard (OSC 52). It never says whether it did. Must be called on the thread that
/// draws.
pub fn copy(text: &str) -> String {
    let command = crossterm::clipboard::CopyToClipboard::to_clipboard_from(text);
    match crossterm::execute!(io::stdout(), command) {
        Ok(()) => format!(
            "{} characters went to the terminal for its clipboard; whether it took them, it does not say.",
            text.chars().count()
        ),
        Err(error) => format!("Nothing was copied: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::light_of;

    #[test]
    fn the_environment_may_say_what_the_background_is() {
        for (colors, light) in [
            ("15;0", Some(false)),
            ("0;15", Some(true)),
            ("0;default;7", Some(true)),
            ("7;8", Some(false)),
            ("x", None),
            ("0;99", None),
        ] {
            assert_eq!(light_of(colors), light, "{colors}");
        }
    }
}
