//! Moves and deletions on small bundles.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::bundle::{MemoryBundle, Read, Rules};
use crate::lint::{self, Level};

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn wiki(files: &[(&str, &str)]) -> (Arc<MemoryBundle>, Wiki) {
    let bundle = Arc::new(MemoryBundle::new(files.iter().copied()).unwrap());
    let wiki = Wiki::load(bundle.as_ref()).unwrap();
    (bundle, wiki)
}

/// The bundle as it would be.
fn staged(bundle: &Arc<MemoryBundle>, plan: &Plan) -> Staged {
    let staged = Staged::new(bundle.clone(), Rules::manager(true));
    plan.stage(&staged).unwrap();
    staged
}

const FILES: &[(&str, &str)] = &[
    ("/AGENTS.md", "# Schema\n"),
    ("/raw/a b.pdf", "x"),
    ("/wiki/index.md", "# Wiki\n\n* [C](concepts/index.md)\n"),
    ("/wiki/concepts/index.md", "# Concepts\n\n* [Sail](sail.md) - wind\n* [Hull](hull.md) - floats\n"),
    ("/wiki/entities/index.md", "# Entities\n\n- [Mast](mast.md) - tall\n\nEnd.\n"),
    (
        "/wiki/entities/mast.md",
        "---\r\ntype: e\r\nsources: [../concepts/sail.md]\r\n---\r\n[s](../concepts/sail.md#rig \"t\") ![i](../assets/i.png)\r\n",
    ),
    ("/wiki/assets/i.png", "x"),
    (
        "/wiki/concepts/sail.md",
        "---\ntype: c\nresource: ../../raw/a b.pdf\n---\n# Sail\n\n[hull](hull.md), [r][d], <a href=\"hull.md\">h</a>, `[x](hull.md)`\n\n[d]: ../entities/mast.md 'T'\n",
    ),
    (
        "/wiki/concepts/hull.md",
        "---\ntype: c\n---\n[up](./sail.md) [abs](/wiki/concepts/sail.md) [e](<sail.md>)\n",
    ),
];

#[test]
fn a_moved_page_takes_its_links_its_inbound_links_and_its_index_entry_along() {
    let (bundle, wiki) = wiki(FILES);
    let plan =
        plan_move(&wiki, &path("/wiki/concepts/sail.md"), &path("/wiki/entities/big sail.md")).unwrap();
    let now = staged(&bundle, &plan);
    let read = |at: &str| now.read(&path(at)).unwrap();
    assert_eq!(
        read("/wiki/entities/big sail.md"),
        "---\ntype: c\nresource: ../../raw/a b.pdf\n---\n# Sail\n\n[hull](../concepts/hull.md), [r][d], <a href=\"../concepts/hull.md\">h</a>, `[x](hull.md)`\n\n[d]: ../entities/mast.md 'T'\n",
        "a link that still leads where it did stays as it was written"
    );
    assert_eq!(
        read("/wiki/entities/mast.md"),
        "---\r\ntype: e\r\nsources: [big sail.md]\r\n---\r\n[s](big%20sail.md#rig \"t\") ![i](../assets/i.png)\r\n"
    );
    assert_eq!(
        read("/wiki/concepts/hull.md"),
        "---\ntype: c\n---\n[up](../entities/big%20sail.md) [abs](/wiki/entities/big%20sail.md) [e](<../entities/big%20sail.md>)\n"
    );
    assert_eq!(read("/wiki/concepts/index.md"), "# Concepts\n\n* [Hull](hull.md) - floats\n");
    assert_eq!(
        read("/wiki/entities/index.md"),
        "# Entities\n\n- [Mast](mast.md) - tall\n- [Sail](big%20sail.md) - wind\n\nEnd.\n"
    );
}

#[test]
fn a_folder_moves_with_what_is_in_it_and_inner_links_stay_as_written() {
    let (bundle, wiki) = wiki(FILES);
    let plan = plan_move(&wiki, &path("/wiki/concepts"), &path("/wiki/notions")).unwrap();
    let now = staged(&bundle, &plan);
    let read = |at: &str| now.read(&path(at)).unwrap();
    assert_eq!(read("/wiki/index.md"), "# Wiki\n\n* [C](notions/index.md)\n");
    assert_eq!(read("/wiki/notions/index.md"), FILES[3].1);
    assert!(read("/wiki/notions/hull.md").contains("[up](./sail.md) [abs](/wiki/notions/sail.md)"));
    assert!(read("/wiki/entities/mast.md").contains("sources: [../notions/sail.md]"));
    assert!(!now.exists(&path("/wiki/concepts/sail.md")).unwrap());
}

