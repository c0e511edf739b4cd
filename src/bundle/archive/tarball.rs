//! Reading `.tar.gz`.

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::budget::{Budget, Metered};
use super::{Contents, Refusal, SMALL, content};

pub fn read(packed: &[u8], budget: &Budget) -> Result<Contents, Refusal> {
    let damaged = |e: std::io::Error| Refusal::Damaged(e.kind().to_string());
    // Long names and attributes are read by the library itself, so the whole stream is counted too. Headers and padding
    // of small files can weigh more than their content: twice as much and some more.
    let stream = budget.for_stream(SMALL * 16);
    let outcome = (|| {
        let mut archive = Archive::new(Metered::new(MultiGzDecoder::new(packed), &stream));
        let mut contents = Contents::default();
        for entry in archive.entries().map_err(damaged)? {
            let entry = entry.map_err(damaged)?;
            let kind = entry.header().entry_type();
            // The one comment that `git archive` writes.
            if kind == EntryType::XGlobalHeader {
                continue;
            }
            let raw = entry.path_bytes().into_owned();
            let Ok(name) = std::str::from_utf8(&raw) else {
                return Err(Refusal::Said(format!(
                    "holds the name {:?}, which is not UTF-8; it is not opened",
                    String::from_utf8_lossy(&raw)
                )));
            };
            let what = match kind {
                EntryType::Regular | EntryType::Continuous | EntryType::Directory => None,
                EntryType::Symlink => Some("symbolic link"),
                EntryType::Link => Some("hard link"),
                EntryType::Fifo => Some("FIFO"),
                EntryType::Char | EntryType::Block => Some("device"),
                _ => Some("thing that is neither file nor folder"),
            };
            if let Some(what) = what {
                return Err(Contents::special(name, what));
            }
            let Some(path) = contents.enter(name)? else { continue };
            if kind != EntryType::Directory {
                contents.files.push((path, content(entry, budget)?));
            }
        }
        Ok(contents)
    })();
    stream.check()?;
    outcome
}
