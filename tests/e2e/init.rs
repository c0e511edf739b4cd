//! Making an empty bundle.

use super::support::command::{Said, run, wikiwright};

fn init(home: &tempfile::TempDir, arguments: &[&str]) -> Said {
    run(wikiwright(home.path()).arg("init").args(arguments))
}

#[test]
fn a_new_bundle_lints_clean_in_both_profiles_and_undo_takes_it_back() {
    let home = tempfile::tempdir().unwrap();
    let made = init(
        &home,
        &[
            "new/wiki",
            "--category",
            "clauses",
            "--category",
            "run-books",
            "--type",
            "Clause",
            "--language",
            "Français",
        ],
    );
    assert_eq!(made.code, Some(0), "{}", made.err);
    let root = home.path().join("new/wiki");
    for file in
        ["AGENTS.md", "wiki/index.md", "wiki/log.md", "wiki/documents/index.md", "wiki/clauses/index.md"]
    {
        assert!(
            root.join(file).is_file() && made.out.contains(&format!("created {file}\n")),
            "{file}: {}",
            made.out
        );
    }
    assert!(root.join("raw").is_dir() && root.join("wiki/assets").is_dir());
    let agents = std::fs::read_to_string(root.join("AGENTS.md")).unwrap();
    assert!(agents.contains("- `Clause`\n") && agents.contains("Language: Français.\n"), "{agents}");
    assert!(
        std::fs::read_to_string(root.join("wiki/index.md"))
            .unwrap()
            .contains("* [Run books](run-books/index.md)\n")
    );
    for profile in ["auto", "wiki", "okf"] {
        let said = run(wikiwright(home.path()).args(["lint", "new/wiki", "--profile", profile]));
        assert!(said.out.starts_with("0 errors, 0 warnings, 0 hints"), "{profile}: {}", said.out);
    }
    let undone = run(wikiwright(home.path()).args(["undo", "new/wiki", "--yes"]));
    assert_eq!(undone.code, Some(0), "{}", undone.err);
    assert!(!root.join("AGENTS.md").exists() && !root.join("wiki/index.md").exists());
}

#[test]
fn a_folder_that_is_not_empty_is_refused_and_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("full/wiki")).unwrap();
    std::fs::write(home.path().join("full/notes.md"), "mine").unwrap();
    std::fs::write(home.path().join("file"), "mine").unwrap();
    let said = init(&home, &["full"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("full: this folder is not empty (notes.md, wiki)"), "{}", said.err);
    assert_eq!(std::fs::read_dir(home.path().join("full")).unwrap().count(), 2);
    let said = init(&home, &["file"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("file: this is not a folder"), "{}", said.err);
    std::fs::create_dir_all(home.path().join("repository/.git")).unwrap();
    assert_eq!(init(&home, &["repository"]).code, Some(0));
}

#[test]
fn a_name_that_makes_no_sound_bundle_is_refused_before_anything_is_made() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        (["--category", "../out"], "one folder name"),
        (["--category", ""], "one folder name"),
        (["--category", "Assets"], "choose another"),
        (["--category", "con"], "B004"),
        (["--category", "Concepts"], "B004"),
        (["--type", "a/b"], "a type is a short name"),
        (["--type", "a`b"], "a type is a short name"),
        (["--type", "title"], "a type is a short name"),
        (["--type", ""], "a type is a short name"),
        (["--language", "a\nb"], "name of a language"),
        (["--language", "[x](gone.md)"], "L001"),
    ] {
        let said = init(&home, &[&["new"][..], &arguments].concat());
        assert_eq!(said.code, Some(2), "{arguments:?}");
        assert!(said.err.contains(part), "{arguments:?}: {}", said.err);
        assert!(!home.path().join("new").exists(), "{arguments:?}");
    }
}

/// What the prompts and skills say lies somewhere, lies there in a fresh bundle. A page that is only an example needs its folder.
#[test]
fn every_path_that_a_prompt_or_a_skill_names_has_its_place_in_a_new_bundle() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(init(&home, &["w"]).code, Some(0));
    let root = home.path().join("w");
    // Paths are written from the bundle's root, from `wiki/`, or from a page's folder.
    let bases = [root.clone(), root.join("wiki"), root.join("wiki/documents")];
    let crate_root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = regex::Regex::new(r"`([^`\s]*(?:/|\.md))`").unwrap();
    let mut checked = 0;
    for folder in ["assets/prompts", "skills/okf-wiki", "skills/okf-wiki-reader"] {
        for entry in std::fs::read_dir(crate_root.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap();
            for path in named.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()) {
                let name = path.trim_start_matches('/');
                let fixed = name.ends_with('/')
                    || name.is_empty()
                    || ["AGENTS.md", "index.md", "log.md"].contains(&name.rsplit('/').next().unwrap());
                let there = bases.iter().any(|base| {
                    let place = base.join(name);
                    if fixed { place.exists() } else { place.parent().unwrap().is_dir() }
                });
                assert!(there, "{}: {path} has no place in a new bundle", file.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked}");
}
