//! Panes, links, history, the composer, the mouse: state, keys, state.

use std::time::Duration;

use crossterm::event::MouseEventKind;
use ratatui::style::{Color, Modifier};
use wikiwright::agent::event::CallId;
use wikiwright::agent::{AgentCommand, AgentEvent, Role};
use wikiwright::bundle::Write;
use wikiwright::tui::effect::Effect;
use wikiwright::tui::event::Event;
use wikiwright::tui::keymap::Layer;
use wikiwright::tui::state::chat::{Doing, Item, ToolState};
use wikiwright::tui::state::{Overlay, Pane};

use crate::rig::{Rig, path, sample};

const WIDE: (u16, u16) = (120, 40);

fn open(rig: &Rig) -> String {
    rig.state.page.path.as_ref().map(|p| p.as_str().to_owned()).unwrap_or_default()
}

#[test]
fn a_bundle_opens_at_its_index_and_enter_follows_the_chosen_link() {
    let mut rig = Rig::sample(WIDE);
    assert_eq!(open(&rig), "/wiki/index.md");
    rig.keys("alt-2 tab enter");
    assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md");
    rig.keys("backspace");
    assert_eq!(open(&rig), "/wiki/index.md");
    assert_eq!(rig.state.page.link, Some(0), "the link that was followed is chosen again");
    rig.keys("alt-right");
    assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md");
    rig.keys("alt-left alt-left");
    assert!(rig.screen().contains("Nothing to go back to."));
}

#[test]
fn a_link_with_an_anchor_opens_at_the_heading() {
    let mut rig = Rig::sample((120, 10));
    rig.keys("alt-2 tab tab enter");
    assert_eq!(open(&rig), "/wiki/concepts/sea-gate.md");
    let top = rig.state.page.top;
    let rendered = rig.state.page.rendered.as_ref().unwrap();
    let (row, _) = rendered.headings.iter().find(|(_, slug)| slug == "how").unwrap();
    assert!(*row >= top && *row < top + 7, "heading at {row}, top {top}");
}

#[test]
fn an_external_link_is_named_and_not_opened_and_a_broken_one_says_so() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-2 tab tab tab enter");
    assert_eq!(open(&rig), "/wiki/index.md");
    assert!(rig.screen().contains("https://example.test/x   (outside the bundle; not opened)"));
    rig.keys("tab enter");
    assert!(rig.screen().contains("there is no wiki/concepts/lost.md"));
    assert_eq!(open(&rig), "/wiki/index.md");
}

#[test]
fn f6_goes_round_the_panes_and_ctrl_w_too() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-1");
    let mut seen = Vec::new();
    for keys in ["f6", "f6", "f6", "shift-f6", "ctrl-w h", "ctrl-w l"] {
        rig.keys(keys);
        seen.push(rig.state.focus);
    }
    assert_eq!(seen, [Pane::Page, Pane::Chat, Pane::Tree, Pane::Chat, Pane::Page, Pane::Chat]);
}

#[test]
fn letters_are_text_in_the_composer_and_keys_elsewhere() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"quit? q!R\"");
    assert_eq!(rig.state.chat().composer.text(), "quit? q!R");
    assert_eq!(rig.state.ended, None);
    rig.keys("alt-1 q");
    assert_eq!(rig.state.ended, Some(0));
}

#[test]
fn enter_sends_and_three_other_keys_break_the_line() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"a\" ctrl-j \"b\" alt-enter \"c\" shift-enter \"d\" enter");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Say("a\nb\nc\nd".to_owned()))]);
    assert!(rig.state.chat().composer.is_empty());
    rig.keys("enter");
    assert_eq!(rig.told.len(), 1, "an empty field sends nothing");
}

#[test]
fn a_paste_with_line_breaks_is_one_insertion_and_sends_nothing() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3").event(Event::Paste("one\r\ntwo\x1b[2J\rthree".to_owned()));
    assert_eq!(rig.state.chat().composer.text(), "one\ntwo[2J\nthree");
    assert!(rig.told.is_empty());
    let long = "x\n".repeat(1000);
    rig.keys("ctrl-c").event(Event::Paste(long.clone()));
    assert_eq!(rig.state.chat().composer.text(), "[pasted 1000 lines]");
    rig.keys("enter");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Say(long.trim_end().to_owned()))]);
}

