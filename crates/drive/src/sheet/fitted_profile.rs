//! The profile's text.

use std::fmt::Write as _;

use super::data_sheet::DataSheet;
use super::fitted_value::{Fit, FittedValue, Provenance};
use super::{cloud, flash, hard_disk};
use crate::profile::{DriveKind, ValueLabel};

impl DataSheet {
    /// The profile that the sheet gives, as the text of a file: each value with the line that
    /// decided it.
    #[must_use]
    pub fn profile_text(&self) -> String {
        let mut text = String::new();

        let _ = writeln!(text, "# Made by `straddle drive fit`; lines are those of the sheet.");
        let _ = writeln!(text, "name = {}\ntitle = {}", quoted(&self.name), quoted(&self.title));
        let _ = writeln!(text, "base = {}", quoted(&self.base.name));
        if !self.notes.is_empty() {
            let notes: Vec<String> = self.notes.iter().map(|note| quoted(note)).collect();
            let _ = writeln!(text, "notes = [{}]", notes.join(", "));
        }
        text.push_str("\n[values]\n");
        let fitted = self.fitted();
        for form in &self.base.values {
            let key = form.key;
            if let Some(own) = self.values.iter().find(|value| value.key == key) {
                let by = own.label.by();
                let by =
                    if by.is_empty() { String::new() } else { format!(", by = {}", quoted(by)) };
                let (label, source) = (own.label.word(), quoted(&own.source));
                let value = form.quantity.written(own.amount);
                let _ = writeln!(
                    text,
                    "{key} = {{ value = {value}, label = \"{label}\"{by}, source = {source} }}"
                );
                continue;
            }
            let (amount, label, source) = match fitted.iter().find(|value| value.key == key) {
                Some(FittedValue { amount, from, .. }) => {
                    if let Provenance::Said(line) | Provenance::Solved(line) = from {
                        let _ = writeln!(text, "# {}", line.place());
                    }
                    let (label, source) = match from {
                        Provenance::Said(line) => {
                            let label = if line.is_confirmed { "known" } else { "unconfirmed" };
                            (quoted(label), line.source.clone())
                        }
                        Provenance::Solved(line) => (
                            format!("\"calibrated\", by = {}", quoted(&line.written())),
                            line.source.clone(),
                        ),
                        Provenance::Assumed(reason) => ("\"assumed\"".to_owned(), reason.clone()),
                    };
                    (*amount, label, source)
                }
                None if form.label == ValueLabel::Assumed => continue,
                None => {
                    let source = format!("as {}", self.base.name);
                    (form.amount, "\"assumed\"".to_owned(), source)
                }
            };
            let (value, source) = (form.quantity.written(amount), quoted(&source));
            let _ =
                writeln!(text, "{key} = {{ value = {value}, label = {label}, source = {source} }}");
        }
        text
    }

    /// The values that the lines decide.
    fn fitted(&self) -> Vec<FittedValue> {
        let mut fit = Fit::of(self);
        match self.kind() {
            DriveKind::HardDisk => hard_disk::fit(&mut fit),
            DriveKind::Flash => flash::fit(&mut fit),
            _ => cloud::fit(&mut fit),
        }
        fit.values
    }
}

/// `text` as TOML has it: a sheet's texts are lines without control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
