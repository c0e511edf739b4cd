//! Files of conversations.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn store(folder: &Path) -> Store {
    Store { folder: folder.join("state/sessions"), bundle: "wiki".to_owned() }
}

fn say(text: &str) -> Record {
    Record::Input { input: Input::Say(text.to_owned()) }
}

#[test]
fn a_conversation_is_kept_for_its_person_alone_and_goes_on_after_a_torn_line() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    let mut keeping = store.begin(Role::Manager, "m");
    assert_eq!(store.list().unwrap().len(), 0, "nothing was said yet");
    let mut recorder = keeping.recorder.take().unwrap();
    recorder.record(&say("one")).unwrap();
    let kept = &store.list().unwrap()[0];
    assert_eq!((kept.first.as_str(), kept.messages, kept.opened.role), ("one", 1, Role::Manager));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&kept.file), mode(kept.file.parent().unwrap())), (0o600, 0o700));
    assert!(store.take_up(kept).err().unwrap().to_string().contains("another wikiwright"));
    drop(recorder);
    // The machine died while a line was written.
    OpenOptions::new().append(true).open(&kept.file).unwrap().write_all(b"{\"kind\":\"inp").unwrap();
    let mut again = store.take_up(kept).unwrap();
    assert_eq!(again.past.len(), 2);
    again.recorder.as_mut().unwrap().record(&say("two")).unwrap();
    let loaded = load(&kept.file).unwrap();
    assert_eq!((loaded.records.len(), loaded.skipped), (3, 1));
    assert_eq!(loaded.records[2], say("two"));
}

#[test]
fn old_conversations_are_forgotten_and_other_files_are_not() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    for _ in 0..2 {
        store.begin(Role::Reader, "m").recorder.unwrap().record(&say("x")).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let kept = store.list().unwrap();
    assert_eq!(kept.len(), 2);
    let other = store.folder.join("notes.txt");
    std::fs::write(&other, "x").unwrap();
    let old = SystemTime::now() - Duration::from_secs(91 * 86_400);
    for file in [&kept[1].file, &other] {
        File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    store.prune(90);
    assert_eq!(store.list().unwrap().len(), 1);
    assert!(other.exists());
}

#[test]
fn a_conversation_is_found_by_the_beginning_of_its_id() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    for role in [Role::Manager, Role::Manager, Role::Reader] {
        store.begin(role, "m").recorder.unwrap().record(&say("x")).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let ids: Vec<String> = store.list().unwrap().iter().map(|kept| kept.opened.id.clone()).collect();
    let century = &ids[0][..2];
    assert_eq!(store.find(None, &ids[1]).unwrap().opened.id, ids[1]);
    assert_eq!(store.find(Some(Role::Reader), century).unwrap().opened.id, ids[0]);
    for (role, id, said) in [
        (None, century, "more than one conversation on this bundle"),
        (Some(Role::Manager), century, "more than one conversation of the manager on this bundle"),
        (Some(Role::Reader), ids[1].as_str(), "no conversation of the reader on this bundle"),
        (None, "x", "no conversation on this bundle has an id that starts with x"),
    ] {
        let why = store.find(role, id).err().unwrap().to_string();
        assert!(why.contains(said), "{why}");
    }
}
