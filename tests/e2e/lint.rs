//! The linter's flags and settings.

use serde_json::Value;

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};

/// A wiki with one broken link (L001), one missing anchor (L005) and one page that nothing links to (G001).
fn faulty(files: &[(&str, &str)]) -> tempfile::TempDir {
    let page = |title: &str, body: &str| {
        format!(
            "---\ntype: concept\ntitle: {title}\ndescription: D.\ntimestamp: 2026-11-02T10:00:00Z\nstale_after: 2026-11-20\n---\n\n{body}\n"
        )
    };
    let keel = page("Keel", "A [gone](gone.md), a [top](hull.md#nowhere).");
    let mut all = bundle::SMALL.to_vec();
    all.push(("wiki/concepts/keel.md", &keel));
    all.extend(files);
    let folder = bundle::with(&all);
    let index = folder.path().join("wiki/concepts/index.md");
    std::fs::write(index, "# Concepts\n\n* [Sail](sail.md)\n* [Hull](hull.md)\n\nAnd keel.md.\n").unwrap();
    folder
}

struct Rig {
    home: tempfile::TempDir,
    folder: tempfile::TempDir,
}

impl Rig {
    fn new(bundle: &[(&str, &str)], user: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = home.path().join(".config/wikiwright");
        std::fs::create_dir_all(&settings).unwrap();
        std::fs::write(settings.join("config.toml"), user).unwrap();
        Self { home, folder: faulty(bundle) }
    }

    fn lint(&self, arguments: &[&str]) -> Said {
        run(wikiwright(self.home.path()).arg("lint").arg(self.folder.path()).args(arguments))
    }

    /// `L001 error` for each finding.
    fn rules(&self, arguments: &[&str]) -> Vec<String> {
        let said = self.lint(&[&["--json", "--today", "2026-11-10"], arguments].concat());
        let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = report["findings"].as_array().unwrap().iter();
        let mut rules: Vec<String> =
            rows.map(|f| format!("{} {}", text(&f["rule"]), text(&f["level"]))).collect();
        rules.sort();
        rules
    }
}

#[test]
fn rules_are_selected_and_ignored_by_code_prefix_and_name() {
    let rig = Rig::new(&[], "");
    assert_eq!(rig.rules(&[]), ["G001 warning", "L001 error", "L005 warning"]);
    assert_eq!(rig.rules(&["--select", "L"]), ["L001 error", "L005 warning"]);
    assert_eq!(rig.rules(&["--select", "l005,orphan"]), ["G001 warning", "L005 warning"]);
    assert_eq!(rig.rules(&["--ignore", "L", "--ignore", "G"]), [""; 0]);
    assert_eq!(rig.rules(&["--select", "L", "--ignore", "link-broken"]), ["L005 warning"]);
}

#[test]
fn an_unknown_rule_is_an_error_that_names_the_nearest() {
    let rig = Rig::new(&[], "");
    for arguments in [["--select", "L01"], ["--ignore", "L01"], ["--explain", "L01"]] {
        let said = rig.lint(&arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            said.err.contains("no rule is called `L01`; the nearest is L001 (link-broken)"),
            "{}",
            said.err
        );
    }
    let rig = Rig::new(&[], "[lint]\nignore = ['G001', 'L01']\n");
    let said = rig.lint(&[]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("config.toml:2:10: no rule is called `L01`; the nearest is L001"),
        "{}",
        said.err
    );
}

#[test]
fn the_users_file_then_the_bundles_then_flags_set_levels() {
    let user = "[lint]\nignore = ['G']\nlevels = { L001 = 'hint', anchor-missing = 'error' }\n";
    assert_eq!(Rig::new(&[], user).rules(&[]), ["L001 hint", "L005 error"]);
    let own = [(".okf/config.toml", "[lint.levels]\nG001 = 'hint'\nL005 = 'off'\n")];
    let rig = Rig::new(&own, user);
    assert_eq!(rig.rules(&[]), ["G001 hint", "L001 hint"]);
    assert_eq!(rig.rules(&["--select", "L"]), ["L001 hint", "L005 error"]);
    assert_eq!(rig.rules(&["--isolated"]), ["G001 warning", "L001 error", "L005 warning"]);
    let said = rig.lint(&[]);
    assert_eq!(said.err, "The bundle's .okf/config.toml turns off L005 (--isolated does not read it).\n");
}

#[test]
fn a_bundle_that_wants_more_than_lint_and_display_is_refused_with_its_place() {
    let own =
        [(".okf/config.toml", "[lint]\nignore = ['ALL']\n\n[model]\nbase_url = 'http://127.0.0.1:9/v1'\n")];
    let rig = Rig::new(&own, "");
    let said = rig.lint(&[]);
    assert_eq!(said.code, Some(1), "the findings stay");
    assert!(said.out.contains("L001"), "{}", said.out);
    assert!(said.err.contains(".okf/config.toml:4:2: unknown field `model`"), "{}", said.err);
    let said = Rig::new(&[(".okf/config.toml", "\u{1b}]0;owned\u{7}")], "").lint(&[]);
    assert_eq!(said.code, Some(1));
    assert!(
        !said.err.contains(['\u{1b}', '\u{7}'])
            && said.err.contains(".okf/config.toml:1:2: key with no value"),
        "{:?}",
        said.err
    );
}

