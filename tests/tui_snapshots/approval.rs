//! The faults of other programs' approvals, by the numbers of the list they were gathered in: what is shown is what is
//! applied, hunk by hunk, and whoever proposed it hears exactly that.

use wikiwright::agent::{AgentCommand, AgentEvent, Carried, Role};
use wikiwright::bundle::apply::Applied;
use wikiwright::bundle::hunk::{FileDecision, Resolved};
use wikiwright::bundle::{Decision, Error, ErrorKind, Read, Write, hunk};
use wikiwright::tui::event::Event;
use wikiwright::tui::keymap::Key;
use wikiwright::tui::state::Overlay;
use wikiwright::tui::state::review::{Mark, Review};

use crate::rig::{Rig, path};

const WIDE: (u16, u16) = (120, 40);
const PAGE: &str = "/wiki/concepts/sea-gate.md";
const NEW: &str = "/wiki/concepts/pond.md";
const POND: &str = "---\ntype: Concept\ntitle: Pond\ndescription: A pond.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Pond\n\nHolds water. See the [mill](tide-mill.md).\n";

fn review(rig: &Rig) -> &Review {
    rig.state.review.as_ref().unwrap()
}

fn resolved(rig: &Rig) -> &Resolved {
    match rig.told.last() {
        Some((Role::Manager, AgentCommand::Reviewed { resolved, .. })) => resolved,
        other => panic!("the manager heard {other:?}"),
    }
}

/// What the driver does with the outcome.
fn settle(rig: &mut Rig) {
    let Some((_, AgentCommand::Reviewed { resolved, applied })) = rig.told.last().cloned() else { panic!() };
    rig.staged.settle_resolved(&resolved, &applied);
    let changes = rig.staged.changes();
    rig.manager(AgentEvent::Staged(changes));
}

/// The page with three changes: one in the frontmatter, two in the text.
fn three(rig: &mut Rig) -> String {
    let text = rig.bundle.read(&path(PAGE)).unwrap();
    let text = text
        .replace("description: A gate.", "description: A gate for the tide.")
        .replace("Opens by itself.", "Opens by the ebb.")
        .replace("The flood pushes it.", "The flood shuts it.");
    rig.propose(&[(PAGE, Some(&text))]);
    text
}

fn press(rig: &mut Rig, key: &str) {
    let key = Key::parse(key).unwrap();
    rig.undrawn(Event::Key(crossterm::event::KeyEvent::new(key.code, key.modifiers)));
}

#[test]
fn t51_nothing_is_approved_before_its_content_is_on_screen() {
    let mut rig = Rig::sample(WIDE);
    rig.stage(&[(NEW, Some(POND))]);
    let changes = rig.staged.changes();
    rig.undrawn(Event::Agent(Role::Manager, AgentEvent::Staged(changes)));
    press(&mut rig, "ctrl-r");
    press(&mut rig, "y");
    assert_eq!(review(&rig).files[0].marks, [Mark::Open]);
    assert!(rig.state.notice.as_ref().unwrap().text.contains("still being drawn"));
    rig.frame();
    assert!(rig.screen().contains("wiki/concepts/pond.md") && rig.screen().contains("Holds water."));
    rig.keys("y");
    assert_eq!(review(&rig).files[0].marks, [Mark::Approved]);
}

#[test]
fn t52_a_decision_is_for_what_was_shown_and_a_newer_proposal_stays_one() {
    let mut rig = Rig::sample(WIDE);
    rig.propose(&[(NEW, Some(POND))]);
    rig.keys("y");
    // Proposed anew, and the workbench has not heard of it yet.
    rig.stage(&[(NEW, Some("# Another pond\n"))]);
    rig.keys("enter");
    assert_eq!(rig.bundle.read(&path(NEW)).unwrap(), POND, "what was shown is what was written");
    settle(&mut rig);
    let left = rig.staged.changes();
    assert_eq!(left.files[0].after.as_deref(), Some(&b"# Another pond\n"[..]));
    assert_eq!(left.files[0].before.as_deref(), Some(POND.as_bytes()));
    rig.keys("enter ctrl-r");
    assert!(review(&rig).decisions().is_empty());
    // And a decision about the one does not pass for the other.
    let old = resolved(&rig).proposed.clone();
    let verdict = FileDecision::Whole(Decision::Approved { shown: old.files[0].shown() });
    let now = hunk::resolve(&left, &[(path(NEW), verdict)].into());
    let applied = wikiwright::bundle::apply(rig.bundle.as_ref(), &now.changes, &now.decisions);
    assert_eq!(applied.failed[0].1.kind, ErrorKind::Conflict);
}

