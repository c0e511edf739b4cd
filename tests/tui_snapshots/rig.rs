//! A workbench over a bundle in memory whose effects are performed at once, so that a test reads: before, keys, after.

use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use wikiwright::agent::prompt::NOT_FOUND;
use wikiwright::agent::{AgentCommand, AgentEvent, Carried, Moved, Role};
use wikiwright::bundle::merge::Rebased;
use wikiwright::bundle::{Bundle, MemoryBundle, Read, Rules, Staged, Write, apply, hunk};
use wikiwright::lint;
use wikiwright::okf::BundlePath;
use wikiwright::tui::Suggestions;
use wikiwright::tui::effect::Effect;
use wikiwright::tui::event::Event;
use wikiwright::tui::keymap::{Key, Keymap};
use wikiwright::tui::runtime::work;
use wikiwright::tui::state::{Fixed, State};
use wikiwright::tui::theme::{Look, Theme};
use wikiwright::tui::update::{settle, update};
use wikiwright::tui::view;
use wikiwright::wiki::Wiki;

pub struct Rig {
    pub state: State,
    pub bundle: Arc<MemoryBundle>,
    pub staged: Arc<Staged>,
    /// What the agents were told.
    pub told: Vec<(Role, AgentCommand)>,
    /// Effects for the terminal.
    pub terminal: Vec<Effect>,
    /// What the person's editor makes of a text.
    pub editor: Option<fn(&str) -> String>,
    /// A bundle whose history is shown; without a ledger unless a test gives it one.
    pub kept: Bundle,
    /// When files were saved, for those that a test gives a time.
    pub saved: Vec<(&'static str, i64)>,
}

pub fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// A little wiki with a broken link, headings, a table and a source.
pub fn sample() -> Vec<(&'static str, &'static str)> {
    vec![
        ("/AGENTS.md", "# Wiki\n\nTypes: `Concept`, `Entity`.\n"),
        ("/raw/source.txt", "A source.\nSecond line.\n"),
        (
            "/wiki/index.md",
            "# Index\n\n* [Tide mill](concepts/tide-mill.md) - a mill.\n* [Sea gate](concepts/sea-gate.md#how) - a gate.\n* [Home](https://example.test/x)\n* [Lost](concepts/lost.md)\n",
        ),
        (
            "/wiki/concepts/tide-mill.md",
            "---\ntype: Concept\ntitle: Tide mill\ndescription: A mill driven by the tide.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Tide mill\n\nSee the [sea gate](sea-gate.md).\n\n## Parts\n\n| part | use |\n|---|---|\n| pond | holds water |\n| wheel | turns |\n\n```rust\nfn main() {}\n```\n",
        ),
        (
            "/wiki/concepts/sea-gate.md",
            "---\ntype: Concept\ntitle: Sea gate\ndescription: A gate.\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Sea gate\n\nOpens by itself.\n\n## How\n\nThe flood pushes it. Back to the [mill](tide-mill.md).\n",
        ),
        ("/wiki/log.md", "# Log\n\n## 2026-01-01\n\n* Begun.\n"),
    ]
}

impl Rig {
    pub fn new(files: Vec<(&str, &str)>, size: (u16, u16)) -> Self {
        let mut rig = Self::unloaded(files, size);
        rig.reload();
        rig
    }

    /// Before the bundle is loaded.
    pub fn unloaded(files: Vec<(&str, &str)>, size: (u16, u16)) -> Self {
        let bundle = Arc::new(MemoryBundle::new(files).unwrap());
        let staged = Arc::new(Staged::new(bundle.clone(), Rules::manager(true)));
        let fixed = Fixed {
            name: "tide-mills".to_owned(),
            model: Some("scripted".to_owned()),
            hint: vec!["No model is set.".to_owned(), "Set WIKIWRIGHT_MODEL.".to_owned()],
            banner: None,
            theme: Theme::ansi(),
            look: Look::Auto,
            keymap: Keymap::shipped(),
            suggestions: Suggestions::default(),
            not_found: NOT_FOUND.to_owned(),
        };
        Self {
            state: State::new(fixed, size),
            kept: Bundle::open(bundle.clone(), "tide-mills"),
            bundle,
            staged,
            told: Vec::new(),
            terminal: Vec::new(),
            editor: None,
            saved: Vec::new(),
        }
    }

