//! One value of a drive, and why it is what it is.

use super::quantity::Quantity;

/// One value, and why it is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Name in profiles: `rpm`.
    pub key: &'static str,
    /// Form in which it is written.
    pub quantity: Quantity,
    /// The value: bytes, nanoseconds, bytes a second, a count, or a word's place.
    pub amount: u64,
    /// Origin.
    pub label: ValueLabel,
    /// Source: an address, a data sheet, or a derivation.
    pub source: String,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueLabel {
    /// Its source says it.
    Known,
    /// Written from memory, or as others quote the source; nobody has looked there.
    Unconfirmed,
    /// Not known: a usual value, or a guess, before anything was compared.
    Assumed,
    /// Set so that one published number comes out; this one.
    Calibrated(String),
    /// Chosen so that several published numbers come out; these.
    Fitted(String),
}

impl ValueLabel {
    /// The word: `known`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            ValueLabel::Known => "known",
            ValueLabel::Unconfirmed => "unconfirmed",
            ValueLabel::Assumed => "assumed",
            ValueLabel::Calibrated(_) => "calibrated",
            ValueLabel::Fitted(_) => "fitted",
        }
    }

    /// The published numbers that decided; empty where none did.
    #[must_use]
    pub fn by(&self) -> &str {
        match self {
            ValueLabel::Calibrated(by) | ValueLabel::Fitted(by) => by,
            _ => "",
        }
    }
}
