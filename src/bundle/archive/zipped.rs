//! Reading `.zip`.

use std::io::Cursor;

use zip::ZipArchive;
use zip::result::ZipError;

use super::budget::Budget;
use super::{Contents, MAX_ENTRIES, Refusal, content};

/// File types in the upper bits of a Unix mode.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

pub fn read(packed: &[u8], budget: &Budget) -> Result<Contents, Refusal> {
    let mut archive = ZipArchive::new(Cursor::new(packed)).map_err(damaged)?;
    if archive.len() > MAX_ENTRIES {
        return Err(Refusal::Said(format!("holds more than {MAX_ENTRIES} entries, the most that are read")));
    }
    if archive.has_duplicate_names() {
        return Err(Refusal::Said("holds a name twice; it is not opened".to_owned()));
    }
    let mut contents = Contents::default();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        match entry.unix_mode().map(|mode| mode & TYPE) {
            None | Some(0 | REGULAR | FOLDER) => {}
            Some(LINK) => return Err(Contents::special(&name, "symbolic link")),
            Some(_) => return Err(Contents::special(&name, "device or something like it")),
        }
        let folder = name.ends_with('/');
        let Some(path) = contents.enter(&name)? else { continue };
        if !folder {
            contents.files.push((path, content(entry, budget)?));
        }
    }
    Ok(contents)
}

fn damaged(error: ZipError) -> Refusal {
    match error {
        ZipError::UnsupportedArchive(_) => Refusal::Said(
            "is encrypted or packed in a way that is not read; pack it anew with the usual method (deflate)"
                .to_owned(),
        ),
        ZipError::Io(e) => Refusal::Damaged(e.kind().to_string()),
        _ => Refusal::Damaged("its table of contents makes no sense".to_owned()),
    }
}
