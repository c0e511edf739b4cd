//! Performs effects: hands them to blocking threads and sessions, and brings their answers back as events.

use tokio::sync::mpsc::UnboundedSender;

use super::{Perform, model, work};
use crate::agent::driver::{ManagerOptions, Session};
use crate::agent::{AgentCommand, BuildError, Manager, Reader, Role};
use crate::bundle::hunk;
use crate::bundle::ledger::Recovery;
use crate::bundle::ledger::record::Origin;
use crate::bundle::open::Claim;
use crate::bundle::watch::Changed;
use crate::bundle::{Bundle, Rules};
use crate::lint;
use crate::tui::Setup;
use crate::tui::effect::Effect;
use crate::tui::event::Event;
use crate::tui::state::State;

/// Everything an effect can reach.
pub struct World {
    bundle: Bundle,
    lint: lint::Options,
    /// What a fix may write.
    rules: Rules,
    events: UnboundedSender<Event>,
    changes: model::Changes,
    /// The model's name, for the ledger.
    model: Option<String>,
    manager: Option<UnboundedSender<AgentCommand>>,
    reader: Option<UnboundedSender<AgentCommand>>,
    /// What the manager was asked last, for the ledger.
    instruction: Option<String>,
}

impl World {
    /// Starts loading, watching and, with a model, both sessions.
    pub fn start(setup: Setup, events: UnboundedSender<Event>) -> Self {
        let changes = model::start(setup.bundle.clone(), setup.lint.clone(), events.clone());
        let model = setup.client.as_ref().map(|client| client.name().to_owned());
        claim(setup.bundle.clone(), events.clone());
        let rules = setup.manager.rules();
        let (manager, reader) = match setup.client {
            Some(client) => {
                let read = setup.bundle.reader();
                // As the bundle's own settings have it too.
                let options = ManagerOptions { lint: setup.lint.clone(), ..setup.manager };
                let manager = Manager::builder().backend(read.clone()).client(client.clone());
                let manager = manager.options(options).keeping(setup.keeping.0).build();
                let reader = Reader::builder().backend(read).client(client);
                let reader = reader.options(setup.reader).keeping(setup.keeping.1).build();
                let told = |error: BuildError| drop(events.send(Event::Notice(error.to_string())));
                (
                    manager.map_err(told).ok().map(|manager| listen(manager.start(), &events)),
                    reader.map_err(told).ok().map(|reader| listen(reader.start(), &events)),
                )
            }
            None => (None, None),
        };
        let bundle = setup.bundle;
        Self { bundle, lint: setup.lint, rules, events, changes, model, manager, reader, instruction: None }
    }

    /// Runs `job` on a blocking thread and sends its answer. A panic there was reported by the hook.
    fn compute(&self, job: impl FnOnce() -> Event + Send + 'static) {
        let events = self.events.clone();
        tokio::task::spawn_blocking(move || {
            // Nobody listens any more when the workbench ends.
            let _ = events.send(job());
        });
    }
}

/// Takes the bundle for this workbench, off the screen's way, and says what is worth saying.
fn claim(bundle: Bundle, events: UnboundedSender<Event>) {
    tokio::task::spawn_blocking(move || {
        let text = match bundle.claim() {
            Ok(Claim::Ours(Recovery { finished, kept })) if kept.is_empty() => match finished.len() {
                0 => return,
                files => format!("{files} files of a set that was cut off are in place now."),
            },
            Ok(Claim::Ours(Recovery { kept, .. })) => format!(
                "A set that was cut off could not be finished: {} files were changed since and are kept as they are.",
                kept.len()
            ),
            Ok(Claim::Taken) => {
                let _ = events.send(Event::ReadOnly(true));
                "Read-only: another wikiwright has this bundle open. Nothing can be applied until it ends."
                    .to_owned()
            }
            Err(error) => format!("The ledger of this bundle cannot be used: {}", error.message),
        };
        // Nobody listens any more when the workbench ends.
        let _ = events.send(Event::Notice(text));
    });
}

