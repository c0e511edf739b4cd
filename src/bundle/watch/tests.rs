use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, DataChange, Flag, RemoveKind};
use notify::{Event, EventKind};
use tempfile::TempDir;

use super::debounce::{Debounce, Seen};
use super::{Changed, CreateKind, Kind, ModifyKind, RenameMode, Roots, Watcher, is_ignored};
use crate::bundle::{EntryKind, LocalBundle, Read, Write};
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn paths(texts: &[&str]) -> Option<Changed> {
    Some(Changed::Paths(texts.iter().map(|t| path(t)).collect()))
}

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn a_burst_is_told_once_after_silence() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    d.note(Seen::Changed(path("/b.md")), t);
    d.note(Seen::Changed(path("/a.md")), t + MS(30));
    d.note(Seen::Changed(path("/b.md")), t + MS(40));
    assert_eq!(d.due(), Some(t + MS(90)));
    assert_eq!(d.take(t + MS(89)), None);
    assert_eq!(d.take(t + MS(90)), paths(&["/a.md", "/b.md"]));
    assert_eq!(d.due(), None);
}

#[test]
fn a_burst_that_never_ends_is_told_after_a_quarter_second() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    for i in 0..10 {
        d.note(Seen::Changed(path("/a.md")), t + MS(i * 30));
    }
    assert_eq!(d.due(), Some(t + MS(250)));
}

#[test]
fn w05_what_no_editor_does_is_told_once_when_it_is_over() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    let page = |n: u64| path(&format!("/p{n:02}.md"));
    for n in 0..25 {
        d.note(Seen::NewFolder(path(&format!("/d{n:02}"))), t + MS(8 * n));
        d.note(Seen::Removed(page(n)), t + MS(20 * n));
    }
    // The last one is gone for good 300 ms after it went.
    assert_eq!(d.take(t + MS(779)), None);
    let Some(Changed::Paths(told)) = d.take(t + MS(780)) else { panic!("nothing told") };
    assert_eq!(told.len(), 50);
    // What was put into the new folders too early to be seen is looked for once, not once a folder.
    assert_eq!(d.due(), Some(t + MS(8 * 24 + 1500)));
    assert_eq!(d.take(t + MS(8 * 24 + 1500)), Some(Changed::Everything));
    assert_eq!(d.due(), None);
    // It does not go on for ever.
    for n in 0..1000 {
        d.note(Seen::Changed(page(n % 30)), t + MS(n * 10));
    }
    assert_eq!(d.due(), Some(t + MS(5000)));
}

#[test]
fn a_short_absence_is_no_deletion() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    d.note(Seen::Removed(path("/a.md")), t);
    assert_eq!(d.take(t + MS(250)), None);
    d.note(Seen::Changed(path("/a.md")), t + MS(260));
    assert_eq!(d.take(t + MS(310)), paths(&["/a.md"]));
    assert_eq!(d.due(), None);
    d.note(Seen::Removed(path("/b.md")), t);
    assert_eq!(d.take(t + MS(300)), paths(&["/b.md"]));
}

#[test]
fn new_folders_are_told_again_and_cover_what_is_below() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    d.note(Seen::NewFolder(path("/n")), t);
    d.note(Seen::Changed(path("/n/x.md")), t);
    d.note(Seen::Changed(path("/n-x.md")), t);
    assert_eq!(d.take(t + MS(50)), paths(&["/n", "/n-x.md"]));
    assert_eq!(d.take(t + MS(300)), paths(&["/n"]));
    assert_eq!(d.take(t + MS(1500)), paths(&["/n"]));
    assert_eq!(d.due(), None);
}

#[test]
fn w02_too_many_paths_and_lost_events_mean_everything() {
    let (mut d, t) = (Debounce::default(), Instant::now());
    for i in 0..=1000 {
        d.note(Seen::Changed(path(&format!("/{i}.md"))), t);
    }
    let due = d.due().unwrap();
    assert_eq!(d.take(due), Some(Changed::Everything));
    d.note(Seen::Lost, t);
    let due = d.due().unwrap();
    assert_eq!(d.take(due), Some(Changed::Everything));
}

#[test]
fn files_on_the_way_to_a_save_are_ignored() {
    for ignored in [".wikiwright-12-0", "4913", "p.md~", ".p.md.swp", ".p.md.swx", ".#p.md", "#p.md#", ".git"]
    {
        assert!(is_ignored(ignored), "{ignored}");
    }
    for page in ["p.md", ".hidden.md", "4913.md", "#1.md", "a~b.md", "x.swp", ".okfignore", "#"] {
        assert!(!is_ignored(page), "{page}");
    }
}