#[test]
fn t53_a_proposal_that_changes_nothing_is_none() {
    let mut rig = Rig::sample(WIDE);
    let text = rig.bundle.read(&path(PAGE)).unwrap();
    rig.stage(&[(PAGE, Some("other\n")), (PAGE, Some(&text))]);
    let changes = rig.staged.changes();
    rig.manager(AgentEvent::AwaitingReview(changes));
    assert!(rig.state.overlays.is_empty());
    rig.keys("ctrl-r");
    assert!(rig.screen().contains("Nothing is staged."));
}

#[test]
fn t54_all_of_a_long_change_can_be_reached_by_keys_that_are_named() {
    for size in [(40, 16), (80, 24), (120, 40), (200, 60)] {
        let mut rig = Rig::sample(size);
        let text: String = (1..=60).map(|n| format!("Line {n} with {}\n", "words ".repeat(20))).collect();
        rig.propose(&[(NEW, Some(&text))]);
        assert!(rig.screen().contains("more "), "{}", rig.screen());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..400 {
            let screen = rig.screen();
            let there = |number: &i32| screen.contains(&format!("Line {number} with"));
            seen.extend((1..=60).filter(there));
            let before = rig.state.review.as_ref().unwrap().files[0].top;
            rig.keys("pagedown");
            if rig.state.review.as_ref().unwrap().files[0].top == before {
                break;
            }
        }
        assert_eq!(seen.len(), 60, "{size:?}");
    }
}

#[test]
fn t55_an_approval_is_for_one_set_and_the_next_is_asked_about_again() {
    let mut rig = Rig::sample(WIDE);
    rig.propose(&[(NEW, Some(POND))]);
    rig.keys("A y enter");
    settle(&mut rig);
    rig.propose(&[(NEW, Some("# Pond\n\nAgain.\n"))]);
    assert!(matches!(rig.state.overlays[..], [Overlay::Review]));
    assert!(review(&rig).decisions().is_empty());
    assert_eq!(rig.bundle.read(&path(NEW)).unwrap(), POND);
}

#[test]
fn t56_the_decision_names_exactly_the_bytes_that_are_written() {
    let mut rig = Rig::sample(WIDE);
    let text = three(&mut rig);
    let shown = rig.staged.changes().files[0].shown();
    rig.keys("Y");
    assert_eq!(review(&rig).decisions()[&path(PAGE)], FileDecision::Whole(Decision::Approved { shown }));
    rig.keys("enter");
    assert_eq!(rig.bundle.read(&path(PAGE)).unwrap(), text);
}

#[test]
fn t57_a_move_is_one_decision_about_both_of_its_names() {
    let mut rig = Rig::sample(WIDE);
    rig.staged.rename(&path(PAGE), &path("/wiki/concepts/gate.md")).unwrap();
    let changes = rig.staged.changes();
    let mut other = changes.files[0].clone();
    other.kind = wikiwright::bundle::ChangeKind::Rename { from: path("/wiki/concepts/tide-mill.md") };
    assert_ne!(other.shown(), changes.files[0].shown());
    rig.manager(AgentEvent::AwaitingReview(changes));
    let screen = rig.screen();
    assert!(screen.contains("gate.md") && screen.contains("from wiki/concepts/sea-gate.md"), "{screen}");
    rig.keys("y enter");
    assert!(
        rig.screen().contains("still link") || !rig.bundle.exists(&path(PAGE)).unwrap(),
        "{}",
        rig.screen()
    );
}

#[test]
fn t60_a_file_that_somebody_changed_is_not_written_over() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.bundle.write(&path(PAGE), b"# By hand\n").unwrap();
    rig.keys("Y enter");
    assert_eq!(rig.bundle.read(&path(PAGE)).unwrap(), "# By hand\n");
    assert!(rig.screen().contains("1 not written"), "{}", rig.screen());
    assert!(rig.screen().contains("Nothing was written"), "{}", rig.screen());
    let file = &review(&rig).files[0];
    assert!(file.marks.iter().all(|mark| *mark == Mark::Open), "{file:?}");
    // It comes back over what stands there now, with what it takes away marked as such.
    assert_eq!(file.carried, Some(Carried::Contested));
    rig.keys("enter ctrl-r");
    let screen = rig.screen();
    assert!(screen.contains("- # By hand") && screen.contains("in the same lines"), "{screen}");
    assert!(screen.contains(" ! "), "marked in the list\n{screen}");
    rig.keys("A");
    assert!(rig.screen().contains("1 file is marked with !"), "{}", rig.screen());
    rig.keys("y");
    assert!(rig.bundle.read(&path(PAGE)).unwrap().contains("Opens by the ebb."));
}

