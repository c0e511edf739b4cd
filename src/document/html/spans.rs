//! Merged cells of HTML tables, repeated where they cover before the page is converted (HTML standard, 4.9.12). Works on the
//! tags alone; everything else goes through as it is.

use std::borrow::Cow;

use crate::document::table::{self, Cell};

/// Tables nested deeper are left as they are.
const DEPTH: usize = 16;
/// A cell with more in it, in bytes, is not repeated.
const SHORT: usize = 1024;

#[derive(Debug, Clone, Default)]
struct Data {
    /// With its tags; empty for a place that a long cell covers.
    open: String,
    inner: String,
    span: (usize, usize),
}

impl Cell for Data {
    fn span(&self) -> (usize, usize) {
        (self.span.0.max(1), self.span.1.max(1))
    }

    fn shrink(&mut self) {
        self.span = (1, 1);
    }

    fn is_short(&self) -> bool {
        self.inner.len() <= SHORT
    }
}

/// A table whose end was not seen yet.
#[derive(Debug, Default)]
struct Table {
    /// What stands before each row, with the row's own tag, and its cells.
    leads: Vec<String>,
    rows: Vec<Vec<Data>>,
    /// What stands outside of cells since the last row began.
    between: String,
    cell: Option<Data>,
}

impl Table {
    fn sink(&mut self) -> &mut String {
        match &mut self.cell {
            Some(cell) => &mut cell.inner,
            None => &mut self.between,
        }
    }

    fn end_cell(&mut self) {
        if let Some(cell) = self.cell.take() {
            if self.rows.is_empty() {
                self.begin_row("<tr>");
            }
            if let Some(row) = self.rows.last_mut() {
                row.push(cell);
            }
        }
    }

    fn begin_row(&mut self, tag: &str) {
        self.end_cell();
        self.leads.push(std::mem::take(&mut self.between) + tag);
        self.rows.push(Vec::new());
    }

    fn written(mut self) -> String {
        self.end_cell();
        table::resolve(&mut self.rows);
        let mut out = String::new();
        for (lead, row) in self.leads.iter().zip(&self.rows) {
            match row.is_empty() {
                // Without the row's own tag: it has no cells, or the next row says them.
                true => out.push_str(lead.rfind('<').and_then(|tag| lead.get(..tag)).unwrap_or(lead)),
                false => out.push_str(lead),
            }
            for cell in row {
                let open = if cell.open.is_empty() { "<td>" } else { &cell.open };
                let close = if open.get(1..3).is_some_and(|name| name.eq_ignore_ascii_case("th")) {
                    "</th>"
                } else {
                    "</td>"
                };
                out.push_str(open);
                out.push_str(&cell.inner);
                out.push_str(close);
            }
        }
        out.push_str(&self.between);
        out
    }
}

pub(super) fn resolve(text: &str) -> Cow<'_, str> {
    // Whatever is not ASCII stays, so that places in it are places in the text.
    let lower = text.to_ascii_lowercase();
    if !lower.contains("colspan") && !lower.contains("rowspan") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut open: Vec<Table> = Vec::new();
    let mut deeper = 0_usize;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        sink(&mut open, &mut out).push_str(before);
        let (piece, after) = piece(from);
        rest = after;
        let name = name(piece);
        match name.as_str() {
            "table" if open.len() < DEPTH => {
                sink(&mut open, &mut out).push_str(piece);
                open.push(Table::default());
                continue;
            }
            "table" => deeper += 1,
            "/table" if deeper > 0 => deeper -= 1,
            "/table" => {
                if let Some(table) = open.pop() {
                    let written = table.written();
                    sink(&mut open, &mut out).push_str(&written);
                }
            }
            "tr" | "td" | "th" | "/td" | "/th" | "/tr" | "tbody" | "thead" | "tfoot" | "/tbody"
            | "/thead" | "/tfoot"
                if deeper == 0 =>
            {
                if let Some(table) = open.last_mut() {
                    match name.as_str() {
                        "tr" => table.begin_row(piece),
                        "td" | "th" => {
                            table.end_cell();
                            table.cell = Some(Data {
                                open: without_spans(piece),
                                inner: String::new(),
                                span: (number(piece, "colspan"), number(piece, "rowspan")),
                            });
                        }
                        "/td" | "/th" => table.end_cell(),
                        _ => {
                            table.end_cell();
                            table.between.push_str(piece);
                        }
                    }
                    continue;
                }
            }
            _ => {}
        }
        sink(&mut open, &mut out).push_str(piece);
    }
    sink(&mut open, &mut out).push_str(rest);
    while let Some(table) = open.pop() {
        let written = table.written();
        sink(&mut open, &mut out).push_str(&written);
    }
    Cow::Owned(out)
}

