//! The reader's answer as data: its JSON schema, reading it out of what a model wrote, and holding its citations against the
//! pages. Pure.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::agent::citation;
use crate::agent::client::ToolSchema;
use crate::bundle::Read;
use crate::okf::{BundlePath, Page};

mod passage;
#[cfg(test)]
mod tests;

pub use passage::passage;
use passage::{heading, quoted_after, quoted_before};

/// Name of the tool that takes the answer where an endpoint knows no JSON schema.
pub const TOOL: &str = "wiki_answer";

/// How often a model is asked again for an answer in the form.
pub const MAX_REPAIRS: usize = 3;

/// [`TOOL`] as the model sees it.
pub fn tool() -> ToolSchema {
    ToolSchema {
        name: TOOL.to_owned(),
        description: "Takes the answer to the person's question.".to_owned(),
        parameters: schema(),
    }
}

/// What the reader found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WikiAnswer {
    /// For `found: false` the exact sentence that was agreed.
    pub answer: String,
    #[serde(default, deserialize_with = "some_citations")]
    pub citations: Vec<Cited>,
    /// The part of the question that the wiki does not cover.
    #[serde(default)]
    pub not_covered: Option<String>,
    pub found: bool,
}

/// A page that the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// From the bundle's root: `/wiki/concepts/tide.md`.
    pub path: String,
    /// A heading or its anchor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Words of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Why it cannot be relied on; set by [`check`], never taken from a model.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// What is wrong with a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    #[error("is no path of this bundle")]
    NoPath,
    #[error("is no page: there is no such file")]
    NoPage,
    #[error("is not a page of the wiki")]
    NotWiki,
    #[error("was not read in this session")]
    NotRead,
    #[error("has no such section")]
    NoSection,
    #[error("does not hold the quoted words")]
    NoQuote,
}

/// The schema of [`WikiAnswer`], in the subset that strict endpoints take: every field required, nothing else allowed.
pub fn schema() -> Value {
    let optional = |what: &str| json!({"type": ["string", "null"], "description": what});
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "The answer, in markdown, in the language of the question."},
            "citations": {
                "type": "array",
                "description": "The pages that the answer rests on.",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The page, from the bundle's root, such as /wiki/concepts/tide.md."},
                        "section": optional("The heading that the claim stands under."),
                        "quote": optional("A few words of the page, exactly as they stand there."),
                    },
                    "required": ["path", "section", "quote"],
                    "additionalProperties": false,
                },
            },
            "not_covered": optional("The part of the question that the wiki does not cover."),
            "found": {"type": "boolean", "description": "Whether the wiki holds an answer, in part or in full."},
        },
        "required": ["answer", "citations", "not_covered", "found"],
        "additionalProperties": false,
    })
}

/// A citation as models write it: an object, or the path alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Path(String),
    Whole(Cited),
}

fn some_citations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Cited>, D::Error> {
    let written = Option::<Vec<Written>>::deserialize(deserializer)?.unwrap_or_default();
    let cited = written.into_iter().map(|written| match written {
        Written::Whole(cited) => cited,
        Written::Path(path) => Cited { path, section: None, quote: None, problem: None },
    });
    Ok(cited.map(Cited::tidy).collect())
}

impl Cited {
    /// The section out of the path, and no empty fields.
    fn tidy(mut self) -> Self {
        if let Some((path, section)) = self.path.clone().split_once('#') {
            self.path = path.to_owned();
            self.section.get_or_insert_with(|| section.to_owned());
        }
        for field in [&mut self.section, &mut self.quote] {
            *field = field.take().filter(|text| !text.trim().is_empty());
        }
        self
    }
}

/// Reads an answer out of what a model wrote: the object alone, in a code block, or within other text. `not_found` stands for
/// the answer wherever nothing was found. `Err` is a sentence for the model.
pub fn read(text: &str, not_found: &str) -> Result<WikiAnswer, String> {
    let mut why = "it holds no JSON object".to_owned();
    for (start, _) in text.match_indices('{') {
        let Some(rest) = text.get(start..) else { continue };
        // The value that starts here, whatever follows it.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(e)) => {
                if start == text.len() - text.trim_start().len() {
                    why = format!("its JSON is broken ({e})");
                }
                continue;
            }
            None => continue,
        };
        // Braces in the text, or an object within a broken one, are not the answer.
        if value.get("answer").is_none() && value.get("found").is_none() {
            continue;
        }
        return settle(value, not_found);
    }
    Err(why)
}

/// Reads the arguments of a call of [`TOOL`]; see [`read`].
pub fn settle(value: Value, not_found: &str) -> Result<WikiAnswer, String> {
    let mut answer: WikiAnswer =
        serde_json::from_value(value).map_err(|e| format!("it does not have the right form ({e})"))?;
    answer.not_covered = answer.not_covered.filter(|text| !text.trim().is_empty());
    if !answer.found {
        not_found.clone_into(&mut answer.answer);
        answer.citations.clear();
        return Ok(answer);
    }
    if answer.answer.trim().is_empty() {
        return Err("`answer` is empty although `found` is true".to_owned());
    }
    if answer.citations.is_empty() {
        return Err("`citations` is empty although `found` is true; name the pages that the answer rests on"
            .to_owned());
    }
    Ok(answer)
}

