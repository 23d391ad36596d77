//! What was run and on what, as far as a file tells.

use super::phrase::{say, time};
use crate::bench::Bench;
use crate::document::{Document, Layer, Target};
use crate::fsync::Fsync;
use crate::probe::Probe;

/// What was run and on what. What a file does not tell is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) rows: Vec<(&'static str, Option<String>)>,
}

pub(super) fn of_bench(bench: &Bench) -> Setting {
    let target = &bench.target;
    let known = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(say);
    let command = || Some(bench.command.join(" ")).filter(|words| !words.is_empty());
    let rows = vec![
        ("Host", known(&bench.host)),
        ("Target", Some(say(&target.path))),
        ("Layers, from the top", Some(say(&target.layers.join(", "))).filter(|it| !it.is_empty())),
        ("Drive", known(&target.drive)),
        ("Model", known(&target.model)),
        ("Firmware", known(&target.firmware)),
        ("Rotates", target.rotating.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
        ("Kernel", Some(say(&bench.kernel)).filter(|text| !text.is_empty())),
        ("Started", Some(say(&bench.started))),
        ("Took", Some(time(bench.elapsed_ns))),
        ("Command", command().map(|words| say(&words))),
        ("Seed", Some(bench.seed.to_string())),
        ("straddle", Some(say(&bench.version))),
    ];
    Setting {
        host: known(&bench.host),
        model: known(&target.model),
        firmware: known(&target.firmware),
        rows,
    }
}

pub(super) fn of_check(document: &Document) -> Setting {
    let rows = vec![
        ("Targets", Some(document.summary.targets.to_string())),
        ("Drives", drives(document)),
        ("Took", Some(time(document.summary.elapsed_ns))),
        ("straddle", Some(say(&document.version))),
    ];
    Setting { rows, ..Setting::default() }
}

/// The models of the drives, each once.
fn drives(document: &Document) -> Option<String> {
    const MODELS: usize = 8;
    let mut models: Vec<String> = Vec::new();
    for layer in document.targets.iter().flat_map(|target: &Target| &target.layers) {
        let Some(model) = fact(layer, "model") else { continue };
        let firmware = fact(layer, "firmware").map(|it| format!(", firmware {it}"));
        let text = format!("{model}{}", firmware.unwrap_or_default());
        if !models.contains(&text) && models.len() < MODELS {
            models.push(text);
        }
    }
    (!models.is_empty()).then(|| models.join("; "))
}

fn fact(layer: &Layer, key: &str) -> Option<String> {
    let fact = layer.facts.iter().find(|fact| fact.key == key)?;
    fact.value.as_deref().map(say)
}

pub(super) fn of_fsync(fsync: &Fsync) -> Setting {
    let target = &fsync.target;
    let known = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(say);
    let told = |text: &str| (!text.is_empty()).then(|| say(text));
    let layers: Vec<&str> = target.layers.iter().map(|layer| layer.name.as_str()).collect();
    let rows = vec![
        ("Host", told(&fsync.host)),
        ("Directory", Some(say(&target.path))),
        ("File system", told(&target.filesystem)),
        ("Mount options", told(&target.mount_options.join(","))),
        ("Layers, from the top", told(&layers.join(", "))),
        ("Drive", known(&target.drive)),
        ("Model", known(&target.model)),
        ("Firmware", known(&target.firmware)),
        ("Rotates", target.rotating.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
        ("Kernel", told(&fsync.kernel)),
        ("Started", told(&fsync.started)),
        ("Took", Some(time(fsync.elapsed_ns))),
        ("Command", told(&fsync.command.join(" "))),
        ("Seed", Some(fsync.seed.to_string())),
        ("straddle", told(&fsync.version)),
        ("Not known", known(&target.unknown)),
    ];
    let (model, firmware) = (known(&target.model), known(&target.firmware));
    Setting { host: told(&fsync.host), model, firmware, rows }
}

pub(super) fn of_probe(probe: &Probe) -> Setting {
    let target = &probe.target;
    let told = |text: &str| (!text.is_empty()).then(|| say(text));
    let known = |text: &Option<String>| text.as_deref().and_then(told);
    let (model, firmware) = (known(&target.model), known(&target.firmware));
    let rows = vec![
        ("Target", Some(say(&target.path))),
        ("Layers, from the top", told(&target.layers.join(", "))),
        ("Drive", known(&target.drive)),
        ("Model", model.clone()),
        ("Firmware", firmware.clone()),
        ("Kernel", told(&probe.kernel)),
        ("Started", told(&probe.started)),
        ("Took", Some(time(probe.elapsed_ns))),
        ("Command", told(&probe.command.join(" "))),
        ("Seed", Some(probe.seed.to_string())),
        ("straddle", told(&probe.version)),
    ];
    Setting { model, firmware, rows, ..Setting::default() }
}
