//! The review: what arrives, what is decided, what is written and what the manager hears.

use std::sync::Arc;

use wikiwright::agent::{AgentCommand, AgentEvent, Role};
use wikiwright::bundle::apply::Applied;
use wikiwright::bundle::{ErrorKind, Read, Write};
use wikiwright::tui::event::Event;
use wikiwright::tui::keymap::{Keymap, Layer};
use wikiwright::tui::state::review::Mark;
use wikiwright::tui::state::{Overlay, Pane};

use crate::rig::{Rig, path};

const WIDE: (u16, u16) = (120, 40);
const NEW: &str = "/wiki/concepts/pond.md";
const OLD: &str = "/wiki/concepts/sea-gate.md";
const POND: &str = "---\ntype: Concept\ntitle: Pond\ndescription: A pond.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Pond\n\nSee [nothing](nowhere.md).\n";

fn proposed() -> Rig {
    let mut rig = Rig::sample(WIDE);
    rig.propose(&[(NEW, Some(POND)), (OLD, Some("---\ntype: Concept\n---\n\n# Sea gate\n\nChanged.\n"))]);
    rig
}

fn reported(rig: &Rig) -> &Applied {
    match rig.told.last() {
        Some((Role::Manager, AgentCommand::Reviewed { applied, .. })) => applied,
        other => panic!("the manager heard {other:?}"),
    }
}

#[test]
fn a_finished_turn_with_changes_opens_the_review_and_writes_nothing() {
    let rig = proposed();
    assert!(matches!(rig.state.overlays[..], [Overlay::Review]));
    assert!(!rig.bundle.exists(&path(NEW)).unwrap());
    let screen = rig.screen();
    assert!(screen.contains("Review: 2 files") && screen.contains("pond.md"), "{screen}");
    assert!(screen.contains("nowhere.md"), "the diff of the new page is drawn: {screen}");
}

#[test]
fn the_verdict_is_about_the_proposed_bundle() {
    let rig = proposed();
    let verdict = rig.state.review.as_ref().unwrap().verdict.as_ref().unwrap();
    assert!(verdict.appeared.iter().any(|f| f.starts_with("L001 wiki/concepts/pond.md")), "{verdict:?}");
    assert!(rig.screen().contains("If all of it is written:"));
}

#[test]
fn approving_one_file_writes_exactly_what_was_shown_and_the_other_stays_staged() {
    let mut rig = proposed();
    rig.keys("y enter");
    assert_eq!(rig.bundle.read(&path(NEW)).unwrap(), POND);
    assert!(rig.bundle.read(&path(OLD)).unwrap().contains("Opens by itself."));
    let applied = reported(&rig);
    assert_eq!(applied.landed, [path(NEW)]);
    assert_eq!(rig.state.staged.files.len(), 1);
    assert!(rig.screen().contains("1 written"), "{}", rig.screen());
    rig.keys("enter ctrl-r");
    assert!(rig.screen().contains("Review: 1 file,"), "{}", rig.screen());
}

#[test]
fn approve_all_states_the_counts_before_it_writes() {
    let mut rig = proposed();
    rig.keys("A");
    let screen = rig.screen();
    assert!(screen.contains("Approve all 3 changes and write them now?"), "{screen}");
    assert!(screen.contains("2 files: 1 created, 1 modified"), "{screen}");
    assert!(!rig.bundle.exists(&path(NEW)).unwrap());
    rig.keys("n");
    assert!(rig.state.review.as_ref().unwrap().decisions().is_empty());
    rig.keys("A y");
    assert_eq!(reported(&rig).landed.len(), 2);
    assert!(rig.state.staged.is_empty() && rig.state.review.is_none());
}

#[test]
fn a_rejection_carries_its_reason_to_the_manager() {
    let mut rig = proposed();
    rig.keys("x \"no source\" enter enter");
    assert_eq!(reported(&rig).rejected, [(path(NEW), "no source".to_owned())]);
    assert!(!rig.bundle.exists(&path(NEW)).unwrap());
    assert!(rig.screen().contains("no source"));
}

#[test]
fn escape_parks_the_review_and_decides_nothing() {
    let mut rig = proposed();
    rig.keys("y esc");
    assert!(rig.state.overlays.is_empty() && rig.told.is_empty());
    assert!(!rig.bundle.exists(&path(NEW)).unwrap());
    rig.keys("ctrl-r");
    assert_eq!(rig.state.review.as_ref().unwrap().files[0].marks, [Mark::Approved]);
    rig.keys("K u");
    assert!(rig.state.review.as_ref().unwrap().decisions().is_empty());
}

