//! What tokens cost.

use crate::agent::event::Usage;

/// Prices for a million tokens, in whatever money the person counts in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    /// Input that the provider had in its cache; as other input when none.
    pub cached_input: Option<f64>,
    pub output: f64,
}

impl Price {
    /// What this many tokens cost.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let fresh = (usage.input - cached) as f64 * self.input;
        let cached = cached as f64 * self.cached_input.unwrap_or(self.input);
        (fresh + cached + usage.output as f64 * self.output) / 1_000_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 2.0, cached_input: Some(0.5), output: 10.0 };
        let usage = Usage { input: 1_000_000, cached: 400_000, output: 100_000 };
        assert!((price.cost(usage) - (1.2 + 0.2 + 1.0)).abs() < 1e-9);
        assert!((Price { cached_input: None, ..price }.cost(usage) - 3.0).abs() < 1e-9);
        // More cached than there was.
        let odd = Usage { input: 10, cached: u64::MAX, output: 0 };
        assert!((price.cost(odd) - 10.0 * 0.5 / 1e6).abs() < 1e-12);
    }
}
