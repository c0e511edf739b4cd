//! The commands without a screen: what they print, what they change, how they exit.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::support::bundle;
use super::support::command::{run, wikiwright};

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn lint_of_a_clean_bundle_exits_with_0() {
    let (home, bundle) = (home(), bundle::small());
    let said = run(wikiwright(home.path()).arg("lint").arg(bundle.path()));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{}", said.out);
}

#[test]
fn lint_of_a_broken_bundle_exits_with_1_and_names_the_place() {
    let (home, bundle) = (home(), bundle::small());
    let page = bundle.path().join("wiki/concepts/sail.md");
    let text = std::fs::read_to_string(&page).unwrap().replace("hull.md", "keel.md");
    std::fs::write(&page, text).unwrap();
    let said = run(wikiwright(home.path()).args(["lint", "--json"]).arg(bundle.path()));
    assert_eq!(said.code, Some(1), "{}", said.err);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "L001");
    assert_eq!(finding["path"], "wiki/concepts/sail.md");
    assert_eq!(finding["line"], 10);
    assert_eq!(finding["data"]["target"], "keel.md");
}

/// A `lint --watch`, and what gives the summary of its next report.
fn watching(
    home: &tempfile::TempDir,
    bundle: &tempfile::TempDir,
) -> (std::process::Child, impl FnMut() -> String) {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_wikiwright"))
        .args(["lint", "--watch"])
        .arg(bundle.path())
        .env("HOME", home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let summary = move || lines.find(|line| line.contains(" in ") && line.contains("(profile")).unwrap();
    (child, summary)
}

#[test]
fn lint_that_watches_prints_the_report_again_when_it_changes() {
    let (home, bundle) = (home(), bundle::small());
    let page = bundle.path().join("wiki/concepts/sail.md");
    let sound = std::fs::read_to_string(&page).unwrap();
    let (mut child, mut summary) = watching(&home, &bundle);
    assert!(summary().starts_with("0 errors"));
    std::fs::write(&page, sound.replace("hull.md", "keel.md")).unwrap();
    assert!(summary().starts_with("1 error,"));
    // The same findings are not shown again.
    std::fs::write(bundle.path().join("wiki/notes.txt"), "text").unwrap();
    std::fs::write(&page, &sound).unwrap();
    assert!(summary().starts_with("0 errors"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn lint_that_watches_says_once_what_the_bundle_hides() {
    let (home, bundle) = (home(), bundle::small());
    std::fs::create_dir(bundle.path().join(".okf")).unwrap();
    std::fs::write(bundle.path().join(".okf/config.toml"), "[lint]\nignore = [\"L005\"]\n").unwrap();
    let page = bundle.path().join("wiki/concepts/sail.md");
    let sound = std::fs::read_to_string(&page).unwrap();
    let (mut child, mut summary) = watching(&home, &bundle);
    summary();
    std::fs::write(&page, sound.replace("hull.md", "keel.md")).unwrap();
    assert!(summary().starts_with("1 error,"));
    child.kill().unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert_eq!(said, "The bundle's .okf/config.toml turns off L005 (--isolated does not read it).\n");
}

#[test]
fn a_path_that_is_no_bundle_exits_with_2_and_says_why() {
    let home = home();
    let file = home.path().join("page.md");
    std::fs::write(&file, "# Page\n").unwrap();
    for command in [&["lint"][..], &[][..]] {
        for (path, why) in [("page.md", "folder"), ("nowhere", "no")] {
            let said = run(wikiwright(home.path()).args(command).arg(path));
            assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{command:?} {path}");
            assert!(said.err.contains(path) && said.err.contains(why), "{}", said.err);
        }
    }
    for command in ["ask", "manage"] {
        let said = run(wikiwright(home.path()).args([command, "page.md", "What?"]));
        assert_eq!(said.code, Some(2));
        assert!(said.err.contains("page.md: this is not a folder"), "{}", said.err);
    }
}

#[test]
fn outside_every_bundle_it_says_what_a_bundle_is() {
    let home = home();
    let said = run(&mut wikiwright(home.path()));
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("A bundle is a folder of markdown pages"), "{}", said.err);
}

#[test]
fn without_a_terminal_the_workbench_says_so_and_writes_no_escapes() {
    let (home, bundle) = (home(), bundle::small());
    for arguments in [vec![bundle.path().to_str().unwrap()], vec!["demo"]] {
        let said = run(wikiwright(home.path()).env("TERM", "xterm-256color").args(&arguments));
        assert_eq!(said.code, Some(2), "{arguments:?}");
        assert!(said.err.contains("terminal"), "{}", said.err);
        assert!(!said.out.contains('\x1b') && !said.err.contains('\x1b'), "{:?} {:?}", said.out, said.err);
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let (home, bundle) = (home(), bundle::small());
    for arguments in [vec!["lint", "--json", bundle.path().to_str().unwrap()], vec!["--help"]] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_wikiwright"))
            .args(&arguments)
            .env("HOME", home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_wrong_configuration_file_is_named_with_line_and_column() {
    let (home, bundle) = (home(), bundle::small());
    let folder = home.path().join(".config/wikiwright");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[model]\nurl = 'x'\n").unwrap();
    let said = run(wikiwright(home.path()).arg("ask").arg(bundle.path()).arg("What?"));
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("config.toml:2:1: unknown field `url`, expected"), "{}", said.err);
}

#[test]
fn the_configuration_folder_follows_xdg() {
    let (home, bundle) = (home(), bundle::small());
    let folder = home.path().join("elsewhere/wikiwright");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "nonsense").unwrap();
    let said = run(wikiwright(home.path())
        .env("XDG_CONFIG_HOME", home.path().join("elsewhere"))
        .arg("ask")
        .arg(bundle.path())
        .arg("What?"));
    assert!(said.err.contains("elsewhere/wikiwright/config.toml:1:"), "{}", said.err);
}

#[test]
fn without_a_model_ask_and_manage_say_how_to_set_one() {
    let (home, bundle) = (home(), bundle::small());
    for command in ["ask", "manage"] {
        let said = run(wikiwright(home.path()).arg(command).arg(bundle.path()).arg("What?"));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{command}");
        assert!(said.err.contains("OPENAI_API_KEY"), "{}", said.err);
    }
}

#[test]
fn a_bundle_can_set_no_server_no_key_and_no_option() {
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", trap.local_addr().unwrap());
    let toml = format!("[model]\nbase_url = '{url}'\nmodel = 'm'\nunknown = 1\n");
    let env =
        format!("OPENAI_BASE_URL={url}\nOPENAI_API_KEY=sk\nWIKIWRIGHT_BASE_URL={url}\nWIKIWRIGHT_MODEL=m\n");
    let mut files = bundle::SMALL.to_vec();
    files.extend([
        (".env", env.as_str()),
        (".wikiwright.toml", &toml),
        ("wikiwright.toml", &toml),
        ("config.toml", &toml),
        (".okf/config.toml", &toml),
        (".wikiwright/config.toml", &toml),
        (".config/wikiwright/config.toml", &toml),
    ]);
    let (home, bundle) = (home(), bundle::with(&files));
    for command in ["ask", "manage"] {
        let said = run(wikiwright(home.path()).current_dir(bundle.path()).args([command, ".", "What?"]));
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("No model is set"), "{}", said.err);
    }
    assert!(trap.accept().is_err(), "something connected to the address that the bundle named");
}

#[test]
fn an_empty_question_or_instruction_is_refused_at_once() {
    let (home, bundle) = (home(), bundle::small());
    for command in ["ask", "manage"] {
        for text in ["", "  "] {
            let said = run(wikiwright(home.path())
                .args(["--base-url", "http://127.0.0.1:9/v1", "--model", "m", command])
                .arg(bundle.path())
                .arg(text));
            assert_eq!(said.code, Some(2), "{command}: {}", said.err);
            assert!(said.err.contains("is empty"), "{command}: {}", said.err);
        }
    }
}
