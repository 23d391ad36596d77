//! The values of a layer that are compared: where it lies, its units, and the facts that decide how
//! data lies.

use super::SeenValue;
use crate::check_document::{Fact, LayerReport};
use crate::text::one_line;
use stack::{UnitFact, Verdict};

/// Facts without a size that decide how data lies. Of the others only sizes are compared, so that
/// counters (mounts, LVM's sequence) do not look like changes.
const SHAPES: &[&str] =
    &["level", "layout", "members", "zoned", "rotational", "type", "format-version", "cipher"];

/// The values of `layer`, each with its key; the same keys occur in the same order.
pub(super) fn values(layer: &LayerReport) -> Vec<(String, SeenValue)> {
    let place = [("start-bytes", layer.start_bytes), ("length-bytes", layer.length_bytes)];
    let place = place.into_iter().filter_map(|(key, bytes)| Some((key.to_owned(), number(bytes?))));
    let units = layer.units.iter().filter(|unit| unit.used).flat_map(unit);
    let facts = layer.facts.iter().filter(|fact| is_shape(&fact.key)).map(fact);
    place.chain(units).chain(facts).collect()
}

fn is_shape(key: &str) -> bool {
    key.ends_with("-bytes") || SHAPES.contains(&key)
}

fn number(bytes: u64) -> SeenValue {
    SeenValue { value: Some(bytes.to_string()), source: None, reason: None }
}

fn unit(unit: &UnitFact) -> [(String, SeenValue); 2] {
    let name = unit.unit.word();
    let seen = |bytes: Option<u64>| SeenValue {
        value: bytes.map(|bytes| bytes.to_string()),
        source: Some(unit.source_word().to_owned()),
        reason: Some(one_line(&unit.reason)).filter(|reason| !reason.is_empty()),
    };
    let origin = seen(unit.bytes.map(|_| unit.origin_bytes));
    [(format!("{name}-bytes"), seen(unit.bytes)), (format!("{name}-origin-bytes"), origin)]
}

fn fact(fact: &Fact) -> (String, SeenValue) {
    let line = |text: &String| one_line(text);
    let seen = SeenValue {
        value: fact.value.as_ref().map(line),
        source: fact.source.map(|source| source.word().to_owned()),
        reason: fact.reason.as_ref().map(line),
    };
    (one_line(&fact.key), seen)
}

/// A verdict with its reason.
pub(super) fn verdict(verdict: Verdict, reason: &str) -> SeenValue {
    SeenValue {
        value: Some(word(verdict)),
        source: None,
        reason: Some(one_line(reason)).filter(|reason| !reason.is_empty()),
    }
}

/// A verdict as JSON writes it.
pub(super) fn word(verdict: Verdict) -> String {
    verdict.words().replace(' ', "-")
}
