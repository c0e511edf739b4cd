use std::path::Path;

use tar::EntryType;

use super::*;
use crate::bundle::archive::fixture::{file, gzip, tar, zip};
use crate::bundle::{Write as _, apply};

fn tgz(entries: &[(&str, EntryType, &[u8])]) -> Result<MemoryBundle, String> {
    let file = file(".tgz", &gzip(&tar(entries)));
    load(file.path(), Format::TarGz).map_err(|e| e.message)
}

fn zipped(files: &[(&str, &str)]) -> Result<MemoryBundle, String> {
    let file = file(".zip", &zip(files));
    load(file.path(), Format::Zip).map_err(|e| e.message)
}

fn paths(bundle: &MemoryBundle) -> Vec<String> {
    let (entries, _) = bundle.walk(&BundlePath::root()).unwrap();
    entries.into_iter().filter(|e| e.kind == EntryKind::File).map(|e| e.path.as_str().to_owned()).collect()
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for (name, why) in [
        ("../x.md", "leads out"),
        ("wiki/../../x.md", "leads out"),
        ("wiki/../x.md", "leads out"),
        ("..\\x.md", "leads out"),
        ("/etc/x.md", "is absolute"),
        ("wiki\\x.md", "backslash"),
    ] {
        for said in [zipped(&[(name, "x")]), tgz(&[(name, EntryType::Regular, b"x")])] {
            let said = said.err().unwrap();
            assert!(said.contains(why), "{name}: {said}");
        }
    }
}

#[test]
fn links_and_devices_are_refused() {
    for (kind, what) in [
        (EntryType::Symlink, "symbolic link"),
        (EntryType::Link, "hard link"),
        (EntryType::Fifo, "FIFO"),
        (EntryType::Char, "device"),
        (EntryType::Block, "device"),
    ] {
        let said = tgz(&[("wiki/x.md", kind, b"")]).err().unwrap();
        assert!(said.contains(what), "{said}");
    }
    let mut writer = ::zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    writer.add_symlink("wiki/x.md", "/etc/passwd", ::zip::write::SimpleFileOptions::default()).unwrap();
    let linked = file(".zip", &writer.finish().unwrap().into_inner());
    assert!(load(linked.path(), Format::Zip).err().unwrap().message.contains("symbolic link"));
}

#[test]
fn a_name_may_come_once() {
    let twice: [(&str, EntryType, &[u8]); 2] =
        [("wiki/x.md", EntryType::Regular, b"a"), ("./wiki/x.md", EntryType::Regular, b"b")];
    assert!(tgz(&twice).err().unwrap().contains("twice"));
    assert!(zipped(&[("wiki/x.md", "a"), ("./wiki/x.md", "b")]).err().unwrap().contains("twice"));
    let both: [(&str, EntryType, &[u8]); 2] =
        [("wiki/x", EntryType::Regular, b"a"), ("wiki/x/y.md", EntryType::Regular, b"b")];
    assert!(tgz(&both).err().unwrap().contains("no place"));
}

#[test]
fn a_bomb_is_refused_by_its_cap() {
    // Inflates to 5 MiB from 5 KiB; within one file, over many, and in the headers of the tar itself.
    let zeros = vec![b'0'; 5 * 1024 * 1024];
    let text = String::from_utf8(zeros.clone()).unwrap();
    let part = text.get(..512 * 1024).unwrap();
    let names: Vec<String> = (0..20).map(|n| format!("wiki/{n}.md")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), part)).collect();
    for said in [
        zipped(&[("wiki/x.md", &text)]),
        zipped(&many),
        tgz(&[("wiki/x.md", EntryType::Regular, &zeros)]),
        tgz(&[
            ("././@LongLink", EntryType::GNULongName, &vec![b'x'; 64 * 1024 * 1024]),
            ("wiki/x.md", EntryType::Regular, b"x"),
        ]),
    ] {
        let said = said.err().unwrap();
        assert!(said.contains("100 times its size"), "{said}");
    }
    assert!(Budget::of(MAX_UNPACKED + 1).is_err());
    let names: Vec<String> = (0..=MAX_ENTRIES).map(|n| format!("wiki/{n}.md")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert!(zipped(&many).err().unwrap().contains("10000 entries"));
    let many: Vec<(&str, EntryType, &[u8])> =
        names.iter().map(|name| (name.as_str(), EntryType::Regular, b"".as_slice())).collect();
    assert!(tgz(&many).err().unwrap().contains("10000 entries"));
}

