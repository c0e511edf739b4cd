//! B: file names that not every system can hold, or hold apart.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::lint::context::{Context, Findings};
use crate::lint::registry::NAME_NOT_PORTABLE;
use crate::okf::BundlePath;

/// Names that Windows keeps for devices, with any extension (Microsoft, "Naming Files, Paths, and Namespaces"); with a
/// digit from 1 to 9 behind it also `COM` and `LPT`.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];

/// Characters that the same rules forbid in a name, besides control characters.
const FORBIDDEN: [char; 7] = ['<', '>', ':', '"', '|', '?', '*'];

/// Judges paths of one folded spelling, in tree order. Those in one folder clash; below two folders that are one
/// elsewhere, everything would be said again.
pub fn check(context: &Context<'_>, alike: &[BundlePath], findings: &mut Findings) {
    let mut folders: BTreeMap<&str, &BundlePath> = BTreeMap::new();
    for path in alike {
        if let Some(fault) = fault(path.name()) {
            findings.whole(&NAME_NOT_PORTABLE, path, format!("name {fault}"), []);
        } else if is_page_in_capitals(context, path) {
            let message = "name ends in another spelling of `.md`: only `.md` makes a page, so this is none";
            findings.whole(&NAME_NOT_PORTABLE, path, message, []);
        }
        let folder = path.as_str().strip_suffix(path.name()).unwrap_or("/");
        match folders.entry(folder) {
            Entry::Vacant(entry) => {
                entry.insert(path);
            }
            Entry::Occupied(first) => {
                let first = first.get();
                let message = format!(
                    "name differs from {} only in letter case or Unicode form: some systems cannot hold both",
                    first.name()
                );
                findings.whole(&NAME_NOT_PORTABLE, path, message, [("other", first.relative().into())]);
            }
        }
    }
}

/// What is wrong with a name by itself.
fn fault(name: &str) -> Option<String> {
    if name.chars().any(char::is_control) {
        return Some("holds a control character".to_owned());
    }
    if let Some(found) = name.chars().find(|c| FORBIDDEN.contains(c)) {
        return Some(format!("holds `{found}`, which Windows does not allow"));
    }
    if name.ends_with(['.', ' ']) {
        return Some("ends in a dot or a blank, which Windows drops".to_owned());
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    is_device(stem).then(|| format!("`{stem}` is kept for a device on Windows"))
}

fn is_device(stem: &str) -> bool {
    let port = |name: &str| {
        let digit = stem.get(..3).filter(|head| head.eq_ignore_ascii_case(name)).and_then(|_| stem.get(3..));
        digit.is_some_and(|digit| matches!(digit.as_bytes(), [b'1'..=b'9']))
    };
    DEVICES.iter().any(|name| stem.eq_ignore_ascii_case(name)) || port("COM") || port("LPT")
}

/// Whether a file would be a page if only its extension were written `.md`.
fn is_page_in_capitals(context: &Context<'_>, path: &BundlePath) -> bool {
    let other = path.extension().filter(|e| e.eq_ignore_ascii_case("md") && *e != "md");
    let renamed = other.and_then(|e| path.as_str().strip_suffix(e)).map(|stem| format!("{stem}md"));
    renamed
        .and_then(|name| BundlePath::parse(&name).ok())
        .is_some_and(|page| context.wiki.would_be_page(&page))
}
