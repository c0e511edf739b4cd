//! The one door through which text from pages, models, tools and file names reaches the terminal
//! (invariant I6).
//!
//! C0 and C1 controls, DEL, bidirectional overrides, zero-width and tag characters are made
//! visible as `<U+202E>`-like marks or dropped where they mean nothing; what comes out holds only printable
//! characters, and `\n` in a block. Nothing that comes out can drive a terminal.

use std::fmt::{self, Write};

use unicode_normalization::char::is_combining_mark;

/// Combining marks kept on one base character; more only pile up over neighbouring rows.
const MAX_MARKS: usize = 8;

/// Joiners kept in one emoji sequence; the longest in use has three. A longer one would be one cell of any size.
const MAX_JOINERS: usize = 8;

const TAB: &str = "    ";

/// Text that has passed the door. Views, standard error and logs take only this for foreign text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Safe(String);

impl Safe {
    /// One line: a line break becomes a space, a tab four spaces.
    pub fn line(text: &str) -> Self {
        Self(clean(text, ' '))
    }

    /// Several lines: `\n` stays, `\r\n` becomes `\n`, a tab four spaces.
    pub fn block(text: &str) -> Self {
        Self(clean(text, '\n'))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Safe {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

fn clean(text: &str, line_break: char) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    // The last character that was kept as it is, and how many marks already sit on its base.
    let mut before: Option<char> = None;
    let mut marks = 0;
    let mut joiners = 0;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '\n' => {
                out.push(line_break);
                before = None;
                marks = 0;
            }
            '\r' if next == Some('\n') => {}
            '\t' => {
                out.push_str(TAB);
                before = None;
                marks = 0;
            }
            _ if is_variation_selector(c) => {
                if before.is_some_and(|b| !b.is_whitespace() && !is_variation_selector(b)) {
                    out.push(c);
                    before = Some(c);
                } else {
                    mark(&mut out, c);
                }
            }
            _ if joiners < MAX_JOINERS && joins(before, c, next) => {
                joiners += 1;
                out.push(c);
                before = Some(c);
            }
            _ if is_hidden(c) => {
                mark(&mut out, c);
                before = Some('>');
                marks = 0;
            }
            _ if is_combining_mark(c) => {
                marks += 1;
                if marks <= MAX_MARKS {
                    out.push(c);
                    before = Some(c);
                }
            }
            _ => {
                if before != Some('\u{200d}') {
                    joiners = 0;
                }
                out.push(c);
                before = Some(c);
                marks = 0;
            }
        }
    }
    out
}

fn mark(out: &mut String, c: char) {
    // Writing into a String does not fail.
    let _ = write!(out, "<U+{:04X}>", u32::from(c));
}

/// Characters that move the cursor, change direction, take no room or only look like a blank.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a joiner does its proper work: ZWJ between two emoji, ZWJ or ZWNJ between letters of a script that
/// needs them to be spelled (Arabic, the scripts of India, Mongolian).
fn joins(before: Option<char>, c: char, next: Option<char>) -> bool {
    let (Some(before), Some(next)) = (before, next) else { return false };
    match c {
        '\u{200d}' if is_pictograph(next) => {
            is_pictograph(before) || before == '\u{fe0f}' || matches!(before, '\u{1f3fb}'..='\u{1f3ff}')
        }
        '\u{200c}' | '\u{200d}' => is_joining(before) && is_joining(next),
        _ => false,
    }
}

/// The blocks that hold emoji; wider than Unicode's Extended_Pictographic, which is harmless here.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1fbff}')
}

fn is_joining(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{6ff}' | '\u{700}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1820}'..='\u{18aa}'
        | '\u{fb50}'..='\u{fdcf}' | '\u{fe70}'..='\u{fefc}')
        && !is_hidden(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(text: &str) -> String {
        Safe::line(text).into_string()
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(line("a\u{1b}[2Jb"), "a<U+001B>[2Jb");
        assert_eq!(line("\u{9b}31m\u{7f}\u{7}"), "<U+009B>31m<U+007F><U+0007>");
        assert_eq!(line("a\u{202e}b\u{200b}\u{2066}"), "a<U+202E>b<U+200B><U+2066>");
        assert_eq!(line("\u{e0041}x\u{ad}"), "<U+E0041>x<U+00AD>");
        assert_eq!(line("a\rb"), "a<U+000D>b");
    }

    #[test]
    fn line_breaks_and_tabs() {
        assert_eq!(line("a\r\nb\nc\td"), "a b c    d");
        assert_eq!(Safe::block("a\r\nb\nc\td\u{2028}").as_str(), "a\nb\nc    d<U+2028>");
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        assert_eq!(line("\u{feff}a\u{feff}b"), "a<U+FEFF>b");
    }

    #[test]
    fn emoji_sequences_stay_whole() {
        for whole in ["👩‍🚀", "👩🏽‍🚀", "❤️", "🏳️‍🌈", "👨‍👩‍👧‍👦", "葛\u{e0100}", "می‌خواهم", "क्‍ष"]
        {
            assert_eq!(line(whole), whole);
        }
        assert_eq!(line("a\u{200d}b"), "a<U+200D>b");
        assert_eq!(line("👩\u{200d}"), "👩<U+200D>");
        assert_eq!(line("a\u{fe0f}\u{fe0f}\u{fe01}"), "a\u{fe0f}<U+FE0F><U+FE01>");
        assert_eq!(line("\u{fe0f}"), "<U+FE0F>");
    }

    #[test]
    fn piled_up_marks_are_cut_at_eight() {
        let zalgo = format!("a{}b\u{301}", "\u{301}".repeat(500));
        assert_eq!(line(&zalgo), format!("a{}b\u{301}", "\u{301}".repeat(8)));
    }

    #[test]
    fn an_endless_emoji_sequence_is_broken_up() {
        let endless = line(&"👩\u{200d}".repeat(1000));
        let joined = format!("{}👩<U+200D>", "👩\u{200d}".repeat(8));
        assert!(endless.starts_with(&joined.repeat(3)), "{}", &endless[..80]);
    }

    proptest! {
        #[test]
        fn nothing_that_drives_a_terminal_comes_out(text in "\\PC*|.*|[\u{0}-\u{a0}\u{200b}-\u{2070}\u{fe00}-\u{feff}👩a\u{301}]*") {
            for (out, allowed) in [(line(&text), None), (Safe::block(&text).into_string(), Some('\n'))] {
                for (i, c) in out.char_indices() {
                    prop_assert!(!c.is_control() || Some(c) == allowed, "{c:?}");
                    let joiner = matches!(c, '\u{200c}' | '\u{200d}');
                    prop_assert!(!is_hidden(c) || is_variation_selector(c) || (joiner && i > 0) || Some(c) == allowed, "{c:?}");
                }
            }
        }

        #[test]
        fn cleaning_twice_changes_nothing(text in ".*") {
            let once = Safe::block(&text);
            prop_assert_eq!(Safe::block(once.as_str()), once);
        }
    }
}
