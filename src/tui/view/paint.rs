//! Painting within bounds: every rectangle is cut to the buffer, every text to its rectangle.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::text::width;
use crate::tui::state::layout::inner;
use crate::tui::theme::Theme;

/// Draws one line at `row` of `area`, counted from its top.
pub fn line(buffer: &mut Buffer, area: Rect, row: usize, line: &Line<'_>) {
    let area = area.intersection(buffer.area);
    let Ok(row) = u16::try_from(row) else { return };
    if row >= area.height || area.width == 0 {
        return;
    }
    buffer.set_line(area.x, area.y + row, line, area.width);
}

/// Changes the style of some columns of one row of `area`.
pub fn restyle(buffer: &mut Buffer, area: Rect, row: usize, columns: std::ops::Range<u16>, style: Style) {
    let Ok(row) = u16::try_from(row) else { return };
    if row >= area.height || columns.start >= area.width {
        return;
    }
    let cut = Rect {
        x: area.x + columns.start,
        y: area.y + row,
        width: columns.end.min(area.width).saturating_sub(columns.start),
        height: 1,
    };
    buffer.set_style(cut.intersection(buffer.area), style);
}

/// Fills one row with a style, for a chosen row.
pub fn row_style(buffer: &mut Buffer, area: Rect, row: usize, style: Style) {
    restyle(buffer, area, row, 0..area.width, style);
}

/// A frame with a title on the left and perhaps one on the right, and the rectangle within. The right title goes
/// first when both do not fit.
pub fn frame(
    buffer: &mut Buffer,
    area: Rect,
    title: &Line<'_>,
    right: &Line<'_>,
    focused: bool,
    theme: &Theme,
) -> Rect {
    let area = area.intersection(buffer.area);
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    let border = if focused { theme.border_focused } else { theme.border };
    // Focus shows without colour too: its frame is heavy.
    let kind = if focused { BorderType::Thick } else { BorderType::Plain };
    Block::bordered().border_type(kind).border_style(border).render(area, buffer);
    let room = usize::from(area.width.saturating_sub(4));
    let (title_width, right_width) = (title.width(), right.width());
    let top = Rect { x: area.x + 2, y: area.y, width: area.width.saturating_sub(4), height: 1 };
    let right_fits = right_width > 0 && right_width + 6 <= room && title_width.min(24) + right_width < room;
    let title_room = if right_fits { room - right_width - 1 } else { room };
    let shown = cut(title, title_room);
    line(
        buffer,
        Rect { width: u16::try_from(title_room).unwrap_or(u16::MAX).min(top.width), ..top },
        0,
        &shown,
    );
    if right_fits {
        let width = u16::try_from(right_width).unwrap_or(0);
        let x = (top.x + top.width).saturating_sub(width);
        line(buffer, Rect { x, width, ..top }, 0, right);
    }
    inner(area)
}

/// Empties a rectangle and frames it: an overlay.
pub fn sheet(buffer: &mut Buffer, area: Rect, title: &Line<'_>, right: &Line<'_>, theme: &Theme) -> Rect {
    let area = area.intersection(buffer.area);
    Clear.render(area, buffer);
    frame(buffer, area, title, right, true, theme)
}