#[test]
fn keys_pressed_before_the_review_is_seen_go_to_the_composer() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3");
    rig.stage(&[(NEW, Some(POND))]);
    let changes = rig.staged.changes();
    rig.undrawn(Event::Agent(Role::Manager, AgentEvent::AwaitingReview(changes)));
    rig.keys("\"yes A\"");
    assert_eq!(rig.state.chat().composer.text(), "yes A");
    assert!(rig.state.review.as_ref().unwrap().decisions().is_empty() && rig.state.overlays.is_empty());
}

#[test]
fn a_review_does_not_open_over_a_draft() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"half a sen\"");
    rig.propose(&[(NEW, Some(POND))]);
    assert!(rig.state.overlays.is_empty());
    assert!(rig.screen().contains("1 file waits for review: Ctrl-R opens it."), "{}", rig.screen());
    rig.keys("\"tence\"");
    assert!(rig.screen().contains("1 file waits"), "it is said while they write: {}", rig.screen());
    rig.keys("ctrl-r");
    assert_eq!(rig.state.chat().composer.text(), "half a sentence");
    assert!(matches!(rig.state.overlays[..], [Overlay::Review]));
}

#[test]
fn a_review_waits_for_who_took_back_just_now_what_they_wrote() {
    for (since, opens) in [(200, false), (2000, true)] {
        let mut rig = Rig::sample(WIDE);
        rig.keys("alt-3 \"n\" backspace");
        rig.state.clock += std::time::Duration::from_millis(since);
        rig.propose(&[(NEW, Some(POND))]);
        assert_eq!(!rig.state.overlays.is_empty(), opens, "{since} ms after the last letter");
    }
}

#[test]
fn what_is_said_does_not_hide_the_keys() {
    for size in [WIDE, (80, 24)] {
        let mut rig = Rig::sample(size);
        rig.propose(&[(NEW, Some(POND))]);
        rig.keys("esc");
        let screen = rig.screen();
        assert!(screen.contains("1 file waits for review: Ctrl-R opens it."), "{screen}");
        assert!(screen.lines().last().unwrap().contains("F6 next pane"), "{screen}");
    }
}

#[test]
fn what_is_said_is_not_run_together_with_the_banner() {
    let mut rig = Rig::sample((80, 24));
    rig.state.fixed.banner =
        Some("Demo: a banner that goes on to the right edge of the screen, or nearly".into());
    rig.propose(&[(NEW, Some(POND))]);
    rig.keys("esc");
    let screen = rig.screen();
    let row = screen.lines().find(|line| line.contains("waits for review")).unwrap();
    assert_eq!(row.trim(), "1 file waits for review: Ctrl-R opens it.");
}

#[test]
fn the_files_that_wait_are_counted_in_the_same_words_everywhere() {
    let mut rig = proposed();
    assert!(rig.screen().contains("Review: 2 files"), "{}", rig.screen());
    rig.keys("esc");
    assert!(rig.screen().contains("2 files wait for review: Ctrl-R opens it."), "{}", rig.screen());
    rig.keys("alt-3");
    assert_eq!(rig.screen().matches("2 files wait").count(), 2, "at the conversation and in the last line");
    rig.keys("ctrl-q");
    assert!(rig.screen().contains("2 files wait for review and will be lost."), "{}", rig.screen());
    rig.keys("n ctrl-r y enter");
    assert!(rig.screen().contains("1 file waits for review"), "{}", rig.screen());
}

#[test]
fn a_file_that_changed_on_disk_comes_back_marked_and_refused_if_it_changes_again() {
    let mut rig = proposed();
    rig.keys("J");
    rig.bundle.write(&path(OLD), b"# Somebody else\n").unwrap();
    rig.reload();
    assert!(rig.screen().contains("changed on disk"), "{}", rig.screen());
    assert!(rig.screen().contains("- # Somebody else"), "{}", rig.screen());
    rig.bundle.write(&path(OLD), b"# Somebody else, again\n").unwrap();
    rig.keys("y enter");
    let failed: Vec<_> = reported(&rig).failed.iter().map(|(p, e)| (p.clone(), e.kind)).collect();
    assert_eq!(failed, [(path(OLD), ErrorKind::Conflict)]);
    assert_eq!(rig.bundle.read(&path(OLD)).unwrap(), "# Somebody else, again\n");
    assert!(rig.screen().contains("1 not written"), "{}", rig.screen());
}

