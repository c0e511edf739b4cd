//! What the parts of a line are, in the source of a page or of another file: headings, links, code, keys of the frontmatter.
//! Never decides what is shown, only how.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use ratatui::style::{Color, Modifier, Style};

use crate::okf::markdown::options;
use crate::okf::{BundlePath, Frontmatter};
use crate::tui::highlight;
use crate::tui::theme::Theme;

/// Most code and frontmatter of one text that is coloured, in bytes: more would stall the opening of a review for little.
const MAX_CODE: usize = 32 * 1024;

/// A longer text stays plain, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// Styled stretches of a text by line, as byte ranges of the line. A later one lies over an earlier.
#[derive(Debug, Default)]
pub struct Syntax {
    lines: Vec<Vec<(Range<usize>, Style)>>,
}

impl Syntax {
    pub fn of(path: &BundlePath, text: &str, theme: &Theme) -> Self {
        if text.len() > MAX_TEXT {
            return Self::default();
        }
        let mut painter = Painter::new(text);
        if path.is_markdown() {
            let head = Frontmatter::parse(text).block.map_or(0, |block| block.end);
            painter.code("yaml", 0..head, theme);
            painter.markdown(head, theme);
        } else {
            let kind = path.name().rsplit_once('.').map_or("", |(_, extension)| extension);
            painter.code(kind, 0..text.len(), theme);
        }
        painter.syntax
    }

    /// Of a line from 0.
    pub fn line(&self, at: usize) -> &[(Range<usize>, Style)] {
        self.lines.get(at).map_or(&[], Vec::as_slice)
    }
}

/// Green and red say what came and what went, so they say nothing else here.
fn neutral(style: Style) -> Style {
    match style.fg {
        Some(Color::Green | Color::Red) => Style { fg: None, ..style },
        _ => style,
    }
}

struct Painter<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
    left: usize,
    syntax: Syntax,
}

impl<'a> Painter<'a> {
    fn new(text: &'a str) -> Self {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let syntax = Syntax { lines: vec![Vec::new(); starts.len()] };
        Self { text, starts, left: MAX_CODE, syntax }
    }

    fn paint(&mut self, range: Range<usize>, style: Style) {
        let style = neutral(style);
        if style == Style::default() {
            return;
        }
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        for (start, line) in self.starts.iter().zip(&mut self.syntax.lines).skip(first) {
            if *start >= range.end {
                break;
            }
            line.push((range.start.saturating_sub(*start)..range.end - start, style));
        }
    }

    fn code(&mut self, language: &str, range: Range<usize>, theme: &Theme) {
        let Some(left) = self.left.checked_sub(range.len()) else { return };
        self.left = left;
        let code = self.text.get(range.clone()).unwrap_or_default();
        let mut at = range.start;
        let lines = highlight::highlight(language, code);
        for (line, stretches) in code.split_inclusive('\n').zip(lines.iter()) {
            for (kind, part) in stretches {
                self.paint(at + part.start..at + part.end, kind.style(theme));
            }
            at += line.len();
        }
    }

    fn markdown(&mut self, from: usize, theme: &Theme) {
        let source = self.text.get(from..).unwrap_or_default();
        let mut block: Option<(String, Option<Range<usize>>)> = None;
        for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
            let range = from + range.start..from + range.end;
            match event {
                Event::Start(Tag::Heading { level, .. }) => self.paint(range, theme.heading(level as u8)),
                Event::Start(Tag::Emphasis) => {
                    self.paint(range, Style::default().add_modifier(Modifier::ITALIC))
                }
                Event::Start(Tag::Strong) => self.paint(range, theme.strong),
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) | Event::FootnoteReference(_) => {
                    self.paint(range, theme.link);
                }
                Event::Code(_) => self.paint(range, theme.code_type),
                Event::Html(_) | Event::InlineHtml(_) | Event::Rule => self.paint(range, theme.code_comment),
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some((info, None));
                }
                Event::Text(_) => {
                    if let Some((_, code)) = &mut block {
                        let start = code.as_ref().map_or(range.start, |code: &Range<usize>| code.start);
                        *code = Some(start..range.end);
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((info, Some(code))) = block.take() {
                        self.code(&info, code, theme);
                    }
                }
                _ => {}
            }
        }
    }
}
