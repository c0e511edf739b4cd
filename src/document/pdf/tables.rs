//! Tables without lines, which unpdf reads as running text and pdfni as tables. A table of pdfni's replaces the part of
//! unpdf's page that has the same letters in the same order, so that no word can be lost or come twice.

use unicode_normalization::UnicodeNormalization as _;

use crate::document::table::table;

/// A table has at least so many rows.
const ROWS: usize = 3;
/// And so many words in a cell on average; columns of prose have more.
const WORDS: f64 = 6.0;

/// The page with the tables put in where their words stand.
pub(super) fn splice(page: &str, tables: &[Vec<Vec<String>>]) -> String {
    let mut page = page.to_owned();
    for rows in tables.iter().flat_map(|rows| parts(rows)) {
        if let Some((from, to)) = find(&page, rows)
            && let (Some(before), Some(part), Some(after)) =
                (page.get(..from), page.get(from..to), page.get(to..))
            && !part.trim().lines().all(|line| line.is_empty() || line.starts_with('|'))
        {
            page = format!("{}\n\n{}\n{}", before.trim_end(), table(rows), after.trim_start());
        }
    }
    page
}

/// The stretches of rows that are a table: pdfni takes the prose between two tables for rows of one cell.
fn parts(rows: &[Vec<String>]) -> Vec<&[Vec<String>]> {
    let filled = |row: &[String]| row.iter().filter(|cell| !cell.trim().is_empty()).count();
    let stretches = rows.split(|row| filled(row) < 2);
    stretches
        .filter(|rows| {
            let cells: usize = rows.iter().map(|row| filled(row)).sum();
            let words: usize = rows.iter().flatten().map(|cell| cell.split_whitespace().count()).sum();
            rows.len() >= ROWS && (words as f64) <= WORDS * (cells as f64)
        })
        .collect()
}

/// Letters and digits in one form, each with the place of its character.
fn letters(text: &str) -> (String, Vec<usize>) {
    let mut letters = String::new();
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        for c in std::iter::once(c).nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase) {
            letters.push(c);
            places.resize(letters.len(), at);
        }
    }
    (letters, places)
}

/// Where the page has the words of these rows, and nothing between: from the start of the first to behind the last.
fn find(page: &str, rows: &[Vec<String>]) -> Option<(usize, usize)> {
    let (hay, places) = letters(page);
    let needle: String = rows.iter().flatten().map(|cell| letters(cell).0).collect();
    if needle.is_empty() {
        return None;
    }
    let alphanumeric = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    hay.match_indices(&needle).find_map(|(at, found)| {
        let from = *places.get(at)?;
        let last = *places.get(at + found.len() - 1)?;
        let to = last + page.get(last..)?.chars().next()?.len_utf8();
        let (before, after) = (page.get(..from)?, page.get(to..)?);
        if alphanumeric(before.chars().next_back()) || alphanumeric(after.chars().next()) {
            return None;
        }
        // The signs around the words belong to them, and the markup of a line that begins with them goes.
        let before = before.trim_end_matches(|c: char| !c.is_whitespace());
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let markup = before.get(line..)?.chars().all(|c| !c.is_alphanumeric());
        let from = if markup { line } else { before.len() };
        let to = to + after.find(char::is_whitespace).unwrap_or(after.len());
        Some((from, to))
    })
}

#[cfg(test)]
mod tests {
    use super::splice;

    fn rows(text: &str) -> Vec<Vec<String>> {
        text.lines().map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
    }

    #[test]
    fn a_table_read_as_prose_becomes_one_again_and_the_prose_stays() {
        let page = "Before it. **Name** Price\n\nApple $1.50 Pear\n$2.00 After it.";
        let table = rows("Name | Price\nApple | $1.50\nPear | $2.00\nAfter it. | ");
        assert_eq!(
            splice(page, &[table]),
            "Before it.\n\n| Name | Price |\n| --- | --- |\n| Apple | $1.50 |\n| Pear | $2.00 |\n\nAfter it."
        );
    }

    #[test]
    fn what_is_a_table_already_or_has_other_words_or_is_prose_stays() {
        let known = "| a | 1 |\n| --- | --- |\n| b | 2 |\n| c | 3 |";
        assert_eq!(splice(known, &[rows("a | 1\nb | 2\nc | 3")]), known);
        let other = "a 1 b 2 x c 3";
        assert_eq!(splice(other, &[rows("a | 1\nb | 2\nc | 3")]), other);
        assert_eq!(splice("xa 1 b 2 c 3y", &[rows("a | 1\nb | 2\nc | 3")]), "xa 1 b 2 c 3y");
        let line = "one two three four five six seven";
        let prose = format!("{line} {line} {line} {line} {line} {line}");
        assert_eq!(
            splice(&prose, &[rows(&format!("{line} | {line}\n{line} | {line}\n{line} | {line}"))]),
            prose
        );
        let two = "a 1 b 2";
        assert_eq!(splice(two, &[rows("a | 1\nb | 2")]), two);
    }
}