/// Whether a text says, with the agreed sentence, that the wiki is silent. The sentence opens the text, is its first or last
/// line, or the text names no page that an answer could rest on. Quoted within an answer that cites, it says nothing.
pub fn is_silent(text: &str, not_found: &str) -> bool {
    let sentence = not_found.trim();
    if sentence.is_empty() || !text.contains(sentence) {
        return false;
    }
    let emphasis = |c: char| c.is_whitespace() || "*_`".contains(c);
    let mark = |c: char| emphasis(c) || "\"'\u{201c}\u{201d}\u{2018}\u{2019}\u{ab}\u{bb}".contains(c);
    let wanted = sentence.trim_matches(mark);
    let alone = |line: Option<&str>| line.is_some_and(|line| line.trim_matches(mark) == wanted);
    let mut lines = text.lines().filter(|line| !line.trim_matches(mark).is_empty());
    text.trim_start_matches(emphasis).starts_with(sentence)
        || alone(lines.next())
        || alone(lines.next_back())
        || cited(text).is_empty()
}

/// The answer out of prose, for a model that does not keep to the form: what it cites is what it names. None when it names no page and
/// does not say that the wiki is silent.
pub fn of_prose(text: &str, not_found: &str) -> Option<WikiAnswer> {
    let text = text.trim();
    if is_silent(text, not_found) {
        let answer = not_found.to_owned();
        return Some(WikiAnswer { answer, citations: Vec::new(), not_covered: None, found: false });
    }
    let citations = cited(text);
    let answer = WikiAnswer { answer: text.to_owned(), citations, not_covered: None, found: true };
    (!answer.citations.is_empty()).then_some(answer)
}

/// The pages that a text names in its order, each with the words that it quotes before naming it; one that is named again brings
/// nothing new without such words.
pub fn cited(text: &str) -> Vec<Cited> {
    let mut all: Vec<Cited> = Vec::new();
    let mut after = 0;
    let places = citation::find(text);
    let starts: Vec<usize> =
        places.iter().skip(1).map(|place| place.span.start).chain([text.len()]).collect();
    for (found, next) in places.into_iter().zip(starts) {
        let before = quoted_before(text, after, found.span.start);
        let quote = before.or_else(|| quoted_after(text, found.whole.end, next));
        after = found.whole.end;
        let cited = Cited { path: found.path.to_string(), section: found.fragment, quote, problem: None };
        let known = |other: &&mut Cited| other.path == cited.path && other.section == cited.section;
        if all.contains(&cited) {
            continue;
        }
        match all.iter_mut().find(known) {
            Some(known) if known.quote.is_none() => known.quote = cited.quote,
            Some(_) if cited.quote.is_none() => {}
            _ => all.push(cited),
        }
    }
    all
}

/// Marks each citation that does not hold. `read` are the files that the model was shown. Reads the cited pages.
pub fn check(citations: &mut [Cited], bundle: &dyn Read, read: &HashSet<BundlePath>) {
    let root = has_wiki(bundle).then_some("/wiki");
    for cited in citations {
        cited.problem = match BundlePath::parse(&cited.path) {
            Ok(path) => {
                cited.path = path.to_string();
                problem(cited, &path, root, bundle, read)
            }
            Err(_) => Some(Problem::NoPath),
        };
    }
}

fn problem(
    cited: &Cited,
    path: &BundlePath,
    root: Option<&str>,
    bundle: &dyn Read,
    read: &HashSet<BundlePath>,
) -> Option<Problem> {
    let within = |folder: &str| BundlePath::parse(folder).is_ok_and(|folder| path.is_within(&folder));
    // In a bundle without the folder of pages all that is no source is a page.
    if !root.map_or_else(|| !within("/raw"), within) || !path.as_str().ends_with(".md") {
        return Some(Problem::NotWiki);
    }
    let text = match bundle.read(path) {
        Ok(text) => text,
        Err(_) => return Some(Problem::NoPage),
    };
    if !read.contains(path) {
        return Some(Problem::NotRead);
    }
    let page = Page::parse(path.clone(), text.into());
    let section = cited.section.as_deref();
    if section.is_some_and(|section| !page.has_anchor(section) && heading(&page, section).is_none()) {
        return Some(Problem::NoSection);
    }
    cited
        .quote
        .as_deref()
        .is_some_and(|quote| passage(&page, section, quote).is_none())
        .then_some(Problem::NoQuote)
}

fn has_wiki(bundle: &dyn Read) -> bool {
    let folder = BundlePath::parse("/wiki").map(|folder| bundle.list(&folder));
    matches!(folder, Ok(Ok(entries)) if !entries.is_empty())
}
