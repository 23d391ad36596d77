//! Grounds of a layer's verdict: its units and facts with their sources.

use super::TreeText;
use super::findings::LABEL;
use crate::check_document::{Fact, LayerReport};
use crate::colored_line::{GAP, PLAIN, QUIET};
use crate::quantity_words::ViewWords;
use crate::text::{width, wrap};
use stack::UnitFact;
use units::Source;

impl TreeText<'_> {
    /// Units and facts of one layer.
    pub(super) fn explanation(&mut self, layer: &LayerReport, margin: &str) {
        let words = self.words;
        let units = layer.units.iter().map(|fact| unit_row(fact, agrees(fact, layer), words));
        let units = units.collect();
        self.table(margin, "units", units);
        let facts = layer.facts.iter().map(|fact| fact_row(fact, words)).collect();
        self.table(margin, "facts", facts);
    }

    /// Rows in aligned columns behind `label`; what is too long flows on below.
    fn table(&mut self, margin: &str, label: &str, rows: Vec<[String; 4]>) {
        let mut columns = [0; 4];
        for row in &rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                // A long value is an exception that should not push all others aside.
                *column = (*column).max(width(cell).min(24));
            }
        }
        let limit = self.words.look.columns();
        for (number, row) in rows.into_iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            let mut line = self.labeled_line(margin, QUIET, label);
            let mut column = width(margin) + LABEL;
            let indent = column + GAP;
            for (cell, cell_width) in row.iter().zip(columns) {
                line.advance(column, 0);
                if line.width() + width(cell) > limit && line.width() > indent {
                    line.end(&mut self.text);
                    line = self.labeled_line(margin, PLAIN, "");
                    line.advance(indent, 0);
                }
                let room = limit.saturating_sub(line.width());
                for (part_number, part) in wrap(cell, room).iter().enumerate() {
                    if part_number > 0 {
                        line.end(&mut self.text);
                        line = self.labeled_line(margin, PLAIN, "");
                        line.advance(indent, 0);
                    }
                    line.push(PLAIN, part);
                }
                line.advance(0, if cell.is_empty() { 0 } else { GAP });
                column += if cell_width == 0 { 0 } else { cell_width + GAP };
            }
            line.end(&mut self.text);
        }
    }
}

/// Returns whether another source says the same and is the one used.
fn agrees(fact: &UnitFact, layer: &LayerReport) -> bool {
    let place = |fact: &UnitFact| (fact.bytes, fact.origin_bytes);
    fact.bytes.is_some()
        && layer
            .units
            .iter()
            .any(|other| other.used && other.unit == fact.unit && place(other) == place(fact))
}

/// Unit, length, why it is not used where it is not, and its source with more about it.
fn unit_row(fact: &UnitFact, agrees: bool, words: ViewWords<'_>) -> [String; 4] {
    let mut length = fact.bytes.map_or_else(|| "unknown".to_owned(), |bytes| words.exact(bytes));
    if fact.origin_bytes != 0 {
        length += &format!(", the first at {}", words.exact(fact.origin_bytes));
    }
    let reason = words.text(&fact.reason);
    let standing = match (fact.used, reason.is_empty()) {
        (true, _) => "",
        (false, true) if agrees => "agrees",
        (false, _) => "not used",
    };
    let colon = if reason.is_empty() { "" } else { ": " };
    let source = format!("{}{colon}{reason}", fact.source_word());
    [fact.unit.words().to_owned(), length, standing.to_owned(), source]
}

/// Key, value and source, or why it is unknown.
fn fact_row(fact: &Fact, words: ViewWords<'_>) -> [String; 4] {
    let source = fact.source.map_or("", Source::word).to_owned();
    let reason = fact.reason.as_ref().map_or_else(String::new, |reason| words.text(reason));
    let value = match &fact.value {
        Some(value) => words.text(value),
        None => "unknown".to_owned(),
    };
    [words.text(&fact.key), value, source, reason]
}
