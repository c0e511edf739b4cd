//! Drift: the skills are the statement for people, the prompts the one for models. Each section of a skill is covered by a
//! prompt, shown by a phrase, or declared as not for it; a change of a skill must be looked at here.

use super::*;
use std::sync::Arc;

use crate::agent::client::ToolSchema;
use crate::agent::event::Role;
use crate::agent::tools::{Documents, Tool, Toolbox};
use crate::bundle::{MemoryBundle, Rules, Staged};
use crate::okf::ContentHash;

const SKILL: &str = include_str!("../../../skills/okf-wiki/SKILL.md");
const READER_SKILL: &str = include_str!("../../../skills/okf-wiki-reader/SKILL.md");

/// Changed on purpose, after the prompts were held against the changed skill.
const SKILL_SUM: &str = "1adda938";
const READER_SKILL_SUM: &str = "b9931dd9";

/// A section's heading, and for each prompt a phrase that proves it is covered; none where it is not for that role.
type Coverage = &'static [(&'static str, Option<&'static str>, Option<&'static str>)];

const COVERED: Coverage = &[
    (
        "Structure",
        Some("/wiki/documents/: one page for each source"),
        Some("/wiki/index.md is the catalogue"),
    ),
    ("Conformance", Some("`type` is required"), Some("A page starts with frontmatter")),
    ("Index files", Some("* [Title](page.md) - what it is about"), None),
    ("Log", Some("## [YYYY-MM-DD] kind | title"), None),
    ("Ingesting a source", Some("Where the source contradicts the wiki"), None),
    ("Answering from the wiki", Some("Start at /wiki/index.md"), Some("follow the links that matter")),
    ("Checking", Some("pages that no index lists"), None),
    ("Starting a bundle", Some("agree with the person on the domain"), None),
];

const READER_COVERED: Coverage = &[
    ("The one rule", None, Some("Answer only from the pages of the wiki")),
    ("Structure", None, Some("has an index.md of its own")),
    ("Reading a page", None, Some("Links are relative to the page")),
    ("Query protocol", None, Some("Only when several searches have found nothing")),
    ("How to answer", None, Some("Cite only pages that you have read")),
];

/// `read_document` is there only in a program built with the converters.
const DOCUMENTED: bool = cfg!(feature = "documents");
const ALL: Optional = Optional { lint: true, documents: DOCUMENTED };
const NO_LINT: Optional = Optional { lint: false, ..ALL };
const NONE: Optional = Optional { lint: false, documents: false };

#[cfg(feature = "documents")]
fn documents() -> Option<Documents> {
    Some(Documents::new(crate::document::child::Converter::of_this_program(), None))
}

#[cfg(not(feature = "documents"))]
fn documents() -> Option<Documents> {
    None
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check(skill: &str, sum: &str, coverage: Coverage) {
    let sections: Vec<&str> = skill.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let declared: Vec<&str> = coverage.iter().map(|(section, ..)| *section).collect();
    assert_eq!(sections, declared, "sections of the skill and their coverage");
    let (manager, reader) = (flat(&manager(None, ALL)), flat(&reader(NOT_FOUND, false)));
    for (section, in_manager, in_reader) in coverage {
        for (phrase, prompt) in [(in_manager, &manager), (in_reader, &reader)] {
            if let Some(phrase) = phrase {
                assert!(prompt.contains(phrase), "{section}: {phrase:?}");
            }
        }
    }
    assert_eq!(
        ContentHash::of(skill.as_bytes()).short(),
        sum,
        "the skill changed: hold the prompts against it"
    );
}

#[test]
fn every_section_of_a_skill_is_covered_or_declared_as_not_for_the_role() {
    check(SKILL, SKILL_SUM, COVERED);
    check(READER_SKILL, READER_SKILL_SUM, READER_COVERED);
}

#[test]
fn a_prompt_names_exactly_the_tools_of_its_role() {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
    };
    for (role, prompt) in [(Role::Manager, manager(None, ALL)), (Role::Reader, reader(NOT_FOUND, false))] {
        let words = words(&prompt);
        let there = |tool: &&Tool| DOCUMENTED || **tool != Tool::ReadDocument;
        for tool in Tool::of(Role::Manager).iter().filter(there) {
            let named = words.iter().any(|word| word == tool.name());
            // "delete" is also an ordinary word; the other names are not.
            let has = Tool::of(role).contains(tool);
            assert_eq!(named, has, "{} in the prompt of {role:?}", tool.name());
        }
    }
}

/// Words in code marks, or of two parts, that are fields of pages and of answers.
const FIELDS: [&str; 14] = [
    "answer",
    "citations",
    "description",
    "found",
    "not_covered",
    "quote",
    "resource",
    "section",
    "sources",
    "tags",
    "timestamp",
    "title",
    "type",
    "verified",
];

