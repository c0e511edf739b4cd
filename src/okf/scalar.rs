//! Writing a text as one YAML scalar, for edits that splice a value into a frontmatter block.

use std::fmt::Write;

use super::frontmatter::Value;
use super::yaml;

/// `text` as a scalar that every YAML reader takes for this string, on one line, in block and flow context: plain
/// when that is safe, else in single quotes, else (line breaks, control characters) in double quotes.
pub fn written(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            // Writing into a String does not fail.
            c => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str) -> bool {
    // YAML 1.1 readers take these for booleans, or for numbers with `:` or `_` in them.
    let old_word = matches!(text.to_ascii_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off");
    let starts_well = text.starts_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '_' | '(') || (c == '.' && text.len() > 3)
    });
    let old_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '_' | ':' | '.'));
    starts_well
        && !old_word
        && !old_number
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(|c| is_printable(c) && !matches!(c, ',' | '[' | ']' | '{' | '}'))
        && matches!(yaml::core(text), Value::String(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::okf::Frontmatter;
    use proptest::prelude::*;

    #[test]
    fn quotes_stand_only_where_they_are_needed() {
        for (text, want) in [
            ("Old title", "Old title"),
            ("2026-07-19T10:30:00Z", "2026-07-19T10:30:00Z"),
            ("../raw/x.md", "../raw/x.md"),
            ("https://a.b/c#d", "https://a.b/c#d"),
            ("D: two", "'D: two'"),
            ("it's: x", "'it''s: x'"),
            ("a #b", "'a #b'"),
            ("no", "'no'"),
            ("1.5", "'1.5'"),
            ("1_000", "'1_000'"),
            ("", "''"),
            ("- x", "'- x'"),
            ("*x", "'*x'"),
            ("a, b", "'a, b'"),
            ("a\nb\t\"\u{7}", "\"a\\nb\\t\\\"\\U00000007\""),
        ] {
            assert_eq!(written(text), want);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in "[-a-z0-9:#,'\"\\[\\]{}&*!|>%@`~_.?= \n\t\\\\é\u{85}\u{2028}]{0,12}|.{0,12}|(?s).{0,8}") {
            for page in [format!("---\nk: {}\n---\n", written(&text)), format!("---\nk: [{}, x]\n---\n", written(&text))] {
                let read = Frontmatter::parse(&page);
                prop_assert_eq!(&read.error, &None, "{}", page);
                prop_assert_eq!(read.strings("k").first().copied(), Some(text.as_str()), "{}", page);
            }
            let page = format!("k: {}\n", written(&text));
            let theirs: serde_json::Value = serde_saphyr::from_str(&page).unwrap();
            prop_assert_eq!(theirs.get("k").and_then(|v| v.as_str()), Some(text.as_str()), "{}", page);
        }
    }
}
