//! The staged overlay: a bundle with pending changes on top. It implements the same read trait as
//! storage, so the agent, the linter and the preview see the proposed bundle with no special case, and it is the only
//! thing that an agent can write to (invariant I3).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::apply::Applied;
use super::change::{ChangeKind, ChangeSet, FileChange};
use super::error::{Error, ErrorKind};
use super::hunk::Resolved;
use super::merge::{self, Rebased};
use super::permission::{Operation, Rules};
use super::storage::{Entry, EntryKind, Read, Stat, Write, check_name, check_size};
use crate::okf::BundlePath;

#[cfg(test)]
mod tests;

/// Pending changes over `base`. Shared by reference; writes lock inside. Writes check the rules.
pub struct Staged {
    base: Arc<dyn Read>,
    rules: Rules,
    pending: Mutex<Pending>,
}

/// Files that differ from the base, by path.
#[derive(Default)]
struct Pending {
    id: u64,
    files: BTreeMap<BundlePath, File>,
}

/// One touched file.
#[derive(Debug, Clone)]
struct File {
    /// Content in the base when it was first touched.
    before: Option<Arc<[u8]>>,
    /// Content now.
    after: Option<Arc<[u8]>>,
    /// It came here by renaming this file of the base, which is gone.
    from: Option<BundlePath>,
}

impl Pending {
    /// A deleted or renamed path has an entry without content.
    fn get(&self, path: &BundlePath) -> Option<&Option<Arc<[u8]>>> {
        self.files.get(path).map(|file| &file.after)
    }

    /// Touched files below `folder`.
    fn below(&self, folder: &BundlePath) -> impl Iterator<Item = (&BundlePath, &File)> {
        let folder = folder.clone();
        let begin = folder.clone();
        self.files
            .range::<BundlePath, _>((Bound::Excluded(&begin), Bound::Unbounded))
            .take_while({
                let folder = folder.clone();
                move |(path, _)| path.as_str().starts_with(folder.as_str())
            })
            .filter(move |(path, _)| path.is_within(&folder))
    }

    fn is_folder(&self, path: &BundlePath) -> bool {
        self.below(path).any(|(_, file)| file.after.is_some())
    }

    /// Where the file of the base at `path` went by renaming, if it did.
    fn moved_to(&self, path: &BundlePath) -> Option<BundlePath> {
        let target = self.files.iter().find(|(_, file)| file.from.as_ref() == Some(path));
        target.filter(|(_, file)| file.before.is_none()).map(|(target, _)| target.clone())
    }

    /// Drops an entry that says nothing: the base shows through again.
    fn tidy(&mut self, path: &BundlePath) {
        if self.files.get(path).is_some_and(|file| file.before == file.after) {
            self.files.remove(path);
        }
    }
}

impl Staged {
    pub fn new(base: Arc<dyn Read>, rules: Rules) -> Self {
        Self { base, rules, pending: Mutex::default() }
    }

    /// The bundle as it would be with these changes, for whoever judges it: no rule hides anything. A change that does not
    /// fit the base is left out; applying it will say why.
    pub fn over(base: Arc<dyn Read>, changes: &ChangeSet) -> Self {
        let staged = Self::new(base, Rules { rules: Vec::new(), protect_dot_names: false });
        for file in &changes.files {
            let result = match (&file.kind, &file.after) {
                (ChangeKind::Rename { from }, after) => {
                    staged.rename(from, &file.path).and_then(|()| match after {
                        Some(after) => staged.write(&file.path, after),
                        None => Ok(()),
                    })
                }
                (_, Some(after)) => staged.write(&file.path, after),
                (_, None) => staged.delete(&file.path),
            };
            if let Err(error) = result {
                tracing::debug!("left out of the proposed bundle: {error}");
            }
        }
        staged
    }

