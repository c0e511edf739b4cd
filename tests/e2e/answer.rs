//! `ask --json`: the answer as data, however the model gives it, with each citation held against the pages; what is kept of it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};
use super::support::endpoint::{Conduct, Endpoint};

const SILENT: &str = "I could not find the requested information in the wiki knowledge base.";
const POND: &str = "/wiki/concepts/tide-pond.md";

/// A copy of the example, and a home folder beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(bundle::beside_home())
    }

    /// With these lines of configuration.
    fn run(&self, endpoint: &Endpoint, config: &str, arguments: &[&str]) -> Said {
        let file = self.0.path().join("c.toml");
        std::fs::write(&file, format!("[model]\nbase_url = '{}'\nmodel = 'm'\n{config}", endpoint.base_url))
            .unwrap();
        run(wikiwright(&self.0.path().join("home"))
            .arg(arguments[0])
            .arg(self.0.path().join("mills"))
            .args(&arguments[1..])
            .arg("--config")
            .arg(&file))
    }

    /// Kept conversations.
    fn kept(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.0.path().to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.extension().is_some_and(|e| e == "jsonl") => found.push(path),
                    false => {}
                }
            }
        }
        found
    }
}

impl Place {
    /// The one conversation that is kept runs again to the same answer.
    fn replays(&self) {
        let kept = self.kept();
        assert_eq!(kept.len(), 1);
        let replayed = run(wikiwright(&self.0.path().join("home")).arg("replay").arg(&kept[0]));
        assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
        assert!(replayed.out.contains(", 0 came out differently"), "{}", replayed.out);
    }
}

const QUESTION: &[&str] = &["ask", "How much energy does a pond hold?", "--json"];

fn script(text: String) -> Endpoint {
    Endpoint::start(Conduct::Script(text.leak()))
}

fn answer(found: bool, citations: Value) -> String {
    json!({"answer": "About 56 kWh.", "citations": citations, "not_covered": null, "found": found})
        .to_string()
}

/// An answer to the question that reads the page first, then says this.
fn reads_and_says(text: &str) -> String {
    format!(
        "[[exchange]]\nrole = 'reader'\nwhen = ['how much']\n[[exchange.answer]]\ncalls = [{{ tool = 'read_file', arguments = {{ file_path = '{POND}' }} }}]\n[[exchange.answer]]\ntext = '''{text}'''\n"
    )
}

/// What is said when the answer is asked for again.
fn again(answer: &str) -> String {
    format!("[[exchange]]\nrole = 'reader'\nwhen = ['could not be taken']\n[[exchange.answer]]\n{answer}\n")
}

fn printed(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {} {}", said.out, said.err))
}

#[test]
fn the_answer_is_printed_with_citations_that_were_checked() {
    let citations = json!([
        {"path": POND, "section": null, "quote": "56 kWh"},
        {"path": POND, "section": null, "quote": "56 horses"},
        {"path": "/wiki/entities/eling.md", "section": null, "quote": null},
        {"path": "/wiki/none.md", "section": null, "quote": null},
        {"path": "/raw/la-rance.md", "section": null, "quote": null},
    ]);
    let endpoint = script(reads_and_says(&answer(true, citations)));
    let said = Place::new().run(&endpoint, "", QUESTION);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let answer = printed(&said);
    assert_eq!((&answer["answer"], &answer["found"]), (&json!("About 56 kWh."), &json!(true)));
    let problems: Vec<&Value> =
        answer["citations"].as_array().unwrap().iter().map(|c| &c["problem"]).collect();
    assert_eq!(
        problems,
        [&Value::Null, &json!("no_quote"), &json!("not_read"), &json!("no_page"), &json!("not_wiki")]
    );
    assert_eq!(said.err.matches("citation not verified").count(), 4, "{}", said.err);
    let system = endpoint.heard()[0].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("# The form of the answer"));
}

#[test]
fn prose_is_asked_for_again_by_schema() {
    let good = answer(true, json!([{"path": POND, "section": null, "quote": null}]));
    let endpoint = script(again(&format!("text = '''{good}'''")) + &reads_and_says("About 56 kWh."));
    let place = Place::new();
    let said = place.run(&endpoint, "", QUESTION);
    assert_eq!((said.code, &printed(&said)["found"]), (Some(0), &json!(true)), "{}", said.err);
    place.replays();
    let heard = endpoint.heard();
    assert_eq!(heard.len(), 3);
    assert!(heard[0].body.get("response_format").is_none(), "with tools some servers refuse it");
    assert_eq!(heard[2].body["response_format"]["json_schema"]["strict"], true);
    assert!(heard[2].body.get("tools").is_none());
}

