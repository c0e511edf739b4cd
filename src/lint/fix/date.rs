//! Dates as people write them, read for a fix. What has two readings, or a tail that is not understood, is doubtful.

use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A date that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// `YYYY-MM-DDTHH:MM:SSZ`; midnight when the text has no time.
    pub stamp: String,
    /// Day and month could change places, or the time could not be read.
    pub doubtful: bool,
}

/// None when no day can be read at all: a month, a quarter, words.
pub fn read(text: &str) -> Option<Reading> {
    let mut rest = Rest(text.trim());
    let (date, ambiguous) =
        if rest.0.starts_with(|c: char| c.is_ascii_digit()) { rest.numeric()? } else { rest.month_first()? };
    let (time, unread) = match rest.time() {
        Some(time) => (time, false),
        None => ([0; 3], true),
    };
    let [hour, minute, second] = time;
    Some(Reading {
        stamp: format!("{date}T{hour:02}:{minute:02}:{second:02}Z"),
        doubtful: ambiguous || unread,
    })
}

/// What is still to be read.
struct Rest<'t>(&'t str);

impl Rest<'_> {
    /// Digits, and how many.
    fn number(&mut self) -> Option<(i16, usize)> {
        let len = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(len).filter(|_| (1..=4).contains(&len))?;
        self.0 = rest;
        Some((digits.parse().ok()?, len))
    }

    fn eat(&mut self, wanted: char) -> Option<()> {
        self.0 = self.0.strip_prefix(wanted)?;
        Some(())
    }

    fn skip(&mut self, chars: &[char]) {
        self.0 = self.0.trim_start_matches(chars);
    }

    /// `2026/07/19`, `19.07.2026` and their like, or `19 July 2026`. True when day and month could change places.
    fn numeric(&mut self) -> Option<(Date, bool)> {
        let (first, len) = self.number()?;
        let Some(separator @ ('/' | '-' | '.')) = self.0.chars().next().filter(|_| !self.0.starts_with(". "))
        else {
            self.ordinal();
            return Some((self.month_then_year(first, len)?, false));
        };
        self.eat(separator)?;
        if let Some(date) = self.named_month(first, len, separator) {
            return Some((date, false));
        }
        let (second, second_len) = self.number().filter(|(_, len)| *len <= 2)?;
        self.eat(separator)?;
        let (third, third_len) = self.number()?;
        match (len, second_len, third_len) {
            (4, _, 1 | 2) => Some((date(first, second, third)?, false)),
            (1 | 2, _, 4) => {
                let (day_first, month_first) = (date(third, second, first), date(third, first, second));
                let ambiguous = day_first.is_some() && month_first.is_some() && day_first != month_first;
                Some((day_first.or(month_first)?, ambiguous))
            }
            _ => None,
        }
    }

    /// The rest of `19-Jul-2026`.
    fn named_month(&mut self, day: i16, len: usize, separator: char) -> Option<Date> {
        let before = self.0;
        let read = |rest: &mut Self| {
            let month = rest.month()?;
            rest.eat(separator)?;
            let (year, year_len) = rest.number()?;
            (len <= 2 && year_len == 4).then(|| date(year, month, day))?
        };
        let found = read(self);
        if found.is_none() {
            self.0 = before;
        }
        found
    }

    fn month_then_year(&mut self, day: i16, len: usize) -> Option<Date> {
        self.skip(&[' ', '.']);
        let month = self.month()?;
        self.skip(&[' ', '.', ',']);
        let (year, year_len) = self.number()?;
        (len <= 2 && year_len == 4).then(|| date(year, month, day))?
    }

    /// `July 19, 2026`
    fn month_first(&mut self) -> Option<(Date, bool)> {
        let month = self.month()?;
        self.skip(&[' ', '.']);
        let (day, len) = self.number()?;
        self.ordinal();
        let after_day = self.0;
        self.skip(&[' ', ',']);
        let (year, year_len) = self.number().filter(|_| after_day.len() > self.0.len() + 4)?;
        Some(((len <= 2 && year_len == 4).then(|| date(year, month, day))??, false))
    }

    /// `st`, `nd`, `rd`, `th` after a day.
    fn ordinal(&mut self) {
        for suffix in ["st", "nd", "rd", "th"] {
            self.0 = self.0.strip_prefix(suffix).unwrap_or(self.0);
        }
    }

    /// An English month, whole or its first three letters (`Sept` too).
    fn month(&mut self) -> Option<i16> {
        let len = self.0.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, rest) = self.0.split_at_checked(len).filter(|_| len >= 3)?;
        let word = word.to_ascii_lowercase();
        let short = word.len() == 3 || word == "sept";
        let month = MONTHS.iter().position(|month| *month == word || (short && month.starts_with(&word)))?;
        self.0 = rest;
        i16::try_from(month + 1).ok()
    }

    /// Hour, minute and second of what follows a date; midnight when nothing does.
    fn time(&mut self) -> Option<[i16; 3]> {
        if self.0.is_empty() {
            return Some([0; 3]);
        }
        if !self.0.starts_with(['T', 't', ' ', ',']) {
            return None;
        }
        self.skip(&['T', 't', ' ', ',']);
        let (hour, _) = self.number()?;
        self.eat(':')?;
        let (minute, _) = self.number()?;
        let second = match self.eat(':') {
            Some(()) => self.number()?.0,
            None => 0,
        };
        let zone = self.0.trim();
        let is_utc = zone.is_empty() || ["z", "utc", "gmt"].iter().any(|utc| zone.eq_ignore_ascii_case(utc));
        (is_utc && hour < 24 && minute < 60 && second < 60).then_some([hour, minute, second])
    }
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(year, month, day).ok().filter(|_| year > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::okf::timestamp::is_iso;

    #[test]
    fn a_date_is_kept() {
        for text in [
            "2026/07/19",
            "2026-7-19",
            "19-07-2026",
            "19/07/2026",
            "19.07.2026",
            "07/19/2026",
            "19 July 2026",
            "19 Jul 2026",
            "19. July 2026",
            "19-Jul-2026",
            "19th July 2026",
            "July 19, 2026",
            "Jul 19, 2026",
            "JULY 19 2026",
            "July 19th, 2026",
            " 19/07/2026 ",
        ] {
            let wanted = Reading { stamp: "2026-07-19T00:00:00Z".to_owned(), doubtful: false };
            assert_eq!(read(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn a_time_is_kept() {
        for (text, time) in [
            ("2026/07/19 10:30", "10:30:00"),
            ("19-07-2026T10:30:05Z", "10:30:05"),
            ("19/07/2026, 9:05 UTC", "09:05:00"),
        ] {
            let wanted = Reading { stamp: format!("2026-07-19T{time}Z"), doubtful: false };
            assert_eq!(read(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_has_two_readings_is_doubtful() {
        let stamp = |text| read(text).map(|r| (r.stamp, r.doubtful));
        assert_eq!(stamp("07/04/2026"), Some(("2026-04-07T00:00:00Z".to_owned(), true)));
        assert_eq!(stamp("07/07/2026"), Some(("2026-07-07T00:00:00Z".to_owned(), false)));
        assert_eq!(stamp("19/07/2026 10:30 +02:00"), Some(("2026-07-19T00:00:00Z".to_owned(), true)));
        assert_eq!(stamp("19/07/2026 25:00"), Some(("2026-07-19T00:00:00Z".to_owned(), true)));
        assert_eq!(stamp("19/07/2026 (late)"), Some(("2026-07-19T00:00:00Z".to_owned(), true)));
    }

    #[test]
    fn what_names_no_day_is_not_read() {
        for text in [
            "",
            "Q3 2026",
            "2026",
            "2026-07",
            "2026-200",
            "July 2026",
            "July 2026 19",
            "31/02/2026",
            "19/07/26",
            "0/0/2026",
            "yesterday",
            "19 Jux 2026",
            "19-07/2026",
            "2026-13-40",
            "０１/０１/２０２６",
            "Mayhem 1, 2026",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_iso(text in "[0-9]{1,4}[-/. ][0-9A-Za-z]{1,4}[-/. ,]{1,2}[0-9]{1,4}[ T:0-9Zé+]{0,9}|.{0,20}") {
            if let Some(reading) = read(&text) {
                prop_assert!(is_iso(&reading.stamp), "{}", reading.stamp);
            }
        }
    }
}
