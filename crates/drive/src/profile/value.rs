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
    pub label: Label,
    /// Source: an address, a data sheet, or a derivation.
    pub source: String,
}

/// Origin of a value; the model's statements with it have the same label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// Known before anything was compared.
    Predicted,
    /// Set so that one published number comes out; this one.
    Calibrated(String),
    /// Chosen so that several published numbers come out; these.
    Fitted(String),
}

impl Label {
    /// The word: `predicted`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Label::Predicted => "predicted",
            Label::Calibrated(_) => "calibrated",
            Label::Fitted(_) => "fitted",
        }
    }

    /// The published numbers that decided; empty for a prediction.
    #[must_use]
    pub fn by(&self) -> &str {
        match self {
            Label::Predicted => "",
            Label::Calibrated(by) | Label::Fitted(by) => by,
        }
    }
}
