//! Performs effects: hands them to blocking threads and sessions, and brings their answers back as events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc::UnboundedSender;

use super::switch::Switch;
use super::{Perform, model, work};
use crate::agent::driver::{ManagerOptions, ReaderOptions, Session};
use crate::agent::record::Keeping;
use crate::agent::{AgentCommand, Manager, Reader, Role};
use crate::bundle::hunk;
use crate::bundle::ledger::Recovery;
use crate::bundle::ledger::record::Origin;
use crate::bundle::open::Claim;
use crate::bundle::watch::Changed;
use crate::bundle::{Bundle, Rules};
use crate::lint;
use crate::tui::effect::Effect;
use crate::tui::event::Event;
use crate::tui::state::State;
use crate::tui::state::picker::{Choice, Choosing};
use crate::tui::{Around, Setup, terminal};

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
    /// What the sessions ask; none without a model.
    client: Option<Arc<Switch>>,
    around: Arc<dyn Around>,
    options: (ManagerOptions, ReaderOptions),
    manager: Option<Talk>,
    reader: Option<Talk>,
    /// What the manager was asked last, for the ledger.
    instruction: Option<String>,
}

/// Where a session hears commands. What it says is passed on as long as this is there.
struct Talk {
    commands: UnboundedSender<AgentCommand>,
    live: Arc<AtomicBool>,
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.live.store(false, Ordering::SeqCst);
    }
}

impl World {
    /// Starts loading, watching and, with a model, both sessions.
    pub fn start(setup: Setup, events: UnboundedSender<Event>) -> Self {
        let changes = model::start(setup.bundle.clone(), setup.lint.clone(), events.clone());
        let model = setup.client.as_ref().map(|client| client.name().to_owned());
        claim(setup.bundle.clone(), events.clone());
        let rules = setup.manager.rules();
        // As the bundle's own settings have it too.
        let manager = ManagerOptions { lint: setup.lint.clone(), ..setup.manager };
        let mut world = Self {
            bundle: setup.bundle,
            lint: setup.lint,
            rules,
            events,
            changes,
            model,
            client: setup.client.map(|client| Arc::new(Switch::new(client))),
            around: setup.around,
            options: (manager, setup.reader),
            manager: None,
            reader: None,
            instruction: None,
        };
        world.begin(Role::Manager, setup.keeping.0);
        world.begin(Role::Reader, setup.keeping.1);
        world
    }

    /// Starts a session in the place of the one before, which ends.
    fn begin(&mut self, role: Role, keeping: Keeping) {
        let Some(client) = self.client.clone() else { return };
        let read = self.bundle.reader();
        let session = match role {
            Role::Manager => {
                let manager = Manager::builder().backend(read).client(client).options(self.options.0.clone());
                manager.keeping(keeping).build().map(Manager::start)
            }
            Role::Reader => {
                let reader = Reader::builder().backend(read).client(client).options(self.options.1.clone());
                reader.keeping(keeping).build().map(Reader::start)
            }
        };
        let session = match session {
            Ok(session) => Some(listen(session, &self.events)),
            Err(error) => {
                let _ = self.events.send(Event::Notice(error.to_string()));
                None
            }
        };
        match role {
            Role::Manager => self.manager = session,
            Role::Reader => self.reader = session,
        }
    }

    /// Puts another model in the place of the one that answers.
    fn connect(&mut self, model: &str) {
        let outcome = self.around.connect(model).map(|client| {
            let price = client.price();
            if let Some(switch) = &self.client {
                switch.put(client);
            }
            self.model = Some(model.to_owned());
            (model.to_owned(), price)
        });
        let switched = outcome.is_ok();
        let _ = self.events.send(Event::Connected(outcome));
        // After that event: what the sessions learn of the model is to be heard last.
        for session in [&self.manager, &self.reader].into_iter().flatten().filter(|_| switched) {
            // One that is gone says so when it is spoken to.
            let _ = session.commands.send(AgentCommand::Switched);
        }
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

/// Forwards a session's events while somebody talks to it.
fn listen(session: Session, events: &UnboundedSender<Event>) -> Talk {
    let Session { role, commands, events: mut heard, .. } = session;
    let events = events.clone();
    let live = Arc::new(AtomicBool::new(true));
    let ours = live.clone();
    tokio::spawn(async move {
        while let Some(event) = heard.recv().await {
            if !ours.load(Ordering::SeqCst) || events.send(Event::Agent(role, event)).is_err() {
                return;
            }
        }
        if ours.load(Ordering::SeqCst) {
            let _ = events.send(Event::AgentGone(role));
        }
    });
    Talk { commands, live }
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
                    && session.commands.send(command).is_err()
                {
                    let _ = self.events.send(Event::AgentGone(role));
                }
            }
            Effect::Sources(wiki) => {
                let around = self.around.clone();
                self.compute(move || work::sources(&wiki, &|path| around.saved(path)));
            }
            Effect::Search { wiki, query } => self.compute(move || work::search(&wiki, query)),
            Effect::Kept(role) => {
                let around = self.around.clone();
                self.compute(move || Event::Choices(Choosing::Conversation, around.kept(role)));
            }
            Effect::Models => {
                let (models, events) = (self.around.models(), self.events.clone());
                tokio::spawn(async move {
                    let choice =
                        |name: String| Choice { value: name.clone(), label: name, note: String::new() };
                    let models = models.await.map(|names| names.into_iter().map(choice).collect());
                    let _ = events.send(Event::Choices(Choosing::Model, models));
                });
            }
            Effect::Connect(model) => self.connect(&model),
            Effect::Begin { role, id } => {
                let fresh = id.is_none();
                let keeping = match &id {
                    None => Ok(self.around.begin(role)),
                    Some(id) => self.around.take_up(role, id),
                };
                match keeping {
                    Ok(keeping) => {
                        let _ = self.events.send(Event::Began { role, fresh });
                        self.begin(role, keeping);
                    }
                    Err(why) => {
                        let _ = self.events.send(Event::Trouble(why));
                    }
                }
            }
            Effect::Export { file, text } => {
                let around = self.around.clone();
                self.compute(move || match around.export(&file, &text) {
                    Ok(place) => Event::Notice(format!("The conversation is in {place}")),
                    Err(why) => Event::Trouble(why),
                });
            }
            Effect::Copy(text) => {
                let said = self.around.copy(&text).unwrap_or_else(|| terminal::copy(&text));
                let _ = self.events.send(Event::Notice(said));
            }
            // The loop handles these: they need the terminal.
            Effect::Suspend | Effect::Redraw | Effect::Edit { .. } | Effect::Write { .. } | Effect::Quit => {}
        }
    }
}