#[test]
fn up_and_down_walk_the_history_at_the_edges_and_bring_the_draft_back() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"first\" enter \"second\" enter \"draft\" up");
    assert_eq!(rig.state.chat().composer.text(), "second");
    rig.keys("up up");
    assert_eq!(rig.state.chat().composer.text(), "first");
    rig.keys("down down");
    assert_eq!(rig.state.chat().composer.text(), "draft");
}

#[test]
fn backspace_takes_a_whole_cluster() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3").event(Event::Paste("a👩‍👩‍👧e\u{301}".to_owned()));
    rig.keys("backspace");
    assert_eq!(rig.state.chat().composer.text(), "a👩‍👩‍👧");
    rig.keys("backspace");
    assert_eq!(rig.state.chat().composer.text(), "a");
}

#[test]
fn escape_stops_the_running_turn_and_nothing_else() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"go\" enter \"next\"");
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.told.clear();
    rig.keys("esc");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Interrupt)]);
    assert_eq!(rig.state.chat().composer.text(), "next", "the draft is kept");
    rig.manager(AgentEvent::Finished { interrupted: true });
    rig.told.clear();
    rig.keys("esc esc");
    assert!(rig.told.is_empty());
    assert_eq!((rig.state.ended, rig.state.focus), (None, Pane::Chat));
}

#[test]
fn ctrl_c_clears_the_draft_then_asks_once_more_before_leaving() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"draft\" ctrl-c");
    assert!(rig.state.chat().composer.is_empty());
    rig.keys("up");
    assert_eq!(rig.state.chat().composer.text(), "draft");
    rig.keys("ctrl-c ctrl-c");
    assert_eq!(rig.state.ended, None);
    assert!(rig.screen().contains("Press Ctrl-C again to quit."));
    rig.keys("alt-1 ctrl-c");
    assert_eq!(rig.state.ended, None, "another key came between");
    rig.keys("ctrl-c");
    assert_eq!(rig.state.ended, Some(0));
}

#[test]
fn quitting_with_staged_changes_asks_first() {
    let mut rig = Rig::sample(WIDE);
    rig.stage(&[("/wiki/concepts/new.md", Some("# New\n"))]);
    let changes = rig.staged.changes();
    rig.manager(AgentEvent::Staged(changes));
    rig.keys("alt-1 q");
    assert_eq!(rig.state.ended, None);
    assert!(rig.screen().contains("1 file waits for review and will be lost."));
    rig.keys("n");
    assert!(rig.state.overlays.is_empty());
    rig.keys("ctrl-q y");
    assert_eq!(rig.state.ended, Some(0));
}

#[test]
fn the_two_roles_keep_separate_conversations_and_drafts() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-3 \"for the manager\" f2 \"what is a tide mill?\" enter");
    assert_eq!(rig.told, [(Role::Reader, AgentCommand::Say("what is a tide mill?".to_owned()))]);
    rig.reader(AgentEvent::TurnStarted { message: "what is a tide mill?".to_owned() });
    rig.keys("f2");
    assert_eq!(rig.state.chat().composer.text(), "for the manager");
    assert!(rig.state.chat().entries.is_empty());
    assert!(rig.screen().contains("reader at work"));
}

#[test]
fn a_citation_opens_its_page_whichever_way_it_is_written() {
    for answer in [
        "See [the mill](/wiki/concepts/tide-mill.md).",
        "See /wiki/concepts/tide-mill.md.",
        "See `wiki/concepts/tide-mill.md`.",
    ] {
        let mut rig = Rig::sample(WIDE);
        rig.keys("f2 alt-3");
        rig.reader(AgentEvent::TurnStarted { message: "q".to_owned() });
        rig.reader(AgentEvent::Text(answer.to_owned()));
        rig.reader(AgentEvent::Finished { interrupted: false });
        rig.keys("tab enter");
        assert_eq!(open(&rig), "/wiki/concepts/tide-mill.md", "{answer}");
        assert_eq!(rig.state.focus, Pane::Chat);
        rig.keys("\"more\"");
        assert_eq!(rig.state.chat().composer.text(), "more", "typing goes on");
    }
}

