//! Facts about one device, gathered from any number of kept results. The first result that tells a
//! fact is believed, but what was measured outranks what was reported.

use std::collections::BTreeMap;

use durability::Grade;
use stack::{LayerType, UnitFact, UnitKind};
use units::Source;

use crate::bench::{Bench, Experiment, OperationDirection, Sync};
use crate::check_document::{Document, LayerReport, Target};
use crate::envelope::Envelope;
use crate::fsync::Fsync;
use crate::html::{FileContent, ResultFile};
use crate::probe::{Answers, Probe, ToolHost};
use crate::text::one_line;

/// A quantity in bytes that results tell of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quantity {
    LogicalSector,
    PhysicalSector,
    OptimalIo,
    Discard,
    ReportedGranule,
    MeasuredGranule,
    Chunk,
    FullStripe,
}

/// A number of bytes, or of operations or bytes a second, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcedNumber {
    pub(crate) number: u64,
    /// In words; harmless to print.
    pub(crate) source: String,
}

/// A rate that Seastar wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rate {
    ReadIops,
    ReadBandwidth,
    WriteIops,
    WriteBandwidth,
}

/// Facts about one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceFacts {
    /// The kernel's name; the path that was measured, where that is not known.
    pub(crate) name: String,
    /// `model`, `firmware` and `serial`, as far as they are known.
    pub(crate) identity: BTreeMap<&'static str, String>,
    pub(crate) rotates: Option<bool>,
    /// Address at which the first granule starts, in bytes; of the measured granule, where there is
    /// one.
    pub(crate) origin_bytes: u64,
    /// Grade of completed syncs.
    pub(crate) grade: Option<Grade>,
    /// A place on it that was measured: a directory.
    pub(crate) place: Option<String>,
    pub(crate) rates: BTreeMap<Rate, SourcedNumber>,
    /// Answers of a probe and its machine, for the words of tools.
    pub(crate) probed: Option<(Answers, ToolHost)>,
    bytes: BTreeMap<Quantity, SourcedNumber>,
}

impl DeviceFacts {
    /// The devices that `results` tell of, each once; devices of different machines with one name
    /// are one entry for each machine.
    pub(crate) fn of(results: &[ResultFile]) -> Vec<DeviceFacts> {
        let mut gathered = Gathered::default();
        for result in results {
            match &result.content {
                FileContent::Check(document) => gathered.check(document),
                FileContent::Probe(document) => gathered.probe(document),
                FileContent::Bench(document) => gathered.bench(document),
                FileContent::Fsync(document) => gathered.fsync(document),
                _ => {}
            }
        }
        gathered.devices.into_iter().map(|(_, facts)| facts).collect()
    }

    /// Returns the value of a quantity; `None` where no result tells it.
    pub(crate) fn bytes(&self, quantity: Quantity) -> Option<&SourcedNumber> {
        self.bytes.get(&quantity)
    }

    /// The unit that the drive writes as a whole: as measured, else as reported.
    pub(crate) fn granule(&self) -> Option<&SourcedNumber> {
        self.bytes(Quantity::MeasuredGranule).or_else(|| self.bytes(Quantity::ReportedGranule))
    }

    fn put(&mut self, quantity: Quantity, bytes: Option<u64>, source: String) {
        // Sysfs has 0 for what a device does not say.
        if let Some(number) = bytes.filter(|bytes| *bytes > 0) {
            self.bytes.entry(quantity).or_insert(SourcedNumber { number, source });
        }
    }

    fn name_it(&mut self, key: &'static str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            self.identity.entry(key).or_insert_with(|| one_line(value.trim()));
        }
    }
}

#[derive(Default)]
struct Gathered {
    /// With the machine's name, in the order in which they were first told.
    devices: Vec<(Option<String>, DeviceFacts)>,
}

impl Gathered {
    fn of(&mut self, envelope: &Envelope, name: &str) -> &mut DeviceFacts {
        let (host, name) = (&envelope.run.host, one_line(name));
        let same = |one: &(Option<String>, DeviceFacts)| one.0 == *host && one.1.name == name;
        let found = self.devices.iter().position(same);
        let index = found.unwrap_or_else(|| {
            self.devices.push((host.clone(), DeviceFacts { name, ..DeviceFacts::default() }));
            self.devices.len() - 1
        });
        &mut self.devices[index].1
    }

