//! Moving and deleting pages from the command line.

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};

fn said(folder: &tempfile::TempDir, home: &tempfile::TempDir, arguments: &[&str]) -> Said {
    run(wikiwright(home.path()).arg(arguments[0]).arg(folder.path()).args(&arguments[1..]))
}

#[test]
fn a_page_moves_with_its_links_and_can_be_moved_back() {
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    let page = folder.path().join("wiki/concepts/sail.md");
    let before = std::fs::read_to_string(&page).unwrap();
    let shown = said(&folder, &home, &["mv", "wiki/concepts/sail.md", "wiki/entities/sail.md"]);
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(
        shown.out.contains("moved") && shown.err.contains("Nothing was changed"),
        "{} {}",
        shown.out,
        shown.err
    );
    assert!(page.exists());

    let done = said(&folder, &home, &["mv", "wiki/concepts/sail.md", "wiki/entities/sail.md", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let hull = std::fs::read_to_string(folder.path().join("wiki/concepts/hull.md")).unwrap();
    assert!(hull.contains("[sail](../entities/sail.md)"), "{hull}");
    assert!(!page.exists());
    let lint = said(&folder, &home, &["lint"]);
    assert!(!lint.out.contains("L001"), "{}", lint.out);

    let undone = said(&folder, &home, &["undo", "--yes"]);
    assert_eq!(undone.code, Some(0), "{}", undone.err);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), before);
}

#[test]
fn a_deletion_says_what_breaks_and_what_cannot_be_done_is_said() {
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    let gone = said(&folder, &home, &["rm", "wiki/concepts/sail.md", "--yes"]);
    assert_eq!(gone.code, Some(0), "{}", gone.err);
    assert!(gone.err.contains("wiki/concepts/hull.md:10:22: this link will be broken"), "{}", gone.err);
    let index = std::fs::read_to_string(folder.path().join("wiki/concepts/index.md")).unwrap();
    assert!(!index.contains("sail.md") && index.contains("hull.md"), "{index}");
    for (arguments, part) in [
        (["mv", "wiki/none.md", "wiki/x.md"], "there is no such file"),
        (["mv", "wiki/log.md", "wiki/index.md"], "name already"),
        (["mv", "raw/notes.md", "raw/other.md"], "permission denied"),
        (["mv", "../x.md", "wiki/x.md"], "leaves the bundle"),
    ] {
        let refused = said(&folder, &home, &arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}");
        assert!(refused.err.contains(part), "{arguments:?}: {}", refused.err);
    }
}

#[test]
fn pages_are_merged_and_sections_split_off_as_one_set_each() {
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let before = (read("wiki/concepts/hull.md"), read("wiki/concepts/sail.md"));

    let shown = said(&folder, &home, &["merge", "wiki/concepts/sail.md", "wiki/concepts/hull.md"]);
    assert_eq!((shown.code, shown.out.contains("deleted")), (Some(1), true), "{} {}", shown.out, shown.err);
    assert_eq!(read("wiki/concepts/hull.md"), before.0);
    let done = said(&folder, &home, &["merge", "wiki/concepts/sail.md", "wiki/concepts/hull.md", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let hull = read("wiki/concepts/hull.md");
    assert!(hull.contains("[sail](#sail)") && hull.contains("\n## Sail\n"), "{hull}");
    assert_eq!(read("wiki/concepts/sail.md"), "");
    let lint = said(&folder, &home, &["lint"]);
    assert!(!lint.out.contains("L001") && !lint.out.contains("L005"), "{}", lint.out);

    let cut = ["split", "wiki/concepts/hull.md", "Sail", "wiki/concepts/cloth.md", "--yes"];
    let done = said(&folder, &home, &cut);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(read("wiki/concepts/cloth.md").contains("title: Sail\n"), "{}", read("wiki/concepts/cloth.md"));
    assert!(read("wiki/concepts/index.md").contains("(cloth.md)"));
    let lint = said(&folder, &home, &["lint"]);
    assert!(!lint.out.contains("L001") && !lint.out.contains("L005"), "{}", lint.out);
    let missing = said(&folder, &home, &["split", "wiki/concepts/hull.md", "Keel", "wiki/x.md"]);
    assert_eq!((missing.code, missing.err.contains("there is no heading \"Keel\"")), (Some(2), true));

    for _ in 0..2 {
        assert_eq!(said(&folder, &home, &["undo", "--yes"]).code, Some(0));
    }
    assert_eq!((read("wiki/concepts/hull.md"), read("wiki/concepts/sail.md")), before);
    let unlinked = said(&folder, &home, &["rm", "wiki/concepts/sail.md", "--unlink", "--yes"]);
    assert_eq!((unlinked.code, unlinked.err.contains("broken")), (Some(0), false), "{}", unlinked.err);
    assert!(!read("wiki/concepts/hull.md").contains("sail.md"));
}

/// Every command that writes follows the person's `[permissions]`: what is denied is refused, what is to be asked about is not
/// written by a flag.
#[test]
fn the_persons_rules_hold_for_every_command() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/wikiwright/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let rule = |mode: &str| {
        let rule = format!(
            "{{ operations = [\"write\"], paths = [\"/wiki/concepts/sail.md\"], mode = \"{mode}\" }}"
        );
        std::fs::write(&config, format!("[permissions]\nrules = [{rule}]\n")).unwrap();
    };
    let page = "wiki/concepts/sail.md";
    let commands: [&[&str]; 6] = [
        &["mv", page, "wiki/entities/sail.md", "--yes"],
        &["mv", "wiki/concepts/hull.md", page, "--yes"],
        &["rm", page, "--yes"],
        &["rm", page, "--unlink", "--yes"],
        &["merge", page, "wiki/concepts/hull.md", "--yes"],
        &["split", page, "Rig", "wiki/x.md", "--yes"],
    ];
    for (mode, part) in
        [("deny", "permission denied"), ("ask", "your rules want each change of it looked at")]
    {
        rule(mode);
        for arguments in commands {
            let folder = bundle::small();
            let place = folder.path().join(page);
            if arguments[1] != page {
                std::fs::remove_file(&place).unwrap();
            } else if arguments[0] == "split" {
                let text = std::fs::read_to_string(&place).unwrap();
                std::fs::write(&place, format!("{text}\n## Rig\n\nRopes.\n")).unwrap();
            }
            let before = bundle::snapshot(folder.path());
            let refused = said(&folder, &home, arguments);
            assert_eq!(refused.code, Some(2), "{mode} {arguments:?}: {} {}", refused.out, refused.err);
            assert!(refused.err.contains(part), "{mode} {arguments:?}: {}", refused.err);
            assert_eq!(bundle::snapshot(folder.path()), before, "{mode} {arguments:?}");
        }
        // Here the other pages do not need the one that may not be written.
        for arguments in [&["fmt"][..], &["migrate", "--to", "0.2", "--yes"]] {
            let folder = bundle::small();
            let place = folder.path().join(page);
            let loose = "---\ntags: [a]\ntitle: Sail\ntype: Concept\ntimestamp: 2026-01-01T00:00:00Z\n---\n\n# Sail\n";
            std::fs::write(&place, loose).unwrap();
            let said = said(&folder, &home, arguments);
            assert!(said.err.contains(part), "{mode} {arguments:?}: {} {}", said.out, said.err);
            assert_eq!(std::fs::read_to_string(&place).unwrap(), loose, "{mode} {arguments:?}");
        }
    }
}
