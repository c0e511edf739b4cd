//! A text that grows while it is read. What is above its last block is laid out once, so that a streamed answer costs
//! as much as a finished one, and looks the same.

use pulldown_cmark::{Event, Parser};

use super::{Part, Rendered, render_part, render_text};
use crate::okf::markdown::options;
use crate::okf::slug::Slugs;
use crate::text::Span;
use crate::tui::theme::Theme;

/// A growing text and what it looks like.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    text: String,
    /// Bytes of `text` whose blocks are finished.
    done: usize,
    /// The blocks that are finished, then the last ones.
    rendered: Rendered,
    /// How much of `rendered` belongs to finished blocks: rows, links, headings.
    kept: (usize, usize, usize),
    /// Links in the source of the finished blocks.
    links: usize,
    slugs: Slugs,
    look: Option<(u16, Theme)>,
    /// `rendered` shows all of `text`.
    current: bool,
}

impl Stream {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.current &= text.is_empty();
    }

    /// Puts another text in place of the one before; cheap when it goes on like that.
    pub fn set(&mut self, text: &str) {
        if self.text == text {
            return;
        }
        let done = self.text.as_bytes().get(..self.done).unwrap_or_default();
        if !text.as_bytes().starts_with(done) {
            self.forget();
        }
        text.clone_into(&mut self.text);
        self.current = false;
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same as [`render_text`] of the whole text.
    pub fn rendered(&mut self, width: u16, theme: &Theme) -> &Rendered {
        if self.look.as_ref().is_none_or(|(w, t)| (*w, t) != (width, theme)) {
            self.forget();
            self.look = Some((width, theme.clone()));
        }
        if self.current {
            return &self.rendered;
        }
        self.current = true;
        // A definition, of a link or a footnote, changes blocks before and after it: such a text is laid out whole.
        if self.text.contains("]:") {
            let look = self.look.take();
            self.forget();
            self.look = look;
            self.current = true;
            self.rendered = render_text(&self.text, width, theme);
            return &self.rendered;
        }
        let (rows, links, headings) = self.kept;
        self.rendered.lines.truncate(rows);
        self.rendered.rows.truncate(rows);
        self.rendered.links.truncate(links);
        self.rendered.headings.truncate(headings);
        let end = last_block(&self.text, self.done);
        if end > self.done {
            let mut slugs = std::mem::take(&mut self.slugs);
            self.links += self.add(Span::new(self.done, end), width, theme, &mut slugs);
            self.slugs = slugs;
            self.done = end;
            self.kept = (self.rendered.lines.len(), self.rendered.links.len(), self.rendered.headings.len());
        }
        let mut slugs = self.slugs.clone();
        self.add(Span::new(self.done, self.text.len()), width, theme, &mut slugs);
        &self.rendered
    }

    /// Appends the rows of a part; returns how many links its source has.
    fn add(&mut self, range: Span, width: u16, theme: &Theme, slugs: &mut Slugs) -> usize {
        let above = self.rendered.lines.len();
        let part = Part { range, below: above > 0, first_link: self.links };
        let (part, links) = render_part(&self.text, &part, width, theme, slugs);
        self.rendered.lines.extend(part.lines);
        self.rendered.rows.extend(part.rows);
        self.rendered.headings.extend(part.headings.into_iter().map(|(row, slug)| (row + above, slug)));
        self.rendered.links.extend(part.links.into_iter().map(|mut link| {
            link.spans.iter_mut().for_each(|(row, _)| *row += above);
            link
        }));
        links
    }

    fn forget(&mut self) {
        *self = Self { text: std::mem::take(&mut self.text), ..Self::default() };
    }
}

/// Where the last top-level block of `text` that follows a blank line begins, at or after `from`, where one begins.
/// All before it is finished: nothing that is appended changes how it is read.
fn last_block(text: &str, from: usize) -> usize {
    let tail = text.get(from..).unwrap_or_default();
    let mut depth = 0usize;
    let mut found = 0;
    for (event, range) in Parser::new_ext(tail, options()).into_offset_iter() {
        let begins = depth == 0;
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => {}
        }
        if begins {
            let head = tail.get(..range.start).unwrap_or_default();
            let line = head.rfind('\n').map_or(0, |at| at + 1);
            let above = head.get(..line).unwrap_or_default();
            let above = above.strip_suffix('\n').unwrap_or(above);
            let last = above.rsplit('\n').next().unwrap_or_default();
            // A line that still grows may turn out to go on with the block above: `2` becomes `2. two`.
            let whole = tail.get(range.start..).is_some_and(|rest| rest.contains('\n'));
            if line > 0 && last.trim().is_empty() && whole {
                found = line;
            }
        }
    }
    from + found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_blocks_are_laid_out_again() {
        let theme = Theme::plain();
        let mut stream = Stream::default();
        for number in 0..200 {
            for piece in ["Some ", "words", ".\n", "\n- item\n\n", "```\ncode\n\n", "code\n```\n", "\n"] {
                stream.push(piece);
                stream.rendered(30, &theme);
                assert!(
                    stream.text.len() - stream.done < 60,
                    "{number}: {}",
                    stream.text.len() - stream.done
                );
            }
        }
    }

    #[test]
    fn a_line_that_still_grows_finishes_nothing() {
        assert_eq!(last_block("1. a\n\n2", 0), 0);
        assert_eq!(last_block("1. a\n\n2. b\n\nc\n", 0), 12);
        assert_eq!(last_block("a\nb\n\n> c\n\nd\n", 5), 10);
    }

    #[test]
    fn a_definition_changes_what_stood_above() {
        let theme = Theme::plain();
        let mut stream = Stream::default();
        stream.push("[a] one\n\ntwo\n\nthree\n");
        assert!(stream.rendered(30, &theme).links.is_empty());
        stream.push("\n[a]: b.md\n");
        assert_eq!(stream.rendered(30, &theme).links.len(), 1);
    }
}
