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
    assert!(matches!(tried("/wiki/none.md", "/wiki/x.md"), RefactorError::Absent(_, None)));
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
    assert!(matches!(plan_delete(&wiki, &path("/wiki/x.md")), Err(RefactorError::Absent(_, None))));
}

/// A page with all that a section can hold, and what leads into it.
const BOAT: &[(&str, &str)] = &[
    ("/AGENTS.md", "# Schema\n"),
    ("/raw/rig.pdf", "x"),
    ("/wiki/index.md", "# Wiki\n\n* [Boat](boat.md) - floats\n* [Parts](parts/index.md)\n"),
    ("/wiki/parts/index.md", "# Parts\n\n* [Sail](sail.md) - wind\n"),
    (
        "/wiki/boat.md",
        "---\ntype: Concept\ntitle: Boat\ntags: [water]\nsources:\n  - raw/rig.pdf\n---\n# Boat\n\nIntro[^a], see [rig](#rig).\n\n## Rig\n\nHolds [cloth](parts/sail.md#cloth), [up](#boat) and [d].[^b]\n\n### Rope\n\nOld[^a].\n\n## End\n\n[down](#rope) [x](raw/rig.pdf)\n\n[^a]: Note a.\n\n[^b]: Note b.\n\n[d]: parts/sail.md\n",
    ),
    (
        "/wiki/parts/sail.md",
        "---\ntype: Concept\ntitle: Sail\ntags: [wind, water]\nsources:\n  - ../boat.md\n  - ../../raw/rig.pdf\nowner: me\n---\n# Sail\n\n[b](../boat.md#rope) and [own](#cloth)[^a]\n\nCloth\n-----\n\n[^a]: Of its own.\n\n[d]: ../index.md\n[d] too\n",
    ),
    (
        "/wiki/port.md",
        "---\ntype: Concept\nsources: [parts/sail.md]\n---\n[s](parts/sail.md) [c](/wiki/parts/sail.md#cloth) [r](boat.md#rope) [b](boat.md#end)\n",
    ),
];

fn read(staged: &Staged, at: &str) -> String {
    staged.read(&path(at)).unwrap()
}

#[test]
fn a_merged_page_is_a_section_and_what_led_to_it_leads_there() {
    let (bundle, wiki) = wiki(BOAT);
    let plan = plan_merge(&wiki, &path("/wiki/parts/sail.md"), &path("/wiki/boat.md")).unwrap();
    let now = staged(&bundle, &plan);
    assert_eq!(
        read(&now, "/wiki/boat.md"),
        "---\ntype: Concept\ntitle: Boat\ntags: [water, wind]\nsources:\n  - raw/rig.pdf\n  - ../raw/rig.pdf\n---\n# Boat\n\nIntro[^a], see [rig](#rig).\n\n## Rig\n\nHolds [cloth](#cloth), [up](#boat) and [d].[^b]\n\n### Rope\n\nOld[^a].\n\n## End\n\n[down](#rope) [x](raw/rig.pdf)\n\n[^a]: Note a.\n\n[^b]: Note b.\n\n[d]: #sail\n\n## Sail\n\n[b](#rope) and [own](#cloth)[^a-1]\n\n### Cloth\n\n[^a-1]: Of its own.\n\n[d]: index.md\n[d](index.md) too\n"
    );
    assert_eq!(
        read(&now, "/wiki/port.md"),
        "---\ntype: Concept\nsources: [boat.md#sail]\n---\n[s](boat.md#sail) [c](/wiki/boat.md#cloth) [r](boat.md#rope) [b](boat.md#end)\n"
    );
    assert_eq!(read(&now, "/wiki/parts/index.md"), "# Parts\n\n");
    assert!(!now.exists(&path("/wiki/parts/sail.md")).unwrap());
    assert_eq!(plan.notes, ["wiki/parts/sail.md: not carried over from its fields: owner"]);
}

