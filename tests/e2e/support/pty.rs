//! The built binary in a pseudo-terminal, and the screen a person would see.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Longest that anything may take before a test fails: generous, so that a loaded machine passes.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub const ENTER: &str = "\r";
pub const ESC: &str = "\x1b";
pub const TAB: &str = "\t";
pub const F1: &str = "\x1bOP";
pub const F2: &str = "\x1bOQ";
pub const F6: &str = "\x1b[17~";
pub const F8: &str = "\x1b[19~";
pub const F9: &str = "\x1b[20~";
pub const UP: &str = "\x1b[A";
pub const DOWN: &str = "\x1b[B";
pub const BACKSPACE: &str = "\x7f";

/// How to start the program.
pub struct Start {
    command: CommandBuilder,
    columns: u16,
    rows: u16,
    home: tempfile::TempDir,
}

/// The running program.
pub struct Screen {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<Mutex<Seen>>,
    termios_before: String,
    slave: Option<Box<dyn portable_pty::SlavePty + Send>>,
    /// Told to let go of the terminal at the next output.
    reading: Arc<AtomicBool>,
    home: tempfile::TempDir,
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Start {
    /// With these arguments, a home of its own, and none of the caller's model settings.
    pub fn new(arguments: &[&str]) -> Self {
        Self::of(env!("CARGO_BIN_EXE_wikiwright"), arguments)
    }

    /// Another program than wikiwright, as [`Start::new`] starts that.
    pub fn of(program: &str, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.args(arguments);
        command.cwd(home.path());
        for (name, value) in [
            ("HOME", home.path().to_str().unwrap()),
            ("PATH", &std::env::var("PATH").unwrap_or_default()),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            // Nothing listens here: the machine's own Ollama must not decide a test.
            ("OLLAMA_HOST", "127.0.0.1:9"),
        ] {
            command.env(name, value);
        }
        Self { command, columns: 120, rows: 40, home }
    }

    /// The folder that will be `$HOME`.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn cwd(mut self, folder: &Path) -> Self {
        self.command.cwd(folder);
        self
    }

    pub fn spawn(self) -> Screen {
        let size = PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let termios_before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(self.command).unwrap();
        let parser = vt100::Parser::new(
            NonZeroU16::new(self.rows.max(1)).unwrap(),
            NonZeroU16::new(self.columns.max(1)).unwrap(),
            0,
        );
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new() }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let sink = seen.clone();
        let reading = Arc::new(AtomicBool::new(true));
        let go_on = reading.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                let mut seen = sink.lock().unwrap();
                seen.parser.process(&buffer[..n]);
                seen.bytes.extend_from_slice(&buffer[..n]);
                if !go_on.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Screen {
            master: Some(pair.master),
            writer: Some(writer),
            child,
            seen,
            termios_before,
            slave: Some(pair.slave),
            reading,
            home: self.home,
        }
    }
}

impl Screen {
    /// The folder that is `$HOME` and the working directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// What stands on the screen, row by row.
    pub fn text(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Every byte the program wrote.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    /// Whether the alternate screen, bracketed paste or the mouse is on, or the cursor hidden.
    pub fn modes(&self) -> (bool, bool, bool, bool) {
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        (
            screen.alternate_screen(),
            screen.bracketed_paste(),
            screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
            screen.hide_cursor(),
        )
    }

    pub fn send(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Waits until the screen satisfies `wanted`; fails with the screen otherwise.
    pub fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text();
            if wanted(&text) {
                return text;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}; the screen is:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn wait_for(&self, needle: &str) -> String {
        self.wait(&format!("{needle:?}"), |text| text.contains(needle))
    }

    pub fn wait_gone(&self, needle: &str) -> String {
        self.wait(&format!("{needle:?} to vanish"), |text| !text.contains(needle))
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().unwrap().resize(size).unwrap();
        let (rows, columns) =
            (NonZeroU16::new(rows.max(1)).unwrap(), NonZeroU16::new(columns.max(1)).unwrap());
        self.seen.lock().unwrap().parser.screen_mut().set_size(rows, columns);
    }

    /// Resizes and waits for the program to draw in answer.
    pub fn resize_drawn(&self, columns: u16, rows: u16) {
        let before = self.bytes().len();
        self.resize(columns, rows);
        let start = Instant::now();
        while self.bytes().len() == before {
            assert!(start.elapsed() < PATIENCE, "nothing is drawn after a change of size");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    pub fn signal(&self, name: &str) {
        let status =
            std::process::Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(status.unwrap().success());
    }

    /// Waits for the program to end by itself.
    pub fn wait_exit(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The reader thread may still be a read behind.
                std::thread::sleep(Duration::from_millis(100));
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end; the screen is:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asserts that the terminal is as it was before the program started.
    pub fn assert_restored(&self) {
        assert_eq!(
            self.modes(),
            (false, false, false, false),
            "alternate screen, paste, mouse, hidden cursor"
        );
        let after = format!("{:?}", self.master.as_ref().unwrap().get_termios());
        assert_eq!(after, self.termios_before, "terminal settings");
    }

    /// Closes the terminal under the program, as a closed window does.
    pub fn hang_up(&mut self) {
        // The reading thread holds a handle too and sits in a read: make the program draw, so that it comes out.
        self.reading.store(false, Ordering::SeqCst);
        self.resize_drawn(70, 20);
        self.writer = None;
        self.slave = None;
        self.master = None;
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
