use super::*;
use crate::lint::registry::{ANCHOR_MISSING, LINK_BROKEN, ORPHAN};
use crate::lint::{OkfVersion, Profile};

fn selectors(text: &str) -> Vec<Selector> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
}

/// `select`, `ignore` and `levels` (`L=off,L001=hint`), each of them may be empty.
fn layer(select: &str, ignore: &str, levels: &[(&str, Setting)]) -> Layer {
    Layer {
        select: (!select.is_empty()).then(|| selectors(select)),
        ignore: selectors(ignore),
        levels: levels.iter().map(|(rule, setting)| (rule.parse().unwrap(), *setting)).collect(),
    }
}

/// The levels of L001 (an error by itself), L005 (a warning) and G001 (a warning): `E`, `W`, `H` or `-`.
fn seen(layers: &[Layer]) -> String {
    let mut levels = Levels::default();
    layers.iter().for_each(|layer| levels.lay(layer));
    [&LINK_BROKEN, &ANCHOR_MISSING, &ORPHAN]
        .map(|rule| match levels.of(rule, rule.level(Profile::Wiki).unwrap()) {
            Some(Level::Error) => 'E',
            Some(Level::Warning) => 'W',
            Some(Level::Hint) => 'H',
            None => '-',
        })
        .iter()
        .collect()
}

#[test]
fn a_rule_is_meant_by_code_name_prefix_or_all_in_any_case() {
    for (text, count) in
        [("L001", 1), ("l001", 1), ("Link-Broken", 1), ("l", 9), ("L00", 9), (" all ", ALL.len())]
    {
        assert_eq!(text.parse::<Selector>().unwrap().rules().count(), count, "{text}");
    }
}

#[test]
fn what_names_no_rule_is_an_error_with_the_nearest() {
    for (text, nearest) in [
        ("L01", "L001"),
        ("L999", "L009"),
        ("link-brokn", "L001 (link-broken)"),
        ("orphans", "G001 (orphan)"),
    ] {
        let error = text.parse::<Selector>().unwrap_err().to_string();
        assert!(error.contains(nearest) && error.contains("the nearest is"), "{error}");
    }
}

#[test]
fn what_is_near_no_rule_is_likened_to_none() {
    for text in ["", "é", "FOO", "nosuchrule", &"x".repeat(1_000_000), "\u{1b}[31m"] {
        let error = text.parse::<Selector>().unwrap_err().to_string();
        assert!(!error.contains("nearest") && error.contains("lint --help") && error.len() < 300, "{error}");
    }
}

#[test]
fn without_a_word_every_rule_keeps_its_level() {
    assert_eq!(seen(&[]), "EWW");
    assert_eq!(seen(&[Layer::default()]), "EWW");
}

#[test]
fn select_leaves_only_what_it_names_and_ignore_takes_away() {
    assert_eq!(seen(&[layer("L", "", &[])]), "EW-");
    assert_eq!(seen(&[layer("", "L", &[])]), "--W");
    assert_eq!(seen(&[layer("", "all", &[])]), "---");
}

#[test]
fn the_narrower_word_of_one_place_counts_and_off_wins_a_tie() {
    assert_eq!(seen(&[layer("L001", "L", &[])]), "E--");
    assert_eq!(seen(&[layer("L", "L001", &[])]), "-W-");
    assert_eq!(seen(&[layer("L001", "L001", &[])]), "---");
    assert_eq!(seen(&[layer("", "L", &[("L005", Setting::Error)])]), "-EW");
    assert_eq!(seen(&[layer("", "L005", &[("L005", Setting::Error)])]), "E-W");
    assert_eq!(seen(&[layer("", "", &[("L", Setting::Hint), ("L005", Setting::Off)])]), "H-W");
    assert_eq!(seen(&[layer("", "", &[("ALL", Setting::Off), ("L005", Setting::Hint)])]), "-H-");
    // A level does not select.
    assert_eq!(seen(&[layer("G", "", &[("L005", Setting::Error)])]), "--W");
}

#[test]
fn a_stronger_place_overrides_a_weaker_one_and_leaves_the_rest() {
    let off = layer("", "L", &[("G", Setting::Hint)]);
    assert_eq!(seen(&[off.clone(), layer("L001", "", &[])]), "E--");
    assert_eq!(seen(&[off.clone(), layer("", "", &[("L005", Setting::Warning)])]), "-WH");
    assert_eq!(seen(&[off.clone(), layer("ALL", "", &[])]), "EWH");
    assert_eq!(seen(&[layer("L", "", &[]), layer("", "L001", &[])]), "-W-");
}

#[test]
fn what_is_weaker_than_before_is_named() {
    let report = Report {
        profile: Profile::Okf,
        okf_version: OkfVersion::V0_2.as_str(),
        pages: 0,
        findings: Vec::new(),
        fixed: Vec::new(),
    };
    let mut levels = Levels::default();
    // L002 does not apply in this profile, and P001 is raised.
    levels.lay(&layer("", "L002,F003", &[("F001", Setting::Hint), ("P001", Setting::Error)]));
    assert_eq!(levels.weaker_than(&Levels::default(), &report), (vec!["F003"], vec!["F001"]));
    assert_eq!(Levels::default().weaker_than(&levels, &report), (vec![], vec!["P001"]));
}
