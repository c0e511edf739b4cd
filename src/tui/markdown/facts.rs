//! Which links and headings stand where in a text, looked up by their place in the source.

use crate::okf::page::Heading;
use crate::okf::{Link, LinkKind};

/// Links and headings of a text, in the order of the source.
pub struct Facts<'a> {
    links: &'a [Link],
    headings: &'a [Heading],
    /// Start and index of the links that stand in the text, sorted.
    order: Vec<(usize, usize)>,
    /// What the first of `links` is numbered.
    first: usize,
    broken: &'a dyn Fn(&Link) -> bool,
}

impl<'a> Facts<'a> {
    pub fn new(
        links: &'a [Link],
        headings: &'a [Heading],
        first: usize,
        broken: &'a dyn Fn(&Link) -> bool,
    ) -> Self {
        let mut order: Vec<(usize, usize)> = links
            .iter()
            .enumerate()
            .filter(|(_, link)| !matches!(link.kind, LinkKind::Field(_)))
            .map(|(index, link)| (link.span.start, index))
            .collect();
        order.sort_unstable();
        Self { links, headings, order, first, broken }
    }

    pub fn is_broken(&self, link: &Link) -> bool {
        (self.broken)(link)
    }

    /// The number to report for the link at `index`.
    pub fn number(&self, index: usize) -> usize {
        self.first + index
    }

    /// The link that begins at this byte.
    pub fn link_at(&self, start: usize) -> Option<(usize, &'a Link)> {
        self.next(start, start + 1)
    }

    /// The first link that begins in `from..to`.
    pub fn next(&self, from: usize, to: usize) -> Option<(usize, &'a Link)> {
        let at = self.order.partition_point(|(start, _)| *start < from);
        let (_, index) = self.order.get(at).filter(|(start, _)| *start < to)?;
        Some((*index, self.links.get(*index)?))
    }

    /// The anchor of the heading that begins at this byte.
    pub fn slug(&self, start: usize) -> Option<&'a str> {
        let at = self.headings.partition_point(|h| h.span.start < start);
        self.headings.get(at).filter(|h| h.span.start == start).map(|h| h.slug.as_str())
    }
}
