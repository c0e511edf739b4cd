//! Word, Excel and PowerPoint, old and new, by undoc. Mended before it: equations and main parts of other names. Mended after
//! it: numbers and dates as a person writes them.

use undoc::render::{RenderOptions, to_markdown};
use undoc::{Block, Document, Paragraph, SectionMarkerStyle, Table, TextRun};

use super::output::Output;
use super::table;
use super::{Error, Kind, Place, math};

pub(super) fn convert(bytes: &[u8], kind: Kind) -> Result<Output, Error> {
    let mended = if kind == Kind::Docx { math::mend(bytes) } else { None };
    let parsed = undoc::parse_bytes(mended.as_ref().map_or(bytes, |(bytes, _)| bytes));
    let mut document = parsed.map_err(|error| match error {
        undoc::Error::Encrypted => Error::encrypted(kind),
        error => Error::damaged(kind, error),
    })?;
    let sheet = matches!(kind, Kind::Xlsx | Kind::Xls);
    let slide = matches!(kind, Kind::Pptx | Kind::Ppt);
    for section in &mut document.sections {
        let mut comments = Vec::new();
        for block in &mut section.content {
            if let Block::Table(table) = block {
                mend(table, sheet, &mut comments);
            }
        }
        for comment in comments {
            section.add_paragraph(Paragraph::with_text(comment));
        }
        // "Slide 3" says no more than its marker.
        section.name.take_if(|_| slide);
        // undoc takes a sheet's name as it stands in the XML.
        if let Some(name) = &mut section.name
            && let Ok(plain) = quick_xml::escape::unescape(name)
        {
            *name = plain.into_owned();
        }
    }
    let mut output = Output::default();
    tell(&document, &mut output);
    let options = RenderOptions { max_heading_level: 6, ..RenderOptions::new() }
        .with_images(false)
        .with_preserve_breaks(true);
    if !(sheet || slide) {
        let markdown = to_markdown(&document, &options).map_err(|error| Error::damaged(kind, error))?;
        let markdown = boxes(&markdown);
        output.block(&mended.map_or(markdown.clone(), |(_, equations)| equations.put_back(&markdown)));
        return Ok(output);
    }
    let options = options.with_section_markers(SectionMarkerStyle::None);
    let sections = std::mem::take(&mut document.sections);
    for (number, section) in (1..).zip(sections) {
        let name = section.name.clone().unwrap_or_default();
        output.mark(match slide {
            true => Place::Slide(number),
            false => Place::Sheet { number, name },
        });
        document.sections = vec![section];
        let markdown = to_markdown(&document, &options).map_err(|error| Error::damaged(kind, error))?;
        output.block(&markdown);
    }
    Ok(output)
}

fn tell(document: &Document, output: &mut Output) {
    let said = &document.metadata;
    output.title = said.title.clone();
    output.say("author", said.author.as_deref());
    output.say("subject", said.subject.as_deref());
    output.say("description", said.description.as_deref());
    output.say("keywords", Some(&said.keywords.join(", ")));
    output.say("created", said.created.as_deref());
    output.say("modified", said.modified.as_deref());
}

/// Check boxes as markdown has them.
fn boxes(markdown: &str) -> String {
    if !markdown.contains(['☐', '☑', '☒']) {
        return markdown.to_owned();
    }
    let lines = markdown.split_inclusive('\n').map(|line| {
        let line =
            if line.starts_with(['☐', '☑', '☒']) { format!("- {line}") } else { line.to_owned() };
        line.replace('☐', "[ ]").replace(['☑', '☒'], "[x]")
    });
    lines.collect()
}

