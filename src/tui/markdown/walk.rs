//! From markdown events to blocks on the canvas. Iterative, so that no nesting overflows a stack.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::flow::{Canvas, Run};
use super::table::Table;
use crate::okf::markdown::options;
use crate::okf::{BundlePath, Link, Page, Target, slug};
use crate::text::{Safe, width};
use crate::tui::highlight;

/// Where links and headings of the text are known from.
pub enum Facts<'a> {
    Page { page: &'a Page, broken: &'a dyn Fn(&Link) -> bool },
    Text { at: &'a BundlePath },
}

struct Walk<'c, 'a> {
    canvas: &'c mut Canvas<'a>,
    facts: &'c Facts<'c>,
    base: usize,
    runs: Vec<Run>,
    styles: Vec<Style>,
    link: Option<usize>,
    /// A mark to put after the link that ends: it leads nowhere.
    lost: bool,
    lists: Vec<Option<u64>>,
    heading: Option<(u8, usize)>,
    code: Option<(String, String, usize)>,
    table: Option<Table>,
    /// Images open within a link, which they belong to.
    nested: usize,
    texts: usize,
}

pub fn draw(canvas: &mut Canvas<'_>, source: &str, base: usize, facts: &Facts<'_>) {
    let style = canvas.theme.text;
    let mut walk = Walk {
        canvas,
        facts,
        base,
        runs: Vec::new(),
        styles: vec![style],
        link: None,
        lost: false,
        lists: Vec::new(),
        heading: None,
        code: None,
        table: None,
        nested: 0,
        texts: 0,
    };
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        walk.event(event, range);
    }
    walk.flush();
}

