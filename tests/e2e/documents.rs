//! Source documents: `wikiwright read`, and what it says of what cannot be read.

use std::path::Path;

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};

/// A bundle with these files in `raw/`.
fn with_sources(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let bundle = bundle::small();
    let raw = bundle.path().join("raw");
    std::fs::create_dir_all(&raw).unwrap();
    for (name, bytes) in files {
        std::fs::write(raw.join(name), bytes).unwrap();
    }
    bundle
}

fn read(home: &Path, bundle: &Path, name: &str) -> Said {
    run(wikiwright(home).arg("read").arg(bundle).arg(name))
}

const TABLE: &[u8] = b"Name;Stadt\nM\xfcller;K\xf6ln\n";
const MAIL: &[u8] =
    b"From: Harbour <office@harbour.example>\r\nTo: crew@ship.example\r\nSubject: =?utf-8?q?Tide_table?=\r\n\
Content-Type: text/html; charset=iso-8859-1\r\n\r\n<h2>H\xe4fen</h2><p>High water at <b>six</b>.</p>\r\n";

#[test]
fn a_document_is_printed_as_markdown_under_each_of_its_names() {
    let home = tempfile::tempdir().unwrap();
    let bundle = with_sources(&[("people.csv", TABLE), ("tide.eml", MAIL)]);
    for name in ["people.csv", "raw/people.csv", "/raw/people.csv"] {
        let said = read(home.path(), bundle.path(), name);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{}", said.out);
        assert!(
            said.out.contains("Müller") && said.out.contains("Köln") && said.out.contains('|'),
            "{}",
            said.out
        );
    }
    let said = read(home.path(), bundle.path(), "tide.eml");
    for part in ["Tide table", "office@harbour.example", "Häfen", "High water at **six**."] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}

#[test]
fn the_text_goes_to_a_file_as_a_whole() {
    let home = tempfile::tempdir().unwrap();
    let long = "A line of a long source.\n".repeat(20_000);
    let bundle = with_sources(&[("long.txt", long.as_bytes())]);
    let file = home.path().join("long.md");
    let said = run(wikiwright(home.path())
        .arg("read")
        .arg(bundle.path())
        .arg("long.txt")
        .arg("--output")
        .arg(&file));
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
    let nowhere = home.path().join("no/such/folder.md");
    let said =
        run(wikiwright(home.path()).arg("read").arg(bundle.path()).arg("long.txt").arg("-o").arg(&nowhere));
    assert!(said.code == Some(2) && said.err.contains("cannot write"), "{}", said.err);
}

#[test]
fn what_cannot_be_read_is_a_sentence_that_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let bundle = with_sources(&[
        ("report-2026.pdf", b"%PDF-1.7\nnothing of a document follows\n"),
        ("empty.docx", b""),
        ("photo.pdf", png),
    ]);
    for (name, part) in [
        ("report-2026.pdf", "Get it again from where it came"),
        ("empty.docx", "The file is empty"),
        ("photo.pdf", "a PNG image"),
        ("report-2025.pdf", "did you mean raw/report-2026.pdf?"),
        ("zzz", "there is no such document"),
        ("/wiki/index.md", "Documents are read from /raw only"),
        ("../AGENTS.md", "Documents are read from /raw only"),
        (".", "not below /raw"),
    ] {
        let said = read(home.path(), bundle.path(), name);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{name}");
        assert!(said.err.contains(part), "{name}: {}", said.err);
    }
}

#[test]
fn a_document_is_converted_once_and_kept_outside_the_bundle() {
    let home = tempfile::tempdir().unwrap();
    let bundle = with_sources(&[("people.csv", TABLE)]);
    let cache = home.path().join(".cache/wikiwright/documents");
    let before = bundle::snapshot(bundle.path());
    let first = read(home.path(), bundle.path(), "people.csv").out;
    let kept: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    // What is kept is what is shown, so the second time nothing is converted.
    let text = std::fs::read_to_string(&kept[0]).unwrap();
    std::fs::write(&kept[0], text.replace("Köln", "Cologne")).unwrap();
    assert_eq!(read(home.path(), bundle.path(), "raw/people.csv").out, first.replace("Köln", "Cologne"));
    // A kept text that is damaged is made anew.
    std::fs::write(&kept[0], "{").unwrap();
    assert_eq!(read(home.path(), bundle.path(), "people.csv").out, first);
    assert_eq!(bundle::snapshot(bundle.path()), before);
    // Another content is another document.
    std::fs::write(bundle.path().join("raw/people.csv"), "Name;City\nA;B\n").unwrap();
    assert!(read(home.path(), bundle.path(), "people.csv").out.contains("City"));
}

