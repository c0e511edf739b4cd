//! What a search is narrowed to. It judges what a chunk says of itself and reads nothing.

use serde::{Deserialize, Serialize};

use crate::okf::BundlePath;

/// The half of a bundle that a chunk comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Pages: what lies below `/wiki`.
    Wiki,
    /// Sources: what lies below `/raw`.
    Raw,
}

impl Area {
    /// Where `path` lies; none for what is never searched.
    pub fn of(path: &BundlePath) -> Option<Self> {
        match path.as_str().split('/').nth(1) {
            Some("wiki") => Some(Self::Wiki),
            Some("raw") => Some(Self::Raw),
            _ => None,
        }
    }
}

/// Whether a chunk is prose or (a part of) a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkKind {
    Text,
    Table,
}

/// What hits must be like; an empty filter lets everything pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub area: Option<Area>,
    pub kind: Option<ChunkKind>,
    /// Part of the path, without regard to case.
    pub path_contains: Option<String>,
    /// Part of the heading path (`Dams > Costs`), without regard to case.
    pub section_contains: Option<String>,
}

impl Filter {
    /// Whether a chunk of this kind, at this place, is let through.
    pub fn passes(&self, path: &str, area: Area, kind: ChunkKind, section: &str) -> bool {
        let within = |wanted: &Option<String>, text: &str| {
            wanted.as_ref().is_none_or(|wanted| text.to_lowercase().contains(&wanted.to_lowercase()))
        };
        self.area.is_none_or(|wanted| wanted == area)
            && self.kind.is_none_or(|wanted| wanted == kind)
            && within(&self.path_contains, path)
            && within(&self.section_contains, section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_narrows_by_every_one_of_its_parts() {
        let passes = |filter: &Filter| {
            filter.passes("/wiki/dams/La Rance.md", Area::Wiki, ChunkKind::Text, "Dams > Costs")
        };
        assert!(passes(&Filter::default()));
        let path = Filter { path_contains: Some("la rance".into()), ..Filter::default() };
        assert!(passes(&path));
        let section = Filter { section_contains: Some("dams > co".into()), ..path.clone() };
        assert!(passes(&section));
        assert!(!passes(&Filter { section_contains: Some("history".into()), ..path }));
        assert!(!passes(&Filter { area: Some(Area::Raw), ..Filter::default() }));
        assert!(!passes(&Filter { kind: Some(ChunkKind::Table), ..Filter::default() }));
    }
}
