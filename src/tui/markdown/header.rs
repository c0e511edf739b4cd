//! A page's frontmatter in a few rows: what it is, how it is tagged, where it comes from.

use ratatui::text::Span;

use super::flow::{Canvas, Run};
use crate::okf::{Link, LinkKind, Page};
use crate::text::Safe;

pub fn draw(canvas: &mut Canvas<'_>, page: &Page, broken: &dyn Fn(&Link) -> bool) {
    let theme = canvas.theme;
    let matter = &page.frontmatter;
    if let Some(error) = &matter.error {
        canvas.at(error.span.start);
        let text = format!("The frontmatter is not readable YAML: {}", error.message);
        canvas.paragraph(&[run(text, theme.error, error.span.start)]);
        canvas.gap();
        return;
    }
    let start = matter.block.map_or(0, |b| b.start);
    canvas.at(start);
    // The title stands in the body as a heading nearly always; where it does not, or another does, it is shown here.
    let heading = page.headings.iter().find(|h| h.level == 1).map(|h| h.text.as_str());
    if let Some(title) = matter.text("title").filter(|title| heading != Some(*title)) {
        canvas.paragraph(&[run(title.to_owned(), theme.heading(1), start)]);
    }
    let mut facts: Vec<String> = Vec::new();
    facts.extend(page.kind().map(str::to_owned));
    let tags = matter.strings("tags");
    if !tags.is_empty() {
        facts.push(tags.iter().map(|t| format!("#{t}")).collect::<Vec<_>>().join(" "));
    }
    facts.extend(matter.text("timestamp").map(str::to_owned));
    if !facts.is_empty() {
        canvas.paragraph(&[run(facts.join(" · "), theme.dim, start)]);
    }
    if let Some(description) = matter.text("description") {
        canvas.paragraph(&[run(description.to_owned(), theme.quote, start)]);
    }
    for (index, link) in page.links.iter().enumerate() {
        let LinkKind::Field(field) = &link.kind else { continue };
        canvas.at(link.span.start);
        let lost = broken(link);
        let at = canvas.link(index, link.target.clone(), link.destination.clone());
        let style = if lost { theme.link_broken } else { theme.link };
        canvas.push(Span::styled(format!("{}: ", Safe::line(field)), theme.dim), Span::raw("  "));
        canvas.paragraph(&[Run {
            text: format!("{}{}", link.destination, if lost { " ✗" } else { "" }),
            style,
            link: Some(at),
            offset: link.span.start,
        }]);
        canvas.pop();
    }
    canvas.gap();
}

fn run(text: String, style: ratatui::style::Style, offset: usize) -> Run {
    Run { text, style, link: None, offset }
}
