//! Noticing that files changed. Events of the system are hints; the answer is which paths to look at again.
//!
//! The system's own watching where there is one, polling where it has none or its limits are reached. Must not read
//! pages: whoever is told decides by content what changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{CreateKind, EventKind, MetadataKind, ModifyKind, RenameMode};
use notify::{Config, Event, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::local::LocalBundle;
use super::walk::TEMPORARY;
use crate::okf::BundlePath;

mod debounce;

use debounce::{Debounce, Seen};

#[cfg(test)]
mod tests;

/// How often the folder itself is looked at, and the shortest life of an idle thread after its watcher is dropped.
const CHECK: Duration = Duration::from_secs(1);
/// How often a folder is looked through where the system does not tell.
const POLL: Duration = Duration::from_secs(2);
/// Events that are heard before the next answer.
const AT_ONCE: usize = 4096;
/// A watching thread that died so often is not started again: polling takes over.
const RESTARTS: usize = 3;
/// Why polling took over when nothing better is known.
const STOPPED: &str = "the system's watching stopped";

/// What the watcher saw, after debouncing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// Look at these again; a folder stands for everything below it.
    Paths(Vec<BundlePath>),
    /// Too much happened or events were lost: look at everything again. Also when the folder is back.
    Everything,
    /// The bundle's folder itself is gone, or another one has taken its name.
    RootGone,
    /// Watching does not work (limit, file system): polling took over; a sentence for the status line.
    Notice(String),
}

/// A running watcher; dropping it stops it: nothing is told from then on, and its thread ends within a second.
pub struct Watcher {
    stopped: Arc<AtomicBool>,
}

impl Watcher {
    /// Starts watching; `notify` is called from the watcher's thread, never twice at once. What changes after this
    /// returns is told. Walks the folders once, so it blocks for as long as that takes.
    pub fn start(bundle: Arc<LocalBundle>, notify: impl Fn(Changed) + Send + 'static) -> Self {
        let first = if is_remote(bundle.root()) { Kind::PollRemote } else { Kind::System };
        Self::start_as(bundle, first, notify)
    }

    fn start_as(bundle: Arc<LocalBundle>, kind: Kind, notify: impl Fn(Changed) + Send + 'static) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let roots = Roots::of(&bundle);
        let (backend, notice) = Backend::start(&roots.real, kind, STOPPED);
        let task = Task {
            bundle,
            roots,
            notify: Box::new(notify),
            stopped: stopped.clone(),
            backend,
            debounce: Debounce::default(),
            gone: false,
            restarts: 0,
        };
        let spawned = std::thread::Builder::new().name("watch".to_owned()).spawn(move || task.run(notice));
        if let Err(e) = spawned {
            tracing::error!("the watcher's thread did not start: {e}");
        }
        Self { stopped }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
    }
}

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    System,
    /// By looking: the system could not.
    Poll,
    /// By looking: the file system is on another machine, which does not tell.
    PollRemote,
}

/// A running source of events; dropping it ends it.
struct Backend {
    events: Receiver<notify::Result<Event>>,
    _watcher: Box<dyn notify::Watcher + Send>,
}

impl Backend {
    /// Always a backend, and what to tell when it is not the system's own. `cause` says why [`Kind::Poll`] is asked for.
    fn start(root: &Path, kind: Kind, cause: &str) -> (Self, Option<String>) {
        // Links are not followed: what lies outside the bundle is none of ours.
        let config = Config::default().with_follow_symlinks(false).with_poll_interval(POLL);
        let why = match kind {
            Kind::System => match Self::system(root, config) {
                Ok(backend) => return (backend, None),
                Err(e) => explain(&e),
            },
            Kind::Poll => cause.to_owned(),
            Kind::PollRemote => "this file system does not tell about changes".to_owned(),
        };
        let seconds = POLL.as_secs();
        let notice = format!("{why}; looking for changes every {seconds} seconds instead");
        let (sender, events) = channel();
        match PollWatcher::new(sender.clone(), config).map(|mut watcher| {
            let watching = watcher.watch(root, RecursiveMode::Recursive);
            (watcher, watching)
        }) {
            Ok((watcher, Ok(()))) => (Self { events, _watcher: Box::new(watcher) }, Some(notice)),
            Ok((_, Err(e))) | Err(e) => {
                let notice =
                    format!("changes of files are not noticed: {}; restart to see them", explain(&e));
                (Self { events, _watcher: Box::new(Idle(sender)) }, Some(notice))
            }
        }
    }

