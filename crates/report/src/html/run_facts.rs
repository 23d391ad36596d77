//! Run and its subject, as far as a file tells.

use super::elements::{say, time};
use crate::bench::Bench;
use crate::check_document::{Document, LayerReport, Target};
use crate::envelope::Envelope;
use crate::fsync::Fsync;
use crate::probe::Probe;

/// A name, and what it stands for where the file tells.
type Fact = (&'static str, Option<String>);

/// Run and its subject. What a file does not tell is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct RunFacts {
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) rows: Vec<Fact>,
}

/// Facts that every measuring command tells of the drive.
struct DriveRows<'a> {
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

impl RunFacts {
    fn of(
        place: Vec<Fact>,
        drive: &DriveRows<'_>,
        (envelope, elapsed_ns, seed): (&Envelope, u64, u64),
    ) -> RunFacts {
        let (model, firmware) = (known(drive.model), known(drive.firmware));
        let host = known(&envelope.run.host);
        let mut rows = vec![("Host", host.clone())];
        rows.extend(place);
        rows.extend([
            ("Layers, from the top", told(&drive.layers)),
            ("Drive", known(drive.name)),
            ("Model", model.clone()),
            ("Firmware", firmware.clone()),
            ("Rotates", drive.rotates.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            ("Took", Some(time(elapsed_ns))),
            ("Seed", Some(seed.to_string())),
        ]);
        rows.extend(of_run(envelope));
        let (kernel, machine) = (known(&envelope.run.kernel), known(&envelope.run.machine));
        RunFacts { host, model, firmware, kernel, machine, rows }
    }
}

/// Run, and the version of straddle.
pub(super) fn of_run(Envelope { version, run, .. }: &Envelope) -> [Fact; 5] {
    [
        ("Machine", known(&run.machine)),
        ("Kernel", known(&run.kernel)),
        ("Started", told(&run.started)),
        ("Command", told(&run.command.join(" "))),
        ("straddle", told(version)),
    ]
}

pub(super) fn of_bench(bench: &Bench) -> RunFacts {
    let target = &bench.target;
    let drive = DriveRows {
        layers: target.layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: target.rotating,
    };
    let measured = (&bench.envelope, bench.elapsed_ns, bench.seed);
    RunFacts::of(vec![("Target", Some(say(&target.path)))], &drive, measured)
}

pub(super) fn of_fsync(fsync: &Fsync) -> RunFacts {
    let target = &fsync.target;
    let layers: Vec<&str> = target.layers.iter().map(|layer| layer.name.as_str()).collect();
    let drive = DriveRows {
        layers: layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: target.rotating,
    };
    let measured = (&fsync.envelope, fsync.elapsed_ns, fsync.seed);
    let place = vec![
        ("Directory", Some(say(&target.path))),
        ("File system", told(&target.filesystem)),
        ("Mount options", told(&target.mount_options.join(", "))),
        ("Not known", known(&target.unknown)),
    ];
    RunFacts::of(place, &drive, measured)
}

pub(super) fn of_probe(probe: &Probe) -> RunFacts {
    let target = &probe.target;
    let drive = DriveRows {
        layers: target.layers.join(", "),
        name: &target.drive,
        model: &target.model,
        firmware: &target.firmware,
        rotates: None,
    };
    let measured = (&probe.envelope, probe.elapsed_ns, probe.seed);
    RunFacts::of(vec![("Target", Some(say(&target.path)))], &drive, measured)
}

/// Returns what a check tells: of all its targets together.
pub(super) fn of_check(document: &Document) -> RunFacts {
    let mut rows = vec![
        ("Host", known(&document.envelope.run.host)),
        ("Targets", Some(document.summary.targets.to_string())),
        ("Drives", drives(document)),
        ("Took", Some(time(document.summary.elapsed_ns))),
    ];
    rows.extend(of_run(&document.envelope));
    RunFacts { rows, ..RunFacts::default() }
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

fn fact(layer: &LayerReport, key: &str) -> Option<String> {
    let fact = layer.facts.iter().find(|fact| fact.key == key)?;
    fact.value.as_deref().map(say)
}
