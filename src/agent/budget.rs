//! What a session may use, what it has used, and why it was stopped. One meter for an agent and its assistants.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::client::{Money, Price, price};
use super::event::Usage;

/// Of what is allowed, the part in percent at which the model is warned.
const WARN: u64 = 80;

/// Limits of a session. None: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Answers of the model in one turn, those to assistants included.
    pub steps: u64,
    /// Tokens in and out, in the whole session.
    pub tokens: Option<u64>,
    /// Money in the whole session, in millionths of the currency that the prices are in.
    pub money: Option<u64>,
    /// What tokens cost where the client knows no price of its model.
    pub price: Price,
    /// Time of one turn.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100, tokens: None, money: None, price: Price::default(), time: None }
    }
}

/// Why a turn was stopped by us and not by a person or a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Steps(u64),
    Tokens(u64),
    /// In millionths.
    Money(u64),
    /// In seconds.
    Time(u64),
    /// The model said nothing twice in a row.
    Empty,
    /// The model's answer was cut at its length limit twice in a row.
    Cut,
    /// The model made the same failing call again and again: its tool.
    Repeated(String),
    /// The model did not give its answer in the form that is wanted: why the last one could not be taken.
    Formless(String),
}

/// One sentence for the person, with what to do.
impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => {
                write!(f, "Stopped after {steps} steps in one turn. Say \u{201c}go on\u{201d} to continue.")
            }
            Self::Tokens(tokens) => write!(
                f,
                "Stopped: this session has used its {tokens} tokens. Raise `tokens` under [limits] in the configuration to go on."
            ),
            Self::Money(money) => write!(
                f,
                "Stopped: this session has used its {} of money. Raise `money` under [limits] in the configuration to go on.",
                Money(*money)
            ),
            Self::Time(seconds) => write!(
                f,
                "Stopped after {} minutes in one turn. Say \u{201c}go on\u{201d} to continue.",
                seconds.div_ceil(60)
            ),
            Self::Empty => f.write_str("The model's answer was empty, twice in a row. Ask again, or use another model."),
            Self::Cut => f.write_str(
                "The model's answer was cut off at its length limit, twice in a row. Ask again, or use another model.",
            ),
            Self::Formless(why) => write!(
                f,
                "The model gave no answer in the wanted form, {} times over: {why}. Ask again, or use another model.",
                super::answer::MAX_REPAIRS + 1
            ),
            Self::Repeated(tool) => write!(
                f,
                "Stopped: the model made the same failing call to {tool} {} times in a row.",
                super::fsm::MAX_REPEATS
            ),
        }
    }
}

#[derive(Debug, Default)]
struct Used {
    usage: Usage,
    /// What it cost; see [`Price::exact`].
    cost: u128,
    steps: u64,
    turn: Option<Instant>,
    warned: Vec<&'static str>,
}

/// What was used. Shared by reference; locks inside.
#[derive(Debug, Default)]
pub struct Meter {
    limits: Limits,
    used: Mutex<Used>,
}

impl Meter {
    pub fn new(limits: Limits) -> Self {
        Self { limits, used: Mutex::default() }
    }

    /// A turn of the person begins.
    pub fn turn(&self) {
        let mut used = self.used();
        used.steps = 0;
        used.turn = Some(Instant::now());
        used.warned.retain(|what| !["steps", "time"].contains(what));
    }

    /// `price` is that of the model that answered, where it is known.
    pub fn answered(&self, usage: Usage, price: Option<Price>) {
        let mut used = self.used();
        used.steps += 1;
        used.usage += usage;
        used.cost = used.cost.saturating_add(price.unwrap_or(self.limits.price).exact(usage));
    }

    /// Whether money is limited, and what tokens of this price cost counts for nothing.
    pub fn is_blind(&self, price: Option<Price>) -> bool {
        self.limits.money.is_some() && price.unwrap_or(self.limits.price) == Price::default()
    }

    pub fn usage(&self) -> Usage {
        self.used().usage
    }

    /// When the turn must end.
    pub fn deadline(&self) -> Option<Instant> {
        self.used().turn?.checked_add(self.limits.time?)
    }

    /// What there is no more of.
    pub fn exhausted(&self) -> Option<Stop> {
        let used = self.used();
        self.shares(&used).into_iter().find(|share| share.used >= share.limit).map(|share| share.stop)
    }

    /// A sentence for the model when something becomes scarce; each once.
    pub fn warning(&self) -> Option<String> {
        let mut used = self.used();
        let scarce = |share: &Share| share.used.saturating_mul(100) >= share.limit.saturating_mul(WARN);
        let share = self.shares(&used).into_iter().find(|s| scarce(s) && !used.warned.contains(&s.what))?;
        used.warned.push(share.what);
        Some(format!(
            "[Of the {} allowed for this work, {} in 100 are used. Bring it to a good end: finish what is begun, check it, report.]",
            share.what,
            share.used.saturating_mul(100) / share.limit.max(1)
        ))
    }