    fn system(root: &Path, config: Config) -> notify::Result<Self> {
        let (sender, events) = channel();
        let mut watcher = RecommendedWatcher::new(sender, config)?;
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(Self { events, _watcher: Box::new(watcher) })
    }
}

/// Never tells anything; holds the channel open.
struct Idle(
    #[expect(dead_code, reason = "kept so that the channel stays open")] Sender<notify::Result<Event>>,
);

impl notify::Watcher for Idle {
    fn new<F: notify::EventHandler>(_: F, _: Config) -> notify::Result<Self> {
        Ok(Self(channel().0))
    }
    fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
        Ok(())
    }
    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Ok(())
    }
    fn kind() -> notify::WatcherKind {
        notify::WatcherKind::NullWatcher
    }
}

/// The watcher's thread.
struct Task {
    bundle: Arc<LocalBundle>,
    roots: Roots,
    notify: Box<dyn Fn(Changed) + Send>,
    stopped: Arc<AtomicBool>,
    backend: Backend,
    debounce: Debounce,
    /// The folder was gone when it was last looked at.
    gone: bool,
    restarts: usize,
}

impl Task {
    fn run(mut self, notice: Option<String>) {
        if let Some(notice) = notice {
            self.tell(Changed::Notice(notice));
        }
        let mut check = Instant::now() + CHECK;
        while !self.stopped.load(Ordering::SeqCst) {
            let due = self.debounce.due().filter(|_| !self.gone);
            let wake = due.map_or(check, |due| due.min(check));
            match self.backend.events.recv_timeout(wake.saturating_duration_since(Instant::now())) {
                Ok(event) => {
                    self.hear(event, &mut check);
                    // All that is known before anything is told: a file that is back already was not deleted. Not
                    // for ever, as events may come faster than they are heard.
                    for _ in 0..AT_ONCE {
                        let Ok(event) = self.backend.events.try_recv() else { break };
                        self.hear(event, &mut check);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The watching thread of the system's watcher is dead.
                Err(RecvTimeoutError::Disconnected) => {
                    self.restarts += 1;
                    self.restart(if self.restarts > RESTARTS { Kind::Poll } else { Kind::System }, STOPPED);
                }
            }
            let now = Instant::now();
            if now >= check {
                self.look_at_root();
                check = Instant::now() + CHECK;
            }
            if !self.gone
                && let Some(changed) = self.debounce.take(now)
            {
                self.tell(changed);
            }
        }
    }

    fn tell(&self, changed: Changed) {
        if !self.stopped.load(Ordering::SeqCst) {
            (self.notify)(changed);
        }
    }

    fn restart(&mut self, kind: Kind, cause: &str) {
        let (backend, notice) = Backend::start(&self.roots.real, kind, cause);
        self.backend = backend;
        if let Some(notice) = notice {
            self.tell(Changed::Notice(notice));
        }
        self.debounce.note(Seen::Lost, Instant::now());
    }

    fn look_at_root(&mut self) {
        let gone = !self.bundle.is_in_place();
        match (self.gone, gone) {
            (false, true) => {
                self.debounce.clear();
                self.gone = true;
                self.tell(Changed::RootGone);
            }
            (true, false) => {
                self.gone = false;
                let kind = if is_remote(self.bundle.root()) { Kind::PollRemote } else { Kind::System };
                self.restart(kind, STOPPED);
            }
            _ => {}
        }
    }

    fn hear(&mut self, event: notify::Result<Event>, check: &mut Instant) {
        if self.gone {
            return;
        }
        let now = Instant::now();
        let event = match event {
            Ok(event) => event,
            Err(e) if matches!(e.kind, notify::ErrorKind::MaxFilesWatch) => {
                self.restart(Kind::Poll, &explain(&e));
                return;
            }
            Err(e) => {
                tracing::warn!("watching: {}", explain(&e));
                self.debounce.note(Seen::Lost, now);
                return;
            }
        };
        if event.need_rescan() {
            self.debounce.note(Seen::Lost, now);
        }
        let about_root = event.paths.iter().any(|path| self.roots.is_root(path));
        if about_root && !matches!(event.kind, EventKind::Access(_)) {
            *check = now;
        }
        for seen in self.roots.seen(&event) {
            self.debounce.note(seen, now);
        }
    }
}

/// The names under which events may speak of the bundle's folder.
struct Roots {
    given: PathBuf,
    /// Without symbolic links: what is watched.
    real: PathBuf,
}

impl Roots {
    fn of(bundle: &LocalBundle) -> Self {
        let given = bundle.root().to_path_buf();
        let real = std::fs::canonicalize(&given).unwrap_or_else(|_| given.clone());
        Self { given, real }
    }

    fn is_root(&self, path: &Path) -> bool {
        path == self.real || path == self.given
    }

    /// What an event means for the bundle.
    fn seen(&self, event: &Event) -> Vec<Seen> {
        let paths = || event.paths.iter().filter(|path| !self.is_root(path));
        let at = |path: &PathBuf| self.bundle_path(path);
        match event.kind {
            // Reading a file makes these; who reads on every change would never stop.
            EventKind::Access(_) => Vec::new(),
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)) => {
                paths().filter_map(at).map(Seen::Removed).collect()
            }
            EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => match event.paths.as_slice() {
                // Moved away under a name of no interest is how an editor keeps a copy: the file comes back.
                [from, to] => match (self.bundle_path(from), self.appeared(to)) {
                    (Some(from), Some(to)) => vec![Seen::Moved(from), to],
                    (Some(from), None) => vec![Seen::Removed(from)],
                    (None, to) => to.into_iter().collect(),
                },
                _ => paths().filter_map(at).map(Seen::Changed).collect(),
            },
            EventKind::Create(CreateKind::Folder) => paths().filter_map(at).map(Seen::NewFolder).collect(),
            EventKind::Create(CreateKind::File) => paths().filter_map(at).map(Seen::Changed).collect(),
            EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)) => {
                paths().filter_map(|path| self.appeared(path)).collect()
            }
            // Only polling says this of a folder, for every file that comes or goes in it, which is told as well.
            EventKind::Modify(ModifyKind::Metadata(MetadataKind::WriteTime)) => {
                paths().filter(|path| !is_folder(path)).filter_map(at).map(Seen::Changed).collect()
            }
            EventKind::Modify(_) | EventKind::Any | EventKind::Other => {
                paths().filter_map(at).map(Seen::Changed).collect()
            }
        }
    }

    fn appeared(&self, path: &Path) -> Option<Seen> {
        let at = self.bundle_path(path)?;
        Some(if is_folder(path) { Seen::NewFolder(at) } else { Seen::Changed(at) })
    }

    /// The path in the bundle, or of the nearest folder that a bundle path can name; none for what is ignored.
    fn bundle_path(&self, path: &Path) -> Option<BundlePath> {
        let below = path.strip_prefix(&self.real).or_else(|_| path.strip_prefix(&self.given)).ok()?;
        let mut at = BundlePath::root();
        let mut names = below.components().peekable();
        while let Some(name) = names.next() {
            let Some(next) = name.as_os_str().to_str().and_then(|n| at.join(n).ok()) else { break };
            let ignored = match names.peek() {
                Some(_) => next.name().starts_with('.'),
                None => is_ignored(next.name()),
            };
            if ignored {
                return None;
            }
            at = next;
        }
        Some(at)
    }
}

