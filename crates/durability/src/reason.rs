//! A reason for or against a durable sync, and the grade that it allows.

use serde::{Deserialize, Serialize};

use crate::grade::Grade;

/// The test that would prove more than any evidence here.
pub const POWER_CUT: &str = "cut the power under load, and check what was lost";

/// Direction of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It speaks against a durable sync.
    Against,
    /// It leaves the question open.
    #[default]
    Open,
    /// It speaks for it.
    For,
}

units::words!(Direction);

impl Direction {
    /// Returns the label of the evidence for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Direction::Against => "against",
            Direction::Open => "unclear",
            Direction::For => "in favor",
        }
    }
}

/// One thing that was seen, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// A stable name: `barrier-off`.
    pub code: &'static str,
    /// Its direction.
    pub direction: Direction,
    /// The best grade that it allows.
    pub at_best: Grade,
    /// The observation, as a sentence without its full stop.
    pub sentence: String,
    /// The source of the observation.
    pub source: String,
    /// Evidence that would change it; `None` where nothing needs to: each that allows no more than
    /// unproven has some.
    pub change: Option<String>,
}

impl Reason {
    pub(crate) fn new(code: &'static str, direction: Direction, at_best: Grade) -> Reason {
        let (sentence, source) = (String::new(), String::new());
        Reason { code, direction, at_best, sentence, source, change: None }
    }

    pub(crate) fn against(code: &'static str, at_best: Grade) -> Reason {
        Reason::new(code, Direction::Against, at_best)
    }

    pub(crate) fn open(code: &'static str, at_best: Grade) -> Reason {
        Reason::new(code, Direction::Open, at_best)
    }

    pub(crate) fn speaks_for(code: &'static str) -> Reason {
        Reason::new(code, Direction::For, Grade::Consistent)
    }

    pub(crate) fn seen(self, sentence: impl Into<String>, source: impl Into<String>) -> Reason {
        Reason { sentence: sentence.into(), source: source.into(), ..self }
    }

    pub(crate) fn changes(self, change: impl Into<String>) -> Reason {
        Reason { change: Some(change.into()), ..self }
    }
}

/// A time as people read it: `47 µs`.
pub(crate) fn time_of(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{}.{} µs", ns.div_euclid(1000), ns.rem_euclid(1000).div_euclid(100)),
        10_000..10_000_000 => format!("{} µs", ns.div_euclid(1000)),
        _ => format!("{} ms", ns.div_euclid(1_000_000)),
    }
}
