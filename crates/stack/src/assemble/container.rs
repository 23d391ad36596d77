//! Containers of one layer, and file systems.

use std::rc::Rc;

use device::{Disk, Window};
use format::Problem;
use format::filesystem::FileSystem;
use format::member::bcache::{Bcache, BcacheRole};
use format::member::integrity::Integrity;
use format::member::luks::{Luks, LuksSegment};
use format::named::{Class, Named};
use units::prefix::Exact;
use units::{ByteRange, Known, SectorSize, Source};

use super::{Assembler, LookedAt};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Below, Mapping, Segment};
use crate::unit::UnitKind;

impl Assembler<'_> {
    pub(super) fn luks(&mut self, job: &LookedAt, luks: Luks, problems: Vec<Problem>) {
        let device_bytes = job.disk.length_bytes();
        let (mapping, length) = luks_mapping(&luks, job.id, device_bytes);
        let sector = luks.segments.first().map(|segment| segment.sector_bytes);
        let name = luks.label.as_ref().filter(|label| !label.is_empty()).map(ToString::to_string);
        let name = name.unwrap_or_else(|| format!("luks-{}", luks.id));
        let mut layer = Layer::new(LayerKind::Luks(Box::new(luks)), name, length, mapping);
        layer.problems = problems;
        if let Some(sector) = sector.filter(|&sector| sector > 0) {
            let note = "LUKS encryption sector";
            layer.units.put_used(UnitKind::LogicalSector, sector, Source::OnDisk, note);
        }
        self.add(job.id, layer);
    }

    pub(super) fn bcache(&mut self, job: &LookedAt, bcache: Bcache, problems: Vec<Problem>) {
        let device_bytes = job.disk.length_bytes();
        let (mapping, range) = match bcache.role {
            BcacheRole::Backing { data_offset_bytes } => {
                let below = Below { layer: job.id, offset_bytes: data_offset_bytes };
                let rest = device_bytes.saturating_sub(data_offset_bytes);
                (Mapping::Linear(below), ByteRange::new(data_offset_bytes, rest))
            }
            BcacheRole::Cache { .. } => {
                let reason = "a cache holds others' blocks in buckets".to_owned();
                (Mapping::Opaque { on: vec![job.id], reason }, None)
            }
            BcacheRole::Unknown => {
                let reason = "what kind of bcache device it is was not recognized".to_owned();
                (Mapping::Unknown { on: vec![job.id], reason }, None)
            }
        };
        let length = match range {
            Some(range) => Known::yes(range.length_bytes(), Source::Derived),
            None => Known::yes(device_bytes, Source::Derived),
        };
        let kind = LayerKind::Bcache(Box::new(bcache));
        let mut layer = Layer::new(kind, "bcache".to_owned(), length, mapping);
        layer.problems = problems;
        let Some(id) = self.add(job.id, layer) else { return };
        if let Some(range) = range.filter(|range| range.length_bytes() > 0) {
            let disk = Rc::new(Window::new(Rc::clone(&job.disk), range));
            self.jobs.push_back(LookedAt::whole(id, disk, job.sector, job.depth + 1));
        }
    }

    pub(super) fn integrity(
        &mut self,
        job: &LookedAt,
        integrity: Integrity,
        problems: Vec<Problem>,
    ) {
        let length = Known::yes(integrity.provided_bytes, Source::OnDisk);
        let reason = "dm-integrity lays tags between the data".to_owned();
        let sector = integrity.sector_bytes;
        let kind = LayerKind::Integrity(Box::new(integrity));
        let name = "dm-integrity".to_owned();
        let mapping = Mapping::Opaque { on: vec![job.id], reason };
        let mut layer = Layer::new(kind, name, length, mapping);
        layer.problems = problems;
        if let Some(sector) = sector.filter(|&bytes| SectorSize::new(bytes).is_some()) {
            let note = "dm-integrity block";
            layer.units.put_used(UnitKind::LogicalSector, sector, Source::OnDisk, note);
        }
        self.add(job.id, layer);
    }

    pub(super) fn file_system(
        &mut self,
        job: &LookedAt,
        system: FileSystem,
        problems: Vec<Problem>,
    ) {
        let offset = system.data_offset_bytes;
        let size = system.size_bytes.unwrap_or_else(|| job.disk.length_bytes());
        let below = Below { layer: job.id, offset_bytes: offset };
        let length = Known::yes(size.saturating_sub(offset), Source::OnDisk);
        let name = system.kind.to_owned();
        let system = Box::new(system);
        let kind = if matches!(system.kind, "swap" | "swsuspend") {
            LayerKind::Swap(system)
        } else {
            LayerKind::FileSystem(system)
        };
        let mut layer = Layer::new(kind, name, length, Mapping::Linear(below));
        layer.problems = problems;
        self.add(job.id, layer);
    }
}

impl Assembler<'_> {
    /// A layer for what is named and not read.
    pub(super) fn named(&mut self, on: LayerId, entry: &'static Named) {
        let reason = match entry.class {
            Class::Raid => format!("{}: its array is laid out by firmware, not read", entry.what),
            _ => format!("{}: not read by straddle", entry.what),
        };
        let length = self.stack.layer(on).length_bytes.clone();
        let mapping = Mapping::Unknown { on: vec![on], reason };
        self.add(on, Layer::new(LayerKind::Named(entry), entry.kind.to_owned(), length, mapping));
    }
}

/// Returns how a LUKS container's data lies on its device, and its length.
fn luks_mapping(luks: &Luks, on: LayerId, device_bytes: u64) -> (Mapping, Known<u64>) {
    let unknown = |reason: &str| Mapping::Unknown { on: vec![on], reason: reason.to_owned() };
    if luks.detached {
        let data_bytes = luks.segments.first().map_or(0, |segment| segment.offset_bytes);
        let reason = match data_bytes {
            0 => "the header is detached: the data is on another device, from byte 0".to_owned(),
            bytes => format!(
                "a header without its data: a backup of a header, or a truncated image; the data \
                 starts at {} of the device that it was taken from",
                Exact(bytes)
            ),
        };
        return (unknown(&reason), Known::no(reason));
    }
    if luks.integrity.is_some() {
        let reason = "dm-integrity lays tags between the data";
        let mapping = Mapping::Opaque { on: vec![on], reason: reason.to_owned() };
        return (mapping, Known::no(reason));
    }
    match luks.segments.as_slice() {
        [] => {
            let reason = "no data segment could be read";
            (unknown(reason), Known::no(reason))
        }
        [only] => {
            let below = Below { layer: on, offset_bytes: only.offset_bytes };
            let length = segment_length(only, device_bytes);
            (Mapping::Linear(below), Known::yes(length, Source::Derived))
        }
        several => luks_segments(several, on, device_bytes),
    }
}

fn segment_length(segment: &LuksSegment, device_bytes: u64) -> u64 {
    let rest = device_bytes.saturating_sub(segment.offset_bytes);
    segment.length_bytes.unwrap_or(rest)
}

/// Segments follow each other in the plain device, wherever their data lies.
fn luks_segments(
    segments: &[LuksSegment],
    on: LayerId,
    device_bytes: u64,
) -> (Mapping, Known<u64>) {
    let mut laid = Vec::new();
    let mut at: u64 = 0;
    for segment in segments {
        let length = segment_length(segment, device_bytes);
        let Some(range) = ByteRange::new(at, length) else { break };
        let below = Below { layer: on, offset_bytes: segment.offset_bytes };
        laid.push(Segment { range, mapping: Mapping::Linear(below) });
        at = range.end_bytes();
    }
    (Mapping::Segments(laid), Known::yes(at, Source::Derived))
}
