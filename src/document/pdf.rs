//! PDF: the text by unpdf, page by page; pdfni, a port of pdf.js, for what unpdf cannot read and for tables without lines.

mod tables;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use pdfni::{ContentBlock, ExtractOptions, ExtractQuery, TextBlockKind};
use unpdf::render::{RenderOptions, to_markdown};
use unpdf::{Document, PageMarkerStyle, PageStreamOptions, ParseEvent, ParseOptions, PdfParser};

use super::output::Output;
use super::table::table;
use super::{Error, Kind, Place, Progress};

pub(super) fn convert(bytes: &[u8], progress: &(dyn Fn(Progress) + Sync)) -> Result<Output, Error> {
    let (document, mut pages) = match by_unpdf(bytes, progress) {
        Ok(read) => read,
        Err(unpdf::Error::Encrypted | unpdf::Error::InvalidPassword) => {
            return Err(Error::encrypted(Kind::Pdf));
        }
        Err(error) => match by_pdfni(bytes, None) {
            Ok(pages) => {
                (Document::new(), pages.into_iter().map(|(number, page)| (number, page.markdown)).collect())
            }
            Err(pdfni::Error::BadPassword | pdfni::Error::SecurityRestricted) => {
                return Err(Error::encrypted(Kind::Pdf));
            }
            Err(_) => return Err(Error::damaged(Kind::Pdf, error)),
        },
    };
    mend(bytes, &mut pages);
    let mut output = Output::default();
    let said = &document.metadata;
    // What a library writes when its caller says nothing.
    let own =
        |text: &Option<String>| text.clone().filter(|text| !text.starts_with('(') && text != "untitled");
    output.title = own(&said.title);
    output.say("author", own(&said.author).as_deref());
    output.say("subject", own(&said.subject).as_deref());
    output.say("keywords", said.keywords.as_deref());
    output.say("created", said.created.map(|at| at.format("%Y-%m-%d").to_string()).as_deref());
    let mut blank = Vec::new();
    for (number, page) in &pages {
        output.mark(Place::Page(*number));
        output.block(page);
        if page.trim().is_empty() {
            blank.push(number.to_string());
        }
    }
    if !blank.is_empty() {
        let (s, have) = if blank.len() == 1 { ("", "has") } else { ("s", "have") };
        output.notes.push(format!("Page{s} {} {have} no text layer: blank, or a picture.", blank.join(", ")));
    }
    Ok(output)
}

type Pages = BTreeMap<u32, String>;

fn by_unpdf(bytes: &[u8], progress: &(dyn Fn(Progress) + Sync)) -> unpdf::Result<(Document, Pages)> {
    let options = ParseOptions::new().lenient();
    let parser = PdfParser::from_bytes_with_options(bytes, options.clone())?;
    let mut document = Document::new();
    let total = parser.page_count();
    let mut pages: Pages = BTreeMap::new();
    let stream = PageStreamOptions::from(&options);
    parser.for_each_page(stream, |event| {
        match event {
            ParseEvent::DocumentStart { metadata, form_fields, .. } => {
                document.metadata = metadata;
                document.form_fields = form_fields;
            }
            ParseEvent::PageParsed(page) => {
                pages.insert(page.number, String::new());
                document.add_page(page);
            }
            ParseEvent::PageFailed { page, .. } => _ = pages.insert(page, String::new()),
            ParseEvent::Progress { done, .. } => progress(Progress { done, total }),
            ParseEvent::DocumentEnd { .. } => {}
        }
        ControlFlow::Continue(())
    })?;
    let options = RenderOptions::new().with_page_markers(PageMarkerStyle::Comment);
    let markdown = to_markdown(&document, &options)?;
    split(&markdown, &mut pages);
    Ok((document, pages))
}

