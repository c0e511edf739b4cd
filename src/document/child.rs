//! The wall around a conversion: a process of its own with limits on memory and processor time, that is killed when it takes
//! too long or is no longer wanted. An abort, an endless loop and a full memory can be caught in no other way.
//!
//! The parent starts its own program with the hidden subcommand [`SUBCOMMAND`] and writes a [`Request`] as one line of JSON
//! and the document behind it; the child answers with lines of JSON, each an [`Answer`], the last `done` or `failed`.

use std::any::Any;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

use super::{Converted, Error, Limits, MIB, Progress, check_size, convert_with};

/// What the program is called with to become the child.
pub const SUBCOMMAND: &str = "convert-document";

/// Address space of the child in bytes.
pub const MEMORY: u64 = 2048 * MIB;
/// Processor time of the child in seconds.
pub const PROCESSOR: u64 = 30;
/// Time that the parent waits, in seconds.
pub const PATIENCE: u64 = 60;

/// Of the thread that converts and of unpdf's: nested arrays of a PDF overflow the usual 8 MiB.
const STACK: usize = 64 * 1024 * 1024;
/// At most this many of unpdf's threads: their stacks count as address space.
const THREADS: usize = 4;
/// Longest request line in bytes.
const LINE: u64 = 64 * 1024;
/// How much of what the child complained of is kept, in bytes.
const COMPLAINT: u64 = 16 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Request {
    name: String,
    limits: Limits,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Progress(Progress),
    Done(Box<Converted>),
    Failed(Error),
}

/// Converts documents in child processes. Cheap to clone; several may run at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converter {
    program: PathBuf,
    pub limits: Limits,
    /// How long a conversion may take on the clock.
    pub patience: Duration,
}

impl Converter {
    /// Starts `program`, which has to be this one.
    pub fn new(program: PathBuf) -> Self {
        Self { program, limits: Limits::default(), patience: Duration::from_secs(PATIENCE) }
    }

    /// Starts the running program anew, the same even after its file was replaced by a later version.
    pub fn of_this_program() -> Self {
        let program = match cfg!(target_os = "linux") {
            true => PathBuf::from("/proc/self/exe"),
            false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from(env!("CARGO_PKG_NAME"))),
        };
        Self::new(program)
    }

    /// The text of a document; `name` is its file's name. To cancel, drop the future: the child is killed.
    pub async fn convert(
        &self,
        bytes: &[u8],
        name: &str,
        mut progress: impl FnMut(Progress),
    ) -> Result<Converted, Error> {
        check_size(bytes.len() as u64, &self.limits)?;
        let mut command = tokio::process::Command::new(&self.program);
        // Nothing of the environment is needed, and keys of the model stand in it.
        command.arg(SUBCOMMAND).env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        command.current_dir("/");
        let mut child = command.spawn().map_err(not_started)?;
        let (Some(mut input), Some(output), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::NotStarted { detail: "it has no pipes".into() });
        };
        let request = Request { name: name.to_owned(), limits: self.limits.clone() };
        let request = serde_json::to_string(&request).map_err(not_started)? + "\n";
        let write = async {
            // A child that ends early says why itself.
            _ = input.write_all(request.as_bytes()).await;
            _ = input.write_all(bytes).await;
            drop(input);
        };
        // JSON writes a control character in six bytes.
        let most = self.limits.output.saturating_mul(6).saturating_add(MIB);
        let read = async {
            let mut lines = BufReader::new(output.take(most));
            let mut line = Vec::new();
            loop {
                line.clear();
                if lines.read_until(b'\n', &mut line).await.unwrap_or(0) == 0 {
                    return None;
                }
                match serde_json::from_slice(&line) {
                    Ok(Answer::Progress(told)) => progress(told),
                    Ok(Answer::Done(converted)) => return Some(Ok(*converted)),
                    Ok(Answer::Failed(error)) => return Some(Err(error)),
                    // A library that prints.
                    Err(_) => {}
                }
            }
        };
        let listen = async {
            let mut text = Vec::new();
            let mut complaints = complaints;
            _ = (&mut complaints).take(COMPLAINT).read_to_end(&mut text).await;
            _ = tokio::io::copy(&mut complaints, &mut tokio::io::sink()).await;
            String::from_utf8_lossy(&text).into_owned()
        };
        let all = async {
            let ((), answer, complaint) = tokio::join!(write, read, listen);
            (answer, complaint, child.wait().await)
        };
        match tokio::time::timeout(self.patience, all).await {
            Err(_) => Err(Error::OutOfTime { seconds: self.patience.as_secs() }),
            Ok((Some(answer), ..)) => answer,
            Ok((None, complaint, Ok(status))) => Err(died(status, &complaint)),
            Ok((None, _, Err(error))) => Err(not_started(error)),
        }
    }

    /// [`Self::convert`] for a thread that may wait, inside of a runtime or not.
    pub fn convert_blocking(
        &self,
        bytes: &[u8],
        name: &str,
        cancel: &CancellationToken,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Converted, Error> {
        let run = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(not_started)?;
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => Err(Error::Cancelled),
                    result = self.convert(bytes, name, progress) => result,
                }
            })
        };
        // A runtime cannot be started on a thread of another one.
        std::thread::scope(|scope| scope.spawn(run).join())
            .unwrap_or_else(|panic| Err(Error::Crashed { detail: said(panic.as_ref()) }))
    }
}

