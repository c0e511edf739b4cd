//! Who wrote and who checked a page (OKF 0.2), as far as an agent may say it: it never signs for a person, and that it wrote a
//! page is said by us.

use jiff::{Timestamp, Unit};

use crate::bundle::{Read, Staged};
use crate::okf::BundlePath;
use crate::okf::edit::{self, items};
use crate::okf::frontmatter::{Frontmatter, Node, Value};

/// What signs for the agents.
const PRODUCER: &str = concat!("wikiwright/", env!("CARGO_PKG_VERSION"));

/// Refuses a verification by a person that was not there before.
pub fn check(path: &BundlePath, before: Option<&str>, after: &str) -> Result<(), String> {
    if !path.is_markdown() {
        return Ok(());
    }
    let (had, has) = (before.map(signed).unwrap_or_default(), signed(after));
    let mut left = had;
    for one in has {
        match left.iter().position(|other| *other == one) {
            Some(at) => drop(left.swap_remove(at)),
            None => {
                return Err(format!(
                    "{path}: refused, because it says `verified` in the name of a person (human:). Only people verify; leave the entry out. \
                     Nothing was staged."
                ));
            }
        }
    }
    Ok(())
}

/// Verifications by people, as they are written.
fn signed(text: &str) -> Vec<String> {
    let frontmatter = Frontmatter::parse(text);
    if frontmatter.error.is_some() {
        // It cannot be read, but it may be mended later: every such name in it counts.
        let block = frontmatter.block.map(|block| block.of(text)).unwrap_or_default();
        let lines = block.lines().filter(|line| line.to_lowercase().contains("human:"));
        return lines.map(|line| line.trim().to_owned()).collect();
    }
    let entries =
        frontmatter.entries.iter().filter(|entry| entry.key.trim().eq_ignore_ascii_case("verified"));
    entries
        .flat_map(|entry| items(&entry.value))
        .filter(|item| by_person(item))
        .map(|item| item.span.of(text).split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

fn by_person(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.trim().to_lowercase().starts_with("human:"),
        Value::List(items) => items.iter().any(by_person),
        Value::Map(entries) => entries.iter().any(|entry| by_person(&entry.value)),
        _ => false,
    }
}

/// Whether the bundle says that it follows OKF 0.2, in the root's `index.md`.
fn signs(staged: &Staged) -> bool {
    let Ok(index) = BundlePath::parse("/index.md") else { return false };
    let Ok(text) = staged.read(&index) else { return false };
    let frontmatter = Frontmatter::parse(&text);
    let version = match frontmatter.get("okf_version").map(|node| &node.value) {
        Some(Value::String(text) | Value::Number(text)) => text.trim().to_owned(),
        _ => return false,
    };
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (0, 2)
}

/// The page with `generated` as ours, where the bundle wants it; none where it stays as the model wrote it. A page that
/// a person is named for keeps that name.
pub fn sign(
    staged: &Staged,
    path: &BundlePath,
    before: Option<&str>,
    after: &str,
    now: Timestamp,
) -> Option<String> {
    if !path.is_markdown() || path.reserved().is_some() || !signs(staged) {
        return None;
    }
    let frontmatter = Frontmatter::parse(after);
    frontmatter.block?;
    let generated = |text: &str| {
        let node = Frontmatter::parse(text).get("generated").cloned()?;
        by_person(&node).then(|| node.span.of(text).to_owned())
    };
    let person = before.and_then(generated);
    if person.is_some() && person == generated(after) {
        return None;
    }
    let at = now.round(Unit::Second).unwrap_or(now);
    let splice = edit::set(after, &frontmatter, "generated", &format!("{{ by: {PRODUCER}, at: {at} }}"))?;
    Some(edit::apply(after, [splice]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bundle::{MemoryBundle, Rules};

    fn page(fields: &str) -> String {
        format!("---\ntype: concept\n{fields}---\n\n# A\n")
    }

    #[test]
    fn an_agent_never_verifies_for_a_person() {
        let path = BundlePath::parse("/wiki/a.md").unwrap();
        let human = "verified:\n  - { by: human:someone, at: 2026-01-01T00:00:00Z }\n";
        for fields in [
            human,
            "verified: { by: human:someone }\n",
            "verified: [human:someone]\n",
            "verified: [{ by: \"Human:someone\" }]\n",
            "verified: [ { by: human:someone }\n",
            "verified: [{ by: process:x }]\nverified: [{ by: human:y }]\n",
        ] {
            let problem = check(&path, Some(&page("")), &page(fields)).unwrap_err();
            assert!(problem.contains("Only people verify"), "{fields}: {problem}");
        }
        assert_eq!(
            check(&path, Some(&page(human)), &page(&format!("{human}title: T\n"))),
            Ok(()),
            "it was there"
        );
        assert!(
            check(&path, Some(&page(human)), &page(&human.replace("2026-01", "2026-02"))).is_err(),
            "another date"
        );
        assert_eq!(check(&path, None, &page("verified: [{ by: process:lint }]\n")), Ok(()));
        assert_eq!(check(&path, None, "# A\n\nverified by human:someone\n"), Ok(()), "only fields count");
    }

    #[test]
    fn who_generated_a_page_is_said_by_us() {
        let bundle = |version: &str| {
            let index = format!("---\nokf_version: {version}\n---\n# Index\n");
            Staged::new(
                Arc::new(MemoryBundle::new([("/index.md", index.as_str())]).unwrap()),
                Rules::manager(true),
            )
        };
        let now: Timestamp = "2026-03-01T09:00:00.5Z".parse().unwrap();
        let path = BundlePath::parse("/a.md").unwrap();
        let signed = |version: &str, before: Option<&str>, fields: &str| {
            sign(&bundle(version), &path, before, &page(fields), now)
        };
        let line = format!("generated: {{ by: {PRODUCER}, at: 2026-03-01T09:00:01Z }}\n");
        assert_eq!(signed("0.2", None, ""), Some(page(&line)));
        assert_eq!(signed("\"0.2\"", None, "generated: { by: other/1 }\n"), Some(page(&line)));
        let block = signed("0.2", None, "generated:\n  by: human:someone\n").unwrap();
        let read = Frontmatter::parse(&block);
        assert!(read.error.is_none(), "{block}");
        assert_eq!(
            read.get("generated").unwrap().value.get("by").unwrap().value.as_str(),
            Some(PRODUCER),
            "{block}"
        );
        let by_hand = page("generated: { by: human:someone }\n");
        assert_eq!(signed("0.2", Some(&by_hand), "generated: { by: human:someone }\ntitle: T\n"), None);
        assert_eq!(signed("0.1", None, ""), None);
        assert_eq!(sign(&bundle("0.2"), &path, None, "# No fields\n", now), None);
    }
}
