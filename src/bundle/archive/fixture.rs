//! Archives for tests, made by the libraries that read them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::{Builder, NamedTempFile};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A file with these bytes and a name that ends with `suffix`.
pub fn file(suffix: &str, bytes: &[u8]) -> NamedTempFile {
    let mut file = Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

pub fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A tar of raw entries: name, type, content. The name is written as it is, however bad.
pub fn tar(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let field = &mut header.as_old_mut().name;
        field[..name.len()].copy_from_slice(name.as_bytes());
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// These files in each kind of archive, plain and within one folder.
pub fn each(files: &[(&str, &str)]) -> Vec<NamedTempFile> {
    let mut archives = Vec::new();
    for top in ["", "my-wiki-1.0/"] {
        let names: Vec<(String, &str)> = files
            .iter()
            .map(|(name, text)| (format!("{top}{}", name.trim_start_matches('/')), *text))
            .collect();
        let named: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        archives.push(file(".zip", &zip(&named)));
        let entries: Vec<_> =
            named.iter().map(|(name, text)| (*name, tar::EntryType::Regular, text.as_bytes())).collect();
        archives.push(file(".tar.gz", &gzip(&tar(&entries))));
        archives.push(file(".TGZ", &gzip(&tar(&entries))));
    }
    archives
}