#[test]
fn a_section_becomes_a_page_and_what_led_to_it_leads_there() {
    let (bundle, wiki) = wiki(BOAT);
    let plan = plan_split(&wiki, &path("/wiki/boat.md"), "Rig", &path("/wiki/parts/rig.md")).unwrap();
    let now = staged(&bundle, &plan);
    assert_eq!(
        read(&now, "/wiki/parts/rig.md"),
        "---\ntype: Concept\ntitle: Rig\ntags: [water]\nsources:\n  - ../raw/rig.pdf\n---\n\n# Rig\n\nHolds [cloth](sail.md#cloth), [up](../boat.md#boat) and [d](sail.md).[^b]\n\n## Rope\n\nOld[^a].\n\n[^a]: Note a.\n\n[^b]: Note b.\n"
    );
    assert_eq!(
        read(&now, "/wiki/boat.md"),
        "---\ntype: Concept\ntitle: Boat\ntags: [water]\nsources:\n  - raw/rig.pdf\n---\n# Boat\n\nIntro[^a], see [rig](parts/rig.md).\n\n[Rig](parts/rig.md)\n\n## End\n\n[down](parts/rig.md#rope) [x](raw/rig.pdf)\n\n[^a]: Note a.\n\n[^b]: Note b.\n\n[d]: parts/sail.md\n"
    );
    assert!(read(&now, "/wiki/parts/sail.md").contains("[b](rig.md#rope)"));
    assert!(read(&now, "/wiki/port.md").contains("[r](parts/rig.md#rope) [b](boat.md#end)"));
    assert_eq!(read(&now, "/wiki/parts/index.md"), "# Parts\n\n* [Sail](sail.md) - wind\n* [Rig](rig.md)\n");
    assert_eq!(read(&now, "/wiki/index.md"), BOAT[2].1);
}

#[test]
fn unlinked_text_stays_and_no_link_is_broken() {
    let (bundle, wiki) = wiki(BOAT);
    let plan = plan_unlink(&wiki, &path("/wiki/parts/sail.md")).unwrap();
    let now = staged(&bundle, &plan);
    assert!(read(&now, "/wiki/boat.md").contains("Holds cloth, [up](#boat) and d."));
    assert_eq!(
        read(&now, "/wiki/port.md"),
        "---\ntype: Concept\n---\ns c [r](boat.md#rope) [b](boat.md#end)\n"
    );
    assert_eq!(read(&now, "/wiki/parts/index.md"), "# Parts\n\n");
    assert_eq!(plan.notes, Vec::<String>::new());
}

