//! What each view looks like, with styles, at four sizes.

use std::time::Duration;

use wikiwright::agent::answer::{Cited, Problem};
use wikiwright::agent::event::{CallId, Queued, Todo, TodoStatus, Usage};
use wikiwright::agent::{AgentEvent, Role};
use wikiwright::bundle::Read;
use wikiwright::bundle::ledger::record::{Origin, Record, Step};
use wikiwright::tui::event::Event;
use wikiwright::tui::state::picker::{Choice, Choosing};
use wikiwright::tui::theme::{Look, Theme};

use crate::rig::{Rig, path};

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 40), (200, 60)];

fn shoot(name: &str, make: impl Fn((u16, u16)) -> Rig) {
    for size in SIZES {
        let rig = make(size);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), rig.styled());
    }
}

fn conversation(size: (u16, u16)) -> Rig {
    let mut rig = Rig::sample(size);
    rig.keys("alt-3 \"Ingest the source\" enter");
    rig.manager(AgentEvent::TurnStarted { message: "Ingest the source".to_owned() });
    rig.manager(AgentEvent::Reasoning("The source is short. I read it first.".to_owned()));
    rig.manager(AgentEvent::Todos(vec![
        Todo { content: "Read the source".to_owned(), status: TodoStatus::Completed },
        Todo { content: "Write the page".to_owned(), status: TodoStatus::InProgress },
        Todo { content: "Check the links".to_owned(), status: TodoStatus::Pending },
    ]));
    for (id, tool, summary, ok) in [
        (1, "read_file", "read /raw/source.txt", true),
        (2, "edit_file", "edit /wiki/concepts/tide-mill.md", false),
    ] {
        rig.manager(AgentEvent::ToolStarted {
            call: CallId(id),
            tool: tool.to_owned(),
            summary: summary.to_owned(),
        });
        rig.manager(AgentEvent::ToolFinished {
            call: CallId(id),
            ok,
            result: "the text to replace is not in the file".to_owned(),
            elapsed: Duration::from_millis(40 * id),
        });
    }
    rig.manager(AgentEvent::ToolStarted {
        call: CallId(3),
        tool: "okf_lint".to_owned(),
        summary: "lint the bundle".to_owned(),
    });
    rig.manager(AgentEvent::Usage(Usage { input: 12_345, output: 678, ..Usage::default() }));
    rig.manager(AgentEvent::Text(
        "The source adds **one fact** to [the mill](/wiki/concepts/tide-mill.md), see also wiki/index.md."
            .to_owned(),
    ));
    rig.keys("\"and then?\"");
    rig
}

fn review(size: (u16, u16)) -> Rig {
    let mut rig = Rig::sample(size);
    rig.propose(&[
        ("/wiki/concepts/pond.md", Some("# Pond\n\nSee [nothing](nowhere.md).\n")),
        (
            "/wiki/concepts/sea-gate.md",
            Some("---\ntype: Concept\ntitle: Sea gate\ndescription: A gate.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Sea gate\n\nOpens by the flood.\n"),
        ),
        ("/wiki/log.md", None),
    ]);
    rig.keys("y");
    rig
}

#[test]
fn workbench() {
    shoot("workbench", |size| {
        let mut rig = Rig::sample(size);
        rig.keys("alt-2 tab");
        rig
    });
}

#[test]
fn tree() {
    shoot("tree", |size| {
        let mut rig = Rig::sample(size);
        rig.keys("alt-1 g g");
        rig
    });
}

#[test]
fn chat() {
    shoot("chat", conversation);
}

#[test]
fn chat_before_anything_was_said() {
    shoot("chat_empty", |size| {
        let mut rig = Rig::sample(size);
        rig.state.fixed.banner = Some("The model is scripted: nothing leaves this machine.".to_owned());
        rig.state.reader.suggestions = vec!["What is a tide mill?".to_owned()];
        rig.state.role = Role::Reader;
        rig.keys("alt-3");
        rig
    });
}

#[test]
fn reviewing() {
    shoot("review", review);
}