#[test]
fn a_decision_does_not_survive_another_proposal_for_the_same_file() {
    let mut rig = proposed();
    rig.keys("y");
    rig.stage(&[(NEW, Some("# Something else\n"))]);
    let changes = rig.staged.changes();
    rig.manager(AgentEvent::Staged(changes));
    let review = rig.state.review.as_ref().unwrap();
    let file = review.files.iter().find(|f| f.weighed.path == path(NEW)).unwrap();
    assert_eq!(file.marks, [Mark::Open]);
    assert_eq!(file.weighed.shown, rig.staged.changes().file(&path(NEW)).unwrap().shown());
}

#[test]
fn a_stale_answer_about_an_older_set_is_dropped() {
    let mut rig = proposed();
    let old = Arc::clone(&rig.state.staged);
    rig.stage(&[("/wiki/concepts/third.md", Some("# Third\n"))]);
    let changes = rig.staged.changes();
    rig.manager(AgentEvent::Staged(changes));
    rig.event(Event::Weighed { changes: old, files: Vec::new(), bonds: Vec::new(), open: None });
    assert_eq!(rig.state.review.as_ref().unwrap().files.len(), 3);
}

#[test]
fn the_walk_goes_change_by_change_and_file_by_file() {
    let mut rig = proposed();
    rig.keys("}");
    assert_eq!(rig.state.review.as_ref().unwrap().selected, 1);
    rig.keys("{");
    assert_eq!(rig.state.review.as_ref().unwrap().selected, 0);
    rig.keys("n n n n n n");
    assert_eq!(rig.state.review.as_ref().unwrap().selected, 1, "past the last change comes the next file");
}

#[test]
fn focus_stays_where_it_was_after_the_review() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3");
    rig.propose(&[(NEW, Some(POND))]);
    rig.keys("A y enter");
    assert_eq!(rig.state.focus, Pane::Chat);
    assert!(rig.state.overlays.is_empty());
}

#[test]
fn the_forecast_follows_what_is_rejected() {
    let mut rig = proposed();
    let broken = |rig: &Rig| {
        let verdict = rig.state.review.as_ref().unwrap().verdict.clone().unwrap();
        verdict.appeared.iter().filter(|f| f.starts_with("L001")).count()
    };
    assert_eq!(broken(&rig), 1);
    rig.keys("x \"no\" enter");
    assert_eq!(broken(&rig), 0, "the page with the broken link is not written");
    assert!(rig.screen().contains("If all but the rejected is written:"), "{}", rig.screen());
    rig.keys("u");
    assert_eq!(broken(&rig), 1);
}

#[test]
fn approve_all_says_what_the_linter_would() {
    let mut rig = proposed();
    rig.keys("A");
    let screen = rig.screen();
    assert!(screen.contains("findings are new"), "{screen}");
}

#[test]
fn undo_takes_the_last_decision_back_when_the_file_at_hand_has_none() {
    let mut rig = proposed();
    rig.keys("y");
    let review = rig.state.review.as_ref().unwrap();
    assert_eq!((review.tally(), review.selected), ((1, 0, 2), 1), "the next file is at hand");
    rig.keys("u");
    let review = rig.state.review.as_ref().unwrap();
    assert_eq!((review.tally(), review.selected), ((0, 0, 3), 0));
    rig.keys("u");
    assert!(rig.screen().contains("No decision to take back"), "{}", rig.screen());
}

