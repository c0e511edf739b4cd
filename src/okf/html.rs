//! Tags in raw HTML: just enough of the HTML syntax (WHATWG, 13.2.5) to find attributes and to stay out of comments
//! and scripts. One pass, linear in the text.

use std::ops::Range;

/// Elements whose content is text, not markup.
const RAW_TEXT: [&str; 8] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// A start or end tag. Ranges are offsets into the text given.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HtmlTag<'a> {
    /// As written.
    pub name: &'a str,
    pub closing: bool,
    pub range: Range<usize>,
    /// Name as written and the range of the raw value, quotes excluded.
    pub attributes: Vec<(&'a str, Range<usize>)>,
}

impl HtmlTag<'_> {
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The raw value of the first attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<Range<usize>> {
        self.attributes.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, range)| range.clone())
    }
}

/// The complete tags of `html` in order.
pub(super) fn tags(html: &str) -> Vec<HtmlTag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(found) = html.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + found;
        let rest = html.get(start..).unwrap_or("");
        // An unclosed construct swallows everything after it.
        let skipped = if let Some(comment) = rest.strip_prefix("<!--") {
            // `<!-->` and `<!--->` are whole comments.
            if comment.starts_with('>') {
                Some(5)
            } else if comment.starts_with("->") {
                Some(6)
            } else {
                comment.find("-->").map(|i| 4 + i + 3)
            }
        } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
            data.find("]]>").map(|i| 9 + i + 3)
        } else if let Some(instruction) = rest.strip_prefix("<?") {
            instruction.find("?>").map(|i| 2 + i + 2)
        } else if rest.starts_with("<!") {
            rest.find('>').map(|i| i + 1)
        } else {
            match tag(html, start) {
                Read::Tag(tag) => {
                    let mut end = Some(tag.range.end);
                    if !tag.closing && RAW_TEXT.iter().any(|name| tag.is(name)) {
                        end = closing_of(html, tag.range.end, tag.name);
                    }
                    tags.push(tag);
                    end.map(|end| end - start)
                }
                Read::Text => Some(1),
                Read::Unclosed => None,
            }
        };
        match skipped {
            Some(len) => at = start + len,
            None => break,
        }
    }
    tags
}

enum Read<'a> {
    Tag(HtmlTag<'a>),
    /// The `<` is only text.
    Text,
    Unclosed,
}

fn tag(html: &str, start: usize) -> Read<'_> {
    let bytes = html.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let skip = |from: usize, wanted: fn(u8) -> bool| {
        bytes.get(from..).map_or(from, |rest| from + rest.iter().take_while(|b| wanted(**b)).count())
    };
    let blank = |b: u8| b.is_ascii_whitespace();
    let closing = byte(start + 1) == Some(b'/');
    let name_start = start + 1 + usize::from(closing);
    if !byte(name_start).is_some_and(|b| b.is_ascii_alphabetic()) {
        return Read::Text;
    }
    let name_end = skip(name_start, |b| !b.is_ascii_whitespace() && b != b'/' && b != b'>');
    let name = html.get(name_start..name_end).unwrap_or("");
    let mut attributes = Vec::new();
    let mut at = name_end;
    loop {
        at = skip(at, |b| b.is_ascii_whitespace() || b == b'/');
        match byte(at) {
            None => return Read::Unclosed,
            Some(b'>') => {
                return Read::Tag(HtmlTag { name, closing, range: start..at + 1, attributes });
            }
            Some(_) => {}
        }
        // An attribute name may start with any other character, `=` included.
        let attribute_end = skip(at + 1, |b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'>' | b'='));
        let attribute = html.get(at..attribute_end).unwrap_or("");
        let equals = skip(attribute_end, blank);
        if byte(equals) != Some(b'=') {
            attributes.push((attribute, attribute_end..attribute_end));
            at = attribute_end;
            continue;
        }
        let value = skip(equals + 1, blank);
        match byte(value) {
            Some(quote @ (b'"' | b'\'')) => {
                let Some(len) = bytes.get(value + 1..).and_then(|rest| rest.iter().position(|b| *b == quote))
                else {
                    return Read::Unclosed;
                };
                attributes.push((attribute, value + 1..value + 1 + len));
                at = value + 1 + len + 1;
            }
            _ => {
                let end = skip(value, |b| !b.is_ascii_whitespace() && b != b'>');
                attributes.push((attribute, value..end));
                at = end;
            }
        }
    }
}

/// Where `</name` starts after `from`.
fn closing_of(html: &str, from: usize, name: &str) -> Option<usize> {
    let mut at = from;
    while let Some(found) = html.get(at..)?.find("</") {
        let name_start = at + found + 2;
        if html.get(name_start..name_start + name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name)) {
            return Some(at + found);
        }
        at = name_start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn attributes(html: &str) -> Vec<(String, String, String)> {
        tags(html)
            .iter()
            .flat_map(|t| {
                t.attributes
                    .iter()
                    .map(|(n, r)| (t.name.to_owned(), (*n).to_owned(), html[r.clone()].to_owned()))
            })
            .collect()
    }

    #[test]
    fn attributes_in_every_spelling() {
        let got = attributes("<A HREF='x y' id=b/c>\n<img\n src = \"p.png\" hidden/><br/><i =a=b>");
        let want = [
            ("A", "HREF", "x y"),
            ("A", "id", "b/c"),
            ("img", "src", "p.png"),
            ("img", "hidden", ""),
            ("i", "=a", "b"),
        ];
        assert_eq!(got, want.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn comments_scripts_and_text_hold_no_tags() {
        let html = "<!-- <a href=x> --><![CDATA[<a>]]><?p <a> ?><!D <a>1 < 2 <!--><b><script>'<a>'</SCRIPT>";
        let names: Vec<_> = tags(html).iter().map(|t| (t.name, t.closing)).collect();
        assert_eq!(names, [("b", false), ("script", false), ("SCRIPT", true)]);
        assert!(tags("<!-- <a href=x>").is_empty());
        assert!(tags("<a href=\"x").is_empty());
        assert!(tags("<a <a <a").is_empty());
    }

    proptest! {
        #[test]
        fn ranges_lie_in_the_text(html in "[<>/a!\\-='\" ?é\\[\\]]{0,40}") {
            for tag in tags(&html) {
                prop_assert!(html[tag.range.clone()].starts_with('<') && html[tag.range.clone()].ends_with('>'));
                for (_, value) in &tag.attributes {
                    prop_assert!(html.get(value.clone()).is_some());
                }
            }
        }
    }
}