#[test]
fn tool_calls_are_one_line_each_and_a_stopped_turn_leaves_none_running() {
    let mut rig = Rig::sample(WIDE);
    let call = |id| AgentEvent::ToolStarted {
        call: CallId(id),
        tool: "grep".to_owned(),
        summary: format!("search “gate {id}”"),
    };
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() }).manager(call(1)).manager(call(2));
    rig.manager(AgentEvent::ToolFinished {
        call: CallId(1),
        ok: true,
        result: "3 lines".to_owned(),
        elapsed: Duration::from_millis(12),
    });
    rig.keys("alt-3");
    let screen = rig.screen();
    assert_eq!(screen.matches("search “gate").count(), 2, "{screen}");
    assert!(screen.contains("✓ search “gate 1”") && screen.contains("12 ms"), "{screen}");
    rig.manager(AgentEvent::Finished { interrupted: true });
    let states: Vec<_> = rig
        .state
        .manager
        .entries
        .iter()
        .filter_map(|e| match &e.item {
            Item::Tool { state, .. } => Some(*state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [ToolState::Done(Duration::from_millis(12)), ToolState::Stopped]);
    assert_eq!(rig.state.manager.doing, Doing::Nothing);
}

#[test]
fn streaming_leaves_a_reader_above_the_end_where_they_are() {
    let mut rig = Rig::sample((120, 20));
    rig.keys("alt-3");
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.manager(AgentEvent::Text("para\n\n".repeat(40)));
    assert!(rig.state.manager.follow);
    rig.keys("pageup");
    let top = rig.state.manager.top;
    rig.manager(AgentEvent::Text("more\n\n".repeat(10)));
    assert_eq!(rig.state.manager.top, top);
    assert!(rig.screen().contains("new below"));
    rig.keys("ctrl-end");
    assert!(rig.state.manager.follow && !rig.state.manager.unseen);
}

#[test]
fn streamed_text_shows_the_same_rows_as_the_whole_at_once() {
    let text =
        "A [link](/wiki/index.md) and\n\n- one\n- two\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let mut whole = Rig::sample(WIDE);
    whole.manager(AgentEvent::Text(text.to_owned()));
    let mut streamed = Rig::sample(WIDE);
    for c in text.chars() {
        streamed.manager(AgentEvent::Text(c.to_string()));
    }
    assert_eq!(whole.state.manager.entries[0].rows, streamed.state.manager.entries[0].rows);
}

#[test]
fn a_change_on_disk_keeps_scroll_focus_and_selection() {
    let long = format!("# Index\n\n{}", "word\n\n".repeat(100));
    let mut files = sample();
    files.retain(|(p, _)| *p != "/wiki/index.md");
    files.push(("/wiki/index.md", &long));
    let mut rig = Rig::new(files, WIDE);
    rig.keys("alt-1 G alt-2 pagedown pagedown");
    let before = (rig.state.page.top, rig.state.tree.row().cloned(), rig.state.focus);
    assert!(before.0 > 0);
    rig.bundle.write(&path("/wiki/index.md"), format!("{long}\n\n[lost](nowhere.md)\n").as_bytes()).unwrap();
    let findings = rig.state.report.as_ref().unwrap().findings.len();
    rig.reload();
    assert_eq!((rig.state.page.top, rig.state.tree.row().cloned(), rig.state.focus), before);
    assert_ne!(rig.state.report.as_ref().unwrap().findings.len(), findings);
}

#[test]
fn a_page_that_vanishes_says_so_and_a_new_one_appears_in_the_tree() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-2 tab enter");
    rig.bundle.delete(&path("/wiki/concepts/tide-mill.md")).unwrap();
    rig.bundle.write(&path("/wiki/concepts/fresh.md"), b"# New\n").unwrap();
    rig.reload();
    let screen = rig.screen();
    assert!(screen.contains("This page is gone") && screen.contains("fresh.md"), "{screen}");
}

