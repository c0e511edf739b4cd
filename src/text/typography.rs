//! Characters that stand for the same: a text compared by them is compared as it is read.

/// The plain form of a quote, a dash or a blank that type knows in several shapes; other characters as they are.
pub fn plain(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_one_plain_form() {
        let plain: String =
            "\u{201e}3\u{2013}4\u{a0}m\u{201d}, it\u{2019}s \u{2212}1\u{202f}°".chars().map(plain).collect();
        assert_eq!(plain, "\"3-4 m\", it's -1 °");
    }
}
