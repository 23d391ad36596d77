//! Kinds of values in a profile: a size, a time, a rate, a count, or one of some words.

use std::fmt;

use units::prefix::{self, Size};
use workload::Duration;
use workload::profile_text::TIME_FORM;

/// Form in which a value is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes: `4 KiB`.
    Bytes,
    /// A time: `1200 us`.
    Time,
    /// Bytes a second: `550 MB`.
    Rate,
    /// A number: `7200`.
    Count,
    /// A number of which 0 is called `none`.
    CountOrNone,
    /// One of these words; its number is its place.
    Word(&'static [&'static str]),
}

/// The word for 0.
const NONE: &str = "none";

/// The words of a yes or no.
pub(crate) const YES_NO: Quantity = Quantity::Word(&["no", "yes"]);

impl Quantity {
    /// The number that `text` means: bytes, nanoseconds, bytes a second, a count, or a word's
    /// place.
    /// `None` where it means none.
    #[must_use]
    pub fn read(self, text: &str) -> Option<u64> {
        match self {
            Quantity::Bytes | Quantity::Rate => prefix::parse(text).ok(),
            Quantity::Time => Duration::parse(text).map(|time| time.0),
            Quantity::CountOrNone if text == NONE => Some(0),
            Quantity::Count | Quantity::CountOrNone => text.parse().ok(),
            Quantity::Word(words) => {
                let place = words.iter().position(|word| *word == text)?;
                u64::try_from(place).ok()
            }
        }
    }

    /// Returns what a text of this kind looks like.
    #[must_use]
    pub fn expects(self) -> String {
        match self {
            Quantity::Bytes => "a size such as 4 KiB".to_owned(),
            Quantity::Rate => "bytes a second such as 550 MB".to_owned(),
            Quantity::Time => TIME_FORM.to_owned(),
            Quantity::Count => "a whole number".to_owned(),
            Quantity::CountOrNone => format!("a whole number or {NONE}"),
            Quantity::Word(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// `amount` as a profile has it, exactly.
    #[must_use]
    pub fn written(self, amount: u64) -> String {
        let of = |unit: u64, word: &str| {
            let is_whole = amount > 0 && amount.is_multiple_of(unit);
            is_whole.then(|| format!("\"{} {word}\"", amount / unit))
        };
        let whole = match self {
            Quantity::Bytes if amount < 1 << 20 => of(1 << 10, "KiB"),
            Quantity::Bytes => of(1 << 20, "MiB").or_else(|| of(1_000_000, "MB")),
            Quantity::Rate => of(1_000_000, "MB"),
            Quantity::Time => return of(1000, "us").unwrap_or(format!("\"{amount} ns\"")),
            Quantity::Count | Quantity::CountOrNone => None,
            Quantity::Word(_) => return format!("\"{}\"", self.shown(amount)),
        };
        whole.unwrap_or_else(|| amount.to_string())
    }

    /// `amount` as people read it.
    #[must_use]
    pub fn shown(self, amount: u64) -> impl fmt::Display {
        match self {
            Quantity::Bytes => Size(amount).to_string(),
            Quantity::Rate => format!("{}/s", Size(amount)),
            Quantity::Time => Duration(amount).to_string(),
            Quantity::CountOrNone if amount == 0 => NONE.to_owned(),
            Quantity::Count | Quantity::CountOrNone => amount.to_string(),
            Quantity::Word(words) => {
                let place = usize::try_from(amount).unwrap_or(usize::MAX);
                words.get(place).copied().unwrap_or("unknown").to_owned()
            }
        }
    }
}
