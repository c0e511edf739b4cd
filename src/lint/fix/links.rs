//! Fixes of links and path-valued fields: another destination in the style of the old one, a link for a wikilink.

use std::collections::HashMap;

use super::index::plain;
use super::{Fix, Safety};
use crate::lint::context::Context;
use crate::lint::registry::{LINK_ABSOLUTE, LINK_CASE, PATH_ABSOLUTE};
use crate::lint::{Finding, Profile};
use crate::okf::edit::{self, Splice};
use crate::okf::frontmatter::{Node, Value};
use crate::okf::slug::slugify;
use crate::okf::{BundlePath, Link, LinkKind, Page, Target};
use crate::text::Span;
use crate::wiki::refactor::{link_path, styled};

/// The links of one page, found by place.
pub struct Places<'a> {
    page: &'a Page,
    /// By the span of the destination.
    links: HashMap<Span, &'a Link>,
    wikilinks: HashMap<Span, &'a Link>,
    /// Other links in the order of the text, each with the furthest end up to it.
    around: Vec<(usize, usize)>,
}

impl<'a> Places<'a> {
    pub fn new(page: &'a Page) -> Self {
        let is_wikilink = |link: &&Link| link.kind == LinkKind::Wikilink;
        let others = || page.links.iter().filter(|link| !is_wikilink(link));
        let mut around: Vec<(usize, usize)> = others().map(|link| (link.span.start, link.span.end)).collect();
        around.sort_unstable();
        let mut furthest = 0;
        for (_, end) in &mut around {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Self {
            page,
            links: others().map(|link| (link.destination_span, link)).collect(),
            wikilinks: page.links.iter().filter(is_wikilink).map(|link| (link.span, link)).collect(),
            around,
        }
    }

    pub fn is_of(&self, page: &Page) -> bool {
        self.page.path == page.path
    }

    /// Whether a link stands in the text of another.
    fn is_nested(&self, span: Span) -> bool {
        let before = self.around.partition_point(|(start, _)| *start <= span.start);
        before.checked_sub(1).and_then(|at| self.around.get(at)).is_some_and(|(_, end)| *end > span.start)
    }

    /// A destination that leads where the old one should.
    pub fn redirect(&self, context: &Context<'_>, finding: &Finding) -> Option<Fix> {
        let page = self.page;
        let link = self.links.get(&finding.span?)?;
        if finding.data.get("target")?.as_str()? != link.destination {
            return None;
        }
        let Target::Path { path, folder, fragment, .. } = &link.target else { return None };
        let made_relative =
            [&LINK_ABSOLUTE, &PATH_ABSOLUTE].iter().any(|rule| finding.rule.code == rule.code);
        let goal = match made_relative {
            true => path.clone(),
            false => BundlePath::parse(finding.data.get("actual")?.as_str()?).ok()?,
        };
        if !context.wiki.exists(&goal) {
            return None;
        }
        let safe = made_relative || finding.rule.code == LINK_CASE.code;
        let safety = if safe { Safety::Safe } else { Safety::Unsafe };
        let text = written(context.profile, page, link, &goal, *folder, fragment.as_deref())?;
        let splice = match &link.kind {
            LinkKind::Field(field) => {
                let key = field.split('.').next().unwrap_or(field);
                field_value(page, link, key, &text)?
            }
            _ => Splice::new(link.destination_span, text.clone()),
        };
        Some(Fix::of_page(
            finding,
            safety,
            &format!("{} becomes {text}", link.destination),
            page,
            vec![splice],
        ))
    }

    pub fn wikilink(&self, context: &Context<'_>, finding: &Finding) -> Option<Fix> {
        let page = self.page;
        let link = self.wikilinks.get(&finding.span?)?;
        // An embedded page is more than a link to it.
        let embedded = link.span.of(&page.text).starts_with('!');
        if embedded || self.is_nested(link.span) || link.text.trim().is_empty() {
            return None;
        }
        let heading = link.destination.split_once('#').map(|(_, heading)| heading);
        let fragment = heading.map(|heading| slugify(heading.split('|').next().unwrap_or(heading).trim()));
        let (target, path) = match &link.target {
            Target::Name(name) => match context.pages_named(name, page).as_slice() {
                [one] => (context.wiki.page(one)?.as_ref(), destination(context.profile, page, one)),
                _ => return None,
            },
            _ => (page, String::new()),
        };
        let tail = fragment.as_ref().filter(|f| !f.is_empty()).map_or(String::new(), |f| format!("#{f}"));
        let there = fragment.as_ref().is_none_or(|fragment| target.has_anchor(fragment));
        let safety = if there { Safety::Safe } else { Safety::Unsafe };
        let head = if path.is_empty() { path } else { styled("", &path, false) };
        let text = format!("[{}]({head}{tail})", plain(&link.text));
        let what = format!("{} becomes {text}", link.span.of(&page.text));
        Some(Fix::of_page(finding, safety, &what, page, vec![Splice::new(link.span, text)]))
    }
}

/// How a page writes the path of something, before any encoding.
fn destination(profile: Profile, page: &Page, goal: &BundlePath) -> String {
    match profile {
        Profile::Okf => goal.as_str().to_owned(),
        Profile::Wiki => {
            let path = goal.relative_to_page(&page.path);
            // A colon in the first part would be read as the end of a scheme (RFC 3986, 4.2).
            let schemed = path.split('/').next().is_some_and(|first| first.contains(':'));
            if schemed { format!("./{path}") } else { path }
        }
    }
}

/// A destination that is proved to lead to `goal`, with the query and fragment of the old one.
fn written(
    profile: Profile,
    page: &Page,
    link: &Link,
    goal: &BundlePath,
    folder: bool,
    fragment: Option<&str>,
) -> Option<String> {
    let old = &*link.destination;
    let tail = old.get(link_path(old).len()..)?;
    let escaped = link.destination_span.of(&page.text) != old;
    if escaped && tail.contains(['\\', '&', '<', '>', '(', ')', '"', '\'', ' ']) {
        return None;
    }
    let mut path = destination(profile, page, goal);
    if folder && !path.ends_with('/') {
        path.push('/');
    }
    let field = match &link.kind {
        LinkKind::Field(field) => Some(field.as_str()),
        _ => None,
    };
    let leads_there = |text: &String| {
        let target = match field {
            Some("sources") => Target::of_source(&page.path, text),
            Some(_) => Target::of_field(&page.path, text),
            None => Target::of(&page.path, text),
        };
        matches!(&target, Target::Path { path, fragment: now, .. } if path == goal && now.as_deref() == fragment)
    };
    let mut candidates = Vec::new();
    for path in [path.clone(), format!("./{path}")] {
        if field.is_some() {
            candidates.push(styled(old, &path, true));
        }
        candidates.push(styled(old, &path, false));
    }
    candidates.into_iter().find(leads_there)
}

/// The value of a field that holds a path.
fn field_value(page: &Page, link: &Link, key: &str, text: &str) -> Option<Splice> {
    if !edit::is_own(&page.text, &page.frontmatter, key, link.span) {
        return None;
    }
    let value = Value::String(link.destination.clone());
    Some(edit::set_scalar(&page.text, &Node { value, span: link.span }, text))
}
