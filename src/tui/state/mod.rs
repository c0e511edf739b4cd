//! What the workbench knows: one value that [`super::update`] changes and [`super::view`] draws. No I/O, no clock.

pub mod chat;
pub mod command;
pub mod completion;
pub mod composer;
pub mod edit;
pub mod find;
pub mod history;
pub mod layout;
pub mod page;
pub mod picker;
pub mod problems;
pub mod review;
pub mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chat::Chat;
use composer::Line;
use edit::Editing;
use find::Find;
use history::History;
use page::PagePane;
use picker::Picker;
use problems::Problems;
use review::{Mending, Review, Summary};
use tree::Tree;

use super::Suggestions;
use super::keymap::{Key, Keymap, Layer};
use super::theme::{Look, Theme};
use crate::agent::Role;
use crate::agent::client::Price;
use crate::bundle::ChangeSet;
use crate::bundle::ledger::record::Direction;
use crate::lint::{Counts, Finding, Profile, Report, Rule};
use crate::okf::BundlePath;
use crate::text::Safe;
use crate::wiki::Wiki;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pane {
    Tree,
    Page,
    Chat,
}

impl Pane {
    pub const ALL: [Self; 3] = [Self::Tree, Self::Page, Self::Chat];
}

/// What lies over the panes; the last one gets the keys.
#[derive(Debug)]
pub enum Overlay {
    Help {
        top: usize,
        /// Whose keys come first.
        of: Layer,
    },
    Problems(Problems),
    /// What a rule is about and why.
    Explanation {
        rule: &'static Rule,
        top: usize,
    },
    /// The review; its state is [`State::review`] and outlives the overlay.
    Review,
    Summary {
        summary: Summary,
        top: usize,
    },
    Confirm(Question),
    /// Why the hunk at hand, or the whole file, is rejected.
    Reason {
        line: Line,
        whole: bool,
    },
    Edit(Box<Editing>),
    Sheet(Sheet),
    History(History),
    /// The search in the conversation. It covers nothing but the composer.
    Find(Find),
    Picker(Picker),
}

/// Text over everything, to read.
#[derive(Debug)]
pub struct Sheet {
    pub title: String,
    pub body: Body,
    pub top: usize,
}

