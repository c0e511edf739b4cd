//! A workbench whose model client panics with the key in its message. This test is both halves: it starts itself in a
//! pseudo-terminal.

use std::io::Write as _;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt as _};
use wikiwright::agent::client::openai::{OpenAi, OpenAiSettings};
use wikiwright::agent::client::{ModelClient, ModelError, ModelEvent, Request};
use wikiwright::agent::driver::{ManagerOptions, ReaderOptions};
use wikiwright::agent::record::{Keeping, Record, Recorder};
use wikiwright::agent::{Role, client};
use wikiwright::bundle::{Bundle, MemoryBundle};
use wikiwright::okf::BundlePath;
use wikiwright::tui::state::picker::Choice;
use wikiwright::tui::theme::Look;
use wikiwright::tui::{Around, Setup, Suggestions};

use crate::support::pty::{ENTER, Start};

const KEY: &str = "sk-secret-of-a-panic";

/// Panics when it is asked, and before it answers.
struct Panics(OpenAi);

impl ModelClient for Panics {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let key = std::env::var("WIKIWRIGHT_API_KEY").unwrap();
        let asked = request.messages.len();
        futures::stream::once(async move { panic!("Authorization: Bearer {key} after {asked} messages") })
            .boxed()
    }
}

struct Nothing;

impl Around for Nothing {
    fn begin(&self, _: Role) -> Keeping {
        Keeping::default()
    }

    fn kept(&self, _: Role) -> Result<Vec<Choice>, String> {
        Ok(Vec::new())
    }

    fn take_up(&self, _: Role, _: &str) -> Result<Keeping, String> {
        Ok(Keeping::default())
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, String>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn connect(&self, _: &str) -> Result<Arc<dyn client::ModelClient>, String> {
        Err("no".to_owned())
    }

    fn export(&self, _: &str, _: &str) -> Result<String, String> {
        Err("no".to_owned())
    }

    fn copy(&self, _: &str) -> Option<String> {
        None
    }

    fn saved(&self, _: &BundlePath) -> Option<i64> {
        None
    }
}

struct File(std::fs::File);

impl Recorder for File {
    fn record(&mut self, record: &Record) -> std::io::Result<()> {
        writeln!(self.0, "{}", serde_json::to_string(record)?)
    }
}

/// What runs in the terminal.
#[test]
#[ignore = "the half of c20_a_panic_shows_and_keeps_no_key that runs in a terminal"]
fn a_workbench_that_panics() {
    let Ok(key) = std::env::var("WIKIWRIGHT_API_KEY") else { return };
    let client = OpenAi::new(OpenAiSettings::new("http://127.0.0.1:9", "m", Some(key.into()))).unwrap();
    let home = std::env::var("HOME").unwrap();
    let kept = std::fs::File::create(std::path::Path::new(&home).join("kept.jsonl")).unwrap();
    let bundle = MemoryBundle::new([("/wiki/index.md", "# Wiki\n")]).unwrap();
    let setup = Setup {
        bundle: Bundle::open(Arc::new(bundle), "wiki"),
        client: Some(Arc::new(Panics(client))),
        model_hint: String::new(),
        banner: None,
        look: Look::Dark,
        suggestions: Suggestions::default(),
        manager: ManagerOptions::default(),
        reader: ReaderOptions::default(),
        lint: Default::default(),
        keeping: (Keeping { recorder: Some(Box::new(File(kept))), past: Vec::new() }, Keeping::default()),
        around: Arc::new(Nothing),
        edit: Arc::new(|text| Ok(text.to_owned())),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(wikiwright::tui::run(setup)).unwrap();
}

#[test]
fn c20_a_panic_shows_and_keeps_no_key() {
    let own = std::env::current_exe().unwrap();
    let arguments = ["--exact", "panics::a_workbench_that_panics", "--ignored", "--nocapture"];
    let start = Start::of(own.to_str().unwrap(), &arguments).env("WIKIWRIGHT_API_KEY", KEY).size(160, 45);
    let mut screen = start.spawn();
    screen.wait_for(" TREE ");
    screen.send("c");
    screen.wait_for(" MANAGER ");
    screen.send("What does it say?");
    screen.send(ENTER);
    screen.wait_for("Bearer [key]");
    screen.wait_for("stopped for good");
    let kept = std::fs::read_to_string(screen.home().join("kept.jsonl")).unwrap();
    assert!(kept.contains("What does it say?") && !kept.contains(KEY), "{kept}");
    screen.send("\x11");
    screen.wait_exit();
    let shown = String::from_utf8_lossy(&screen.bytes()).into_owned();
    assert!(!shown.contains(KEY), "{shown}");
}
