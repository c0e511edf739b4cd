//! The composer: what is typed, pasted, completed, commanded, queued. The numbered tests are cases of public bug reports about
//! input.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use wikiwright::agent::event::Queued;
use wikiwright::agent::{AgentCommand, AgentEvent, Role};
use wikiwright::bundle::ledger::record::Direction;
use wikiwright::tui::effect::Effect;
use wikiwright::tui::event::Event;
use wikiwright::tui::state::chat::Doing;
use wikiwright::tui::state::command::Command;
use wikiwright::tui::state::picker::{Choice, Choosing};
use wikiwright::tui::state::{Overlay, Pane};

use crate::rig::Rig;

const WIDE: (u16, u16) = (120, 40);

fn chatting() -> Rig {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3");
    rig
}

fn draft(rig: &Rig) -> String {
    rig.state.chat().composer.text()
}

fn paste(rig: &mut Rig, text: &str) {
    rig.event(Event::Paste(text.to_owned()));
}

fn said(text: &str) -> (Role, AgentCommand) {
    (Role::Manager, AgentCommand::Say(text.to_owned()))
}

#[test]
fn t10_a_paste_leaves_nothing_behind_for_the_next_key() {
    let mut rig = chatting();
    paste(&mut rig, "one\ntwo");
    rig.keys("\"x\" enter");
    assert_eq!(rig.told, [said("one\ntwox")]);
    assert_eq!(draft(&rig), "");
}

#[test]
fn t11_enter_right_after_a_paste_sends_it() {
    let mut rig = chatting();
    paste(&mut rig, &"line\n".repeat(50));
    rig.keys("enter");
    assert_eq!(rig.told, [said("line\n".repeat(50).trim_end())]);
}

#[test]
fn t12_a_large_paste_is_one_insertion() {
    let mut rig = chatting();
    paste(&mut rig, &"x".repeat(17_000));
    assert_eq!(draft(&rig), "[pasted 17000 characters]");
    rig.keys("alt-z");
    assert_eq!(draft(&rig), "", "one step of undo takes it back");
}

#[test]
fn t13_pieces_of_a_paste_are_put_together_in_their_order() {
    let mut rig = chatting();
    for piece in ["one\n", "two\n", "three"] {
        paste(&mut rig, piece);
    }
    assert_eq!(draft(&rig), "one\ntwo\nthree");
    assert!(rig.told.is_empty());
}

#[test]
fn t14_a_line_break_in_a_paste_never_sends() {
    let mut rig = chatting();
    paste(&mut rig, "/quit\nyes\r\n\r");
    assert!(rig.told.is_empty() && rig.state.ended.is_none());
    assert_eq!(draft(&rig), "/quit\nyes\n\n");
}

#[test]
fn t15_three_keys_break_the_line() {
    for key in ["shift-enter", "alt-enter", "ctrl-j"] {
        let mut rig = chatting();
        rig.keys(&format!("\"a\" {key} \"b\" enter"));
        assert_eq!(rig.told, [said("a\nb")], "{key}");
    }
}

#[test]
fn t16_what_a_host_may_take_has_another_key_too() {
    for keys in [["ctrl-f", "alt-/"], ["ctrl-g", "alt-e"]] {
        let reached: Vec<(bool, usize)> = keys
            .into_iter()
            .map(|key| {
                let mut rig = chatting();
                rig.manager(AgentEvent::Text("hello".to_owned())).keys(key);
                let find = matches!(rig.state.overlays.last(), Some(Overlay::Find(_)));
                (find, usize::from(rig.state.notice.is_some()))
            })
            .collect();
        assert_eq!(reached[0], reached[1], "{keys:?}");
        assert_ne!(reached[0], (false, 0), "{keys:?}");
    }
}

#[test]
fn t17_a_key_that_is_let_go_does_nothing() {
    let mut rig = chatting();
    for kind in [KeyEventKind::Press, KeyEventKind::Repeat, KeyEventKind::Release] {
        rig.event(Event::Key(KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, kind)));
    }
    assert_eq!(draft(&rig), "aa");
}

#[test]
fn t18_an_open_popup_does_not_keep_escape_from_a_running_turn() {
    let mut rig = chatting();
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.keys("\"/re\"");
    assert!(rig.state.chat().completion.is_some());
    rig.keys("esc");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Interrupt)]);
    assert!(rig.state.chat().completion.is_none());
    assert_eq!(draft(&rig), "/re", "the draft stays");
}

#[test]
fn t18_without_a_turn_escape_closes_the_popup_and_nothing_else() {
    let mut rig = chatting();
    rig.keys("\"/re\" esc");
    assert!(rig.state.chat().completion.is_none() && rig.told.is_empty());
    assert_eq!(draft(&rig), "/re");
}

