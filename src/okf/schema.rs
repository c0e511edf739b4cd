//! The type vocabulary that a bundle's `AGENTS.md` declares.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::markdown;
use super::page::{Heading, Page};

/// What ends the name at the head of a list item or table cell.
const SEPARATORS: [&str; 5] = [" - ", " – ", " — ", ": ", " | "];

/// Headings with these words speak of other types than page types.
const OTHER_TYPES: [&str; 8] = ["log", "link", "links", "file", "files", "field", "fields", "media"];

/// Names of the format itself, which such a section cannot help mentioning.
const FIELDS: [&str; 14] = [
    "type",
    "types",
    "title",
    "description",
    "timestamp",
    "tags",
    "resource",
    "sources",
    "frontmatter",
    "status",
    "generated",
    "verified",
    "stale_after",
    "okf_version",
];

/// The declared types in the order written; none when no section declares any.
///
/// The section whose heading holds the word type or types declares them: its backticked tokens; else the lead of each
/// list item or first cell of each table row, cut at ` - `, ` – `, ` — `, `: ` or ` | `. Tokens with `/` or
/// ending in `.md` are cross-references, not types, and so are the names of the format's fields. Of several such
/// sections the first that declares something counts; one about log, link, file or field types does not.
pub fn declared_types(agents: &Page) -> Option<Vec<String>> {
    agents.headings.iter().enumerate().filter(|(_, heading)| names_types(heading)).find_map(
        |(index, heading)| {
            let end = agents
                .headings
                .iter()
                .skip(index + 1)
                .find(|next| next.level <= heading.level)
                .map_or(agents.text.len(), |next| next.span.start);
            let section = agents.text.get(heading.span.end..end)?;
            let tokens = unique(backticked(section));
            let types = if tokens.is_empty() { unique(leads(section)) } else { tokens };
            Some(types).filter(|types| !types.is_empty())
        },
    )
}

fn names_types(heading: &Heading) -> bool {
    let lower = heading.text.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric());
    words().any(|word| matches!(word, "type" | "types")) && !words().any(|word| OTHER_TYPES.contains(&word))
}

fn unique(tokens: Vec<String>) -> Vec<String> {
    let mut types: Vec<String> = Vec::new();
    for token in tokens {
        // `type: Concept` declares Concept.
        let token = token.trim();
        let token = token.strip_prefix("type:").map_or(token, str::trim).trim_matches(['"', '\'']);
        let is_type = !token.is_empty()
            && !token.contains(['/', '\n'])
            && !token.ends_with(".md")
            && !FIELDS.contains(&token);
        if is_type && !types.iter().any(|t| t == token) {
            types.push(token.to_owned());
        }
    }
    types
}

fn backticked(section: &str) -> Vec<String> {
    Parser::new_ext(section, markdown::options())
        .filter_map(|event| match event {
            Event::Code(token) => Some(token.to_string()),
            _ => None,
        })
        .collect()
}

/// The names at the head of list items and table rows.
fn leads(section: &str) -> Vec<String> {
    let mut leads = Vec::new();
    // The lead that is being read.
    let mut lead: Option<String> = None;
    let mut first_cell = false;
    for event in Parser::new_ext(section, markdown::options()) {
        match event {
            Event::Start(Tag::Item) => {
                leads.extend(lead.replace(String::new()));
            }
            Event::Start(Tag::TableRow) => first_cell = true,
            Event::Start(Tag::TableCell) if first_cell => {
                first_cell = false;
                lead = Some(String::new());
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(lead) = &mut lead {
                    lead.push_str(&text);
                }
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Item | TagEnd::Paragraph | TagEnd::TableCell) => leads.extend(lead.take()),
            _ => {}
        }
    }
    leads.iter().map(|lead| cut(lead).to_owned()).filter(|lead| !lead.is_empty()).collect()
}

fn cut(lead: &str) -> &str {
    let end = SEPARATORS.iter().filter_map(|separator| lead.find(separator)).min().unwrap_or(lead.len());
    lead.get(..end).unwrap_or(lead).trim().trim_end_matches(':').trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::okf::BundlePath;

    fn types(text: &str) -> Option<Vec<String>> {
        declared_types(&Page::parse(BundlePath::parse("/AGENTS.md").unwrap(), text.into()))
    }

    fn some(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|n| (*n).to_owned()).collect())
    }

    #[test]
    fn backticked_tokens_of_the_section_are_types() {
        let text = "# Wiki\n`No`\n## Page types\n- `Concept` - in `concepts/`, see `x.md`\n- `Entity`, `Concept`\n### More\n`Sub`\n```\n`no`\n```\n## Other\n`No`";
        assert_eq!(types(text), some(&["Concept", "Entity", "Sub"]));
    }

    #[test]
    fn another_kind_of_type_declares_nothing() {
        let text = "## Log entry types\n`ingest`, `query`\n## Page types\n- `Concept`";
        assert_eq!(types(text), some(&["Concept"]));
        assert_eq!(types("## Prototypes\n`X`"), None);
        assert_eq!(types("## Types\nnothing here"), None);
        assert_eq!(types("## Types\n\n## Types in use\n`X`"), some(&["X"]));
    }

    #[test]
    fn field_names_are_no_types() {
        let text =
            "## Types\nSet the `type` field of the `frontmatter` to one of: `Concept`, `type: Entity`.";
        assert_eq!(types(text), some(&["Concept", "Entity"]));
    }

    #[test]
    fn leads_count_when_nothing_is_backticked() {
        let list = "## Types\n- **Concept** - a notion\n- Entity: a thing\n- Source Document — x\n  continued\n- Plain:\n- see a/b\n";
        assert_eq!(types(list), some(&["Concept", "Entity", "Source Document", "Plain"]));
        let table = "## Types\n| Type | Use |\n|---|---|\n| Concept | a - b |\n| Entity | c |\n";
        assert_eq!(types(table), some(&["Concept", "Entity"]));
    }
}