/// Changes of every kind of decision, a new page with its index line.
fn deciding(size: (u16, u16)) -> Rig {
    let mut rig = Rig::sample(size);
    let index = rig.bundle.read(&path("/wiki/index.md")).unwrap();
    let index = index.replace("* [Home]", "* [Pond](concepts/pond.md) - a pond.\n* [Home]");
    let gate = rig.bundle.read(&path("/wiki/concepts/sea-gate.md")).unwrap();
    let gate = gate
        .replace("description: A gate.", "description: A gate for the tide.")
        .replace("Opens by itself.", "Opens by the ebb.\u{200b}")
        .replace("The flood pushes it.", "The flood shuts it.");
    rig.propose(&[
        ("/wiki/concepts/pond.md", Some("# Pond\n\nSee [nothing](nowhere.md).\n")),
        ("/wiki/concepts/sea-gate.md", Some(&gate)),
        ("/wiki/index.md", Some(&index)),
    ]);
    rig.keys("x \"not in the source\" enter y d");
    rig.keys("K");
    rig
}

#[test]
fn deciding_by_hunk() {
    shoot("hunks", deciding);
}

#[test]
fn deciding_side_by_side() {
    let mut rig = deciding((160, 40));
    rig.keys("t");
    insta::assert_snapshot!("split_160x40", rig.styled());
}

#[test]
fn editing_a_proposed_text() {
    let mut rig = deciding((80, 24));
    rig.keys("i \"Mine. \"");
    insta::assert_snapshot!("edit_80x24", rig.styled());
}

#[test]
fn preview_of_the_page() {
    let mut rig = deciding((80, 24));
    rig.keys("v");
    insta::assert_snapshot!("preview_80x24", rig.styled());
}

#[test]
fn history() {
    shoot("history", |size| {
        let mut rig = Rig::sample(size);
        let record = |id, who: &str, undoes| Record {
            id,
            time: "2026-01-02T15:04:05Z".to_owned(),
            origin: Origin {
                who: who.to_owned(),
                message: "Ingest the source".to_owned(),
                undoes,
                ..Origin::default()
            },
            steps: vec![Step {
                path: "/wiki/a.md".to_owned(),
                before: None,
                after: Some("x".to_owned()),
                mode: None,
                moved: None,
            }],
        };
        rig.keys("f9");
        let records =
            vec![record(3, "undo", Some(2)), record(2, "manager", None), record(1, "manager", None)];
        rig.event(Event::History(Ok(records)));
        rig
    });
}

#[test]
fn question() {
    shoot("question", |size| {
        let mut rig = review(size);
        rig.keys("A");
        rig
    });
}

#[test]
fn reason() {
    shoot("reason", |size| {
        let mut rig = review(size);
        rig.keys("x \"not in the source\"");
        rig
    });
}

#[test]
fn written() {
    shoot("written", |size| {
        let mut rig = review(size);
        rig.keys("x \"not in the source\" enter enter");
        rig
    });
}

#[test]
fn findings() {
    shoot("findings", |size| {
        let mut rig = Rig::sample(size);
        rig.keys("f8");
        rig
    });
}

#[test]
fn help() {
    shoot("help", |size| {
        let mut rig = Rig::sample(size);
        rig.keys("f1");
        rig
    });
}

#[test]
fn loading() {
    shoot("loading", |size| Rig::unloaded(Vec::new(), size));
}

