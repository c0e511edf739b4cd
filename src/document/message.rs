//! Outlook messages (MS-OXMSG): who wrote what to whom, the body, the names of the attachments. Read from the properties of
//! the container; text of the narrow kind is in the code page that the message names.

use std::io::{Cursor, Read as _};

use super::mail::{Header, attachments};
use super::output::Output;
use super::{Error, Kind, charset, html, rtf};

/// Longest property that is read, in bytes.
const PROPERTY: u64 = 64 * 1024 * 1024;

// Property tags (MS-OXPROPS).
const SUBJECT: u16 = 0x0037;
const SENDER_NAME: u16 = 0x0C1A;
const SENDER_ADDRESS: u16 = 0x0C1F;
const SENDER_SMTP: u16 = 0x5D01;
const DISPLAY_TO: u16 = 0x0E04;
const DISPLAY_CC: u16 = 0x0E03;
const DISPLAY_BCC: u16 = 0x0E02;
const RECIPIENT_KIND: u16 = 0x0C15;
const DISPLAY_NAME: u16 = 0x3001;
const ADDRESS: u16 = 0x3003;
const SMTP_ADDRESS: u16 = 0x39FE;
const BODY: u16 = 0x1000;
const HTML: u16 = 0x1013;
const RTF: u16 = 0x1009;
const LONG_FILE_NAME: u16 = 0x3707;
const FILE_NAME: u16 = 0x3704;
const SENT: u16 = 0x0039;
const DELIVERED: u16 = 0x0E06;
const MESSAGE_CODE_PAGE: u16 = 0x3FFD;
const INTERNET_CODE_PAGE: u16 = 0x3FDE;

const MAIN: &str = "__properties_version1.0";

type File<'a> = cfb::CompoundFile<Cursor<&'a [u8]>>;

