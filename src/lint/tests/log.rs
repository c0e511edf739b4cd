//! The history.

use super::*;

#[test]
fn log_headings_have_the_form_of_their_profile() {
    let log = "# Log\n\n## [2026-07-19] ingest | X\n\n## [2026-07-19] import | X\n\n## 2026-07-19\n\n## [2026-13-45] lint | X\n\n\
               ```\n## no heading\n```\n";
    let files = [("/wiki/log.md", log)];
    assert_eq!(
        places(&judge(&files, Profile::Wiki)),
        ["H002 wiki/log.md 5:17", "H001 wiki/log.md 7:1", "H001 wiki/log.md 9:5"]
    );
    assert_eq!(
        places(&judge(&files, Profile::Okf)),
        ["H001 wiki/log.md 3:1", "H001 wiki/log.md 5:1", "H001 wiki/log.md 9:1"]
    );
}

#[test]
fn the_specification_wants_the_newest_date_first() {
    let log = "## 2026-07-19\n\n## 2026-07-19\n\n## 2026-07-18\n\n## 2026-07-20\n\n## 2026-02-31\n\n## 2026-07-21\n\n## 2026-01-01\n";
    let report = judge(&[("/log.md", log)], Profile::Okf);
    assert_eq!(places(&report), ["H003 log.md 7:4", "H001 log.md 9:4", "H003 log.md 11:4"]);
    assert_eq!(
        report.findings[0].message,
        "log is out of order: 2026-07-20 stands below 2026-07-18, newest comes first"
    );
    let wiki = "## [2026-07-18] lint | X\n\n## [2026-07-19] lint | Y\n";
    assert_eq!(codes(&[("/log.md", wiki)], Profile::Wiki), [""; 0], "the convention appends");
}
