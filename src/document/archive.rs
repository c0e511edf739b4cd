//! Zip containers: refusing bombs before a library unpacks them, and reading and replacing single parts.

use std::io::{Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Error, Kind, Limits, MIB};

pub(super) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

pub(super) fn open(bytes: &[u8]) -> Result<Archive<'_>, zip::result::ZipError> {
    ZipArchive::new(Cursor::new(bytes))
}

/// Refuses what the central directory says would unpack to more than a document needs, and what is encrypted.
pub(super) fn check(bytes: &[u8], kind: Kind, limits: &Limits) -> Result<(), Error> {
    let mut archive = open(bytes).map_err(|error| Error::damaged(kind, error))?;
    let bomb = |what: String| Error::Bomb { kind: kind.name().into(), what };
    if archive.len() > limits.entries {
        return Err(bomb(format!("{} files", archive.len())));
    }
    let mut sum = 0_u64;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| Error::damaged(kind, error))?;
        if entry.encrypted() {
            return Err(Error::encrypted(kind));
        }
        sum = sum.saturating_add(entry.size());
    }
    match sum > limits.unpacked {
        true => Err(bomb(format!("{} MiB", sum / MIB))),
        false => Ok(()),
    }
}

/// The unpacked part `name`, at most `limit` bytes of it: what the directory says of its size may be a lie.
pub(super) fn part(archive: &mut Archive, name: &str, limit: u64) -> Option<Vec<u8>> {
    let entry = archive.by_name(name.trim_start_matches('/')).ok()?;
    let mut bytes = Vec::new();
    entry.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The archive with the content of some parts replaced. Parts of other names are copied as they are.
pub(super) fn replace(bytes: &[u8], parts: &[(String, Vec<u8>)]) -> Result<Vec<u8>, zip::result::ZipError> {
    let mut archive = open(bytes)?;
    let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(bytes.len())));
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        if !parts.iter().any(|(name, _)| entry.name().is_ok_and(|own| own == name.as_str())) {
            writer.raw_copy_file(entry)?;
        }
    }
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts {
        writer.start_file(name.as_str(), stored)?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
