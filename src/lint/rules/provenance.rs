//! P: where a page comes from, who answers for it, and until when. Fields of OKF 0.2.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::fields::{COMPUTATION, is_empty, kind, scalar};
use crate::lint::Profile;
use crate::lint::context::{Context, Findings, MAX_NAMED, named_paths, tree_order};
use crate::lint::registry::{
    COMPUTATION_INCOMPLETE, DEPRECATED_LINKED, FOOTNOTE_UNMATCHED, PROVENANCE_SHAPE, SOURCE_CIRCULAR, STALE,
    STATUS_UNKNOWN,
};
use crate::okf::frontmatter::{Node, Value};
use crate::okf::path::Reserved;
use crate::okf::timestamp::Stamp;
use crate::okf::{BundlePath, Link, LinkKind, Page};
use crate::text::Span;

const STATUSES: [&str; 3] = ["draft", "stable", "deprecated"];

pub fn check_page(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    if context.has_provenance() || context.profile == Profile::Wiki {
        stale(context, page, findings);
        deprecated(context, page, findings);
    }
    if context.has_provenance() {
        Shape { page, findings }.check();
        status(page, findings);
        footnotes(page, findings);
        if page.kind() == Some(COMPUTATION) {
            computation(page, findings);
        }
    }
}

/// A page that its author does not answer for any more: stale when now is at or past the instant.
fn stale(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    if expiry(page).is_none_or(|expiry| context.now < expiry) {
        return;
    }
    let Some(node) = page.frontmatter.get("stale_after") else { return };
    let Some(written) = scalar(&node.value) else { return };
    let message = format!("stale since {written}: check the page, then move `stale_after`");
    findings.at(&STALE, page, node.span, message, [("since", written.into())]);
}

/// When a page becomes stale, in seconds since 1970.
pub fn expiry(page: &Page) -> Option<i64> {
    let written = scalar(&page.frontmatter.get("stale_after")?.value)?;
    Stamp::parse(written.trim()).map(|stamp| stamp.seconds)
}

/// Links to pages that are given up. A catalogue and a history have to name what there is and was, and a page that is
/// given up itself will not be mended.
fn deprecated(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    let may_name = matches!(page.path.reserved(), Some(Reserved::Index | Reserved::Log));
    if !context.any_deprecated || may_name || is_deprecated(page) {
        return;
    }
    for link in &page.links {
        let target = link.target.path().and_then(|path| context.wiki.page(path));
        if target.is_some_and(|t| t.path != page.path && is_deprecated(t)) {
            let message = format!("link to a deprecated page: {}", link.destination);
            let data = [("target", link.destination.clone().into())];
            findings.at(&DEPRECATED_LINKED, page, link.destination_span, message, data);
        }
    }
}

pub fn is_deprecated(page: &Page) -> bool {
    page.frontmatter.text("status") == Some("deprecated")
}

fn status(page: &Page, findings: &mut Findings) {
    let Some(node) = page.frontmatter.get("status").filter(|node| !is_empty(&node.value)) else { return };
    if !node.value.as_str().is_some_and(|status| STATUSES.contains(&status.trim())) {
        let value = scalar(&node.value).unwrap_or_else(|| node.span.of(&page.text));
        let message = format!("`status` is {value}: one of {}", STATUSES.join(", "));
        findings.at(&STATUS_UNKNOWN, page, node.span, message, [("value", value.into())]);
    }
}

/// P001 of one page.
struct Shape<'a> {
    page: &'a Page,
    findings: &'a mut Findings,
}

