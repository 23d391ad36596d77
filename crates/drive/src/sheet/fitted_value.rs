//! A value of the profile, and the lines that it came from.

use super::data_sheet::{DataSheet, SheetLine};

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// The line says it.
    Said(SheetLine),
    /// Set so that the model does what the line says.
    Solved(SheetLine),
    /// Not published; the reason for this value.
    Assumed(String),
}

/// A value of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FittedValue {
    /// Name in profiles.
    pub(super) key: &'static str,
    /// The value.
    pub(super) amount: u64,
    pub(super) from: Provenance,
}

/// Values that a sheet decides, in the order in which they are decided.
#[derive(Debug)]
pub(super) struct Fit<'a> {
    pub(super) sheet: &'a DataSheet,
    pub(super) values: Vec<FittedValue>,
}

impl<'a> Fit<'a> {
    /// Nothing decided yet.
    pub(super) fn of(sheet: &'a DataSheet) -> Fit<'a> {
        Fit { sheet, values: Vec::new() }
    }

    /// Takes the value called `key` as the line of the same name, or of `line`, says it.
    pub(super) fn said(&mut self, key: &'static str, line: &str) {
        if let Some(line) = self.sheet.line(line) {
            self.meant(key, line.amount, line);
        }
    }

    /// Sets the value called `key` to what `line` means for it.
    pub(super) fn meant(&mut self, key: &'static str, amount: u64, line: &SheetLine) {
        let from = Provenance::Said(line.clone());
        self.values.push(FittedValue { key, amount, from });
    }

    /// Sets the value called `key` to what makes the model do what `line` says.
    pub(super) fn solved(&mut self, key: &'static str, amount: u64, line: &SheetLine) {
        let from = Provenance::Solved(line.clone());
        self.values.push(FittedValue { key, amount, from });
    }

    /// Sets the value called `key` to what is usual, for `reason`.
    pub(super) fn assumed(&mut self, key: &'static str, amount: u64, reason: &str) {
        let from = Provenance::Assumed(reason.to_owned());
        self.values.push(FittedValue { key, amount, from });
    }

    /// The value called `key`: as decided, or else that of the base.
    pub(super) fn amount(&self, key: &str) -> u64 {
        let own = self.values.iter().find(|value| value.key == key).map(|value| value.amount);
        own.or_else(|| self.sheet.base.amount(key)).unwrap_or(0)
    }
}
