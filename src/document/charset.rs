//! Text of any encoding: told by its byte order mark, by being valid UTF-8, by the label it carries, by its bytes, in this
//! order.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// How much of the start is searched for a label (HTML standard, 13.2.3.2: 1024; a little more does no harm).
const LABEL_WITHIN: usize = 2048;
/// How much is looked at for the rhythm of UTF-16.
const SAMPLE: usize = 4096;

/// The text, line ends as `\n`, without a byte order mark. Bytes that mean nothing become U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> String {
    let text = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode(bytes).0,
        None => match wide(bytes) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => {
                    labelled(bytes).unwrap_or_else(|| guess(bytes)).decode_without_bom_handling(bytes).0
                }
            },
        },
    };
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text.into_owned(),
    }
}

/// Text in a code page of Windows, or as its bytes suggest where that is not one (MS-UCODEREF 2.2.1).
pub(super) fn decode_page(bytes: &[u8], page: Option<u32>) -> String {
    let encoding = page.and_then(code_page);
    match encoding {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        None => decode(bytes),
    }
}

fn code_page(page: u32) -> Option<&'static Encoding> {
    let label = match page {
        65001 => "utf-8".to_owned(),
        1200 => "utf-16le".to_owned(),
        1201 => "utf-16be".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        54936 => "gb18030".to_owned(),
        20127 | 28591 => "windows-1252".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        28592..=28606 => format!("iso-8859-{}", page - 28590),
        874 | 1250..=1258 => format!("windows-{page}"),
        10000 => "macintosh".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// UTF-16 without a mark: in text of European languages every second byte is zero.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), sample.len() / 2);
    match half {
        0 => None,
        _ if odd * 10 > half * 4 && even * 20 < half => Some(UTF_16LE),
        _ if even * 10 > half * 4 && odd * 20 < half => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that an HTML `meta` or an XML declaration names.
fn labelled(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(bytes.get(..LABEL_WITHIN).unwrap_or(bytes)).to_ascii_lowercase();
    let start = start.trim_start();
    if !start.starts_with('<') {
        return None;
    }
    ["charset=", "encoding="].iter().find_map(|key| {
        let label = start.split_once(key)?.1.trim_start_matches(['"', '\'', ' ']);
        let label: String =
            label.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.:".contains(*c)).collect();
        // A file whose label can be read as ASCII is not UTF-16, whatever it says.
        Encoding::for_label(label.as_bytes()).filter(|e| *e != UTF_16LE && *e != UTF_16BE)
    })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether a page names its own encoding.
pub(super) fn is_labelled(bytes: &[u8]) -> bool {
    labelled(bytes).is_some()
}
