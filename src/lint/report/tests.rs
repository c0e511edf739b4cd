//! What a change brings and settles.

use crate::bundle::MemoryBundle;
use crate::lint::{Options, Profile, Report, delta, lint};
use crate::wiki::Wiki;

fn judge(files: &[(&str, &str)]) -> Report {
    let wiki = Wiki::load(&MemoryBundle::new(files.iter().copied()).unwrap()).unwrap();
    lint(&wiki, &Options { profile: Some(Profile::Wiki), ..Options::default() })
}

/// `+CODE path` of what `after` brings, `-CODE path` of what it settles.
fn compared(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let (before, after) = (judge(before), judge(after));
    let (new, healed) = delta(&before, &after);
    let signed =
        |sign: char| move |f: &&crate::lint::Finding| format!("{sign}{} {}", f.rule.code, f.path.relative());
    new.iter().map(signed('+')).chain(healed.iter().map(signed('-'))).collect()
}

const PAGE: &str = "---\ntype: Concept\ntitle: T\ndescription: D\ntimestamp: 2026-07-19T10:30:00Z\n---\n";

fn linking(targets: &[&str]) -> String {
    let links: String = targets.iter().map(|target| format!("[x]({target})\n")).collect();
    format!("{PAGE}{links}")
}

#[test]
fn a_fault_with_another_count_is_the_same_fault() {
    let (one, two) = (PAGE.replace("title: T", "title: One"), PAGE.replace("title: T", "title: Two"));
    let few = [("/index.md", "[one](s/one.md) [two](s/two.md)\n"), ("/s/one.md", one.as_str())];
    let more = [few[0], few[1], ("/s/two.md", two.as_str())];
    // The link to the second page is broken before.
    assert_eq!(compared(&few, &more), ["-L001 index.md"]);
    assert_eq!(compared(&more, &few), ["+L001 index.md"]);
    assert!(judge(&more).findings.iter().any(|f| f.message.contains("2 pages here")), "{:?}", judge(&more));
}

#[test]
fn the_count_of_pages_with_an_undeclared_type_is_no_part_of_the_fault() {
    let agents = ("/AGENTS.md", "## Types\n\n- `Entity`\n");
    let index = ("/index.md", "[a](a.md) [b](b.md)\n");
    let (a, b) = (PAGE.to_owned(), PAGE.replace("title: T", "title: U"));
    let one = [agents, index, ("/a.md", a.as_str())];
    let two = [agents, index, ("/a.md", a.as_str()), ("/b.md", b.as_str())];
    assert!(judge(&one).findings.iter().any(|f| f.rule.code == "T001"), "{:?}", judge(&one).findings);
    assert_eq!(compared(&one, &two), ["-L001 index.md"]);
}

#[test]
fn the_same_fault_at_another_place_is_the_same_fault() {
    let index = ("/index.md", "[a](a.md)\n");
    let (above, below) = (linking(&["lost.md"]), linking(&["#", "#", "lost.md"]));
    assert_eq!(compared(&[index, ("/a.md", &above)], &[index, ("/a.md", &below)]), [""; 0]);
}

#[test]
fn of_several_alike_as_many_are_new_as_there_are_more() {
    let index = ("/index.md", "[a](a.md)\n");
    let (one, three) = (linking(&["lost.md"]), linking(&["lost.md", "lost.md", "lost.md"]));
    let other = linking(&["gone.md"]);
    assert_eq!(
        compared(&[index, ("/a.md", &one)], &[index, ("/a.md", &three)]),
        ["+L001 a.md", "+L001 a.md"]
    );
    assert_eq!(
        compared(&[index, ("/a.md", &three)], &[index, ("/a.md", &one)]),
        ["-L001 a.md", "-L001 a.md"]
    );
    assert_eq!(
        compared(&[index, ("/a.md", &one)], &[index, ("/a.md", &other)]),
        ["+L001 a.md", "-L001 a.md"]
    );
}

#[test]
fn a_further_page_that_an_index_lacks_is_new_and_the_others_are_not_healed() {
    let index = ("/index.md", "[c](c.md)\n");
    let titled = |title: &str| PAGE.replace("title: T", &format!("title: {title}"));
    let (a, b, c) = (titled("A"), titled("B"), format!("{}[a](a.md) [b](b.md)\n", titled("C")));
    let one = [index, ("/a.md", a.as_str()), ("/c.md", c.as_str())];
    let two = [index, ("/a.md", a.as_str()), ("/b.md", b.as_str()), ("/c.md", c.as_str())];
    assert_eq!(compared(&one, &two), ["+S002 index.md", "-L001 c.md"]);
    assert_eq!(compared(&two, &one), ["+L001 c.md", "-S002 index.md"]);
}