#[test]
fn the_list_of_findings_opens_the_page_at_the_place() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("f8");
    let Some(Overlay::Problems(list)) = rig.state.overlays.last() else { panic!("no list") };
    let problems: Vec<_> = list.rows.iter().map(|row| rig.state.problem(*row).unwrap().clone()).collect();
    let at = problems.iter().position(|f| f.rule.code == "L001").expect("the sample has a broken link");
    rig.keys("g g");
    for _ in 0..at {
        rig.keys("j");
    }
    rig.keys("enter");
    assert_eq!(rig.state.page.path.as_ref(), Some(&problems[at].path));
    assert!(rig.state.overlays.is_empty());
    assert_eq!(rig.state.focus, Pane::Page);
}

#[test]
fn a_finding_in_the_list_is_explained_by_its_rule() {
    for size in [WIDE, (40, 10)] {
        let mut rig = Rig::sample(size);
        rig.keys("f8 g g e");
        let Some(Overlay::Explanation { rule, .. }) = rig.state.overlays.last() else {
            panic!("no explanation")
        };
        let rule = *rule;
        let first = format!("{} {}", rule.code, rule.name);
        let screen = rig.screen();
        assert!(screen.contains(&first), "{screen}");
        rig.keys("G");
        let screen = rig.screen();
        assert!(screen.contains(rule.good.trim_end().lines().last().unwrap()), "{screen}");
        rig.keys("esc");
        assert!(matches!(rig.state.overlays.last(), Some(Overlay::Problems(_))));
    }
    let mut clean = Rig::new(vec![("/index.md", "# Index\n")], WIDE);
    clean.keys("f8 e");
    assert!(matches!(clean.state.overlays.last(), Some(Overlay::Problems(_))), "there is nothing to explain");
}

#[test]
fn the_very_link_that_a_finding_is_about_is_marked_and_no_other() {
    let look = |rig: &Rig, text: &str| {
        let (buffer, screen) = (rig.buffer(), rig.screen());
        let row = screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"));
        let line = screen.lines().nth(row).unwrap();
        let column = wikiwright::text::width::width(&line[..line.find(text).unwrap()]);
        buffer[(u16::try_from(column).unwrap(), u16::try_from(row).unwrap())].style()
    };
    let page = "---\ntype: Concept\ntitle: A\ndescription: D.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# A\n\nSee [nothere](b.md#gone), [rightlink](b.md#b) and [nowhere](c.md).\n";
    let other = page
        .replace("b.md#gone", "a.md")
        .replace("b.md#b", "a.md")
        .replace("c.md", "a.md")
        .replace("# A", "# B");
    let mut rig = Rig::new(
        vec![
            ("/AGENTS.md", "# S\n"),
            ("/wiki/a.md", page),
            ("/wiki/b.md", &other),
            ("/wiki/index.md", "# I\n\n[a](a.md)\n[b](b.md)\n"),
        ],
        WIDE,
    );
    rig.keys("alt-2 tab enter");
    assert_eq!(open(&rig), "/wiki/a.md");
    let marked = Modifier::UNDERLINED | Modifier::BOLD;
    let (warned, right, broken) = (look(&rig, "nothere"), look(&rig, "rightlink"), look(&rig, "nowhere"));
    assert_eq!((warned.fg, warned.add_modifier), (Some(Color::Yellow), marked | Modifier::CROSSED_OUT));
    assert_eq!((right.fg, right.add_modifier), (Some(Color::Blue), Modifier::UNDERLINED));
    assert_eq!((broken.fg, broken.add_modifier), (Some(Color::Red), marked | Modifier::CROSSED_OUT));
}