#[test]
fn events_become_paths_of_the_bundle() {
    let roots = Roots { given: PathBuf::from("/link"), real: PathBuf::from("/no/such/root") };
    let seen = |kind, names: &[&str]| {
        let event = names.iter().fold(Event::new(kind), |event, name| event.add_path(PathBuf::from(name)));
        roots.seen(&event)
    };
    let data = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    let name = |mode| EventKind::Modify(ModifyKind::Name(mode));
    assert_eq!(seen(data, &["/no/such/root/a/b.md"]), [Seen::Changed(path("/a/b.md"))]);
    assert_eq!(seen(data, &["/link/a.md"]), [Seen::Changed(path("/a.md"))]);
    assert_eq!(seen(data, &["/elsewhere/a.md"]), []);
    assert_eq!(seen(data, &["/link/.git/index"]), []);
    assert_eq!(seen(data, &["/link/.obsidian/a/b.md"]), []);
    assert_eq!(seen(EventKind::Access(AccessKind::Any), &["/link/a.md"]), []);
    assert_eq!(seen(EventKind::Create(CreateKind::Folder), &["/link/n"]), [Seen::NewFolder(path("/n"))]);
    assert_eq!(seen(EventKind::Remove(RemoveKind::File), &["/link/a.md"]), [Seen::Removed(path("/a.md"))]);
    assert_eq!(seen(name(RenameMode::From), &["/link/a.md"]), [Seen::Removed(path("/a.md"))]);
    let moved = [Seen::Moved(path("/a.md")), Seen::Changed(path("/b.md"))];
    assert_eq!(seen(name(RenameMode::Both), &["/link/a.md", "/link/b.md"]), moved);
    assert_eq!(seen(name(RenameMode::Both), &["/link/a.md", "/link/a.md~"]), [Seen::Removed(path("/a.md"))]);
    let landed = [Seen::Changed(path("/a.md"))];
    assert_eq!(seen(name(RenameMode::Both), &["/link/.wikiwright-1-2", "/link/a.md"]), landed);
    assert_eq!(seen(data, &["/link/a/b\\c.md"]), [Seen::Changed(path("/a"))], "the folder stands for it");
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    assert!(lost.need_rescan() && roots.seen(&lost).is_empty());
}

/// A bundle on disk, its watcher, and what was told.
struct Watched {
    temp: TempDir,
    bundle: Arc<LocalBundle>,
    told: Receiver<Changed>,
    _watcher: Watcher,
}

impl Watched {
    fn new(kind: Kind) -> Self {
        let temp = TempDir::new().unwrap();
        std::fs::create_dir_all(temp.path().join("b/wiki")).unwrap();
        std::fs::write(temp.path().join("b/wiki/p.md"), "one").unwrap();
        Self::over(temp, "b", kind)
    }

    fn over(temp: TempDir, root: &str, kind: Kind) -> Self {
        let bundle = Arc::new(LocalBundle::open(&temp.path().join(root)).unwrap());
        let (sender, told) = channel();
        let watcher = Watcher::start_as(bundle.clone(), kind, move |changed| {
            let _ = sender.send(changed);
        });
        Self { temp, bundle, told, _watcher: watcher }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("b")
    }

    /// Collects what is told until `enough`, for ten seconds at most.
    fn until(&self, mut enough: impl FnMut(&Changed) -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(10);
        while let Ok(changed) = self.told.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if enough(&changed) {
                return true;
            }
        }
        false
    }

    fn until_path(&self, wanted: &str) -> bool {
        let wanted = path(wanted);
        self.until(|changed| match changed {
            Changed::Paths(paths) => paths.iter().any(|p| wanted.is_within(p)),
            Changed::Everything => true,
            _ => false,
        })
    }
}

/// What a model that looks again only where it is told to would know.
fn look(bundle: &dyn Read, known: &mut BTreeMap<BundlePath, Vec<u8>>, changed: &Changed) {
    let paths = match changed {
        Changed::Paths(paths) => paths.clone(),
        Changed::Everything => vec![BundlePath::root()],
        _ => return,
    };
    for path in paths {
        known.retain(|known, _| !known.is_within(&path));
        let files = match bundle.stat(&path).map(|s| s.kind) {
            Ok(EntryKind::File) => vec![path],
            Ok(EntryKind::Directory) => bundle.glob("*", &path).unwrap_or_default(),
            _ => Vec::new(),
        };
        known.extend(files.into_iter().filter_map(|f| Some((f.clone(), bundle.read_bytes(&f).ok()?))));
    }
}