    /// Takes up changes that were pending before, whatever stands in the base now: what does not fit it any more shows when
    /// it is looked at or applied. In place of all that is pending.
    pub fn restore(&self, changes: &ChangeSet) {
        let mut pending = self.pending();
        pending.files.clear();
        pending.id += 1;
        for FileChange { path, kind, before, after } in &changes.files {
            let file = match kind {
                ChangeKind::Rename { from } => {
                    let gone = File { before: before.clone(), after: None, from: None };
                    pending.files.insert(from.clone(), gone);
                    File { before: None, after: after.clone(), from: Some(from.clone()) }
                }
                _ => File { before: before.clone(), after: after.clone(), from: None },
            };
            pending.files.insert(path.clone(), file);
        }
    }

    pub fn base(&self) -> &Arc<dyn Read> {
        &self.base
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A picture of what is pending. Changes that came to nothing are left out.
    pub fn changes(&self) -> ChangeSet {
        let pending = self.pending();
        let mut renamed = Vec::new();
        let mut files = Vec::new();
        for (path, file) in &pending.files {
            let (kind, before) = match (&file.before, &file.after) {
                (None, Some(_)) => match file.from.as_ref().and_then(|f| Some((f, pending.files.get(f)?))) {
                    Some((from, File { before: Some(before), after: None, .. })) => {
                        renamed.push(from.clone());
                        (ChangeKind::Rename { from: from.clone() }, Some(before.clone()))
                    }
                    _ => (ChangeKind::Create, None),
                },
                (Some(before), Some(after)) if before != after => (ChangeKind::Modify, Some(before.clone())),
                (Some(before), None) => (ChangeKind::Delete, Some(before.clone())),
                _ => continue,
            };
            files.push(FileChange { path: path.clone(), kind, before, after: file.after.clone() });
        }
        files.retain(|f| f.kind != ChangeKind::Delete || !renamed.contains(&f.path));
        ChangeSet { id: pending.id, files }
    }

    /// Forgets the pending change of this file, whatever it is (rejected, or thrown away). A rename is forgotten at
    /// both of its paths.
    pub fn discard(&self, path: &BundlePath) {
        let mut pending = self.pending();
        pending.id += 1;
        let target = pending.moved_to(path).unwrap_or_else(|| path.clone());
        if let Some(File { before: None, from: Some(from), .. }) = pending.files.remove(&target)
            && pending.files.get(&from).is_some_and(|file| file.after.is_none())
        {
            pending.files.remove(&from);
        }
    }

    /// Takes note that exactly `change` is now in the base. What was staged on top of it in the meantime stays pending
    /// and starts from it.
    pub fn landed(&self, change: &FileChange) {
        let mut pending = self.pending();
        pending.id += 1;
        let mut settle = |path: &BundlePath, now: &Option<Arc<[u8]>>| {
            if let Some(file) = pending.files.get_mut(path) {
                file.before = now.clone();
                file.from = None;
            }
            pending.tidy(path);
        };
        settle(&change.path, &change.after);
        if let ChangeKind::Rename { from } = &change.kind {
            settle(from, &None);
        }
    }

    /// Takes note of what [`super::apply::apply`] did with `changes`: what landed is in the base now, and what was
    /// rejected is forgotten unless it was proposed anew in the meantime. The rest stays pending.
    pub fn settle(&self, changes: &ChangeSet, applied: &Applied) {
        for change in applied.landed.iter().filter_map(|path| changes.file(path)) {
            self.landed(change);
        }
        let now = self.changes();
        for (path, _) in &applied.rejected {
            if changes.file(path) == now.file(path) {
                self.discard(path);
            }
        }
    }

    /// Takes note of what was written of a set that was decided hunk by hunk: what was refused of a file is forgotten, what
    /// was put off stays pending. A file that was proposed anew in the meantime stays as it is.
    pub fn settle_resolved(&self, resolved: &Resolved, applied: &Applied) {
        let before = self.changes();
        self.settle(&resolved.changes, applied);
        for (path, left) in &resolved.left {
            let anew = resolved.proposed.file(path).map(|f| &f.after) != before.file(path).map(|f| &f.after);
            if anew || applied.failed.iter().any(|(at, _)| at == path) {
                continue;
            }
            match left {
                None => self.discard(path),
                Some(left) => {
                    let mut pending = self.pending();
                    pending.id += 1;
                    if let Some(file) = pending.files.get_mut(path) {
                        file.after = left.after.clone();
                    }
                    pending.tidy(path);
                }
            }
        }
    }

    /// Holds every pending change against the base as it is now, and moves those along that can be: a proposal over a file
    /// that somebody changed becomes a new one over what stands there, to be looked at anew. Returns what was not as it was
    /// when the change was proposed, in path order. With `contested` a conflict too is moved along, as [`merge::over`] has it: only
    /// for who shows it to a person before it is decided.
    pub fn rebase(&self, contested: bool) -> Vec<(BundlePath, Rebased)> {
        let mut moved = Vec::new();
        for change in self.changes().files {
            // Both of its names are compared when it is applied.
            if matches!(change.kind, ChangeKind::Rename { .. }) {
                continue;
            }
            let now = match self.base.read_bytes(&change.path) {
                Ok(bytes) => Some(bytes),
                Err(e) if e.kind == ErrorKind::NotFound => None,
                // It cannot be read, so nothing can be said of it; applying will say what is wrong.
                Err(_) => continue,
            };
            let rebased = merge::rebase(&change, now.as_deref());
            if rebased == Rebased::Unchanged {
                continue;
            }
            let mut pending = self.pending();
            // Staged anew in the meantime: that proposal saw the file as it is.
            if pending.get(&change.path) != Some(&change.after) {
                continue;
            }
            let next = match &rebased {
                Rebased::Merged(merged) => merged.after.clone(),
                Rebased::Done => now.as_deref().map(Arc::from),
                Rebased::Conflict(_) => merge::over(&change, now.as_deref()),
                Rebased::Unchanged => change.after.clone(),
            };
            if contested || !matches!(rebased, Rebased::Conflict(_)) {
                pending.id += 1;
                let before = now.as_deref().map(Arc::from);
                pending.files.insert(change.path.clone(), File { before, after: next, from: None });
                pending.tidy(&change.path);
            }
            drop(pending);
            moved.push((change.path, rebased));
        }
        moved
    }

    // A poisoned lock guards a map that is whole: the worst is that one operation is half noted, and it was refused.
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Content that is pending at `path`, links of the base followed: `Some(None)` when it is deleted.
    fn overlaid(&self, path: &BundlePath) -> Option<Option<Arc<[u8]>>> {
        self.overlaid_at(path, || self.base.resolve(path))
    }

    /// The same where it is known, or can be asked, what `path` leads to.
    fn overlaid_at(&self, path: &BundlePath, real: impl FnOnce() -> BundlePath) -> Option<Option<Arc<[u8]>>> {
        {
            let pending = self.pending();
            if let Some(content) = pending.get(path) {
                return Some(content.clone());
            }
            if pending.files.is_empty() {
                return None;
            }
        }
        let real = real();
        if real == *path { None } else { self.pending().get(&real).cloned() }
    }

    /// The rules hold for the name that is read and for what it leads to by symbolic links.
    fn may_read(&self, path: &BundlePath) -> Result<(), Error> {
        self.real(path).map(|_| ())
    }

    /// What a path that may be read leads to.
    fn real(&self, path: &BundlePath) -> Result<BundlePath, Error> {
        self.rules.check(Operation::Read, path)?;
        let real = self.base.resolve(path);
        if real != *path {
            self.rules.check(Operation::Read, &real)?;
        }
        Ok(real)
    }

    fn is_pending_folder(&self, path: &BundlePath) -> bool {
        self.pending().is_folder(path)
    }

    /// Notes the base's content of `path` at its first touch. The lock is held by the caller.
    fn touch<'a>(&self, pending: &'a mut Pending, path: &BundlePath) -> Result<&'a mut File, Error> {
        if !pending.files.contains_key(path) {
            let before = match self.base.read_bytes(path) {
                Ok(bytes) => Some(Arc::from(bytes)),
                Err(e) if e.kind == ErrorKind::NotFound => None,
                Err(e) => return Err(e),
            };
            let file = File { after: before.clone(), before, from: None };
            pending.files.insert(path.clone(), file);
        }
        pending.files.get_mut(path).ok_or_else(|| Error::not_found(path))
    }

    /// Whether a write to `path` is allowed and would make sense in the base and in what is pending.
    fn check_write(&self, pending: &Pending, path: &BundlePath) -> Result<(), Error> {
        self.rules.check(Operation::Write, path)?;
        check_target(&*self.base, pending, path)
    }

    /// What is staged for a path, else what `base` reads.
    fn read_over(
        &self,
        path: &BundlePath,
        base: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let real = self.real(path)?;
        match self.overlaid_at(path, || real) {
            Some(Some(bytes)) => Ok(bytes.to_vec()),
            Some(None) => Err(Error::not_found(path)),
            None => match base() {
                Err(e) if e.kind == ErrorKind::NotFound && self.is_pending_folder(path) => {
                    Err(Error::is_directory(path))
                }
                result => result,
            },
        }
    }
}