#[test]
fn text_that_a_finding_is_about_is_underlined_and_no_more_of_its_row() {
    let page = "---\ntype: Concept\ntitle: A\ndescription: D.\nsources:\n  - id: s\n    resource: b.md\n---\n\n# A\n\nÜber [b](b.md) and a claim[^1] here[^s].\n\n[^1]: Noted.\n\n[^s]: Seen.\n";
    let log = "# Log\n\n## 2026-07-19\n\nFine.\n\n## 19 July 2026\n\nText.\n";
    let mut rig = Rig::new(
        vec![
            ("/index.md", "# I\n\n[log](log.md) [a](a.md)\n"),
            ("/log.md", log),
            ("/a.md", page),
            ("/b.md", page),
        ],
        WIDE,
    );
    let underlined = |rig: &Rig| {
        let (buffer, screen) = (rig.buffer(), rig.screen());
        let mut rows = Vec::new();
        for row in 0..u16::try_from(screen.lines().count()).unwrap() {
            let marked = |column: &u16| {
                let style = buffer[(*column, row)].style();
                style.add_modifier.contains(Modifier::UNDERLINED | Modifier::BOLD)
                    && matches!(style.fg, Some(Color::Red | Color::Yellow))
            };
            let text: String = (24..78).filter(marked).map(|x| buffer[(x, row)].symbol()).collect();
            rows.extend((!text.is_empty()).then_some(text));
        }
        rows
    };
    rig.keys("alt-2 tab enter");
    assert_eq!(open(&rig), "/log.md");
    assert_eq!(underlined(&rig), ["19 July 2026"], "{}", rig.screen());
    rig.keys("backspace tab enter");
    assert_eq!(open(&rig), "/a.md");
    assert_eq!(underlined(&rig), ["[1]"], "{}", rig.screen());
}

#[test]
fn folders_fold_and_the_tree_opens_pages_and_sources() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("alt-1 g g");
    let rows = rig.state.tree.rows.len();
    rig.keys("enter");
    assert!(rig.state.tree.rows.len() < rows);
    rig.keys("enter");
    assert_eq!(rig.state.tree.rows.len(), rows);
    let source = rig.state.tree.rows.iter().position(|r| r.path.as_str() == "/raw/source.txt").unwrap();
    rig.keys("g g");
    for _ in 0..source {
        rig.keys("down");
    }
    rig.keys("enter");
    assert_eq!(open(&rig), "/raw/source.txt");
    assert!(rig.screen().contains("Second line."));
}

#[test]
fn a_click_opens_a_tree_row_and_the_wheel_scrolls_what_is_under_it() {
    let long = format!("# Index\n\n{}", "word\n\n".repeat(100));
    let mut files = sample();
    files.retain(|(p, _)| *p != "/wiki/index.md");
    files.push(("/wiki/index.md", &long));
    let mut rig = Rig::new(files, WIDE);
    rig.keys("alt-3").mouse(MouseEventKind::ScrollDown, 50, 10);
    assert_eq!((rig.state.page.top, rig.state.focus), (3, Pane::Chat));
    let row = rig.state.tree.rows.iter().position(|r| r.path.as_str() == "/wiki/log.md").unwrap();
    rig.click(5, u16::try_from(row).unwrap() + 1);
    assert_eq!((open(&rig).as_str(), rig.state.focus), ("/wiki/log.md", Pane::Tree));
    // Far outside: nothing, and no panic.
    rig.click(u16::MAX, u16::MAX).mouse(MouseEventKind::ScrollUp, u16::MAX, 0);
}

#[test]
fn a_click_on_a_link_follows_it() {
    let mut rig = Rig::sample(WIDE);
    let screen = rig.screen();
    let (row, line) =
        screen.lines().enumerate().find(|(_, l)| l.contains("Sea gate")).expect("the link is drawn");
    let column = line[..line.find("Sea gate").unwrap()].chars().count();
    rig.click(u16::try_from(column).unwrap() + 1, u16::try_from(row).unwrap());
    assert_eq!(open(&rig), "/wiki/concepts/sea-gate.md");
}

#[test]
fn help_lists_the_keys_of_the_keymap() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("f1");
    assert!(matches!(rig.state.overlays[..], [Overlay::Help { .. }]));
    let screen = rig.screen();
    assert!(screen.contains("Ctrl-Q") && screen.contains("switch between manager and reader"), "{screen}");
    rig.keys("G");
    assert!(rig.screen().contains("Mouse"));
    rig.keys("esc");
    assert!(rig.state.overlays.is_empty());
}

