//! Any size in any view: no panic, nothing drawn outside.

use wikiwright::agent::AgentEvent;
use wikiwright::agent::event::CallId;

use crate::rig::Rig;

const SIDES: [u16; 8] = [0, 1, 2, 3, 5, 10, 80, 200];

fn every_size(mut rig: Rig) {
    for columns in SIDES {
        for rows in SIDES {
            rig.resize(columns, rows);
            let buffer = rig.buffer();
            assert_eq!((buffer.area.width, buffer.area.height), (columns, rows));
        }
    }
    // The terminal may be smaller than the last size that was heard of.
    for size in [(80, 24), (120, 40)] {
        rig.resize(size.0, size.1);
        for columns in SIDES {
            for rows in SIDES {
                let mut terminal =
                    ratatui::Terminal::new(ratatui::backend::TestBackend::new(columns, rows)).unwrap();
                terminal.draw(|frame| wikiwright::tui::view::draw(&rig.state, frame)).unwrap();
            }
        }
    }
}

fn with(keys: &str) -> Rig {
    let mut rig = Rig::sample((120, 40));
    rig.state.fixed.banner = Some("The model is scripted.".to_owned());
    rig.keys(keys);
    rig
}

#[test]
fn panes() {
    every_size(Rig::unloaded(Vec::new(), (80, 24)));
    every_size(Rig::new(Vec::new(), (80, 24)));
    every_size(with("alt-1"));
    every_size(with("alt-2 tab"));
    every_size(with("alt-3 \"some text\" ctrl-j \"more\""));
}

#[test]
fn transcript() {
    let mut rig = with("alt-3");
    rig.manager(AgentEvent::TurnStarted { message: "go".to_owned() });
    rig.manager(AgentEvent::Reasoning("hm".to_owned()));
    rig.manager(AgentEvent::ToolStarted {
        call: CallId(1),
        tool: "ls".to_owned(),
        summary: "/wiki".to_owned(),
    });
    rig.manager(AgentEvent::Text("See /wiki/index.md\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()));
    rig.keys("tab");
    every_size(rig);
}

#[test]
fn overlays() {
    every_size(with("f1"));
    every_size(with("f8"));
    for keys in ["", "x \"because\"", "A", "y enter", "f1"] {
        let mut rig = with("alt-1");
        rig.propose(&[("/wiki/a.md", Some("# A\n\n[x](y.md)\n")), ("/wiki/log.md", None)]);
        rig.keys(keys);
        every_size(rig);
    }
    let mut quit = with("alt-1");
    quit.propose(&[("/wiki/a.md", Some("# A\n"))]);
    quit.keys("esc q");
    every_size(quit);
}