#[test]
fn t19_escape_goes_by_the_turn_and_not_by_what_is_shown_of_it() {
    let mut rig = chatting();
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.state.manager.doing = Doing::Nothing;
    rig.keys("esc");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Interrupt)]);
    rig.manager(AgentEvent::Finished { interrupted: true });
    rig.state.manager.doing = Doing::Thinking;
    rig.keys("esc");
    assert_eq!(rig.told.len(), 1);
}

/// A turn with two messages that wait.
fn waiting() -> Rig {
    let mut rig = chatting();
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.keys("\"first\" enter \"second\" enter");
    let queued = |id, text: &str| Queued { id, text: text.to_owned() };
    rig.manager(AgentEvent::Queued(vec![queued(1, "first"), queued(2, "second")]));
    rig.told.clear();
    rig
}

#[test]
fn t20_a_waiting_message_is_dropped_or_changed_while_the_turn_goes_on() {
    let mut rig = waiting();
    let screen = rig.screen();
    assert!(screen.contains("› first  waiting") && screen.contains("› second  waiting: ↑ edits"), "{screen}");
    rig.keys("ctrl-x");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Unqueue(2))]);
    assert!(!rig.screen().contains("second") && rig.state.manager.in_turn);
    rig.keys("up");
    assert_eq!(draft(&rig), "first");
    assert_eq!(rig.told[1], (Role::Manager, AgentCommand::Unqueue(1)));
    assert!(rig.state.manager.queued.is_empty() && rig.state.manager.in_turn);
}

#[test]
fn t21_many_wheel_events_scroll_as_far_as_they_say_and_never_past_the_end() {
    let mut rig = Rig::sample((120, 20));
    rig.keys("alt-3").manager(AgentEvent::Text("para\n\n".repeat(60)));
    let end = rig.state.manager.top;
    rig.mouse(MouseEventKind::ScrollUp, 100, 5);
    assert_eq!(rig.state.manager.top, end - 3);
    for _ in 0..9 {
        rig.mouse(MouseEventKind::ScrollDown, 100, 5);
    }
    assert!(rig.state.manager.follow && rig.state.manager.top == end);
}

#[test]
fn folded_pastes_are_atoms_keep_apart_and_unfold_when_sent() {
    let mut rig = chatting();
    let long = |word: &str| format!("{word}\n").repeat(120);
    paste(&mut rig, &long("a"));
    paste(&mut rig, &long("b"));
    assert_eq!(draft(&rig), "[pasted 120 lines][pasted 120 lines, 2]");
    rig.keys("backspace");
    assert_eq!(draft(&rig), "[pasted 120 lines]");
    rig.keys("\" see [pasted\" enter");
    assert_eq!(rig.told, [said(&format!("{} see [pasted", long("a")))]);
    rig.keys("up enter");
    assert_eq!(rig.told[1], rig.told[0], "what the history brings back unfolds too");
}

#[test]
fn undo_and_redo_work_on_the_field() {
    let mut rig = chatting();
    rig.keys("\"ab\"");
    paste(&mut rig, " pasted");
    rig.keys("alt-z");
    assert_eq!(draft(&rig), "ab");
    rig.keys("alt-y");
    assert_eq!(draft(&rig), "ab pasted");
    // As in a shell: what stands before the caret goes, and can come back.
    rig.keys("left left ctrl-u");
    assert_eq!(draft(&rig), "ed");
    rig.keys("alt-z");
    assert_eq!(draft(&rig), "ab pasted");
}

#[test]
fn the_persons_editor_changes_the_message_and_a_failing_one_nothing() {
    let mut rig = chatting();
    rig.keys("\"short\" ctrl-g");
    assert_eq!(draft(&rig), "short");
    assert!(rig.state.notice.as_ref().is_some_and(|n| n.bad));
    rig.editor = Some(|text| format!("{text} and\nlong\n"));
    rig.keys("ctrl-g");
    assert_eq!(draft(&rig), "short and\nlong");
}

#[test]
fn an_at_sign_completes_files_of_the_bundle() {
    let mut rig = chatting();
    rig.keys("\"see @tdm\"");
    assert!(rig.screen().contains("│ wiki/concepts/tide-mill.md"), "{}", rig.screen());
    rig.keys("enter");
    assert_eq!(draft(&rig), "see @wiki/concepts/tide-mill.md ");
    rig.keys("\"and @raw\" tab enter");
    assert_eq!(rig.told, [said("see /wiki/concepts/tide-mill.md and /raw/source.txt")]);
}

#[test]
fn a_slash_offers_the_commands_and_a_choice_runs() {
    let mut rig = chatting();
    rig.keys("\"/\"");
    let screen = rig.screen();
    assert!(screen.contains("│ /ingest ") && screen.contains("choose a source"), "{screen}");
    rig.keys("\"lnt\" enter");
    assert!(matches!(rig.state.overlays.last(), Some(Overlay::Problems(_))));
    assert_eq!(draft(&rig), "");
}

