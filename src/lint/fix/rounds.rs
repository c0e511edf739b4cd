//! Applying fixes: those that do not touch each other at once, then the bundle is judged again, until nothing is left to do.
//! What a fix would break, and what keeps changing, is left as it was.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::{Fix, Safety, offers};
use crate::bundle::{ChangeSet, Error, ErrorKind, Mode, Operation, Read, Rules, Staged, Write};
use crate::lint::registry::{FRONTMATTER_INVALID, INDEX_STALE};
use crate::lint::{Finding, Level, Levels, Options, Report, Rule, delta, lint};
use crate::okf::edit::{self, Splice};
use crate::okf::{BundlePath, ContentHash};
use crate::wiki::Wiki;

/// More rounds than any chain of fixes needs: quoting a block uncovers its fields, these their links.
const MAX_ROUNDS: usize = 12;

/// What is to be fixed, and on which terms.
pub struct Request<'a> {
    pub base: Arc<dyn Read>,
    /// Who may write where; a fix of a file that they protect is refused.
    pub rules: &'a Rules,
    /// What is off in them is not fixed, and yet a fix may not bring a fault of it.
    pub options: &'a Options,
    /// Unsafe fixes too.
    pub all: bool,
    /// Only findings of these.
    pub wanted: &'a dyn Fn(&Finding) -> bool,
}

/// A fix that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fixed {
    #[serde(serialize_with = "code")]
    pub rule: &'static Rule,
    pub safety: Safety,
    pub path: BundlePath,
    /// Where the finding stood when it was mended.
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// The files that were changed for it.
    pub files: Vec<BundlePath>,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn code<S: serde::Serializer>(rule: &&'static Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.code)
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// To be decided on and applied like any other set.
    pub changes: ChangeSet,
    pub fixed: Vec<Fixed>,
    /// Files that have a fix and are left as they are, each with the reason.
    pub refused: BTreeMap<BundlePath, Error>,
    /// What is left to say once the changes are applied, of every rule, and of which bundle.
    pub report: Report,
    pub wiki: Wiki,
}

/// Fixes what can be fixed, on a copy.
pub fn run(mut wiki: Wiki, request: &Request<'_>) -> Outcome {
    let original = wiki.clone();
    let staged = Staged::new(request.base.clone(), unruled());
    let mut refused = BTreeMap::new();
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut seen: HashSet<(BundlePath, ContentHash)> = HashSet::new();
    let every_rule = Options { levels: Levels::NONE, ..request.options.clone() };
    let mut report = lint(&wiki, &every_rule);
    let wanted = |finding: &&Finding| {
        let told = request.options.levels.of(finding.rule, finding.level).is_some();
        told && (request.wanted)(finding)
    };
    for _ in 0..MAX_ROUNDS {
        let wanted = report.findings.iter().filter(wanted);
        let fixes = offers(&wiki, &report, &every_rule, wanted).into_iter().flatten();
        let fixes: Vec<Fix> = fixes.filter(|fix| request.all || fix.safety == Safety::Safe).collect();
        let chosen = choose(fixes, |path| {
            refused.contains_key(path)
                || may_write(request, path).map_err(|error| refused.insert(path.clone(), error)).is_err()
        });
        let before: BTreeMap<BundlePath, Option<Arc<str>>> = chosen
            .edits
            .keys()
            .map(|path| (path.clone(), wiki.page(path).map(|page| page.text.clone())))
            .collect();
        let mut written = Vec::new();
        for (path, splices) in chosen.edits {
            let old = before.get(&path).cloned().flatten();
            let text = edit::apply(old.as_deref().unwrap_or_default(), splices.into_values());
            seen.insert((path.clone(), hash(old.as_deref())));
            let result = match seen.contains(&(path.clone(), hash(Some(&text)))) {
                true => Err(Error::new(ErrorKind::Invalid, &path, "not fixed: its fixes undo each other")),
                false => staged.write(&path, text.as_bytes()),
            };
            match result {
                Ok(()) => written.push(path),
                Err(error) => {
                    refused.insert(path, error);
                }
            }
        }
        let mut done: Vec<Fixed> = chosen.fixes.into_iter().filter_map(|fix| made(fix, &written)).collect();
        if written.is_empty() {
            break;
        }
        wiki.update(&staged, &written);
        let mut after = lint(&wiki, &every_rule);
        let harmed = harmed(&report, &after, &done, &written);
        if !harmed.is_empty() {
            for path in &harmed {
                restore(&staged, path, before.get(path).cloned().flatten());
                refused.insert(path.clone(), would_break(path));
            }
            wiki.update(&staged, &harmed.iter().cloned().collect::<Vec<_>>());
            after = lint(&wiki, &every_rule);
            done.retain_mut(|fixed| {
                fixed.files.retain(|file| !harmed.contains(file));
                !fixed.files.is_empty()
            });
        }
        report = after;
        fixed.append(&mut done);
    }
    let mut changes = staged.changes();
    // What was staged starts from the files as they are now; what was judged may be older.
    let moved: Vec<BundlePath> =
        changes.files.iter().filter(|file| is_newer(&original, file)).map(|f| f.path.clone()).collect();
    for path in moved {
        staged.discard(&path);
        let text = "changed since it was read; run it again";
        refused.insert(path.clone(), Error::new(ErrorKind::Conflict, &path, text));
        fixed.retain(|fixed| !fixed.files.contains(&path));
        changes = staged.changes();
    }
    Outcome { changes, fixed, refused, report, wiki }
}

