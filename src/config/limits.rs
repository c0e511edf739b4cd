//! Limits of a session and when its changes are decided, from the configuration file.

use std::path::Path;
use std::time::Duration;

use super::Error;
use super::file::{self, Manager};
use crate::agent::approval::{Approval, When};
use crate::agent::budget::{Limits, Price};
use crate::bundle::PathPattern;

/// When changes are decided. A pattern that is none is an error.
pub fn approval(manager: &Manager, file: &Path) -> Result<Approval, Error> {
    let when = match manager.review {
        file::Review::Turn => When::Turn,
        file::Review::Write => When::Write,
    };
    let automatic: Result<_, String> = manager.automatic.iter().map(|text| PathPattern::new(text)).collect();
    let automatic = automatic.map_err(|message| Error::Unreadable {
        path: file.to_path_buf(),
        message: format!("manager.automatic: {message}; write for example /wiki/log.md"),
    })?;
    Ok(Approval { when, automatic })
}

/// Limits in the units of the meter; `price` is that of the model, where one is set. A price or sum that is none is an error,
/// and so is a sum that no price counts towards.
pub fn limits(limits: &file::Limits, price: Option<&file::Price>, file: &Path) -> Result<Limits, Error> {
    let invalid =
        |message: &str| Error::Unreadable { path: file.to_path_buf(), message: format!("limits: {message}") };
    let millionths = |name: &str, value: f64| {
        if !value.is_finite() || !(0.0..1e9).contains(&value) {
            return Err(invalid(&format!("`{name}` is no sum of money; write for example 2.5")));
        }
        // Within what was just checked.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok((value * 1e6).round() as u64)
    };
    let price = match price {
        Some(price) => Price {
            input: millionths("input", price.input)?,
            cached: price.cached_input.map(|cached| millionths("cached_input", cached)).transpose()?,
            output: millionths("output", price.output)?,
        },
        None => Price::default(),
    };
    let money = limits.money.map(|money| millionths("money", money)).transpose()?;
    if money.is_some() && price == Price::default() {
        return Err(invalid("`money` needs the price of the model under [prices]"));
    }
    Ok(Limits {
        steps: limits.steps.get().into(),
        tokens: limits.tokens,
        money,
        price,
        time: limits.minutes.map(|minutes| Duration::from_secs(u64::from(minutes.get()) * 60)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_wants_a_price_and_is_kept_in_millionths() {
        let file = Path::new("c.toml");
        let of = |money: Option<f64>, price: f64| {
            let given = file::Limits { money, ..file::Limits::default() };
            let price = file::Price { input: price, cached_input: None, output: 0.0 };
            limits(&given, Some(&price), file)
        };
        let set = of(Some(2.5), 0.15).unwrap();
        assert_eq!((set.money, set.price.input), (Some(2_500_000), 150_000));
        assert!(of(Some(2.5), 0.0).unwrap_err().to_string().contains("[prices]"));
        assert!(of(Some(-1.0), 1.0).is_err() && of(Some(f64::NAN), 1.0).is_err());
        assert_eq!(of(None, 0.0).unwrap(), Limits::default());
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error_that_names_its_key() {
        let manager = Manager { automatic: vec!["wiki/log.md".into()], ..Manager::default() };
        assert!(
            approval(&manager, Path::new("c.toml")).unwrap_err().to_string().contains("manager.automatic")
        );
    }
}
