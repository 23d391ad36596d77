//! What was run and on what, as far as a file tells.

use super::phrase::{say, time};
use crate::bench::Bench;
use crate::document::{Document, Layer, Target};
use crate::fsync::Fsync;
use crate::probe::Probe;

/// A name, and what it stands for where the file tells.
type Fact = (&'static str, Option<String>);

/// What was run and on what. What a file does not tell is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) rows: Vec<Fact>,
}

/// What every measuring command tells of its run.
struct Run<'a> {
    kernel: &'a str,
    started: &'a str,
    elapsed_ns: u64,
    command: &'a [String],
    seed: u64,
    version: &'a str,
}

/// What every measuring command tells of the drive.
struct Drive<'a> {
    layers: String,
    name: &'a Option<String>,
    model: &'a Option<String>,
    firmware: &'a Option<String>,
    rotates: Option<bool>,
}

fn told(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| say(text))
}

fn known(text: &Option<String>) -> Option<String> {
    text.as_deref().and_then(told)
}

impl Setting {
    fn of(host: Option<String>, place: Vec<Fact>, drive: &Drive<'_>, run: &Run<'_>) -> Setting {
        let (model, firmware) = (known(drive.model), known(drive.firmware));
        let mut rows = vec![("Host", host.clone())];
        rows.extend(place);
        rows.extend([
            ("Layers, from the top", told(&drive.layers)),
            ("Drive", known(drive.name)),
            ("Model", model.clone()),
            ("Firmware", firmware.clone()),
            ("Rotates", drive.rotates.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            ("Kernel", told(run.kernel)),
            ("Started", told(run.started)),
            ("Took", Some(time(run.elapsed_ns))),
            ("Command", told(&run.command.join(" "))),
            ("Seed", Some(run.seed.to_string())),
            ("straddle", told(run.version)),
        ]);
        Setting { host, model, firmware, rows }
    }
}

pub(super) fn of_bench(bench: &Bench) -> Setting {
    let target = &bench.target;
    let drive = Drive {
        layers: target.layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: target.rotating,
    };
    let run = Run {
        kernel: &bench.kernel,
        started: &bench.started,
        elapsed_ns: bench.elapsed_ns,
        command: &bench.command,
        seed: bench.seed,
        version: &bench.version,
    };
    let place = vec![("Target", Some(say(&target.path)))];
    Setting::of(known(&bench.host), place, &drive, &run)
}

pub(super) fn of_fsync(fsync: &Fsync) -> Setting {
    let target = &fsync.target;
    let layers: Vec<&str> = target.layers.iter().map(|layer| layer.name.as_str()).collect();
    let drive = Drive {
        layers: layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: target.rotating,
    };
    let run = Run {
        kernel: &fsync.kernel,
        started: &fsync.started,
        elapsed_ns: fsync.elapsed_ns,
        command: &fsync.command,
        seed: fsync.seed,
        version: &fsync.version,
    };
    let place = vec![
        ("Directory", Some(say(&target.path))),
        ("File system", told(&target.filesystem)),
        ("Mount options", told(&target.mount_options.join(", "))),
        ("Not known", known(&target.unknown)),
    ];
    Setting::of(told(&fsync.host), place, &drive, &run)
}

pub(super) fn of_probe(probe: &Probe) -> Setting {
    let target = &probe.target;
    let drive = Drive {
        layers: target.layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: None,
    };
    let run = Run {
        kernel: &probe.kernel,
        started: &probe.started,
        elapsed_ns: probe.elapsed_ns,
        command: &probe.command,
        seed: probe.seed,
        version: &probe.version,
    };
    Setting::of(None, vec![("Target", Some(say(&target.path)))], &drive, &run)
}

/// What a check tells: of all its targets together.
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
