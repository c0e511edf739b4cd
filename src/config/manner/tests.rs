use super::*;
use crate::bundle::MemoryBundle;
use crate::bundle::storage::Write as _;
use crate::lint::Level;
use crate::lint::registry::{LINK_BROKEN, ORPHAN};

fn heeded(user: &str, bundle: &str) -> (Manner, Option<String>) {
    let memory = MemoryBundle::default();
    memory.write(&BundlePath::parse(BUNDLE_FILE).unwrap(), bundle.as_bytes()).unwrap();
    let file = File::parse(user, &PathBuf::from("config.toml")).unwrap();
    let mut manner = Manner::of_file(&file, &Environment::default());
    let error = manner.heed(&memory, &Environment::default()).err();
    (manner, error.map(|e| e.to_string()))
}

fn level(manner: &Manner, rule: &lint::Rule) -> Option<Level> {
    manner.lint.levels.of(rule, Level::Warning)
}

#[test]
fn a_bundle_sets_profile_rules_and_colours_over_the_users_file() {
    let user = "[lint]\nprofile = 'wiki'\nignore = ['G001']\nlevels = { L001 = 'hint' }\n";
    let (manner, error) = heeded(user, "");
    assert_eq!(error, None);
    assert_eq!(manner.lint.profile, Some(lint::Profile::Wiki));
    assert_eq!((level(&manner, &LINK_BROKEN), level(&manner, &ORPHAN)), (Some(Level::Hint), None));
    let bundle =
        "[lint]\nprofile = 'auto'\n[lint.levels]\nlink-broken = 'error'\n[display]\ncolor = 'never'\n";
    let (manner, error) = heeded(user, bundle);
    assert_eq!(error, None);
    assert_eq!((manner.lint.profile, manner.color), (None, false));
    assert_eq!((level(&manner, &LINK_BROKEN), level(&manner, &ORPHAN)), (Some(Level::Error), None));
}

#[test]
fn whatever_else_a_bundle_wants_is_refused_with_its_place_and_nothing_of_it_is_used() {
    for (bundle, place, why) in [
        (
            "[lint]\nprofile = 'okf'\n[model]\nbase_url = 'http://evil/v1'\n",
            ":3:2: ",
            "unknown field `model`",
        ),
        ("lint.profile = 'okf'\npermissions.rules = []\n", ":2:1: ", "`permissions`"),
        ("[lint]\nprofile = 'okf'\nexec = 'rm'\n", ":3:1: ", "`exec`"),
        ("[lint]\nprofile = 'okf'\nignore = ['L01']\n", ":3:10: ", "the nearest is L001"),
        ("[lint]\nprofile = 'okf'\nlevels = { L01 = 'error' }\n", ":3:", "the nearest is L001"),
        ("[lint]\nprofile = 'okf'\nlevels = { L001 = 'fatal' }\n", ":3:", "`off`"),
        ("[lint]\nprofile = 'okf'\n\u{1b}", ":3:2: ", ""),
    ] {
        let (manner, error) = heeded("", bundle);
        let error = error.unwrap();
        assert!(error.starts_with(&format!("{BUNDLE_FILE}{place}")) && error.contains(why), "{error}");
        assert!(error.contains("[lint] and [display]"), "{error}");
        assert_eq!(manner.lint.profile, None, "{error}");
    }
}

#[test]
fn a_huge_a_binary_and_an_odd_file_are_refused() {
    assert!(heeded("", &"#".repeat(2 << 20)).1.unwrap().contains("larger than"));
    assert!(heeded("", &"[".repeat(100_000)).1.is_some());
    let memory = MemoryBundle::default();
    memory.write(&BundlePath::parse(BUNDLE_FILE).unwrap(), b"\xff\xfe").unwrap();
    let mut manner = Manner::new(&Environment::default());
    assert!(manner.heed(&memory, &Environment::default()).unwrap_err().to_string().contains("UTF-8"));
    let folder = MemoryBundle::default();
    folder.write(&BundlePath::parse(".okf/config.toml/x").unwrap(), b"").unwrap();
    assert!(manner.heed(&folder, &Environment::default()).unwrap_err().to_string().contains("regular file"));
    assert!(manner.heed(&MemoryBundle::default(), &Environment::default()).is_ok());
}

#[test]
fn a_theme_is_a_wish_that_no_color_overrules() {
    let look = |user: &str, bundle: &str| heeded(user, bundle).0.look();
    assert_eq!(look("", ""), Look::Auto);
    assert_eq!(look("display.theme = 'light'", ""), Look::Light);
    assert_eq!(look("display.theme = 'light'", "display.theme = 'dark'"), Look::Dark);
    assert_eq!(look("display = { theme = 'light', color = 'never' }", ""), Look::Plain);
    assert!(heeded("", "display.theme = 'pink'").1.unwrap().contains("`auto`, `dark`, `light`, `plain`"));
}

#[test]
fn no_color_of_the_environment_is_not_for_the_bundle_to_lift() {
    let memory = MemoryBundle::default();
    memory.write(&BundlePath::parse(BUNDLE_FILE).unwrap(), b"display.color = 'auto'").unwrap();
    let environment = Environment::new([("NO_COLOR".to_owned(), "1".to_owned())]);
    let mut manner = Manner::new(&environment);
    manner.heed(&memory, &environment).unwrap();
    assert!(!manner.color);
}
