//! Hostile documents: truncated, bit-flipped, bombs, deep nesting. Each gives an answer or an error in a sentence, within the
//! limits, and the program goes on.

use std::time::{Duration, Instant};

use wikiwright::document::Error;
use wikiwright::document::child::PATIENCE;

use super::sources;

#[test]
fn every_hostile_document_gives_an_answer_or_a_clear_error() {
    let Some(sources) = sources() else { return };
    let mut paths: Vec<_> =
        std::fs::read_dir(sources.join("robust")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut faults = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let start = Instant::now();
        let result = super::convert(&bytes, name);
        let took = start.elapsed();
        let shown = match &result {
            Ok(converted) => format!("{} bytes", converted.markdown.len()),
            Err(error) => error.to_string(),
        };
        println!("{:6.2} s  {name}: {shown}", took.as_secs_f64());
        if took > Duration::from_secs(PATIENCE + 5) {
            faults.push(format!("{name}: took {took:?}"));
        }
        if matches!(result, Err(Error::NotStarted { .. })) {
            faults.push(format!("{name}: {shown}"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