fn not_started(error: impl std::fmt::Display) -> Error {
    Error::NotStarted { detail: error.to_string() }
}

/// What a child that gave no answer died of.
fn died(status: ExitStatus, complaint: &str) -> Error {
    // What the standard library prints when an allocation fails, and when a stack is full.
    if complaint.contains("memory allocation of") {
        return Error::OutOfMemory { limit: MEMORY };
    }
    if complaint.contains("overflowed its stack") {
        return Error::Crashed { detail: "its parts are nested too deeply".into() };
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let is = |of: rustix::process::Signal| signal == of.as_raw();
        return match () {
            () if is(rustix::process::Signal::XCPU) => Error::OutOfTime { seconds: PROCESSOR },
            // Nobody but the system kills it, and that for want of memory.
            () if is(rustix::process::Signal::KILL) => Error::OutOfMemory { limit: MEMORY },
            () => Error::Crashed { detail: format!("ended by signal {signal}") },
        };
    }
    match complaint.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => Error::Crashed { detail: line.trim().chars().take(200).collect() },
        None => Error::Crashed { detail: status.to_string() },
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "panic".to_owned()).lines().next().unwrap_or_default().chars().take(200).collect()
}

/// The child's whole life. Limits itself before it reads anything.
pub fn serve() -> io::Result<()> {
    limit()?;
    let mut input = io::stdin().lock();
    let mut line = String::new();
    (&mut input).take(LINE).read_line(&mut line)?;
    let request: Request = serde_json::from_str(&line)?;
    let mut bytes = Vec::new();
    // One more than is taken, so that too much is told from just enough.
    input.take(request.limits.input.saturating_add(1)).read_to_end(&mut bytes)?;
    let output = Mutex::new(io::stdout());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    // Fails only if a pool is there already.
    _ = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build_global();
    let progress = |told| _ = say(&output, &Answer::Progress(told));
    let run = || {
        catch_unwind(AssertUnwindSafe(|| convert_with(&bytes, &request.name, &request.limits, &progress)))
            .unwrap_or_else(|panic| Err(Error::Crashed { detail: said(panic.as_ref()) }))
    };
    let result = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run)?;
        thread.join().map_err(|_| io::Error::other("the converting thread died"))
    })?;
    say(&output, &result.map_or_else(Answer::Failed, |converted| Answer::Done(Box::new(converted))))
}

fn say(output: &Mutex<io::Stdout>, answer: &Answer) -> io::Result<()> {
    let line = serde_json::to_string(answer)? + "\n";
    let mut output = output.lock().map_err(|_| io::Error::other("a thread died while it wrote"))?;
    output.write_all(line.as_bytes())?;
    output.flush()
}

#[cfg(unix)]
fn limit() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let set = |resource, most: u64, after: u64| {
        // What the person set lower stays.
        let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most.saturating_add(after)) })
    };
    set(Resource::Core, 0, 0)?;
    // The signal that says so comes first, the kill after it.
    set(Resource::Cpu, PROCESSOR, 1).or_else(|_| set(Resource::Cpu, PROCESSOR, 0))?;
    set(Resource::As, MEMORY, 0)?;
    Ok(())
}

#[cfg(not(unix))]
fn limit() -> io::Result<()> {
    Ok(())
}