impl Shape<'_> {
    fn check(&mut self) {
        let page = self.page;
        for entry in &page.frontmatter.entries {
            let (key, node) = (entry.key.as_str(), &entry.value);
            match key {
                _ if is_empty(&node.value) => {}
                "generated" => self.signature(key, node),
                "verified" => match &node.value {
                    Value::List(items) => items.iter().for_each(|item| self.signature(key, item)),
                    // One bare mapping counts as a list of one.
                    _ => self.signature(key, node),
                },
                "sources" => {
                    if let Value::List(items) = &node.value {
                        items.iter().for_each(|item| self.source(item));
                    }
                }
                "stale_after" => self.instant(key, node, Offset::MayLack),
                "usage_window" => self.window(key, node),
                _ => {}
            }
        }
    }

    fn fault(&mut self, field: &str, span: Span, what: &str) {
        let message = format!("`{field}` {what}");
        self.findings.at(&PROVENANCE_SHAPE, self.page, span, message, [("field", field.into())]);
    }

    /// `{by: actor, at: instant}`, `by` required.
    fn signature(&mut self, key: &str, node: &Node) {
        if !matches!(node.value, Value::Map(_)) {
            let what = format!("is {} and should be a mapping `{{by: …, at: …}}`", kind(&node.value));
            return self.fault(key, node.span, &what);
        }
        let by = format!("{key}.by");
        match node.value.get("by").filter(|by| !is_empty(&by.value)) {
            None => self.fault(&by, node.span, "is missing"),
            Some(actor) if scalar(&actor.value).is_some_and(is_actor) => {}
            Some(actor) => {
                let form = "is no actor: write `<producer>/<version>`, `human:<id>` or `process:<id>`";
                self.fault(&by, actor.span, form);
            }
        }
        if let Some(at) = node.value.get("at") {
            self.instant(&format!("{key}.at"), at, Offset::Needed);
        }
    }

    /// A mapping with `resource`. A text alone is the form of 0.1, which stays readable.
    fn source(&mut self, node: &Node) {
        if !matches!(node.value, Value::Map(_)) {
            if !is_empty(&node.value) && !matches!(node.value, Value::String(_)) {
                let what = format!("holds {} and should hold mappings with `resource`", kind(&node.value));
                self.fault("sources", node.span, &what);
            }
            return;
        }
        match node.value.get("resource").filter(|node| !is_empty(&node.value)) {
            None => self.fault("sources.resource", node.span, "is missing"),
            Some(Node { value: Value::String(_), .. }) => {}
            Some(other) => self.fault("sources.resource", other.span, "is not a text"),
        }
        for key in ["id", "title", "author"] {
            let wrong = |value: &Value| !is_empty(value) && scalar(value).is_none();
            if let Some(other) = node.value.get(key).filter(|node| wrong(&node.value)) {
                self.fault(&format!("sources.{key}"), other.span, "is not a text");
            }
        }
        if let Some(count) = node.value.get("usage_count") {
            let whole =
                |value: &Value| matches!(value, Value::Number(n) if n.bytes().all(|b| b.is_ascii_digit()));
            if !is_empty(&count.value) && !whole(&count.value) {
                self.fault("sources.usage_count", count.span, "is not a whole number");
            }
        }
        if let Some(at) = node.value.get("last_modified") {
            self.instant("sources.last_modified", at, Offset::MayLack);
        }
        if let Some(window) = node.value.get("usage_window") {
            self.window("sources.usage_window", window);
        }
    }

    /// `{from, to}`.
    fn window(&mut self, field: &str, node: &Node) {
        match &node.value {
            value if is_empty(value) => {}
            Value::Map(_) => {
                for key in ["from", "to"] {
                    if let Some(at) = node.value.get(key) {
                        self.instant(&format!("{field}.{key}"), at, Offset::MayLack);
                    }
                }
            }
            other => {
                let what = format!("is {} and should be a mapping `{{from: …, to: …}}`", kind(other));
                self.fault(field, node.span, &what);
            }
        }
    }

    fn instant(&mut self, field: &str, node: &Node, offset: Offset) {
        if is_empty(&node.value) {
            return;
        }
        match scalar(&node.value).and_then(|text| Stamp::parse(text.trim())) {
            None => self.fault(field, node.span, "is not ISO 8601: write it like 2026-07-19T10:30:00Z"),
            Some(Stamp { offset: None, .. }) if offset == Offset::Needed => {
                self.fault(field, node.span, "has no offset: write it like 2026-07-19T10:30:00Z");
            }
            Some(_) => {}
        }
    }
}

/// Who did something when is an instant; until when something holds may be a day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offset {
    Needed,
    MayLack,
}

