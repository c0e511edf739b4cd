//! From markdown events to blocks on the canvas. Iterative, so that no nesting overflows a stack.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::facts::Facts;
use super::flow::{Canvas, Run};
use super::table::{self, Table};
use super::{code, head, link_look};
use crate::okf::markdown::options;
use crate::okf::{Link, slug};
use crate::text::{Safe, width};

/// Most text of one block that is laid out, in bytes; the rest is counted.
pub(super) const MAX_BLOCK: usize = 200 * 1024;
/// Longest path of an image or of an empty link that is shown, in columns.
const MAX_PATH: usize = 80;

/// The link that text belongs to now.
struct Open {
    /// Its number on the canvas.
    link: usize,
    /// Where it ends, if it is not an element that ends by itself.
    end: Option<usize>,
    style: Style,
    mark: &'static str,
    destination: String,
    drawn: bool,
}

struct OpenImage {
    destination: String,
    /// It is the link that is open, and not inside one.
    is_link: bool,
    /// Bytes in the block when it began: has it a text?
    size: usize,
}

#[derive(Default)]
struct OpenCode {
    language: String,
    text: String,
    /// Where in `text` each piece begins, and where in the source.
    places: Vec<(usize, usize)>,
    start: usize,
    cut: usize,
}

struct Walk<'c, 'a> {
    canvas: &'c mut Canvas<'a>,
    facts: &'c Facts<'c>,
    runs: Vec<Run>,
    /// Bytes of text in the block, and how many more were left out.
    size: usize,
    cut: usize,
    /// A line of the source ended; whether that is a blank depends on what follows.
    soft_break: Option<(Style, Range<usize>)>,
    /// Footnotes by label, numbered as they are first spoken of.
    footnotes: HashMap<String, usize>,
    /// The block before was a footnote.
    after_footnote: bool,
    /// Text events in a row, which may hold a link together.
    pending: Vec<(Range<usize>, String)>,
    styles: Vec<Style>,
    link: Option<Open>,
    /// Links within the open link.
    nested: usize,
    images: Vec<OpenImage>,
    lists: Vec<Option<u64>>,
    heading: Option<(u8, usize)>,
    code: Option<OpenCode>,
    table: Option<Table>,
    /// The cell lies beyond what is drawn of a table.
    outside: bool,
}

/// Draws `source`, which begins at byte `base` of the text that `facts` is about.
pub fn draw(canvas: &mut Canvas<'_>, source: &str, base: usize, facts: &Facts<'_>) {
    let style = canvas.theme.text;
    let mut walk = Walk {
        canvas,
        facts,
        runs: Vec::new(),
        size: 0,
        cut: 0,
        soft_break: None,
        footnotes: HashMap::new(),
        after_footnote: false,
        pending: Vec::new(),
        styles: vec![style],
        link: None,
        nested: 0,
        images: Vec::new(),
        lists: Vec::new(),
        heading: None,
        code: None,
        table: None,
        outside: false,
    };
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        walk.event(event, base + range.start..base + range.end);
    }
    walk.settle();
    walk.flush();
}