#[test]
fn what_cannot_be_moved_is_said() {
    let (_, wiki) = wiki(FILES);
    let tried = |from: &str, to: &str| plan_move(&wiki, &path(from), &path(to)).unwrap_err();
    assert!(matches!(tried("/wiki/none.md", "/wiki/x.md"), RefactorError::Absent(_)));
    assert!(matches!(tried("/wiki/concepts/sail.md", "/wiki/concepts/hull.md"), RefactorError::Taken(_)));
    assert!(matches!(tried("/wiki/concepts/sail.md", "/wiki/concepts/sail.md"), RefactorError::Taken(_)));
    assert!(matches!(tried("/wiki", "/wiki/concepts/x"), RefactorError::IntoItself));
    assert!(matches!(tried("/", "/x"), RefactorError::Root(_)));
    assert!(plan_move(&wiki, &path("/wiki/concepts/sail.md"), &path("/wiki/concepts/Sail.md")).is_ok());
    // Rules hold for a person's moves too.
    let (bundle, wiki) = self::wiki(FILES);
    let plan = plan_move(&wiki, &path("/raw/a b.pdf"), &path("/raw/c.pdf")).unwrap();
    assert!(plan.stage(&Staged::new(bundle, Rules::manager(true))).is_err());
}

#[test]
fn a_deleted_page_leaves_its_index_and_what_breaks_is_named() {
    let (bundle, wiki) = wiki(FILES);
    let plan = plan_delete(&wiki, &path("/wiki/concepts/sail.md")).unwrap();
    assert_eq!(
        plan.notes,
        [
            "wiki/concepts/hull.md:4:1: this link will be broken",
            "wiki/concepts/hull.md:4:17: this link will be broken",
            "wiki/concepts/hull.md:4:47: this link will be broken",
            "wiki/entities/mast.md:5:1: this link will be broken",
            "wiki/entities/mast.md:3:11: this link will be broken",
        ]
    );
    let now = staged(&bundle, &plan);
    assert_eq!(
        now.read(&path("/wiki/concepts/index.md")).unwrap(),
        "# Concepts\n\n* [Hull](hull.md) - floats\n"
    );
    assert!(!now.exists(&path("/wiki/concepts/sail.md")).unwrap());
    assert!(matches!(plan_delete(&wiki, &path("/wiki/concepts")), Err(RefactorError::Folder(_))));
    assert!(matches!(plan_delete(&wiki, &path("/wiki/x.md")), Err(RefactorError::Absent(_))));
}

proptest! {
    /// No move breaks a link: the linter finds as many broken paths after it as before.
    #[test]
    fn no_move_breaks_a_link(
        links in prop::collection::vec((0..6usize, 0..6usize, 0..4u8), 0..16),
        from in 0..6usize,
        to in prop::sample::select(vec!["/wiki/x.md", "/wiki/a/b/c/new page.md", "/wiki/b/ü (1).md", "/top.md"]),
    ) {
        let names = ["/wiki/a/one.md", "/wiki/a/two.md", "/wiki/b/three.md", "/wiki/four.md", "/wiki/b/d/five.md", "/wiki/ä ö/six.md"];
        let mut texts: Vec<String> = names.iter().map(|_| "---\ntype: t\n---\n".to_owned()).collect();
        for (at, target, style) in links {
            let (page, target) = (path(names[at]), path(names[target]));
            let relative = target.relative_to_page(&page);
            texts[at].push_str(&match style {
                0 => format!("[l](<{relative}>)\n"),
                1 => format!("[l]({})\n", relative.replace(' ', "%20").replace('ä', "%C3%A4").replace('ö', "%C3%B6")),
                2 => format!("[l](<{}#h>)\n", target.as_str()),
                _ => format!("![l](<./{relative}> 't')\n"),
            });
        }
        let files: Vec<(&str, &str)> = names.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let (bundle, wiki) = wiki(&files);
        let broken = |wiki: &Wiki| {
            let report = lint::lint(wiki, &lint::Options { profile: Some(lint::Profile::Wiki), ..lint::Options::default() });
            let found = report.findings.iter().filter(|f| f.level == Level::Error && f.rule.code == "L001");
            found.count()
        };
        let before = broken(&wiki);
        let plan = plan_move(&wiki, &path(names[from]), &path(to)).unwrap();
        let after = Wiki::load(&staged(&bundle, &plan)).unwrap();
        prop_assert_eq!(broken(&after), before, "{:?}", plan);
        let count = |wiki: &Wiki| wiki.pages().map(|p| p.links.len()).sum::<usize>();
        prop_assert_eq!(count(&after), count(&wiki));
    }
}