pub(super) fn convert(bytes: &[u8]) -> Result<Output, Error> {
    let damaged = |error: std::io::Error| Error::damaged(Kind::Msg, error);
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(damaged)?;
    let fixed = fixed(&mut file, "/", 32);
    let page = value(&fixed, MESSAGE_CODE_PAGE).or_else(|| value(&fixed, INTERNET_CODE_PAGE));
    let page = page.and_then(|page| u32::try_from(page).ok());
    let mut text = |tag: u16| string(&mut file, "/", tag, page);
    let sender = person(text(SENDER_NAME), text(SENDER_SMTP).or_else(|| text(SENDER_ADDRESS)));
    let subject = text(SUBJECT);
    let shown = [DISPLAY_TO, DISPLAY_CC, DISPLAY_BCC].map(&mut text);
    let body = text(BODY);
    let [to, cc, bcc] = shown;
    let people = recipients(&mut file, page);
    let of = |kind: u64, shown: Option<String>| {
        let names: Vec<String> =
            people.iter().filter(|(k, _)| *k == kind).map(|(_, name)| name.clone()).collect();
        if names.is_empty() { shown } else { Some(names.join(", ")) }
    };
    let date = value(&fixed, SENT).or_else(|| value(&fixed, DELIVERED)).and_then(time);
    let header = Header {
        subject: subject.clone(),
        from: sender.clone(),
        to: of(1, to),
        cc: of(2, cc),
        bcc: of(3, bcc),
        date: date.clone(),
    };
    let mut output = Output::default();
    header.tell(1, &mut output);
    let web = stream(&mut file, &format!("/__substg1.0_{HTML:04X}0102"))
        .map(|bytes| match charset::is_labelled(&bytes) {
            true => charset::decode(&bytes),
            false => charset::decode_page(
                &bytes,
                value(&fixed, INTERNET_CODE_PAGE).and_then(|p| u32::try_from(p).ok()),
            ),
        })
        .or_else(|| string(&mut file, "/", HTML, page));
    match (body.filter(|body| !body.trim().is_empty()), web.filter(|web| !web.trim().is_empty())) {
        (_, Some(web)) => output.block(&html::markdown(&web)?),
        (Some(body), None) => output.block(&body.replace("\r\n", "\n")),
        (None, None) => {
            let rich =
                stream(&mut file, &format!("/__substg1.0_{RTF:04X}0102")).and_then(|bytes| inflate(&bytes));
            if let Some(rich) = rich.and_then(|rich| rtf::convert(&rich).ok()) {
                output.block(&rich.finish(Kind::Rtf).markdown);
            }
        }
    }
    let names: Vec<String> = folders(&file, "__attach_version1.0_")
        .iter()
        .map(|folder| {
            let name = string(&mut file, folder, LONG_FILE_NAME, page)
                .or_else(|| string(&mut file, folder, FILE_NAME, page))
                .or_else(|| string(&mut file, folder, DISPLAY_NAME, page));
            name.map(|name| one_line(&name))
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "without a name".to_owned())
        })
        .collect();
    attachments(&names, 1, &mut output);
    output.title = subject;
    output.say("author", sender.as_deref());
    output.say("created", date.as_deref());
    Ok(output)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Name <address>`, or what there is of it. An address of an Exchange directory names nobody.
fn person(name: Option<String>, address: Option<String>) -> Option<String> {
    let clean = |text: Option<String>| text.map(|text| one_line(&text)).filter(|text| !text.is_empty());
    match (clean(name), clean(address).filter(|address| address.contains('@'))) {
        (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address),
    }
}

fn recipients(file: &mut File, page: Option<u32>) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for folder in folders(file, "__recip_version1.0_") {
        let kind = value(&fixed(file, &folder, 8), RECIPIENT_KIND).unwrap_or(1) & 3;
        let address =
            string(file, &folder, SMTP_ADDRESS, page).or_else(|| string(file, &folder, ADDRESS, page));
        if let Some(person) = person(string(file, &folder, DISPLAY_NAME, page), address) {
            found.push((kind, person));
        }
    }
    found
}

/// The storages at the top whose name begins with `prefix`, as paths that end in `/`.
fn folders(file: &File, prefix: &str) -> Vec<String> {
    let entries = file.read_storage("/").into_iter().flatten();
    entries
        .filter(|entry| entry.name().starts_with(prefix))
        .map(|entry| format!("/{}/", entry.name()))
        .collect()
}

fn stream(file: &mut File, path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.open_stream(path).ok()?.take(PROPERTY).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A text property of either width.
fn string(file: &mut File, folder: &str, tag: u16, page: Option<u32>) -> Option<String> {
    if let Some(wide) = stream(file, &format!("{folder}__substg1.0_{tag:04X}001F")) {
        let text = encoding_rs::UTF_16LE.decode_without_bom_handling(&wide).0;
        return Some(text.trim_end_matches('\0').to_owned());
    }
    let narrow = stream(file, &format!("{folder}__substg1.0_{tag:04X}001E"))?;
    Some(charset::decode_page(&narrow, page).trim_end_matches('\0').to_owned())
}

/// The properties of a fixed size (MS-OXMSG 2.4): tag and value, behind a head of `skip` bytes.
fn fixed(file: &mut File, folder: &str, skip: usize) -> Vec<(u16, u64)> {
    let bytes = stream(file, &format!("{folder}{MAIN}")).unwrap_or_default();
    let entries = bytes.get(skip..).unwrap_or_default().chunks_exact(16);
    let entry = |entry: &[u8]| {
        let tag = u16::from_le_bytes(entry.get(2..4)?.try_into().ok()?);
        Some((tag, u64::from_le_bytes(entry.get(8..16)?.try_into().ok()?)))
    };
    entries.filter_map(entry).collect()
}

fn value(fixed: &[(u16, u64)], tag: u16) -> Option<u64> {
    fixed.iter().find(|(t, _)| *t == tag).map(|(_, value)| *value)
}

/// A Windows file time: units of 100 ns since 1601 (MS-DTYP 2.3.3).
fn time(ticks: u64) -> Option<String> {
    let seconds = i64::try_from(ticks / 10_000_000).ok()?.checked_sub(11_644_473_600)?;
    Some(jiff::Timestamp::from_second(seconds).ok()?.to_string())
}

/// Text that every compressed body may refer to (MS-OXRTFCP 2.1.2.1).
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Undoes the compression of an RTF body (MS-OXRTFCP 2.2).
fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let size = usize::try_from(word(4)?).ok()?.min(usize::try_from(PROPERTY).ok()?);
    let data = bytes.get(16..)?;
    if word(8)? == 0x414C_454D {
        return Some(data.get(..size).unwrap_or(data).to_owned());
    }
    let mut window = [b' '; 4096];
    window.get_mut(..DICTIONARY.len())?.copy_from_slice(DICTIONARY);
    let mut at = DICTIONARY.len();
    let mut out = Vec::new();
    let mut input = data.iter().copied();
    while let Some(flags) = input.next() {
        for bit in 0..8 {
            let put = |byte: u8, at: &mut usize, window: &mut [u8; 4096], out: &mut Vec<u8>| {
                out.push(byte);
                if let Some(slot) = window.get_mut(*at) {
                    *slot = byte;
                }
                *at = (*at + 1) % 4096;
            };
            if flags >> bit & 1 == 0 {
                let Some(byte) = input.next() else { return Some(out) };
                put(byte, &mut at, &mut window, &mut out);
            } else {
                let (Some(high), Some(low)) = (input.next(), input.next()) else { return Some(out) };
                let token = u16::from_be_bytes([high, low]);
                let offset = usize::from(token >> 4);
                if offset == at {
                    return Some(out);
                }
                for step in 0..usize::from(token & 15) + 2 {
                    let byte = *window.get((offset + step) % 4096)?;
                    put(byte, &mut at, &mut window, &mut out);
                }
            }
            if out.len() >= size {
                return Some(out);
            }
        }
    }
    Some(out)
}
