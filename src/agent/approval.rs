//! When changes are decided: at the end of a turn, after each write, or at once for paths that the person named. A decision
//! made here is the person's: they wrote the configuration.

use std::collections::BTreeMap;

use crate::bundle::change::oddity::keeps_pages_in_wiki;
use crate::bundle::{
    ChangeKind, ChangeSet, Decision, Decisions, Mode, Operation, PathPattern, Rule, Rules, Staged,
};

/// When the person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    #[default]
    Turn,
    /// The turn waits after each step that staged something.
    Write,
}

/// How a session's changes are decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approval {
    pub when: When,
    /// New and changed files on these paths are approved without a question.
    pub automatic: Vec<PathPattern>,
}

impl Approval {
    /// What is approved at once of these changes: text that is created or modified on a named path, and that nobody wants to
    /// be asked about. What should be looked at twice, deletions and moves are never.
    pub fn decide(&self, staged: &Staged, changes: &ChangeSet) -> Decisions {
        let mut decisions = BTreeMap::new();
        if self.automatic.is_empty() {
            return decisions;
        }
        let named = Rules {
            rules: vec![Rule {
                operations: vec![Operation::Write],
                paths: self.automatic.clone(),
                mode: Mode::Deny,
            }],
            protect_dot_names: false,
        };
        let wiki = keeps_pages_in_wiki(&**staged.base());
        for file in &changes.files {
            let plain =
                matches!(file.kind, ChangeKind::Create | ChangeKind::Modify) && file.oddity(wiki).is_none();
            let covered = named.mode(Operation::Write, &file.path) == Mode::Deny;
            if plain && covered && staged.rules().mode(Operation::Write, &file.path) == Mode::Allow {
                decisions.insert(file.path.clone(), Decision::Approved { shown: file.shown() });
            }
        }
        decisions
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bundle::{MemoryBundle, Write};
    use crate::okf::BundlePath;

    #[test]
    fn h36_only_plain_text_on_named_paths_is_approved_and_never_what_is_asked_about() {
        let path = |text: &str| BundlePath::parse(text).unwrap();
        let base =
            MemoryBundle::new([("/AGENTS.md", "x"), ("/wiki/log.md", "x"), ("/wiki/old.md", "x")]).unwrap();
        let ask = Rule::folder(Operation::Write, &path("/wiki/notes/asked.md"), Mode::Ask);
        let staged = Staged::new(Arc::new(base), Rules::manager(true).after(&[ask]));
        for file in
            ["/wiki/log.md", "/wiki/notes/a.md", "/wiki/notes/asked.md", "/wiki/notes/run.sh", "/wiki/b.md"]
        {
            staged.write(&path(file), b"new").unwrap();
        }
        staged.delete(&path("/wiki/old.md")).unwrap();
        let automatic = ["/wiki/log.md", "/wiki/notes/**", "/wiki/old.md"];
        let automatic = automatic.iter().map(|text| PathPattern::new(text).unwrap()).collect();
        let changes = staged.changes();
        let decided = Approval { when: When::Turn, automatic }.decide(&staged, &changes);
        let paths: Vec<&str> = decided.keys().map(BundlePath::as_str).collect();
        assert_eq!(paths, ["/wiki/log.md", "/wiki/notes/a.md"]);
        assert!(Approval::default().decide(&staged, &changes).is_empty());
    }

    #[test]
    fn h25_an_approval_is_bound_to_what_was_shown() {
        let base = Arc::new(MemoryBundle::new([("/wiki/log.md", "x")]).unwrap());
        let path = BundlePath::parse("/wiki/log.md").unwrap();
        let staged = Staged::new(base.clone(), Rules::manager(true));
        staged.write(&path, b"first").unwrap();
        let automatic = vec![PathPattern::new("/wiki/log.md").unwrap()];
        let decided = Approval { when: When::Turn, automatic }.decide(&staged, &staged.changes());
        staged.write(&path, b"second").unwrap();
        let applied = crate::bundle::apply(base.as_ref(), &staged.changes(), &decided);
        assert!(applied.landed.is_empty(), "{applied:?}");
    }
}
