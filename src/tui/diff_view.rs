//! One proposed change as rows of a unified diff: line numbers, signs, the words that differ. Hides nothing: long
//! lines are wrapped, control and invisible characters are shown by name.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::theme::Theme;
use crate::bundle::FileChange;
use crate::text::diff::{Change, DiffLine, Ending, Hunk, hunks};
use crate::text::{Safe, width};

/// The rows of a diff and which of them begin a hunk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiffView {
    pub lines: Vec<Line<'static>>,
    pub hunks: Vec<usize>,
}

pub fn render(change: &FileChange, columns: u16, theme: &Theme) -> DiffView {
    let mut view = DiffView::default();
    let (before, after) = match change.texts() {
        Ok(texts) => texts,
        Err(_) => {
            let size = |side: &Option<std::sync::Arc<[u8]>>| side.as_ref().map_or(0, |s| s.len());
            view.lines.push(Line::styled(
                format!(
                    "not text: {} bytes before, {} bytes after; it cannot be shown line by line",
                    size(&change.before),
                    size(&change.after)
                ),
                theme.warning,
            ));
            return view;
        }
    };
    let hunks = hunks(before.unwrap_or_default(), after.unwrap_or_default());
    if hunks.is_empty() {
        let text =
            if before.is_some() && after.is_some() { "the content stays the same" } else { "an empty file" };
        view.lines.push(Line::styled(text, theme.dim));
        return view;
    }
    let last =
        hunks.iter().map(|h| (h.old_start + h.old_len).max(h.new_start + h.new_len)).max().unwrap_or(1);
    let digits = last.to_string().len().max(2);
    for hunk in &hunks {
        view.hunks.push(view.lines.len());
        view.lines.push(Line::styled(head(hunk), theme.hunk));
        for line in &hunk.lines {
            rows(&mut view.lines, line, digits, usize::from(columns), theme);
        }
    }
    view
}

fn head(hunk: &Hunk) -> String {
    format!("@@ -{},{} +{},{} @@", hunk.old_start, hunk.old_len, hunk.new_start, hunk.new_len)
}

fn rows(out: &mut Vec<Line<'static>>, line: &DiffLine, digits: usize, columns: usize, theme: &Theme) {
    let (sign, style, word) = match line.change {
        Change::Context => (' ', theme.text, theme.text),
        Change::Removed => ('-', theme.removed, theme.removed_word),
        Change::Added => ('+', theme.added, theme.added_word),
    };
    let number = match line.change {
        Change::Removed => line.old,
        Change::Context | Change::Added => line.new,
    };
    // Runs of equal style first, each made safe by itself, so that emphasis survives the sanitising.
    let mut text = String::new();
    let mut marks: Vec<(usize, Style)> = Vec::new();
    let mut from = 0;
    let mut push = |text: &mut String, part: &str, style: Style| {
        text.push_str(Safe::line(part).as_str());
        marks.push((text.len(), style));
    };
    for span in &line.emphasis {
        push(&mut text, line.text.get(from..span.start).unwrap_or_default(), style);
        push(&mut text, span.of(&line.text), word);
        from = span.end;
    }
    push(&mut text, line.text.get(from..).unwrap_or_default(), style);
    let note = match line.ending {
        Some(Ending::Lf) => "",
        Some(Ending::CrLf) => "␍",
        None => " (no line end)",
    };
    let gutter = digits + 3;
    let room = columns.saturating_sub(gutter).max(4);
    let mut first = true;
    let pieces = width::wrap(&text, room);
    let count = pieces.len();
    for (index, range) in pieces.into_iter().enumerate() {
        let label = match number {
            Some(number) if first => format!("{number:>digits$} {sign} "),
            _ if first => format!("{:digits$} {sign} ", ""),
            _ => format!("{:digits$} {sign} ", "⋮"),
        };
        first = false;
        let mut spans = vec![Span::styled(label, if sign == ' ' { theme.dim } else { style })];
        let mut start = 0;
        for (end, style) in &marks {
            let (a, b) = (range.start.max(start), range.end.min(*end));
            if a < b {
                spans.push(Span::styled(text.get(a..b).unwrap_or_default().to_owned(), *style));
            }
            start = *end;
        }
        if index + 1 == count && !note.is_empty() {
            spans.push(Span::styled(note, theme.dim));
        }
        out.push(Line::from(spans));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bundle::ChangeKind;
    use crate::okf::BundlePath;

    fn change(before: Option<&str>, after: Option<&str>) -> FileChange {
        FileChange {
            path: BundlePath::parse("/a.md").unwrap(),
            kind: ChangeKind::Modify,
            before: before.map(|t| Arc::from(t.as_bytes())),
            after: after.map(|t| Arc::from(t.as_bytes())),
        }
    }

    fn text(view: &DiffView) -> Vec<String> {
        view.lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn signs_numbers_and_hunk_heads() {
        let view = render(&change(Some("a\nb\n"), Some("a\nc\n")), 40, &Theme::plain());
        assert_eq!(text(&view), ["@@ -1,2 +1,2 @@", " 1   a", " 2 - b", " 2 + c"]);
        assert_eq!(view.hunks, [0]);
    }

    #[test]
    fn nothing_is_cut_and_line_ends_are_named() {
        let long = format!("{}\r\nend", "x".repeat(50));
        let view = render(&change(None, Some(&long)), 30, &Theme::plain());
        let rows = text(&view);
        assert_eq!(rows.iter().map(|r| r.matches('x').count()).sum::<usize>(), 50);
        assert!(rows.iter().any(|r| r.ends_with('␍')), "{rows:?}");
        assert!(rows.iter().any(|r| r.ends_with("end (no line end)")), "{rows:?}");
        assert!(rows.iter().all(|r| width::width(r) <= 31), "{rows:?}");
    }

    #[test]
    fn hidden_characters_are_named() {
        let view = render(&change(Some(""), Some("a\u{202e}b\n")), 40, &Theme::plain());
        assert!(text(&view).iter().any(|r| r.contains("<U+202E>")), "{:?}", text(&view));
    }
}