fn sink<'a>(open: &'a mut [Table], out: &'a mut String) -> &'a mut String {
    match open.last_mut() {
        Some(table) => table.sink(),
        None => out,
    }
}

/// The tag, comment, or element of raw text that `text` begins with, and what follows.
fn piece(text: &str) -> (&str, &str) {
    let end = if text.starts_with("<!--") {
        text.find("-->").map(|at| at + 3)
    } else if let Some(raw) = ["script", "style", "textarea", "title"].iter().find(|raw| name(text) == **raw)
    {
        let close = format!("</{raw}");
        let found = (1..text.len()).find(|at| {
            text.as_bytes().get(*at..).is_some_and(|tail| {
                tail.get(..close.len()).is_some_and(|head| head.eq_ignore_ascii_case(close.as_bytes()))
            })
        });
        found.and_then(|at| text.get(at..)?.find('>').map(|end| at + end + 1))
    } else {
        tag_end(text)
    };
    text.split_at(end.unwrap_or(text.len()))
}

/// Behind the `>` that ends a tag, those in quotes set aside.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            // No tag after all.
            (None, b'<') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // A quote that is never closed is none.
    text.find('>').map(|at| at + 1)
}

/// `td`, or `/td` for an end tag, in lower case.
fn name(tag: &str) -> String {
    let inner = tag.strip_prefix('<').unwrap_or(tag);
    let name: String = inner
        .chars()
        .enumerate()
        .take_while(|(at, c)| c.is_ascii_alphanumeric() || (*at == 0 && *c == '/'))
        .map(|(_, c)| c)
        .collect();
    name.to_ascii_lowercase()
}

/// Where an attribute stands in a tag, and its number; 1 if there is none, or none that counts.
fn number(tag: &str, attribute: &str) -> usize {
    place(tag, attribute)
        .and_then(|(from, to)| {
            let digits: String = tag.get(from..to)?.chars().filter(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .unwrap_or(1)
}

fn place(tag: &str, attribute: &str) -> Option<(usize, usize)> {
    let from = tag.to_ascii_lowercase().find(attribute)?;
    let value = tag.get(from + attribute.len()..)?;
    let start = value.len() - value.trim_start_matches([' ', '=', '\n', '\t']).len();
    let value = value.get(start..)?;
    let length = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.find(quote)? + 2,
        _ => value.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(value.len()),
    };
    Some((from, from + attribute.len() + start + length))
}

fn without_spans(tag: &str) -> String {
    let mut tag = tag.to_owned();
    for attribute in ["colspan", "rowspan"] {
        if let Some((from, to)) = place(&tag, attribute) {
            tag.replace_range(from..to, "");
        }
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn merged_cells_are_repeated_and_the_rest_stays() {
        let page = "<p>x &lt; y</p><TABLE><tr><th colspan=2>A<th rowspan='2'>B</tr>\
                    <tr><td>1</td><td>2</td></tr></TABLE><!-- <td colspan=3> -->é";
        assert_eq!(
            resolve(page),
            "<p>x &lt; y</p><TABLE><tr><th >A</th><th >A</th><th >B</th></tr>\
             <tr><td>1</td><td>2</td><th >B</th></tr></TABLE><!-- <td colspan=3> -->é"
        );
    }

    #[test]
    fn a_table_in_a_cell_and_one_cut_off_keep_their_text() {
        let page = "<table><tr><td colspan=\"2\">a<table><tr><td rowspan=2>b</td><td>c</td></tr><tr><td>d</table></td></tr><tr><td>e<td>f";
        let text = resolve(page);
        for letter in ["b</td><td>c", "b</td><td>d", "e</td><td>f"] {
            assert!(text.contains(letter), "{letter}: {text}");
        }
    }

    #[test]
    fn scripts_and_broken_tags_do_no_harm() {
        for page in [
            "<script>if (a<b) '<td colspan=2>'</script><td colspan",
            "<table colspan=2",
            "<",
            "<td colspan=\"",
            "<table><td rowspan=99999999999999999999>é</table>",
            "</table></td><tr><td colspan=3>",
            "<script colspan>",
        ] {
            let text = resolve(page);
            assert!(!text.is_empty(), "{page}");
        }
    }
}