    pub fn sample(size: (u16, u16)) -> Self {
        Self::new(sample(), size)
    }

    /// Loads the bundle anew, as after a change on disk.
    pub fn reload(&mut self) {
        let wiki = Wiki::load(self.bundle.as_ref()).unwrap();
        let changed = wiki
            .pages()
            .filter(|p| {
                self.state.wiki.as_ref().and_then(|w| w.page(&p.path)).is_none_or(|q| q.hash != p.hash)
            })
            .map(|p| p.path.clone())
            .collect();
        let report = lint::lint(&wiki, &lint::Options::default());
        self.event(Event::Model { wiki: Arc::new(wiki), report: Arc::new(report), changed });
    }

    /// An event, everything that follows from it, and a frame.
    pub fn event(&mut self, event: Event) -> &mut Self {
        let effects = update(&mut self.state, event);
        self.perform(effects);
        self.frame();
        self
    }

    /// Settles until nothing more is asked for; then the frame counts as drawn.
    pub fn frame(&mut self) {
        for _ in 0..8 {
            let effects = settle(&mut self.state);
            if effects.is_empty() {
                break;
            }
            self.perform(effects);
        }
        update(&mut self.state, Event::Drawn);
    }

    /// An event whose frame was not drawn yet.
    pub fn undrawn(&mut self, event: Event) {
        let effects = update(&mut self.state, event);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let theme = self.state.fixed.theme.clone();
        for effect in effects {
            let answer = match effect {
                Effect::Refresh(_) => {
                    let wiki = Wiki::load(self.bundle.as_ref()).unwrap();
                    let report = lint::lint(&wiki, &lint::Options::default());
                    Event::Model { wiki: Arc::new(wiki), report: Arc::new(report), changed: Vec::new() }
                }
                Effect::Open(path) => work::open(self.bundle.as_ref(), &path),
                Effect::RenderPage { ticket, page, wiki, width } => {
                    work::render_page(ticket, &page, &wiki, width, &theme)
                }
                Effect::RenderText { ticket, path, text, width } => {
                    work::render_text(ticket, &path, &text, width, &theme)
                }
                Effect::Weigh { changes, open } => work::weigh(changes, open),
                Effect::Judge { changes, verdicts, generation, wiki, report } => {
                    let bundle: Arc<dyn Read> = self.bundle.clone();
                    let options = lint::Options::default();
                    let verdict = work::judge(bundle, &changes, &verdicts, &wiki, &report, &options);
                    Event::Judged { generation, verdict }
                }
                Effect::Mend { finding, wiki, report } => {
                    let bundle: Arc<dyn Read> = self.bundle.clone();
                    let (rules, options) = (Rules::manager(true), lint::Options::default());
                    work::mend(bundle, &rules, &wiki, &report, finding, &options)
                }
                Effect::RenderDiff { file, key, replaced } => {
                    work::render_diff(&file, key, &replaced, &theme)
                }
                Effect::Preview { changes, verdicts, path, wiki, width } => {
                    work::preview(&changes, &verdicts, &path, wiki.as_deref(), width, &theme)
                }
                Effect::Edit { place, text } => {
                    let edited =
                        self.editor.map_or_else(|| Err("no editor".to_owned()), |edit| Ok(edit(&text)));
                    Event::Edited { place, text: edited }
                }
                Effect::Apply { changes, verdicts, .. } => {
                    let resolved = hunk::resolve(&changes, &verdicts);
                    let applied = apply::apply(self.bundle.as_ref(), &resolved.changes, &resolved.decisions);
                    Event::Applied { resolved, applied }
                }
                Effect::History => work::history(&self.kept),
                Effect::RenderSet { id, width } => work::render_set(&self.kept, id, width, &theme),
                Effect::Turn { id, direction } => work::turn(&self.kept, id, direction),
                Effect::Write { role, text } => {
                    let edited =
                        self.editor.map_or_else(|| Err("no editor".to_owned()), |edit| Ok(edit(&text)));
                    Event::Written { role, text: edited }
                }
                Effect::Sources(wiki) => work::sources(&wiki, &|path| {
                    self.saved.iter().find(|(known, _)| *known == path.as_str()).map(|(_, at)| *at)
                }),
                Effect::Search { wiki, query } => work::search(&wiki, query),
                // As the driver does it.
                Effect::Agent(_, AgentCommand::Rebase) => {
                    self.rebase();
                    continue;
                }
                Effect::Agent(role, command) => {
                    self.told.push((role, command));
                    continue;
                }
                other => {
                    self.terminal.push(other);
                    continue;
                }
            };
            let effects = update(&mut self.state, answer);
            self.perform(effects);
        }
    }

