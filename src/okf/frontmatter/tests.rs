use proptest::prelude::*;
use serde_saphyr::{DuplicateKeyPolicy, options};

use super::*;

fn page(yaml: &str) -> String {
    format!("---\n{yaml}\n---\nbody\n")
}

/// `key value` pairs as source text, so that spans are checked with the values.
fn spans(text: &str) -> Vec<(String, String)> {
    let parsed = Frontmatter::parse(text);
    assert_eq!(parsed.error, None, "{text}");
    parsed
        .entries
        .iter()
        .map(|e| (e.key_span.of(text).to_owned(), e.value.span.of(text).to_owned()))
        .collect()
}

fn value(yaml: &str) -> Value {
    let parsed = Frontmatter::parse(&page(&format!("k: {yaml}")));
    assert_eq!(parsed.error, None, "{yaml}");
    parsed.entries[0].value.value.clone()
}

fn error(yaml: &str) -> (YamlErrorKind, String, String) {
    let text = page(yaml);
    let parsed = Frontmatter::parse(&text);
    let error = parsed.error.unwrap_or_else(|| panic!("no error: {yaml:?} {:?}", parsed.entries));
    assert!(parsed.entries.is_empty());
    (error.kind, error.message, error.span.of(&text).to_owned())
}

#[test]
fn the_block_stands_between_two_fences_at_the_very_start() {
    let block = |text: &str| Frontmatter::parse(text).block.map(|s| s.of(text).to_owned());
    assert_eq!(block("---\na: b\n---\nx").as_deref(), Some("---\na: b\n---\n"));
    assert_eq!(block("---\na: b\n---").as_deref(), Some("---\na: b\n---"));
    assert_eq!(block("---  \r\na: b\r\n--- \t\r\nx").as_deref(), Some("---  \r\na: b\r\n--- \t\r\n"));
    assert_eq!(block("\u{feff}---\na: b\n---\n").as_deref(), Some("---\na: b\n---\n"));
    assert_eq!(block("---\n---\n").as_deref(), Some("---\n---\n"));
    assert_eq!(
        block("---\na: |\n  x\n  ---\nb: c\n---\n").as_deref(),
        Some("---\na: |\n  x\n  ---\nb: c\n---\n")
    );
    for none in ["", "x", "\n---\na: b\n---\n", " ---\na: b\n---\n", "----\na: b\n---\n", "--- x\n---\n"] {
        assert_eq!(Frontmatter::parse(none), Frontmatter::default(), "{none:?}");
    }
}

#[test]
fn a_block_that_is_never_closed_is_an_error_at_its_fence() {
    for text in ["---\na: b\n", "---", "---\na: b\n ---\n"] {
        let parsed = Frontmatter::parse(text);
        let error = parsed.error.unwrap();
        assert_eq!((error.kind, error.span.of(text)), (YamlErrorKind::Unclosed, "---"));
        assert_eq!(parsed.block.unwrap().of(text).trim_end(), "---");
    }
}

#[test]
fn an_empty_block_is_an_empty_mapping() {
    for yaml in ["", "# only a comment", "\n\n", "~", "{}"] {
        let parsed = Frontmatter::parse(&page(yaml));
        assert_eq!((parsed.error, parsed.entries.len()), (None, 0), "{yaml:?}");
        assert!(parsed.block.is_some());
    }
}

