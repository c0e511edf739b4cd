//! The history: what was applied, taking it back and bringing it about again, on a folder with a ledger.

use std::sync::Arc;

use wikiwright::agent::{AgentCommand, Role};
use wikiwright::bundle::ledger::Keep;
use wikiwright::bundle::ledger::record::Origin;
use wikiwright::bundle::{Bundle, ChangeKind, ChangeSet, Decision, FileChange, LocalBundle, Read};
use wikiwright::tui::state::Overlay;

use crate::rig::{Rig, path};

/// A workbench over a folder to which one set was applied.
fn applied() -> (tempfile::TempDir, Rig) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("bundle");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.md"), "one\n").unwrap();
    let local = Arc::new(LocalBundle::open(&folder).unwrap());
    let bundle = Bundle::from(local).remembering(place.path().join("state"), Keep::default());
    let file = FileChange {
        path: path("/a.md"),
        kind: ChangeKind::Modify,
        before: Some(b"one\n".as_slice().into()),
        after: Some(b"two\n".as_slice().into()),
    };
    let decision = Decision::Approved { shown: file.shown() };
    let changes = ChangeSet { id: 1, files: vec![file] };
    let origin = Origin { who: "manager".into(), message: "say two".into(), ..Origin::default() };
    let applied = bundle.apply(&changes, &[(path("/a.md"), decision)].into(), &origin);
    assert_eq!(applied.landed.len(), 1, "{applied:?}");
    let mut rig = Rig::sample((120, 40));
    rig.kept = bundle;
    (place, rig)
}

#[test]
fn an_applied_set_is_shown_taken_back_and_brought_about_again() {
    let (_place, mut rig) = applied();
    rig.keys("f9");
    let screen = rig.screen();
    for part in ["manager", "set 1, 1 file say two", "changed a.md", "- one", "+ two"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    rig.keys("r");
    assert!(rig.screen().contains("was not taken back"), "{}", rig.screen());
    rig.keys("u");
    assert!(rig.screen().contains("Take set 1 back and write 1 file now?"), "{}", rig.screen());
    assert_eq!(rig.kept.read(&path("/a.md")).unwrap(), "two\n", "asked first");
    rig.keys("y");
    assert_eq!(rig.kept.read(&path("/a.md")).unwrap(), "one\n");
    assert!(rig.screen().contains("1 written"), "{}", rig.screen());
    let told = rig.told.last();
    assert!(
        matches!(told, Some((Role::Manager, AgentCommand::Tell(note))) if note.contains("- /a.md")),
        "{told:?}"
    );
    rig.keys("enter f9 j");
    assert!(rig.screen().contains("undo of 1") && rig.screen().contains("taken back"), "{}", rig.screen());
    rig.keys("r y");
    assert_eq!(rig.kept.read(&path("/a.md")).unwrap(), "two\n");
}

#[test]
fn a_file_that_was_changed_since_is_not_taken_back() {
    let (place, mut rig) = applied();
    std::fs::write(place.path().join("bundle/a.md"), "mine\n").unwrap();
    rig.keys("f9 u y");
    assert!(rig.screen().contains("1 not written"), "{}", rig.screen());
    assert_eq!(rig.kept.read(&path("/a.md")).unwrap(), "mine\n");
    assert!(rig.told.is_empty());
}

#[test]
fn a_bundle_without_a_history_says_so() {
    let mut rig = Rig::sample((40, 12));
    rig.keys("f9");
    assert!(rig.screen().contains("This bundle keeps no history"), "{}", rig.screen());
    rig.keys("esc");
    assert!(rig.state.overlays.is_empty());
}

#[test]
fn what_was_just_written_is_taken_back_with_a_key() {
    let (_place, mut rig) = applied();
    rig.propose(&[("/wiki/pond.md", Some("# Pond\n"))]);
    rig.keys("A y");
    assert!(matches!(&rig.state.overlays[..], [Overlay::Summary { summary, .. }] if summary.undo));
    assert!(rig.screen().contains("u takes it back"), "{}", rig.screen());
    // The rig writes to memory; the ledger of the folder has one set, and that is turned.
    rig.keys("u");
    assert_eq!(rig.kept.read(&path("/a.md")).unwrap(), "one\n");
}
