//! The documents of `sources/`, whose text is known, against floors: what the reference converter keeps of them, and the
//! goals. Prints a table. Nothing is tested where the documents are not at hand, and that is said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wikiwright::document::{Error, Kind};

use super::score::{Score, mean, score};
use super::{converter, sources};

/// Least shares of a format, in the order of [`Score`].
struct Floor {
    extension: &'static str,
    least: [f64; 6],
}

/// What the reference converter (markitdown 0.1.9) keeps of these files by the same measure, or the goal where that is higher:
/// 0.97 of the words of PDF and HTML, 0.95 of the rows of sheets. Formats that it cannot read at all have our own figures.
const FLOORS: &[Floor] = &[
    Floor { extension: "csv", least: [1.0, 1.0, 1.0, 1.0, 0.95, 0.0] },
    Floor { extension: "doc", least: [0.99, 0.99, 0.99, 0.99, 0.99, 0.99] },
    Floor { extension: "docx", least: [0.97, 0.994, 0.93, 1.0, 0.95, 1.0] },
    Floor { extension: "epub", least: [0.998, 0.989, 0.996, 1.0, 0.0, 1.0] },
    Floor { extension: "html", least: [0.98, 0.99, 0.97, 1.0, 0.95, 1.0] },
    Floor { extension: "ods", least: [0.99, 0.95, 0.99, 0.99, 0.99, 0.0] },
    Floor { extension: "odt", least: [0.79, 0.99, 0.78, 0.99, 0.2, 0.9] },
    Floor { extension: "pdf", least: [0.99, 0.99, 0.98, 0.99, 0.66, 0.99] },
    Floor { extension: "ppt", least: [0.83, 0.82, 0.57, 0.82, 0.0, 1.0] },
    Floor { extension: "pptx", least: [0.89, 0.99, 0.88, 1.0, 0.0, 1.0] },
    Floor { extension: "xls", least: [1.0, 0.91, 1.0, 1.0, 1.0, 0.0] },
    Floor { extension: "xlsx", least: [0.87, 0.95, 0.76, 0.94, 0.95, 1.0] },
];

#[test]
fn the_text_of_every_known_document_is_kept() {
    let Some(sources) = sources() else { return };
    let mut scores: BTreeMap<String, Vec<Score>> = BTreeMap::new();
    let detail = std::env::var_os("DOCUMENTS_DETAIL").is_some();
    println!("                 recall  prec   runs  order   rows  heads");
    for truth in files(&sources.join("truth")) {
        let name = truth.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(sources.join("files").join(&name)).unwrap();
        let known = std::fs::read_to_string(&truth).unwrap();
        // The output of another converter, to compare with.
        let found = match std::env::var_os("DOCUMENTS_OTHER") {
            Some(folder) => {
                std::fs::read_to_string(Path::new(&folder).join(format!("{name}.md"))).unwrap_or_default()
            }
            None => super::convert(&bytes, &name).unwrap_or_else(|error| panic!("{name}: {error}")).markdown,
        };
        let one = score(&known, &found);
        if detail {
            println!("{one}  {name}");
        }
        scores.entry(name.rsplit('.').next().unwrap().to_owned()).or_default().push(one);
    }
    let mut faults = Vec::new();
    for (extension, scores) in &scores {
        let mean = mean(scores);
        println!("{extension:6} {:3} files{mean}", scores.len());
        let shares = [mean.recall, mean.precision, mean.runs, mean.order, mean.rows, mean.headings];
        let floor = FLOORS
            .iter()
            .find(|floor| floor.extension == extension && std::env::var_os("DOCUMENTS_OTHER").is_none());
        for (what, (share, least)) in
            ["recall", "precision", "three-word runs", "order", "table rows", "headings"]
                .iter()
                .zip(shares.iter().zip(floor.map_or([0.0; 6], |floor| floor.least)))
        {
            // Rounded as printed.
            if share.is_some_and(|share| (share * 1000.0).round() / 1000.0 < least) {
                faults.push(format!("{extension}: {what} {:.3}, at least {least} is wanted", share.unwrap()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_document_is_what_its_name_says_and_converts() {
    let Some(sources) = sources() else { return };
    let mut faults = Vec::new();
    for path in files(&sources.join("files")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let kind = wikiwright::document::kind(&bytes, name);
        let nameless = wikiwright::document::kind(&bytes, "document");
        let told = name.rsplit('.').next().unwrap();
        if told != "zip" && kind.extension() != told {
            faults.push(format!("{name}: taken for {}", kind.name()));
        }
        // Delimiters are no sign of their own, and a page of no html tag is a text.
        if !matches!(kind, Kind::Csv | Kind::Tsv) && nameless != kind {
            faults.push(format!("{name}: without its name taken for {}", nameless.name()));
        }
        let result = super::convert(&bytes, name);
        let wanted: fn(&Error) -> bool = match name {
            "synth__enc_user_aes128.pdf" => |error| matches!(error, Error::Encrypted { .. }),
            "synth__scanned_only.pdf" | "markitdown__MEDRPT-2024-PAT-3847_medical_report_scan.pdf" => {
                |error| matches!(error, Error::NoText { .. })
            }
            "markitdown__test_files.zip" => |error| matches!(error, Error::Unsupported { .. }),
            _ => |_| false,
        };
        match result {
            Err(error) if !wanted(&error) => faults.push(format!("{name}: {error}")),
            Ok(_) if wanted(&Error::Empty) => faults.push(format!("{name}: converts")),
            _ => {}
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// For looking at one document: `DOCUMENT=path cargo test --test documents shown -- --ignored --nocapture`.
#[test]
#[ignore = "shows the document that DOCUMENT names"]
fn shown() {
    let path = PathBuf::from(std::env::var_os("DOCUMENT").unwrap());
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    match converter().convert_blocking(&std::fs::read(&path).unwrap(), &name, &Default::default(), |_| {}) {
        Ok(converted) => println!("{}\n{:?} {:?}", converted.markdown, converted.notes, converted.metadata),
        Err(error) => println!("{error}"),
    }
}
