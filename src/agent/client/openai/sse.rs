//! Bytes to events: linear, bounded, and strict about where an event ends.

use std::collections::VecDeque;

use serde_json::Value;

/// Largest event that is taken, in bytes.
pub const MAX_EVENT: usize = 8 << 20;

/// Reads an event stream piece by piece (the specification's format: any line end, comments, fields we have no use for).
#[derive(Debug, Default)]
pub struct Events {
    /// The line that is on its way.
    line: Vec<u8>,
    /// The data of the event that is on its way, its lines joined.
    data: Vec<u8>,
    /// It is named `error`.
    error: bool,
    /// The last byte was `\r`: a `\n` that follows belongs to it.
    after_cr: bool,
    started: bool,
    ready: VecDeque<String>,
}

/// An event is larger than [`MAX_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl Events {
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
            rest = rest.get(1..).unwrap_or_default();
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, ended) = rest.split_at(end);
            self.hold(line)?;
            self.end_line();
            let crlf = ended.starts_with(b"\r\n");
            self.after_cr = ended == b"\r";
            rest = ended.get(1 + usize::from(crlf)..).unwrap_or_default();
        }
        self.hold(rest)
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() + part.len() > MAX_EVENT {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::replace(&mut self.started, true) {
            line.as_slice()
        } else {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line)
        };
        if line.is_empty() {
            self.end_event();
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                // A line end inside JSON is white space.
                if !self.data.is_empty() {
                    self.data.push(b' ');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.error = value == b"error",
            _ => {}
        }
    }

    fn end_event(&mut self) {
        let (data, error) = (std::mem::take(&mut self.data), std::mem::take(&mut self.error));
        let data = String::from_utf8_lossy(&data);
        let data = data.trim();
        if data.is_empty() {
            return;
        }
        let wrap = error && serde_json::from_str::<Value>(data).is_ok_and(|data| data.get("error").is_none());
        self.ready.push_back(if wrap { format!("{{\"error\":{data}}}") } else { data.to_owned() });
    }

    /// The data of the next event that is whole.
    pub fn next(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    /// The stream ended: an event without its empty line counts when it is complete in itself, and never when its last line
    /// may have been cut.
    pub fn end(&mut self) {
        self.end_line();
        let data = String::from_utf8_lossy(&self.data);
        if data.trim() == "[DONE]" || serde_json::from_str::<Value>(&data).is_ok_and(|data| data.is_object())
        {
            self.end_event();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut events = Events::default();
        chunks.into_iter().for_each(|chunk| events.push(chunk).unwrap());
        events.end();
        std::iter::from_fn(|| events.next()).collect()
    }

    #[test]
    fn events_come_whole_and_without_a_byte_order_mark() {
        let chunks = ["\u{feff}da", "ta: {\"é\":", "1}\r", "\n\r\n: hi\n\ndata: [DO", "NE]"];
        assert_eq!(read(chunks.map(str::as_bytes)), ["{\"é\":1}", "[DONE]"]);
        assert_eq!(read([&b"\xef"[..], b"\xbb", b"\xbfdata:x\n\n"]), ["x"]);
    }

    #[test]
    fn an_event_that_is_cut_is_dropped() {
        assert_eq!(read([&b"data: {}\n\ndata: {\"a\""[..]]), ["{}"]);
        assert_eq!(read([&b"data: 12"[..]]), [""; 0], "the number may go on");
        assert_eq!(read([&b"dat"[..]]), [""; 0]);
    }

    #[test]
    fn an_event_named_error_is_one() {
        let text = b"event: error\ndata: {\"message\":\"m\"}\n\nevent: x\ndata: {}\n\n";
        assert_eq!(read([&text[..]]), ["{\"error\":{\"message\":\"m\"}}", "{}"]);
        assert_eq!(read([&b"event: error\ndata: {\"error\":1}\n\n"[..]]), ["{\"error\":1}"]);
    }

    #[test]
    fn an_event_without_end_is_a_fault_and_not_all_memory() {
        for chunk in [vec![b'x'; 1 << 20], [b"data: ".to_vec(), vec![b'x'; 1 << 20], b"\n".to_vec()].concat()]
        {
            let mut events = Events::default();
            let taken = (0..20).take_while(|_| events.push(&chunk).is_ok()).count();
            assert!((7..=8).contains(&taken), "{taken}");
        }
    }

    proptest! {
        #[test]
        fn cutting_the_bytes_anywhere_changes_nothing(cuts in prop::collection::vec(0usize..70, 0..8)) {
            let text = "\u{feff}data: {\"a\":\"ä\"}\r\n\r\ndata: 2\rdata: 3\n\n: c\r\rdata: [DONE]\n\n".as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(&text[from..cut]);
                from = cut;
            }
            prop_assert_eq!(read(chunks), ["{\"a\":\"ä\"}", "2 3", "[DONE]"]);
        }

        #[test]
        fn no_bytes_are_a_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6)) {
            read(chunks.iter().map(Vec::as_slice));
        }
    }
}
