//! T: the vocabulary of `type`.

use std::collections::{HashMap, HashSet};

use crate::lint::context::{Context, Findings, fold};
use crate::lint::registry::{TYPE_CASE, TYPE_SPRAWL, TYPE_UNDECLARED};
use crate::okf::{BundlePath, schema};
use crate::text::Span;
use crate::wiki::Wiki;

/// With more types than this, types used once look like sprawl.
const SPRAWL: usize = 6;

/// The types that `AGENTS.md` declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    names: HashSet<String>,
    /// The first of each spelling, by what [`fold`] makes of it.
    folded: HashMap<String, String>,
}

impl Vocabulary {
    pub fn of(wiki: &Wiki) -> Option<Self> {
        let agents = BundlePath::parse("/AGENTS.md").ok()?;
        let declared = schema::declared_types(wiki.page(&agents)?)?;
        let mut folded = HashMap::new();
        for name in &declared {
            folded.entry(fold(name)).or_insert_with(|| name.clone());
        }
        Some(Self { names: declared.into_iter().collect(), folded })
    }
}

/// Judges a type by the pages that have it, in tree order.
pub fn check_type(
    context: &Context<'_>,
    vocabulary: &Vocabulary,
    kind: &str,
    pages: &[BundlePath],
    findings: &mut Findings,
) {
    let Some(first) = pages.first().and_then(|path| context.wiki.page(path)) else { return };
    if vocabulary.names.contains(kind) {
        return;
    }
    let span = first.frontmatter.get("type").map_or(Span::default(), |node| node.span);
    if let Some(known) = vocabulary.folded.get(&fold(kind)) {
        let message = format!("type `{kind}` is declared in AGENTS.md as `{known}`");
        let data = [("type", kind.into()), ("declared", known.as_str().into())];
        findings.at(&TYPE_CASE, first, span, message, data);
    } else {
        let count = pages.len();
        let used = if count == 1 { "1 page has it".to_owned() } else { format!("{count} pages have it") };
        let message =
            format!("type `{kind}` is not declared in AGENTS.md ({used}): use a declared one or declare it");
        findings.at(&TYPE_UNDECLARED, first, span, message, [("type", kind.into())]);
    }
}

/// Judges all types together, given how many pages each has. Only where no list is declared.
pub fn check_sprawl(counts: impl Iterator<Item = usize>, findings: &mut Findings) {
    let (mut all, mut once) = (0, 0);
    for count in counts {
        all += 1;
        once += usize::from(count == 1);
    }
    if all > SPRAWL && once > 0 {
        let message =
            format!("{all} types, {once} of them used once: settle on fewer and list them in AGENTS.md");
        findings.whole(&TYPE_SPRAWL, &BundlePath::root(), message, []);
    }
}
