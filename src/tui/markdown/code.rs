//! Code blocks: a bar, the language, coloured lines cut where the width ends.

use ratatui::text::Span;

use super::flow::{Break, Canvas, Run};
use super::head;
use crate::text::{Safe, width};
use crate::tui::highlight;

/// Longest name of a language that is shown, in columns.
const MAX_LABEL: usize = 40;

/// Draws a block that begins at byte `start` of the source; `places` says where pieces of `code` stand there.
pub fn draw(canvas: &mut Canvas<'_>, info: &str, code: &str, start: usize, places: &[(usize, usize)]) {
    let theme = canvas.theme;
    let bar = Span::styled("│ ", theme.border);
    // The rest of a line that was cut has another mark, as a bar would look like a line of its own.
    let more = Span::styled("↪ ", theme.border);
    canvas.at(start);
    let label =
        width::truncate(Safe::line(head(highlight::language(info), 4 * MAX_LABEL)).as_str(), MAX_LABEL);
    let blank = code.trim().is_empty();
    if !label.is_empty() || blank {
        let label = if label.is_empty() { "(empty)".to_owned() } else { label };
        canvas.push(bar.clone(), bar.clone(), false);
        canvas.note(label);
        canvas.pop();
    }
    let mut at = 0;
    for (line, stretches) in code.split_inclusive('\n').zip(highlight::highlight(info, code).iter()) {
        let place = places.partition_point(|(begin, _)| *begin <= at).checked_sub(1);
        let source = place.and_then(|p| places.get(p)).map_or(start, |(begin, source)| source + (at - begin));
        let runs: Vec<Run> = stretches
            .iter()
            .map(|(kind, range)| {
                let text = line.get(range.clone()).unwrap_or_default();
                Run::new(text, kind.style(theme), source + range.start..source + range.end)
            })
            .collect();
        canvas.at(source);
        canvas.push(bar.clone(), more.clone(), false);
        canvas.text(&runs, Break::Anywhere);
        canvas.pop();
        at += line.len();
    }
}
