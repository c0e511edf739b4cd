//! Which format a document has: told by its content, and by its name only where the content leaves it open.

use std::io::{Cursor, Read as _};

use serde::{Deserialize, Serialize};

use super::{archive, charset};

/// How much of the start is looked at for signs of a text format.
const HEAD: usize = 8192;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Pdf,
    Docx,
    Doc,
    Pptx,
    Ppt,
    Xlsx,
    Xlsb,
    Xls,
    Ods,
    Odt,
    Csv,
    Tsv,
    Html,
    Epub,
    Json,
    Notebook,
    Xml,
    Rtf,
    Msg,
    Eml,
    Markdown,
    Text,
    /// Known, or at least no text, and not converted: what it is, with its article.
    Unsupported(&'static str),
}

/// Every format that is converted, with its extensions, the usual first, and its name in a sentence.
const KINDS: &[(Kind, &[&str], &str)] = &[
    (Kind::Pdf, &["pdf"], "PDF"),
    (Kind::Docx, &["docx", "docm", "dotx", "dotm"], "Word document"),
    (Kind::Doc, &["doc", "dot"], "Word 97-2003 document"),
    (Kind::Pptx, &["pptx", "pptm", "ppsx", "ppsm", "potx"], "PowerPoint presentation"),
    (Kind::Ppt, &["ppt", "pps"], "PowerPoint 97-2003 presentation"),
    (Kind::Xlsx, &["xlsx", "xlsm", "xltx"], "Excel workbook"),
    (Kind::Xlsb, &["xlsb"], "binary Excel workbook"),
    (Kind::Xls, &["xls", "xlt"], "Excel 97-2003 workbook"),
    (Kind::Ods, &["ods", "ots"], "OpenDocument spreadsheet"),
    (Kind::Odt, &["odt", "ott"], "OpenDocument text"),
    (Kind::Csv, &["csv"], "CSV table"),
    (Kind::Tsv, &["tsv", "tab"], "TSV table"),
    (Kind::Html, &["html", "htm", "xhtml"], "HTML page"),
    (Kind::Epub, &["epub"], "EPUB book"),
    (Kind::Json, &["json", "jsonl", "ndjson", "geojson"], "JSON file"),
    (Kind::Notebook, &["ipynb"], "Jupyter notebook"),
    (Kind::Xml, &["xml", "rss", "atom"], "XML file"),
    (Kind::Rtf, &["rtf"], "RTF document"),
    (Kind::Msg, &["msg", "oft"], "Outlook message"),
    (Kind::Eml, &["eml", "mht", "mhtml"], "mail"),
    (Kind::Markdown, &["md", "markdown", "mdown", "mkd"], "Markdown file"),
    (
        Kind::Text,
        &["txt", "text", "log", "rst", "org", "adoc", "tex", "srt", "vtt", "yaml", "yml", "toml"],
        "text file",
    ),
];

/// Formats without text here, by their first bytes and where those stand.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"8BPS", "a Photoshop image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "a WAVE sound file"),
    (8, b"AVI ", "an AVI video"),
    (4, b"ftypheic", "a HEIC image"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftypM4A", "an M4A sound file"),
    (4, b"ftyp", "an MP4 video"),
    (0, b"ID3", "an MP3 sound file"),
    (0, b"OggS", "an Ogg sound or video file"),
    (0, b"fLaC", "a FLAC sound file"),
    (0, b"\x1a\x45\xdf\xa3", "a Matroska video"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ\x90\0", "a Windows program"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ITSF", "a compiled help file (chm)"),
    (60, b"BOOKMOBI", "a Mobipocket book (mobi)"),
    (0, b"%!PS", "a PostScript file"),
    (0, b"AT&TFORM", "a DjVu document"),
    (0, b"\x00asm", "a WebAssembly module"),
];

const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ZIP: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"];

impl Kind {
    /// As a sentence names it, without an article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsupported(found) => found,
            _ => KINDS.iter().find(|(kind, ..)| *kind == self).map_or("document", |(.., name)| name),
        }
    }

    /// The usual extension; empty for what is not converted.
    pub fn extension(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).and_then(|(_, all, _)| all.first()).unwrap_or(&"")
    }

    /// The format a file's name promises.
    pub fn of_name(name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        KINDS.iter().find(|(_, all, _)| all.contains(&extension.as_str())).map(|(kind, ..)| *kind)
    }

    pub(super) fn is_zip(self) -> bool {
        use Kind::{Docx, Epub, Ods, Odt, Pptx, Xlsb, Xlsx};
        matches!(self, Docx | Pptx | Xlsx | Xlsb | Ods | Odt | Epub)
    }

    fn is_ole(self) -> bool {
        matches!(self, Self::Doc | Self::Ppt | Self::Xls | Self::Msg)
    }
}