/// Repeats merged cells, writes the numbers and dates of a sheet as a person does, and takes comments out of its cells.
fn mend(table: &mut Table, sheet: bool, comments: &mut Vec<String>) {
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
        for nested in &mut cell.nested_tables {
            mend(nested, false, comments);
        }
        if !sheet {
            continue;
        }
        let shown = cell.content.iter().flat_map(|p| &p.runs).find(|run| comment(run).is_none());
        let shown = shown.map(|run| run.text.trim().to_owned()).unwrap_or_default();
        for paragraph in &mut cell.content {
            paragraph.runs.retain(|run| match comment(run) {
                Some(text) => {
                    comments.push(match shown.is_empty() {
                        true => format!("Comment: {text}"),
                        false => format!("Comment on “{shown}”: {text}"),
                    });
                    false
                }
                None => true,
            });
            for run in &mut paragraph.runs {
                if let Some(text) = written(&run.text) {
                    run.text = text;
                }
            }
        }
    }
    let mut rows: Vec<Vec<Data>> = table
        .rows
        .iter_mut()
        .map(|row| std::mem::take(&mut row.cells).into_iter().map(Data).collect())
        .collect();
    table::resolve(&mut rows);
    for (row, cells) in table.rows.iter_mut().zip(rows) {
        row.cells = cells.into_iter().map(|cell| cell.0).collect();
    }
    table.rows.retain(|row| !row.cells.is_empty());
}

/// The text of a comment, which undoc puts into the cell, without what Excel writes for its older versions.
fn comment(run: &TextRun) -> Option<String> {
    let text = run.text.trim_start().strip_prefix("[Comment: ")?.trim_end().strip_suffix(']')?;
    let text = match text.strip_prefix("[Threaded comment]") {
        Some(threaded) => threaded.split_once("Comment:").map_or(threaded, |(_, own)| own),
        None => text,
    };
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A cell with more in it, in bytes, is not repeated.
const SHORT: usize = 1024;

#[derive(Debug, Clone)]
struct Data(undoc::Cell);

impl Default for Data {
    fn default() -> Self {
        Self(undoc::Cell::new())
    }
}

impl table::Cell for Data {
    fn span(&self) -> (usize, usize) {
        let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX).max(1);
        (count(self.0.col_span), count(self.0.row_span))
    }

    fn shrink(&mut self) {
        (self.0.col_span, self.0.row_span) = (1, 1);
    }

    fn is_short(&self) -> bool {
        self.0.nested_tables.is_empty() && self.0.plain_text().len() <= SHORT
    }
}

/// A number or a point in time as a person writes it; `None` where it is already, or is neither. Excel keeps binary fractions
/// with 17 digits, and shows at most 15 of them.
fn written(text: &str) -> Option<String> {
    if let Some((date, time)) = text.split_once('T')
        && date.len() == 10
        && date.parse::<jiff::civil::Date>().is_ok()
        && time.parse::<jiff::civil::Time>().is_ok()
    {
        return Some(match time {
            "00:00:00" => date.to_owned(),
            _ => format!("{date} {time}"),
        });
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let long = text.contains(['e', 'E']) || text.bytes().filter(u8::is_ascii_digit).count() > 15;
    if !is_number || !long || !text.contains(['.', 'e', 'E']) {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    let rounded: f64 = format!("{number:.14e}").parse().ok()?;
    let plain = rounded.abs() < 1e15 && (rounded == 0.0 || rounded.abs() >= 1e-6);
    let shown = if plain { format!("{rounded}") } else { format!("{rounded:e}") };
    (shown != text).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn numbers_and_dates_are_written_as_excel_shows_them() {
        for (text, wanted) in [
            ("2.5000000000000001E-2", "0.025"),
            ("0.30000000000000004", "0.3"),
            ("1.0E+2", "100"),
            ("6.02214076E23", "6.02214076e23"),
            ("2024-03-01T00:00:00", "2024-03-01"),
            ("2024-03-01T12:30:00", "2024-03-01 12:30:00"),
        ] {
            assert_eq!(written(text).as_deref(), Some(wanted), "{text}");
        }
        for text in ["", "12", "3.14", "-", "E", "12345678901234567890", "T", "1.2.3", "2024-03-01", "abc"] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