/// `<producer>/<version>`, `human:<id>` or `process:<id>`.
fn is_actor(text: &str) -> bool {
    let text = text.trim();
    let rest = text.strip_prefix("human:").or_else(|| text.strip_prefix("process:"));
    match rest {
        Some(id) => !id.trim().is_empty(),
        None => text.split_once('/').is_some_and(|(producer, version)| {
            !producer.trim().is_empty() && !version.trim().is_empty() && !producer.contains(':')
        }),
    }
}

/// Labels against the ids of `sources`, and these against the labels. On a page whose sources have no ids footnotes are only notes.
fn footnotes(page: &Page, findings: &mut Findings) {
    let Some(Value::List(items)) = page.frontmatter.get("sources").map(|node| &node.value) else { return };
    let mut ids: BTreeMap<&str, Span> = BTreeMap::new();
    for node in items.iter().filter_map(|item| item.value.get("id")) {
        if let Some(id) = scalar(&node.value).map(str::trim).filter(|id| !id.is_empty()) {
            ids.entry(id).or_insert(node.span);
        }
    }
    if ids.is_empty() {
        return;
    }
    let cited: BTreeSet<&str> =
        page.footnotes.iter().filter(|note| !note.definition).map(|note| note.label.as_str()).collect();
    let mut said = BTreeSet::new();
    for note in &page.footnotes {
        let label = note.label.as_str();
        if !ids.contains_key(label) && said.insert(label) {
            let message = format!("footnote [^{label}] names no `id` of `sources`");
            findings.at(&FOOTNOTE_UNMATCHED, page, note.span, message, [("label", label.into())]);
        }
    }
    // A page that cites nothing at all has other ways to say where it comes from.
    if cited.is_empty() {
        return;
    }
    for (id, span) in ids.into_iter().filter(|(id, _)| !cited.contains(id)) {
        let message = format!("source `{id}` is never cited: no footnote [^{id}]");
        findings.at(&FOOTNOTE_UNMATCHED, page, span, message, [("label", id.into())]);
    }
}

/// What an Attested Computation needs to be run again: on what, and exactly one text of it.
fn computation(page: &Page, findings: &mut Findings) {
    let front = &page.frontmatter;
    let type_span = front.get("type").map_or(Span::default(), |node| node.span);
    let given = |key: &str| front.get(key).filter(|node| !is_empty(&node.value));
    let mut report = |field: &str, span: Span, message: &str| {
        findings.at(&COMPUTATION_INCOMPLETE, page, span, message, [("field", field.into())]);
    };
    if given("runtime").is_none() {
        report("runtime", type_span, "an Attested Computation needs `runtime`: what runs it");
    }
    let fences = computation_fences(page);
    match (given("computation"), fences.as_slice()) {
        (None, [_]) | (Some(_), []) => {}
        (None, []) => report(
            "computation",
            type_span,
            "no computation: give a file in `computation` or one fence under `# Computation`",
        ),
        (Some(_), [fence, ..]) => report(
            "computation",
            *fence,
            "two computations: this fence and the file in `computation`; keep one",
        ),
        (None, [_, second, ..]) => {
            report("computation", *second, "more than one fence under `# Computation`; keep one");
        }
    }
}

/// The fences under the heading `Computation`, up to the next heading of its level.
fn computation_fences(page: &Page) -> Vec<Span> {
    let mut after = page.headings.iter().skip_while(|h| !h.text.eq_ignore_ascii_case("computation"));
    let Some(heading) = after.next() else { return Vec::new() };
    let end = after.find(|h| h.level <= heading.level).map_or(page.text.len(), |h| h.span.start);
    let inside = |fence: &&Span| fence.start >= heading.span.end && fence.end <= end;
    page.fences.iter().filter(inside).copied().collect()
}

/// The circles in which `pages` derive from themselves through `sources`: the members of each, its first page in tree order
/// in front. Of a page whose circle is asked for, everything that its sources lead to must be among `pages`.
pub fn circles(pages: &[&Page]) -> Vec<Vec<BundlePath>> {
    let path_of = |number: usize| pages.get(number).map(|page| page.path.clone());
    let mut groups: Vec<Vec<BundlePath>> = strongly_connected(&edges(pages))
        .into_iter()
        .map(|group| group.into_iter().filter_map(path_of).collect())
        .collect();
    groups.iter_mut().for_each(|group| group.sort_by(tree_order));
    groups
}

