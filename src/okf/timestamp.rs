//! Dates of pages: which texts count as ISO 8601, as Python 3.12's `datetime.fromisoformat` reads it, and what
//! instant they name. Beyond Python, RFC 3339's lower-case `z` and its leap second (`23:59:60`) are taken, and ISO's
//! fraction of an hour or minute; short of it, what CPython lets pass by oversight (`10:+02:00`, `T108+0200`).

/// Whether `text` is a date or date-time that the format accepts.
pub fn is_iso(text: &str) -> bool {
    Stamp::parse(text).is_some()
}

/// A date or date-time. Compares by instant; a text without offset counts as UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    pub microseconds: u32,
    /// Seconds east of UTC, when the text has an offset.
    pub offset: Option<i32>,
}

impl Stamp {
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if !text.is_char_boundary(bytes.len().min(7)) || bytes.len() < 7 {
            return None;
        }
        let end = date_end(bytes);
        let days = date(text.get(..end)?)?;
        let rest = text.get(end..)?;
        let mut separated = rest.chars();
        // Any one character may stand between date and time.
        let (clock, offset) = match separated.next() {
            None => (Clock::default(), None),
            Some(_) => time(separated.as_str())?,
        };
        let seconds = days * 86_400 + i64::from(clock.seconds) - i64::from(offset.unwrap_or(0));
        Some(Self { seconds, microseconds: clock.microseconds, offset })
    }
}

/// Where the date ends: the rule of CPython's `_find_isoformat_datetime_separator`, which must tell `2026-W01-1` from
/// `2026-W01` followed by the separator `-` and an hour.
fn date_end(bytes: &[u8]) -> usize {
    let is = |at: usize, wanted: u8| bytes.get(at) == Some(&wanted);
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let end = if bytes.len() == 7 {
        7
    } else if is(4, b'-') {
        if is(5, b'W') {
            let dayless = !is(8, b'-') || digit(10);
            if dayless { 8 } else { 10 }
        } else {
            10
        }
    } else if is(4, b'W') {
        let digits_end = (7..bytes.len()).find(|at| !digit(*at)).unwrap_or(bytes.len());
        match digits_end {
            end if end < 9 => end,
            end if end % 2 == 0 => 7,
            _ => 8,
        }
    } else {
        8
    };
    end.min(bytes.len())
}

/// Days since 1970-01-01 of a calendar or week date.
fn date(text: &str) -> Option<i64> {
    let year = number(text, 0, 4)?;
    if year == 0 {
        return None;
    }
    let rest = text.get(4..)?;
    let (extended, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    if let Some(week) = rest.strip_prefix('W') {
        let number_of_week = number(week, 0, 2)?;
        let day = match week.get(2..)? {
            "" => 1,
            day => number(if extended { day.strip_prefix('-')? } else { day }, 0, 1)
                .filter(|_| week.len() == if extended { 4 } else { 3 })?,
        };
        return week_date(year, number_of_week, day);
    }
    let month = number(rest, 0, 2)?;
    let day = rest.get(2..)?;
    let day = if extended { day.strip_prefix('-')? } else { day };
    let of_month = number(day, 0, 2).filter(|_| day.len() == 2)?;
    calendar_date(year, month, of_month)
}

fn calendar_date(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Days from civil: years counted from March, so that the leap day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719_468)
}

fn week_date(year: i64, week: i64, day: i64) -> Option<i64> {
    // Monday is 1; week 1 holds 4 January.
    let weekday = |days: i64| (days + 3).rem_euclid(7) + 1;
    let fourth = calendar_date(year, 1, 4)?;
    let first_monday = fourth - (weekday(fourth) - 1);
    let last = calendar_date(year, 12, 28)?;
    let weeks = (last - first_monday) / 7 + 1;
    let days = first_monday + (week - 1) * 7 + day - 1;
    let fits = (1..=weeks).contains(&week) && (1..=7).contains(&day);
    // Python's calendar starts with year 1 and ends with 9999.
    let calendar = calendar_date(1, 1, 1)?..=calendar_date(9999, 12, 31)?;
    (fits && calendar.contains(&days)).then_some(days)
}

#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    /// Seconds of the day.
    seconds: i32,
    microseconds: u32,
    leap: bool,
}

fn time(text: &str) -> Option<(Clock, Option<i32>)> {
    let zone = text.find(['+', '-', 'Z', 'z']);
    let (clock_text, zone) = text.split_at(zone.unwrap_or(text.len()));
    // Python takes a blank before an offset.
    let clock_text =
        if zone.is_empty() { clock_text } else { clock_text.strip_suffix(' ').unwrap_or(clock_text) };
    let clock = clock(clock_text)?;
    let offset = match zone.chars().next() {
        None => None,
        Some('Z' | 'z') => (zone.len() == 1).then_some(Some(0))?,
        Some(sign) => {
            let offset = self::clock(zone.get(1..)?).filter(|c| !c.leap)?;
            Some(if sign == '-' { -offset.seconds } else { offset.seconds })
        }
    };
    Some((clock, offset))
}

