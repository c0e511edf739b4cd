//! Permission rules as the configuration file writes them, turned into the bundle's.

use std::path::Path;

use super::Error;
use super::file::{PermissionMode, PermissionOperation, Permissions};
use crate::bundle::{Mode, Operation, PathPattern, Rule};

/// The rules in the order of the file. A pattern that is none is an error: a rule that is left out would allow what it was
/// written to deny.
pub fn rules(permissions: &Permissions, file: &Path) -> Result<Vec<Rule>, Error> {
    let invalid = |message: String| Error::Unreadable {
        path: file.to_path_buf(),
        message: format!("permissions.rules: {message}; write for example /wiki/private/**"),
    };
    permissions
        .rules
        .iter()
        .map(|rule| {
            let paths: Vec<PathPattern> = rule
                .paths
                .iter()
                .map(|text| PathPattern::new(text))
                .collect::<Result<_, _>>()
                .map_err(invalid)?;
            if paths.is_empty() || rule.operations.is_empty() {
                return Err(invalid("a rule needs at least one operation and one path".to_owned()));
            }
            let operations = rule.operations.iter().map(|operation| match operation {
                PermissionOperation::Read => Operation::Read,
                PermissionOperation::Write => Operation::Write,
            });
            let mode = match rule.mode {
                PermissionMode::Allow => Mode::Allow,
                PermissionMode::Deny => Mode::Deny,
                PermissionMode::Ask => Mode::Ask,
            };
            Ok(Rule { operations: operations.collect(), paths, mode })
        })
        .collect()
}
