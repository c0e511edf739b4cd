//! Bytes in, events out, over times that the test names.

use super::*;
use crossterm::event::{MouseEvent, MouseEventKind};

/// Feeds each part at its time in milliseconds and looks again a minute later.
fn decode(parts: &[(u64, &[u8])]) -> Vec<Event> {
    let start = Instant::now();
    let mut decoder = Decoder::default();
    for (at, bytes) in parts {
        decoder.feed(bytes, start + Duration::from_millis(*at));
    }
    decoder.idle(start + Duration::from_secs(60));
    decoder.events().collect()
}

fn key(code: KeyCode) -> Event {
    Event::Key(code.into())
}

fn paste(text: &str) -> Event {
    Event::Paste(text.to_owned())
}

#[test]
fn keys_and_sequences() {
    for (bytes, event) in [
        (b"a".as_slice(), key(KeyCode::Char('a'))),
        (b"\r", key(KeyCode::Enter)),
        (b"\x7f", key(KeyCode::Backspace)),
        (b"\x1b", key(KeyCode::Esc)),
        (b"\x1b[A", key(KeyCode::Up)),
        (b"\x1bOP", key(KeyCode::F(1))),
        (b"\x1b[19~", key(KeyCode::F(8))),
        ("é".as_bytes(), key(KeyCode::Char('é'))),
        (b"\x0a", Event::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL))),
        (b"\x1b3", Event::Key(KeyEvent::new(KeyCode::Char('3'), KeyModifiers::ALT))),
        (b"\x1b\r", Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT))),
        (b"\x1b[1;5H", Event::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::CONTROL))),
        (b"\x1b[13;2u", Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::SHIFT))),
        (b"\x1b[Z", Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT))),
        (
            b"\x1b[<65;300;4M",
            Event::Mouse(MouseEvent {
                kind: MouseEventKind::ScrollDown,
                column: 299,
                row: 3,
                modifiers: KeyModifiers::NONE,
            }),
        ),
    ] {
        assert_eq!(decode(&[(0, bytes)]), std::slice::from_ref(&event), "{bytes:?}");
        // One byte at a time, as over a slow line.
        let slow: Vec<(u64, &[u8])> = (0..).map(|n| n * 5).zip(bytes.chunks(1)).collect();
        assert_eq!(decode(&slow), [event], "{bytes:?}");
    }
}

#[test]
fn an_escape_is_a_key_when_nothing_follows_in_time() {
    assert_eq!(decode(&[(0, b"\x1b"), (100, b"[")]), [key(KeyCode::Esc), key(KeyCode::Char('['))]);
    assert_eq!(decode(&[(0, b"\x1b\x1b")]), [key(KeyCode::Esc), key(KeyCode::Esc)]);
    assert_eq!(decode(&[(0, b"\x1b\x1b[A")]), [key(KeyCode::Esc), key(KeyCode::Up)]);
}

#[test]
fn bytes_that_are_no_key_are_dropped_and_the_next_key_counts() {
    for junk in [
        b"\xff".as_slice(),
        b"\x1b[201~",
        b"\x1b[?62;c",
        b"\xc3\x28",
        &[b"\x1b[".as_slice(), &[b'0'; 62]].concat(),
    ] {
        assert_eq!(decode(&[(0, junk), (200, b"a")]), [key(KeyCode::Char('a'))], "{junk:?}");
    }
}

#[test]
fn a_paste_is_one_event_wherever_its_bytes_are_cut() {
    let bytes = b"x\x1b[200~one\rtwo\x1b[A\x00\x1b[201~y";
    let wanted = [key(KeyCode::Char('x')), paste("one\rtwo\x1b[A\0"), key(KeyCode::Char('y'))];
    for size in 1..bytes.len() {
        let parts: Vec<(u64, &[u8])> = bytes.chunks(size).map(|part| (0, part)).collect();
        assert_eq!(decode(&parts), wanted, "in pieces of {size}");
    }
}

#[test]
fn a_paste_without_an_end_is_over_when_no_more_comes() {
    let events = decode(&[(0, b"\x1b[200~lost"), (4500, b"q"), (4600, b"\x1b[A")]);
    assert_eq!(events, [paste("lost"), key(KeyCode::Char('q')), key(KeyCode::Up)]);
}

#[test]
fn typing_does_not_keep_a_paste_without_an_end_alive() {
    // Thirty keys a second, as a key that is held down.
    let typed: Vec<(u64, &[u8])> = (0..300).map(|n| (n * 33, b"q".as_slice())).collect();
    let parts = [&[(0, b"\x1b[200~lost".as_slice())], typed.as_slice()].concat();
    let keys = decode(&parts).into_iter().filter(|e| *e == key(KeyCode::Char('q'))).count();
    assert!(keys > 150, "{keys} of 300 keys in ten seconds");
}

#[test]
fn a_slow_paste_is_not_cut() {
    let line = [b'x'; 100];
    let mut parts: Vec<(u64, &[u8])> = vec![(0, b"\x1b[200~")];
    parts.extend((1..100).map(|n| (n * 300, line.as_slice())));
    parts.push((30_000, b"\x1b[201~"));
    assert_eq!(decode(&parts), [paste(&"x".repeat(9900))]);
}

#[test]
fn a_large_paste_takes_linear_time() {
    let body = vec![b'x'; 10 * 1024 * 1024];
    let began = Instant::now();
    let mut parts: Vec<(u64, &[u8])> = vec![(0, b"\x1b[200~")];
    parts.extend(body.chunks(4096).map(|part| (0, part)));
    parts.push((0, b"\x1b[201~"));
    let events = decode(&parts);
    assert!(matches!(events.as_slice(), [Event::Paste(text)] if text.len() == body.len()));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn an_answer_about_the_background_is_no_key() {
    let light = |bytes: &[u8]| {
        let mut decoder = Decoder::default();
        let start = Instant::now();
        // Byte by byte, with a key on each side.
        for byte in b"a".iter().chain(bytes).chain(b"b") {
            decoder.feed(&[*byte], start);
        }
        let keys: Vec<Event> = decoder.events().collect();
        assert_eq!(keys, [key(KeyCode::Char('a')), key(KeyCode::Char('b'))], "{bytes:?}");
        decoder.light
    };
    assert_eq!(light(b"\x1b]11;rgb:ffff/ffff/dddd\x1b\\"), Some(true));
    assert_eq!(light(b"\x1b]11;rgb:fd/f6/e3\x07"), Some(true));
    assert_eq!(light(b"\x1b]11;rgb:0000/2b2b/3636\x07"), Some(false));
    assert_eq!(light(b"\x1b]11;rgba:1/1/1/f\x07"), Some(false));
    assert_eq!(light(b"\x1b]11;what\x07"), None);
    assert_eq!(light(b"\x1b]11;rgb:zz//\x07"), None);
}

#[test]
fn what_only_begins_like_an_answer_is_a_key_or_given_up() {
    let alt = Event::Key(KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT));
    assert_eq!(decode(&[(0, b"\x1b]")]), std::slice::from_ref(&alt));
    assert_eq!(decode(&[(0, b"\x1b]"), (100, b"x")]), [alt, key(KeyCode::Char('x'))]);
    assert_eq!(decode(&[(0, b"\x1b]11;rgb:ff"), (100, b"x")]), [key(KeyCode::Char('x'))], "stopped halfway");
    let long = [b"\x1b]11;".as_slice(), &[b'f'; 200]].concat();
    assert!(decode(&[(0, &long), (100, b"q")]).ends_with(&[key(KeyCode::Char('q'))]));
}
