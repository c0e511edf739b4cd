//! Writing a link's destination anew in the style it was written in, and proving that it leads where it must.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use super::RefactorError;
use crate::okf::edit::Splice;
use crate::okf::{BundlePath, Link, LinkKind, Page, Target};

/// The link's new destination; none when it can stay as it is.
pub(super) fn redirected(
    page: &Page,
    at: &BundlePath,
    link: &Link,
    from: &BundlePath,
    to: &BundlePath,
) -> Option<String> {
    let Target::Path { path, absolute, folder, .. } = &link.target else { return None };
    if matches!(link.kind, LinkKind::Wikilink | LinkKind::Autolink) {
        return None;
    }
    let target = super::relocate(path, from, to);
    if target == *path && (*absolute || *at == page.path) {
        return None;
    }
    let mut text = if *absolute { target.as_str().to_owned() } else { target.relative_to_page(at) };
    if *folder && !text.ends_with('/') {
        text.push('/');
    }
    let old = link.destination_span.of(&page.text);
    // A page that moves together with what it links to keeps the link as it was written.
    if at.resolve(link_path(old)).is_ok_and(|now| now == target) && !old.contains('%') && !*absolute {
        return None;
    }
    let raw = matches!(link.kind, LinkKind::Field(_));
    Some(styled(old, &text, raw))
}

/// A destination without its query and fragment.
pub(crate) fn link_path(destination: &str) -> &str {
    destination.split(['?', '#']).next().unwrap_or_default()
}

/// What a destination cannot hold as it is.
const SPECIAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'%')
    .add(b'"')
    .add(b'\'')
    .add(b'&')
    .add(b'\\')
    .add(b'#')
    .add(b'?');

/// `path` written as `old` was: its query and fragment kept, other alphabets encoded when they were.
pub(crate) fn styled(old: &str, path: &str, raw: bool) -> String {
    let tail = old.get(link_path(old).len()..).unwrap_or_default();
    if raw {
        return format!("{path}{tail}");
    }
    let encodes = link_path(old).is_ascii() && link_path(old).contains('%');
    let encoded = if encodes && !path.is_ascii() {
        path.split('/').map(|part| utf8_percent_encode(part, KEPT).to_string()).collect::<Vec<_>>().join("/")
    } else {
        let mut out = String::with_capacity(path.len());
        for c in path.chars() {
            let mut buffer = [0; 4];
            let c = &*c.encode_utf8(&mut buffer);
            if c.is_ascii() { out.extend(utf8_percent_encode(c, SPECIAL)) } else { out.push_str(c) }
        }
        out
    };
    format!("{encoded}{tail}")
}

const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Parses the new text and compares each link with what it must mean.
pub(super) fn verify(
    page: &Page,
    at: &BundlePath,
    text: &str,
    expected: &[Target],
) -> Result<(), RefactorError> {
    let now = Page::parse(at.clone(), text.into());
    let wrong = expected.iter().zip(now.links.iter().map(|l| Some(&l.target)).chain(std::iter::repeat(None)));
    let meaning = |target: &Target| match target {
        // A link of the same text that is no path of the bundle may be resolved from elsewhere now.
        Target::Path { path, fragment, .. } => (Some(path.clone()), fragment.clone()),
        _ => (None, None),
    };
    for (wanted, found) in wrong {
        if found.map(meaning) != Some(meaning(wanted)) {
            let target = wanted.path().map_or_else(|| "it".to_owned(), ToString::to_string);
            return Err(RefactorError::Unsafe { page: page.path.clone(), target });
        }
    }
    Ok(())
}

/// Where a link leads within the bundle: a file or folder, and a heading in it.
pub(super) type Goal = (BundlePath, Option<String>);

/// None for links that lead out of the bundle, nowhere, or to a name.
pub(super) fn goal(page: &Page, link: &Link) -> Option<Goal> {
    match &link.target {
        Target::Path { path, fragment, .. } => Some((path.clone(), fragment.clone())),
        Target::Anchor(fragment) => Some((page.path.clone(), Some(fragment.clone()))),
        _ => None,
    }
}

/// Whether the destination can be written anew: a name in double brackets and a bare address cannot.
pub(super) fn is_writable(link: &Link) -> bool {
    !matches!(link.kind, LinkKind::Wikilink | LinkKind::Autolink)
}