#[derive(Debug)]
pub enum Body {
    /// Sentences, each behind its mark.
    List(Vec<(&'static str, String)>),
    /// A file as it would be, drawn for so many columns; none while it is being drawn.
    Page { path: BundlePath, drawn: Option<(u16, Vec<ratatui::text::Line<'static>>)>, asked: Option<u16> },
}

/// A question that is answered with yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub text: Vec<String>,
    pub about: About,
}

impl Question {
    /// Its text in rows of so many columns.
    pub fn rows(&self, columns: usize) -> Vec<&str> {
        let rows = |text| {
            crate::text::width::wrap(text, columns)
                .into_iter()
                .map(move |range| text.get(range).unwrap_or_default())
        };
        self.text.iter().map(String::as_str).flat_map(rows).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    ApproveAll,
    Apply,
    Turn(u64, Direction),
    Quit,
}

/// One sentence in the status line, until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    pub bad: bool,
}

/// What does not change while the workbench runs.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The bundle's name for people.
    pub name: String,
    /// None without a model.
    pub model: Option<String>,
    pub hint: Vec<String>,
    pub banner: Option<String>,
    pub theme: Theme,
    /// What `theme` was taken for.
    pub look: Look,
    pub keymap: Keymap,
    pub suggestions: Suggestions,
    /// What the reader says when the bundle is silent.
    pub not_found: String,
}

pub struct State {
    pub fixed: Fixed,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Keys of an unfinished sequence.
    pub pending: Vec<Key>,
    /// None until the bundle is loaded.
    pub wiki: Option<Arc<Wiki>>,
    pub report: Option<Arc<Report>>,
    /// Why the bundle cannot be read.
    pub unreadable: Option<String>,
    /// Findings by page and, summed, by folder; the bundle itself under `/`.
    pub counts: BTreeMap<BundlePath, Counts>,
    pub focus: Pane,
    /// Which pane stands beside the page when there is room for two.
    pub side: Pane,
    pub tree: Tree,
    pub page: PagePane,
    pub role: Role,
    pub manager: Chat,
    pub reader: Chat,
    /// What the manager proposed, or the fix of a finding while `mending`.
    pub staged: Arc<ChangeSet>,
    /// A fix is under review; holds what the manager proposes meanwhile.
    pub mending: Option<Mending>,
    pub review: Option<Review>,
    pub overlays: Vec<Overlay>,
    pub notice: Option<Notice>,
    /// The folder that was opened is not at its place: what is shown may be old.
    pub root_gone: bool,
    /// Another process has the bundle: nothing can be applied.
    pub read_only: bool,
    /// Ctrl-C was the last key.
    pub leaving: bool,
    /// The exit status, once decided.
    pub ended: Option<u8>,
    pub ticks: u64,
    /// Time since the start, as of the last event.
    pub clock: Duration,
    /// When text was last typed into the agent's field, by `clock`; none once it is sent.
    pub typed: Option<Duration>,
    /// How many tokens fit the model, when it is known.
    pub window: Option<u64>,
    /// What tokens cost, when it is known.
    pub price: Option<Price>,
}

impl State {
    pub fn new(fixed: Fixed, size: (u16, u16)) -> Self {
        let has_model = fixed.model.is_some();
        Self {
            size,
            pending: Vec::new(),
            wiki: None,
            report: None,
            unreadable: None,
            counts: BTreeMap::new(),
            focus: Pane::Tree,
            side: Pane::Tree,
            tree: Tree::default(),
            page: PagePane::default(),
            role: Role::Manager,
            manager: Chat::new(has_model, fixed.suggestions.manager.clone()),
            reader: Chat::new(has_model, fixed.suggestions.reader.clone()),
            staged: Arc::default(),
            mending: None,
            review: None,
            overlays: Vec::new(),
            notice: None,
            root_gone: false,
            read_only: false,
            leaving: false,
            ended: None,
            ticks: 0,
            clock: Duration::ZERO,
            typed: None,
            window: None,
            price: None,
            fixed,
        }
    }

    pub fn chat(&self) -> &Chat {
        self.chat_of(self.role)
    }

    pub fn chat_mut(&mut self) -> &mut Chat {
        self.chat_of_mut(self.role)
    }

    pub fn chat_of(&self, role: Role) -> &Chat {
        match role {
            Role::Manager => &self.manager,
            Role::Reader => &self.reader,
        }
    }

    pub fn chat_of_mut(&mut self, role: Role) -> &mut Chat {
        match role {
            Role::Manager => &mut self.manager,
            Role::Reader => &mut self.reader,
        }
    }

    /// Layers of the keymap that hold now, the innermost first.
    pub fn layers(&self) -> &'static [Layer] {
        match self.overlays.last() {
            Some(Overlay::Help { .. } | Overlay::Explanation { .. }) => &[Layer::Help, Layer::Global],
            Some(Overlay::Problems(_)) => &[Layer::Problems, Layer::Plain, Layer::Global],
            Some(Overlay::Review) => &[Layer::Review, Layer::Plain, Layer::Global],
            Some(Overlay::Summary { .. }) => &[Layer::Summary, Layer::Global],
            Some(Overlay::Confirm(_)) => &[Layer::Confirm, Layer::Global],
            Some(Overlay::Reason { .. }) => &[Layer::Reason, Layer::Global],
            Some(Overlay::Edit(_)) => &[Layer::Edit, Layer::Global],
            Some(Overlay::Sheet(_)) => &[Layer::Sheet, Layer::Global],
            Some(Overlay::History(_)) => &[Layer::History, Layer::Global],
            Some(Overlay::Find(find)) if find.typing => &[Layer::Find, Layer::Global],
            Some(Overlay::Find(_)) => &[Layer::Found, Layer::Global],
            Some(Overlay::Picker(_)) => &[Layer::Picker, Layer::Global],
            None => match self.focus {
                Pane::Tree => &[Layer::Tree, Layer::Plain, Layer::Global],
                Pane::Page => &[Layer::Page, Layer::Plain, Layer::Global],
                Pane::Chat if self.chat().completion.is_some() => {
                    &[Layer::Completion, Layer::Chat, Layer::Global]
                }
                Pane::Chat => &[Layer::Chat, Layer::Global],
            },
        }
    }

    /// Whether a text field has the keys and no sequence of keys is under way.
    pub fn typing(&self) -> bool {
        let field = match self.overlays.last() {
            None => self.focus == Pane::Chat,
            Some(Overlay::Find(find)) => find.typing,
            Some(overlay) => {
                matches!(overlay, Overlay::Reason { .. } | Overlay::Edit(_) | Overlay::Picker(_))
            }
        };
        field && self.pending.is_empty()
    }

    /// Whether the bundle follows the wiki convention, where pages lie in `wiki/`.
    pub fn keeps_pages_in_wiki(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.profile == Profile::Wiki)
    }

    /// Whether something on screen moves without an event.
    pub fn animated(&self) -> bool {
        self.manager.running() || self.reader.running() || (self.wiki.is_none() && self.unreadable.is_none())
    }

    pub fn say(&mut self, text: impl AsRef<str>) {
        self.notice = Some(Notice { text: Safe::line(text.as_ref()).into_string(), bad: false });
    }

    pub fn complain(&mut self, text: impl AsRef<str>) {
        self.notice = Some(Notice { text: Safe::line(text.as_ref()).into_string(), bad: true });
    }

    /// Findings of one page in page order.
    pub fn findings_of<'a>(&'a self, path: &'a BundlePath) -> impl Iterator<Item = &'a Finding> {
        self.report.iter().flat_map(|r| &r.findings).filter(move |f| f.path == *path)
    }

    /// First visible row of the problem list: the choice stands in the middle where it can.
    pub fn problems_top(&self) -> usize {
        let Some(Overlay::Problems(problems)) = self.overlays.last() else { return 0 };
        let height = layout::overlay_box(self).map_or(1, |b| usize::from(layout::inner(b).height));
        problems.selected.saturating_sub(height / 2).min(problems.rows.len().saturating_sub(height))
    }

    /// The finding of a row of the problem list; of a group, its first.
    pub fn problem(&self, row: problems::Row) -> Option<&Finding> {
        self.report.as_ref()?.findings.get(row.finding())
    }
}
