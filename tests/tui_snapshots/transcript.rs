//! The conversation as it is read: folding, search, copying, what the reader's answers rest on, facts about the session.

use std::collections::HashSet;
use std::time::Duration;

use wikiwright::agent::answer::{self, Problem};
use wikiwright::agent::client::Price;
use wikiwright::agent::event::{CallId, Usage};
use wikiwright::agent::prompt::NOT_FOUND;
use wikiwright::agent::{AgentCommand, AgentEvent, Role};
use wikiwright::okf::BundlePath;
use wikiwright::tui::effect::Effect;
use wikiwright::tui::event::Event;
use wikiwright::tui::state::chat::Item;
use wikiwright::tui::state::{Overlay, Pane};

use crate::rig::{Rig, sample};

const WIDE: (u16, u16) = (220, 40);

fn open(rig: &Rig) -> String {
    rig.state.page.path.as_ref().map(|p| p.as_str().to_owned()).unwrap_or_default()
}

fn call(rig: &mut Rig, role: Role, id: u64, tool: &str, summary: &str, result: Result<&str, &str>) {
    let (tool, summary) = (tool.to_owned(), summary.to_owned());
    rig.event(Event::Agent(role, AgentEvent::ToolStarted { call: CallId(id), tool, summary }));
    let (ok, result) = match result {
        Ok(text) => (true, text.to_owned()),
        Err(text) => (false, text.to_owned()),
    };
    let elapsed = Duration::from_millis(5);
    rig.event(Event::Agent(role, AgentEvent::ToolFinished { call: CallId(id), ok, result, elapsed }));
}

/// A reader who read one page and answered.
fn answered(text: &str) -> Rig {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 f2 \"What is it?\" enter");
    rig.reader(AgentEvent::TurnStarted { message: "What is it?".to_owned() });
    call(&mut rig, Role::Reader, 1, "read_file", "read /wiki/concepts/tide-mill.md", Ok("# Tide mill"));
    // As the session holds it against the pages.
    let mut cited = answer::cited(text);
    let read = HashSet::from([BundlePath::parse("/wiki/concepts/tide-mill.md").unwrap()]);
    answer::check(&mut cited, rig.bundle.as_ref(), &read);
    rig.reader(AgentEvent::Text(text.to_owned()));
    if !cited.is_empty() {
        rig.reader(AgentEvent::Cited(cited));
    }
    rig.reader(AgentEvent::Finished { interrupted: false });
    rig
}

#[test]
fn what_an_answer_rests_on_is_a_numbered_list_that_opens_the_passage() {
    let mut rig = answered(
        "It turns [by the tide](/wiki/concepts/tide-mill.md#parts), see also /wiki/concepts/tide-mill.md.",
    );
    let screen = rig.screen();
    assert!(screen.contains("1 Tide mill · Parts") && screen.contains("2 Tide mill"), "{screen}");
    rig.keys("tab enter");
    assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md");
    let row = rig
        .state
        .page
        .rendered
        .as_ref()
        .unwrap()
        .headings
        .iter()
        .find(|(_, slug)| slug == "parts")
        .unwrap()
        .0;
    let page = rig.state.page.top;
    assert!(row >= page && row < page + 38, "the passage is in view beside the answer");
    assert_eq!(rig.state.focus, Pane::Chat);
}

