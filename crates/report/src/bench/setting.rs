//! What differs between the settings of two runs.

use super::Bench;
use super::comparing::Setting;
use crate::text::one_line;

/// What is looked at: its key, and its value in a result.
type Look = (&'static str, fn(&Bench) -> Option<String>);

/// Everything that is looked at, what matters most first.
const LOOKS: [Look; 19] = [
    ("target", |bench| Some(bench.target.path.clone())),
    ("layers", |bench| Some(bench.target.layers.join(", "))),
    ("drive", |bench| bench.target.drive.clone()),
    ("model", |bench| bench.target.model.clone()),
    ("firmware", |bench| bench.target.firmware.clone()),
    ("rotating", |bench| bench.target.rotating.map(|yes| yes.to_string())),
    ("logical-sector-bytes", |bench| text(bench.target.logical_sector_bytes)),
    ("granule-bytes", |bench| text(bench.target.granule_bytes)),
    ("granule-origin-bytes", |bench| text(bench.target.granule_origin_bytes)),
    ("granule-source", |bench| bench.target.granule_source.clone()),
    ("host", |bench| bench.run.host.clone()),
    ("kernel", |bench| bench.run.kernel.clone()),
    ("version", |bench| Some(bench.version.clone())),
    ("command", |bench| Some(bench.run.command.join(" "))),
    ("seed", |bench| Some(bench.seed.to_string())),
    ("scratch-place", |bench| bench.scratch.as_ref().map(|scratch| scratch.place.clone())),
    ("scratch-bytes", |bench| text(bench.scratch.as_ref().map(|scratch| scratch.length_bytes))),
    ("scratch-pieces", |bench| text(bench.scratch.as_ref().map(|scratch| scratch.pieces))),
    ("scratch-address-bytes", |bench| {
        text(bench.scratch.as_ref().and_then(|scratch| scratch.drive_address_bytes))
    }),
];

fn text(number: Option<u64>) -> Option<String> {
    number.map(|number| number.to_string())
}

/// What differs, harmless to print.
pub(super) fn differences(before: &Bench, after: &Bench) -> Vec<Setting> {
    let seen = |value: Option<String>| value.map(|value| one_line(&value));
    let mut settings = Vec::new();
    for (key, look) in LOOKS {
        let (old, new) = (look(before), look(after));
        if old != new {
            settings.push(Setting { key: key.to_owned(), before: seen(old), after: seen(new) });
        }
    }
    settings
}