#[test]
fn an_unknown_command_says_so_and_keeps_the_text() {
    let mut rig = chatting();
    rig.keys("\"/frobnicate now\" enter");
    assert!(rig.screen().contains("There is no command /frobnicate; /help lists them."), "{}", rig.screen());
    assert_eq!(draft(&rig), "/frobnicate now");
    assert!(rig.told.is_empty());
    rig.keys("ctrl-c \"/wiki/index.md is old\" enter");
    assert_eq!(rig.told, [said("/wiki/index.md is old")], "a path is no command");
}

fn run(command: &str) -> Rig {
    let mut rig = chatting();
    rig.manager(AgentEvent::Text("An *answer*.".to_owned()));
    rig.keys(&format!("\"/{command}\" esc enter"));
    rig
}

#[test]
fn every_command_does_what_it_says() {
    for command in Command::ALL {
        let rig = run(command.name());
        let effects = format!("{:?}", rig.terminal);
        let overlay = rig.state.overlays.last();
        let done = match command {
            Command::Help => matches!(overlay, Some(Overlay::Help { .. })),
            Command::Quit => rig.state.ended == Some(0),
            Command::Review => rig.state.notice.as_ref().is_some_and(|n| n.text == "Nothing is staged."),
            Command::Lint => matches!(overlay, Some(Overlay::Problems(_))),
            // The rig keeps no ledger.
            Command::Undo => rig.state.notice.as_ref().is_some_and(|n| n.text.contains("keeps no history")),
            Command::Cost => matches!(overlay, Some(Overlay::Sheet(sheet)) if sheet.title.contains("cost")),
            Command::Role => rig.state.role == Role::Reader,
            Command::Export => effects.contains("Export") && effects.contains("An *answer*."),
            Command::Ingest => {
                matches!(overlay, Some(Overlay::Picker(p)) if p.list()[0].value == "raw/source.txt")
            }
            Command::New => effects.contains("Begin { role: Manager, id: None }"),
            Command::Resume => effects.contains("Kept(Manager)"),
            Command::Model => effects.contains("Models"),
            Command::Compact => rig.told == [(Role::Manager, AgentCommand::Compact)],
        };
        assert!(done, "/{}: {effects} {:?}", command.name(), rig.state.notice);
        assert_eq!(rig.state.manager.composer.text(), "", "/{}", command.name());
    }
}

#[test]
fn what_a_running_turn_forbids_is_refused_and_kept() {
    for command in ["new", "resume", "model", "compact"] {
        let mut rig = chatting();
        rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
        rig.keys(&format!("\"/{command}\" enter"));
        assert!(rig.screen().contains("An agent is at work"), "{command}");
        assert_eq!(draft(&rig), format!("/{command}"));
        assert!(rig.terminal.is_empty() && rig.told.is_empty(), "{command}");
    }
}

#[test]
fn a_new_conversation_never_loses_what_waits_for_review() {
    let mut rig = chatting();
    rig.propose(&[("/wiki/new.md", Some("# New\n"))]);
    rig.keys("esc alt-3 \"/new\" enter");
    assert!(rig.screen().contains(" for review, and a new conversation would lose them"), "{}", rig.screen());
    assert!(rig.terminal.is_empty());
}

#[test]
fn a_new_conversation_begins_empty_and_a_kept_one_is_taken_up() {
    let mut rig = run("new");
    rig.event(Event::Began { role: Role::Manager, fresh: true });
    assert!(rig.state.manager.entries.is_empty());
    assert_eq!(rig.state.focus, Pane::Chat);
    rig.keys("\"/resume\" enter");
    let choice = |value: &str, label: &str| Choice {
        value: value.to_owned(),
        label: label.to_owned(),
        note: "2026-01-01".to_owned(),
    };
    let kept = vec![choice("one", "Ingest the report"), choice("two", "Mend the links")];
    rig.event(Event::Choices(Choosing::Conversation, Ok(kept)));
    rig.keys("\"mnd\" enter");
    let last = rig.terminal.last();
    assert!(
        matches!(last, Some(Effect::Begin { role: Role::Manager, id: Some(id) }) if id == "two"),
        "{last:?}"
    );
}

#[test]
fn another_model_is_chosen_by_name_or_from_the_list() {
    let mut rig = run("model small");
    assert!(matches!(rig.terminal.last(), Some(Effect::Connect(name)) if name == "small"));
    rig.event(Event::Connected(Ok(("small".to_owned(), None))));
    assert_eq!(rig.state.fixed.model.as_deref(), Some("small"));
    rig.event(Event::Connected(Err("There is no such model.".to_owned())));
    assert_eq!(rig.state.fixed.model.as_deref(), Some("small"));
}

