//! With a model over the wire: the same ingest as in the demo, the commands without a screen, and endpoints that misbehave.

use std::path::PathBuf;
use std::process::Command;

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};
use super::support::endpoint::{Conduct, Endpoint, refusing};
use super::support::pty::{ENTER, F2, Screen, Start};

const SCRIPT: &str = include_str!("../../assets/demo/script.toml");
const INGEST: &str = "Ingest raw/la-rance.md";

/// A copy of the example, and a home folder beside it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: bundle::beside_home() }
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join("mills")
    }

    fn run(&self, base_url: &str, arguments: &[&str]) -> Said {
        let bundle = self.bundle();
        run(wikiwright(&self.folder.path().join("home"))
            .env("WIKIWRIGHT_BASE_URL", base_url)
            .env("WIKIWRIGHT_MODEL", "test")
            .env("WIKIWRIGHT_API_KEY", "sk-secret")
            .arg(arguments[0])
            .arg(&bundle)
            .args(&arguments[1..]))
    }

    fn start(&self, base_url: &str) -> Screen {
        Start::new(&[self.bundle().to_str().unwrap(), "--base-url", base_url, "--model", "test"])
            .size(160, 45)
            .spawn()
    }

    fn open(&self, base_url: &str) -> Screen {
        let screen = self.start(base_url);
        screen.wait_for("no findings");
        screen
    }

    /// The bundle is byte for byte the example.
    fn assert_untouched(&self) {
        let example = bundle::example();
        let diff = Command::new("diff").arg("-r").arg(&example).arg(self.bundle()).output().unwrap();
        assert!(diff.status.success(), "{}", String::from_utf8_lossy(&diff.stdout));
    }

    fn assert_ingested_and_clean(&self) {
        let page = std::fs::read_to_string(self.bundle().join("wiki/entities/la-rance.md")).unwrap();
        assert!(page.contains("24 of 10 MW"), "{page}");
        let said = run(wikiwright(&self.folder.path().join("home")).arg("lint").arg(self.bundle()));
        assert_eq!(said.code, Some(0), "{}", said.out);
        assert!(said.out.contains("0 errors, 0 warnings, 0 hints"), "{}", said.out);
    }
}

fn scripted() -> Endpoint {
    Endpoint::start(Conduct::Script(SCRIPT))
}

/// Asks the manager for the ingest, and waits until it is to be reviewed.
fn ingest(screen: &mut Screen) {
    screen.send("c");
    screen.wait_for(" MANAGER ");
    screen.send(INGEST);
    screen.wait_for(&format!("› {INGEST}"));
    screen.send(ENTER);
    screen.wait_for("Review: 13 files");
}

#[test]
fn the_ingest_over_the_wire_is_reviewed_and_written() {
    let (place, endpoint) = (Place::new(), scripted());
    let mut screen = place.open(&endpoint.base_url);
    ingest(&mut screen);
    screen.wait_for("If all of it is written: 0 errors, 0 warnings");
    place.assert_untouched();
    screen.send("A");
    screen.wait_for("13 files: ");
    screen.send("y");
    screen.wait_for("13 written");
    place.assert_ingested_and_clean();
}