/// What a prompt writes as it writes the names of tools, and is neither a tool that is there nor a field: words of several
/// parts (`read_file`), and single ones in code marks.
fn strangers(prompt: &str, tools: &[ToolSchema]) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts = prompt.split(|c| !word(c)).filter(|word| word.trim_matches('_').contains('_'));
    let marked = prompt.split('`').skip(1).step_by(2).filter(|text| text.chars().all(word));
    let known = |name: &str| FIELDS.contains(&name) || tools.iter().any(|tool| tool.name == name);
    parts.chain(marked).filter(|name| !known(name)).map(str::to_owned).collect()
}

/// The tools of each role as its sessions offer them, with what they are told.
fn told() -> [(Vec<ToolSchema>, String); 6] {
    let nothing = || Arc::new(MemoryBundle::new([]).unwrap());
    let plain = || Toolbox::manager(Arc::new(Staged::new(nothing(), Rules::manager(true))));
    let tools = || plain().with_documents(documents());
    let reader_tools = || Toolbox::reader(nothing()).schemas();
    [
        (tools().schemas(), manager(None, ALL)),
        (tools().without_lint().schemas(), manager(None, NO_LINT)),
        (tools().assistant().schemas(), assistant(None, ALL)),
        (reader_tools(), reader(NOT_FOUND, false)),
        (reader_tools(), reader(NOT_FOUND, true)),
        (plain().without_lint().schemas(), manager(None, NONE)),
    ]
}

#[test]
fn a_prompt_names_no_tool_that_is_not_there() {
    for (tools, prompt) in told() {
        assert_eq!(strangers(&prompt, &tools), [""; 0], "{prompt}");
    }
}

#[test]
fn a_tool_that_is_not_there_is_noticed() {
    let [(manager, _), (without_lint, _), (assistant, _), (reader, _), _, (bare, _)] = told();
    for (tools, prompt, stranger) in [
        (&manager, "Move a page with move_file, then look with `ls`.", "move_file"),
        (&manager, "Run `execute` when `type` is missing.", "execute"),
        (&without_lint, "Run okf_lint.", "okf_lint"),
        (&bare, "Read it with read_document.", "read_document"),
        (&assistant, "Hand it on with `task`.", "task"),
        (&reader, "Change it with edit_file.", "edit_file"),
    ] {
        assert_eq!(strangers(prompt, tools), [stranger], "{prompt}");
    }
}

#[test]
fn an_assistant_is_told_of_its_own_tools_only() {
    let prompt = assistant(None, ALL);
    let nothing = Arc::new(MemoryBundle::new([]).unwrap());
    let tools = Toolbox::manager(Arc::new(Staged::new(nothing, Rules::manager(true)))).assistant();
    assert!(tools.find("task").is_none() && !prompt.contains("with task"));
    assert!(
        Tool::of(Role::Manager)
            .iter()
            .filter(|tool| **tool != Tool::Task && (DOCUMENTED || **tool != Tool::ReadDocument))
            .all(|tool| prompt.contains(tool.name()))
    );
}

#[test]
fn the_reader_is_told_nothing_of_writing() {
    let prompt = reader(NOT_FOUND, true).to_lowercase();
    for word in ["write", "edit", "staged", "propose", "ingest", "delete", "approve"] {
        assert!(!prompt.contains(word), "{word}");
    }
}

#[test]
fn the_not_found_sentence_is_a_setting() {
    assert!(reader(NOT_FOUND, false).contains(NOT_FOUND));
    assert!(reader("Nothing on that.", false).contains("\nNothing on that.\n"));
    assert!(!reader("x", true).contains("{not_found}"));
}

#[test]
fn a_block_is_put_in_only_with_its_tool_or_form() {
    assert!(manager(None, ALL).contains("okf_lint") && !manager(None, NO_LINT).contains("okf_lint"));
    assert!(!assistant(None, NO_LINT).contains("okf_lint"));
    let documented = Optional { documents: true, ..NONE };
    assert!(
        manager(None, documented).contains("read_document") && !manager(None, NONE).contains("read_document")
    );
    assert!(
        assistant(None, documented).contains("read_document")
            && !assistant(None, NONE).contains("read_document")
    );
    assert!(reader(NOT_FOUND, true).contains("JSON") && !reader(NOT_FOUND, false).contains("JSON"));
    assert!(manager(Some("Own."), NONE).starts_with("Own.\n\n# Assistants"));
    assert_eq!(reader_with(Some("Say {not_found}"), "No.", false), "Say No.");
}
