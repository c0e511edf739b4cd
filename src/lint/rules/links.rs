//! L: links in the body and paths in the frontmatter. One finding per occurrence, at its destination.

use crate::lint::Profile;
use crate::lint::context::{Context, Findings};
use crate::lint::registry::{LINK_ABSOLUTE, LINK_BROKEN, LINK_OUTSIDE, PATH_ABSOLUTE, PATH_BROKEN, Rule};
use crate::okf::{BundlePath, Link, LinkKind, Page, PathError, Target};

pub fn check(context: &Context<'_>, page: &Page, findings: &mut Findings) {
    for link in &page.links {
        match &link.kind {
            LinkKind::Inline | LinkKind::Reference | LinkKind::Html | LinkKind::Autolink => {
                judge(context, page, link, None, findings);
            }
            LinkKind::Field(field) => judge(context, page, link, Some(field), findings),
            LinkKind::Image | LinkKind::Wikilink => {}
        }
    }
}

fn judge(context: &Context<'_>, page: &Page, link: &Link, field: Option<&str>, findings: &mut Findings) {
    let (broken, absolute_rule) =
        if field.is_some() { (&PATH_BROKEN, &PATH_ABSOLUTE) } else { (&LINK_BROKEN, &LINK_ABSOLUTE) };
    let what = field.map_or_else(|| "link".to_owned(), |field| format!("path in `{field}`"));
    let destination = &link.destination;
    match &link.target {
        Target::Invalid(PathError::Outside) => {
            let message = format!("{what} leaves the bundle: {destination}");
            report(&LINK_OUTSIDE, page, link, field, message, findings);
        }
        Target::Invalid(error) => {
            report(broken, page, link, field, format!("broken {what}: {destination} ({error})"), findings);
        }
        Target::Path { path, absolute: true, .. } if context.profile == Profile::Wiki => {
            let advice = if context.wiki.exists(path) {
                format!("write it relative to this page: {}", path.relative_to_page(&page.path))
            } else {
                "write it relative to this page; nothing stands there".to_owned()
            };
            let message = format!("absolute {what}: {destination}; {advice}");
            report(absolute_rule, page, link, field, message, findings);
        }
        Target::Path { path, absolute, .. } if !context.wiki.exists(path) => {
            let mut message = match context.profile {
                Profile::Wiki => format!("broken {what}: {destination}"),
                Profile::Okf => format!("{what} to something not yet written: {destination}"),
            };
            if let Some(advice) = advice(context, page, destination, path, *absolute) {
                message.push_str("; ");
                message.push_str(&advice);
            }
            report(broken, page, link, field, message, findings);
        }
        _ => {}
    }
}

fn report(
    rule: &'static Rule,
    page: &Page,
    link: &Link,
    field: Option<&str>,
    message: String,
    findings: &mut Findings,
) {
    let target = link.destination.clone().into();
    let span = link.destination_span;
    match field {
        Some(field) => {
            findings.at(rule, page, span, message, [("field", field.into()), ("target", target)]);
        }
        None => findings.at(rule, page, span, message, [("target", target)]),
    }
}

/// What was probably meant.
fn advice(
    context: &Context<'_>,
    page: &Page,
    destination: &str,
    path: &BundlePath,
    absolute: bool,
) -> Option<String> {
    let written = |path: &BundlePath| path.relative_to_page(&page.path);
    if let Some(actual) = context.same_but_for_case(path) {
        return Some(format!(
            "it stands there as {}, which differs in letter case or Unicode form",
            written(actual)
        ));
    }
    let with_extension = BundlePath::parse(&format!("{}.md", path.as_str())).ok();
    if let Some(named) = with_extension.filter(|path| context.wiki.exists(path)) {
        return Some(format!("did you mean {}?", written(&named)));
    }
    if !absolute
        && let Some(rooted) =
            from_root(destination).filter(|path| !path.is_root() && context.wiki.exists(path))
    {
        return Some(format!("resolves from the bundle root: write {}", written(&rooted)));
    }
    let slug = destination.split('#').next().unwrap_or(destination);
    if !slug.contains('/') {
        let slug = slug.strip_suffix(".md").unwrap_or(slug);
        if let Some(named) = context.page_of_slug(slug) {
            return Some(format!("it names a page by its slug: write {}", written(named)));
        }
    }
    None
}

/// Where a relative destination leads when it is read from the bundle's root.
fn from_root(destination: &str) -> Option<BundlePath> {
    let page = BundlePath::parse("/index.md").ok()?;
    Target::of(&page, destination).path().cloned()
}