/// Files that editors and we make on the way to a save: no pages, gone in a moment.
fn is_ignored(name: &str) -> bool {
    let swap = |name: &str| {
        let mut tail = name.chars().rev();
        tail.next().is_some_and(char::is_alphanumeric)
            && (tail.next(), tail.next(), tail.next()) == (Some('w'), Some('s'), Some('.'))
    };
    name.starts_with(TEMPORARY)
        || name == "4913"
        || name == ".git"
        || name.ends_with('~')
        || name.starts_with(".#")
        || (name.starts_with('#') && name.ends_with('#') && name.len() > 1)
        || (name.starts_with('.') && swap(name))
}

/// Whether a folder is there, links not followed.
fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether the file system belongs to another machine, so that this one is not told of all changes. The numbers are
/// those of Linux's `statfs(2)`: NFS, SMB, CIFS, SMB2, 9P (folders of a host in its guests), VirtualBox.
#[cfg(target_os = "linux")]
fn is_remote(root: &Path) -> bool {
    const REMOTE: [u32; 6] = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x786F_4256];
    // The field's type differs between machines; the numbers fit 32 bits on all.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    rustix::fs::statfs(root).is_ok_and(|system| REMOTE.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}

/// An error of the watcher without paths of the host.
fn explain(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit of watched folders is reached (fs.inotify.max_user_watches)".to_owned()
        }
        notify::ErrorKind::Io(e) => match e.raw_os_error() {
            Some(number) if number == rustix::io::Errno::MFILE.raw_os_error() => {
                "the system's limit of watchers is reached (fs.inotify.max_user_instances)".to_owned()
            }
            _ => format!("the system does not watch this folder ({})", e.kind()),
        },
        notify::ErrorKind::PathNotFound => "the folder is gone".to_owned(),
        _ => "the system does not watch this folder".to_owned(),
    }
}
