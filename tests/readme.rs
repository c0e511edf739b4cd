//! The README's tables say what the program does. `UPDATE_README=1 cargo test --test readme -- --test-threads 1`
//! writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::path::{Path, PathBuf};

use wikiwright::cli;
use wikiwright::lint::Level;
use wikiwright::lint::registry::ALL;
use wikiwright::tui::keymap::{Keymap, Layer};

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Compares what stands between `<!-- name -->` and `<!-- /name -->` with `wanted`.
fn assert_part(name: &str, wanted: &str) {
    let text = std::fs::read_to_string(readme()).unwrap();
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&open).unwrap() + open.len();
    let end = start + text[start..].find(&close).unwrap();
    let wanted = format!("\n{}\n\n", wanted.trim());
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(readme(), format!("{}{wanted}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(text[start..end], wanted, "README.md, part `{name}`; see the top of this test");
    }
}

#[test]
fn exit_codes() {
    let codes = cli::EXIT_CODES.lines().skip(1).map(|line| {
        let (code, meaning) = line.trim_start().split_once("  ").unwrap();
        format!("| {code} | {meaning} |\n")
    });
    assert_part("exit-codes", &format!("| code | meaning |\n|---|---|\n{}", codes.collect::<String>()));
}

#[test]
fn rules() {
    let level = |level: Option<Level>| level.map_or("off", Level::as_str);
    let mut table = String::from("| code | name | wiki | okf | what |\n|---|---|---|---|---|\n");
    for rule in ALL {
        let (wiki, okf) = (level(rule.wiki), level(rule.okf));
        table.push_str(&format!("| {} | {} | {wiki} | {okf} | {} |\n", rule.code, rule.name, rule.summary));
    }
    assert_part("rules", &table);
}

#[test]
fn keys() {
    let keymap = Keymap::shipped();
    let mut table = String::from("| where | key | what |\n|---|---|---|\n");
    for layer in
        [Layer::Global, Layer::Plain, Layer::Tree, Layer::Page, Layer::Chat, Layer::Review, Layer::Problems]
    {
        for (title, keys) in keymap.help(layer) {
            let keys: Vec<String> =
                keys.split("  ").map(|k| format!("`{}`", k.replace('|', "\\|"))).collect();
            table.push_str(&format!("| {} | {} | {title} |\n", layer.title(), keys.join(" ")));
        }
    }
    assert_part("keys", &table);
}

/// Every command line in the README is one that the program takes.
#[test]
fn command_lines() {
    use clap::Parser as _;
    let text = std::fs::read_to_string(readme()).unwrap();
    let mut seen = 0;
    for line in text.lines().filter_map(|l| l.strip_prefix("| `wikiwright ")) {
        let (arguments, _) = line.split_once('`').unwrap();
        let arguments = arguments.replace("[PATH]", "PATH").replace("[--json]", "--json");
        let mut words = vec!["wikiwright".to_owned()];
        for (i, part) in arguments.split('"').enumerate() {
            match i % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        cli::Cli::try_parse_from(&words).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}
