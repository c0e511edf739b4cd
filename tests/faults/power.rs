//! The power goes. A file system in an image file is copied while a process applies sets to it: what is in the copy is what the
//! disk would hold, as nothing but finished writes reach the image. The copy is mounted and the bundle in it opened.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::support::{
    MOUNTS, Tree, between, child, child_root, inside, ledger, origin, plant, run, skipped, tree, wait,
};

/// The bundle after so many sets. Each set changes two files, moves one with other content, and makes or deletes one in a
/// folder of its own.
pub fn state(sets: usize) -> Tree {
    let long = |what: &str| format!("{what} {sets}\n").repeat(400).into_bytes();
    let mut files = Tree::from([
        ("a.md".to_owned(), long("a")),
        ("sub/b.md".to_owned(), long("b")),
        (format!("sub/c{sets}.md"), long("c")),
    ]);
    if sets % 2 == 1 {
        files.insert(format!("new/deep{sets}/d.md"), long("d"));
    }
    files
}

/// Applies one set after the other, and says after each how many have landed.
#[test]
#[ignore = "the child half of the tests below"]
fn child_applies_sets() {
    let Some(root) = child_root() else { return };
    let (place, notes) = (root.join("m"), root.join("notes"));
    let ledger = ledger(&place);
    ledger.open().unwrap().unwrap();
    std::fs::write(notes.join("ready"), "").unwrap();
    while !notes.join("go").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for sets in 0.. {
        let (changes, decisions) = between(&state(sets), &state(sets + 1));
        let applied = ledger.apply(&changes, &decisions, &origin());
        assert!(applied.failed.is_empty(), "{:?}", applied.failed);
        // Whole at any moment, as it is read at any moment.
        std::fs::write(notes.join("next"), (sets + 1).to_string()).unwrap();
        std::fs::rename(notes.join("next"), notes.join("landed")).unwrap();
    }
}

/// A file system in a file, mounted; all of it gone with the value.
struct Disk {
    temp: tempfile::TempDir,
}

impl Disk {
    /// ext4 with these mount options. In memory, so that copies are quick.
    fn new(options: &str) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let temp = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let disk = Self { temp };
        std::fs::File::create(disk.image()).unwrap().set_len(8 << 20).unwrap();
        for folder in ["m", "copy", "notes"] {
            std::fs::create_dir(disk.at(folder)).unwrap();
        }
        run("mkfs.ext4", &["-q", "-b", "1024", "-J", "size=1", disk.image().to_str().unwrap()])?;
        disk.mount("image", "m", options)?;
        plant(&disk.at("m/bundle"), &state(0));
        run("sync", &["-f", disk.at("m").to_str().unwrap()])?;
        Ok(disk)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn image(&self) -> PathBuf {
        self.at("image")
    }

    fn mount(&self, image: &str, at: &str, options: &str) -> Result<(), String> {
        let options = format!("loop,{options}");
        let (image, at) = (self.at(image), self.at(at));
        run("mount", &["-o", &options, image.to_str().unwrap(), at.to_str().unwrap()]).map(drop)
    }

    fn unmount(&self, at: &str) {
        let _ = run("umount", &[self.at(at).to_str().unwrap()]);
    }

    /// How many sets the child was told to have landed.
    fn landed(&self) -> usize {
        std::fs::read_to_string(self.at("notes/landed")).ok().and_then(|t| t.parse().ok()).unwrap_or(0)
    }

    /// What the disk holds at one moment. Two equal copies in a row: nothing was written in between.
    fn snapshot(&self) -> Vec<u8> {
        let mut before = std::fs::read(self.image()).unwrap();
        loop {
            let after = std::fs::read(self.image()).unwrap();
            if before == after {
                return after;
            }
            before = after;
        }
    }