impl Walk<'_, '_> {
    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        let theme = self.canvas.theme;
        if let Event::Text(text) = &event {
            match &mut self.code {
                Some(code) => code.push(text, range.start),
                None => self.pending.push((range, text.to_string())),
            }
            return;
        }
        self.settle();
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(_) => {}
            Event::Code(text) => {
                let style = self.style().patch(theme.code);
                // Without colour, code would be plain text.
                let text =
                    if theme.code == Style::default() { format!("`{text}`") } else { text.into_string() };
                self.put(&text.replace('\n', " "), style, range);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.put(&text.replace('\n', " "), self.style().patch(theme.code), range);
            }
            Event::SoftBreak => self.soft_break = Some((self.style(), range)),
            Event::HardBreak => self.put("\n", self.style(), range),
            Event::Html(text) => self.prose(&text, theme.dim, range),
            Event::InlineHtml(text) => {
                let name = text.trim_start_matches('<').trim_end_matches('>').trim_matches([' ', '/']);
                if name.eq_ignore_ascii_case("br") {
                    self.put("\n", theme.dim, range);
                } else {
                    self.prose(&text.replace('\n', " "), theme.dim, range);
                }
            }
            Event::Rule => {
                self.flush();
                self.after_footnote = false;
                self.canvas.at(range.start);
                self.canvas.open();
                let rule = "─".repeat(self.canvas.room());
                self.canvas.row(vec![Span::styled(rule, theme.border)]);
                self.canvas.gap();
            }
            Event::TaskListMarker(done) => {
                let (mark, style) = if done { ("☑ ", theme.success) } else { ("☐ ", theme.dim) };
                let bulleted = matches!(self.lists.last(), Some(None)) && self.runs.is_empty();
                if !(bulleted && self.canvas.remark(Span::styled(mark, style))) {
                    self.put(mark, style, range);
                }
            }
            Event::FootnoteReference(label) => {
                let number = self.footnote(&label);
                self.put(&format!("[{number}]"), theme.accent, range);
            }
        }
    }

    /// Adds text to the block, as part of the open link if there is one.
    fn put(&mut self, text: &str, style: Style, source: Range<usize>) {
        if self.outside || text.is_empty() {
            return;
        }
        if let Some((style, range)) = self.soft_break.take()
            && self.last_char() != Some('\n')
            && !(text.starts_with(is_han_or_kana) && self.last_char().is_some_and(is_han_or_kana))
        {
            self.put(" ", style, range);
        }
        let fitting = head(text, MAX_BLOCK.saturating_sub(self.size));
        self.cut += text.len() - fitting.len();
        self.size += fitting.len();
        if fitting.is_empty() {
            return;
        }
        let mut run = Run::new(fitting, style, source);
        if let Some(open) = &mut self.link {
            open.drawn = true;
            run.style = style.patch(open.style);
            run.link = Some(open.link);
        }
        let runs = self.runs();
        match runs.last_mut() {
            // Many short runs would cost more than they say.
            Some(last)
                if (last.style, last.link, last.source.end) == (run.style, run.link, run.source.start)
                    && last.text.len() == last.source.len() =>
            {
                last.text.push_str(fitting);
                last.source.end = run.source.end;
            }
            _ => runs.push(run),
        }
    }

    /// Where text goes now.
    fn runs(&mut self) -> &mut Vec<Run> {
        let cell = self.table.as_mut().and_then(|t| t.rows.last_mut()).and_then(|r| r.last_mut());
        cell.unwrap_or(&mut self.runs)
    }

    fn last_char(&mut self) -> Option<char> {
        self.runs().last().and_then(|run| run.text.chars().next_back())
    }

    /// The number of a footnote.
    fn footnote(&mut self, label: &str) -> usize {
        // Labels are the same in any case (GFM).
        let next = self.footnotes.len() + 1;
        *self.footnotes.entry(label.to_lowercase()).or_insert(next)
    }

    /// Adds the text that was collected, with the links that stand in it as plain text.
    fn settle(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let style = self.style();
        for (mut range, text) in std::mem::take(&mut self.pending) {
            let mut text = text.replace('\n', " ");
            // Blanks behind a `<br>`.
            if self.last_char() == Some('\n') && text.len() == range.len() {
                let blanks = text.len() - text.trim_start_matches(' ').len();
                text.drain(..blanks);
                range.start += blanks;
            }
            self.prose(&text, style, range);
        }
    }

    /// Adds text in which bare URLs, wikilinks or links of HTML may begin and end.
    fn prose(&mut self, text: &str, style: Style, range: Range<usize>) {
        // Text that is not written as it reads (entities) has no places within.
        let exact = text.len() == range.len();
        let mut at = range.start;
        while at < range.end {
            let border = match &self.link {
                Some(open) => open.end.unwrap_or(range.end),
                None => match self.facts.next(at, range.end) {
                    Some((index, link)) if link.span.start == at || !exact => {
                        self.open_link(index, link, Some(link.span.end));
                        link.span.end
                    }
                    Some((_, link)) => link.span.start,
                    None => range.end,
                },
            };
            let to = if exact { border.clamp(at + 1, range.end) } else { range.end };
            let part = text.get(at - range.start..to - range.start).filter(|_| exact);
            self.put(part.unwrap_or(if exact { "" } else { text }), style, at..to);
            at = to;
            if self.link.as_ref().is_some_and(|open| open.end.is_some_and(|end| end <= at)) {
                self.close_link(at);
            }
        }
    }

    fn open_link(&mut self, index: usize, link: &Link, end: Option<usize>) {
        let theme = self.canvas.theme;
        let (style, mark) = link_look(link, self.facts.is_broken(link), theme);
        let number = self.facts.number(index);
        self.link = Some(Open {
            link: self.canvas.link(number, link.target.clone(), link.destination.clone()),
            end,
            style,
            mark,
            destination: link.destination.clone(),
            drawn: false,
        });
    }

    /// Ends the open link with its mark. A link without text shows where it leads.
    fn close_link(&mut self, at: usize) {
        let style = self.style();
        if let Some(open) = &self.link {
            let (mark, drawn) = (open.mark, open.drawn);
            let shown = if drawn { String::new() } else { shown_path(&open.destination) };
            self.put(&shown, style, at..at);
            self.put(mark, style, at..at);
        }
        self.link = None;
    }

    /// Draws what was collected as a paragraph.
    fn flush(&mut self) {
        self.forget_links();
        self.soft_break = None;
        let mut runs = std::mem::take(&mut self.runs);
        while let Some(last) = runs.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
            if !last.text.is_empty() {
                break;
            }
            runs.pop();
        }
        if runs.iter().any(|r| !r.text.trim().is_empty()) {
            self.canvas.open();
            self.canvas.paragraph(&runs);
        }
        self.note_cut();
    }

    /// No link goes on in another block, not even one of HTML that is never closed.
    fn forget_links(&mut self) {
        self.link = None;
        self.nested = 0;
        self.images.clear();
    }

    /// Says how much of the block was left out, and begins to count anew.
    fn note_cut(&mut self) {
        self.size = 0;
        let cut = std::mem::take(&mut self.cut);
        if cut > 0 {
            self.canvas.note(format!("… {cut} more bytes of this block are not shown"));
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let theme = self.canvas.theme;
        let style = self.style();
        let inline = matches!(
            tag,
            Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Superscript
                | Tag::Subscript
                | Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell
        );
        if !inline {
            self.flush();
            self.canvas.at(range.start);
            // Footnotes stand close.
            if std::mem::take(&mut self.after_footnote) && matches!(tag, Tag::FootnoteDefinition(_)) {
                self.canvas.no_gap();
            }
        }
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => {}
            Tag::Heading { level, .. } => {
                let level = level as u8;
                self.heading = Some((level, range.start));
                self.styles.push(theme.heading(level));
            }
            Tag::BlockQuote(kind) => self.start_quote(kind, style, range.start),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(OpenCode { language, start: range.start, ..OpenCode::default() });
            }
            Tag::List(first) => {
                if !self.lists.is_empty() {
                    self.canvas.no_gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.canvas.open();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let blank = " ".repeat(width::width(&mark));
                self.canvas.push(Span::styled(mark, theme.accent), Span::raw(blank), true);
            }
            Tag::FootnoteDefinition(label) => {
                self.canvas.open();
                let mark = format!("[{}] ", self.footnote(&label));
                let blank = " ".repeat(width::width(&mark));
                self.canvas.push(Span::styled(mark, theme.accent), Span::raw(blank), true);
            }
            Tag::Table(alignments) => {
                self.table = Some(Table { columns: alignments.len(), alignments, ..Table::default() });
            }
            Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
                self.styles.push(theme.strong);
            }
            Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    if table.rows.len() < table::MAX_ROWS {
                        table.rows.push(Vec::new());
                    } else {
                        table.more_rows += 1;
                    }
                }
            }
            Tag::TableCell => {
                if let Some(table) = &mut self.table
                    && let Some(row) = table.rows.last_mut()
                {
                    self.outside = table.more_rows > 0 || row.len() >= table::MAX_COLUMNS;
                    if !self.outside {
                        row.push(Vec::new());
                    }
                }
            }
            Tag::Emphasis => self.styles.push(style.add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(style.add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.styles.push(style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { .. } => {
                self.start_link(&range);
            }
            Tag::Image { dest_url, .. } => self.start_image(&dest_url, &range),
            // Not switched on in the dialect; their text is drawn as it comes.
            Tag::MetadataBlock(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    fn start_quote(&mut self, kind: Option<BlockQuoteKind>, style: Style, start: usize) {
        let theme = self.canvas.theme;
        self.canvas.open();
        let (label, color) = match kind {
            None => ("", theme.border),
            Some(BlockQuoteKind::Note) => ("Note", theme.hint),
            Some(BlockQuoteKind::Tip) => ("Tip", theme.success),
            Some(BlockQuoteKind::Important) => ("Important", theme.staged),
            Some(BlockQuoteKind::Warning) => ("Warning", theme.warning),
            Some(BlockQuoteKind::Caution) => ("Caution", theme.error),
        };
        let bar = Span::styled("▎ ", color);
        self.canvas.push(bar.clone(), bar, false);
        if kind.is_some() {
            self.canvas.paragraph(&[Run::new(label, color.patch(theme.strong), start..start)]);
            self.styles.push(style);
        } else {
            self.styles.push(style.patch(theme.quote));
        }
    }

    /// Whether a link was opened: a link within one is part of it.
    fn start_link(&mut self, range: &Range<usize>) -> bool {
        if self.link.is_none()
            && let Some((index, link)) = self.facts.link_at(range.start)
        {
            self.open_link(index, link, None);
            return true;
        }
        self.nested += 1;
        false
    }

    fn start_image(&mut self, destination: &CowStr<'_>, range: &Range<usize>) {
        let is_link = self.start_link(range);
        self.put("[image: ", self.style().patch(self.canvas.theme.dim), range.start..range.start);
        self.images.push(OpenImage {
            destination: destination.to_string(),
            is_link,
            size: self.size + self.cut,
        });
    }

    fn end_image(&mut self, range: &Range<usize>) {
        let Some(image) = self.images.pop() else { return };
        let style = self.style().patch(self.canvas.theme.dim);
        let dot = if self.size + self.cut > image.size { " · " } else { "" };
        self.put(&format!("{dot}{}", shown_path(&image.destination)), style, range.end..range.end);
        if image.is_link {
            self.close_link(range.end)
        } else {
            self.nested = self.nested.saturating_sub(1)
        }
        self.put("]", style, range.end..range.end);
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
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
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.canvas.gap();
                }
            }
            TagEnd::Item => {
                self.flush();
                self.canvas.pop();
            }
            TagEnd::FootnoteDefinition => {
                self.flush();
                self.canvas.pop();
                self.canvas.gap();
                self.after_footnote = true;
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.canvas.open();
                    table.draw(self.canvas);
                    self.note_cut();
                    self.canvas.gap();
                }
            }
            TagEnd::TableCell => {
                self.forget_links();
                self.outside = false;
            }
            TagEnd::Link if self.nested > 0 => self.nested -= 1,
            TagEnd::Link => self.close_link(range.end),
            TagEnd::Image => self.end_image(range),
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::TableRow
            | TagEnd::MetadataBlock(_)
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
        }
    }

    fn end_heading(&mut self) {
        self.styles.pop();
        let Some((level, start)) = self.heading.take() else { return };
        if self.runs.iter().all(|r| r.text.trim().is_empty()) {
            self.flush();
            return;
        }
        let slug = self.facts.slug(start).map_or_else(
            || slug::slugify(&self.runs.iter().map(|r| r.text.as_str()).collect::<String>()),
            str::to_owned,
        );
        self.canvas.open();
        self.canvas.heading(slug);
        if level >= 3 {
            let mark = format!("{} ", "#".repeat(usize::from(level)));
            self.runs.insert(0, Run::new(mark, self.canvas.theme.dim, start..start));
        }
        self.flush();
        self.canvas.gap();
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.canvas.open();
        code::draw(self.canvas, &code.language, &code.text, code.start, &code.places);
        self.cut = code.cut;
        self.note_cut();
        self.canvas.gap();
    }
}

impl OpenCode {
    fn push(&mut self, text: &str, source: usize) {
        let fitting = head(text, MAX_BLOCK.saturating_sub(self.text.len()));
        self.cut += text.len() - fitting.len();
        if !fitting.is_empty() {
            self.places.push((self.text.len(), source));
            self.text.push_str(fitting);
        }
    }
}

/// Scripts written without blanks: a line that ends between two such characters only ended for want of room.
fn is_han_or_kana(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{30ff}' | '\u{31c0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{323af}')
}

/// A destination cut to what is worth showing; data URLs are megabytes.
fn shown_path(destination: &str) -> String {
    width::truncate(Safe::line(head(destination, 4 * MAX_PATH)).as_str(), MAX_PATH)
}