    fn check(&mut self, document: &Document) {
        for target in &document.targets {
            for layer in &target.layers {
                if let Some(name) = &layer.device {
                    let is_array = units_of(layer, UnitKind::Chunk).next().is_some();
                    match layer.kind {
                        LayerType::Drive => drive(self.of(&document.envelope, name), layer),
                        _ if is_array => array(self.of(&document.envelope, name), layer, target),
                        _ => {}
                    }
                }
            }
        }
    }

    fn probe(&mut self, document: &Probe) {
        let target = &document.target;
        let name = target.drive.as_ref().unwrap_or(&target.path);
        let facts = self.of(&document.envelope, name);
        facts.name_it("model", target.model.as_deref());
        facts.name_it("firmware", target.firmware.as_deref());
        facts.rotates = facts.rotates.or(document.answers.turn.value.map(|_| true));
        let (answers, reported) = (&document.answers, &document.reported);
        let said = |key: &str| format!("{key}, reported to the kernel");
        facts.put(
            Quantity::LogicalSector,
            reported.logical_sector_bytes,
            said("logical_block_size"),
        );
        facts.put(
            Quantity::PhysicalSector,
            reported.physical_sector_bytes,
            said("physical_block_size"),
        );
        let source = reported.granule_source;
        let source = format!("reported ({})", source.map_or("unknown", Source::word));
        facts.put(Quantity::ReportedGranule, reported.granule_bytes, source);
        if let Some(found) = answers.alignment.value {
            let size = answers.size.value.map_or(0, |size| size.bytes);
            let why = answers.alignment.said_by.as_deref().unwrap_or("comparisons of writes");
            let source = format!("measured by straddle probe: {}", one_line(why));
            facts.put(Quantity::MeasuredGranule, Some(found.bytes.max(size)), source);
            facts.origin_bytes = found.origin_bytes;
        }
        let chunk = answers.chunk.value.map(|chunk| chunk.bytes);
        facts.put(Quantity::Chunk, chunk, "measured by straddle probe".to_owned());
        let members = answers.members.value.map(|members| members.count);
        let stripe = chunk.zip(members).and_then(|(chunk, members)| chunk.checked_mul(members));
        facts.put(Quantity::FullStripe, stripe, "measured by straddle probe".to_owned());
        let host = ToolHost {
            kernel: document
                .envelope
                .run
                .kernel
                .as_deref()
                .and_then(crate::probe::KernelVersion::of_release),
            physical_sector_bytes: reported.physical_sector_bytes,
        };
        facts.probed.get_or_insert_with(|| (answers.clone(), host));
    }

    fn bench(&mut self, document: &Bench) {
        let target = &document.target;
        let name = target.drive.as_ref().unwrap_or(&target.path);
        let facts = self.of(&document.envelope, name);
        facts.name_it("model", target.model.as_deref());
        facts.name_it("firmware", target.firmware.as_deref());
        facts.rotates = facts.rotates.or(target.rotating);
        let said = "logical_block_size, reported to the kernel".to_owned();
        facts.put(Quantity::LogicalSector, target.logical_sector_bytes, said);
        let quantity = match target.granule_source {
            Some(Source::Measured) => Some(Quantity::MeasuredGranule),
            source if is_reported(source) => Some(Quantity::ReportedGranule),
            _ => None,
        };
        if let Some(quantity) = quantity {
            let word = target.granule_source.map_or("unknown", Source::word);
            facts.put(quantity, target.granule_bytes, format!("{word}, as straddle bench used it"));
        }
        facts.place.get_or_insert_with(|| one_line(&target.path));
        for experiment in &document.experiments {
            rates(facts, experiment);
        }
    }

    fn fsync(&mut self, document: &Fsync) {
        let target = &document.target;
        let name = target.drive.as_ref().unwrap_or(&target.path);
        let facts = self.of(&document.envelope, name);
        facts.name_it("model", target.model.as_deref());
        facts.name_it("firmware", target.firmware.as_deref());
        facts.rotates = facts.rotates.or(target.rotating);
        // The worst of several directories.
        let grade = document.honesty.as_ref().map(|honesty| honesty.grade);
        facts.grade = facts.grade.max(grade);
    }
}

fn units_of(layer: &LayerReport, kind: UnitKind) -> impl Iterator<Item = &UnitFact> {
    layer.units.iter().filter(move |unit| unit.unit == kind && unit.bytes.is_some())
}

/// Source of a unit, in words: `physical_block_size (sysfs)`.
fn said(unit: &UnitFact) -> String {
    match unit.reason.as_str() {
        "" => unit.source_word().to_owned(),
        reason => format!("{} ({})", one_line(reason), unit.source_word()),
    }
}