    /// Switches a copy on and opens the bundle in it: all of a set or nothing, and no set lost of which was said that it
    /// landed. `Err` says what is wrong.
    fn switch_on(&self, snapshot: &[u8], landed: usize) -> Result<(), String> {
        // Each in a file of its own: a loop device that is on its way out would be taken again, with what it remembers.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("off{}", COUNT.fetch_add(1, Ordering::Relaxed));
        std::fs::write(self.at(&name), snapshot).unwrap();
        self.mount(&name, "copy", "noatime")?;
        let verdict = self.judge(&self.at("copy"), landed);
        run("umount", &[self.at("copy").to_str().unwrap()])?;
        std::fs::remove_file(self.at(&name)).unwrap();
        verdict
    }

    fn judge(&self, root: &Path, landed: usize) -> Result<(), String> {
        let ledger = ledger(root);
        ledger.open().map_err(|e| format!("recovery failed: {e}"))?;
        let files = tree(&root.join("bundle"));
        let Some(sets) = [landed, landed + 1].into_iter().find(|sets| files == state(*sets)) else {
            let sizes: Vec<_> = files.iter().map(|(name, bytes)| (name, bytes.len())).collect();
            return Err(format!("neither the state after {landed} sets nor the next: {sizes:?}"));
        };
        let history = ledger.history().map_err(|e| e.to_string())?;
        if history.len() != sets {
            return Err(format!("{sets} sets are in place and {} are remembered", history.len()));
        }
        // What was remembered can be taken back, and the next set lands.
        if let Some(newest) = history.first() {
            ledger.undo(newest).map_err(|e| format!("no undo: {e}"))?;
        }
        let (changes, decisions) = between(&state(sets), &state(sets + 1));
        let applied = ledger.apply(&changes, &decisions, &origin());
        if !applied.failed.is_empty() {
            return Err(format!("the next set does not land: {:?}", applied.failed));
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount("copy");
        self.unmount("m");
    }
}

/// Calls after which the power is cut.
const CALLS: &str =
    "openat,write,fchmod,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,fsync,fdatasync";

/// The child and the tracer that stops it; both end with the value.
struct Traced {
    child: Child,
    tracer: Child,
}

impl Drop for Traced {
    fn drop(&mut self) {
        for process in [&mut self.tracer, &mut self.child] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// What cutting the power showed.
#[derive(Debug, Default)]
struct Cut {
    /// Sets that were said to have landed meanwhile.
    landed: usize,
    /// System calls that were said to have been done and were not.
    dropped: Vec<String>,
    /// The first thing that was wrong, and when.
    wrong: Option<String>,
}

/// Whether every thread of a process stands still.
fn stopped(pid: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let state = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("stat")).ok();
    // After the name, which is in parentheses.
    let still = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['t', 'T']));
    threads.flatten().all(|thread| state(thread).is_none_or(still))
}

