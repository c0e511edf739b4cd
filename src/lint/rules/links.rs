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
            let message = missing(context, page, &what, destination, path, *absolute);
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

/// Why nothing stands at `path`, as far as it can be told: a link that is only written wrongly is not called broken.
fn missing(
    context: &Context<'_>,
    page: &Page,
    what: &str,
    destination: &str,
    path: &BundlePath,
    absolute: bool,
) -> String {
    let written = |path: &BundlePath| match context.profile {
        Profile::Wiki => path.relative_to_page(&page.path),
        Profile::Okf => path.as_str().to_owned(),
    };
    if let Some(actual) = context.same_but_for_case(path) {
        let actual = written(actual);
        return format!(
            "{what} differs from the file in letter case or Unicode form: {destination}; write {actual}"
        );
    }
    let rooted =
        from_root(destination).filter(|path| !absolute && !path.is_root() && context.wiki.exists(path));
    if let Some(rooted) = rooted {
        let rooted = written(&rooted);
        return format!(
            "{what} resolves from the bundle root, not from this page: {destination}; write {rooted}"
        );
    }
    let plain = match context.profile {
        Profile::Wiki => format!("broken {what}: {destination}"),
        Profile::Okf => format!("{what} to something not yet written: {destination}"),
    };
    let with_extension = BundlePath::parse(&format!("{}.md", path.as_str())).ok();
    if let Some(named) = with_extension.filter(|path| context.wiki.exists(path)) {
        return format!("{plain}; did you mean {}?", written(&named));
    }
    let slug = destination.split('#').next().unwrap_or(destination);
    if let Some(named) = context.page_of_slug(slug.strip_suffix(".md").unwrap_or(slug)) {
        let named = written(named);
        return format!("{what} is the slug of a page, not its path: {destination}; write {named}");
    }
    plain
}

/// Where a relative destination leads when it is read from the bundle's root.
fn from_root(destination: &str) -> Option<BundlePath> {
    let page = BundlePath::parse("/index.md").ok()?;
    Target::of(&page, destination).path().cloned()
}