#[test]
fn the_reader_is_offered_nothing_that_writes() {
    let (place, endpoint) = (Place::new(), scripted());
    let mut screen = place.open(&endpoint.base_url);
    screen.send("c");
    screen.send(F2);
    screen.wait_for(" READER ");
    screen.send("Why is Eling a good site?");
    screen.send(ENTER);
    screen.wait_for("double high water");
    let heard = endpoint.heard();
    let tools: Vec<&str> = heard[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(tools.contains(&"read_file"), "{tools:?}");
    for tool in ["write_file", "edit_file", "delete"] {
        assert!(!tools.contains(&tool), "{tools:?}");
    }
}

#[test]
fn ask_prints_the_answer_and_what_was_read() {
    let (place, endpoint) = (Place::new(), scripted());
    let said = place.run(&endpoint.base_url, &["ask", "How much energy does a pond hold?"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.out.contains("56 kWh") && said.out.contains("(/wiki/concepts/tide-pond.md)"),
        "{}",
        said.out
    );
    assert!(said.err.contains("/wiki/concepts/tide-pond.md"), "{}", said.err);
    assert!(!said.out.contains('\x1b'));
    place.assert_untouched();
}

#[test]
fn ask_exits_with_1_when_the_wiki_is_silent() {
    let script = "[[exchange]]\nrole = 'reader'\n[[exchange.answer]]\ntext = 'Not in here.'\n";
    let endpoint = Endpoint::start(Conduct::Script(script));
    let place = Place::new();
    let config = place.folder.path().join("c.toml");
    std::fs::write(&config, "[reader]\nnot_found_message = 'Not in here.'\n").unwrap();
    let said = place.run(&endpoint.base_url, &["ask", "What?", "--config", config.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), "Not in here.\n"), "{}", said.err);
}

#[test]
fn manage_yes_writes_everything() {
    let (place, endpoint) = (Place::new(), scripted());
    let said = place.run(&endpoint.base_url, &["manage", INGEST, "--yes"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("changed wiki/log.md"), "{}", said.out);
    place.assert_ingested_and_clean();
}

#[test]
fn what_was_applied_is_listed_undone_and_redone() {
    let (place, endpoint) = (Place::new(), scripted());
    let quiet = |arguments: &[&str]| place.run("http://127.0.0.1:9/v1", arguments);
    assert!(quiet(&["history"]).err.contains("Nothing has been applied"));
    place.run(&endpoint.base_url, &["manage", INGEST, "--yes"]);
    let said = quiet(&["history"]);
    assert!(
        said.out.contains("    1  ") && said.out.contains("manager (test)  Ingest raw/la-rance.md"),
        "{}",
        said.out
    );
    assert!(said.out.contains("new wiki/entities/la-rance.md"), "{}", said.out);

    // Without a terminal it shows and changes nothing.
    let said = quiet(&["undo"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    place.assert_ingested_and_clean();

    let said = quiet(&["undo", "--yes"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    place.assert_untouched();
    let said = quiet(&["redo", "--yes"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    place.assert_ingested_and_clean();

    // A later edit by hand is not lost: the undo is refused as a whole.
    let log = place.bundle().join("wiki/log.md");
    std::fs::write(&log, "# By hand\n").unwrap();
    let said = quiet(&["undo", "1", "--yes"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("/wiki/log.md"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "# By hand\n");
    assert!(place.bundle().join("wiki/entities/la-rance.md").exists());
}

#[test]
fn while_a_workbench_has_the_bundle_nobody_else_writes_it() {
    let (place, endpoint) = (Place::new(), scripted());
    let first = place.open(&endpoint.base_url);
    let mut second = place.start(&endpoint.base_url);
    second.wait_for("another wikiwright has this bundle open");
    // The sentence goes with the next key; the mark stays.
    second.send("j");
    second.wait("the mark", |text| text.contains("read-only") && !text.contains("another wikiwright"));
    let said = place.run(&endpoint.base_url, &["manage", INGEST, "--yes"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("another wikiwright has this bundle open"), "{}", said.err);
    place.assert_untouched();
    drop((first, second));
    let endpoint = scripted();
    assert_eq!(place.run(&endpoint.base_url, &["manage", INGEST, "--yes"]).code, Some(0));
}

#[test]
fn manage_patch_changes_nothing_and_git_applies_it() {
    let (place, endpoint) = (Place::new(), scripted());
    let patch = place.folder.path().join("ingest.patch");
    let said = place.run(&endpoint.base_url, &["manage", INGEST, "--patch", patch.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    place.assert_untouched();
    let git = Command::new("git").arg("apply").arg(&patch).current_dir(place.bundle()).output().unwrap();
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    place.assert_ingested_and_clean();
}

#[test]
fn manage_without_a_terminal_shows_the_diff_and_changes_nothing() {
    let (place, endpoint) = (Place::new(), scripted());
    let said = place.run(&endpoint.base_url, &["manage", INGEST]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.out.contains("+# Bulb turbine") && said.out.contains("13 files: 5 new, 8 changed"),
        "{}",
        said.out
    );
    assert!(said.err.contains("--yes") && said.err.contains("Nothing was changed"), "{}", said.err);
    place.assert_untouched();
}

#[test]
fn manage_on_a_terminal_asks_and_a_no_changes_nothing() {
    let (place, endpoint) = (Place::new(), scripted());
    let bundle = place.bundle();
    let mut screen = Start::new(&["manage", bundle.to_str().unwrap(), INGEST])
        .env("WIKIWRIGHT_BASE_URL", &endpoint.base_url)
        .env("WIKIWRIGHT_MODEL", "test")
        .spawn();
    screen.wait_for("Apply all? [y]es, [n]o, [h]unk by hunk:");
    place.assert_untouched();
    screen.send("n\n");
    screen.wait_for("Why not?");
    screen.send("\n");
    assert_eq!(screen.wait_exit().exit_code(), 1);
    place.assert_untouched();
}

#[test]
fn the_model_is_set_by_the_users_file_and_its_key_sent() {
    let (place, endpoint) = (Place::new(), scripted());
    let home = place.folder.path().join("home");
    std::fs::create_dir_all(home.join(".config/wikiwright")).unwrap();
    let config =
        format!("[model]\nbase_url = '{}'\nmodel = 'from-file'\napi_key_env = 'MY_KEY'\n", endpoint.base_url);
    std::fs::write(home.join(".config/wikiwright/config.toml"), config).unwrap();
    let said =
        run(wikiwright(&home).env("MY_KEY", "sk-mine\n").arg("ask").arg(place.bundle()).arg("Why Eling?"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    let heard = &endpoint.heard()[0];
    assert_eq!(heard.path, "/v1/chat/completions");
    assert_eq!(heard.authorization.as_deref(), Some("Bearer sk-mine"));
    assert_eq!(heard.body["model"], "from-file");
}

#[test]
fn keys_of_the_environment_are_not_sent_to_another_server() {
    let (place, endpoint) = (Place::new(), scripted());
    let home = place.folder.path().join("home");
    let said = run(wikiwright(&home)
        .env("OPENAI_API_KEY", "sk-open")
        .env("OPENAI_ORG_ID", "org-1")
        .args(["ask", "--base-url", &endpoint.base_url, "--model", "m"])
        .arg(place.bundle())
        .arg("Why Eling?"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(endpoint.heard()[0].authorization, None);
}

/// The sentence on standard error, with exit code 2 and nothing written; the same place in the workbench shows it too.
fn assert_refused(base_url: &str, part: &str) {
    let place = Place::new();
    for command in ["ask", "manage"] {
        let said = place.run(base_url, &[command, "What?"]);
        assert_eq!(said.code, Some(2), "{command}: {}", said.err);
        assert!(said.err.to_lowercase().contains(part), "{command}: {}", said.err);
        assert!(!said.err.contains("sk-secret") && !said.err.contains('\x1b'), "{}", said.err);
    }
    let mut screen = place.open(base_url);
    screen.send("c");
    screen.wait_for(" MANAGER ");
    screen.send("What?");
    screen.send(ENTER);
    screen.wait_for(" failed ");
    screen.wait("the reason", |text| text.to_lowercase().contains(part));
    // The rest keeps working.
    screen.send("\x11");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    screen.assert_restored();
    place.assert_untouched();
}

#[test]
fn an_endpoint_that_refuses_is_a_plain_message() {
    assert_refused(&refusing(), "connect");
}

#[test]
fn an_endpoint_that_answers_html_is_a_plain_message() {
    let login = "<html><title>Sign in</title>\x1b]0;owned\x07</html>";
    let endpoint = Endpoint::start(Conduct::Fixed("200 OK", "text/html", login));
    assert_refused(&endpoint.base_url, "html");
}

#[test]
fn a_refused_key_is_a_plain_message_without_the_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret","code":401}}"#;
    let endpoint = Endpoint::start(Conduct::Fixed("401 Unauthorized", "application/json", body));
    assert_refused(&endpoint.base_url, "key");
}

/// The server repeats the key, the program is killed in the middle of the next turn: it stands in no file and nowhere on the screen.
#[test]
fn c20_the_key_is_in_no_file_and_not_on_the_screen_after_a_refusal_and_a_kill() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret","code":401}}"#;
    let refusing = Endpoint::start(Conduct::Fixed("401 Unauthorized", "application/json", body));
    let place = Place::new();
    for (endpoint, shown) in
        [(&refusing, "refused the API key"), (&Endpoint::start(Conduct::Silent), "thinking")]
    {
        let bundle = place.bundle();
        let arguments = [bundle.to_str().unwrap(), "--base-url", &endpoint.base_url, "--model", "test"];
        let mut screen = Start::new(&arguments).env("WIKIWRIGHT_API_KEY", "sk-secret").size(160, 45).spawn();
        screen.wait_for("no findings");
        screen.send("c");
        screen.wait_for(" MANAGER ");
        screen.send("What does it say?");
        screen.send(ENTER);
        screen.wait_for(shown);
        screen.signal("KILL");
        screen.wait_exit();
        assert!(
            endpoint.heard().iter().all(|heard| heard.authorization.as_deref() == Some("Bearer sk-secret"))
        );
        let text = String::from_utf8_lossy(&screen.bytes()).into_owned();
        assert!(!text.contains("sk-secret"), "{text}");
        let (mut folders, mut kept) = (vec![screen.home().to_owned(), bundle], 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap_or_default();
                assert!(!bytes.windows(9).any(|part| part == b"sk-secret"), "{}", path.display());
                kept += usize::from(path.extension().is_some_and(|e| e == "jsonl"));
            }
        }
        assert_eq!(kept, 1, "the conversation is kept");
    }
}

#[test]
fn an_endpoint_that_never_answers_is_given_up() {
    let endpoint = Endpoint::start(Conduct::Silent);
    let place = Place::new();
    let config = place.folder.path().join("c.toml");
    std::fs::write(&config, "[model]\ntimeout_seconds = 1\n").unwrap();
    let said = place.run(&endpoint.base_url, &["ask", "What?", "--config", config.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    assert!(said.err.contains("did not answer in time"), "{}", said.err);
    place.assert_untouched();
}

#[test]
fn a_silent_endpoint_can_be_interrupted() {
    let endpoint = Endpoint::start(Conduct::Silent);
    let place = Place::new();
    let mut screen = place.open(&endpoint.base_url);
    screen.send("c");
    screen.wait_for(" MANAGER ");
    screen.send("What?");
    screen.send(ENTER);
    screen.wait_for("thinking");
    screen.send("\x1b");
    // Before the next key: Esc and a key at once are that key with Alt.
    screen.wait_gone(" thinking ");
    screen.send("\x11");
    assert_eq!(screen.wait_exit().exit_code(), 0);
    place.assert_untouched();
}

#[test]
fn a_killed_workbench_goes_on_with_its_conversation_and_its_pending_review() {
    let (place, endpoint) = (Place::new(), scripted());
    let home = place.folder.path().join("home");
    let bundle = place.bundle();
    let start = |more: &[&str]| {
        let arguments =
            [&[bundle.to_str().unwrap(), "--base-url", &endpoint.base_url, "--model", "test"], more].concat();
        Start::new(&arguments).size(160, 45).env("HOME", home.to_str().unwrap()).spawn()
    };
    let mut screen = start(&[]);
    screen.wait_for("no findings");
    ingest(&mut screen);
    screen.signal("KILL");
    screen.wait_exit();
    place.assert_untouched();

    let quiet = |arguments: &[&str]| place.run("http://127.0.0.1:9/v1", arguments);
    let listed = quiet(&["sessions"]);
    assert!(
        listed.out.contains("1 messages, 13 files wait for review: Ingest raw/la-rance.md"),
        "{}",
        listed.out
    );
    let folder = listed.out.lines().find_map(|line| line.strip_prefix("They lie in ")).unwrap();
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("sk-secret"));
    let replayed = run(wikiwright(&home).arg("replay").arg(&file));
    assert_eq!(replayed.code, Some(0), "{} {}", replayed.out, replayed.err);
    assert!(replayed.out.contains(", 0 came out differently"), "{}", replayed.out);

    let mut screen = start(&["--continue"]);
    screen.wait_for("Review: 13 files");
    screen.send("A");
    screen.wait_for("Approve all 17 changes");
    screen.send("y");
    screen.wait_for("13 written");
    place.assert_ingested_and_clean();
    // What landed is thought away.
    let replayed = run(wikiwright(&home).arg("replay").arg(&file));
    assert_eq!(replayed.code, Some(0), "{} {}", replayed.out, replayed.err);
}
