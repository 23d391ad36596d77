//! The bytes that may be read and kept on the way up.
//!
//! A hostile image can lead to the same bytes by thousands of ways, each of which would be read and
//! kept again: a thousand logical volumes that all hold the physical volume that they lie on. What
//! is read and what is found is therefore counted, in bytes, and at some point no more is looked
//! into. Real disks stay far below: a volume group of 2000 volumes has a text of 2 MiB.

use std::cell::Cell;
use std::rc::Rc;

use device::{Disk, ReadError, disk};
use format::member::lvm::{SegmentKind, VolumeGroup};
use format::probe::{self, Hint, ProbedContent, Reading};

/// Bytes that each start adds to what may be used.
const START_BYTES: u64 = 24 << 20;
/// Bytes that may be read of each layer without being counted: all places where something may
/// begin.
const FREE_BYTES: u64 = 256 << 10;
/// Memory that one found thing takes, about, in bytes.
const FACT_BYTES: u64 = 256;

/// The rest that may be used.
pub(super) struct WorkLimit {
    left_bytes: u64,
}

impl WorkLimit {
    pub(super) fn for_starts(starts: usize) -> WorkLimit {
        let starts = u64::try_from(starts).unwrap_or(u64::MAX);
        WorkLimit { left_bytes: START_BYTES.saturating_mul(starts) }
    }

    /// Returns whether no more is to be looked into.
    pub(super) fn is_too_much(&self) -> bool {
        self.left_bytes == 0
    }

    /// Everything that is on `disk`, counted.
    pub(super) fn probe(&mut self, disk: &Rc<dyn Disk>, hint: Hint) -> Reading {
        let counted = Counted { below: disk.as_ref(), read_bytes: Cell::new(0) };
        let found = probe::read(&counted, hint);
        let read = counted.read_bytes.get().saturating_sub(FREE_BYTES);
        self.keep(read);
        self.keep_facts(&found);
        found
    }

    /// Counts what `reading` takes.
    pub(super) fn keep_facts(&mut self, reading: &Reading) {
        let found = reading.container.iter().chain(&reading.found);
        let problems = found.map(|found| found.problems.len()).fold(0, usize::saturating_add);
        let facts = reading.contents().map(facts).fold(problems, usize::saturating_add);
        let facts = u64::try_from(facts).unwrap_or(u64::MAX);
        self.keep(facts.saturating_mul(FACT_BYTES));
    }

    /// Counts `bytes` that are kept.
    pub(super) fn keep(&mut self, bytes: u64) {
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
    }
}

/// Returns how many things `content` keeps.
fn facts(content: &ProbedContent) -> usize {
    match content {
        ProbedContent::Table(table) => table.partitions.len() + table.hybrid.len(),
        ProbedContent::Lvm(volume) => volume.group.as_ref().map_or(0, pieces),
        ProbedContent::Luks(luks) => luks.segments.len(),
        ProbedContent::FileSystem(system) => system.details.len(),
        ProbedContent::Md(_)
        | ProbedContent::Bcache(_)
        | ProbedContent::Integrity(_)
        | ProbedContent::Named(_) => 1,
    }
}

/// The volumes of a group, their segments, and what those lie on.
fn pieces(group: &VolumeGroup) -> usize {
    let segments = group.logical.iter().flat_map(|volume| &volume.segments);
    let names = segments.map(|segment| match &segment.kind {
        SegmentKind::Striped { areas, .. } | SegmentKind::Mirror { areas } => 1 + areas.len(),
        SegmentKind::Raid { images, metadata, .. } => 1 + images.len() + metadata.len(),
        SegmentKind::Thin { .. } | SegmentKind::ThinPool { .. } | SegmentKind::Other { .. } => 1,
    });
    group.physical.len() + group.logical.len() + names.sum::<usize>()
}

/// A disk that counts what is read of it.
struct Counted<'a> {
    below: &'a dyn Disk,
    read_bytes: Cell<u64>,
}

impl Disk for Counted<'_> {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let read = self.read_bytes.get().saturating_add(disk::length_of(buffer));
        self.read_bytes.set(read);
        self.below.read_at(offset_bytes, buffer)
    }
}