#[test]
fn where_there_is_no_schema_a_tool_is_forced() {
    let arguments =
        format!("{{ answer = 'About 56 kWh.', citations = [{{ path = '{POND}' }}], found = true }}");
    let call = again(&format!("calls = [{{ tool = 'wiki_answer', arguments = {arguments} }}]"));
    let endpoint = script(call + &reads_and_says("About 56 kWh."));
    let config = "preset = 'anthropic'\napi_key_env = 'HOME'\n";
    let place = Place::new();
    let said = place.run(&endpoint, config, QUESTION);
    assert_eq!((said.code, &printed(&said)["found"]), (Some(0), &json!(true)), "{}", said.err);
    place.replays();
    let last = endpoint.heard().pop().unwrap().body;
    assert_eq!(last["tool_choice"]["function"]["name"], "wiki_answer");
    assert!(last.get("response_format").is_none());
    let tools = last["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "wiki_answer") && tools.len() > 1);
}

#[test]
fn after_three_repairs_the_answer_is_taken_out_of_the_text_or_given_up() {
    let endpoint = script(again("text = 'No.'") + &reads_and_says(&format!("About 56 kWh, see {POND}.")));
    let said = Place::new().run(&endpoint, "", QUESTION);
    assert_eq!((said.code, &printed(&said)["citations"][0]["path"]), (Some(0), &json!(POND)), "{}", said.err);
    assert!(said.err.contains("did not keep to the form"), "{}", said.err);

    let endpoint = script(again("text = 'No.'") + &reads_and_says("About 56 kWh."));
    let place = Place::new();
    let said = place.run(&endpoint, "", QUESTION);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    place.replays();
    assert!(said.err.contains("no answer in the wanted form"), "{}", said.err);
    assert_eq!(endpoint.heard().len(), 1 + 1 + 3, "the call, the answer, three repairs");
}

#[test]
fn silence_is_the_exact_sentence_and_exit_code_1() {
    let endpoint =
        script(reads_and_says(&answer(false, json!([{"path": POND, "section": null, "quote": null}]))));
    let said = Place::new().run(&endpoint, "", QUESTION);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(
        printed(&said),
        json!({"answer": SILENT, "citations": [], "not_covered": null, "found": false})
    );
    let config = "[reader]\nnot_found_message = 'Nothing here.'\n";
    let said = Place::new().run(&endpoint, config, QUESTION);
    assert_eq!((said.code, &printed(&said)["answer"]), (Some(1), &json!("Nothing here.")));
}

#[test]
fn ask_marks_what_was_not_read_and_is_kept_unless_switched_off() {
    let endpoint = script(reads_and_says(&format!("About 56 kWh ({POND}, /wiki/entities/eling.md).")));
    let place = Place::new();
    let said = place.run(&endpoint, "[history]\nsessions = false\n", &QUESTION[..2]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.contains("! citation not verified: /wiki/entities/eling.md was not read"),
        "{}",
        said.err
    );
    assert_eq!(said.err.matches("not verified").count(), 1);
    assert_eq!(place.kept(), Vec::<PathBuf>::new());

    place.run(&endpoint, "", &QUESTION[..2]);
    let kept = place.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let listed =
        run(wikiwright(&place.0.path().join("home")).arg("sessions").arg(place.0.path().join("mills")));
    assert!(listed.out.contains("reader (m)  1 messages: How much energy"), "{}", listed.out);
    place.replays();
}

#[test]
fn manage_is_kept_with_what_landed() {
    let endpoint = Endpoint::start(Conduct::Script(include_str!("../../assets/demo/script.toml")));
    let place = Place::new();
    let said = place.run(&endpoint, "", &["manage", "Ingest raw/la-rance.md", "--yes"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let listed =
        run(wikiwright(&place.0.path().join("home")).arg("sessions").arg(place.0.path().join("mills")));
    assert!(listed.out.contains("manager (m)  1 messages: Ingest"), "{}", listed.out);
    assert!(!listed.out.contains("wait for review"), "what landed is pending no more: {}", listed.out);
    let text = std::fs::read_to_string(&place.kept()[0]).unwrap();
    assert!(text.contains("\"kind\":\"landed\""));
}
