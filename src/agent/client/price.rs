//! What tokens cost.

use std::fmt;

use crate::agent::event::Usage;

/// Prices for a million tokens, in millionths of whatever money the person counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    pub input: u64,
    /// Of input that the provider had in its cache; as other input when none.
    pub cached: Option<u64>,
    pub output: u64,
}

impl Price {
    /// What this many tokens cost, in millionths.
    pub fn of(self, usage: Usage) -> u64 {
        rounded(self.exact(usage))
    }

    /// [`Price::of`] in millionths of it, so that many small sums add up to what they are.
    pub fn exact(self, usage: Usage) -> u128 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cached = usage.cached.min(usage.input);
        let input = part(usage.input - cached, self.input) + part(cached, self.cached.unwrap_or(self.input));
        input.saturating_add(part(usage.output, self.output))
    }
}

/// A sum of [`Price::exact`] in millionths.
pub fn rounded(exact: u128) -> u64 {
    u64::try_from(exact / 1_000_000).unwrap_or(u64::MAX)
}

/// An amount of money in millionths, to show: `2`, `0.15`, `0.00028`. What it is counted in is the person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Money(pub u64);

impl Money {
    /// With as many places as say something: `0.0003`, `0.15`, `12`.
    pub fn short(self) -> String {
        let places = match self.0 {
            0..10_000 => 4,
            10_000..10_000_000 => 2,
            _ => 0,
        };
        format!("{:.places$}", self.0 as f64 / 1e6)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 / 1_000_000)?;
        match self.0 % 1_000_000 {
            0 => Ok(()),
            part => write!(f, ".{}", format!("{part:06}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 2_000_000, cached: Some(500_000), output: 10_000_000 };
        let usage = Usage { input: 1_000_000, cached: 400_000, output: 100_000 };
        assert_eq!(price.of(usage), 1_200_000 + 200_000 + 1_000_000);
        assert_eq!(Price { cached: None, ..price }.of(usage), 3_000_000);
        // More cached than there was.
        assert_eq!(price.of(Usage { input: 10, cached: u64::MAX, output: 0 }), 5);
        assert_eq!(price.of(Usage { input: u64::MAX, cached: 0, output: u64::MAX }), u64::MAX);
        // Parts are added before they are rounded.
        assert_eq!(Price { input: 500_000, ..price }.of(Usage { input: 1, cached: 0, output: 0 }), 0);
        let half = Price { input: 500_000, cached: None, output: 500_000 };
        assert_eq!(half.of(Usage { input: 1, cached: 0, output: 1 }), 1);
    }

    #[test]
    fn money_is_shown_as_people_write_it() {
        for (millionths, shown, short) in [
            (0, "0", "0.0000"),
            (280, "0.00028", "0.0003"),
            (150_000, "0.15", "0.15"),
            (2_000_000, "2", "2.00"),
            (12_345_678, "12.345678", "12"),
        ] {
            assert_eq!(
                (Money(millionths).to_string().as_str(), Money(millionths).short().as_str()),
                (shown, short)
            );
        }
    }
}
