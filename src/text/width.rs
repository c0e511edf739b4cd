//! Terminal columns: the one metric for measuring, cutting and wrapping (grapheme clusters, the
//! `unicode-width` table that ratatui uses).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const ELLIPSIS: char = '…';

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// The longest head of `text` that fits `columns`, with `…` as its last column when something was cut.
pub fn truncate(text: &str, columns: usize) -> String {
    // Bounded look-ahead: a 50 MB line must not be measured to the end to be cut.
    let mut used = 0;
    let mut fits = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > columns {
            if columns == 0 {
                return String::new();
            }
            let mut head = text.get(..fits).unwrap_or("").to_owned();
            head.push(ELLIPSIS);
            return head;
        }
        if used < columns {
            fits = at + grapheme.len();
        }
    }
    text.to_owned()
}

/// Breaks `text` (one logical line) into rows of at most `columns`, at spaces where possible, inside words where not.
/// Beside wide characters (CJK) a break is as good as at a space, but not before closing punctuation or after an
/// opening bracket (JIS X 4051). Returns byte ranges of `text`; the spaces at a
/// break belong to no row. At least one row. A grapheme wider than `columns` gets a row of its own, and 0 columns
/// count as 1.
pub fn wrap(text: &str, columns: usize) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    if !is_plain(text) {
        let clusters = text.grapheme_indices(true).map(|(at, cluster)| (at, cluster, cluster.width()));
        return rows(text, clusters, columns);
    }
    if text.len() <= columns {
        return std::iter::once(0..text.len()).collect();
    }
    // No clusters to be found and nothing to be measured.
    let letters = (0..text.len()).filter_map(|at| Some((at, text.get(at..=at)?, 1)));
    rows(text, letters, columns)
}

/// Rows of a text as clusters with their place and columns.
fn rows<'a>(
    text: &str,
    clusters: impl Iterator<Item = (usize, &'a str, usize)>,
    columns: usize,
) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    let mut used = 0;
    // Where the row may end, where the next one would then begin, and the columns used since.
    let mut chance: Option<(usize, usize)> = None;
    let mut since = 0;
    let mut in_spaces = false;
    // The last character of the row, if it is no blank, and whether it is wide.
    let mut before: Option<(char, bool)> = None;
    // Spaces that hang over the right edge are skipped until the next word.
    let mut skipping = false;
    for (at, grapheme, columns_of) in clusters {
        let end = at + grapheme.len();
        if grapheme.chars().all(is_breaking_space) {
            before = None;
            if skipping {
                start = end;
                continue;
            }
            let row_end = match chance {
                Some((row_end, _)) if in_spaces => row_end,
                _ => at,
            };
            in_spaces = true;
            if used + columns_of > columns {
                if row_end > start {
                    rows.push(start..row_end);
                }
                (start, used, since, chance, skipping) = (end, 0, 0, None, true);
            } else {
                chance = Some((row_end, end));
                used += columns_of;
                since = 0;
            }
            continue;
        }
        in_spaces = false;
        skipping = false;
        let wide = columns_of > 1;
        if let (Some((last, last_wide)), Some(first)) = (before, grapheme.chars().next())
            && (wide || last_wide)
            && !(is_never_first(first) || is_never_last(last))
        {
            chance = Some((at, at));
            since = 0;
        }
        before = grapheme.chars().next_back().map(|last| (last, wide));
        if used + columns_of > columns && used > 0 {
            match chance.take() {
                Some((row_end, next)) if row_end > start => {
                    rows.push(start..row_end);
                    start = next;
                    used = since;
                }
                // Nothing but blanks before the word: they go.
                Some((_, next)) => {
                    start = next;
                    used = since;
                }
                None => {
                    rows.push(start..at);
                    start = at;
                    used = 0;
                }
            }
            if used + columns_of > columns && used > 0 {
                rows.push(start..at);
                start = at;
                used = 0;
            }
            since = 0;
        }
        used += columns_of;
        since += columns_of;
    }
    if start < text.len() || rows.is_empty() {
        rows.push(start..text.len());
    }
    rows
}

/// Printable ASCII: one column a byte.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