#[test]
fn t60_a_file_that_changed_while_it_is_reviewed_comes_back_with_the_merge_shown() {
    let mut rig = Rig::sample(WIDE);
    let proposed = three(&mut rig);
    rig.keys("y");
    assert_eq!(review(&rig).tally(), (1, 0, 2));
    let disk = rig.bundle.read(&path(PAGE)).unwrap().replace("# Sea gate", "# Sea gate, by hand");
    rig.bundle.write(&path(PAGE), disk.as_bytes()).unwrap();
    rig.reload();
    let file = &review(&rig).files[0];
    assert_eq!((file.carried, file.stale), (Some(Carried::Merged), false));
    assert_eq!(review(&rig).tally(), (0, 0, 3), "what was decided was decided about another text");
    let screen = rig.screen();
    assert!(screen.contains("the proposal was merged with that"), "{screen}");
    assert!(screen.contains("look at it again: wiki/concepts/sea-gate.md"), "{screen}");
    assert!(screen.contains("   # Sea gate, by hand"), "{screen}");
    rig.keys("Y enter");
    let merged = proposed.replace("# Sea gate", "# Sea gate, by hand");
    assert_eq!(rig.bundle.read(&path(PAGE)).unwrap(), merged);
}

#[test]
fn an_approval_that_only_waited_for_the_rest_of_the_set_stands() {
    let mut rig = Rig::sample(WIDE);
    let text = rig.bundle.read(&path(PAGE)).unwrap().replace("Opens by itself.", "Opens by the ebb.");
    rig.propose(&[(NEW, Some(POND)), (PAGE, Some(&text))]);
    rig.keys("y y");
    let resolved = hunk::resolve(&rig.state.staged, &review(&rig).decisions());
    let refused = |kind, at: &str| (path(at), Error::new(kind, &path(at), "not written"));
    let failed = vec![refused(ErrorKind::Io, NEW), refused(ErrorKind::Conflict, PAGE)];
    rig.event(Event::Applied { resolved, applied: Applied { failed, ..Applied::default() } });
    let marks: Vec<&Mark> = review(&rig).files.iter().map(|file| file.mark()).collect();
    assert_eq!(marks, [&Mark::Approved, &Mark::Open]);
}

#[test]
fn what_was_not_written_is_said_in_full() {
    for size in [(80, 24), (40, 16)] {
        let mut rig = Rig::sample(size);
        three(&mut rig);
        rig.bundle.write(&path(PAGE), b"# By hand\n").unwrap();
        rig.keys("Y enter");
        let mut seen = String::new();
        for _ in 0..8 {
            seen.push_str(&rig.screen().replace(['\n', '┃', '█', '┆'], " "));
            rig.keys("down");
        }
        let words: Vec<&str> = seen.split_whitespace().collect();
        let end = ["read", "it", "and", "propose", "again"];
        assert!(end.iter().all(|word| words.contains(word)), "{}", rig.screen());
    }
}

#[test]
fn what_has_no_room_above_the_diff_is_said_to_be_cut_and_stands_in_the_list() {
    let mut rig = Rig::sample((40, 10));
    let with = |at: &str, link: &str| {
        rig.bundle.read(&path(at)).unwrap() + &format!("\n* [Pond]({link}) - water.\n")
    };
    let (index, page) = (with("/wiki/index.md", "concepts/pond.md"), with(PAGE, "pond.md"));
    rig.propose(&[(NEW, Some(POND)), ("/wiki/index.md", Some(&index)), (PAGE, Some(&page))]);
    let screen = rig.screen();
    assert!(screen.contains("… (f)"), "{screen}");
    // The counts fit any width.
    assert!(screen.contains("E ") && screen.contains("W ") && screen.contains("new"), "{screen}");
    rig.keys("f");
    let mut seen = String::new();
    for _ in 0..20 {
        seen.push_str(&rig.screen().replace(['\n', '┃', '█', '┆'], " "));
        rig.keys("down");
    }
    let seen: Vec<&str> = seen.split_whitespace().collect();
    let seen = seen.join(" ");
    assert!(seen.contains("If all of it is written:") && seen.contains("linked from"), "{seen}");
}

