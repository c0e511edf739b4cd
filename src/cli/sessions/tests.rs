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
