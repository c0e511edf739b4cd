//! The history.

use super::*;

#[test]
fn log_headings_have_the_form_of_their_profile() {
    let log = "# Log\n\n## [2026-07-19] ingest | X\n\n## [2026-07-19] import | X\n\n## 2026-07-19\n\n## [2026-13-45] lint | X\n\n\
               ```\n## no heading\n```\n";
    let files = [("/wiki/log.md", log)];
    assert_eq!(
        places(&judge(&files, Profile::Wiki)),
        ["H002 wiki/log.md 5:1", "H001 wiki/log.md 7:1", "H001 wiki/log.md 9:1"]
    );
    assert_eq!(
        places(&judge(&files, Profile::Okf)),
        ["H001 wiki/log.md 3:1", "H001 wiki/log.md 5:1", "H001 wiki/log.md 9:1"]
    );
}
