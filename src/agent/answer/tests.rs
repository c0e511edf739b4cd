//! Answers as models write them, and citations that hold or do not.

use super::*;
use crate::bundle::MemoryBundle;

const SILENT: &str = "Not in the wiki.";

fn found(text: &str) -> WikiAnswer {
    read(text, SILENT).unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn the_object_is_read_wherever_it_stands() {
    let object = r#"{"answer": "Up {and} down.", "citations": [{"path": "/wiki/a.md#rig", "section": null, "quote": " "}], "not_covered": null, "found": true}"#;
    let wanted = WikiAnswer {
        answer: "Up {and} down.".into(),
        citations: vec![Cited {
            path: "/wiki/a.md".into(),
            section: Some("rig".into()),
            quote: None,
            problem: None,
        }],
        not_covered: None,
        found: true,
    };
    for text in [
        object.to_owned(),
        format!("Here {{it}} is:\n\n```json\n{object}\n```\nThat is all {{so far}}."),
        format!("{{\"note\": 1}} {object}"),
        format!("\u{feff}{object}{object}"),
    ] {
        assert_eq!(found(&text), wanted, "{text}");
    }
}

#[test]
fn citations_may_be_bare_paths_or_missing_fields() {
    let answer = found(
        r#"{"answer": "x", "citations": ["/wiki/a.md", {"path": "wiki/b.md"}], "found": true, "extra": 1}"#,
    );
    assert_eq!(
        answer.citations.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(),
        ["/wiki/a.md", "wiki/b.md"]
    );
    // What a model says of its own citation is not believed.
    let told =
        found(r#"{"answer": "x", "citations": [{"path": "/a.md", "problem": "no_page"}], "found": true}"#);
    assert_eq!(told.citations[0].problem, None);
}

#[test]
fn what_was_not_found_is_said_in_the_exact_sentence() {
    for text in [
        r#"{"answer": "Sadly no.", "citations": ["/wiki/a.md"], "not_covered": " ", "found": false}"#,
        r#"{"found": false, "answer": ""}"#,
        r#"{"found": false, "answer": "x", "citations": null}"#,
    ] {
        let answer = found(text);
        assert_eq!(
            (answer.answer.as_str(), answer.citations.len(), answer.not_covered),
            (SILENT, 0, None),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_answer_is_named_for_the_model() {
    for (text, why) in [
        ("Just prose.", "holds no JSON object"),
        ("", "holds no JSON object"),
        (r#"{"answer": "x", "found": tru"#, "JSON is broken"),
        (r#"{"answer": "x"}"#, "missing field `found`"),
        (r#"{"answer": 3, "found": true}"#, "right form"),
        (r#"{"answer": " ", "citations": ["/a.md"], "found": true}"#, "`answer` is empty"),
        (r#"{"answer": "x", "citations": [], "found": true}"#, "`citations` is empty"),
    ] {
        let said = read(text, SILENT).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn any_text_is_answered_in_linear_time() {
    let text = "{".repeat(200_000);
    assert!(read(&text, SILENT).is_err());
    assert!(read(&"{\"a\":".repeat(20_000), SILENT).is_err());
}

#[test]
fn each_citation_is_held_against_the_pages() {
    let bundle = MemoryBundle::new([
        ("/AGENTS.md", "# A\n"),
        ("/raw/s.md", "source\n"),
        (
            "/wiki/a.md",
            "---\ntype: t\n---\n# Big Sail\n\nThe *sail* is 3–4 m\nhigh, “so to say”, see [the rig](b.md) un*bel*ievable.\n\n| a | b |\n|---|---|\n| one | two |\n",
        ),
        ("/wiki/b.md", "---\ntype: t\n---\nb\n"),
    ])
    .unwrap();
    let seen = HashSet::from([BundlePath::parse("/wiki/a.md").unwrap()]);
    let judged = |path: &str, section: Option<&str>, quote: Option<&str>| {
        let cited = Cited {
            path: path.into(),
            section: section.map(str::to_owned),
            quote: quote.map(str::to_owned),
            problem: None,
        };
        let mut citations = [cited];
        check(&mut citations, &bundle, &seen);
        citations[0].problem
    };
    for quote in [
        "The sail is 3-4 m high",
        "The *sail* is 3–4 m high",
        "\"so to say\", see the rig",
        "The sail … see the rig",
        "The sail is...unbelievable",
        "one two",
    ] {
        assert_eq!(judged("wiki/a.md", None, Some(quote)), None, "{quote}");
    }
    for section in ["Big Sail", "#big-sail", "big-sail", "## Big Sail"] {
        assert_eq!(judged("/wiki/a.md", Some(section), None), None, "{section}");
    }
    for (path, section, quote, problem) in [
        ("../x.md", None, None, Problem::NoPath),
        ("/raw/s.md", None, None, Problem::NotWiki),
        ("/AGENTS.md", None, None, Problem::NotWiki),
        ("/wiki/none.md", None, None, Problem::NoPage),
        ("/wiki/b.md", None, None, Problem::NotRead),
        ("/wiki/a.md", Some("Mast"), None, Problem::NoSection),
        ("/wiki/a.md", None, Some("The sail is 5 m high"), Problem::NoQuote),
        ("/wiki/a.md", None, Some("see the rig … The sail"), Problem::NoQuote),
        ("/wiki/a.md", None, Some("…"), Problem::NoQuote),
    ] {
        assert_eq!(judged(path, section, quote), Some(problem), "{path} {section:?} {quote:?}");
    }
}

#[test]
fn the_schema_is_strict_and_takes_what_is_printed() {
    let schema = schema();
    for object in [&schema, &schema["properties"]["citations"]["items"]] {
        let properties: Vec<_> = object["properties"].as_object().unwrap().keys().collect();
        assert_eq!(object["required"], json!(properties));
        assert_eq!(object["additionalProperties"], false);
    }
    let cited = Cited { path: "/a.md".into(), section: None, quote: None, problem: Some(Problem::NoQuote) };
    let answer = WikiAnswer { answer: "x".into(), citations: vec![cited], not_covered: None, found: true };
    assert_eq!(
        serde_json::to_value(&answer).unwrap(),
        json!({"answer": "x", "citations": [{"path": "/a.md", "problem": "no_quote"}], "not_covered": null, "found": true})
    );
}

#[test]
fn prose_gives_an_answer_when_it_names_pages_or_says_that_there_is_none() {
    let answer = of_prose("It is [so](/wiki/a.md#rig), see /wiki/b.md and /wiki/b.md.", SILENT).unwrap();
    let paths: Vec<_> = answer.citations.iter().map(|c| (c.path.as_str(), c.section.as_deref())).collect();
    assert_eq!(paths, [("/wiki/a.md", Some("rig")), ("/wiki/b.md", None)]);
    let silent = of_prose("Well. Not in the wiki.", SILENT).unwrap();
    assert_eq!((silent.answer.as_str(), silent.found), (SILENT, false));
    assert_eq!(of_prose("It is so.", SILENT), None);
    let quoting = "The page says: \"Not in the wiki.\" [So](/wiki/a.md) it is.";
    assert!(of_prose(quoting, SILENT).unwrap().found);
}

#[test]
fn composed_and_decomposed_letters_are_the_same_words() {
    let bundle = MemoryBundle::new([("/wiki/a.md", "Caf\u{e9} is 3\u{2212}4\u{a0}m.\n")]).unwrap();
    let path = BundlePath::parse("/wiki/a.md").unwrap();
    let mut citations = cited("/wiki/a.md");
    citations[0].quote = Some("Cafe\u{301} is 3-4 m".into());
    check(&mut citations, &bundle, &HashSet::from([path]));
    assert_eq!(citations[0].problem, None);
}

#[test]
fn the_wiki_is_silent_when_the_sentence_is_the_answer_and_not_when_an_answer_quotes_it() {
    for text in [
        "Not in the wiki.",
        "  \n\nNot in the wiki. \n",
        "\"Not in the wiki.\"",
        "\u{201c}Not in the wiki.\u{201d}",
        "**Not in the wiki.**",
        "_Not in the wiki._",
        "`Not in the wiki.`",
        "> Well. Not in the wiki, I fear. Not in the wiki.",
        "I read /wiki/a.md and /wiki/b.md.\n\n*Not in the wiki.*\n",
        "**Not in the wiki.** The nearest is [a](/wiki/a.md).",
        "Not in the wiki.\n\nThe nearest is [a](/wiki/a.md).",
    ] {
        assert!(is_silent(text, SILENT), "{text:?}");
        assert!(is_silent(text, " Not in the wiki.\n"), "{text:?}");
    }
    for text in [
        "",
        "It is so.",
        "Not in the",
        "The rig is [so](/wiki/a.md). Where nothing is found I say \"Not in the wiki.\" as /wiki/b.md asks.",
        "The rig is [so](/wiki/a.md).\n\nNot in the wiki. is what it says of sails.\n\nSee /wiki/b.md.",
        "\"Not in the wiki.\" is what [a](/wiki/a.md) says of sails.",
    ] {
        assert!(!is_silent(text, SILENT), "{text:?}");
    }
    assert!(!is_silent("It is so.", " "), "no sentence was agreed");
}

#[test]
fn quoted_words_are_found_where_they_stand() {
    let text = "---\ntitle: A pond holds much water\n---\n\n# A\n\nThe *pond*  holds\nmuch water &amp; fish.\n\n## B\n\n| a | b |\n|---|---|\n| it | holds much water again |\n";
    let page = Page::parse(BundlePath::parse("/wiki/a.md").unwrap(), text.into());
    let found = |section, quote| passage(&page, section, quote).map(|span| span.of(text));
    assert_eq!(found(None, "The pond holds much water"), Some("The *pond*  holds\nmuch water"));
    assert_eq!(found(None, "“pond … & fish”"), Some("pond*  holds\nmuch water &amp; fish"));
    assert_eq!(found(None, "holds much water"), Some("holds\nmuch water"));
    assert_eq!(found(Some("b"), "holds much water"), Some("holds much water"));
    assert_eq!(found(Some("none"), "holds much water"), Some("holds\nmuch water"));
    assert_eq!(found(None, "A pond holds much water"), Some("A pond holds much water"), "of the frontmatter");
    assert_eq!(found(None, "holds much wine"), None);
}

#[test]
fn words_that_prose_quotes_belong_to_the_page_named_with_them() {
    let of = |text: &str| -> Vec<(String, Option<String>)> {
        cited(text).into_iter().map(|cited| (cited.path, cited.quote)).collect()
    };
    let one = |path: &str, quote: Option<&str>| (path.to_owned(), quote.map(str::to_owned));
    let words = Some("the pond holds much water");
    for text in [
        "It says “the pond holds much water” ([A](/wiki/a.md)).",
        "[A](/wiki/a.md) says \"the pond holds much water\".",
        "> the pond holds\n> much water\n\n— /wiki/a.md",
        "First /wiki/a.md, then “the pond holds much water” in [A](/wiki/a.md).",
    ] {
        assert_eq!(of(text), [one("/wiki/a.md", words)], "{text}");
    }
    assert_eq!(of("A “red flag day” is meant (/wiki/a.md)."), [one("/wiki/a.md", None)], "a term");
    assert_eq!(
        of("So /wiki/a.md and “the pond holds much water” /wiki/b.md."),
        [one("/wiki/a.md", None), one("/wiki/b.md", words)]
    );
    assert_eq!(of("“the pond holds much water”\n\nSee /wiki/a.md."), [one("/wiki/a.md", None)]);
}