#[test]
fn every_key_and_value_has_its_bytes() {
    let text = page(
        "title: Old title   # keep me\n'quoted': \"a: b\"\nempty:\ntilde: ~\nflow: [a, {b: c}] # x\nlist:\n  - a\n  - \
         \"b\"\n# between\nmap:\n  x: 1\n  y:\n    - z\ntext: |-  # note\n  one\n  two\nfolded: >\n  three\n\nlast: é",
    );
    let expected = [
        ("title", "Old title"),
        ("'quoted'", "\"a: b\""),
        ("empty", ""),
        ("tilde", "~"),
        ("flow", "[a, {b: c}]"),
        ("list", "- a\n  - \"b\""),
        ("map", "x: 1\n  y:\n    - z"),
        ("text", "|-  # note\n  one\n  two"),
        ("folded", ">\n  three"),
        ("last", "é"),
    ];
    assert_eq!(spans(&text), expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let parsed = Frontmatter::parse(&text);
    assert_eq!(parsed.get("text").unwrap().value, Value::String("one\ntwo".to_owned()));
    assert_eq!(parsed.get("quoted").unwrap().value, Value::String("a: b".to_owned()));
}

#[test]
fn an_empty_value_lies_behind_its_colon() {
    for (yaml, at) in
        [("a:\nb: c", 2), ("a: \nb: c", 2), ("a : # x\nb: c", 3), ("'a:':\nb: c", 5), ("b: c\na:", 7)]
    {
        let text = page(yaml);
        let parsed = Frontmatter::parse(&text);
        let node = parsed.entries.iter().find(|e| e.key.starts_with('a')).unwrap();
        assert_eq!(node.value.value, Value::Null);
        assert_eq!(node.value.span, Span::new(4 + at, 4 + at), "{yaml:?}");
    }
}

#[test]
fn spans_count_the_mark_and_carriage_returns() {
    let text = "\u{feff}---\r\ntitle: Ä x\r\ntags:\r\n- a\r\n- b\r\ntext: |\r\n  q\r\n---\r\nbody";
    let expected = [("title", "Ä x"), ("tags", "- a\r\n- b"), ("text", "|\r\n  q")];
    assert_eq!(spans(text), expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    assert_eq!(Frontmatter::parse(text).strings("tags"), ["a", "b"]);
}

#[test]
fn lists_start_at_their_first_dash() {
    for (yaml, list) in [
        ("a:\n-\n- b", "-\n- b"),
        ("a: # - no\n- &x !!str b\n- c\nz: y", "- &x !!str b\n- c"),
        ("a:\n  - - b\n    - c", "- - b\n    - c"),
        ("a:\n- x: y\n  z: w\n-", "- x: y\n  z: w\n-"),
        ("a: []", "[]"),
        ("a: &l\n  - b", "- b"),
    ] {
        let text = page(yaml);
        let parsed = Frontmatter::parse(&text);
        assert_eq!(parsed.get("a").map(|n| n.span.of(&text)), Some(list), "{yaml:?} {:?}", parsed.error);
    }
}

#[test]
fn scalars_follow_the_core_schema() {
    for text in [
        "on",
        "yes",
        "no",
        "off",
        "y",
        "014",
        "1_000",
        "2026-07-19",
        "2026-07-19T10:30:00Z",
        "12:30:45",
        "0b11",
        "1.2.3",
        "1e",
        "+",
        ".",
        "-",
        "0x",
        "e5",
        "a",
        "0o8",
    ] {
        if text != "-" {
            assert_eq!(value(text), Value::String(text.to_owned()), "{text}");
        }
    }
    for text in
        ["0", "-1", "+12", "1.5", ".5", "1.", "1e3", "-1.5E-3", "0x1F", "0o17", ".inf", "-.INF", ".nan"]
    {
        assert_eq!(value(text), Value::Number(text.to_owned()), "{text}");
    }
    for text in ["true", "True", "TRUE"] {
        assert_eq!(value(text), Value::Bool(true));
    }
    for text in ["null", "~", "NULL", "", "!!null x"] {
        assert_eq!(value(text), Value::Null, "{text}");
    }
    for text in ["'true'", "\"true\"", "!!str true", "! true", "&a true2"] {
        assert!(value(text).as_str().is_some_and(|t| t.starts_with("true")), "{text}");
    }
    assert_eq!(value("!!str Concept"), Value::String("Concept".to_owned()));
    assert_eq!(value("!mine Concept"), Value::String("Concept".to_owned()));
    assert_eq!(value("!!str"), Value::String(String::new()));
    assert_eq!(value("Concept  # see AGENTS"), Value::String("Concept".to_owned()));
}

#[test]
fn nested_keys_do_not_overwrite_and_doubles_stand_twice() {
    let text = page("title: A\nsources:\n  - id: s1\n    title: Shared\ntitle: B");
    let parsed = Frontmatter::parse(&text);
    assert_eq!(parsed.text("title"), Some("A"));
    assert_eq!(parsed.entries.iter().filter(|e| e.key == "title").count(), 2);
    let Value::List(sources) = &parsed.get("sources").unwrap().value else { panic!() };
    assert_eq!(sources[0].value.get("title").unwrap().value.as_str(), Some("Shared"));
    assert_eq!(sources[0].span.of(&text), "id: s1\n    title: Shared");
}

#[test]
fn aliases_copy_their_value_and_stand_where_they_are_written() {
    let text = page("a: &x [1, b]\nc: *x\n? *y2\n: z".replace("? *y2\n: z", "d: e").as_str());
    let parsed = Frontmatter::parse(&text);
    assert_eq!(parsed.get("c").unwrap().value, parsed.get("a").unwrap().value);
    assert_eq!(parsed.get("c").unwrap().span.of(&text), "*x");
}

#[test]
fn the_usual_mistake_is_named_and_its_value_marked() {
    let (kind, message, span) = error("type: Concept\ntitle: D: two: colons  # c\ndescription: x");
    assert_eq!(kind, YamlErrorKind::UnquotedColon);
    assert_eq!(message, "the value of `title` holds `: ` without quotes; put the whole value in quotes");
    assert_eq!(span, "D: two: colons");
    assert_eq!(error("sources:\n  - title: A: b").2, "A: b");
    assert_eq!(error("title: Ends with:").2, "Ends with:");
    assert_eq!(error("a: \"q: r\"\ntitle: x: y\r\nz: w").2, "x: y");
}

#[test]
fn what_is_no_mapping_is_said_plainly() {
    for yaml in ["just text", "- a\n- b", "type:Concept\ntitle:A", "42", "[a, b]"] {
        assert_eq!(error(yaml).0, YamlErrorKind::NotMapping, "{yaml}");
    }
}

#[test]
fn broken_yaml_is_one_plain_sentence_with_a_place() {
    for (yaml, part) in [
        ("x: \"unterminated", "never closed"),
        ("tags: [a, b", "list"),
        ("k:\n\t- tab", "tab"),
        ("x: @y", "quote the value"),
        ("x: *nothing", "alias"),
        ("a: b\n--- c: d", "more than one"),
        ("? [a]\n: b", "key"),
        ("a: &x [*x]", "alias"),
        ("a: b\n c: d", "`: `"),
        ("a: {b: c", "mapping"),
        ("a: !!map x: y", ""),
    ] {
        let (_, message, _) = error(yaml);
        assert!(message.contains(part), "{yaml:?}: {message}");
        assert!(!message.ends_with('.') && !message.contains('\n'), "{message}");
    }
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..10 {
        let row = vec![format!("*a{}", i - 1); 9].join(", ");
        laughs.push_str(&format!("a{i}: &a{i} [{row}]\n"));
    }
    assert_eq!(error(&laughs).0, YamlErrorKind::TooLarge);
    let quadratic = format!("a: &a {}\nb: [{}*a]", "x".repeat(40_000), "*a, ".repeat(150));
    assert_eq!(error(&quadratic).0, YamlErrorKind::TooLarge);
    let aliases = format!("a: &a x\nb: [{}*a]", "*a, ".repeat(200));
    assert_eq!(error(&aliases).0, YamlErrorKind::TooLarge);
    assert_eq!(error(&format!("a: {}{}", "[".repeat(33), "]".repeat(33))).0, YamlErrorKind::TooLarge);
    assert_eq!(error(&format!("a: {}", "[".repeat(60_000))).0, YamlErrorKind::TooLarge);
    assert_eq!(error(&format!("- {}", "- ".repeat(30_000))).0, YamlErrorKind::TooLarge);
    assert_eq!(error(&"a: b\n".repeat(12_000)).0, YamlErrorKind::TooLarge);
    assert_eq!(error(&format!("a: {}", "x".repeat(MAX_BLOCK))).0, YamlErrorKind::TooLarge);
    let deep_aliases = (1..40).fold("a0: &a0 [x]\n".to_owned(), |mut text, i| {
        text.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1));
        text
    });
    assert_eq!(error(&deep_aliases).0, YamlErrorKind::TooLarge);
    let nested_anchors: String = (0..30).map(|i| format!("&x{i} [")).collect();
    let items = "y, ".repeat(9_000);
    assert_eq!(error(&format!("a: {nested_anchors}{items}{}", "]".repeat(30))).0, YamlErrorKind::TooLarge);
}