/// Cuts the power `moments` times, after each system call of a process that applies sets. `fault` goes to
/// strace; with one, the cuts begin after it. `Err` when that cannot be done here.
fn cut(options: &str, moments: usize, fault: &[&str]) -> Result<Cut, String> {
    let disk = Disk::new(options)?;
    let mut started = child(&[], "power::child_applies_sets", disk.temp.path());
    let child = started.stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id().to_string();
    // Attached earlier, it would be stopped on its way here.
    assert!(wait(Duration::from_secs(60), || disk.at("notes/ready").exists()), "the child starts");
    let tracer = Command::new("strace")
        .args(["-f", "-y", "-s", "0", "-p", &pid, "-e", &format!("trace={CALLS}")])
        .args(["-e", &format!("inject={CALLS}:signal=SIGSTOP")])
        .args(fault)
        .stderr(Stdio::piped())
        .spawn();
    let mut traced = Traced { child, tracer: tracer.map_err(|e| format!("strace does not run here ({e})"))? };
    let told = BufReader::new(traced.tracer.stderr.take().unwrap());
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    // Silence ends it: a test that hangs says nothing.
    let next = || lines.recv_timeout(Duration::from_secs(20)).ok();
    let first =
        std::iter::from_fn(next).find(|line| line.contains("attached") || line.contains("not permitted"));
    if !first.is_some_and(|line| line.contains("attached")) {
        return Err("strace may not attach here".to_owned());
    }
    std::fs::write(disk.at("notes/go"), "").unwrap();
    let (mut call, mut stops, mut cut) = (String::new(), 0, Cut::default());
    while cut.wrong.is_none() && stops < moments {
        let line = next().unwrap_or_else(|| panic!("no call in 20 seconds after {call}"));
        if !line.contains("---") {
            if line.contains("(INJECTED)") {
                cut.dropped.push(line.clone());
            }
            call = line;
        } else if line.contains("stopped by SIGSTOP") && stopped(&pid) {
            // Each thread tells of a stop, the last one when all of them stand still.
            stops += usize::from(fault.is_empty() || !cut.dropped.is_empty());
            if stops > 0 {
                // Stopped: what was said to have landed by now was said before the power went.
                cut.landed = disk.landed();
                let snapshot = disk.snapshot();
                let verdict = disk.switch_on(&snapshot, cut.landed);
                cut.wrong = verdict.err().map(|e| format!("{stops} calls on, after {call}: {e}"));
            }
            run("kill", &["-CONT", &pid]).unwrap();
        }
    }
    Ok(cut)
}

/// Content may reach the disk after its name, as on the file systems that promise the least.
const HARSH: &str = "noatime,data=writeback,noauto_da_alloc";

/// Whether images can be mounted and processes traced, which is said where not.
fn possible() -> bool {
    let disk = Disk::new(HARSH);
    match disk.map(drop).and_then(|()| run("strace", &["-o", "/dev/null", "true"]).map(drop)) {
        Ok(()) => true,
        Err(why) => {
            skipped(&why);
            false
        }
    }
}

#[test]
#[ignore = "needs root, mount and strace; the faults profile runs it"]
fn d02_a_power_cut_leaves_all_or_nothing_and_loses_nothing_that_was_said_to_have_landed() {
    let name = "power::d02_a_power_cut_leaves_all_or_nothing_and_loses_nothing_that_was_said_to_have_landed";
    if !inside(MOUNTS, name) || !possible() {
        return;
    }
    let moments = 500;
    for options in ["noatime", HARSH] {
        let cut = cut(options, moments, &[]).unwrap();
        assert_eq!(cut.wrong, None, "{options}");
        assert!(cut.dropped.is_empty() && cut.landed >= 2, "{options}: {cut:?}");
        eprintln!("{options}: {moments} cuts, {} sets landed", cut.landed);
    }
}

#[test]
#[ignore = "needs root, mount and strace; the faults profile runs it"]
fn d03_the_power_cut_shows_when_the_fsync_of_any_content_is_missing() {
    let name = "power::d03_the_power_cut_shows_when_the_fsync_of_any_content_is_missing";
    if !inside(MOUNTS, name) || !possible() {
        return;
    }
    // Which fsync of the first set is which.
    let temp = tempfile::tempdir().unwrap();
    let synced = super::order::synced(&temp.path().canonicalize().unwrap()).unwrap();
    let contents =
        ["state/staging.tmp", "bundle/.wikiwright-", "state/blobs/", "state/journal.tmp", "state/history/0"];
    for content in contents {
        let is_it = |path: &String| path.starts_with(content);
        let nth = synced.iter().position(is_it).unwrap_or_else(|| panic!("{content}: {synced:?}")) + 1;
        let fault = format!("inject=fsync:retval=0:signal=SIGSTOP:when={nth}");
        let cut = cut(HARSH, 250, &["-e", &fault]).unwrap();
        assert_eq!(cut.dropped.len(), 1, "{cut:?}");
        eprintln!("without {}: {}", synced[nth - 1], cut.wrong.as_deref().unwrap_or("nothing"));
        assert!(cut.wrong.is_some(), "nothing shows that {} is not on the disk", synced[nth - 1]);
    }
}
