use super::{Mode, Operation, PathPattern, Rule, Rules};
use crate::bundle::ErrorKind;
use crate::okf::BundlePath;

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn writes(rules: &Rules, text: &str) -> bool {
    match rules.check(Operation::Write, &path(text)) {
        Ok(()) => true,
        Err(e) => {
            assert_eq!(e.kind, ErrorKind::Denied, "{text}");
            false
        }
    }
}

#[test]
fn the_manager_writes_pages_and_never_sources() {
    let rules = Rules::manager(true);
    for allowed in ["/wiki/a.md", "/AGENTS.md", "/rawish/x.md", "/wiki/raw/x.md", "/foo..bar.md", "/raw.md"] {
        assert!(writes(&rules, allowed), "{allowed}");
    }
    for denied in [
        "/raw",
        "/raw/x.md",
        "/raw/.x",
        "/raw/sub/.d/y",
        "/raw/..x",
        "/Raw/x",
        "/RAW/x",
        "/raw /x",
        "/raw./x",
        "/raw::$INDEX_ALLOCATION/x",
        "/ra\u{200C}w/x",
        "/",
    ] {
        assert!(!writes(&rules, denied), "{denied}");
    }
    assert!(writes(&Rules::manager(false), "/raw/x.md"));
    assert!(rules.check(Operation::Read, &path("/raw/x.md")).is_ok());
}

#[test]
fn c09_protected_names_are_denied_in_every_disguise_even_when_absent() {
    let rules = Rules::manager(false);
    for denied in [
        "/.git/hooks/post-checkout",
        "/.GIT/config",
        "/.git./x",
        "/.git /x",
        "/git~1/config",
        "/GIT~2/config",
        "/okf~1/x",
        "/.g\u{200C}it/x",
        "/\u{FEFF}.git/config",
        "/.git::$DATA/x",
        "/.workbench/x",
        "/.okf/semantic-manifest.json",
        "/wiki/.x.md",
        "/wiki/.obsidian/app.json",
    ] {
        assert!(!writes(&rules, denied), "{denied}");
    }
    assert!(writes(&rules, "/wiki/git~notes.md"));
    assert!(writes(&rules, "/wiki/a.git.md"));
}

#[test]
fn the_reader_writes_nothing() {
    for text in ["/", "/wiki/a.md", "/.git/config", "/wiki/.x.md"] {
        assert!(!writes(&Rules::reader(), text), "{text}");
    }
    assert!(Rules::reader().check(Operation::Read, &path("/wiki/a.md")).is_ok());
}

#[test]
fn a_unicode_twin_of_a_protected_folder_is_protected() {
    let rule = Rule::folder(Operation::Write, &path("/caf\u{E9}"), Mode::Deny);
    let rules = Rules { rules: vec![rule], protect_dot_names: false };
    assert!(!writes(&rules, "/cafe\u{301}/x.md"));
    assert!(!writes(&rules, "/CAFE\u{301}/x.md"));
    assert!(writes(&rules, "/cafe/x.md"));
}

#[test]
fn the_first_rule_that_matches_decides_and_folders_above_a_denied_one_are_kept() {
    let rule = |folder: &str, mode| Rule::folder(Operation::Write, &path(folder), mode);
    let rules = Rules {
        rules: vec![rule("/a/b/open", Mode::Allow), rule("/a/b", Mode::Deny)],
        protect_dot_names: false,
    };
    assert!(writes(&rules, "/a/b/open/x.md"));
    assert!(!writes(&rules, "/a/b/x.md"));
    assert!(!writes(&rules, "/a"));
    assert!(writes(&rules, "/a/x.md"));
}

#[test]
fn a_refusal_names_the_rule() {
    let error = Rules::manager(true).check(Operation::Write, &path("/raw/x.md")).unwrap_err();
    assert!(error.message.contains("no write under /raw"), "{error}");
    let error = Rules::manager(true).check(Operation::Write, &path("/.g\u{200C}it/x")).unwrap_err();
    assert!(error.message.contains("\\u{200c}"), "an invisible character is shown: {error}");
}

#[test]
fn new_names_must_survive_other_systems() {
    let rules = Rules::manager(true);
    for bad in [
        "/CON",
        "/con.md",
        "/NUL.txt",
        "/COM1",
        "/wiki/AUX.md",
        "/a.md.",
        "/a.md ",
        "/a.md:s",
        "/a.md::$DATA",
        "/C:/x",
        "/a\nb.md",
        "/\u{1b}]0;x\u{7}.md",
        "/a\u{202E}dm.md",
        "/what?.md",
        "/aux/x.md",
    ] {
        assert_eq!(rules.check_new(&path(bad)).unwrap_err().kind, ErrorKind::Invalid, "{bad:?}");
    }
    for good in
        ["/console.md", "/wiki/com10.md", "/wiki/a b.md", "/wiki/ünïcode.md", "/~/x.md", "/$HOME/x.md"]
    {
        assert!(rules.check_new(&path(good)).is_ok(), "{good}");
    }
}

fn rule(operations: &[Operation], paths: &[&str], mode: Mode) -> Rule {
    let paths = paths.iter().map(|text| PathPattern::new(text).unwrap()).collect();
    Rule { operations: operations.to_vec(), paths, mode }
}

#[test]
fn patterns_reach_what_they_say_dots_and_twins_included() {
    let rules = Rules {
        rules: vec![rule(&[Operation::Write], &["/wiki/**/secret-*.md", "/Private/**"], Mode::Deny)],
        protect_dot_names: false,
    };
    for denied in [
        "/wiki/secret-a.md",
        "/wiki/x/y/secret-.md",
        "/wiki/.x/secret-b.md",
        "/WIKI/x/SECRET-a.md",
        "/private/x",
        "/PRIVATE/.x",
        "/private",
    ] {
        assert!(!writes(&rules, denied), "{denied}");
    }
    for allowed in ["/wiki/secret.md", "/wiki/x/secret-a.txt", "/privately/x"] {
        assert!(writes(&rules, allowed), "{allowed}");
    }
}

#[test]
fn a_read_that_must_be_asked_about_is_refused_and_a_write_is_left_to_the_approval() {
    let rules = Rules::manager(true).after(&[
        rule(&[Operation::Read], &["/wiki/private/**"], Mode::Ask),
        rule(&[Operation::Write], &["/AGENTS.md"], Mode::Ask),
        rule(&[Operation::Write], &["/raw/notes/**"], Mode::Allow),
    ]);
    let error = rules.check(Operation::Read, &path("/wiki/private/a.md")).unwrap_err();
    assert!(error.kind == ErrorKind::Denied && error.message.contains("a person must allow"), "{error}");
    assert!(writes(&rules, "/AGENTS.md"));
    assert_eq!(rules.mode(Operation::Write, &path("/agents.md")), Mode::Ask);
    assert_eq!(rules.mode(Operation::Write, &path("/wiki/a.md")), Mode::Allow);
    assert!(writes(&rules, "/raw/notes/a.md"), "a rule of the person wins over the default");
    assert!(!writes(&rules, "/raw/a.md"));
}

#[test]
fn a_pattern_that_is_none_is_refused_with_what_is_wrong() {
    for (text, part) in [("wiki/*", "starts with /"), ("/a/../b", ".."), ("/a[", "not a file pattern")] {
        assert!(PathPattern::new(text).unwrap_err().contains(part), "{text}");
    }
}
