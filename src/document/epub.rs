//! EPUB books (EPUB 3.3 and 2): the package says which pages there are and in which order; each is an HTML page.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::markup::{attribute, entity};
use super::output::Output;
use super::{Error, Kind, Limits, Place, archive, charset, html};

pub(super) fn convert(bytes: &[u8], limits: &Limits) -> Result<Output, Error> {
    let damaged = |detail: &str| Error::damaged(Kind::Epub, detail);
    let mut file = archive::open(bytes).map_err(|error| Error::damaged(Kind::Epub, error))?;
    let mut part = |name: &str| archive::part(&mut file, name, limits.unpacked);
    let container =
        part("META-INF/container.xml").ok_or_else(|| damaged("it has no META-INF/container.xml"))?;
    let path = rootfile(&charset::decode(&container)).ok_or_else(|| damaged("it names no package file"))?;
    let text = part(&path).ok_or_else(|| damaged("its package file is missing"))?;
    let package = package(&charset::decode(&text));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut output = Output::default();
    package.tell(&mut output);
    let mut missing = 0;
    for (number, id) in (1..).zip(&package.spine) {
        let page = package.manifest.get(id).and_then(|target| part(&resolve(folder, target)));
        match page {
            Some(page) => {
                let markdown = html::markdown(&charset::decode(&page))?;
                output.mark(Place::Chapter(number));
                output.block(&markdown);
            }
            None => missing += 1,
        }
    }
    if missing > 0 {
        output
            .notes
            .push(format!("{missing} of the book's {} parts are missing in the file.", package.spine.len()));
    }
    Ok(output)
}

/// The address of `target` from the package's folder, its escapes undone and its `..` followed.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let target = percent_decode_str(target).decode_utf8_lossy();
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = path.pop(),
            part => path.push(part),
        }
    }
    path.join("/")
}

fn rootfile(xml: &str) -> Option<String> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) | Event::Empty(element) if element.local_name().as_ref() == "rootfile" => {
                return attribute(&element, "full-path");
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

#[derive(Debug, Default)]
struct Package {
    /// Of the Dublin Core elements, in their order.
    metadata: Vec<(String, String)>,
    /// Identifier to address.
    manifest: HashMap<String, String>,
    spine: Vec<String>,
}

/// Reads as far as the package is well-formed.
fn package(xml: &str) -> Package {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut package = Package::default();
    let mut element_name = String::new();
    let mut value = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                let name = element.local_name().as_ref().to_owned();
                match name.as_str() {
                    "item" => {
                        if let (Some(id), Some(href)) =
                            (attribute(&element, "id"), attribute(&element, "href"))
                        {
                            package.manifest.insert(id, href);
                        }
                    }
                    "itemref" => package.spine.extend(attribute(&element, "idref")),
                    _ => {}
                }
                value.clear();
                element_name = name;
            }
            Ok(Event::Text(text)) => value.push_str(&text),
            Ok(Event::CData(text)) => value.push_str(&text),
            Ok(Event::GeneralRef(reference)) => value.push_str(&entity(&reference)),
            Ok(Event::End(_)) => {
                let text = value.split_whitespace().collect::<Vec<_>>().join(" ");
                if NAMES.iter().any(|(name, _)| *name == element_name) && !text.is_empty() {
                    package.metadata.push((std::mem::take(&mut element_name), text));
                }
                value.clear();
            }
            Ok(Event::Eof) | Err(_) => return package,
            _ => {}
        }
    }
}

/// What a book says of itself, and how that is headed in the text.
const NAMES: [(&str, &str); 7] = [
    ("title", "Title"),
    ("creator", "Authors"),
    ("language", "Language"),
    ("publisher", "Publisher"),
    ("date", "Date"),
    ("description", "Description"),
    ("identifier", "Identifier"),
];

impl Package {
    fn tell(&self, output: &mut Output) {
        let mut lines = Vec::new();
        for (name, shown) in NAMES {
            let values: Vec<&str> = self
                .metadata
                .iter()
                .filter(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
                .collect();
            if values.is_empty() {
                continue;
            }
            let value = values.join(", ");
            lines.push(format!("**{shown}:** {value}"));
            match name {
                "title" => output.title = Some(value),
                "creator" => output.say("author", Some(&value)),
                "date" => output.say("created", Some(&value)),
                name => output.say(name, Some(&value)),
            }
        }
        output.block(&lines.join("  \n"));
    }
}