#[test]
fn t61_a_file_that_was_saved_again_unchanged_is_not_stale() {
    let mut rig = Rig::sample(WIDE);
    let text = three(&mut rig);
    let same = rig.bundle.read(&path(PAGE)).unwrap();
    rig.bundle.write(&path(PAGE), same.as_bytes()).unwrap();
    rig.reload();
    assert!(!review(&rig).files[0].stale);
    rig.keys("Y enter");
    assert_eq!(rig.bundle.read(&path(PAGE)).unwrap(), text);
}

#[test]
fn t62_what_is_left_of_a_file_stands_on_what_landed_of_it() {
    let mut rig = Rig::sample(WIDE);
    let text = three(&mut rig);
    rig.keys("y enter");
    settle(&mut rig);
    assert!(rig.bundle.read(&path(PAGE)).unwrap().contains("A gate for the tide."));
    rig.keys("enter ctrl-r");
    assert_eq!(review(&rig).files[0].marks.len(), 2, "two changes are left");
    rig.keys("Y enter");
    settle(&mut rig);
    assert_eq!(rig.bundle.read(&path(PAGE)).unwrap(), text);
    assert!(rig.staged.changes().is_empty());
}

#[test]
fn t63_all_reasons_go_in_one_message_when_the_decisions_are_written() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("x \"one\" enter x \"two\" enter y");
    assert!(rig.told.is_empty());
    rig.keys("enter");
    assert_eq!(rig.told.len(), 1);
    let reasons: Vec<&str> = resolved(&rig).rejected.iter().map(|r| r.reason.as_str()).collect();
    assert_eq!(reasons, ["one", "two"]);
}

#[test]
fn t65_each_change_of_a_file_is_decided_by_itself() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    assert!(rig.screen().contains("frontmatter: description changed"), "{}", rig.screen());
    rig.keys("y x \"not in the source\" enter i");
    rig.keys("ctrl-k \"Mine stands here.\" ctrl-s");
    assert_eq!(review(&rig).tally(), (2, 1, 0));
    rig.keys("enter");
    let now = rig.bundle.read(&path(PAGE)).unwrap();
    assert!(now.contains("A gate for the tide.") && now.contains("Opens by itself."), "{now}");
    assert!(now.contains("## How\n\nMine stands here.\n"), "{now}");
    assert_eq!(resolved(&rig).replaced[0].2, "Mine stands here.\n");
    let screen = rig.screen();
    assert!(screen.contains("changed wiki/concepts/sea-gate.md, 1 change with your text"), "{screen}");
    assert!(screen.contains("sea-gate.md, line 10: not in the source"), "{screen}");
    settle(&mut rig);
    assert!(rig.staged.changes().is_empty(), "nothing was put off");
}

#[test]
fn the_persons_editor_changes_the_proposed_text_and_a_failing_one_nothing() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("e");
    assert!(rig.screen().contains("no editor"), "{}", rig.screen());
    assert_eq!(review(&rig).tally(), (0, 0, 3));
    rig.editor = Some(|text| text.replace("for the tide", "in the dam"));
    rig.keys("e");
    assert!(matches!(review(&rig).files[0].marks[0], Mark::Edited { .. }));
    assert!(rig.screen().contains("A gate in the dam."), "{}", rig.screen());
    rig.keys("u");
    assert!(rig.screen().contains("A gate for the tide."), "{}", rig.screen());
    assert_eq!(review(&rig).tally(), (0, 0, 3));
}

#[test]
fn escape_drops_a_typed_text_only_when_pressed_twice() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("i \"x\" esc");
    assert!(matches!(rig.state.overlays[..], [Overlay::Review, Overlay::Edit(_)]));
    rig.keys("esc");
    assert!(matches!(rig.state.overlays[..], [Overlay::Review]));
    assert_eq!(review(&rig).tally(), (0, 0, 3));
}

#[test]
fn what_is_put_off_stays_proposed_and_is_left_out_of_approve_all() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("d A");
    assert!(
        rig.screen().contains("Approve all 2 changes") && rig.screen().contains("1 put off"),
        "{}",
        rig.screen()
    );
    rig.keys("y");
    settle(&mut rig);
    assert_eq!(rig.staged.changes().files[0].hunks().len(), 1);
    assert!(rig.screen().contains("1 file waits for review"), "{}", rig.screen());
}

