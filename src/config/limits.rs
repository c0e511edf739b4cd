//! Limits of a session and when its changes are decided, from the configuration file.

use std::path::Path;
use std::time::Duration;

use super::Error;
use super::file::{self, Manager};
use crate::agent::approval::{Approval, When};
use crate::agent::budget::Limits;
use crate::agent::client::Price;
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

/// Limits in the units of the meter; `price` is that of the model, where the model is known. A sum that no price counts towards
/// is an error.
pub fn limits(file: &file::File, model: Option<&str>, path: &Path) -> Result<Limits, Error> {
    let limits = &file.limits;
    let priced = model.map_or(!file.prices.is_empty(), |model| file.prices.contains_key(model));
    if limits.money.is_some() && !priced {
        return Err(Error::Unreadable {
            path: path.to_path_buf(),
            message: "limits: `money` needs the price of the model under [prices]".to_owned(),
        });
    }
    Ok(Limits {
        steps: limits.steps.get().into(),
        tokens: limits.tokens,
        money: limits.money,
        // The client of the model knows it.
        price: Price::default(),
        time: limits.minutes.map(|minutes| Duration::from_secs(u64::from(minutes.get()) * 60)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_wants_a_price_and_is_kept_in_millionths() {
        let path = Path::new("c.toml");
        let of = |text: &str, model: Option<&str>| {
            file::File::parse(text, path).and_then(|file| limits(&file, model, path))
        };
        let text = "[limits]\nmoney = 2.5\n[prices]\nm = { input = 0.15, output = 0 }\n";
        assert_eq!(file::File::parse(text, path).unwrap().prices["m"].input, 150_000);
        assert_eq!(of(text, Some("m")).unwrap().money, Some(2_500_000));
        assert_eq!(of(text, None).unwrap().money, Some(2_500_000), "the model is asked for later");
        assert!(of(text, Some("n")).unwrap_err().to_string().contains("[prices]"));
        assert!(of("[limits]\nmoney = 2.5\n", None).unwrap_err().to_string().contains("[prices]"));
        for sum in ["-1", "nan", "inf", "1e12"] {
            let error = of(&format!("[limits]\nmoney = {sum}\n"), None).unwrap_err().to_string();
            assert!(error.starts_with("c.toml:2:") && error.contains("money"), "{error}");
        }
        assert_eq!(of("", None).unwrap(), Limits::default());
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error_that_names_its_key() {
        let manager = Manager { automatic: vec!["wiki/log.md".into()], ..Manager::default() };
        assert!(
            approval(&manager, Path::new("c.toml")).unwrap_err().to_string().contains("manager.automatic")
        );
    }
}
