//! L: links in the body and paths in the frontmatter. One finding per occurrence, at its destination.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::lint::Profile;
use crate::lint::context::{Context, Findings, fold, wikilink_paths};
use crate::lint::registry::{
    ANCHOR_MISSING, IMAGE_MISSING, LINK_ABSOLUTE, LINK_BROKEN, LINK_CASE, LINK_OUTSIDE, PATH_ABSOLUTE,
    PATH_BROKEN, Rule, WIKILINK,
};
use crate::okf::slug::slugify;
use crate::okf::{BundlePath, Link, LinkKind, Page, PathError, Target};
use crate::text::Span;

pub fn check(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    for link in &page.links {
        let place = Place { context, page, link };
        match link.kind {
            LinkKind::Wikilink => place.wikilink(findings),
            _ => place.judge(findings),
        }
    }
}

/// Whether a link of `page` leads to a page that is nowhere, under no other spelling either.
pub fn is_gone(context: &Context<'_>, page: &Page, link: &Link) -> bool {
    let Target::Path { path, absolute, .. } = &link.target else { return false };
    path.is_markdown()
        && !context.wiki.exists(path)
        && Place { context, page, link }.meant(path, *absolute).is_none()
}

/// What a link of `page` that leads nowhere is meant for, where that is one thing.
pub fn meant(context: &Context<'_>, page: &Page, link: &Link) -> Option<BundlePath> {
    let Target::Path { path, absolute, .. } = &link.target else { return None };
    let place = Place { context, page, link };
    (!context.wiki.exists(path)).then(|| place.meant(path, *absolute)).flatten().map(|(_, meant)| meant)
}

/// Folded stems of all names that the judgement of a page looks up besides the targets of its links: what appears or
/// vanishes under one of them can change what is said of a link that leads nowhere.
pub fn asked(context: &Context<'_>, page: &Page) -> BTreeSet<String> {
    let mut stems = BTreeSet::new();
    let mut ask = |stem: &str| stems.insert(fold(stem));
    for link in &page.links {
        match &link.target {
            Target::Path { path, .. } if !context.wiki.exists(path) => {
                // As they stand, with `.md` behind, as a slug and from the root: what `Place::meant` tries.
                ask(path.stem());
                ask(path.name());
                ask(slug(&link.destination));
                from_root(&link.destination).iter().for_each(|path| {
                    ask(path.stem());
                });
            }
            Target::Name(name) if link.kind == LinkKind::Wikilink => {
                let name = name.strip_suffix(".md").unwrap_or(name);
                ask(name);
                wikilink_paths(name, page).for_each(|path| {
                    ask(path.stem());
                });
            }
            _ => {}
        }
    }
    stems
}

/// How a destination that leads nowhere still says what it means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// Another letter case or Unicode form.
    Case,
    /// Read from the bundle's root.
    FromRoot,
    /// The file name without its path.
    Slug,
    /// The same name with `.md`, or in another folder.
    Near,
}

/// One link of one page.
struct Place<'a, 'w> {
    context: &'a Context<'w>,
    page: &'a Page,
    link: &'a Link,
}

impl Place<'_, '_> {
    fn judge(&self, findings: &mut Findings) {
        let (broken, absolute_rule) = match self.link.kind {
            LinkKind::Field(_) => (&PATH_BROKEN, &PATH_ABSOLUTE),
            LinkKind::Image => (&IMAGE_MISSING, &LINK_ABSOLUTE),
            _ => (&LINK_BROKEN, &LINK_ABSOLUTE),
        };
        let what = self.what();
        let destination = &self.link.destination;
        match &self.link.target {
            Target::Invalid(PathError::Outside) => {
                let message = format!("{what} leaves the bundle: {destination}");
                self.report(&LINK_OUTSIDE, message, None, findings);
            }
            Target::Invalid(error) => {
                self.report(broken, format!("broken {what}: {destination} ({error})"), None, findings);
            }
            Target::Path { path, absolute: true, folder, .. } if self.context.profile == Profile::Wiki => {
                let advice = if self.context.wiki.exists(path) {
                    // A folder keeps its slash: without it, it is another address when served.
                    let slash = if *folder { "/" } else { "" };
                    format!(
                        "write it relative to this page: {}{slash}",
                        path.relative_to_page(&self.page.path)
                    )
                } else {
                    "write it relative to this page; nothing stands there".to_owned()
                };
                let message = format!("absolute {what}: {destination}; {advice}");
                self.report(absolute_rule, message, None, findings);
            }
            Target::Path { path, absolute, fragment, .. } => {
                if !self.context.wiki.exists(path) {
                    self.missing(broken, path, *absolute, findings);
                } else if let Some(fragment) = fragment
                    && let Some(target) = self.context.wiki.landing(path)
                {
                    self.anchor(target, fragment, findings);
                }
            }
            Target::Anchor(fragment) => self.anchor(self.page, fragment, findings),
            Target::Empty | Target::External | Target::Name(_) => {}
        }
    }

    fn what(&self) -> String {
        match &self.link.kind {
            LinkKind::Field(field) => format!("path in `{field}`"),
            LinkKind::Image => "image".to_owned(),
            _ => "link".to_owned(),
        }
    }

