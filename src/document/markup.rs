//! XML: feeds become headings and entries, anything else is shown as it stands.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::html;
use super::output::Output;

/// `text` as a code block whose fence does not occur in it.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// The value of an attribute, its escapes undone.
pub(super) fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let value = element.try_get_attribute(name).ok()??.value;
    Some(quick_xml::escape::unescape(&value).map_or_else(|_| value.to_string(), |text| text.into_owned()))
}

/// What `&amp;` or `&#8364;` stands for; nothing for an entity that XML does not know.
pub(super) fn entity(reference: &BytesRef) -> String {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => c.to_string(),
        _ => quick_xml::escape::resolve_predefined_entity(reference).unwrap_or_default().to_owned(),
    }
}

pub(super) fn convert(text: &str) -> Output {
    match feed(text) {
        Some(feed) if !feed.is_blank() => feed,
        _ => Output::of(fenced("xml", text)),
    }
}

/// Without its namespace prefix, in lower case, but `content:encoded` and `dc:date` keep theirs, which tells them apart.
fn name(element: &BytesStart) -> String {
    let full = element.name().as_ref().to_ascii_lowercase();
    match full.as_str() {
        "content:encoded" | "dc:date" | "dc:creator" => full,
        _ => full.rsplit(':').next().unwrap_or_default().to_owned(),
    }
}

/// RSS 0.9x, 1.0 and 2.0, and Atom (RFC 4287). `None` if it is no feed.
fn feed(text: &str) -> Option<Output> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut output = Output::default();
    let mut path: Vec<String> = Vec::new();
    let mut is_feed = false;
    let mut entry = Entry::default();
    let mut channel = Entry::default();
    let mut channel_told = false;
    let mut value = String::new();
    loop {
        let event = reader.read_event().ok()?;
        match event {
            Event::Start(element) => {
                let name = name(&element);
                if path.is_empty() {
                    is_feed = matches!(name.as_str(), "rss" | "feed" | "rdf");
                    if !is_feed {
                        return None;
                    }
                }
                if matches!(name.as_str(), "item" | "entry") {
                    entry = Entry::default();
                    if !channel_told {
                        channel_told = true;
                        channel.tell(1, &mut output);
                    }
                }
                value.clear();
                path.push(name);
            }
            Event::Empty(element) => {
                if name(&element) == "link"
                    && let Some(href) = attribute(&element, "href")
                {
                    let inside = path.iter().any(|name| matches!(name.as_str(), "item" | "entry"));
                    let target = if inside { &mut entry } else { &mut channel };
                    target.link.get_or_insert(href);
                }
            }
            Event::Text(part) => value.push_str(&part),
            Event::CData(part) => value.push_str(&part),
            Event::GeneralRef(reference) => value.push_str(&entity(&reference)),
            Event::End(_) => {
                let name = path.pop()?;
                let inside = path.iter().any(|name| matches!(name.as_str(), "item" | "entry"));
                if matches!(name.as_str(), "item" | "entry") {
                    entry.tell(2, &mut output);
                } else if path.len() <= 3 {
                    let target = if inside { &mut entry } else { &mut channel };
                    target.take(&name, path.last().map(String::as_str), value.trim());
                }
                value.clear();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if is_feed && !channel_told {
        channel.tell(1, &mut output);
    }
    output.title = channel.title;
    Some(output)
}

/// What a channel or one of its entries says.
#[derive(Debug, Default)]
struct Entry {
    title: Option<String>,
    link: Option<String>,
    date: Option<String>,
    author: Option<String>,
    bodies: Vec<String>,
}

impl Entry {
    fn take(&mut self, name: &str, parent: Option<&str>, value: &str) {
        if value.is_empty() {
            return;
        }
        let value = value.to_owned();
        match (name, parent) {
            // Of the channel's picture, not of the channel.
            (_, Some("image" | "textinput")) => {}
            ("title", _) => _ = self.title.get_or_insert(value),
            ("link", _) => _ = self.link.get_or_insert(value),
            ("pubdate" | "published" | "updated" | "dc:date" | "lastbuilddate", _) => {
                self.date.get_or_insert(value);
            }
            ("author" | "dc:creator", _) | ("name", Some("author")) => _ = self.author.get_or_insert(value),
            ("description" | "summary" | "subtitle" | "content" | "content:encoded", _) => {
                self.bodies.push(value)
            }
            _ => {}
        }
    }

    fn tell(&self, level: usize, output: &mut Output) {
        if let Some(title) = &self.title {
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            output.block(&format!("{} {title}", "#".repeat(level)));
        }
        let lines = [("Published", &self.date), ("Author", &self.author), ("Link", &self.link)];
        let said: Vec<String> =
            lines.iter().filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?))).collect();
        output.block(&said.join("  \n"));
        for body in &self.bodies {
            match body.contains('<') {
                true => output.block(&html::markdown(body).unwrap_or_else(|_| body.clone())),
                false => output.block(body),
            }
        }
    }
}