#[test]
fn the_exit_code_follows_the_level_that_was_asked_for() {
    let rig = Rig::new(&[], "");
    for (arguments, code) in [
        (&[][..], 1),
        (&["--exit-zero"][..], 0),
        (&["--ignore", "L001"], 0),
        (&["--ignore", "L001", "--fail-on", "warning"], 1),
        (&["--select", "P", "--today", "2026-11-10", "--fail-on", "hint"], 0),
        (&["--select", "P", "--today", "2026-11-20", "--fail-on", "hint"], 1),
        (&["--select", "P", "--today", "2026-11-20", "--fail-on", "warning"], 0),
        (&["--today", "tomorrow"], 2),
        (&["--okf-version", "0.3"], 2),
        (&["--exit-zero", "--fail-on", "hint"], 2),
    ] {
        assert_eq!(rig.lint(arguments).code, Some(code), "{arguments:?}");
    }
}

#[test]
fn the_version_of_the_specification_can_be_said() {
    let rig = Rig::new(&[], "");
    let version = |arguments: &[&str]| {
        let said = rig.lint(&[&["--json", "--profile", "okf"], arguments].concat());
        serde_json::from_str::<Value>(&said.out).unwrap()["okf_version"].clone()
    };
    assert_eq!((version(&[]), version(&["--okf-version", "0.1"])), ("0.2".into(), "0.1".into()));
}

#[test]
fn github_and_sarif_name_files_from_where_the_job_runs() {
    let rig = Rig::new(&[], "");
    let said = |format: &str| {
        run(wikiwright(rig.home.path())
            .current_dir(rig.folder.path().parent().unwrap())
            .args(["lint", "--select", "L001", "--format", format])
            .arg(rig.folder.path().file_name().unwrap()))
    };
    let name = rig.folder.path().file_name().unwrap().to_str().unwrap();
    let github = said("github");
    let line = format!(
        "::error file={name}/wiki/concepts/keel.md,line=9,col=10,endLine=9,endColumn=17,title=L001 link-broken::"
    );
    assert!(github.out.starts_with(&line), "{}", github.out);
    let sarif: Value = serde_json::from_str(&said("sarif").out).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], format!("{name}/wiki/concepts/keel.md"));
    assert_eq!(place["region"]["startColumn"], 10);
}

#[test]
fn statistics_and_explanations_are_printed_for_people_and_programs() {
    let rig = Rig::new(&[], "");
    let said = rig.lint(&["--statistics"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.starts_with("     1  warning  G001  orphan\n     1  error    L001  link-broken\n"),
        "{}",
        said.out
    );
    let counts: Value = serde_json::from_str(&rig.lint(&["--statistics", "--json"]).out).unwrap();
    assert_eq!(counts[1]["rule"], "L001");
    assert_eq!(rig.lint(&["--statistics", "--format", "sarif"]).code, Some(2));

    let explain =
        |arguments: &[&str]| run(wikiwright(rig.home.path()).args(["lint", "--explain"]).args(arguments));
    let said = explain(&["L005"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(
        said.out.starts_with("L005 anchor-missing: a fragment names no heading of its target\n"),
        "{}",
        said.out
    );
    for part in ["In profile wiki: warning; in profile okf: hint.", "At fault:", "Right:"] {
        assert!(said.out.contains(part), "{}", said.out);
    }
    let rules: Value = serde_json::from_str(&explain(&["orphan,L001", "--json"]).out).unwrap();
    assert_eq!((&rules[0]["rule"], &rules[1]["rule"]), (&"L001".into(), &"G001".into()));
}

#[test]
fn only_rules_that_are_on_are_fixed() {
    let page = "---\ntype: concept\ntitle: Mast\ndescription: D.\ntimestamp: 19/07/2026\n---\n\nSee [hull](/wiki/concepts/hull.md).\n";
    let rig = Rig::new(&[("wiki/concepts/mast.md", page)], "");
    let text = || std::fs::read_to_string(rig.folder.path().join("wiki/concepts/mast.md")).unwrap();
    let said = rig.lint(&["--fix", "--select", "F005", "--format", "json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &report["summary"]["errors"]), (Some(0), &0.into()), "{} {}", said.out, said.err);
    assert_eq!(text(), page.replace("19/07/2026", "2026-07-19T00:00:00Z"));
    rig.lint(&["--fix", "--ignore", "L002"]);
    assert!(text().contains("(/wiki/concepts/hull.md)"));
    rig.lint(&["--fix", "--select", "L002"]);
    assert!(text().contains("(hull.md)"), "{}", text());
}