#[test]
fn without_a_model_the_pane_says_how_to_set_one_and_nothing_is_sent() {
    let mut rig = Rig::sample(WIDE);
    rig.state.fixed.model = None;
    rig.state.manager.has_model = false;
    rig.keys("alt-3 \"hello\" enter");
    assert!(rig.told.is_empty());
    assert_eq!(rig.state.chat().composer.text(), "hello");
    for size in [WIDE, (80, 24), (40, 10)] {
        rig.resize(size.0, size.1);
        let screen = rig.screen();
        let rows = |from: &str, to: &str| {
            let at = |part: &str| screen.lines().position(|row| row.contains(part));
            at(to).zip(at(from)).map(|(to, from)| to - from)
        };
        assert!(rows("No model: F1", "OPENAI_API_KEY").is_some_and(|rows| rows < 2), "{screen}");
    }
    rig.resize(WIDE.0, WIDE.1).keys("f1");
    let screen = rig.screen();
    assert!(screen.contains("No model is set.") && screen.contains("Set WIKIWRIGHT_MODEL."), "{screen}");
}

#[test]
fn the_help_cuts_no_description_at_any_size() {
    for columns in [40, 50, 63, 64, 80, 120] {
        let mut rig = Rig::sample((columns, 300));
        rig.keys("f1");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let screen = words(&rig.screen().replace(['┃', '┏', '┗'], " "));
        for layer in [Layer::Global, Layer::Page, Layer::Chat, Layer::Review, Layer::Problems] {
            for (title, keys) in rig.state.fixed.keymap.help(layer) {
                let entry = words(&format!("{keys} {title}"));
                assert!(screen.contains(&entry), "{entry} at {columns}:\n{}", rig.screen());
            }
        }
        assert!(screen.contains("click focuses a pane, opens a page, follows a link, goes to a finding"));
    }
}

#[test]
fn the_list_of_findings_shows_page_and_line_on_a_small_screen() {
    let mut rig = Rig::sample((40, 10));
    rig.keys("f8");
    let screen = rig.screen();
    assert!(screen.contains("wiki/index.md:6") || screen.contains("index.md:6"), "{screen}");
    let page = "---\ntype: Concept\n---\n[x](lost.md)\n";
    let path = format!("/wiki/{}/page.md", "a-folder-with-a-long-name".repeat(3));
    let mut rig = Rig::new(vec![(path.as_str(), page)], (40, 10));
    rig.keys("f8");
    assert!(rig.screen().contains("page.md:4"), "{}", rig.screen());
}

/// Eight links to one page that is not there, on two pages, and one to another.
fn many_alike() -> Rig {
    let page = "# A\n\n[1](/wiki/lost.md) [2](/wiki/lost.md) [3](/wiki/lost.md) [4](/wiki/lost.md)\n";
    let other = format!("{page}[other](/wiki/gone.md)\n");
    Rig::new(vec![("/wiki/a.md", page), ("/wiki/b.md", other.as_str())], (120, 40))
}

#[test]
fn a_finding_of_the_whole_bundle_has_no_line() {
    let pages: Vec<(String, String)> =
        (0..9).map(|n| (format!("/p{n}.md"), format!("---\ntype: T{n}\n---\n"))).collect();
    let mut rig = Rig::new(pages.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect(), WIDE);
    rig.keys("f8");
    let screen = rig.screen();
    let row = screen.lines().find(|row| row.contains("T003")).expect("many types are a finding");
    assert!(row.contains("the bundle ") && !row.contains(":1 "), "{row}");
}

#[test]
fn findings_of_one_rule_about_one_thing_are_one_row_that_enter_opens() {
    let mut rig = many_alike();
    rig.keys("f8");
    let screen = rig.screen();
    assert!(screen.contains("▸ 8 places"), "{screen}");
    assert_eq!((screen.matches("lost.md").count(), screen.matches("gone.md").count()), (1, 1), "{screen}");
    let at = screen.lines().position(|row| row.contains("8 places")).unwrap();
    let group = at - screen.lines().position(|row| row.contains("Findings")).unwrap() - 1;
    rig.keys("g g");
    for _ in 0..group {
        rig.keys("j");
    }
    rig.keys("enter");
    let screen = rig.screen();
    assert!(screen.contains("▾ 8 places") && screen.matches("lost.md").count() == 9, "{screen}");
    // It stays open when the bundle is read again, and closes again.
    rig.reload();
    assert_eq!(rig.screen(), screen);
    rig.keys("enter");
    assert!(rig.screen().contains("▸ 8 places"), "{}", rig.screen());
    rig.keys("enter j j j j j enter");
    assert!(rig.state.overlays.is_empty());
    assert_eq!(rig.state.page.path.as_ref(), Some(&crate::rig::path("/wiki/b.md")));
}