#[test]
fn pages_that_need_each_other_are_marked_and_a_decision_that_strands_one_says_so() {
    let mut rig = Rig::sample(WIDE);
    let index = rig.bundle.read(&path("/wiki/index.md")).unwrap();
    let index = index.replace("* [Home]", "* [Pond](concepts/pond.md) - a pond.\n* [Home]");
    rig.propose(&[(NEW, Some(POND)), ("/wiki/index.md", Some(&index))]);
    let screen = rig.screen();
    assert!(screen.contains("⇄ wiki/concepts/pond.md") && screen.contains("⇄ wiki/index.md"), "{screen}");
    assert!(screen.contains("is linked from wiki/index.md"), "{screen}");
    rig.keys("x \"no\" enter");
    let torn = "wiki/index.md would link to wiki/concepts/pond.md, which is not written.";
    assert!(rig.state.notice.as_ref().unwrap().text.contains(torn));
    assert!(rig.screen().contains(&format!("! {torn}")), "{}", rig.screen());
    rig.keys("y enter");
    assert!(rig.screen().contains("Write what is approved all the same?"), "{}", rig.screen());
    rig.keys("n u u");
    assert!(review(&rig).torn.is_empty());
    // The page alone would be written without its line in the index.
    rig.keys("y enter");
    assert!(rig.screen().contains("would be written without the links to it"), "{}", rig.screen());
    rig.keys("y");
    assert!(rig.bundle.exists(&path(NEW)).unwrap());
}

#[test]
fn the_verdict_counts_links_orphans_and_citations_and_lists_them_all() {
    let mut rig = Rig::sample(WIDE);
    let mill = rig.bundle.read(&path("/wiki/concepts/tide-mill.md")).unwrap();
    let mill = mill.replace("See the [sea gate](sea-gate.md).", "See [the source](../../raw/source.txt).");
    rig.propose(&[("/wiki/concepts/lost.md", Some(POND)), ("/wiki/concepts/tide-mill.md", Some(&mill))]);
    let verdict = review(&rig).verdict.clone().unwrap();
    assert_eq!((verdict.healed, verdict.broken), (1, 0), "{verdict:?}");
    assert_eq!(verdict.cited, ["wiki/concepts/tide-mill.md"]);
    assert!(
        rig.screen().contains("1 link healed · citations change: wiki/concepts/tide-mill.md"),
        "{}",
        rig.screen()
    );
    rig.keys("f");
    let screen = rig.screen();
    assert!(screen.contains("− L001") && screen.contains("tide-mill.md cites other sources"), "{screen}");
    rig.keys("esc x \"no\" enter");
    assert_eq!(review(&rig).verdict.as_ref().unwrap().healed, 0);
}

#[test]
fn the_page_can_be_seen_as_it_would_be() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("x \"no\" enter v");
    let screen = rig.screen();
    assert!(screen.contains("as it would be") && screen.contains("Opens by the ebb."), "{screen}");
    assert!(
        screen.contains("A gate.") && !screen.contains("for the tide"),
        "the rejected part is not in it: {screen}"
    );
    rig.keys("v");
    assert!(matches!(rig.state.overlays[..], [Overlay::Review]));
}

#[test]
fn side_by_side_needs_140_columns() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    rig.keys("t");
    assert!(rig.screen().contains("Side by side needs 140 columns."), "{}", rig.screen());
    rig.resize(160, 40);
    rig.keys("t");
    let screen = rig.screen();
    let row = screen.lines().find(|row| row.contains("Opens by the ebb.")).unwrap();
    assert!(row.contains("- Opens by itself.") && row.contains("│"), "{row}");
    rig.keys("t");
    assert!(!rig.screen().lines().any(|row| row.contains("by itself") && row.contains("ebb")));
}

#[test]
fn a_click_takes_a_change_in_hand_and_the_wheel_scrolls() {
    let mut rig = Rig::sample(WIDE);
    three(&mut rig);
    let at = |rig: &Rig, text: &str| {
        let screen = rig.screen();
        let row = screen.lines().position(|row| row.contains(text)).unwrap();
        u16::try_from(row).unwrap()
    };
    let row = at(&rig, "+ The flood shuts it.");
    rig.click(60, row);
    assert_eq!(review(&rig).files[0].hunk, 2);
    rig.keys("y");
    assert_eq!(review(&rig).files[0].marks[2], Mark::Approved);
    rig.keys("o");
    rig.resize(120, 20);
    rig.mouse(crossterm::event::MouseEventKind::ScrollDown, 60, row.min(12));
    assert!(review(&rig).files[0].top > 0);
}
