//! Slash commands of the composer in a terminal, with a model over the wire; and a workbench that rests draws nothing.

use std::time::{Duration, Instant};

use serde_json::json;

use super::support::bundle;
use super::support::pty::{ENTER, PATIENCE, Screen, Start};
use super::support::server::{Server, calls, says};

/// The workbench on a small bundle, with the manager's field in focus.
fn talking(server: &Server, folder: &tempfile::TempDir) -> Screen {
    let path = folder.path().to_str().unwrap();
    let mut screen = Start::new(&[path, "--base-url", &server.base_url(), "--model", "small-one"]).spawn();
    screen.wait_for("no findings");
    screen.send("c");
    screen.wait_for(" MANAGER ");
    screen
}

/// Types a message or command and sends it.
fn enter(screen: &mut Screen, text: &str) {
    screen.send(text);
    screen.wait_for(&format!("› {text}"));
    screen.send(ENTER);
}

/// What the server was asked last, as one text.
fn asked(server: &Server) -> String {
    server.received().last().unwrap().body.to_string()
}

#[test]
fn new_begins_an_empty_conversation_and_resume_goes_on_with_the_one_before() {
    let answers = ["The first answer.", "The second answer.", "The third answer."];
    let (server, folder) = (Server::conversing(answers.map(says)), bundle::small());
    let mut screen = talking(&server, &folder);
    enter(&mut screen, "What drives a hull?");
    screen.wait_for("The first answer.");
    enter(&mut screen, "/new");
    screen.wait_gone("The first answer.");
    enter(&mut screen, "What else?");
    screen.wait_for("The second answer.");
    assert!(
        !asked(&server).contains("What drives a hull?"),
        "the model hears nothing of it: {}",
        asked(&server)
    );

    enter(&mut screen, "/resume");
    screen.wait("the conversation before", |text| text.contains("What drives a hull?"));
    screen.send("drives");
    screen.wait("the one that fits", |text| text.contains("What drives a hull?") && text.contains("1/1"));
    screen.send(ENTER);
    screen.wait_for("The first answer.");
    enter(&mut screen, "Go on.");
    screen.wait_for("The third answer.");
    let asked = asked(&server);
    assert!(asked.contains("What drives a hull?") && asked.contains("The first answer."), "{asked}");
    assert!(!asked.contains("What else?"), "{asked}");
}

#[test]
fn model_lists_the_servers_models_and_the_chosen_one_answers() {
    let server = Server::listing(&["small-one", "large-one"], ["One.", "Two."].map(says));
    let folder = bundle::small();
    let mut screen = talking(&server, &folder);
    enter(&mut screen, "Hello");
    screen.wait_for("One.");
    assert_eq!(server.received().last().unwrap().body["model"], "small-one");
    enter(&mut screen, "/model");
    screen.wait("the models", |text| text.contains("large-one"));
    screen.send("large");
    screen.wait("the one that fits", |text| text.contains("large-one") && text.contains("1/2"));
    screen.send(ENTER);
    screen.wait_for("large-one answers from now on");
    enter(&mut screen, "Again");
    screen.wait_for("Two.");
    let body = server.received().last().unwrap().body.clone();
    assert_eq!(body["model"], "large-one");
    assert!(body.to_string().contains("Hello"), "the conversation goes on: {body}");
}

#[test]
fn compact_shortens_what_the_model_is_sent_and_says_by_how_much() {
    let read = || calls("", &[("read_file", json!({"file_path": "/raw/long.txt"}))]);
    let replies = [read(), says("Read once."), read(), says("Read twice."), says("Still here.")];
    let (server, folder) = (Server::conversing(replies), bundle::small());
    std::fs::write(folder.path().join("raw/long.txt"), format!("{}\n", "word ".repeat(20)).repeat(90))
        .unwrap();
    let mut screen = talking(&server, &folder);
    enter(&mut screen, "/compact");
    screen.wait_for("This conversation is too short");
    enter(&mut screen, "Read the long one.");
    screen.wait_for("Read once.");
    enter(&mut screen, "Read it again.");
    screen.wait_for("Read twice.");
    let before = asked(&server);
    enter(&mut screen, "/compact");
    screen.wait_for("a short record");
    assert_eq!(server.received().len(), 4, "no model is asked for it");
    enter(&mut screen, "Are you there?");
    screen.wait_for("Still here.");
    let after = asked(&server);
    assert!(after.len() + 5_000 < before.len(), "{} bytes after {}", after.len(), before.len());
    assert!(after.contains("Read the long one."), "the record says what was asked: {after}");
    assert!(after.contains("Are you there?"));
}

#[test]
fn export_writes_the_conversation_where_the_person_says() {
    let (server, folder) = (Server::conversing(["It is **so**."].map(says)), bundle::small());
    let mut screen = talking(&server, &folder);
    enter(&mut screen, "Is it so?");
    screen.wait_for("It is so.");
    enter(&mut screen, "/export talk.md");
    let file = screen.home().join("talk.md");
    screen.wait("the file", |_| file.exists());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("## You\n\nIs it so?") && text.contains("## Manager\n\nIt is **so**."), "{text}");
}

/// Not a byte reaches the terminal for three seconds, once all is drawn.
fn rests(screen: &Screen) {
    let begun = Instant::now();
    let mut before = screen.bytes().len();
    loop {
        std::thread::sleep(Duration::from_millis(700));
        let now = screen.bytes().len();
        if now == before {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it never comes to rest");
        before = now;
    }
    std::thread::sleep(Duration::from_secs(3));
    let drawn = String::from_utf8_lossy(screen.bytes().get(before..).unwrap_or_default()).into_owned();
    assert_eq!(drawn, "", "drawn while nothing happened");
}

#[test]
fn a_workbench_that_rests_draws_nothing_for_three_seconds_before_and_after_a_turn() {
    let (server, folder) = (Server::conversing(["It is so."].map(says)), bundle::small());
    let mut screen = talking(&server, &folder);
    rests(&screen);
    enter(&mut screen, "Is it so?");
    screen.wait_for("It is so.");
    rests(&screen);
}