fn check_target(base: &dyn Read, pending: &Pending, path: &BundlePath) -> Result<(), Error> {
    check_name(path)?;
    base.writable(path)?;
    let mut above = path.parent();
    while let Some(folder) = above.filter(|f| !f.is_root()) {
        if pending.get(&folder).is_some_and(Option::is_some) {
            return Err(Error::below_file(path, &folder));
        }
        above = folder.parent();
    }
    if pending.is_folder(path) { Err(Error::is_directory(path)) } else { Ok(()) }
}

impl Read for Staged {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        self.may_read(folder)?;
        let allowed = |entry: &Entry| {
            let named = self.rules.check(Operation::Read, &entry.path).is_ok();
            named && (!entry.link || self.may_read(&entry.path).is_ok())
        };
        if self.pending().files.is_empty() {
            let mut entries = self.base.list(folder)?;
            entries.retain(allowed);
            return Ok(entries);
        }
        let real = self.base.resolve(folder);
        let mut entries: BTreeMap<BundlePath, Entry> = match self.base.list(&real) {
            Ok(entries) => entries.into_iter().map(|e| (e.path.clone(), e)).collect(),
            Err(e) if e.kind == ErrorKind::NotFound && self.is_pending_folder(&real) => BTreeMap::new(),
            Err(_) if matches!(self.pending().get(&real), Some(None)) => {
                return Err(Error::not_found(folder));
            }
            Err(_) if matches!(self.pending().get(&real), Some(Some(_))) => {
                return Err(Error::not_a_directory(folder));
            }
            Err(e) => return Err(Error { path: folder.as_str().to_owned(), ..e }),
        };
        for entry in entries.values_mut().filter(|e| e.link) {
            // What the link leads to may be pending.
            match self.overlaid(&entry.path) {
                Some(Some(bytes)) => entry.len = bytes.len() as u64,
                Some(None) => (entry.kind, entry.len) = (EntryKind::Special("dangling symlink"), 0),
                None => {}
            }
        }
        for (path, file) in self.pending().below(&real) {
            let depth = real.components().count();
            let Some(name) = path.components().nth(depth) else { continue };
            let Ok(child) = real.join(name) else { continue };
            if child != *path {
                // A folder that only pending files make; one of the base is there already.
                if file.after.is_some() {
                    let kind = EntryKind::Directory;
                    entries.entry(child.clone()).or_insert(Entry { path: child, kind, len: 0, link: false });
                }
                continue;
            }
            match &file.after {
                Some(bytes) => {
                    let len = bytes.len() as u64;
                    entries.insert(
                        child.clone(),
                        Entry { path: child, kind: EntryKind::File, len, link: false },
                    );
                }
                None => {
                    entries.remove(&child);
                }
            }
        }
        let mut entries: Vec<Entry> = entries.into_values().collect();
        if real != *folder {
            for entry in &mut entries {
                entry.path = folder.join(entry.path.name()).unwrap_or_else(|_| entry.path.clone());
            }
        }
        entries.retain(allowed);
        Ok(entries)
    }

    fn read_all(&self, paths: &[BundlePath]) -> Vec<Result<Vec<u8>, Error>> {
        // What neither a rule nor a change concerns comes from the base at once; what fails there is judged singly.
        let plain = |path: &BundlePath| self.may_read(path).is_ok() && self.overlaid(path).is_none();
        let (index, base): (Vec<usize>, Vec<BundlePath>) =
            paths.iter().cloned().enumerate().filter(|(_, path)| plain(path)).unzip();
        let read = self.base.read_all(&base).into_iter().zip(index);
        let mut found: BTreeMap<usize, Vec<u8>> =
            read.filter_map(|(bytes, index)| Some((index, bytes.ok()?))).collect();
        paths
            .iter()
            .enumerate()
            .map(|(index, path)| found.remove(&index).map_or_else(|| self.read_bytes(path), Ok))
            .collect()
    }

    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        self.may_read(path)?;
        match self.overlaid(path) {
            Some(Some(bytes)) => return Ok(Stat { kind: EntryKind::File, len: bytes.len() as u64 }),
            Some(None) => return Err(Error::not_found(path)),
            None => {}
        }
        match self.base.stat(path) {
            Err(e) if e.kind == ErrorKind::NotFound && self.is_pending_folder(path) => {
                Ok(Stat { kind: EntryKind::Directory, len: 0 })
            }
            result => result,
        }
    }

    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.rules.check(Operation::Read, path)?;
        if self.pending().get(path).is_none()
            && let Some(bytes) = self.base.read_plain(path)
        {
            return Ok(bytes);
        }
        self.read_over(path, || self.base.read_bytes(path))
    }

    fn read_large(&self, path: &BundlePath, most: u64) -> Result<Vec<u8>, Error> {
        self.rules.check(Operation::Read, path)?;
        self.read_over(path, || self.base.read_large(path, most))
    }

    fn resolve(&self, path: &BundlePath) -> BundlePath {
        self.base.resolve(path)
    }

    fn writable(&self, path: &BundlePath) -> Result<(), Error> {
        self.check_write(&self.pending(), path)
    }
}

