//! A page's frontmatter in a few rows: what it is, how it is tagged, where it comes from. No key is left out.

use std::collections::HashSet;
use std::fmt::Write;

use ratatui::text::Span as Styled;

use super::flow::{Canvas, Run};
use super::link_look;
use crate::okf::frontmatter::{Entry, Node, Value};
use crate::okf::{Link, LinkKind, Page};
use crate::text::{Safe, Span, width};

/// Longest value that is shown, in columns.
const MAX_VALUE: usize = 120;
/// Most that is shown of a block that cannot be read, in bytes.
const MAX_RAW: usize = 4096;
/// Keys drawn in their own way when their values are of the kind expected.
const OWN: [&str; 4] = ["type", "title", "description", "timestamp"];

pub fn draw(canvas: &mut Canvas<'_>, page: &Page, broken: &dyn Fn(&Link) -> bool) {
    let theme = canvas.theme;
    let matter = &page.frontmatter;
    if let Some(error) = &matter.error {
        canvas.at(matter.block.map_or(0, |b| b.start));
        let text = format!("The frontmatter is not readable YAML: {}", error.message);
        canvas.paragraph(&[run(text, theme.error, error.span.start)]);
        raw(canvas, page);
        canvas.gap();
        return;
    }
    let start = matter.block.map_or(0, |b| b.start);
    canvas.at(start);
    // The title stands in the body as a heading nearly always; where it does not, or another does, it is shown here.
    let heading = page.headings.iter().find(|h| h.level == 1).map(|h| h.text.as_str());
    if let Some(title) = matter.text("title").filter(|title| heading != Some(*title)) {
        canvas.paragraph(&[run(title.to_owned(), theme.heading(1), start)]);
    }
    let mut facts: Vec<String> = Vec::new();
    facts.extend(page.kind().map(str::to_owned));
    let tags = matter.strings("tags");
    if !tags.is_empty() {
        facts.push(tags.iter().map(|t| format!("#{t}")).collect::<Vec<_>>().join(" "));
    }
    facts.extend(matter.text("timestamp").map(str::to_owned));
    if !facts.is_empty() {
        canvas.paragraph(&[run(facts.join(" · "), theme.dim, start)]);
    }
    if let Some(description) = matter.text("description") {
        canvas.paragraph(&[run(description.to_owned(), theme.quote, start)]);
    }
    fields(canvas, page, broken);
    let linked: HashSet<Span> =
        page.links.iter().filter(|l| matches!(l.kind, LinkKind::Field(_))).map(|l| l.span).collect();
    let mut rest = Vec::new();
    for entry in matter.entries.iter().filter(|entry| !is_shown(page, entry, &linked)) {
        let between = if rest.is_empty() { "" } else { " · " };
        let value = width::truncate(Safe::line(&compact(&entry.value)).as_str(), MAX_VALUE);
        rest.push(run(format!("{between}{}: {value}", entry.key), theme.dim, entry.key_span.start));
    }
    if !rest.is_empty() {
        canvas.paragraph(&rest);
    }
    canvas.gap();
}

/// The fields that hold links, one row for each field.
fn fields(canvas: &mut Canvas<'_>, page: &Page, broken: &dyn Fn(&Link) -> bool) {
    let theme = canvas.theme;
    let mut open: Option<(&str, Vec<Run>)> = None;
    for (index, link) in page.links.iter().enumerate() {
        let LinkKind::Field(field) = &link.kind else { continue };
        let (style, mark) = link_look(link, broken(link), theme);
        let at = canvas.link(index, link.target.clone(), link.destination.clone());
        let shown = if link.text.is_empty() { &link.destination } else { &link.text };
        let shown = width::truncate(Safe::line(shown).as_str(), MAX_VALUE);
        let mut piece = run(format!("{shown}{mark}"), style, link.span.start);
        piece.link = Some(at);
        match &mut open {
            Some((before, runs)) if before == field => {
                runs.push(run(", ".to_owned(), theme.dim, link.span.start));
                runs.push(piece);
            }
            _ => {
                if let Some((field, runs)) = open.replace((field, vec![piece])) {
                    labelled(canvas, field, runs);
                }
            }
        }
    }
    if let Some((field, runs)) = open {
        labelled(canvas, field, runs);
    }
}