#[test]
fn what_is_no_archive_is_said_in_a_sentence() {
    for format in [Format::Zip, Format::TarGz] {
        for bytes in [b"".as_slice(), b"not an archive at all", &[0x1f, 0x8b, 8, 0, 0, 0]] {
            let file = file(".x", bytes);
            let error = load(file.path(), format).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(error.message.contains("damaged") || error.message.contains("no files"), "{error}");
        }
    }
    let whole = gzip(&tar(&[("wiki/x.md", EntryType::Regular, &[b'x'; 9000])]));
    let cut = file(".tgz", &whole[..whole.len() / 2]);
    assert!(load(cut.path(), Format::TarGz).is_err());
    assert_eq!(load(Path::new("/nowhere.zip"), Format::Zip).err().unwrap().kind, ErrorKind::NotFound);
}

#[test]
fn a_folder_around_the_bundle_is_taken_off_and_no_other() {
    let inner = |files: &[(&str, &str)]| paths(&zipped(files).unwrap());
    assert_eq!(inner(&[("w/AGENTS.md", ""), ("w/wiki/x.md", "")]), ["/AGENTS.md", "/wiki/x.md"]);
    assert_eq!(inner(&[("w/index.md", ""), ("__MACOSX/w/._index.md", "")]), ["/index.md"]);
    assert_eq!(inner(&[("wiki/index.md", ""), ("wiki/x.md", "")]), ["/wiki/index.md", "/wiki/x.md"]);
    assert_eq!(inner(&[("w/AGENTS.md", ""), ("README.md", "")]), ["/README.md", "/w/AGENTS.md"]);
    assert_eq!(inner(&[("tables/x.md", "")]), ["/tables/x.md"]);
}

#[test]
fn a_file_that_is_too_large_is_listed_and_not_read() {
    let mut noise = Vec::new();
    let mut state = 1_u32;
    while noise.len() <= 8 * 1024 * 1024 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.extend(state.to_le_bytes());
    }
    let bundle =
        tgz(&[("raw/scan.pdf", EntryType::Regular, &noise), ("wiki/x.md", EntryType::Regular, b"x")])
            .unwrap();
    let large = BundlePath::parse("/raw/scan.pdf").unwrap();
    assert_eq!(bundle.stat(&large).unwrap().len, noise.len() as u64);
    assert_eq!(bundle.read_bytes(&large).unwrap_err().kind, ErrorKind::TooLarge);
}

#[test]
fn changes_are_proposed_over_an_archive_and_refused_when_they_are_applied() {
    let file = file(".zip", &zip(&[("wiki/x.md", "old\n")]));
    let bundle = crate::bundle::open(file.path()).unwrap();
    let page = BundlePath::parse("/wiki/x.md").unwrap();
    let staged = crate::bundle::Staged::new(bundle.reader(), crate::bundle::Rules::manager(true));
    staged.write(&page, b"new\n").unwrap();
    let changes = staged.changes();
    assert!(changes.patch().contains("+new"));
    let approved = crate::bundle::Decision::Approved { shown: changes.files[0].shown() };
    let applied = apply(&bundle, &changes, &[(page.clone(), approved)].into());
    assert_eq!(applied.landed, []);
    assert_eq!(applied.failed[0].1.kind, ErrorKind::Denied);
    assert_eq!(applied.failed[0].1.message, READ_ONLY);
    assert_eq!(bundle.read(&page).unwrap(), "old\n");
    assert_eq!(bundle.delete(&page).unwrap_err().kind, ErrorKind::Denied);
}