#[test]
fn sources_that_are_new_or_changed_come_first() {
    let mut files = crate::rig::sample();
    let page = |source: &str| {
        format!("---\ntype: Document\ntitle: D\ndescription: D.\nresource: ../../raw/{source}\n---\n\n# D\n")
    };
    let pages = [page("old.txt"), page("touched.txt")];
    files.extend([
        ("/raw/old.txt", "x"),
        ("/raw/touched.txt", "x"),
        ("/wiki/documents/old.md", pages[0].as_str()),
        ("/wiki/documents/touched.md", pages[1].as_str()),
    ]);
    let mut rig = Rig::new(files, WIDE);
    rig.saved = vec![
        ("/raw/touched.txt", 5_000),
        ("/wiki/documents/touched.md", 1_000),
        ("/raw/old.txt", 1_030),
        ("/wiki/documents/old.md", 1_000),
    ];
    rig.keys("alt-3 \"/ingest\" enter");
    let Some(Overlay::Picker(picker)) = rig.state.overlays.last() else { panic!("no list") };
    let list: Vec<String> = picker.list().iter().map(|c| format!("{}: {}", c.value, c.note)).collect();
    assert_eq!(
        list,
        [
            "raw/source.txt: new",
            "raw/touched.txt: changed since wiki/documents/touched.md",
            "raw/old.txt: in wiki/documents/old.md",
        ]
    );
    rig.keys("down enter");
    assert_eq!(rig.told, [said("Ingest raw/touched.txt")]);
    assert!(rig.state.overlays.is_empty());
}

#[test]
fn ingest_takes_a_name_and_refuses_one_that_is_not_there() {
    let mut rig = chatting();
    rig.keys("f2 \"/ingest source.txt\" enter");
    assert_eq!(rig.told, [said("Ingest raw/source.txt")], "the manager is told, whoever listened");
    assert_eq!(rig.state.role, Role::Manager);
    rig.keys("\"/ingest none.txt\" enter");
    assert!(rig.screen().contains("There is no raw/none.txt"), "{}", rig.screen());
    assert_eq!(draft(&rig), "/ingest none.txt");
}

#[test]
fn undo_asks_for_the_newest_set() {
    let mut rig = chatting();
    rig.state.manager.composer.set("/undo");
    let effects = wikiwright::tui::update::update(
        &mut rig.state,
        Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)),
    );
    assert!(
        matches!(effects.as_slice(), [Effect::Turn { id: None, direction: Direction::Undo }]),
        "{effects:?}"
    );
}

#[test]
fn a_name_that_is_no_file_is_said_before_the_message_goes_out() {
    let mut rig = chatting();
    rig.keys("\"read @wiki/concepts/tide-mlil.md now\" enter");
    let screen = rig.screen();
    let said_so = "Not sent: there is no wiki/concepts/tide-mlil.md. The nearest is wiki/concepts/tide-mill.md. Enter sends it as it is.";
    assert!(screen.contains(said_so.get(..110).unwrap()), "{screen}");
    assert_eq!(draft(&rig), "read @wiki/concepts/tide-mlil.md now", "nothing is lost");
    assert!(rig.told.is_empty());
    // Changed, it is looked at anew; as it is, the second time is meant.
    rig.keys("\"!\" enter");
    assert!(rig.told.is_empty());
    rig.keys("enter");
    assert_eq!(rig.told, [said("read @wiki/concepts/tide-mlil.md now!")]);
    rig.told.clear();
    rig.keys("\"and @wiki/concepts/tide-mill.md\" enter");
    assert_eq!(rig.told, [said("and /wiki/concepts/tide-mill.md")]);
}

#[test]
fn a_file_with_blanks_in_its_name_is_completed_and_named_as_one() {
    let mut files = crate::rig::sample();
    files.push(("/raw/a long report.txt", "x\n"));
    let mut rig = Rig::new(files, WIDE);
    rig.keys("alt-3 \"see @raw/a long\"");
    assert!(rig.screen().contains("│ raw/a long report.txt"), "{}", rig.screen());
    rig.keys("tab \"now\" enter");
    assert_eq!(rig.told, [said("see \"/raw/a long report.txt\" now")]);
}

#[test]
fn offered_paths_show_what_tells_them_apart() {
    let paths: Vec<String> = (9..17)
        .map(|minor| format!("/products/scalardl/3.{minor}/scalar-kubernetes/alerts/README.md"))
        .collect();
    let files = paths.iter().map(|path| (path.as_str(), "# Alerts\n")).collect();
    let mut rig = Rig::new(files, (80, 24));
    rig.keys("alt-3 \"@alerts\"");
    let screen = rig.screen();
    for minor in 9..17 {
        assert!(screen.contains(&format!("3.{minor}/")), "{minor}: {screen}");
    }
}