/// The text on screen that looks like words that an answer quotes.
fn marked(rig: &Rig) -> String {
    let passage = rig.state.fixed.theme.passage;
    let buffer = rig.buffer();
    let cells = buffer.content().iter().filter(|cell| Some(cell.bg) == passage.bg);
    cells.map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn a_quoted_passage_is_marked_in_the_page_beside_the_answer() {
    let long = "Words about nothing.\n\n".repeat(60);
    let mill = format!("# Tide mill\n\n{long}The *pond* holds\nmuch water here.\n\n{long}");
    let ask = |rig: &mut Rig, text: &str| {
        rig.reader(AgentEvent::TurnStarted { message: "What is it?".to_owned() });
        let mut cited = answer::cited(text);
        let read = HashSet::from([BundlePath::parse("/wiki/concepts/tide-mill.md").unwrap()]);
        answer::check(&mut cited, rig.bundle.as_ref(), &read);
        rig.reader(AgentEvent::Text(text.to_owned()));
        rig.reader(AgentEvent::Cited(cited));
        rig.reader(AgentEvent::Finished { interrupted: false });
    };
    let mut files = crate::rig::sample();
    files.retain(|(path, _)| *path != "/wiki/concepts/tide-mill.md");
    files.push(("/wiki/concepts/tide-mill.md", &mill));
    let mut rig = Rig::new(files, WIDE);
    rig.keys("alt-3 f2 \"What is it?\" enter");
    ask(
        &mut rig,
        "A store: “the pond holds much water” ([mill](/wiki/concepts/tide-mill.md))."
            .replace("the pond", "The pond")
            .as_str(),
    );
    assert!(rig.screen().contains("“The pond holds much water”"), "{}", rig.screen());
    // The link within the answer, then its place in the list.
    for keys in ["tab enter", "tab tab enter"] {
        rig.keys("esc alt-2 g g alt-3").keys(keys);
        assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md");
        assert_eq!(marked(&rig), "The pond holds much water", "{keys}: {}", rig.screen());
        assert_eq!(rig.state.focus, Pane::Chat);
    }
    rig.keys("alt-1");
    ask(&mut rig, "“The pond holds no water at all” [mill](/wiki/concepts/tide-mill.md)");
    assert!(rig.screen().contains("not verified: does not hold the quoted words"), "{}", rig.screen());
}

#[test]
fn a_citation_that_cannot_be_verified_is_marked() {
    let rig = answered(
        "See [a](/wiki/concepts/tide-mill.md#lost), [b](/wiki/concepts/sea-gate.md), [c](/wiki/concepts/gone.md).",
    );
    let Some(Item::Sources(sources)) = rig.state.reader.entries.last().map(|e| &e.item) else { panic!() };
    let problems: Vec<_> = sources.iter().map(|s| s.problem).collect();
    assert_eq!(problems, [Some(Problem::NoSection), Some(Problem::NotRead), Some(Problem::NoPage)]);
    let screen = rig.screen();
    for text in [
        "✗ not verified: has no such section",
        "was not read in this session",
        "is no page: there is no such file",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
}

#[test]
fn what_the_bundle_does_not_cover_is_shown_as_such() {
    let rig = answered(NOT_FOUND);
    assert_eq!(rig.state.reader.entries.last().map(|e| &e.item), Some(&Item::NotCovered));
    assert!(rig.screen().contains("∅ not covered"), "{}", rig.screen());
}

#[test]
fn an_answer_without_a_source_says_so() {
    assert!(answered("It is a mill.").screen().contains("names no page"));
}

#[test]
fn without_a_model_the_reader_searches_and_says_so() {
    let mut rig = Rig::sample(WIDE);
    rig.state.reader.has_model = false;
    rig.keys("alt-3 f2 \"What does the pond hold?\" enter");
    let screen = rig.screen();
    assert!(screen.contains("No model answers: 1 passage found by a plain search."), "{screen}");
    assert!(screen.contains("1 Tide mill · Parts") && screen.contains("| pond | holds water |"), "{screen}");
    rig.keys("tab enter");
    assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md");
    rig.keys("esc \"volcano\" enter");
    assert!(rig.screen().contains("found nothing for “volcano”"), "{}", rig.screen());
    assert!(rig.told.is_empty());
}

#[test]
fn one_key_hands_an_answer_to_the_manager_to_archive() {
    let mut rig = answered("It turns, see /wiki/concepts/tide-mill.md.");
    rig.told.clear();
    rig.keys("alt-a");
    assert_eq!(rig.state.role, Role::Manager);
    let [(Role::Manager, AgentCommand::Say(text))] = rig.told.as_slice() else { panic!("{:?}", rig.told) };
    for part in ["wiki/syntheses/", "Question: What is it?", "It turns", "(/wiki/concepts/tide-mill.md)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_is_archived_before_there_is_an_answer() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 f2 alt-a");
    assert!(rig.told.is_empty() && rig.screen().contains("answered nothing yet"));
}

/// One question, some reasoning, two calls, one of them failed, an answer.
fn conversation() -> Rig {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"go\" enter");
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.manager(AgentEvent::Reasoning("First this, then that.".to_owned()));
    let long: String = (0..40).map(|n| format!("row {n}\n")).collect();
    call(&mut rig, Role::Manager, 1, "grep", "search “gate”", Ok(&long));
    call(&mut rig, Role::Manager, 2, "edit_file", "edit /wiki/a.md", Err("the text is not in the file"));
    rig.manager(AgentEvent::Text("The **gate** opens.\n\n- by itself\n- with the flood".to_owned()));
    rig.manager(AgentEvent::Finished { interrupted: false });
    rig
}

#[test]
fn reasoning_and_calls_are_one_line_until_unfolded_and_errors_are_open() {
    let mut rig = conversation();
    let screen = rig.screen();
    assert!(screen.contains("thought, 4 words") && !screen.contains("First this"), "{screen}");
    assert!(screen.contains("✓ search “gate”") && !screen.contains("row 1"), "{screen}");
    assert!(screen.contains("the text is not in the file"), "{screen}");
    // The answer, the failed call, the call.
    rig.keys("alt-up alt-up alt-up ctrl-o");
    assert!(rig.screen().contains("▌✓ search “gate”"), "{}", rig.screen());
    let rows: Vec<String> = rig.state.manager.entries[2].rows.iter().map(|l| l.to_string()).collect();
    assert_eq!(rows.len(), 41, "all of it: {rows:?}");
    rig.keys("ctrl-o");
    assert_eq!(rig.state.manager.entries[2].rows.len(), 1);
    rig.keys("esc ctrl-o");
    assert!(rig.state.manager.entries[1].rows[0].to_string().contains("First this"));
}

#[test]
fn a_click_unfolds_a_call() {
    let mut rig = conversation();
    let screen = rig.screen();
    let row = screen.lines().position(|l| l.contains("search “gate”")).unwrap();
    rig.click(180, u16::try_from(row).unwrap());
    assert!(rig.state.manager.entries[2].rows.len() > 30);
}

#[test]
fn what_is_copied_is_the_text_and_not_the_screen() {
    let mut rig = conversation();
    rig.keys("alt-c");
    let text = "The **gate** opens.\n\n- by itself\n- with the flood";
    assert!(
        matches!(rig.terminal.last(), Some(Effect::Copy(copied)) if copied == text),
        "{:?}",
        rig.terminal
    );
    rig.keys("alt-up alt-up alt-c");
    let last = rig.terminal.last();
    assert!(
        matches!(last, Some(Effect::Copy(copied)) if copied == "edit /wiki/a.md\n\nthe text is not in the file"),
        "{last:?}"
    );
}

#[test]
fn the_conversation_is_searched_without_regard_to_case_and_across_breaks() {
    let mut rig = Rig::sample((120, 20));
    rig.keys("alt-3");
    rig.manager(AgentEvent::Text(format!("A SEA gate.\n\n{}The sea gate again.", "filler\n\n".repeat(40))));
    rig.keys("ctrl-f \"sea gate\"");
    let Some(Overlay::Find(find)) = rig.state.overlays.last() else { panic!() };
    assert_eq!((find.places.len(), find.at), (2, 1), "the newest place first");
    assert!(rig.screen().contains("2/2"), "{}", rig.screen());
    rig.keys("enter n");
    let screen = rig.screen();
    assert!(screen.contains("A SEA gate.") && screen.contains("1/2"), "{screen}");
    rig.keys("N");
    assert!(rig.screen().contains("The sea gate again."));
    rig.keys("esc");
    assert!(rig.state.overlays.is_empty());
    rig.keys("\"x\"");
    assert_eq!(rig.state.chat().composer.text(), "x", "keys go to the field again");
}

#[test]
fn a_place_that_a_row_breaks_is_found() {
    let mut rig = Rig::sample((120, 20));
    let words: String = (0..60).map(|n| format!("word{n} ")).collect();
    rig.keys("alt-3").manager(AgentEvent::Text(words));
    let rows = &rig.state.manager.entries[0].rows;
    let last = rows[0].to_string().split_whitespace().last().unwrap().to_owned();
    let first = rows[1].to_string().split_whitespace().next().unwrap().to_owned();
    rig.keys(&format!("ctrl-f \"{last} {first}\""));
    let Some(Overlay::Find(find)) = rig.state.overlays.last() else { panic!() };
    assert_eq!(find.places.len(), 1, "{last} {first}");
}

#[test]
fn words_that_stand_nowhere_leave_the_view_where_it_was() {
    let mut rig = conversation();
    let before = (rig.state.manager.top, rig.state.manager.follow);
    rig.keys("ctrl-f \"zebra\"");
    assert!(rig.screen().contains("not found"));
    assert_eq!((rig.state.manager.top, rig.state.manager.follow), before);
}

#[test]
fn context_tokens_cost_and_time_stand_over_the_field() {
    let mut rig = Rig::sample(WIDE);
    rig.manager(AgentEvent::Window(Some(40_000)));
    rig.state.price = Some(Price { input: 2_000_000, cached: None, output: 10_000_000 });
    rig.keys("alt-3 \"go\" enter");
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.manager(AgentEvent::Usage(Usage { input: 9_000, cached: 0, output: 1_000 }));
    rig.state.clock = Duration::from_secs(75);
    let screen = rig.screen();
    // 9,000 tokens at 2 and 1,000 at 10 for a million.
    assert!(screen.contains("context 25 % · 0.03 · 1:15"), "{screen}");
    rig.manager(AgentEvent::Finished { interrupted: false });
    rig.state.clock = Duration::from_secs(500);
    assert!(rig.screen().contains("· 1:15"), "what the last turn took stays");
    assert!(!rig.state.animated(), "and nothing moves");
    rig.keys("\"/cost\" enter");
    let screen = rig.screen();
    assert!(screen.contains("manager: 9.0k tokens in") && screen.contains("(25 %)"), "{screen}");
    // Another model: what was spent stays spent, and its window is not that of the one before.
    let dear = Price { input: 100_000_000, cached: None, output: 0 };
    rig.keys("esc").event(Event::Connected(Ok(("dear".to_owned(), Some(dear)))));
    let screen = rig.screen();
    assert!(screen.contains("context 10.0k · 0.03"), "{screen}");
    rig.manager(AgentEvent::Window(Some(20_000)));
    rig.manager(AgentEvent::Usage(Usage { input: 5_000, cached: 0, output: 0 }));
    let screen = rig.screen();
    assert!(screen.contains("context 25 % · 0.53"), "{screen}");
}

#[test]
fn the_pane_says_who_listens() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3");
    assert!(rig.screen().contains("tell the manager what to do"));
    rig.keys("f2");
    assert!(rig.screen().contains("ask about this bundle") && rig.screen().contains(" READER "));
}

#[test]
fn an_empty_folder_offers_to_begin_a_wiki() {
    let mut rig = Rig::new(Vec::new(), WIDE);
    assert_eq!(rig.state.focus, Pane::Chat);
    let screen = rig.screen();
    assert!(screen.contains("Begin a wiki here"), "{screen}");
    rig.keys("enter enter");
    let [(Role::Manager, AgentCommand::Say(text))] = rig.told.as_slice() else { panic!("{:?}", rig.told) };
    assert!(text.contains("AGENTS.md"), "{text}");
    assert_eq!(Rig::new(sample(), WIDE).state.focus, Pane::Tree);
}