/// `key: value`, its further rows indented.
fn labelled(canvas: &mut Canvas<'_>, key: &str, value: Vec<Run>) {
    let offset = value.first().map_or(0, |r| r.source.start);
    let mut runs = vec![run(format!("{}: ", Safe::line(key)), canvas.theme.dim, offset)];
    runs.extend(value);
    canvas.push(Styled::raw(""), Styled::raw("  "), false);
    canvas.paragraph(&runs);
    canvas.pop();
}

/// Whether the value has been drawn in a way of its own.
fn is_shown(page: &Page, entry: &Entry, linked: &HashSet<Span>) -> bool {
    let matter = &page.frontmatter;
    let first = || matter.get(&entry.key).is_some_and(|node| std::ptr::eq(node, &entry.value));
    match (&entry.value.value, entry.key.as_str()) {
        (Value::String(_), key) if OWN.contains(&key) => first() && matter.text(key).is_some(),
        (Value::String(_), "tags") => first(),
        (Value::List(items), "tags") => first() && items.iter().all(|n| n.value.as_str().is_some()),
        (Value::List(items), "sources") => {
            let is_linked = |node: &Node| linked.contains(&node.value.get("resource").unwrap_or(node).span);
            !items.is_empty() && items.iter().all(is_linked)
        }
        (Value::String(_), _) => linked.contains(&entry.value.span),
        _ => false,
    }
}

/// A value on one line, as YAML's flow style would have it. Cut off soon after [`MAX_VALUE`].
fn compact(node: &Node) -> String {
    enum Step<'a> {
        Node(&'a Node),
        Key(&'a str),
        Text(&'static str),
    }
    let mut out = String::new();
    let mut steps = vec![Step::Node(node)];
    while let Some(step) = steps.pop() {
        if out.len() > 4 * MAX_VALUE {
            break;
        }
        match step {
            Step::Text(text) => out.push_str(text),
            Step::Key(key) => {
                let _ = write!(out, "{key}: ");
            }
            Step::Node(node) => match &node.value {
                Value::Null => out.push('–'),
                Value::Bool(value) => {
                    let _ = write!(out, "{value}");
                }
                Value::Number(text) | Value::String(text) => out.push_str(text.trim()),
                Value::List(items) => {
                    steps.push(Step::Text("]"));
                    for (index, item) in items.iter().enumerate().rev() {
                        steps.push(Step::Node(item));
                        if index > 0 {
                            steps.push(Step::Text(", "));
                        }
                    }
                    steps.push(Step::Text("["));
                }
                Value::Map(entries) => {
                    steps.push(Step::Text("}"));
                    for (index, entry) in entries.iter().enumerate().rev() {
                        steps.push(Step::Node(&entry.value));
                        steps.push(Step::Key(&entry.key));
                        if index > 0 {
                            steps.push(Step::Text(", "));
                        }
                    }
                    steps.push(Step::Text("{"));
                }
            },
        }
    }
    out
}

/// The block as it is written, so that it can be repaired by what is seen.
fn raw(canvas: &mut Canvas<'_>, page: &Page) {
    let theme = canvas.theme;
    let Some(block) = page.frontmatter.block else { return };
    let text = block.of(&page.text);
    let shown = super::head(text, MAX_RAW);
    let bar = Styled::styled("│ ", theme.border);
    canvas.push(bar.clone(), bar, false);
    let mut at = block.start;
    for line in shown.split_inclusive('\n') {
        canvas.at(at);
        canvas.paragraph(&[run(line.trim_end().to_owned(), theme.dim, at)]);
        at += line.len();
    }
    if shown.len() < text.len() {
        canvas.note(format!("… {} more bytes", text.len() - shown.len()));
    }
    canvas.pop();
}

fn run(text: String, style: ratatui::style::Style, offset: usize) -> Run {
    Run::new(text, style, offset..offset)
}
