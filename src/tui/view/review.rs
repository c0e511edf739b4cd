//! The review overlay: what would change, file by file, with the verdict of the proposed bundle above.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint;
use crate::bundle::{ChangeKind, Decision};
use crate::text::{Safe, width};
use crate::tui::action::Action;
use crate::tui::keymap::Layer;
use crate::tui::state::State;
use crate::tui::state::layout::{diff_text, review as review_regions, review_warning};
use crate::tui::state::review::{Review, ReviewFile, Verdict};
use crate::tui::theme::Theme;

pub fn draw(state: &State, buffer: &mut Buffer) {
    let Some(review) = &state.review else { return };
    let theme = &state.fixed.theme;
    let regions = review_regions(state);
    let (approved, rejected, open) = review.tally();
    let title = Line::from(vec![
        Span::styled(format!(" Review: {} ", plural(review.files.len(), "file")), theme.title),
        Span::styled(format!("{approved} approved, {rejected} rejected, {open} open "), theme.dim),
    ]);
    let right = if review.applying {
        Line::styled(" writing… ", theme.accent)
    } else {
        Line::styled(" nothing is written yet ", theme.dim)
    };
    paint::sheet(buffer, regions.outer, &title, &right, theme);
    verdict(review, regions.verdict, theme, buffer);
    list(state, review, regions.files, buffer);
    if let Some(text) = review_warning(state) {
        let rows = width::wrap(&text, usize::from(regions.warning.width));
        for (row, range) in rows.into_iter().enumerate() {
            let part = text.get(range).unwrap_or_default().to_owned();
            paint::line(buffer, regions.warning, row, &Line::styled(part, theme.warning));
        }
    }
    diff(review, regions.diff, theme, buffer);
    if regions.diff.x > regions.files.x {
        let rule = Rect { x: regions.diff.x.saturating_sub(1), width: 1, ..regions.files };
        for row in 0..usize::from(rule.height) {
            paint::line(buffer, rule, row, &Line::styled("│", theme.border));
        }
    }
    keys(state, review, regions.keys, buffer);
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn verdict(review: &Review, area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let Some(Verdict { counts, appeared, vanished }) = &review.verdict else {
        paint::line(buffer, area, 0, &Line::styled(" judging the proposed bundle…", theme.dim));
        return;
    };
    let delta = if appeared.is_empty() && vanished.is_empty() {
        vec![Span::styled("no finding appears or vanishes", theme.dim)]
    } else {
        let bad = if appeared.is_empty() { theme.dim } else { theme.warning };
        let good = if vanished.is_empty() { theme.dim } else { theme.success };
        vec![
            Span::styled(format!("+{} new", appeared.len()), bad),
            Span::raw("  "),
            Span::styled(format!("−{} healed", vanished.len()), good),
        ]
    };
    let mut spans = vec![
        Span::styled(
            if review.tally().1 == 0 {
                " If all of it is written: "
            } else {
                " If all but the rejected is written: "
            },
            theme.text,
        ),
        Span::styled(
            plural(counts.errors, "error"),
            if counts.errors > 0 { theme.error } else { theme.success },
        ),
        Span::styled(
            format!(", {}", plural(counts.warnings, "warning")),
            if counts.warnings > 0 { theme.warning } else { theme.text },
        ),
        Span::styled(format!(", {}   ", plural(counts.hints, "hint")), theme.text),
    ];
    spans.extend(delta);
    paint::line(buffer, area, 0, &paint::cut(&Line::from(spans), usize::from(area.width)));
    let rows = usize::from(area.height).saturating_sub(1);
    for (index, finding) in appeared.iter().take(rows).enumerate() {
        let more = if index + 1 == rows && appeared.len() > rows {
            format!("  (+{} more)", appeared.len() - rows)
        } else {
            String::new()
        };
        let line = Line::styled(format!("   + {finding}{more}"), theme.warning);
        paint::line(buffer, area, index + 1, &paint::cut(&line, usize::from(area.width)));
    }
}

fn list(state: &State, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let wiki = state.keeps_pages_in_wiki();
    let height = usize::from(area.height);
    for (index, file) in review.files.iter().enumerate().skip(review.list_top).take(height) {
        let row = index - review.list_top;
        let odd = review.changes.file(&file.weighed.path).is_some_and(|f| f.oddity(wiki).is_some());
        paint::line(buffer, area, row, &file_line(file, odd, usize::from(area.width), theme));
        if index == review.selected {
            paint::row_style(buffer, area, row, theme.selected);
        }
    }
}

fn file_line(file: &ReviewFile, odd: bool, columns: usize, theme: &Theme) -> Line<'static> {
    let (decision, decision_style) = match &file.decision {
        Decision::Pending => ("· ", theme.dim),
        Decision::Approved { .. } => ("✓ ", theme.success),
        Decision::Rejected { .. } => ("✗ ", theme.error),
    };
    let (kind, kind_style) = match &file.kind {
        ChangeKind::Create => ("new ", theme.added),
        ChangeKind::Modify => ("mod ", theme.staged),
        ChangeKind::Delete => ("del ", theme.removed),
        ChangeKind::Rename { .. } => ("mov ", theme.staged),
    };
    let stale = if file.stale { " changed on disk" } else { "" };
    let (added, removed) = if file.weighed.binary {
        ("binary".to_owned(), String::new())
    } else {
        (format!("+{}", file.weighed.added), format!(" −{}", file.weighed.removed))
    };
    let mark = if odd { "! " } else { "" };
    let right = width::width(mark) + width::width(&added) + width::width(&removed) + width::width(stale);
    let room = columns.saturating_sub(1 + 2 + 4 + right + 2);
    let name = paint::shorten(Safe::line(file.weighed.path.relative()).as_str(), room);
    let pad = columns.saturating_sub(1 + 2 + 4 + width::width(&name) + right + 1);
    Line::from(vec![
        Span::raw(" "),
        Span::styled(decision, decision_style),
        Span::styled(kind, kind_style),
        Span::styled(mark, theme.warning),
        Span::styled(name, theme.text),
        Span::styled(stale, theme.warning),
        Span::raw(" ".repeat(pad)),
        Span::styled(added, theme.added),
        Span::styled(removed, theme.removed),
    ])
}

