//! The sectors of a drive or an image in one phrase, with who says so.

use std::collections::BTreeMap;

use crate::check_document::LayerReport;
use crate::quantity_words::ViewWords;
use stack::{LayerType, UnitFact, UnitKind};
use units::Source;

/// `512e: 512 B logical, 4 KiB granule (sysfs, identify agree)`. What is unknown or assumed is
/// called so.
pub(crate) fn sectors(layer: &LayerReport, words: ViewWords<'_>) -> String {
    let logical = used(layer, UnitKind::LogicalSector);
    let granule = used(layer, UnitKind::Granule);
    if logical.is_none() && granule.is_none() {
        return "sectors unknown".to_owned();
    }
    let mut phrase = String::new();
    if let Some(name) = familiar_name(layer, logical, granule) {
        phrase += name;
        phrase += ": ";
    }
    phrase += &logical.map_or_else(String::new, |fact| words_of(fact, "logical", words) + ", ");
    let Some(granule) = granule else { return phrase + "granule unknown" };
    phrase += &words_of(granule, "granule", words);
    if granule.bytes.is_some() && granule.origin_bytes != 0 {
        phrase += &format!(", the first at {}", words.exact(granule.origin_bytes));
    }
    phrase + &sources(layer, granule, words)
}

/// The bytes of a logical sector under each layer, by its id: its own, else the one below it; 512
/// where none is known.
pub(crate) fn logical(layers: &[LayerReport]) -> BTreeMap<u32, u64> {
    let mut known = BTreeMap::new();
    // Layers point to earlier ones only.
    for layer in layers {
        let own = used(layer, UnitKind::LogicalSector).and_then(|fact| fact.bytes);
        let below = || layer.below.first().and_then(|id| known.get(id).copied());
        let bytes = own.filter(|&bytes| bytes > 0).or_else(below).unwrap_or(512);
        known.insert(layer.id, bytes);
    }
    known
}

/// The one that verdicts use, else the first that is there.
fn used(layer: &LayerReport, unit: UnitKind) -> Option<&UnitFact> {
    let mut facts = layer.units.iter().filter(|fact| fact.unit == unit);
    facts.clone().find(|fact| fact.used).or_else(|| facts.next())
}

/// Returns what the trade calls this pair of sizes. Nothing where one of them is only assumed.
fn familiar_name(
    layer: &LayerReport,
    logical: Option<&UnitFact>,
    granule: Option<&UnitFact>,
) -> Option<&'static str> {
    let is_assumed = |fact: &UnitFact| fact.source == Some(Source::Assumed);
    if layer.kind != LayerType::Drive || is_assumed(logical?) || is_assumed(granule?) {
        return None;
    }
    match (logical?.bytes?, granule?.bytes?) {
        (512, 512) => Some("512n"),
        (512, 4096) => Some("512e"),
        (4096, 4096) => Some("4Kn"),
        _ => None,
    }
}

fn words_of(fact: &UnitFact, name: &str, words: ViewWords<'_>) -> String {
    match fact.bytes {
        Some(bytes) => format!("{} {name}", words.exact(bytes)),
        None if fact.reason.is_empty() => format!("{name} unknown"),
        None => format!("{name} unknown, {}", words.text(&fact.reason)),
    }
}

/// ` (sysfs, identify agree)`, ` (assumed; sysfs says 512 B)`; nothing for an unknown unit.
fn sources(layer: &LayerReport, granule: &UnitFact, words: ViewWords<'_>) -> String {
    if granule.bytes.is_none() {
        return String::new();
    }
    let mut agree = vec![granule.source_word()];
    let mut differ = Vec::new();
    for fact in layer.units.iter().filter(|fact| fact.unit == granule.unit) {
        let source = fact.source_word();
        let Some(bytes) = fact.bytes else { continue };
        let same = (bytes, fact.origin_bytes) == (granule.bytes.unwrap_or(0), granule.origin_bytes);
        if same && !agree.contains(&source) {
            agree.push(source);
        } else if !same {
            differ.push(format!("{source} says {}", claim(fact, bytes, words)));
        }
    }
    let together = if agree.len() > 1 { " agree" } else { "" };
    let mut phrase = format!(" ({}{together}", agree.join(", "));
    for other in differ {
        phrase += "; ";
        phrase += &other;
    }
    phrase + ")"
}

fn claim(fact: &UnitFact, bytes: u64, words: ViewWords<'_>) -> String {
    match fact.origin_bytes {
        0 => words.exact(bytes),
        origin => format!("{}, the first at {}", words.exact(bytes), words.exact(origin)),
    }
}