/// Judges one circle.
pub fn check_circle(context: &Context<'_>, circle: &[BundlePath], findings: &mut Findings) {
    let pages: Vec<&Page> =
        circle.iter().filter_map(|path| context.wiki.page(path)).map(|page| &**page).collect();
    let Some(cycle) = shortest_cycle(&edges(&pages), 0) else { return };
    let cycle: Vec<&Page> = cycle.iter().filter_map(|number| pages.get(*number)).copied().collect();
    let [page, rest @ ..] = cycle.as_slice() else { return };
    let next = rest.first().unwrap_or(page);
    let span = sources(page).find(|(path, _)| **path == next.path).map_or(Span::default(), |(_, span)| span);
    let paths: Vec<BundlePath> = cycle.iter().map(|page| page.path.clone()).collect();
    let mut shown: Vec<&str> = paths.iter().take(MAX_NAMED).map(|path| path.relative()).collect();
    shown.extend((paths.len() > MAX_NAMED).then_some("…"));
    shown.push(page.path.relative());
    let message = format!("page derives from itself: {}", shown.join(" -> "));
    findings.at(&SOURCE_CIRCULAR, page, span, message, [("cycle", named_paths(&paths))]);
}

/// For each page the places in `pages` of its sources, in the order in which it names them.
fn edges(pages: &[&Page]) -> Vec<Vec<usize>> {
    let numbers: HashMap<&BundlePath, usize> =
        pages.iter().enumerate().map(|(number, page)| (&page.path, number)).collect();
    let of = |page: &&Page| sources(page).filter_map(|(path, _)| numbers.get(path).copied()).collect();
    pages.iter().map(of).collect()
}

/// The targets of `sources`, and where they stand.
pub fn sources(page: &Page) -> impl Iterator<Item = (&BundlePath, Span)> {
    let is_source = |link: &&Link| matches!(&link.kind, LinkKind::Field(field) if field == "sources");
    page.links
        .iter()
        .filter(is_source)
        .filter_map(|link| link.target.path().map(|path| (path, link.destination_span)))
}

/// The sets of two and more numbers that can reach each other, and those that have an edge to themselves (Kosaraju:
/// one walk forwards for the order of leaving, one backwards). Iterative, linear.
fn strongly_connected(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (from, list) in edges.iter().enumerate() {
        for to in list {
            back.get_mut(*to).into_iter().for_each(|list| list.push(from));
        }
    }
    let mut seen = vec![false; edges.len()];
    let mut left = Vec::new();
    for start in 0..edges.len() {
        // A number, and whether everything behind it is done.
        let mut waiting = vec![(start, false)];
        while let Some((number, done)) = waiting.pop() {
            if done {
                left.push(number);
            } else if visit(&mut seen, number) {
                waiting.push((number, true));
                waiting.extend(edges.get(number).into_iter().flatten().map(|next| (*next, false)));
            }
        }
    }
    let mut seen = vec![false; edges.len()];
    let mut groups = Vec::new();
    for start in left.into_iter().rev() {
        let mut group = Vec::new();
        let mut waiting = vec![start];
        while let Some(number) = waiting.pop() {
            if visit(&mut seen, number) {
                group.push(number);
                waiting.extend(back.get(number).into_iter().flatten());
            }
        }
        let own = |number: &usize| edges.get(*number).is_some_and(|list| list.contains(number));
        if group.len() > 1 || group.first().is_some_and(own) {
            groups.push(group);
        }
    }
    groups
}

/// Whether this is the first visit.
fn visit(seen: &mut [bool], number: usize) -> bool {
    seen.get_mut(number).is_some_and(|seen| !std::mem::replace(seen, true))
}

/// The shortest way from `start` back to it, without `start` at the end.
fn shortest_cycle(edges: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut from: HashMap<usize, usize> = HashMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(number) = waiting.pop_front() {
        for next in edges.get(number)?.iter().copied() {
            if next == start {
                let steps = std::iter::successors(Some(number), |at| from.get(at).copied());
                let mut cycle: Vec<usize> = steps.collect();
                cycle.reverse();
                return Some(cycle);
            }
            if let Entry::Vacant(entry) = from.entry(next) {
                entry.insert(number);
                waiting.push_back(next);
            }
        }
    }
    None
}