#[test]
fn fifty_thousand_findings_alike_are_one_row_and_quick() {
    let page = format!("# A\n\n{}", "[x](lost.md)\n".repeat(50_000));
    let mut rig = Rig::new(vec![("/wiki/a.md", page.as_str())], (120, 40));
    rig.keys("f8");
    assert!(rig.screen().contains("▸ 50000 places"), "{}", rig.screen());
    let began = std::time::Instant::now();
    rig.keys("j k j k j k j k");
    assert!(began.elapsed().as_secs_f64() < 2.0, "{:?}", began.elapsed());
}

#[test]
fn a_suggestion_is_taken_with_enter_and_sent_with_the_next() {
    let mut rig = Rig::sample(WIDE);
    rig.state.manager.suggestions = vec!["Ingest raw/source.txt".to_owned()];
    rig.keys("alt-3 enter");
    assert_eq!(rig.state.chat().composer.text(), "Ingest raw/source.txt");
    assert!(rig.told.is_empty());
    rig.keys("enter");
    assert_eq!(rig.told, [(Role::Manager, AgentCommand::Say("Ingest raw/source.txt".to_owned()))]);
}

#[test]
fn keys_for_the_terminal_become_effects() {
    let mut rig = Rig::sample(WIDE);
    rig.keys("ctrl-z ctrl-l");
    assert!(matches!(rig.terminal[..], [Effect::Suspend, Effect::Redraw]), "{:?}", rig.terminal);
}

#[test]
fn foreign_text_cannot_drive_the_terminal() {
    let evil = "\x1b[2J\x1b]0;t\x07\u{9b}31m\u{202e}x\u{e0041}\u{200b}";
    let mut files = sample();
    let name = "/wiki/concepts/a\u{1b}[2J\u{202e}.md";
    let body = format!("# {evil}\n\n{evil} [{evil}](x.md)\n\n```\n{evil}\n```\n");
    files.push((name, &body));
    let mut rig = Rig::new(files, WIDE);
    rig.manager(AgentEvent::TurnStarted { message: evil.to_owned() });
    rig.manager(AgentEvent::Reasoning(evil.to_owned())).manager(AgentEvent::Text(evil.to_owned()));
    rig.manager(AgentEvent::ToolStarted { call: CallId(1), tool: evil.to_owned(), summary: evil.to_owned() });
    rig.manager(AgentEvent::ToolFinished {
        call: CallId(1),
        ok: false,
        result: evil.to_owned(),
        elapsed: Duration::ZERO,
    });
    rig.manager(AgentEvent::Failed(evil.to_owned()));
    rig.event(Event::Notice(evil.to_owned()));
    let mut screens = vec![rig.buffer()];
    rig.propose(&[("/wiki/concepts/evil.md", Some(&body))]);
    screens.push(rig.buffer());
    rig.keys("esc f8");
    screens.push(rig.buffer());
    for buffer in screens {
        for cell in buffer.content() {
            assert!(
                !cell.symbol().chars().any(|c| c.is_control()
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')),
                "{:?}",
                cell.symbol()
            );
        }
    }
}

#[test]
fn a_long_answer_is_laid_out_by_the_tick_and_whole_at_its_end() {
    let mut rig = Rig::sample(WIDE);
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.manager(AgentEvent::Text("word ".repeat(4000)));
    let rows = rig.state.manager.rows();
    rig.manager(AgentEvent::Text("\n\nmore\n\n".to_owned()));
    assert_eq!(rig.state.manager.rows(), rows, "waits for the tick");
    rig.event(Event::Tick);
    let ticked = rig.state.manager.rows();
    assert!(ticked > rows);
    rig.manager(AgentEvent::Text("end".to_owned())).manager(AgentEvent::Finished { interrupted: false });
    assert!(rig.state.manager.rows() > ticked);
}