impl Write for Staged {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        let mut pending = self.pending();
        self.check_write(&pending, path)?;
        check_size(path, bytes.len())?;
        let file = self.touch(&mut pending, path)?;
        if file.before.is_none()
            && file.after.is_none()
            && let Err(e) = self.rules.check_new(path)
        {
            pending.tidy(path);
            return Err(e);
        }
        file.after = Some(Arc::from(bytes));
        // A new file at the old path of a rename: the moved one is a new file of its own now.
        for other in pending.files.values_mut().filter(|other| other.from.as_ref() == Some(path)) {
            other.from = None;
        }
        pending.tidy(path);
        pending.id += 1;
        Ok(())
    }

    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        let mut pending = self.pending();
        self.check_write(&pending, path)?;
        let file = self.touch(&mut pending, path)?;
        let existed = file.after.take().is_some();
        file.from = None;
        pending.tidy(path);
        if !existed {
            return Err(Error::not_found(path));
        }
        pending.id += 1;
        Ok(())
    }

    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        let mut pending = self.pending();
        self.check_write(&pending, from)?;
        self.rules.check(Operation::Write, to)?;
        let source = self.touch(&mut pending, from)?.clone();
        let Some(content) = source.after else {
            pending.tidy(from);
            return Err(Error::not_found(from));
        };
        let target = match check_target(&*self.base, &pending, to).and_then(|()| self.touch(&mut pending, to))
        {
            Ok(target) if target.after.is_some() => Err(Error::exists(to)),
            Ok(_) => self.rules.check_new(to),
            Err(e) if e.kind == ErrorKind::IsDirectory => Err(Error::exists(to)),
            Err(e) => Err(e),
        };
        if let Err(e) = target {
            pending.tidy(from);
            pending.tidy(to);
            return Err(e);
        }
        // The file of the base that this content came from, if there is one and it is not where it goes. When that file was
        // moved away before, what stands at its name now came from elsewhere.
        let moved = pending.files.values().any(|file| file.from.as_ref() == Some(from));
        let origin = source.from.or_else(|| (source.before.is_some() && !moved).then(|| from.clone()));
        if let Some(file) = pending.files.get_mut(to) {
            file.after = Some(content);
            file.from = origin.filter(|origin| origin != to);
        }
        if let Some(file) = pending.files.get_mut(from) {
            file.after = None;
            file.from = None;
        }
        pending.tidy(from);
        pending.tidy(to);
        pending.id += 1;
        Ok(())
    }
}