#[test]
fn a_file_that_no_wiki_needs_is_marked_in_the_list_over_its_diff_and_in_the_question() {
    for size in [(40, 16), (80, 24), (120, 40)] {
        let mut rig = Rig::sample(size);
        rig.propose(&[("/etc/passwd", Some("root\n")), ("/wiki/foo.exe", Some("MZ\n"))]);
        let plain = |rig: &Rig| {
            let text = rig.screen().replace(['┃', '│'], " ");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let screen = plain(&rig);
        assert!(screen.contains("! etc/passwd") && screen.contains("! wiki/foo.exe"), "{}", rig.screen());
        let said = "! This file lies outside wiki/, where the pages are.";
        if size.0 < 90 {
            assert!(screen.contains(said), "{}", rig.screen());
        } else {
            assert!(rig.screen().contains(said), "{}", rig.screen());
        }
        rig.keys("tab");
        assert!(plain(&rig).contains("is named like a program"), "{}", rig.screen());
        rig.keys("A");
        assert!(plain(&rig).contains("2 files are marked"), "{}", rig.screen());
    }
    let mut rig = Rig::sample((120, 40));
    rig.propose(&[("/wiki/pond.md", Some("# Pond\n"))]);
    assert!(!rig.screen().contains("! "), "{}", rig.screen());
}

/// A wiki with one finding that can be fixed and one that cannot.
fn fixable() -> Rig {
    let mut files = crate::rig::sample();
    for (at, text) in &mut files {
        match *at {
            "/wiki/index.md" => {
                *text = "# Index\n\n* [Mill](/wiki/concepts/tide-mill.md)\n* [Gate](concepts/sea-gate.md)\n* [Gone](gone.md)\n"
            }
            "/wiki/log.md" => *text = "# Log\n",
            _ => {}
        }
    }
    Rig::new(files, WIDE)
}

/// Chooses the finding of this rule in the list.
fn choose(rig: &mut Rig, code: &str) {
    rig.keys("f8 home");
    for _ in 0..rig.state.report.as_ref().unwrap().findings.len() {
        let Some(Overlay::Problems(list)) = rig.state.overlays.last() else { panic!("no list") };
        if rig.state.problem(list.rows[list.selected]).is_some_and(|finding| finding.rule.code == code) {
            return;
        }
        rig.keys("down");
    }
    panic!("no {code}");
}

#[test]
fn the_fix_of_a_finding_is_reviewed_before_it_is_made() {
    let mut rig = fixable();
    choose(&mut rig, "L002");
    rig.keys("f");
    let screen = rig.screen();
    assert!(screen.contains("Review: 1 file") && screen.contains("concepts/tide-mill.md"), "{screen}");
    let before = rig.bundle.read(&path("/wiki/index.md")).unwrap();
    rig.keys("esc");
    assert_eq!(rig.bundle.read(&path("/wiki/index.md")).unwrap(), before);
    assert!(rig.state.staged.is_empty() && matches!(rig.state.overlays[..], [Overlay::Problems(_)]));
    rig.keys("f y enter");
    let after = before.replace("(/wiki/concepts", "(concepts");
    assert_eq!(rig.bundle.read(&path("/wiki/index.md")).unwrap(), after);
    assert!(rig.told.is_empty(), "the manager did not propose it");
    assert!(rig.state.staged.is_empty() && rig.state.review.is_none() && rig.state.mending.is_none());
    rig.keys("esc");
    choose(&mut rig, "L001");
    rig.keys("f");
    assert!(rig.screen().contains("This finding has no fix"), "{}", rig.screen());
}

#[test]
fn what_the_manager_proposes_waits_for_the_end_of_a_fix() {
    let mut rig = fixable();
    choose(&mut rig, "L002");
    rig.keys("f");
    rig.propose(&[(NEW, Some(POND))]);
    assert!(rig.screen().contains("tide-mill.md") && !rig.screen().contains("pond.md"), "{}", rig.screen());
    rig.keys("y enter");
    assert!(rig.told.is_empty());
    assert_eq!(rig.state.staged.files.len(), 1);
    rig.keys("esc ctrl-r");
    assert!(rig.screen().contains("pond.md"), "{}", rig.screen());
    rig.keys("esc");
    choose(&mut rig, "L001");
    rig.keys("f");
    assert!(rig.state.mending.is_none());
}

#[test]
fn every_key_of_the_review_is_named_below_it_and_first_in_the_help() {
    let keymap = Keymap::shipped();
    for size in [(160, 45), (120, 40)] {
        let mut rig = Rig::sample(size);
        rig.propose(&[(NEW, Some(POND))]);
        let screen = rig.screen();
        let rows: Vec<&str> = screen.lines().collect();
        let footer = rows[rows.len() - 5..].join(" ");
        for (title, keys) in keymap.help(Layer::Review) {
            let first = keys.split("  ").next().unwrap();
            assert!(footer.split([' ', '/', '┃']).any(|word| word == first), "{title}: {first}\n{screen}");
        }
        rig.keys("f1");
        let screen = rig.screen();
        let (review, everywhere) = (screen.find("Review").unwrap(), screen.find("Everywhere"));
        assert!(everywhere.is_none_or(|everywhere| review < everywhere), "{screen}");
        assert!(screen.contains("approve everything"), "{screen}");
    }
}