    fn shares(&self, used: &Used) -> Vec<Share> {
        let limits = &self.limits;
        let tokens = used.usage.input.saturating_add(used.usage.output);
        let spent = used.turn.map_or(0, |turn| turn.elapsed().as_secs());
        let mut shares = vec![Share {
            what: "steps",
            used: used.steps,
            limit: limits.steps,
            stop: Stop::Steps(limits.steps),
        }];
        if let Some(limit) = limits.tokens {
            shares.push(Share { what: "tokens", used: tokens, limit, stop: Stop::Tokens(limit) });
        }
        if let Some(limit) = limits.money {
            let used = price::rounded(used.cost);
            shares.push(Share { what: "money", used, limit, stop: Stop::Money(limit) });
        }
        if let Some(limit) = limits.time {
            let limit = limit.as_secs().max(1);
            shares.push(Share { what: "time", used: spent, limit, stop: Stop::Time(limit) });
        }
        shares
    }

    // A poisoned lock guards plain counters.
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Share {
    what: &'static str,
    used: u64,
    limit: u64,
    stop: Stop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_from_the_cache_costs_what_it_was_said_to() {
        let price = Price { input: 1_000_000, cached: Some(100_000), output: 0 };
        let meter = Meter::new(Limits { money: Some(1_000), price, ..Limits::default() });
        meter.answered(Usage { input: 1_000, cached: 1_000, output: 0 }, None);
        assert_eq!(meter.usage(), Usage { input: 1_000, cached: 1_000, output: 0 });
        assert_eq!(meter.exhausted(), None, "100 of 1000 are spent");
        meter.answered(Usage { input: 900, cached: 0, output: 0 }, None);
        assert_eq!(meter.exhausted(), Some(Stop::Money(1_000)));
    }

    #[test]
    fn each_answer_costs_what_its_model_costs() {
        let (dear, cheap) =
            (Price { input: 2_000_000, ..Price::default() }, Price { input: 500_000, ..Price::default() });
        let meter = Meter::new(Limits { money: Some(10), price: cheap, ..Limits::default() });
        let one = Usage { input: 1, ..Usage::default() };
        for price in [None, None, Some(dear), Some(dear), Some(dear), Some(cheap), Some(cheap)] {
            assert_eq!(meter.exhausted(), None);
            meter.answered(one, price);
        }
        assert_eq!(meter.exhausted(), None, "eight of ten: {:?}", meter.used());
        meter.answered(one, Some(dear));
        assert_eq!(meter.exhausted(), Some(Stop::Money(10)));
        assert!(meter.is_blind(Some(Price::default())) && !meter.is_blind(None));
    }

    #[test]
    fn each_limit_warns_once_and_then_stops_with_its_reason() {
        let price = Price { input: 1_000_000, cached: None, output: 2_000_000 };
        let money = Limits { money: Some(1_000), price, ..Limits::default() };
        for (limits, usage, reason) in [
            (Limits { steps: 2, ..Limits::default() }, Usage::default(), Stop::Steps(2)),
            (
                Limits { tokens: Some(1_000), ..Limits::default() },
                Usage { input: 400, output: 100, ..Usage::default() },
                Stop::Tokens(1_000),
            ),
            (money, Usage { input: 400, output: 50, ..Usage::default() }, Stop::Money(1_000)),
        ] {
            let meter = Meter::new(limits);
            meter.turn();
            assert_eq!(meter.exhausted(), None);
            meter.answered(usage, None);
            assert_eq!((meter.exhausted(), meter.warning()), (None, None), "{reason:?}");
            meter.answered(usage, None);
            assert!(meter.warning().is_some() && meter.warning().is_none(), "{reason:?}");
            assert_eq!(meter.exhausted(), Some(reason));
        }
    }

    #[test]
    fn a_new_turn_has_its_steps_again_and_not_its_tokens() {
        let meter = Meter::new(Limits { steps: 1, tokens: Some(10), ..Limits::default() });
        meter.turn();
        meter.answered(Usage { input: 4, output: 0, ..Usage::default() }, None);
        assert_eq!(meter.exhausted(), Some(Stop::Steps(1)));
        meter.turn();
        assert_eq!(meter.exhausted(), None);
        meter.answered(Usage { input: 6, output: 0, ..Usage::default() }, None);
        meter.turn();
        assert_eq!(meter.exhausted(), Some(Stop::Tokens(10)));
    }

    #[test]
    fn the_money_of_a_limit_is_said_in_full() {
        for (millionths, said) in [(2_500_000, "its 2.5 of money"), (4_000, "its 0.004 of money")] {
            let sentence = Stop::Money(millionths).to_string();
            assert!(sentence.contains(said), "{sentence}");
        }
    }
}