/// Shares the text out to the pages whose markers it has. A line of the document that looks like a marker is not the next
/// page's, or is a text as good as one.
fn split(markdown: &str, pages: &mut Pages) {
    let mut current = 0;
    for line in markdown.split_inclusive('\n') {
        let marker =
            line.trim().strip_prefix("<!-- page ").and_then(|rest| rest.strip_suffix(" -->")?.parse().ok());
        match marker {
            Some(number) if number > current && pages.contains_key(&number) => current = number,
            _ => pages.entry(current.max(1)).or_default().push_str(line),
        }
    }
}

/// Puts pdfni's reading where it is the better one: for pages that unpdf read little or nothing of, and for tables.
fn mend(bytes: &[u8], pages: &mut Pages) {
    let doubtful: Vec<u32> = match pages.len() <= EVERY_PAGE {
        true => pages.keys().copied().collect(),
        false => pages.iter().filter(|(_, page)| is_doubtful(page)).map(|(number, _)| *number).collect(),
    };
    for some in doubtful.chunks(AT_ONCE) {
        let Ok(others) = by_pdfni(bytes, Some(some)) else { return };
        for (number, other) in others {
            let Some(page) = pages.get_mut(&number) else { continue };
            let (have, there) = (words(page), words(&other.markdown));
            if there >= FEW && (have as f64) < LITTLE * (there as f64) {
                *page = other.markdown;
            } else {
                *page = tables::splice(page, &other.tables);
            }
        }
    }
}

/// In a document of more pages, only those are read twice that look as if it paid.
const EVERY_PAGE: usize = 64;
/// Pages that pdfni reads at once: it keeps them all in memory.
const AT_ONCE: usize = 64;
/// A page with fewer words is not taken from pdfni.
const FEW: usize = 5;
/// unpdf has read too little of a page when it has this share of pdfni's words.
const LITTLE: f64 = 0.6;
/// Of a page's words that have a digit, where there may be a table.
const NUMBERS: f64 = 0.2;

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Whether a page is empty, or has the many numbers of a table and no table.
fn is_doubtful(page: &str) -> bool {
    let all = words(page);
    let numbers = page.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
    all < FEW || (!page.contains("\n| ") && numbers as f64 > NUMBERS * all as f64)
}

/// A page as pdfni reads it.
struct Other {
    markdown: String,
    tables: Vec<Vec<Vec<String>>>,
}

fn by_pdfni(bytes: &[u8], pages: Option<&[u32]>) -> Result<BTreeMap<u32, Other>, pdfni::Error> {
    let numbers = pages.map(|pages| pages.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    let query = ExtractQuery { pages: numbers.map(|numbers| numbers.parse()).transpose()?, region: None };
    let content =
        pdfni::extract_content_from_bytes_with_query(bytes, None, &ExtractOptions::default(), &query)?;
    let page = |page: &pdfni::ContentPage| {
        let blocks: Vec<String> =
            page.blocks.iter().map(block).filter(|block| !block.trim().is_empty()).collect();
        let tables = page.blocks.iter().filter_map(|block| match block {
            ContentBlock::Table(table) => Some(rows(table)),
            ContentBlock::Text(_) => None,
        });
        let other = Other { markdown: blocks.join("\n\n"), tables: tables.collect() };
        // The index counts the pages asked for.
        let number = match pages {
            Some(pages) => pages.get(page.index).copied().unwrap_or(0),
            None => u32::try_from(page.index + 1).unwrap_or(u32::MAX),
        };
        (number, other)
    };
    Ok(content.pages.iter().map(page).collect())
}

fn rows(table: &pdfni::Table) -> Vec<Vec<String>> {
    table.data.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect()
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Table(found) => table(&rows(found)),
        ContentBlock::Text(text) => match text.kind {
            TextBlockKind::Heading { level } => {
                format!("{} {}", "#".repeat(usize::from(level)), text.text.replace('\n', " "))
            }
            TextBlockKind::List { .. } => {
                text.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
            }
            TextBlockKind::Paragraph => text.text.clone(),
        },
    }
}
