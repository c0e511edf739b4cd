//! Word, Excel and PowerPoint, old and new, by undoc. Mended before it: equations and main parts of other names. Mended after
//! it: numbers and dates as a person writes them.

use undoc::render::{RenderOptions, to_markdown};
use undoc::{Block, Document, SectionMarkerStyle, Table};

use super::output::Output;
use super::{Error, Kind, Place, kind, math};

pub(super) fn convert(bytes: &[u8], kind: Kind) -> Result<Output, Error> {
    if kind::is_encrypted_package(bytes) {
        return Err(Error::encrypted(kind));
    }
    let mended = if kind == Kind::Docx { math::mend(bytes) } else { None };
    let parsed = undoc::parse_bytes(mended.as_ref().map_or(bytes, |(bytes, _)| bytes));
    let mut document = parsed.map_err(|error| match error {
        undoc::Error::Encrypted => Error::encrypted(kind),
        error => Error::damaged(kind, error),
    })?;
    let sheet = matches!(kind, Kind::Xlsx | Kind::Xls);
    let slide = matches!(kind, Kind::Pptx | Kind::Ppt);
    if sheet {
        mend_numbers(&mut document);
    }
    let mut output = Output::default();
    tell(&document, &mut output);
    let options = RenderOptions { max_heading_level: 6, ..RenderOptions::new() }.with_images(false);
    if !(sheet || slide) {
        let markdown = to_markdown(&document, &options).map_err(|error| Error::damaged(kind, error))?;
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

fn mend_numbers(document: &mut Document) {
    let blocks = document.sections.iter_mut().flat_map(|section| &mut section.content);
    for block in blocks {
        if let Block::Table(table) = block {
            mend_table(table);
        }
    }
}

fn mend_table(table: &mut Table) {
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
        for run in cell.content.iter_mut().flat_map(|paragraph| &mut paragraph.runs) {
            if let Some(text) = written(&run.text) {
                run.text = text;
            }
        }
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
