//! A drive, described.

use super::kind::DriveKind;
use super::value::{Value, ValueLabel};

/// A drive, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveProfile {
    /// Name that people type: `hdd-7200-512e`.
    pub name: String,
    /// Description in one line.
    pub title: String,
    /// Kind of drive.
    pub kind: DriveKind,
    /// The drive that an array or a controller is made of.
    pub member: Option<Box<DriveProfile>>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// Its values, in the order of the kind's fields.
    pub values: Vec<Value>,
}

impl DriveProfile {
    /// The profile of a drive that turns so many times a minute more; others are as they are.
    #[must_use]
    pub fn faster(&self, rpm: u64) -> DriveProfile {
        let mut faster = self.clone();
        for value in faster.values.iter_mut().filter(|value| value.key == "rpm") {
            value.amount = value.amount.saturating_add(rpm);
        }
        faster
    }

    /// The profile with another value for `key`, which the user decided; `member.KEY` is a value of
    /// the drive that it is made of.
    ///
    /// # Errors
    /// With what was expected, when the kind has no such value, or `text` is none.
    pub fn with(mut self, key: &str, text: &str) -> Result<DriveProfile, String> {
        if let Some(key) = key.strip_prefix("member.") {
            let Some(member) = self.member else {
                return Err(format!("{} has no member", self.kind.with_article()));
            };
            self.member = Some(Box::new(member.with(key, text)?));
            return Ok(self);
        }
        let Some(value) = self.values.iter_mut().find(|value| value.key == key) else {
            let mut keys: Vec<&str> = self.kind.forms().iter().map(|form| form.key).collect();
            if self.kind.has_member() {
                keys.push("member.KEY");
            }
            let kind = self.kind.with_article();
            return Err(format!("{kind} has no `{key}`: expected one of {}", keys.join(", ")));
        };
        let amount = value.quantity.read(text);
        value.amount = amount.ok_or_else(|| {
            format!("expected {}, got `{key} = {text}`", value.quantity.expects())
        })?;
        (value.label, value.source) = (ValueLabel::Known, "the command line".to_owned());
        Ok(self)
    }

    /// The profile with `amount` for the value called `key`, where it has one.
    pub(crate) fn set(mut self, key: &str, amount: u64) -> DriveProfile {
        if let Some(value) = self.values.iter_mut().find(|value| value.key == key) {
            value.amount = amount;
        }
        self
    }

    /// The value called `key`.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.key == key)
    }

    /// The amount of the value called `key`.
    #[must_use]
    pub fn amount(&self, key: &str) -> Option<u64> {
        self.value(key).map(|value| value.amount)
    }
}