    /// Says why nothing stands at `path`, as far as it can be told: a link that is only written wrongly is not called
    /// broken.
    fn missing(&self, rule: &'static Rule, path: &BundlePath, absolute: bool, findings: &mut Findings) {
        let (what, destination) = (self.what(), &self.link.destination);
        let plain = match self.context.profile {
            Profile::Okf if self.link.kind != LinkKind::Image => {
                format!("{what} to something not yet written: {destination}")
            }
            _ => format!("broken {what}: {destination}"),
        };
        let Some((meant, actual)) = self.meant(path, absolute) else {
            return self.report(rule, plain, None, findings);
        };
        let advice = self.written(&actual);
        let message = match meant {
            Meant::Case => {
                let way = if path.as_str().nfc().eq(actual.as_str().nfc()) {
                    "in Unicode form (letters and accents composed or apart)"
                } else {
                    "in letter case"
                };
                format!("{what} differs from the file only {way}: {destination}; write {advice}")
            }
            Meant::FromRoot => format!(
                "{what} resolves from the bundle root, not from this page: {destination}; write {advice}"
            ),
            Meant::Slug => {
                format!("{what} is the slug of a page, not its path: {destination}; write {advice}")
            }
            Meant::Near => format!("{plain}; did you mean {advice}?"),
        };
        let rule = if meant == Meant::Case { &LINK_CASE } else { rule };
        self.report(rule, message, Some(&actual), findings);
    }

    /// The one thing that a destination which leads nowhere can be meant for.
    fn meant(&self, path: &BundlePath, absolute: bool) -> Option<(Meant, BundlePath)> {
        let (context, destination) = (self.context, &self.link.destination);
        if let Some(actual) = context.same_but_for_case(path) {
            return Some((Meant::Case, actual.clone()));
        }
        let rooted = from_root(destination)
            .filter(|rooted| !absolute && !rooted.is_root() && context.wiki.exists(rooted));
        if let Some(rooted) = rooted {
            return Some((Meant::FromRoot, rooted));
        }
        let with_extension = BundlePath::parse(&format!("{}.md", path.as_str())).ok();
        if let Some(named) = with_extension.filter(|path| context.wiki.exists(path)) {
            return Some((Meant::Near, named));
        }
        if let Some(named) = context.page_of_slug(slug(destination)) {
            return Some((Meant::Slug, named.clone()));
        }
        // The one page of that file name, elsewhere: it may have moved.
        let stem = path.is_markdown().then(|| path.stem())?;
        context.page_of_slug(stem).map(|moved| (Meant::Near, moved.clone()))
    }

    /// How this page writes the path of another.
    fn written(&self, path: &BundlePath) -> String {
        match self.context.profile {
            Profile::Wiki => path.relative_to_page(&self.page.path),
            Profile::Okf => path.as_str().to_owned(),
        }
    }

    fn anchor(&self, target: &Page, fragment: &str, findings: &mut Findings) {
        // Text fragments (`#:~:text=`) search a page instead of naming a place in it.
        let name = fragment.split(":~:").next().unwrap_or(fragment);
        if target.has_anchor(name) {
            return;
        }
        let own = target.path == self.page.path;
        let place = if own { "this page" } else { target.path.relative() };
        let plain = format!("no heading of {place} has the anchor #{name}");
        let slug = slugify(name);
        let message = if slug != name && !slug.is_empty() && target.has_anchor(&slug) {
            format!("{plain}; did you mean #{slug}?")
        } else {
            plain
        };
        let span = self.link.destination_span;
        let written = span.of(&self.page.text);
        // The fragment alone, unless an escape before it may hold a `#` too.
        let span = match written.find('#').filter(|_| written == self.link.destination) {
            Some(at) => Span::new(span.start + at, span.end),
            None => span,
        };
        let data = [("target", self.link.destination.clone().into())];
        findings.at(&ANCHOR_MISSING, self.page, span, message, data);
    }

    fn wikilink(&self, findings: &mut Findings) {
        let (written, text) = (self.link.span.of(&self.page.text), &self.link.text);
        let fragment = self.link.destination.split_once('#').map(|(_, heading)| slugify(heading));
        let fragment = fragment.map_or(String::new(), |slug| format!("#{slug}"));
        let named = match &self.link.target {
            Target::Name(name) => self.context.pages_named(name, self.page),
            _ => vec![&self.page.path],
        };
        let mut data = Map::from_iter([("target".to_owned(), self.link.destination.as_str().into())]);
        let advice = match (named.as_slice(), &self.link.target) {
            (_, Target::Anchor(_)) => format!("; write [{text}]({fragment})"),
            ([], _) => ", and no page has that name".to_owned(),
            ([one], _) => {
                data.insert("actual".to_owned(), one.relative().into());
                format!("; write [{text}]({}{fragment})", self.written(one))
            }
            (several, _) => format!(", and {} pages have that name", several.len()),
        };
        let message = format!("{written} is a wikilink, which this format does not have{advice}");
        findings.push(&WIKILINK, self.page, self.link.span, message, data);
    }

    fn report(
        &self,
        rule: &'static Rule,
        message: String,
        actual: Option<&BundlePath>,
        findings: &mut Findings,
    ) {
        let mut data = Map::new();
        if let LinkKind::Field(field) = &self.link.kind {
            data.insert("field".to_owned(), field.as_str().into());
        }
        data.insert("target".to_owned(), self.link.destination.as_str().into());
        if let Some(actual) = actual {
            data.insert("actual".to_owned(), Value::from(actual.relative()));
        }
        findings.push(rule, self.page, self.link.destination_span, message, data);
    }
}

/// What a destination says when it is read as a slug.
fn slug(destination: &str) -> &str {
    let name = destination.split('#').next().unwrap_or(destination);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Where a relative destination leads when it is read from the bundle's root.
fn from_root(destination: &str) -> Option<BundlePath> {
    let page = BundlePath::parse("/index.md").ok()?;
    Target::of(&page, destination).path().cloned()
}
