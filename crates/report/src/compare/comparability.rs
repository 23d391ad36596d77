//! Of which machine and drive the two results are, and what else differs between them.

use units::Source;

use super::{ComparedRun, Measurement, SettingChange};
use crate::envelope::Envelope;
use crate::probe::Probe;
pub(super) use crate::text::say;

/// The run that a result is of.
pub(super) fn run(result: Measurement<'_>) -> ComparedRun {
    let blank = |of: &Envelope| ComparedRun {
        host: of.run.host.as_deref().map(say),
        started: say(&of.run.started),
        version: say(&of.version),
        refusal: of.refusal.as_ref().map(|refusal| say(&refusal.message)),
        ..ComparedRun::default()
    };
    let some = |text: &Option<String>| text.as_deref().map(say);
    match result {
        Measurement::Bench(it) => ComparedRun {
            path: say(&it.target.path),
            drive: some(&it.target.drive),
            model: some(&it.target.model),
            firmware: some(&it.target.firmware),
            ..blank(&it.envelope)
        },
        Measurement::Fsync(it) => ComparedRun {
            path: say(&it.target.path),
            drive: some(&it.target.drive),
            model: some(&it.target.model),
            firmware: some(&it.target.firmware),
            identity: some(&it.target.identity),
            ..blank(&it.envelope)
        },
        Measurement::Probe(it) => ComparedRun {
            path: say(&it.target.path),
            drive: some(&it.target.drive),
            model: some(&it.target.model),
            firmware: some(&it.target.firmware),
            refusal: refusal(it),
            ..blank(&it.envelope)
        },
    }
}

fn refusal(probe: &Probe) -> Option<String> {
    let dry = probe.dry_run.then(|| "a dry run".to_owned());
    probe.envelope.refusal.as_ref().map(|refusal| say(&refusal.message)).or(dry)
}

/// Property looked at in a run for a warning, by its name.
type Look = (&'static str, fn(&ComparedRun) -> Option<&String>);
const LOOKS: [Look; 4] = [
    ("host", |run| run.host.as_ref()),
    ("drive model", |run| run.model.as_ref()),
    ("drive firmware", |run| run.firmware.as_ref()),
    ("drive", |run| run.identity.as_ref().or(run.drive.as_ref())),
];

/// Why what differs may be another machine or drive, and not a change of this one.
pub(super) fn warnings(before: &ComparedRun, after: &ComparedRun) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, look) in LOOKS {
        match (look(before), look(after)) {
            (Some(old), Some(new)) if old != new => {
                warnings.push(format!("the {name} differs: {old} before, {new} after"));
            }
            (None, Some(_)) => warnings.push(unknown(name, "earlier")),
            (Some(_), None) => warnings.push(unknown(name, "later")),
            (None, None) if matches!(name, "host" | "drive") => {
                warnings.push(format!("neither result names its {name}"));
            }
            _ => {}
        }
    }
    warnings
}

fn unknown(name: &str, when: &str) -> String {
    format!("the {name} of the {when} result is not known")
}

/// Returns what differs between the settings, in the order of the results' documents.
pub(super) fn setting(before: Measurement<'_>, after: Measurement<'_>) -> Vec<SettingChange> {
    let (old, new) = (values(before), values(after));
    let changed = old.into_iter().zip(new).filter(|(old, new)| old.1 != new.1);
    let shown = |value: Option<String>| value.as_deref().map(say);
    changed
        .map(|((key, old), (_, new))| SettingChange {
            key: key.to_owned(),
            before: shown(old),
            after: shown(new),
        })
        .collect()
}

/// The settings of a result, those that matter most first: their keys, and their values.
fn values(result: Measurement<'_>) -> Vec<(&'static str, Option<String>)> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let source = |source: Option<Source>| source.map(|source| source.word().to_owned());
    let (Envelope { version, run, .. }, seed, mut values) = match result {
        Measurement::Bench(it) => {
            let scratch = it.scratch.as_ref();
            let target = &it.target;
            let values = vec![
                ("target", Some(target.path.clone())),
                ("layers", Some(target.layers.join(", "))),
                ("logical-sector-bytes", number(target.logical_sector_bytes)),
                ("granule-bytes", number(target.granule_bytes)),
                ("granule-origin-bytes", number(target.granule_origin_bytes)),
                ("granule-source", source(target.granule_source)),
                ("scratch-place", scratch.map(|scratch| scratch.place.clone())),
                ("scratch-bytes", number(scratch.map(|scratch| scratch.length_bytes))),
                ("scratch-pieces", number(scratch.map(|scratch| scratch.pieces))),
                (
                    "scratch-address-bytes",
                    number(scratch.and_then(|scratch| scratch.drive_address_bytes)),
                ),
            ];
            (&it.envelope, it.seed, values)
        }
        Measurement::Fsync(it) => {
            let target = &it.target;
            let layers: Vec<&str> = target.layers.iter().map(|one| one.name.as_str()).collect();
            let values = vec![
                ("target", Some(target.path.clone())),
                ("file-system", Some(target.filesystem.clone())),
                ("mount-options", Some(target.mount_options.join(","))),
                ("layers", Some(layers.join(", "))),
                ("capacity-bytes", number(target.capacity_bytes)),
            ];
            (&it.envelope, it.seed, values)
        }
        Measurement::Probe(it) => {
            let values = vec![
                ("target", Some(it.target.path.clone())),
                ("layers", Some(it.target.layers.join(", "))),
                ("logical-sector-bytes", number(it.reported.logical_sector_bytes)),
                ("physical-sector-bytes", number(it.reported.physical_sector_bytes)),
                ("granule-bytes", number(it.reported.granule_bytes)),
                ("granule-source", source(it.reported.granule_source)),
            ];
            (&it.envelope, it.seed, values)
        }
    };
    values.push(("kernel", run.kernel.clone()));
    values.push(("version", Some(version.clone())));
    values.push(("command", Some(run.command.join(" "))));
    values.push(("seed", Some(seed.to_string())));
    values
}