    fn rebase(&mut self) {
        let moved: Vec<Moved> = self
            .staged
            .rebase(true)
            .into_iter()
            .map(|(path, rebased)| {
                let how = match rebased {
                    Rebased::Merged(_) => Carried::Merged,
                    Rebased::Conflict(_) => Carried::Contested,
                    Rebased::Done | Rebased::Unchanged => Carried::Done,
                };
                Moved { path, how }
            })
            .collect();
        if moved.is_empty() {
            return;
        }
        let changes = self.staged.changes();
        self.undrawn(Event::Agent(Role::Manager, AgentEvent::Rebased(moved)));
        self.undrawn(Event::Agent(Role::Manager, AgentEvent::Staged(changes)));
    }

    /// Keys as the keymap writes them, separated by spaces; `"text"` in quotes is typed.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        for (index, part) in keys.split('"').enumerate() {
            if index % 2 == 1 {
                for c in part.chars() {
                    self.key(Key::new(
                        crossterm::event::KeyCode::Char(c),
                        crossterm::event::KeyModifiers::NONE,
                    ));
                }
            } else {
                for key in part.split_whitespace() {
                    self.key(Key::parse(key).unwrap_or_else(|| panic!("{key} is no key")));
                }
            }
        }
        self
    }

    fn key(&mut self, key: Key) {
        self.event(Event::Key(KeyEvent::new(key.code, key.modifiers)));
    }

    pub fn click(&mut self, column: u16, row: u16) -> &mut Self {
        self.mouse(MouseEventKind::Down(MouseButton::Left), column, row)
    }

    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> &mut Self {
        let modifiers = crossterm::event::KeyModifiers::NONE;
        self.event(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
    }

    pub fn manager(&mut self, event: AgentEvent) -> &mut Self {
        self.event(Event::Agent(Role::Manager, event))
    }

    pub fn reader(&mut self, event: AgentEvent) -> &mut Self {
        self.event(Event::Agent(Role::Reader, event))
    }

    /// Stages writes as the manager would and ends its turn.
    pub fn propose(&mut self, files: &[(&str, Option<&str>)]) -> &mut Self {
        self.stage(files);
        let changes = self.staged.changes();
        self.manager(AgentEvent::AwaitingReview(changes))
    }

    pub fn stage(&mut self, files: &[(&str, Option<&str>)]) {
        for (at, text) in files {
            match text {
                Some(text) => self.staged.write(&path(at), text.as_bytes()).unwrap(),
                None => self.staged.delete(&path(at)).unwrap(),
            }
        }
    }

    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.event(Event::Resize(columns, rows))
    }

    pub fn buffer(&self) -> Buffer {
        let (columns, rows) = self.state.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| view::draw(&self.state, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// The characters on screen.
    pub fn screen(&self) -> String {
        let buffer = self.buffer();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut row = String::new();
            let mut x = 0;
            while x < buffer.area.width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                x += u16::try_from(wikiwright::text::width::width(symbol).max(1)).unwrap();
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// The characters, then for every cell a letter that names its style, then what the letters mean.
    pub fn styled(&self) -> String {
        let buffer = self.buffer();
        let mut legend: Vec<String> = Vec::new();
        let mut grid = String::new();
        for y in 0..buffer.area.height {
            let mut row = String::new();
            for x in 0..buffer.area.width {
                let cell = &buffer[(x, y)];
                let style = format!("{:?} on {:?} {:?}", cell.fg, cell.bg, cell.modifier);
                let at = legend.iter().position(|s| *s == style).unwrap_or_else(|| {
                    legend.push(style);
                    legend.len() - 1
                });
                row.push(letter(at));
            }
            grid.push_str(row.trim_end_matches('.'));
            grid.push('\n');
        }
        let legend: Vec<String> =
            legend.iter().enumerate().map(|(at, style)| format!("{} {style}", letter(at))).collect();
        format!("{}---\n{grid}---\n{}\n", self.screen(), legend.join("\n"))
    }
}

fn letter(at: usize) -> char {
    ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".chars().nth(at).unwrap_or('?')
}