#[test]
fn w04_every_way_to_save_is_noticed() {
    let watched = Watched::new(Kind::System);
    let page = watched.root().join("wiki/p.md");
    let mut known = BTreeMap::new();
    let mut flash = false;
    let mut expect = |content: &str| {
        let found = watched.until(|changed| {
            look(&*watched.bundle, &mut known, changed);
            flash |= !known.contains_key(&path("/wiki/p.md"));
            known.get(&path("/wiki/p.md")).is_some_and(|bytes| bytes == content.as_bytes())
        });
        assert!(found, "{content}: {known:?}");
    };
    std::fs::write(&page, "in place").unwrap();
    expect("in place");
    std::fs::write(watched.root().join("wiki/tmp1"), "by rename").unwrap();
    std::fs::rename(watched.root().join("wiki/tmp1"), &page).unwrap();
    expect("by rename");
    let gap = Instant::now();
    std::fs::rename(&page, watched.root().join("wiki/p.md~")).unwrap();
    std::fs::write(&page, "after a backup").unwrap();
    let short = gap.elapsed() < MS(200);
    expect("after a backup");
    watched.bundle.write(&path("/wiki/p.md"), b"by us").unwrap();
    expect("by us");
    // On a machine so busy that the page was away for long, it was rightly told as deleted.
    assert!(!flash || !short, "the page was never told as deleted");
    std::fs::rename(&page, watched.root().join("wiki/q.md")).unwrap();
    assert!(watched.until(|changed| {
        look(&*watched.bundle, &mut known, changed);
        known.contains_key(&path("/wiki/q.md")) && !known.contains_key(&path("/wiki/p.md"))
    }));
    std::fs::remove_dir_all(watched.root().join("wiki")).unwrap();
    assert!(watched.until(|changed| {
        look(&*watched.bundle, &mut known, changed);
        known.is_empty()
    }));
}

#[test]
fn w01_files_in_new_nested_folders_are_not_missed() {
    let watched = Watched::new(Kind::System);
    for i in 0..200 {
        let folder = watched.root().join(format!("n{i}/a/b/c"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("x.md"), i.to_string()).unwrap();
    }
    let mut known = BTreeMap::new();
    let complete = watched.until(|changed| {
        look(&*watched.bundle, &mut known, changed);
        (0..200).all(|i| known.get(&path(&format!("/n{i}/a/b/c/x.md"))) == Some(&i.to_string().into_bytes()))
    });
    assert!(complete, "{} of 200", known.len());
    std::fs::write(watched.root().join("n7/a/b/c/late.md"), "x").unwrap();
    assert!(watched.until_path("/n7/a/b/c/late.md"));
}

#[test]
fn a_root_reached_through_a_link_is_watched_under_its_own_name() {
    let temp = TempDir::new().unwrap();
    std::fs::create_dir(temp.path().join("b")).unwrap();
    std::os::unix::fs::symlink("b", temp.path().join("link")).unwrap();
    let watched = Watched::over(temp, "link", Kind::System);
    std::fs::write(watched.root().join("x.md"), "x").unwrap();
    assert!(watched.until_path("/x.md"));
}

#[test]
fn w06_a_root_that_goes_and_comes_back_is_told() {
    let watched = Watched::new(Kind::System);
    let away = watched.temp.path().join("away");
    std::fs::rename(watched.root(), &away).unwrap();
    assert!(watched.until(|changed| *changed == Changed::RootGone));
    std::fs::create_dir(watched.root()).unwrap();
    assert!(!watched.bundle.is_in_place(), "another folder of the same name is not the bundle");
    std::fs::remove_dir(watched.root()).unwrap();
    std::fs::rename(&away, watched.root()).unwrap();
    assert!(watched.until(|changed| *changed == Changed::Everything));
    std::fs::write(watched.root().join("wiki/new.md"), "x").unwrap();
    assert!(watched.until_path("/wiki/new.md"));
}

#[test]
fn w03_polling_takes_over_and_says_so() {
    let watched = Watched::new(Kind::Poll);
    assert!(
        watched.until(|changed| matches!(changed, Changed::Notice(text) if text.contains("every 2 seconds")))
    );
    std::fs::write(watched.root().join("wiki/new.md"), "x").unwrap();
    assert!(watched.until_path("/wiki/new.md"));
}

#[test]
fn reading_is_no_change() {
    let watched = Watched::new(Kind::System);
    for _ in 0..50 {
        watched.bundle.read(&path("/wiki/p.md")).unwrap();
    }
    std::fs::write(watched.root().join("wiki/z.md"), "x").unwrap();
    let mut told = Vec::new();
    assert!(watched.until(|changed| {
        told.push(changed.clone());
        *changed == Changed::Paths(vec![path("/wiki/z.md")])
    }));
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn dropping_ends_the_thread() {
    let temp = TempDir::new().unwrap();
    let held = Arc::new(Mutex::new(()));
    let inside = held.clone();
    let bundle = Arc::new(LocalBundle::open(temp.path()).unwrap());
    let watcher = Watcher::start(bundle, move |_| drop(inside.lock()));
    drop(watcher);
    let end = Instant::now() + Duration::from_secs(10);
    while Arc::strong_count(&held) > 1 && Instant::now() < end {
        std::thread::sleep(MS(10));
    }
    assert_eq!(Arc::strong_count(&held), 1);
}