/// Returns whether a device, or the kernel for it, said so.
fn is_reported(source: Option<Source>) -> bool {
    matches!(source, Some(Source::Sysfs | Source::Ioctl | Source::Identify))
}

fn drive(facts: &mut DeviceFacts, layer: &LayerReport) {
    let fact = |key: &str| {
        let fact = layer.facts.iter().find(|fact| fact.key == key)?;
        Some((fact.value.as_deref()?, fact.source.map_or("unknown", Source::word)))
    };
    for key in ["model", "firmware", "serial"] {
        facts.name_it(key, fact(key).map(|(value, _)| value));
    }
    facts.rotates = facts.rotates.or(fact("rotational").and_then(|(value, _)| value.parse().ok()));
    for (quantity, key) in [
        (Quantity::LogicalSector, "logical-sector-bytes"),
        (Quantity::PhysicalSector, "physical-sector-bytes"),
        (Quantity::OptimalIo, "optimal-io-bytes"),
        (Quantity::Discard, "discard-granularity-bytes"),
    ] {
        if let Some((value, source)) = fact(key) {
            facts.put(quantity, value.parse().ok(), format!("{key} ({source})"));
        }
    }
    let granules = || units_of(layer, UnitKind::Granule);
    if let Some(unit) = granules().find(|unit| unit.source == Some(Source::Measured)) {
        facts.put(Quantity::MeasuredGranule, unit.bytes, said(unit));
        facts.origin_bytes = unit.origin_bytes;
    }
    let reported = || granules().filter(|unit| is_reported(unit.source));
    if let Some(unit) = reported().find(|unit| unit.used).or_else(|| reported().next()) {
        facts.put(Quantity::ReportedGranule, unit.bytes, said(unit));
    }
}

/// An array has the largest granule of the drives of its target.
fn array(facts: &mut DeviceFacts, layer: &LayerReport, target: &Target) {
    for (kind, quantity) in
        [(UnitKind::Chunk, Quantity::Chunk), (UnitKind::FullStripe, Quantity::FullStripe)]
    {
        if let Some(unit) = units_of(layer, kind).find(|unit| unit.used) {
            facts.put(quantity, unit.bytes, said(unit));
        }
    }
    let drives = target.layers.iter().filter(|layer| layer.kind == LayerType::Drive);
    let granules = drives.flat_map(|layer| units_of(layer, UnitKind::Granule));
    let used = granules.filter(|unit| unit.used && unit.source != Some(Source::Assumed));
    let largest = used.filter_map(|unit| unit.bytes).max();
    facts.put(Quantity::ReportedGranule, largest, "the largest of its drives".to_owned());
}

/// The fastest rates of unshifted operations: those of at most 16 KiB count as operations, those of
/// 128 KiB and more as bandwidth. Writes count without a sync, as iotune's do.
fn rates(facts: &mut DeviceFacts, experiment: &Experiment) {
    const SMALL: u64 = 16 << 10;
    const LARGE: u64 = 128 << 10;
    let work = &experiment.workload;
    let baseline = experiment.arms.iter().find(|arm| arm.role == measure::Role::Baseline);
    let per_second = baseline.and_then(|arm| arm.operations_per_second);
    let (Some(per_second), Some(bytes)) = (per_second, work.operation_bytes) else { return };
    let rate = match (work.action, bytes) {
        (OperationDirection::Read, ..=SMALL) => Rate::ReadIops,
        (OperationDirection::Read, LARGE..) => Rate::ReadBandwidth,
        (OperationDirection::Write, ..=SMALL) if work.sync == Sync::None => Rate::WriteIops,
        (OperationDirection::Write, LARGE..) if work.sync == Sync::None => Rate::WriteBandwidth,
        _ => return,
    };
    let is_bandwidth = matches!(rate, Rate::ReadBandwidth | Rate::WriteBandwidth);
    #[expect(clippy::cast_precision_loss, reason = "an operation is far below 2^52 bytes")]
    let value = if is_bandwidth { per_second * bytes as f64 } else { per_second };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and a rate below 1 is none"
    )]
    let number = value as u64;
    let known = facts.rates.get(&rate).map_or(0, |known| known.number);
    if number > known {
        let source = format!("straddle bench: {}", one_line(&experiment.title));
        facts.rates.insert(rate, SourcedNumber { number, source });
    }
}
