//! T: the vocabulary of `type`.

use std::collections::BTreeMap;

use crate::lint::context::{Context, Findings, fold, tree_order};
use crate::lint::registry::{TYPE_CASE, TYPE_SPRAWL, TYPE_UNDECLARED};
use crate::okf::{BundlePath, Page};
use crate::text::Span;

/// With more types than this, types used once look like sprawl.
const SPRAWL: usize = 6;

pub fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut types: BTreeMap<&str, Vec<&Page>> = BTreeMap::new();
    for page in context.concepts() {
        if let Some(kind) = page.kind() {
            types.entry(kind).or_default().push(page);
        }
    }
    match context.declared_types() {
        Some(declared) => check_declared(declared, types, findings),
        None => check_sprawl(&types, findings),
    }
}

fn check_declared(declared: &[String], types: BTreeMap<&str, Vec<&Page>>, findings: &mut Findings) {
    let mut folded = BTreeMap::new();
    for name in declared {
        folded.entry(fold(name)).or_insert(name.as_str());
    }
    for (kind, mut pages) in types {
        if declared.iter().any(|name| name == kind) {
            continue;
        }
        pages.sort_by(|a, b| tree_order(&a.path, &b.path));
        let Some(first) = pages.first() else { continue };
        let span = first.frontmatter.get("type").map_or(Span::default(), |node| node.span);
        if let Some(known) = folded.get(&fold(kind)) {
            let message = format!("type `{kind}` is declared in AGENTS.md as `{known}`");
            let data = [("type", kind.into()), ("declared", (*known).into())];
            findings.at(&TYPE_CASE, first, span, message, data);
        } else {
            let count = pages.len();
            let used = if count == 1 { "1 page has it".to_owned() } else { format!("{count} pages have it") };
            let message = format!(
                "type `{kind}` is not declared in AGENTS.md ({used}): use a declared one or declare it"
            );
            findings.at(&TYPE_UNDECLARED, first, span, message, [("type", kind.into())]);
        }
    }
}

fn check_sprawl(types: &BTreeMap<&str, Vec<&Page>>, findings: &mut Findings) {
    let once = types.values().filter(|pages| pages.len() == 1).count();
    if types.len() > SPRAWL && once > 0 {
        let all = types.len();
        let message =
            format!("{all} types, {once} of them used once: settle on fewer and list them in AGENTS.md");
        findings.whole(&TYPE_SPRAWL, &BundlePath::root(), message, []);
    }
}
