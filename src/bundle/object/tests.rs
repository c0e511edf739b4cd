use std::sync::Barrier;
use std::sync::mpsc::channel;

use object_store::PutPayload;
use object_store::memory::InMemory;

use super::*;
use crate::bundle::watch::Changed;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn over(store: &Arc<InMemory>, prefix: &str) -> ObjectBundle {
    ObjectBundle::new(store.clone(), prefix.into()).unwrap()
}

fn put(store: &InMemory, key: &str, bytes: &'static [u8]) {
    let key = Path::parse(key).unwrap();
    futures::executor::block_on(store.put(&key, PutPayload::from_static(bytes))).unwrap();
}

fn raw(store: &InMemory, key: &str) -> Option<Vec<u8>> {
    futures::executor::block_on(async {
        Some(store.get(&Path::parse(key).unwrap()).await.ok()?.bytes().await.unwrap().to_vec())
    })
}

#[test]
fn of_two_writers_exactly_one_wins() {
    let store = Arc::new(InMemory::new());
    let bundles = [over(&store, "b"), over(&store, "b")];
    let page = path("/wiki/x.md");
    for round in 0..100_u32 {
        let before = format!("{round}");
        bundles[0].write(&page, before.as_bytes()).unwrap();
        let base = ContentHash::of(before.as_bytes());
        let start = Barrier::new(2);
        let results: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = bundles
                .iter()
                .enumerate()
                .map(|(who, bundle)| {
                    let (start, page) = (&start, &page);
                    scope.spawn(move || {
                        start.wait();
                        // Replacing against replacing, and replacing against deleting.
                        if who == 1 && round % 2 == 1 {
                            bundle.remove(page, base)
                        } else {
                            bundle.replace(page, Some(base), format!("by {who}").as_bytes())
                        }
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap().map_err(|e| e.kind)).collect()
        });
        let winner = results.iter().position(|result| result.is_ok()).unwrap();
        assert_eq!(results[1 - winner], Err(ErrorKind::Conflict), "round {round}");
        match bundles[0].read(&page) {
            Ok(text) => assert_eq!(text, format!("by {winner}")),
            Err(e) => assert_eq!((e.kind, winner, round % 2), (ErrorKind::NotFound, 1, 1)),
        }
    }
}

#[test]
fn of_two_who_create_exactly_one_wins() {
    let store = Arc::new(InMemory::new());
    let bundles = [over(&store, ""), over(&store, "")];
    for round in 0..50 {
        let page = path(&format!("/wiki/{round}.md"));
        let start = Barrier::new(2);
        let wins: usize = std::thread::scope(|scope| {
            let writers: Vec<_> = bundles
                .iter()
                .map(|bundle| {
                    let (start, page) = (&start, &page);
                    scope.spawn(move || {
                        start.wait();
                        bundle.replace(page, None, b"x")
                    })
                })
                .collect();
            writers.into_iter().map(|w| usize::from(w.join().unwrap().is_ok())).sum()
        });
        assert_eq!(wins, 1);
    }
}

#[test]
fn deleting_leaves_no_object_behind() {
    let store = Arc::new(InMemory::new());
    let bundle = over(&store, "b");
    bundle.write(&path("/x.md"), b"x").unwrap();
    bundle.write(&path("/y.md"), b"y").unwrap();
    bundle.delete(&path("/x.md")).unwrap();
    bundle.rename(&path("/y.md"), &path("/z.md")).unwrap();
    assert_eq!((raw(&store, "b/x.md"), raw(&store, "b/y.md")), (None, None));
    assert_eq!(raw(&store, "b/z.md").unwrap(), b"y");
}

#[test]
fn a_gravestone_is_no_file_and_keeps_its_place_for_a_while() {
    let store = Arc::new(InMemory::new());
    let bundle = over(&store, "b");
    put(&store, "b/wiki/x.md", GRAVESTONE);
    put(&store, "b/wiki/y.md", b"y");
    let page = path("/wiki/x.md");
    assert!(!bundle.exists(&page).unwrap());
    assert_eq!(bundle.read(&page).unwrap_err().kind, ErrorKind::NotFound);
    for entries in [bundle.list(&path("/wiki")).unwrap(), bundle.walk(&path("/wiki")).unwrap().0] {
        let names: Vec<&str> = entries.iter().map(|e| e.path.name()).collect();
        assert_eq!(names, ["y.md"]);
    }
    let refused = bundle.replace(&page, None, b"new").unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    assert!(refused.message.contains("being deleted"), "{refused}");
    let later = SystemTime::now() + ABANDONED + Duration::from_secs(1);
    bundle.create(&page, b"new", later).unwrap();
    assert_eq!(bundle.read(&page).unwrap(), "new");
    assert_eq!(bundle.create(&page, b"newer", later).unwrap_err().kind, ErrorKind::Conflict);
    put(&store, "b/wiki/x.md", GRAVESTONE);
    assert_eq!(bundle.remove(&page, ContentHash::of(GRAVESTONE)).unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn what_other_tools_leave_in_a_store_is_shown_for_what_it_is() {
    let store = Arc::new(InMemory::new());
    let bundle = over(&store, "b");
    put(&store, "b/wiki/x.md", b"x");
    put(&store, "b/wiki", b"");
    put(&store, "b/both", b"file");
    put(&store, "b/both/x.md", b"x");
    put(&store, "bundle/elsewhere.md", b"x");
    put(&store, "b/.wikiwright-1", b"x");
    let (entries, errors) = bundle.walk(&BundlePath::root()).unwrap();
    let found: Vec<_> = entries.iter().map(|e| (e.path.as_str(), e.kind == EntryKind::Directory)).collect();
    assert_eq!(found, [("/both", true), ("/both/x.md", false), ("/wiki", true), ("/wiki/x.md", false)]);
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].path.as_str(), errors[0].kind), ("/both", ErrorKind::Invalid));
    let control = bundle.write(&path("/a\tb.md"), b"x").unwrap_err();
    assert_eq!(control.kind, ErrorKind::Invalid);
}