/// The destination with which `link` of `page` leads to `new` from the page `at`; none when it does so as it is written.
pub(super) fn aimed(page: &Page, link: &Link, at: &BundlePath, new: &Goal) -> Option<String> {
    let old = link.destination_span.of(&page.text);
    let is_field = matches!(link.kind, LinkKind::Field(_));
    let now =
        if is_field { Target::of_source(at, &link.destination) } else { Target::of(at, &link.destination) };
    let stays = match &now {
        Target::Path { path, fragment, .. } => (path, fragment) == (&new.0, &new.1),
        Target::Anchor(fragment) => *at == new.0 && new.1.as_ref() == Some(fragment),
        _ => false,
    };
    if stays {
        return None;
    }
    let fragment = new.1.as_ref().map(|f| match is_field {
        true => format!("#{f}"),
        false => format!("#{}", f.chars().map(encoded).collect::<String>()),
    });
    let fragment = fragment.unwrap_or_default();
    if *at == new.0 && !fragment.is_empty() && !is_field {
        return Some(fragment);
    }
    let (absolute, folder) = match &link.target {
        Target::Path { absolute, folder, .. } => (*absolute, *folder),
        _ => (false, false),
    };
    let mut path = if absolute { new.0.as_str().to_owned() } else { new.0.relative_to_page(at) };
    if folder && !path.ends_with('/') {
        path.push('/');
    }
    // What stands before the fragment keeps its style and its query.
    let head = old.split('#').next().unwrap_or_default();
    Some(styled(head, &path, is_field) + &fragment)
}

/// A character of a markdown destination.
fn encoded(c: char) -> String {
    let mut buffer = [0; 4];
    let text = &*c.encode_utf8(&mut buffer);
    if c.is_ascii() { utf8_percent_encode(text, SPECIAL).to_string() } else { text.to_owned() }
}

/// The source of what a link shows: `text` of `[text](destination)` and of the other bracketed forms.
pub(super) fn shown<'a>(page: &'a Page, link: &Link) -> Option<&'a str> {
    let source = link.span.of(&page.text);
    let inner = source.strip_prefix("![").or_else(|| source.strip_prefix('['))?;
    let close = match link.kind {
        LinkKind::Reference => inner.strip_suffix(']').and_then(|s| s.rfind("][")).or(inner.rfind(']'))?,
        _ => {
            let lead = source.len() - inner.len();
            let at = link.destination_span.start.checked_sub(link.span.start + lead);
            // Images may be references too; their destination stands elsewhere then.
            match at.and_then(|at| inner.get(..at)).and_then(|before| before.rfind("](")) {
                Some(close) => close,
                None => inner.strip_suffix(']').and_then(|s| s.rfind("][")).or(inner.rfind(']'))?,
            }
        }
    };
    inner.get(..close)
}

/// Whether the destination of a link stands elsewhere, in a definition.
pub(super) fn is_defined_elsewhere(link: &Link) -> bool {
    matches!(link.kind, LinkKind::Reference | LinkKind::Image)
        && (link.destination_span.start >= link.span.end || link.destination_span.end <= link.span.start)
}

/// A link whose definition is elsewhere, with the destination in itself.
pub(super) fn inlined(page: &Page, link: &Link, destination: &str) -> Option<String> {
    let mark = if link.kind == LinkKind::Image { "!" } else { "" };
    let plain = !destination.is_empty() && !destination.contains([' ', '(', ')', '<', '>']);
    let destination = if plain { destination.to_owned() } else { format!("<{destination}>") };
    Some(format!("{mark}[{}]({destination})", shown(page, link)?))
}

/// Compares where the body's links of a new text lead with where they must lead, in order.
pub(super) fn verify_goals(
    page: &BundlePath,
    text: &str,
    expected: &[Option<Goal>],
) -> Result<(), RefactorError> {
    let now = Page::parse(page.clone(), text.into());
    let body = now.links.iter().filter(|l| !matches!(l.kind, LinkKind::Field(_)));
    let found: Vec<Option<Goal>> = body.map(|link| goal(&now, link)).collect();
    if found == expected {
        return Ok(());
    }
    let wrong = expected.iter().enumerate().find(|(nth, wanted)| found.get(*nth) != Some(wanted));
    let target = wrong.and_then(|(_, wanted)| wanted.as_ref()).map(|(path, _)| path.to_string());
    Err(RefactorError::Unsafe { page: page.clone(), target: target.unwrap_or_else(|| "it".to_owned()) })
}

/// The link with its destination in itself, because its definition stays behind.
pub(super) fn inline(page: &Page, link: &Link, destination: Option<String>) -> Result<Splice, RefactorError> {
    let destination = destination.unwrap_or_else(|| link.destination_span.of(&page.text).to_owned());
    let text = inlined(page, link, &destination);
    text.map(|text| Splice::new(link.span, text))
        .ok_or_else(|| RefactorError::Unsafe { page: page.path.clone(), target: link.destination.clone() })
}