fn diff(review: &Review, area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let Some(file) = review.file() else { return };
    let mut head =
        vec![Span::styled(format!("── {} ", Safe::line(file.weighed.path.relative())), theme.title)];
    match &file.kind {
        ChangeKind::Create => head.push(Span::styled("new file ", theme.added)),
        ChangeKind::Modify => {}
        ChangeKind::Delete => head.push(Span::styled("deleted ", theme.removed)),
        ChangeKind::Rename { from } => {
            head.push(Span::styled(format!("from {} ", Safe::line(from.relative())), theme.staged));
        }
    }
    match &file.decision {
        Decision::Pending => {}
        Decision::Approved { .. } => head.push(Span::styled("approved ", theme.success)),
        Decision::Rejected { reason } if reason.is_empty() => {
            head.push(Span::styled("rejected ", theme.error))
        }
        Decision::Rejected { reason } => {
            head.push(Span::styled(format!("rejected: {} ", Safe::line(reason)), theme.error));
        }
    }
    let mut line = paint::cut(&Line::from(head), usize::from(area.width));
    let used = line.width();
    line.push_span(Span::styled("─".repeat(usize::from(area.width).saturating_sub(used)), theme.border));
    paint::line(buffer, area, 0, &line);
    let text = diff_text(area);
    let Some((_, diff)) = &file.diff else {
        paint::line(buffer, text, 0, &Line::styled(" drawing the change…", theme.dim));
        return;
    };
    let height = usize::from(text.height);
    for (row, line) in diff.lines.iter().skip(file.top).take(height).enumerate() {
        paint::line(buffer, text, row, line);
    }
    if diff.lines.len() > file.top + height && height > 0 {
        let below = diff.lines.len() - file.top - height;
        let label = format!(" ↓ {below} more ");
        let columns = u16::try_from(width::width(&label)).unwrap_or(0).min(text.width);
        let at =
            Rect { x: text.x + text.width - columns, y: text.y + text.height - 1, width: columns, height: 1 };
        paint::line(buffer, at, 0, &Line::styled(label, theme.selected));
    }
}

fn keys(state: &State, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &state.fixed.theme;
    let columns = usize::from(area.width).saturating_sub(1);
    let hint = |action: Action, what: &str| {
        let key = state.fixed.keymap.hint(Layer::Review, action).unwrap_or_default();
        vec![Span::styled(key, theme.key), Span::styled(format!(" {what}"), theme.dim)]
    };
    let (approved, rejected, _) = review.tally();
    let apply = if approved + rejected > 0 {
        format!("write {approved}, reject {rejected}")
    } else {
        "write what is decided".to_owned()
    };
    let first = vec![
        hint(Action::Approve, "approve"),
        hint(Action::Reject, "reject"),
        hint(Action::Undecide, "undo"),
        hint(Action::ApproveAll, "approve all"),
        hint(Action::Apply, &apply),
        hint(Action::Close, "later"),
    ];
    let second = vec![
        hint(Action::HunkNext, "next change"),
        hint(Action::FileNext, "next file"),
        hint(Action::Down, "scroll"),
        hint(Action::PageDown, "page"),
    ];
    let at = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    for (row, parts) in [first, second].into_iter().enumerate() {
        paint::line(buffer, at, row, &paint::fitting(parts, "   ", columns, theme.dim));
    }
}
