//! Replacing one text by another in a file, byte for byte elsewhere. Pure.
//!
//! A model sees CRLF files as it likes to; so `\r\n` and `\n` match each other, and what is put in takes the line ends of
//! the place it goes to. Nothing else is forgiven: a near miss is an error that shows the nearest place.

/// The text after the replacement.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub count: usize,
    /// First and last line changed, from 1, in the new text.
    pub lines: (usize, usize),
}

/// Longest file, in lines, that is searched for the nearest place.
const MAX_HINT: usize = 20_000;

/// Replaces `old` by `new`; `old` must stand in `text` once unless `all`. `Err` is a sentence for the model.
pub fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, String> {
    if old.is_empty() {
        return Err("old_string is empty; say what to replace.".to_owned());
    }
    let (flat, removed) = flatten(text);
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old == new {
        return Err("old_string and new_string are the same; nothing was changed.".to_owned());
    }
    let found: Vec<usize> = flat.match_indices(&old).map(|(at, _)| at).collect();
    match found.len() {
        0 => return Err(missing(&flat, &old)),
        1 => {}
        _ if all => {}
        many => {
            let lines: Vec<String> =
                found.iter().take(20).map(|at| line_of(&flat, *at).to_string()).collect();
            return Err(format!(
                "old_string stands there {many} times, at lines {}. Give more of the text around the one you mean, or replace_all.",
                lines.join(", ")
            ));
        }
    }
    // Offsets in the flat text, moved by the carriage returns taken out before them.
    let original = |at: usize| at + removed.partition_point(|r| *r < at);
    let mut out = String::with_capacity(text.len() + new.len());
    let mut from = 0;
    let mut lines = (usize::MAX, 0);
    for at in &found {
        let (start, end) = (original(*at), original(at + old.len()));
        out.push_str(text.get(from..start).unwrap_or_default());
        let first = line_of(&out, out.len());
        let replaced = text.get(start..end).unwrap_or_default();
        let crlf = if replaced.contains('\n') { replaced.contains("\r\n") } else { text.contains("\r\n") };
        out.push_str(&if crlf { new.replace('\n', "\r\n") } else { new.clone() });
        lines = (lines.0.min(first), lines.1.max(line_of(&out, out.len())));
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(Edited { text: out, count: found.len(), lines })
}

/// The text with `\r\n` as `\n`, and for each `\r` taken out the flat offset of the `\n` it stood before.
fn flatten(text: &str) -> (String, Vec<usize>) {
    if !text.contains("\r\n") {
        return (text.to_owned(), Vec::new());
    }
    let mut flat = String::with_capacity(text.len());
    let mut removed = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.strip_suffix("\r\n") {
            Some(body) => {
                flat.push_str(body);
                removed.push(flat.len());
                flat.push('\n');
            }
            None => flat.push_str(line),
        }
    }
    (flat, removed)
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
}

/// Why nothing matched: the place that is most like it, and the first difference there.
fn missing(flat: &str, old: &str) -> String {
    if let Some(body) = old.strip_suffix('\n')
        && !body.is_empty()
        && flat.ends_with(body)
        && !flat.ends_with('\n')
    {
        return "old_string ends with a line break, the file does not. Leave the last line break out."
            .to_owned();
    }
    let lines: Vec<&str> = flat.lines().take(MAX_HINT).collect();
    let wanted: Vec<&str> = old.lines().collect();
    // A window is judged by how many of its lines agree when white space does not count.
    let key = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let keys: Vec<String> = lines.iter().map(|l| key(l)).collect();
    let sought: Vec<String> = wanted.iter().take(200).map(|l| key(l)).collect();
    let best = (0..lines.len())
        .map(|start| {
            let agree =
                sought.iter().zip(keys.iter().skip(start)).filter(|(a, b)| !a.is_empty() && a == b).count();
            (agree, start)
        })
        .filter(|(agree, _)| *agree > 0)
        .max_by_key(|(agree, start)| (*agree, std::cmp::Reverse(*start)));
    let nearest = match best {
        Some((_, start)) => Some(start),
        None => near_line(&lines, &wanted),
    };
    let Some(start) = nearest else {
        return "old_string does not stand in the file, nor anything like it. Read the file again."
            .to_owned();
    };
    let difference = wanted
        .iter()
        .enumerate()
        .map(|(i, line)| (start + i, *line, lines.get(start + i).copied().unwrap_or("(end of the file)")))
        .find(|(_, wanted, there)| wanted != there);
    match difference {
        Some((at, wanted, there)) => format!(
            "old_string does not stand in the file. The nearest place starts at line {}; line {} there is {there:?}, old_string has \
             {wanted:?}.",
            start + 1,
            at + 1
        ),
        None => format!(
            "old_string does not stand in the file as it is. The nearest place is at line {}; mind where its lines begin and end.",
            start + 1
        ),
    }
}