/// Forwards a session's events; returns where its commands go.
fn listen(session: Session, events: &UnboundedSender<Event>) -> UnboundedSender<AgentCommand> {
    let Session { role, commands, events: mut heard, .. } = session;
    let events = events.clone();
    tokio::spawn(async move {
        while let Some(event) = heard.recv().await {
            if events.send(Event::Agent(role, event)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::AgentGone(role));
    });
    commands
}

impl Perform for World {
    fn perform(&mut self, state: &State, effect: Effect) {
        let theme = state.fixed.theme.clone();
        match effect {
            Effect::Refresh(paths) => {
                let _ = self.changes.send(Changed::Paths(paths));
            }
            Effect::Open(path) => {
                let bundle = self.bundle.clone();
                self.compute(move || work::open(&bundle, &path));
            }
            Effect::RenderPage { ticket, page, wiki, width } => {
                self.compute(move || work::render_page(ticket, &page, &wiki, width, &theme));
            }
            Effect::RenderText { ticket, path, text, width } => {
                self.compute(move || work::render_text(ticket, &path, &text, width, &theme));
            }
            Effect::Weigh { changes, open } => {
                self.compute(move || work::weigh(changes, open));
            }
            Effect::Judge { changes, verdicts, generation, wiki, report } => {
                let (bundle, options) = (self.bundle.reader(), self.lint.clone());
                self.compute(move || {
                    let verdict = work::judge(bundle, &changes, &verdicts, &wiki, &report, &options);
                    Event::Judged { generation, verdict }
                });
            }
            Effect::Mend { finding, wiki, report } => {
                let (bundle, options, rules) = (self.bundle.reader(), self.lint.clone(), self.rules.clone());
                self.compute(move || work::mend(bundle, &rules, &wiki, &report, finding, &options));
            }
            Effect::RenderDiff { file, key, replaced } => {
                self.compute(move || work::render_diff(&file, key, &replaced, &theme));
            }
            Effect::Preview { changes, verdicts, path, wiki, width } => {
                self.compute(move || {
                    work::preview(&changes, &verdicts, &path, wiki.as_deref(), width, &theme)
                });
            }
            Effect::History => {
                let bundle = self.bundle.clone();
                self.compute(move || work::history(&bundle));
            }
            Effect::RenderSet { id, width } => {
                let bundle = self.bundle.clone();
                self.compute(move || work::render_set(&bundle, id, width, &theme));
            }
            Effect::Turn { id, direction } => {
                let bundle = self.bundle.clone();
                self.compute(move || work::turn(&bundle, id, direction));
            }
            Effect::Apply { changes, verdicts, mends } => {
                let (bundle, events) = (self.bundle.clone(), self.events.clone());
                let origin = match (mends, &self.instruction) {
                    (true, _) => Origin {
                        who: "lint".to_owned(),
                        message: "a fix of the findings list".to_owned(),
                        ..Origin::default()
                    },
                    (false, asked) => Origin {
                        who: "manager".to_owned(),
                        model: self.model.clone(),
                        message: asked
                            .clone()
                            .unwrap_or_else(|| "taken up from an earlier session".to_owned()),
                        ..Origin::default()
                    },
                };
                self.compute(move || {
                    let resolved = hunk::resolve(&changes, &verdicts);
                    let applied = bundle.apply(&resolved.changes, &resolved.decisions, &origin);
                    // Who could write has the bundle now, whoever had it before.
                    if !applied.landed.is_empty() {
                        let _ = events.send(Event::ReadOnly(false));
                    }
                    Event::Applied { resolved, applied }
                });
            }
            Effect::Agent(role, command) => {
                if let (Role::Manager, AgentCommand::Say(text)) = (role, &command) {
                    self.instruction = Some(text.clone());
                }
                let session = match role {
                    Role::Manager => &self.manager,
                    Role::Reader => &self.reader,
                };
                if let Some(session) = session
                    && session.send(command).is_err()
                {
                    let _ = self.events.send(Event::AgentGone(role));
                }
            }
            // The loop handles these: they need the terminal.
            Effect::Suspend | Effect::Redraw | Effect::Edit { .. } | Effect::Quit => {}
        }
    }
}