#[test]
fn a_place_where_nothing_lies_is_no_bundle() {
    let store = Arc::new(InMemory::new());
    put(&store, "other/x.md", b"x");
    assert_eq!(over(&store, "b").require_something().unwrap_err().kind, ErrorKind::NotFound);
    over(&store, "other").require_something().unwrap();
}

#[test]
fn calls_are_allowed_within_another_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let bundle = over(&Arc::new(InMemory::new()), "");
        bundle.write(&path("/x.md"), b"x").unwrap();
        assert_eq!(bundle.read(&path("/x.md")).unwrap(), "x");
        drop(bundle);
    });
}

#[test]
fn a_poller_tells_what_came_went_and_changed() {
    let store = Arc::new(InMemory::new());
    let bundle = Arc::new(over(&store, "b"));
    for name in ["same", "changed", "gone"] {
        bundle.write(&path(&format!("/wiki/{name}.md")), b"1").unwrap();
    }
    let (sender, told) = channel();
    let poller = poll::Poller::start(bundle.clone(), Duration::from_millis(10), move |changed| {
        let _ = sender.send(changed);
    });
    assert!(matches!(told.recv().unwrap(), Changed::Notice(_)));
    bundle.write(&path("/wiki/changed.md"), b"2").unwrap();
    bundle.delete(&path("/wiki/gone.md")).unwrap();
    bundle.write(&path("/wiki/new.md"), b"1").unwrap();
    bundle.write(&path("/.git/config"), b"1").unwrap();
    let mut heard = std::collections::BTreeSet::new();
    while heard.len() < 3 {
        match told.recv_timeout(Duration::from_secs(20)).unwrap() {
            Changed::Paths(paths) => heard.extend(paths),
            other => panic!("{other:?}"),
        }
    }
    let expected = ["/wiki/changed.md", "/wiki/gone.md", "/wiki/new.md"].map(path);
    assert!(heard.iter().eq(expected.iter()), "{heard:?}");
    drop(poller);
    // The thread ends: nothing holds the other end any more.
    while told.recv_timeout(Duration::from_secs(20)).is_ok() {}
}