#[test]
fn what_cannot_be_merged_or_split_is_said() {
    let (_, wiki) = wiki(BOAT);
    let merge = |from: &str, into: &str| plan_merge(&wiki, &path(from), &path(into)).unwrap_err();
    assert!(matches!(merge("/wiki/boat.md", "/wiki/boat.md"), RefactorError::IntoItselfMerged(_)));
    assert!(matches!(merge("/wiki/index.md", "/wiki/boat.md"), RefactorError::Reserved(_)));
    assert!(matches!(merge("/wiki/boat.md", "/AGENTS.md"), RefactorError::Reserved(_)));
    assert!(matches!(merge("/raw/rig.pdf", "/wiki/boat.md"), RefactorError::NotAPage(_)));
    assert!(matches!(merge("/wiki/none.md", "/wiki/boat.md"), RefactorError::Absent(_, None)));
    let split = |heading: &str, to: &str| {
        plan_split(&wiki, &path("/wiki/boat.md"), heading, &path(to)).unwrap_err().to_string()
    };
    assert!(
        split("Keel", "/wiki/x.md").ends_with("it has: #boat, #rig, #rope, #end"),
        "{}",
        split("Keel", "/wiki/x.md")
    );
    assert!(split("rig", "/wiki/port.md").contains("name already"));
    assert!(split("rig", "/wiki/x.txt").contains("no page"));
    assert!(split("rig", "/wiki/index.md").contains("structure"));
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

    /// Neither merging nor splitting breaks a link or an anchor, nor loses a line of text.
    #[test]
    fn no_merge_and_no_split_breaks_a_link(
        links in prop::collection::vec((0..4usize, 0..4usize, 0..6u8), 0..16),
        split in any::<bool>(),
        to in prop::sample::select(vec!["/wiki/x.md", "/wiki/a/b/new page.md", "/top.md"]),
    ) {
        let names = ["/wiki/a/one.md", "/wiki/a/two.md", "/wiki/ü/three.md", "/wiki/four.md"];
        let mut parts: Vec<Vec<String>> = (0..4).map(|_| vec![String::new(); 3]).collect();
        for (n, (at, target, style)) in links.iter().enumerate() {
            let (page, target) = (path(names[*at]), path(names[*target]));
            let relative = target.relative_to_page(&page);
            let anchor = ["#first", "#same", "#same-1", "#inner", ""][n % 5];
            parts[*at][n % 3].push_str(&match style {
                0 => format!("t{n} [l](<{relative}{anchor}>)\n\n"),
                1 => format!("t{n} [*l*](<{}{anchor}> \"t\")\n\n", target.as_str()),
                2 => format!("t{n} [l][r{n}]\n\n[r{n}]: <{relative}{anchor}> 'T'\n\n"),
                3 => format!("t{n} [^n]\n\n> [q](<./{relative}{anchor}>)\n\n"),
                4 => format!("t{n} [d]\n\n[d]: <{relative}{anchor}>\n\n"),
                _ => format!("- t{n} [l](<{relative}{anchor}>)\n\n"),
            });
        }
        let text = |p: &[String]| format!(
            "---\ntype: t\n---\n# First\n\n{}## Same\n\n{}### Inner\n\nx[^n]\n\n## Same\n\n{}[^n]: note\n", p[0], p[1], p[2]
        );
        let texts: Vec<String> = parts.iter().map(|p| text(p)).collect();
        let files: Vec<(&str, &str)> = names.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let (bundle, wiki) = wiki(&files);
        let broken = |wiki: &Wiki| {
            let report = lint::lint(wiki, &lint::Options { profile: Some(lint::Profile::Wiki), ..lint::Options::default() });
            report.findings.iter().filter(|f| ["L001", "L005"].contains(&f.rule.code)).count()
        };
        let plan = if split {
            plan_split(&wiki, &path(names[0]), "#same", &path(to))
        } else {
            plan_merge(&wiki, &path(names[0]), &path(names[1]))
        };
        let plan = plan.unwrap();
        let after = Wiki::load(&staged(&bundle, &plan)).unwrap();
        prop_assert_eq!(broken(&after), broken(&wiki), "{:#?}", plan);
        let all: String = after.pages().map(|p| p.text.to_string()).collect();
        for n in 0..links.len() {
            let mark = format!("t{n} ");
            prop_assert_eq!(all.matches(&mark).count(), 1, "{}", mark);
        }
    }
}

#[test]
fn what_is_not_there_is_likened_only_to_what_is_near() {
    let (_, wiki) = wiki(FILES);
    let near = |from: &str| match plan_delete(&wiki, &path(from)) {
        Err(RefactorError::Absent(_, near)) => near.map(|near| near.as_str().to_owned()),
        other => panic!("{other:?}"),
    };
    let sail = Some("/wiki/concepts/sail.md".to_owned());
    assert_eq!(near("/wiki/concepts/sail"), sail, "without its extension");
    assert_eq!(near("/wiki/sail.md"), sail, "in another folder");
    assert_eq!(near("/wiki/concepts/sial.md"), sail, "a slip");
    assert_eq!(near("/wiki/concepts/Sail.md"), sail, "in another case");
    assert_eq!(near("/x.md"), None);
    assert_eq!(near("/wiki/concepts/rudder.md"), None);
    let said = plan_delete(&wiki, &path("/wiki/sail.md")).unwrap_err().to_string();
    assert!(said.ends_with("in the bundle; did you mean /wiki/concepts/sail.md?"), "{said}");
}