/// One fix alone, as a set to look at. `Err` says which file it may not touch.
pub fn change(base: &Arc<dyn Read>, rules: &Rules, wiki: &Wiki, fix: &Fix) -> Result<ChangeSet, Error> {
    let staged = Staged::new(base.clone(), rules.clone());
    for (path, splices) in &fix.edits {
        let text = wiki.page(path).map(|page| page.text.clone()).unwrap_or_default();
        staged.write(path, edit::apply(&text, splices.iter().cloned()).as_bytes())?;
    }
    let changes = staged.changes();
    match changes.files.iter().find(|file| is_newer(wiki, file)) {
        Some(file) => {
            Err(Error::new(ErrorKind::Conflict, &file.path, "changed since it was judged; try again"))
        }
        None => Ok(changes),
    }
}

fn is_newer(judged: &Wiki, file: &crate::bundle::FileChange) -> bool {
    file.before.as_deref() != judged.page(&file.path).map(|page| page.text.as_bytes())
}

/// The linter sees the bundle as it saw it before: no rule hides a file.
fn unruled() -> Rules {
    Rules { rules: Vec::new(), protect_dot_names: false }
}

fn may_write(request: &Request<'_>, path: &BundlePath) -> Result<(), Error> {
    for path in [path, &request.base.resolve(path)] {
        request.rules.check(Operation::Write, path)?;
        if request.rules.mode(Operation::Write, path) == Mode::Ask {
            return Err(Error::must_be_looked_at(path));
        }
    }
    if request.base.exists(path).is_ok_and(|exists| !exists) {
        request.rules.check_new(path)?;
    }
    request.base.writable(path)
}

/// Fixes that can be made at once.
#[derive(Default)]
struct Chosen {
    fixes: Vec<Fix>,
    edits: BTreeMap<BundlePath, BTreeMap<(usize, usize), Splice>>,
}

/// Takes each fix whose edits touch none that was taken before; the same edit twice is one. Safe fixes come first; entries
/// are added to a catalogue only when nothing else of it is changed, for a mended link may be the entry. Edits of files for
/// which `is_refused` holds are left out.
fn choose(mut fixes: Vec<Fix>, mut is_refused: impl FnMut(&BundlePath) -> bool) -> Chosen {
    let completes = |fix: &Fix| fix.rule.code == INDEX_STALE.code;
    fixes.sort_by_key(|fix| (completes(fix), fix.safety));
    let mut chosen = Chosen::default();
    for mut fix in fixes {
        fix.edits.retain(|path, _| !is_refused(path));
        let free = fix.edits.iter().all(|(path, splices)| {
            let free = |taken| !completes(&fix) && splices.iter().all(|splice| is_free(taken, splice));
            chosen.edits.get(path).is_none_or(free)
        });
        if !free || fix.edits.is_empty() {
            continue;
        }
        for (path, splices) in &fix.edits {
            let taken = chosen.edits.entry(path.clone()).or_default();
            taken.extend(splices.iter().map(|s| ((s.span.start, s.span.end), s.clone())));
        }
        chosen.fixes.push(fix);
    }
    chosen
}

fn is_free(taken: &BTreeMap<(usize, usize), Splice>, splice: &Splice) -> bool {
    let (start, end) = (splice.span.start, splice.span.end);
    if let Some(same) = taken.get(&(start, end)) {
        return same.text == splice.text && !splice.span.is_empty();
    }
    let before = taken
        .range(..(start, end))
        .next_back()
        .is_none_or(|(&(other, until), _)| until <= start && other < start);
    let after =
        taken.range((start, end)..).next().is_none_or(|(&(other, _), _)| end <= other && start < other);
    before && after
}

fn made(fix: Fix, written: &[BundlePath]) -> Option<Fixed> {
    let files: Vec<BundlePath> = fix.edits.into_keys().filter(|path| written.contains(path)).collect();
    let Fix { rule, safety, path, line, column, what, .. } = fix;
    (!files.is_empty()).then_some(Fixed { rule, safety, path, line, column, message: what, files })
}

/// Files of this round that have an error which they had not; all of them when another file has one. What is wrong with a
/// block that could not be read before was there before.
fn harmed(before: &Report, after: &Report, done: &[Fixed], written: &[BundlePath]) -> BTreeSet<BundlePath> {
    let uncovered: HashSet<&BundlePath> =
        done.iter().filter(|f| f.rule.code == FRONTMATTER_INVALID.code).flat_map(|f| &f.files).collect();
    let (new, _) = delta(before, after);
    let errors = new.into_iter().filter(|f| f.level == Level::Error && !uncovered.contains(&f.path));
    let mut harmed = BTreeSet::new();
    for error in errors {
        match written.contains(&error.path) {
            true => harmed.extend([error.path.clone()]),
            false => harmed.extend(written.iter().cloned()),
        }
    }
    harmed
}

fn restore(staged: &Staged, path: &BundlePath, text: Option<Arc<str>>) {
    match text {
        // Both go to memory only and were allowed a moment ago.
        Some(text) => drop(staged.write(path, text.as_bytes())),
        None => staged.discard(path),
    }
}

fn would_break(path: &BundlePath) -> Error {
    Error::new(ErrorKind::Invalid, path, "not fixed: the fix would bring a new error; change it by hand")
}

fn hash(text: Option<&str>) -> ContentHash {
    ContentHash::of(text.unwrap_or_default().as_bytes())
}