/// The line most like the first wanted one, by shared words.
fn near_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let first = wanted.iter().find(|line| !line.trim().is_empty())?;
    let words: Vec<&str> = first.split_whitespace().collect();
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| (words.iter().filter(|word| line.contains(**word)).count(), at))
        .filter(|(shared, _)| *shared * 2 >= words.len().max(1) && *shared > 0)
        .max_by_key(|(shared, at)| (*shared, std::cmp::Reverse(*at)))
        .map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_edit_of_a_crlf_file_changes_only_its_line() {
        let text = "a\r\nb\r\nc\r\nd";
        let edited = replace(text, "b\nc\n", "x\ny\nz\n", false).unwrap();
        assert_eq!(edited.text, "a\r\nx\r\ny\r\nz\r\nd");
        let edited = replace("\u{feff}a\r\nb\r\n", "b", "B", false).unwrap();
        assert_eq!(edited, Edited { text: "\u{feff}a\r\nB\r\n".into(), count: 1, lines: (2, 2) });
    }

    #[test]
    fn a_mixed_file_keeps_each_line_end() {
        let edited = replace("a\nb\r\nc\n", "a\nb", "a\nB", false).unwrap();
        assert_eq!(edited.text, "a\nB\r\nc\n");
    }

    #[test]
    fn ambiguity_names_the_lines_and_replace_all_takes_them() {
        let problem = replace("x\ny\nx\n", "x", "z", false).unwrap_err();
        assert!(problem.contains("2 times") && problem.contains("lines 1, 3"), "{problem}");
        let edited = replace("x\ny\nx\n", "x", "z", true).unwrap();
        assert_eq!((edited.text.as_str(), edited.count, edited.lines), ("z\ny\nz\n", 2, (1, 3)));
    }

    #[test]
    fn nothing_to_do_is_an_error() {
        assert!(replace("a", "", "b", true).unwrap_err().contains("empty"));
        assert!(replace("a\r\n", "a\n", "a\r\n", false).unwrap_err().contains("the same"));
    }

    #[test]
    fn a_near_miss_shows_the_place_and_the_first_difference() {
        let problem = replace("one\n\ttwo\nthree\n", "one\n  two\nthree\n", "x", false).unwrap_err();
        assert!(problem.contains("line 2 there is \"\\ttwo\", old_string has \"  two\""), "{problem}");
        let problem = replace("alpha\nlast", "last\n", "x\n", false).unwrap_err();
        assert!(problem.contains("Leave the last line break out"), "{problem}");
        assert!(replace("alpha", "omega", "x", false).unwrap_err().contains("nor anything like it"));
    }

    proptest! {
        #[test]
        fn every_byte_outside_the_place_stays(head in "[ab\r\n]{0,12}", tail in "[ab\r\n]{0,12}") {
            // The place is unique: no other part of the text holds its letter.
            let text = format!("{head}Q{tail}");
            let edited = replace(&text, "Q", "R", false).unwrap();
            prop_assert_eq!(edited.text, format!("{head}R{tail}"));
        }
    }
}