impl<'de> Deserialize<'de> for Kind {
    /// By the extension, as the child sends it. What is not converted never crosses.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        KINDS
            .iter()
            .map(|(kind, ..)| *kind)
            .find(|kind| serde_json::to_value(kind).is_ok_and(|value| value == name.as_str()))
            .ok_or_else(|| serde::de::Error::custom(format!("no format `{name}`")))
    }
}

/// The format of a document. `name` is the file's name.
pub fn kind(bytes: &[u8], name: &str) -> Kind {
    let named = Kind::of_name(name);
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    if bytes.starts_with(OLE) {
        return ole(bytes).or(named.filter(|kind| kind.is_ole() || kind.is_zip())).unwrap_or(
            Kind::Unsupported("an OLE container that holds no Word, Excel, PowerPoint or Outlook document"),
        );
    }
    if ZIP.iter().any(|magic| bytes.starts_with(magic)) {
        return zip(bytes)
            .or(named.filter(|kind| kind.is_zip()))
            .unwrap_or(Kind::Unsupported("a zip archive"));
    }
    if head.get(..1024).unwrap_or(head).windows(5).any(|five| five == b"%PDF-") && !is_mail(head) {
        return Kind::Pdf;
    }
    if bytes.trim_ascii_start().starts_with(b"{\\rtf") {
        return Kind::Rtf;
    }
    let starts = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    if let Some((.., found)) = SIGNATURES.iter().find(|(at, magic, _)| starts(*at, magic)) {
        return Kind::Unsupported(found);
    }
    match named {
        // The content is not what the name says, but damaged, or a text that its name belies.
        Some(named @ (Kind::Pdf | Kind::Rtf)) if looks_binary(head) || head.is_empty() => named,
        Some(named) if (named.is_zip() || named.is_ole()) && (looks_binary(head) || head.is_empty()) => named,
        _ if looks_binary(head) => Kind::Unsupported("a binary file of an unknown format"),
        _ => text(bytes, head, named),
    }
}

/// What an OLE container holds (MS-CFB); `None` if it cannot be opened.
fn ole(bytes: &[u8]) -> Option<Kind> {
    let file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let has = |name: &str| file.exists(name);
    [
        ("/WordDocument", Kind::Doc),
        ("/Workbook", Kind::Xls),
        ("/Book", Kind::Xls),
        ("/PowerPoint Document", Kind::Ppt),
        ("/__properties_version1.0", Kind::Msg),
    ]
    .into_iter()
    .find(|(stream, _)| has(stream))
    .map(|(_, kind)| kind)
}

/// Whether an OLE container is the shell of an encrypted docx, pptx or xlsx (MS-OFFCRYPTO 2.3.2).
pub(super) fn is_encrypted_package(bytes: &[u8]) -> bool {
    bytes.starts_with(OLE)
        && cfb::CompoundFile::open(Cursor::new(bytes)).is_ok_and(|file| file.exists("/EncryptedPackage"))
}

/// What a zip container holds; `None` for an archive of files, or if it cannot be opened.
fn zip(bytes: &[u8]) -> Option<Kind> {
    let mut archive = archive::open(bytes).ok()?;
    let mut text = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).ok()?.take(1024 * 1024).read_to_string(&mut text).ok()?;
        Some(text)
    };
    if let Some(mimetype) = text("mimetype") {
        return Some(match mimetype.trim() {
            "application/epub+zip" => Kind::Epub,
            m if m.starts_with("application/vnd.oasis.opendocument.text") => Kind::Odt,
            m if m.starts_with("application/vnd.oasis.opendocument.spreadsheet") => Kind::Ods,
            m if m.starts_with("application/vnd.oasis.opendocument.presentation") => {
                Kind::Unsupported("an OpenDocument presentation (odp)")
            }
            m if m.starts_with("application/vnd.oasis.opendocument") => {
                Kind::Unsupported("an OpenDocument drawing")
            }
            _ => return None,
        });
    }
    if let Some(types) = text("[Content_Types].xml") {
        let marks = [
            ("wordprocessingml.document.main", Kind::Docx),
            ("wordprocessingml.template.main", Kind::Docx),
            ("ms-word.document.macroEnabled.main", Kind::Docx),
            ("ms-word.template.macroEnabledTemplate.main", Kind::Docx),
            ("presentationml.presentation.main", Kind::Pptx),
            ("presentationml.slideshow.main", Kind::Pptx),
            ("presentationml.template.main", Kind::Pptx),
            ("ms-powerpoint.presentation.macroEnabled.main", Kind::Pptx),
            ("ms-powerpoint.slideshow.macroEnabled.main", Kind::Pptx),
            ("spreadsheetml.sheet.main", Kind::Xlsx),
            ("spreadsheetml.template.main", Kind::Xlsx),
            ("ms-excel.sheet.macroEnabled.main", Kind::Xlsx),
            ("ms-excel.sheet.binary.macroEnabled.main", Kind::Xlsb),
            ("ms-visio.drawing.main", Kind::Unsupported("a Visio drawing")),
        ];
        if let Some((_, kind)) = marks.into_iter().find(|(mark, _)| types.contains(mark)) {
            return Some(kind);
        }
    }
    let has = |name: &str| archive.index_for_name(name).is_some();
    [
        ("word/document.xml", Kind::Docx),
        ("ppt/presentation.xml", Kind::Pptx),
        ("xl/workbook.xml", Kind::Xlsx),
        ("xl/workbook.bin", Kind::Xlsb),
        ("META-INF/container.xml", Kind::Epub),
    ]
    .into_iter()
    .find(|(part, _)| has(part))
    .map(|(_, kind)| kind)
}