fn is_breaking_space(c: char) -> bool {
    c.is_whitespace() && !is_glue(c)
}

/// What no row begins with: closing punctuation, small kana, the marks behind links.
fn is_never_first(c: char) -> bool {
    is_glue(c)
        || "、。，．・：；？！）］｝〉》」』】〕〗〙〛’”ー々ゝゞヽヾ〜…‥％℃↗✗,.:;?!)]}%".contains(c)
        || "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ".contains(c)
}

/// What no row ends with: opening brackets.
fn is_never_last(c: char) -> bool {
    is_glue(c) || "（［｛〈《「『【〔〖〘〚‘“([{".contains(c)
}

fn is_glue(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize) -> Vec<&str> {
        wrap(text, columns).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn width_counts_cells() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("日本"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("👩‍🚀"), 2);
        assert_eq!(width("❤️"), 2);
        assert_eq!(width(""), 0);
    }

    #[test]
    fn truncate_keeps_what_fits() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("日本語", 5), "日本…");
        assert_eq!(truncate("abc", 1), "…");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(truncate("", 0), "");
    }

    #[test]
    fn wrap_prefers_spaces() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(rows("the   quick", 5), ["the", "quick"]);
        assert_eq!(rows("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(rows("a bcdefgh", 4), ["a", "bcde", "fgh"]);
        assert_eq!(rows("  indented text", 10), ["  indented", "text"]);
        assert_eq!(rows("ends in blanks   ", 14), ["ends in blanks"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows("   ", 2), [""]);
        assert_eq!(rows("no\u{a0}break here", 8), ["no\u{a0}break", "here"]);
    }

    #[test]
    fn wrap_cuts_between_wide_characters_and_survives_no_room() {
        assert_eq!(rows("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(rows("ab 日本語", 5), ["ab 日", "本語"]);
        assert_eq!(rows("Core日本語", 5), ["Core", "日本", "語"]);
        assert_eq!(rows("日a", 1), ["日", "a"]);
        assert_eq!(rows("ab", 0), ["a", "b"]);
    }

    #[test]
    fn punctuation_stays_with_its_word() {
        assert_eq!(rows("日本語です。次", 10), ["日本語で", "す。次"]);
        assert_eq!(rows("日本（東京）", 6), ["日本", "（東", "京）"]);
        assert_eq!(rows("日本, 東京", 4), ["日", "本,", "東京"]);
        assert_eq!(rows("。。。。。", 4), ["。。", "。。", "。"]);
        assert_eq!(rows("日本\u{a0}✗", 4), ["日", "本\u{a0}✗"]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_only_spaces(text in "[a-c 日👩é\u{301}\t]{0,60}|\\PC{0,60}", columns in 0usize..12) {
            let rows = wrap(&text, columns);
            prop_assert!(!rows.is_empty());
            let mut at = 0;
            for row in rows {
                prop_assert!(row.start >= at && row.end >= row.start);
                prop_assert!(text[at..row.start].chars().all(char::is_whitespace));
                let row_text = &text[row.clone()];
                prop_assert!(width(row_text) <= columns.max(1) || row_text.graphemes(true).filter(|g| g.width() > 0).count() <= 1, "{row_text:?}");
                at = row.end;
            }
            prop_assert!(text[at..].chars().all(char::is_whitespace));
        }

        #[test]
        fn plain_text_is_broken_like_any_other(text in "[a-c ().]{0,60}|[ -~]{0,60}", columns in 1usize..12) {
            let clusters = text.grapheme_indices(true).map(|(at, cluster)| (at, cluster, cluster.width()));
            prop_assert_eq!(wrap(&text, columns), super::rows(&text, clusters, columns));
        }

        #[test]
        fn a_truncated_text_fits(text in "[a-c 日👩é\u{301}]{0,30}|\\PC{0,30}", columns in 0usize..12) {
            let cut = truncate(&text, columns);
            prop_assert!(width(&cut) <= columns);
            if width(&text) <= columns { prop_assert_eq!(cut, text); } else if columns > 0 { prop_assert!(cut.ends_with('…')); }
        }
    }
}