/// A line cut to so many columns, with `…` at the end when something was cut.
pub fn cut(line: &Line<'_>, columns: usize) -> Line<'static> {
    let mut left = columns;
    let mut spans: Vec<Span<'static>> = Vec::new();
    let whole = line.width() <= columns;
    for span in &line.spans {
        if left == 0 {
            break;
        }
        let fits = whole || width::width(&span.content) < left;
        let text = if fits {
            span.content.to_string()
        } else {
            width::truncate(&format!("{}…", span.content), left)
        };
        left = if fits { left.saturating_sub(width::width(&text)) } else { 0 };
        spans.push(Span::styled(text, span.style));
    }
    Line { spans, ..Line::default().style(line.style) }
}

/// A path cut at its start, since its end matters most.
pub fn shorten(path: &str, columns: usize) -> String {
    if width::width(path) <= columns {
        return path.to_owned();
    }
    let mut tail = path;
    while width::width(tail) + 1 > columns {
        let mut chars = tail.chars();
        if chars.next().is_none() {
            break;
        }
        tail = chars.as_str();
    }
    format!("…{tail}")
}

/// A path of a list cut in its middle: its name stays, and as many folders as fit, those first that tell it from the others of its
/// name.
pub fn shorten_among<'a>(path: &str, among: impl Iterator<Item = &'a str>, columns: usize) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let Some((name, folders)) = parts.split_last() else { return shorten(path, columns) };
    if width::width(path) <= columns || folders.is_empty() {
        return shorten(path, columns);
    }
    let mut differs = vec![0usize; folders.len()];
    for other in among {
        let other: Vec<&str> = other.split('/').collect();
        if other.last() == Some(name) {
            let others = folders.iter().zip(&other);
            differs.iter_mut().zip(others).for_each(|(count, (a, b))| *count += usize::from(a != b));
        }
    }
    let mut order: Vec<usize> = (0..folders.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(differs.get(*at).copied()), std::cmp::Reverse(*at)));
    let mut kept = vec![false; folders.len()];
    let drawn = |kept: &[bool]| {
        let mut out = String::new();
        let mut gap = false;
        for (folder, kept) in folders.iter().zip(kept) {
            match kept {
                true => out.push_str(folder),
                false if gap => continue,
                false => out.push('…'),
            }
            gap = !kept;
            out.push('/');
        }
        out + name
    };
    for at in order {
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
        if width::width(&drawn(&kept)) > columns
            && let Some(kept) = kept.get_mut(at)
        {
            *kept = false;
        }
    }
    shorten(&drawn(&kept), columns)
}

/// Parts that are shown as long as they fit, dropped from the end when they do not; `between` stands between two.
pub fn fitting(parts: Vec<Vec<Span<'static>>>, between: &str, columns: usize, style: Style) -> Line<'static> {
    let mut spans = Vec::new();
    let mut used = 0;
    for part in parts {
        let width: usize = part.iter().map(Span::width).sum();
        if width == 0 {
            continue;
        }
        let gap = if spans.is_empty() { 0 } else { width::width(between) };
        if used + gap + width > columns {
            break;
        }
        if gap > 0 {
            spans.push(Span::styled(between.to_owned(), style));
        }
        used += gap + width;
        spans.extend(part);
    }
    Line::from(spans)
}

/// Shows on the right edge of a frame how far a list is scrolled; nothing when all of it is visible.
pub fn scrollbar(buffer: &mut Buffer, area: Rect, top: usize, total: usize, theme: &Theme, focused: bool) {
    let height = usize::from(area.height.saturating_sub(2));
    if height == 0 || total <= height || area.width < 2 {
        return;
    }
    let size = (height * height / total).max(1);
    let room = height - size;
    let last = total - height;
    let start = (top.min(last) * room + last / 2) / last;
    let style = if focused { theme.border_focused } else { theme.border };
    for row in start..start + size {
        let x = area.x + area.width - 1;
        let Ok(row) = u16::try_from(row) else { return };
        let y = area.y + 1 + row;
        if buffer.area.contains((x, y).into()) {
            buffer.set_string(x, y, "█", style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_a_path_from_the_others_is_kept() {
        let paths: Vec<String> = (9..17)
            .map(|minor| format!("products/scalardl/3.{minor}/scalar-kubernetes/alerts/README.md"))
            .collect();
        let short = |columns| -> Vec<String> {
            paths.iter().map(|p| shorten_among(p, paths.iter().map(String::as_str), columns)).collect()
        };
        assert_eq!(short(60), paths);
        assert_eq!(short(30)[4], "…/3.13/…/alerts/README.md");
        for columns in 18..60 {
            let mut labels = short(columns);
            assert!(
                labels.iter().all(|label| width::width(label) <= columns && label.ends_with("README.md"))
            );
            labels.dedup();
            assert_eq!(labels.len(), paths.len(), "{columns}: {labels:?}");
        }
        assert_eq!(shorten_among("a-long-name.md", [].into_iter(), 8), "…name.md");
    }
}