/// `HH[:MM[:SS[.f…]]]` or the same without colons; `,` serves as well as `.`.
fn clock(text: &str) -> Option<Clock> {
    let (whole, fraction) = match text.find(['.', ',']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let hour = number(whole, 0, 2)?;
    let extended = whole.get(2..3) == Some(":");
    let step = if extended { 3 } else { 2 };
    let parts = match (whole.len(), extended) {
        (2, _) => 1,
        (5, true) | (4, false) => 2,
        (8, true) | (6, false) => 3,
        _ => return None,
    };
    if parts == 3 && extended && whole.get(5..6) != Some(":") {
        return None;
    }
    let minute = if parts > 1 { number(whole, step, 2)? } else { 0 };
    let second = if parts > 2 { number(whole, 2 * step, 2)? } else { 0 };
    // The fraction is of the smallest unit written; nine digits are kept.
    let unit = match parts {
        1 => 3600,
        2 => 60,
        _ => 1,
    };
    let fraction = match fraction {
        None => 0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
            nine.parse::<i64>().ok()? * unit / 1000
        }
        Some(_) => return None,
    };
    let leap = second == 60 && minute == 59;
    if hour > 23 || minute > 59 || (second > 59 && !leap) {
        return None;
    }
    let seconds = i32::try_from(hour * 3600 + minute * 60 + second + fraction / 1_000_000).ok()?;
    let microseconds = u32::try_from(fraction % 1_000_000).ok()?;
    Some(Clock { seconds, microseconds, leap })
}

/// Exactly `len` ASCII digits at `at`.
fn number(text: &str, at: usize, len: usize) -> Option<i64> {
    let digits = text.get(at..at + len)?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_python_reads_is_iso() {
        for text in [
            "2026-07-19",
            "20240501",
            "2024-W18-3",
            "2024W183",
            "2024-W18",
            "2024W18",
            "2020-W53",
            "2024-05-01T10",
            "2024-05-01T10:00",
            "2024-05-01 10:00:00",
            "2024-05-01x100000",
            "2024-05-01T10:00:00.1",
            "2024-05-01T10:00:00,123456789",
            "2024-05-01T10:00:00Z",
            "2024-05-01T10:00+02:00",
            "2024-05-01T10+0200",
            "2024-05-01T10-02",
            "2024-05-01T10:00:00.5-23:59:59.999",
            "20240501T100000Z",
            "2024W18310",
            "2024-W18T10",
            "2024-W18-3T10:00",
            "2024-02-29",
            "0001-01-01",
            "9999-12-31T23:59:59",
            "2024-05-01é10",
            "2024-05-01T10:00:00 +02:00",
            "2024-05-01T10.5",
        ] {
            assert!(is_iso(text), "{text}");
        }
    }

    #[test]
    fn rfc_3339_in_lower_case_and_with_a_leap_second_is_iso() {
        assert!(is_iso("2026-07-19t10:30:00z"));
        assert!(is_iso("2016-12-31T23:59:60Z"));
        assert!(!is_iso("2016-12-31T23:58:60Z"));
    }

    #[test]
    fn everything_else_is_not() {
        for text in [
            "",
            "2026",
            "2026-07",
            "2026-200",
            "Q3 2026",
            "19/07/2026",
            "2026/07/19",
            "2026-7-19",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-04-31",
            "0000-01-01",
            "2024-W54",
            "2021-W53",
            "2024-W18-8",
            "2024-W18-0",
            "2024-05-01T",
            "2024-05-01T24:00",
            "2024-05-01T10:60",
            "2024-05-01T10:00:61",
            "2024-05-01T10.",
            "2024-05-01T10:00:00.",
            "2024-05-01T10:00:00  Z",
            "2024-05-01T10:00 ",
            "2024-05-01T10:00:00Z ",
            "2024-05-01T10:00:00+24:00",
            "2024-05-01T10:00:00+",
            "2024-05-01T1000:00",
            "2024-05-01T10:0000",
            "2024-0501",
            "202405-01",
            " 2024-05-01",
            "2024-05-01 ",
            "２０２４-05-01",
            "2024-05-01T10:00:00Europe/Berlin",
        ] {
            assert!(!is_iso(text), "{text}");
        }
    }

    #[test]
    fn instants_compare_across_offsets_and_forms() {
        let seconds = |text: &str| Stamp::parse(text).map(|s| (s.seconds, s.offset));
        assert_eq!(seconds("1970-01-01"), Some((0, None)));
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some((951_868_800, Some(0))));
        assert_eq!(seconds("2000-03-01T02:00:00+02:00"), Some((951_868_800, Some(7200))));
        assert_eq!(seconds("2024-W18-3"), seconds("2024-05-01"));
        assert_eq!(seconds("2024-W01"), seconds("2024-01-01"));
        assert_eq!(seconds("1969-12-31T23:59:59.5"), Some((-1, None)));
        assert_eq!(seconds("1970-01-01T10.5"), Some((37_800, None)));
        assert_eq!(Stamp::parse("1970-01-01T00:00:00,1234567").map(|s| s.microseconds), Some(123_456));
        assert!(Stamp::parse("2024-05-01T10:00+02:00") < Stamp::parse("2024-05-01T09:00Z"));
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_panic(text in "[0-9W:.,+Zz é-]{0,32}|.{0,12}") {
            let _ = is_iso(&text);
        }

        #[test]
        fn every_real_date_is_iso(days in -719_162i64..2_932_896) {
            // Checked against another calendar.
            let date = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
            let text = date.to_string();
            prop_assert_eq!(Stamp::parse(&text).map(|s| s.seconds), Some(days * 86_400), "{}", text);
            let week = date.iso_week_date();
            if week.year() > 0 {
                let text = format!("{:04}-W{:02}-{}", week.year(), week.week(), week.weekday().to_monday_one_offset());
                prop_assert_eq!(Stamp::parse(&text).map(|s| s.seconds), Some(days * 86_400), "{}", text);
            }
        }
    }
}
