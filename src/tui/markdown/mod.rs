//! Markdown as styled rows. To be replaced by the renderer; this one shows the source.
use super::theme::Theme;
use crate::okf::{Link, Page, Target};
use ratatui::text::Line;
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    pub lines: Vec<Line<'static>>,
    pub links: Vec<RenderedLink>,
    pub headings: Vec<(usize, String)>,
    pub rows: Vec<usize>,
}
#[derive(Debug, Clone)]
pub struct RenderedLink {
    pub link: usize,
    pub target: Target,
    pub destination: String,
    pub spans: Vec<(usize, std::ops::Range<u16>)>,
}
pub fn render_page(page: &Page, width: u16, theme: &Theme, broken: &dyn Fn(&Link) -> bool) -> Rendered {
    let _ = broken;
    render_text(page.body_text(), width, theme)
}
pub fn render_text(text: &str, width: u16, theme: &Theme) -> Rendered {
    let _ = theme;
    let mut r = Rendered::default();
    let mut at = 0;
    for l in text.split_inclusive('\n') {
        let s = crate::text::Safe::line(l.trim_end()).into_string();
        for w in crate::text::width::wrap(&s, width as usize) {
            r.lines.push(Line::raw(s.get(w).unwrap_or_default().to_owned()));
            r.rows.push(at);
        }
        at += l.len();
    }
    r
}
