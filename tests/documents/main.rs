//! Converting documents: how much of known ones is kept, that hostile ones do no harm, and each format on a small document
//! made here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

mod corpus;
mod fixtures;
mod robust;
mod score;
mod wall;

use std::path::{Path, PathBuf};

use wikiwright::document::child::Converter;
use wikiwright::document::{Converted, Error};

/// The documents at hand, which are not part of the repository. `WIKIWRIGHT_SOURCES` names another place.
fn sources() -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/sources");
    let place = std::env::var_os("WIKIWRIGHT_SOURCES").map_or(usual, PathBuf::from);
    if place.is_dir() {
        return Some(place);
    }
    eprintln!("SKIPPED: no documents at {}; set WIKIWRIGHT_SOURCES to their folder", place.display());
    None
}

fn converter() -> Converter {
    Converter::new(env!("CARGO_BIN_EXE_wikiwright").into())
}

fn convert(bytes: &[u8], name: &str) -> Result<Converted, Error> {
    converter().convert_blocking(bytes, name, &Default::default(), |_| {})
}