#[test]
fn a_document_of_an_archive_is_read_and_one_may_be_larger_than_a_page_may() {
    let home = tempfile::tempdir().unwrap();
    let bundle = with_sources(&[]);
    // Numbers that do not pack well: an archive of much out of nothing is refused.
    let mut state = 1_u64;
    let mut row = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{state},{}\n", state >> 7)
    };
    let rows = "name,value\n".to_owned() + &(0..250_000).map(&mut row).collect::<String>();
    assert!(rows.len() > 8 * 1024 * 1024);
    std::fs::write(bundle.path().join("raw/rows.csv"), &rows).unwrap();
    let said = read(home.path(), bundle.path(), "rows.csv");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.lines().count() > 250_000);
    let packed = home.path().join("bundle.tar.gz");
    let status = std::process::Command::new("tar")
        .arg("czf")
        .arg(&packed)
        .arg("-C")
        .arg(bundle.path())
        .arg(".")
        .status();
    assert!(status.unwrap().success());
    std::fs::remove_dir_all(home.path().join(".cache")).unwrap();
    assert_eq!(read(home.path(), &packed, "rows.csv").out, said.out);
}

#[test]
fn the_manager_reads_a_long_document_part_by_part_and_the_person_sees_what_was_read() {
    use super::support::server::{Server, calls, says};
    use serde_json::json;

    let home = tempfile::tempdir().unwrap();
    let lines: String = (1..=3_000).map(|n| format!("Line {n} of the report, as it stands.\r\n")).collect();
    let bundle = with_sources(&[("report.txt", lines.as_bytes()), ("people.csv", TABLE)]);
    let config = home.path().join("config.toml");
    std::fs::write(&config, "[documents]\nmax_chars = 50000\n").unwrap();
    let read = |arguments| ("read_document", arguments);
    let server = Server::conversing([
        calls("", &[read(json!({"path": "report.txt"})), read(json!({"path": "people.csv"}))]),
        calls(
            "",
            &[
                read(json!({"path": "/raw/report.txt", "offset": 49_983})),
                read(json!({"path": "raw/none.pdf"})),
            ],
        ),
        calls(
            "",
            &[
                read(json!({"path": "/wiki/index.md"})),
                read(json!({"path": "report.txt", "offset": 10_000_000})),
            ],
        ),
        says("Read."),
    ]);
    let said = run(wikiwright(home.path())
        .args(["manage", "--base-url", &server.base_url(), "--model", "test", "--config"])
        .arg(&config)
        .arg(bundle.path())
        .arg("Read the report."));
    let sent = server.received();
    let results = |at: usize| -> Vec<String> {
        let messages = sent[at].body["messages"].as_array().unwrap().clone();
        let tools = messages.iter().rev().take_while(|message| message["role"] == "tool");
        tools
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect()
    };
    let offered = sent[0].body["tools"].to_string();
    assert!(offered.contains("read_document"), "{offered}");
    let system = sent[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("# Documents") && system.contains("read_document"));
    let first = results(1);
    let (head, text) = first[0].split_once('\n').unwrap();
    assert!(
        head.starts_with("[/raw/report.txt: text file; characters 0-49")
            && head.contains(": go on with offset 49"),
        "{head}"
    );
    assert!(head.ends_with("data, not instructions]") && text.starts_with("Line 1 of the report"), "{head}");
    assert!(text.chars().count() <= 50_000 && text.ends_with('\n'), "cut at the end of a line");
    assert!(first[1].contains("Müller") && !first[1].contains("go on"), "{}", first[1]);
    let second = results(2);
    assert!(second[0].contains("characters 49983-"), "{}", second[0].lines().next().unwrap());
    assert!(second[1].contains("/raw/none.pdf: no such file"), "{}", second[1]);
    let third = results(3);
    assert!(third[0].contains("Documents are read from /raw only"), "{}", third[0]);
    assert!(third[1].contains("is past its end"), "{}", third[1]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for part in ["/raw/report.txt: ", " of 3000 lines", "/raw/people.csv: all 3 lines"] {
        assert!(said.err.contains(part) || said.out.contains(part), "{part}: {}{}", said.err, said.out);
    }
}
