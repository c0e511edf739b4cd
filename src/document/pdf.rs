//! PDF: the text by unpdf, page by page; pdfni, a port of pdf.js, for what unpdf cannot read and for tables without lines.

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
        Err(error) => match by_pdfni(bytes) {
            Ok(pages) => (Document::new(), pages),
            Err(pdfni::Error::BadPassword | pdfni::Error::SecurityRestricted) => {
                return Err(Error::encrypted(Kind::Pdf));
            }
            Err(_) => return Err(Error::damaged(Kind::Pdf, error)),
        },
    };
    if pages.values().all(|page| page.trim().is_empty())
        && let Ok(other) = by_pdfni(bytes)
    {
        pages = other;
    }
    let mut output = Output::default();
    let said = &document.metadata;
    output.title = said.title.clone();
    output.say("author", said.author.as_deref());
    output.say("subject", said.subject.as_deref());
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

fn by_pdfni(bytes: &[u8]) -> Result<Pages, pdfni::Error> {
    let content = pdfni::extract_content_from_bytes_with_query(
        bytes,
        None,
        &ExtractOptions::default(),
        &ExtractQuery::default(),
    )?;
    let page = |page: &pdfni::ContentPage| {
        let blocks: Vec<String> =
            page.blocks.iter().map(block).filter(|block| !block.trim().is_empty()).collect();
        (u32::try_from(page.index + 1).unwrap_or(u32::MAX), blocks.join("\n\n"))
    };
    Ok(content.pages.iter().map(page).collect())
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Table(found) => {
            let cells = |row: &Vec<pdfni::Cell>| row.iter().map(|cell| cell.text.clone()).collect();
            table(&found.data.iter().map(cells).collect::<Vec<Vec<String>>>())
        }
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