/// Whether these bytes are no text of any encoding: control characters that no text has, UTF-16 set aside.
fn looks_binary(head: &[u8]) -> bool {
    let text = charset::decode(head);
    let odd = text
        .chars()
        .filter(|c| *c == '\0' || (c.is_control() && !c.is_whitespace() && *c != '\u{1b}'))
        .count();
    odd * 50 > text.chars().count()
}

/// Which of the text formats it is.
fn text(bytes: &[u8], head: &[u8], named: Option<Kind>) -> Kind {
    let start = charset::decode(head);
    let start = start.trim_start();
    let lower: String = start.chars().take(1024).flat_map(char::to_lowercase).collect();
    let is_markup = lower.starts_with("<!doctype html") || lower.starts_with("<html");
    if is_markup {
        return Kind::Html;
    }
    if lower.starts_with("<?xml") || (lower.starts_with("<!--") && named.is_none()) {
        return match lower.contains("<html") || lower.contains("<!doctype html") {
            true => Kind::Html,
            false => Kind::Xml,
        };
    }
    if ["<rss", "<feed", "<rdf:rdf"].iter().any(|root| lower.starts_with(root)) {
        return Kind::Xml;
    }
    match named {
        // A notebook or a feed that is not what its name says is converted as what it is.
        Some(Kind::Notebook | Kind::Json) => match is_notebook(bytes) {
            true => Kind::Notebook,
            false => Kind::Json,
        },
        Some(kind)
            if !kind.is_zip() && !kind.is_ole() && !matches!(kind, Kind::Pdf | Kind::Rtf | Kind::Text) =>
        {
            kind
        }
        _ if is_notebook(bytes) => Kind::Notebook,
        _ if is_json(bytes) => Kind::Json,
        _ if is_mail(head) => Kind::Eml,
        _ if [
            "<head", "<body", "<table", "<div", "<p>", "<h1", "<h2", "<ul", "<ol", "<dl", "<pre", "<main",
            "<article",
        ]
        .iter()
        .any(|tag| lower.starts_with(tag)) =>
        {
            Kind::Html
        }
        _ => Kind::Text,
    }
}

fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// nbformat 3 and 4: an object with its version.
fn is_notebook(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Notebook {
        #[serde(rename = "nbformat")]
        _nbformat: u32,
    }
    bytes.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Notebook>(bytes).is_ok()
}

/// Whether it opens with the header of a mail: its first line a field, and three fields that mails have.
fn is_mail(head: &[u8]) -> bool {
    const FIELDS: [&str; 11] = [
        "from",
        "to",
        "subject",
        "date",
        "received",
        "return-path",
        "message-id",
        "mime-version",
        "content-type",
        "delivered-to",
        "reply-to",
    ];
    let head = String::from_utf8_lossy(head);
    let header = head.trim_start_matches('\u{feff}').lines().take_while(|line| !line.trim().is_empty());
    let mut fields = 0;
    for (number, line) in header.enumerate() {
        if line.starts_with([' ', '\t']) && number > 0 {
            continue;
        }
        match line.split_once(':') {
            Some((name, _)) if FIELDS.contains(&name.trim().to_ascii_lowercase().as_str()) => fields += 1,
            Some((name, _)) if !name.is_empty() && !name.contains(char::is_whitespace) => {}
            // The envelope line of an mbox.
            _ if number == 0 && line.starts_with("From ") => {}
            _ => return false,
        }
    }
    fields >= 3
}
