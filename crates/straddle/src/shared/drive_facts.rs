//! Knowledge of a drive, as facts of the document.

use format::identify::nvme_namespace_hints::NamespaceHints;
use format::identify::{nvme, scsi};
use report::Fact;
use stack::drive::wear::{CoarseBytes, WearBounds, WearReading};
use stack::drive::{KernelDrive, NamespacePath};
use units::{Known, Source};

/// Everything that the kernel and the drive say, each with its source; what was not said by a drive
/// that was never asked is left out.
pub(crate) fn facts(drive: &KernelDrive) -> Vec<Fact> {
    let mut facts = sectors(drive);
    facts.extend(identity(drive));
    facts.extend(queue(drive));
    facts.extend(said(drive));
    facts.extend(drive.paths.iter().flat_map(path));
    facts
}

fn sectors(drive: &KernelDrive) -> Vec<Fact> {
    let mut facts = vec![
        number("logical-sector-bytes", &drive.logical_bytes),
        number("physical-sector-bytes", &drive.physical_bytes),
        number("minimum-io-bytes", &drive.minimum_io_bytes),
        number("optimal-io-bytes", &drive.optimal_io_bytes),
        fact("alignment-offset-bytes", &drive.alignment_offset_bytes, i64::to_string),
        number("discard-granularity-bytes", &drive.discard_bytes),
        flag("rotational", &drive.rotational),
        flag("read-only", &drive.read_only),
        fact("zoned", &drive.zoned, String::clone),
    ];
    if let Some(file) = &drive.backing_file {
        let known = Known::yes(file.to_string(), Source::Sysfs);
        facts.push(fact("backing-file", &known, String::clone));
    }
    // Bridges tell the kernel that all disks turn.
    if drive.kernel_rotational.value() != drive.rotational.value() {
        facts.push(flag("kernel-rotational", &drive.kernel_rotational));
    }
    facts
}

fn identity(drive: &KernelDrive) -> Vec<Fact> {
    let model = drive.identity.full_model.as_ref();
    let model = model.map(|model| Known::yes(model.to_string(), Source::Identify));
    let model = model.unwrap_or_else(|| Known::no("the drive was not asked"));
    let words = [
        ("model", &model),
        ("serial", &drive.identity.serial),
        ("firmware", &drive.identity.firmware),
        ("wwid", &drive.identity.wwid),
    ];
    said_only(words.map(|(key, known)| fact(key, known, String::clone)))
}

fn queue(drive: &KernelDrive) -> Vec<Fact> {
    let queue = &drive.queue;
    let mut facts = vec![
        number("discard-alignment-bytes", &drive.discard_alignment_bytes),
        number("discard-max-bytes", &queue.discard_max_bytes),
        fact("write-cache", &queue.write_cache, String::clone),
        flag("forced-unit-access", &queue.forced_unit_access),
        flag("stable-writes", &queue.stable_writes),
        number("read-ahead-bytes", &queue.read_ahead_bytes),
        number("chunk-bytes", &drive.zone_bytes),
        number("atomic-write-unit-min-bytes", &queue.atomic.unit_min_bytes),
        number("atomic-write-unit-max-bytes", &drive.atomic_bytes),
        number("atomic-write-max-bytes", &queue.atomic.max_bytes),
        number("atomic-write-boundary-bytes", &queue.atomic.boundary_bytes),
    ];
    if let Some(card) = &drive.card {
        facts.push(fact("card", &Known::yes(card.kind.clone(), Source::Sysfs), String::clone));
        facts.push(fact("card-name", &card.name, String::clone));
        facts.push(number("erase-bytes", &card.erase_bytes));
        facts.push(number("preferred-erase-bytes", &card.preferred_erase_bytes));
    }
    said_only(facts)
}

/// Returns what the drive says in its own language.
fn said(drive: &KernelDrive) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(namespace) = drive.said.namespace.value() {
        facts.extend(namespace_facts(namespace));
    }
    if let Some(hints) = drive.said.hints.value() {
        facts.extend(hint_facts(hints));
    }
    if let Some(controller) = drive.said.controller.value() {
        facts.push(own("volatile-write-cache", Some(controller.volatile_cache)));
    }
    let atomic = drive.said.atomic_power_fail_bytes();
    facts.push(own("atomic-write-power-fail-bytes", atomic));
    if let Some(said) = drive.said.capacity.value() {
        facts.push(own("scsi-logical-sector-bytes", said.logical_bytes));
        facts.push(own("scsi-physical-sector-bytes", said.physical_bytes));
        facts.push(own("scsi-lowest-aligned-bytes", Some(said.lowest_aligned_bytes)));
    }
    if let Some(said) = drive.said.limits.value() {
        facts.extend(limits(said));
    }
    if let Some(said) = drive.said.ata.value() {
        facts.push(own("ata-logical-sector-bytes", said.logical_bytes));
        facts.push(own("ata-physical-sector-bytes", said.physical_bytes));
        facts.push(own("ata-lowest-aligned-bytes", said.lowest_aligned_bytes));
        facts.push(own("ata-write-cache", said.write_cache));
        facts.push(own("ata-trim", Some(said.trims)));
    }
    facts.push(own("turns-per-minute", drive.said.turns_per_minute()));
    facts.retain(|fact| fact.value.is_some());
    facts
}

