//! A change as diff rows. To be replaced by the renderer; this one shows a plain patch.
use super::theme::Theme;
use crate::bundle::FileChange;
use ratatui::text::Line;
#[derive(Debug, Clone, Default)]
pub struct DiffView {
    pub lines: Vec<Line<'static>>,
    pub hunks: Vec<usize>,
}
pub fn render(change: &FileChange, width: u16, theme: &Theme) -> DiffView {
    let _ = (width, theme);
    let (b, a) = change.texts().unwrap_or((None, None));
    let t = crate::text::diff::unified(change.path.relative(), b, a);
    DiffView { hunks: vec![0], lines: t.lines().map(|l| Line::raw(l.to_owned())).collect() }
}