impl Walk<'_, '_> {
    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str, style: Style, at: usize) {
        let run = Run { text: text.to_owned(), style, link: self.link, offset: self.base + at };
        match self.table.as_mut().and_then(|t| t.rows.last_mut()).and_then(|r| r.last_mut()) {
            Some(cell) => cell.push(run),
            None => self.runs.push(run),
        }
    }

    /// Draws what was collected as a paragraph.
    fn flush(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        if runs.iter().any(|r| !r.text.trim().is_empty()) {
            self.canvas.open();
            self.canvas.paragraph(&runs);
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        let theme = self.canvas.theme;
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code, _)) => code.push_str(&text),
                None => self.text(&text.replace('\n', " "), self.style(), range.start),
            },
            Event::Code(text) => {
                let style = self.style().patch(theme.code);
                // Without colour, code would be plain text.
                let text =
                    if theme.code == Style::default() { format!("`{text}`") } else { text.into_string() };
                self.text(&text.replace('\n', " "), style, range.start);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text.replace('\n', " "), self.style().patch(theme.code), range.start);
            }
            Event::SoftBreak => self.text(" ", self.style(), range.start),
            Event::HardBreak => self.text("\n", self.style(), range.start),
            Event::Html(text) => {
                self.canvas.at(self.base + range.start);
                let text = text.trim_end();
                if !text.is_empty() {
                    self.runs.push(Run {
                        text: text.to_owned(),
                        style: theme.dim,
                        link: None,
                        offset: self.base + range.start,
                    });
                    self.runs.push(Run {
                        text: "\n".to_owned(),
                        style: theme.dim,
                        link: None,
                        offset: self.base + range.end,
                    });
                }
            }
            Event::InlineHtml(text) => {
                let text = if text.to_ascii_lowercase().starts_with("<br") {
                    "\n".to_owned()
                } else {
                    text.into_string()
                };
                self.text(&text, theme.dim, range.start);
            }
            Event::Rule => {
                self.flush();
                self.canvas.at(self.base + range.start);
                self.canvas.open();
                let rule = "─".repeat(self.canvas.room());
                self.canvas.row(vec![Span::styled(rule, theme.border)]);
                self.canvas.gap();
            }
            Event::TaskListMarker(done) => {
                let (mark, style) = if done { ("☑ ", theme.success) } else { ("☐ ", theme.dim) };
                self.text(mark, style, range.start);
            }
            Event::FootnoteReference(label) => {
                self.text(&format!("[{label}]"), theme.accent, range.start);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let theme = self.canvas.theme;
        self.canvas.at(self.base + range.start);
        let style = self.style();
        match tag {
            Tag::Paragraph => self.flush(),
            Tag::Heading { level, .. } => {
                self.flush();
                let level = level_number(level);
                self.heading = Some((level, range.start));
                self.styles.push(theme.heading(level));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.canvas.open();
                let bar = Span::styled("▎ ", theme.border);
                self.canvas.push(bar.clone(), bar);
                self.styles.push(style.patch(theme.quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new(), range.start));
            }
            Tag::HtmlBlock => self.flush(),
            Tag::List(first) => {
                self.flush();
                if !self.lists.is_empty() {
                    self.canvas.no_gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.canvas.open();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let blank = " ".repeat(width::width(&mark));
                self.canvas.push(Span::styled(mark, theme.accent), Span::raw(blank));
            }
            Tag::FootnoteDefinition(label) => {
                self.flush();
                self.canvas.open();
                let mark = format!("[{}] ", Safe::line(&label));
                let blank = " ".repeat(width::width(&mark).min(8));
                self.canvas.push(Span::styled(mark, theme.accent), Span::raw(blank));
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
                self.styles.push(theme.strong);
            }
            Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|t| t.rows.last_mut()) {
                    row.push(Vec::new());
                }
            }
            Tag::Emphasis => self.styles.push(style.add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(style.add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.styles.push(style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, range.start, style),
            Tag::Image { dest_url, .. } => {
                if self.link.is_none() {
                    self.open_link(&dest_url, range.start, style);
                } else {
                    self.nested += 1;
                    self.styles.push(style);
                }
                self.text("▣ ", self.style(), range.start);
            }
            Tag::MetadataBlock(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => self.styles.push(style),
        }
    }

    fn open_link(&mut self, destination: &str, start: usize, style: Style) {
        let theme = self.canvas.theme;
        let (index, target, lost) = match self.facts {
            Facts::Page { page, broken } => {
                let found = page.links.iter().position(|l| l.span.start == self.base + start);
                match found.and_then(|i| Some((i, page.links.get(i)?))) {
                    Some((index, link)) => (index, link.target.clone(), broken(link)),
                    None => (usize::MAX, Target::of(&page.path, destination), false),
                }
            }
            Facts::Text { at } => (self.texts, Target::of(at, destination), false),
        };
        self.texts += 1;
        self.lost = lost;
        self.link = Some(self.canvas.link(index, target, destination.to_owned()));
        self.styles.push(style.patch(if lost { theme.link_broken } else { theme.link }));
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.canvas.gap();
            }
            TagEnd::Heading(_) => self.end_heading(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.canvas.no_gap();
                self.canvas.pop();
                self.styles.pop();
                self.canvas.gap();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => {
                while self.runs.last().is_some_and(|r| r.text == "\n") {
                    self.runs.pop();
                }
                self.flush();
                self.canvas.gap();
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.canvas.gap();
                }
            }
            TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.flush();
                self.canvas.pop();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.canvas.open();
                    table.draw(self.canvas);
                    self.canvas.gap();
                }
            }
            TagEnd::TableRow | TagEnd::TableCell => {}
            TagEnd::Link | TagEnd::Image => {
                if matches!(tag, TagEnd::Image) && self.nested > 0 {
                    self.nested -= 1;
                } else {
                    if std::mem::take(&mut self.lost) {
                        let style = self.style();
                        self.text(" ✗", style, 0);
                    }
                    self.link = None;
                }
                self.styles.pop();
            }
            TagEnd::TableHead
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::MetadataBlock(_)
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript => {
                self.styles.pop();
            }
        }
    }

    fn end_heading(&mut self) {
        self.styles.pop();
        let Some((level, start)) = self.heading.take() else { return };
        let text: String = self.runs.iter().map(|r| r.text.as_str()).collect();
        let slug = match self.facts {
            Facts::Page { page, .. } => page
                .headings
                .iter()
                .find(|h| h.span.start == self.base + start)
                .map_or_else(|| slug::slugify(&text), |h| h.slug.clone()),
            Facts::Text { .. } => slug::slugify(&text),
        };
        self.canvas.open();
        self.canvas.heading(slug);
        if level >= 3 {
            let style = self.canvas.theme.dim;
            let mark = format!("{} ", "#".repeat(usize::from(level)));
            self.runs.insert(0, Run { text: mark, style, link: None, offset: self.base + start });
        }
        let runs = std::mem::take(&mut self.runs);
        self.canvas.paragraph(&runs);
        self.canvas.gap();
    }

    fn end_code(&mut self) {
        let Some((language, code, start)) = self.code.take() else { return };
        let theme = self.canvas.theme;
        self.canvas.open();
        let bar = Span::styled("│ ", theme.border);
        let mut offset = self.base + start;
        if !language.is_empty() {
            self.canvas.at(offset);
            let label = Span::styled(format!("│ {}", Safe::line(&language)), theme.dim);
            self.canvas.row(vec![label]);
        }
        for line in highlight::highlight(&language, &code, theme) {
            let length: usize = line.iter().map(|(_, t)| t.len() + 1).sum();
            let runs: Vec<Run> = line
                .into_iter()
                .map(|(style, text)| Run { text: text.replace('\t', "    "), style, link: None, offset })
                .collect();
            self.canvas.push(bar.clone(), bar.clone());
            self.canvas.paragraph(&runs);
            self.canvas.pop();
            offset += length;
        }
        self.canvas.gap();
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