/// Returns what the drive says of its wear, with what follows from it.
pub(crate) fn wear_facts(wear: &WearReading) -> Vec<Fact> {
    let bytes = |host: &CoarseBytes| host.bytes().to_string();
    let mut facts = vec![
        fact("host-written-bytes", &wear.host, bytes),
        fact("life-used-percent", &wear.used_percent, u8::to_string),
    ];
    // One reason is enough for all that a page would say.
    let Some(media) = wear.media.value() else {
        let none: Known<u64> = Known::no(wear.media.reason().unwrap_or_default());
        facts.push(number("media-written-bytes", &none));
        return facts;
    };
    let amplification = wear.write_amplification();
    let resolution = amplification.value().map(|bounds| {
        format!("media over host bytes since new, to {}", decimals(bounds.resolution()))
    });
    let unaligned = media.unaligned_writes.value();
    let starts = unaligned.map(|_| "since power-on, by their start alone".to_owned());
    facts.extend([
        number("media-written-bytes", &media.bytes),
        noted(fact("write-amplification", &amplification, WearBounds::to_string), resolution),
        noted(number("unaligned-writes", &media.unaligned_writes), starts),
        number("endurance-bytes", &media.endurance_bytes),
        number("endurance-left-bytes", &media.endurance_left_bytes()),
        fact("free-blocks-percent", &media.free_percent, u8::to_string),
        number("erases-min", &media.erases_min),
        number("erases-max", &media.erases_max),
    ]);
    facts
}

/// `resolution` with one digit that counts, and at least two decimals.
fn decimals(resolution: f64) -> String {
    let places = (2..9).find(|&places| resolution * 10_f64.powi(places) >= 1.0);
    let places = places.and_then(|places| usize::try_from(places).ok());
    match places {
        Some(places) => format!("{resolution:.places$}"),
        None => "0.00000001".to_owned(),
    }
}

/// `fact` with a remark beside its value; a reason that it has stays.
fn noted(fact: Fact, remark: Option<String>) -> Fact {
    let reason = fact.reason.or(remark);
    Fact { reason, ..fact }
}

fn namespace_facts(said: &nvme::Namespace) -> Vec<Fact> {
    let mut facts = vec![
        own("preferred-write-granularity-bytes", said.write_granularity_bytes),
        own("preferred-write-alignment-bytes", said.write_alignment_bytes),
        own("preferred-discard-granularity-bytes", said.discard_granularity_bytes),
        own("preferred-discard-alignment-bytes", said.discard_alignment_bytes),
        own("optimal-write-bytes", said.optimal_write_bytes),
        own("optimal-boundary-bytes", said.boundary_bytes),
        own("atomic-write-multiples", said.features.several_atomic.then_some(true)),
    ];
    for format in &said.formats {
        let used = if said.format == Some(*format) { ", in use" } else { "" };
        let words = format!(
            "{}: {} bytes and {} of metadata, {}{used}",
            format.number,
            format.data_bytes,
            format.metadata_bytes,
            format.performance.word()
        );
        facts.push(own("format", Some(words)));
    }
    facts
}

fn hint_facts(said: &NamespaceHints) -> [Fact; 5] {
    [
        own("preferred-large-discard-granularity-bytes", said.discard_granularity_bytes),
        own("preferred-large-discard-alignment-bytes", said.discard_alignment_bytes),
        own("preferred-read-granularity-bytes", said.read_granularity_bytes),
        own("preferred-read-alignment-bytes", said.read_alignment_bytes),
        own("optimal-read-bytes", said.optimal_read_bytes),
    ]
}

fn limits(said: &scsi::BlockLimits) -> Vec<Fact> {
    vec![
        own("scsi-optimal-transfer-granularity-bytes", said.optimal_granularity_bytes),
        own("scsi-optimal-transfer-bytes", said.optimal_bytes),
        own("scsi-unmap-granularity-bytes", said.unmap_granularity_bytes),
        own("scsi-unmap-alignment-bytes", said.unmap_alignment_bytes),
        own("scsi-atomic-write-bytes", said.atomic.length_bytes),
    ]
}

/// A path of NVMe multipath, and what it allows that its head may not.
fn path(path: &NamespacePath) -> [Fact; 2] {
    let name = Known::yes(path.name.clone(), Source::Sysfs);
    [
        fact("path", &name, String::clone),
        number("path-atomic-write-unit-max-bytes", &path.atomic_bytes),
    ]
}

/// Only what is known: files that a kernel or a device does not have say nothing.
fn said_only(facts: impl IntoIterator<Item = Fact>) -> Vec<Fact> {
    facts.into_iter().filter(|fact| fact.value.is_some()).collect()
}

fn own<T: ToString>(key: &'static str, said: Option<T>) -> Fact {
    let known = said.map(|said| Known::yes(said.to_string(), Source::Identify));
    fact(key, &known.unwrap_or_else(|| Known::no("the drive does not say it")), String::clone)
}

fn number(key: &'static str, known: &Known<u64>) -> Fact {
    fact(key, known, u64::to_string)
}

fn flag(key: &'static str, known: &Known<bool>) -> Fact {
    fact(key, known, bool::to_string)
}

/// A fact of a document.
pub(crate) fn fact<T>(key: &'static str, known: &Known<T>, shown: impl Fn(&T) -> String) -> Fact {
    Fact {
        key: key.into(),
        value: known.value().map(shown),
        source: known.source(),
        reason: known.reason().map(str::to_owned),
    }
}