/// The views that the composer and the reader bring, in the colours of the terminal and without.
fn helping() -> [(&'static str, Rig); 7] {
    let rig = |keys: &str| {
        let mut rig = Rig::sample((120, 40));
        rig.keys(keys);
        rig
    };
    let mut waiting = rig("alt-3 \"go\" enter");
    waiting.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    waiting.keys("\"first\" enter \"second\" enter");
    let queued = |id, text: &str| Queued { id, text: text.to_owned() };
    waiting.manager(AgentEvent::Queued(vec![queued(1, "first"), queued(2, "second")]));

    let mut answer = rig("alt-3 f2 \"What is it?\" enter");
    answer.reader(AgentEvent::TurnStarted { message: "What is it?".to_owned() });
    answer.reader(AgentEvent::Text("A mill of the tide, see /wiki/concepts/tide-mill.md#parts.".to_owned()));
    let cited = |path: &str, section: Option<&str>, problem| Cited {
        path: path.to_owned(),
        section: section.map(str::to_owned),
        quote: None,
        problem,
    };
    answer.reader(AgentEvent::Cited(vec![
        cited("/wiki/concepts/tide-mill.md", Some("parts"), None),
        cited("/wiki/concepts/sea-gate.md", None, Some(Problem::NotRead)),
    ]));
    answer.reader(AgentEvent::Finished { interrupted: false });

    let mut kept = rig("alt-3 \"/resume\" enter");
    let choice = |label: &str, note: &str| Choice {
        value: label.to_owned(),
        label: label.to_owned(),
        note: note.to_owned(),
    };
    let choices = vec![
        choice("Ingest raw/source.txt", "2026-01-02 10:20, 14 messages"),
        choice("What turns the wheel?", "2026-01-01 09:00, 2 messages"),
    ];
    kept.event(Event::Choices(Choosing::Conversation, Ok(choices)));

    let mut found = conversation((120, 40));
    found.keys("ctrl-f \"mill\"");
    [
        ("commands", rig("alt-3 \"/re\"")),
        ("pages", rig("alt-3 \"see @til\"")),
        ("sources_to_ingest", rig("alt-3 \"/ingest\" enter")),
        ("conversations_to_resume", kept),
        ("waiting", waiting),
        ("answer", answer),
        ("search", found),
    ]
}

#[test]
fn helping_the_composer_and_the_reader() {
    for (name, rig) in helping() {
        insta::assert_snapshot!(format!("{name}_120x40"), rig.styled());
    }
}

/// The rig without a colour, drawn anew.
fn plain(mut rig: Rig) -> String {
    rig.state.fixed.theme = Theme::plain();
    for chat in [&mut rig.state.manager, &mut rig.state.reader] {
        chat.entries.iter_mut().for_each(|entry| entry.width = None);
    }
    rig.state.page.stale = true;
    rig.frame();
    let dump = rig.styled();
    assert!(
        dump.rsplit("---\n").next().unwrap().lines().all(|l| l.contains("Reset on Reset")),
        "a colour in {dump}"
    );
    dump
}

#[test]
fn without_colour() {
    insta::assert_snapshot!("plain_120x40", plain(conversation((120, 40))));
    for (name, rig) in helping() {
        insta::assert_snapshot!(format!("plain_{name}_120x40"), plain(rig));
    }
}

/// What the letters of a dump mean.
fn legend(dump: &str) -> &str {
    dump.rsplit("---\n").next().unwrap()
}

#[test]
fn the_conversation_and_the_review_on_a_light_background() {
    for (name, mut rig) in
        [("light_chat_120x40", conversation((120, 40))), ("light_review_120x40", review((120, 40)))]
    {
        let dark = rig.styled();
        rig.event(Event::Background { light: true });
        let light = rig.styled();
        assert_eq!(dark.split("---\n").next(), light.split("---\n").next(), "the same words");
        let own = |line: &&str| line.split_once(' ').is_some_and(|(_, style)| !style.starts_with(['I', 'R']));
        assert_eq!(legend(&light).lines().find(own), None, "a colour of the terminal's palette");
        insta::assert_snapshot!(name, light);
        rig.event(Event::Background { light: false });
        assert_eq!(rig.styled(), dark, "and back");
    }
    let mut wanted = conversation((120, 40));
    wanted.state.fixed.look = Look::Dark;
    let dark = wanted.styled();
    wanted.event(Event::Background { light: true });
    assert_eq!(wanted.styled(), dark, "who wants the dark theme keeps it");
}

#[test]
fn the_review_without_colour() {
    let mut rig = review((120, 40));
    rig.state.fixed.look = Look::Plain;
    rig.event(Event::Background { light: true });
    let dump = rig.styled();
    assert!(legend(&dump).lines().all(|line| line.contains("Reset on Reset")), "a colour in {dump}");
    insta::assert_snapshot!("plain_review_120x40", dump);
}