#[test]
fn accessors_read_what_they_promise() {
    let parsed = Frontmatter::parse(&page("a: ' x '\nb: ''\nc: [p, 1, q]\nd: one\ne: 1"));
    assert_eq!(parsed.text("a"), Some("x"));
    assert_eq!(parsed.text("b"), None);
    assert_eq!(parsed.text("e"), None);
    assert_eq!(parsed.strings("c"), ["p", "q"]);
    assert_eq!(parsed.strings("d"), ["one"]);
    assert!(parsed.strings("nothing").is_empty());
}

/// The value as another YAML reader of ours (serde-saphyr, read strictly) gives it.
fn agrees(node: &Value, json: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (node, json) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::Number(_), Json::Number(_)) => true,
        (Value::String(a), Json::String(b)) => a == b,
        (Value::List(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(&a.value, b))
        }
        (Value::Map(a), Json::Object(b)) => {
            b.iter().all(|(key, b)| get(a, key).is_some_and(|a| agrees(&a.value, b)))
                && a.iter().all(|a| b.contains_key(&a.key))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn both_yaml_readers_read_the_same(
        yaml in "(([a-c]|\"q r\"|'s'):( (x|y z|1|-2\\.5|014|1_0|on|no|true|~|2026-07-19|\"d \\\\t\"|'e''f'|\\[a, \"b\", 1\\]|\\{k: v, l\\}|é # c))?\n|- (x|1|a: b|- y)\n|  - (x|n: 1|\"z\")\n|  (m|o): (p|\\[\\])\n|t: \\|\n  one\n   two\n\n|u: >-\n  one\n  two\n){1,8}"
    ) {
        let options = options! {
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
            duplicate_keys: DuplicateKeyPolicy::FirstWins,
        };
        let theirs: Result<serde_json::Value, _> = serde_saphyr::from_str_with_options(&yaml, options);
        let text = format!("---\n{yaml}---\n");
        let ours = Frontmatter::parse(&text);
        match (&ours.error, theirs) {
            (None, Ok(serde_json::Value::Null)) => prop_assert!(ours.entries.is_empty()),
            (None, Ok(json)) => prop_assert!(agrees(&Value::Map(ours.entries), &json), "{yaml}\n{json}"),
            (None, Err(error)) => prop_assert!(false, "{yaml}\n{error}"),
            (Some(error), Ok(json)) => {
                prop_assert!(error.kind == YamlErrorKind::NotMapping && !json.is_object(), "{yaml}\n{error:?}");
            }
            (Some(_), Err(_)) => {}
        }
    }

    /// The promise behind every fix: a value's bytes can be replaced and nothing else changes.
    #[test]
    fn replacing_a_values_bytes_changes_only_that_value(
        yaml in "(([a-c]|\"q r\"|'s'):( (x|y z|1|~|\"d\"|'e''f'|\\[a, \"b\"\\]|\\{k: v\\}|&n x|!!str y|é # c|# c))?\n|# z\n|l:\n- x\n- a: b\n|m:\n  o: p\n  q:\n|t: \\|\n  one\n   two\n\n|u: >- # c\n  one\n  two\n){1,8}",
        pick in any::<prop::sample::Index>(),
    ) {
        let text = format!("---\r\n{yaml}---\nbody");
        let before = Frontmatter::parse(&text);
        prop_assert_eq!(&before.error, &None);
        if before.entries.is_empty() {
            return Ok(());
        }
        let at = pick.index(before.entries.len());
        let span = before.entries[at].value.span;
        let blank = if text[..span.start].ends_with(':') { " " } else { "" };
        // A block collection starts on a line of its own, where a plain value cannot stand unindented.
        let value = if text[..span.start].trim_end_matches(' ').ends_with('\n') { "  new" } else { "new" };
        let edited = format!("{}{blank}{value}{}", &text[..span.start], &text[span.end..]);
        let after = Frontmatter::parse(&edited);
        prop_assert_eq!(&after.error, &None, "{} -> {}", text, edited);
        let values = |f: &Frontmatter| -> Vec<(String, String)> {
            f.entries.iter().map(|e| (e.key.clone(), plain(&e.value.value))).collect()
        };
        let mut want = values(&before);
        want[at].1 = "new".to_owned();
        prop_assert_eq!(values(&after), want, "{}", edited);
    }
}

/// The value without its place.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "~".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(text) | Value::String(text) => text.clone(),
        Value::List(items) => items.iter().map(|n| plain(&n.value)).collect::<Vec<_>>().join(","),
        Value::Map(entries) => entries
            .iter()
            .map(|e| format!("{}={}", e.key, plain(&e.value.value)))
            .collect::<Vec<_>>()
            .join(","),
    }
}
