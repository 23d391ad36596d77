//! BSD disklabels.
//!
//! The bytes do not say what the addresses count from. The type of the slice does, as for Linux:
//! OpenBSD and NetBSD count from the start of the disk; FreeBSD from the slice where slot `c` is at
//! 0, else from the disk. Entries outside of an OpenBSD's or NetBSD's slice name others'
//! partitions. Without a slice's type, slot `c` decides: FreeBSD and NetBSD let it be the slice
//! itself, so its start is the origin; OpenBSD lets it be the whole disk.
//!
//! Source: FreeBSD `sys/sys/disk/bsd.h`, `sys/geom/part/g_part_bsd.c`; OpenBSD
//! `sys/sys/disklabel.h`; Linux `block/partitions/msdos.c` (`parse_bsd`); util-linux
//! `include/pt-bsd.h`,
//! `libblkid/src/partitions/bsd.c`.

use device::{Disk, disk};
use units::{ByteRange, SectorSize};

use self::label::{BsdLabel, Slot};
use super::overlap::misplaced;
use super::{Partition, PartitionRole, PartitionTable, TableKind, types};
use crate::{Parsed, Problem, ProblemKind};

mod label;

/// Place where a label may be, from the start of the disk or slice. PCs have it in the second
/// sector, of whichever size; Alpha and others 64, some SPARCs 128 bytes behind their boot block.
const PLACES: [u64; 6] = [512, 1024, 2048, 4096, 64, 128];

/// All places of a label, and the longest label there.
const HEAD_BYTES: u64 = 8192;

/// The slot that is the whole slice (FreeBSD, NetBSD) or the whole disk (OpenBSD).
const SLOT_C: usize = 2;

/// The slot that is the whole disk where NetBSD keeps `c` for its slice.
const SLOT_D: usize = 3;

/// Origin of a label's addresses, by the type of its slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// No slice, or one of unknown type.
    #[default]
    Unknown,
    /// FreeBSD: the slice, where slot `c` starts at 0; else the disk.
    FreeBsd,
    /// OpenBSD and NetBSD: the disk.
    Disk,
}

impl Counting {
    /// The way in which labels count in a slice whose table gives it this type.
    #[must_use]
    pub fn of_slice(type_code: &str) -> Counting {
        match type_code {
            "0xa5" | "516e7cb4-6ecf-11d6-8ff8-00022d09712b" => Counting::FreeBsd,
            "0xa6" | "0xa9" | "824cc7a0-36a8-11e3-890a-952519ad3f61" => Counting::Disk,
            _ => Counting::Unknown,
        }
    }
}

/// Reads a disklabel in the second sector (or at byte 64 or 128) of `disk`, which starts at
/// `slice_at_bytes` of the whole disk; 0 for a label on a whole disk. Partition ranges in the
/// result count from the start of `disk`, whichever way the label counts. `None` when there is
/// none.
///
/// Addresses count in the sector size that the label gives, and in `sector` when it gives none. An
/// entry of a whole disk that is not within the slice is left out, since it cannot be expressed; so
/// is one of OpenBSD's or NetBSD's that is outside of the slice, and any other that begins before
/// it, with a problem. Entries marked unused are left out, but for `c`.
pub fn read(
    disk: &dyn Disk,
    sector: SectorSize,
    (slice_at_bytes, counting): (u64, Counting),
) -> Option<Parsed<PartitionTable>> {
    let named = |&at: &u64| disk::read_array(disk, at).is_ok_and(label::is_magic);
    if !PLACES.iter().any(named) {
        return None;
    }
    let head = disk::read_vec(disk, 0, disk.length_bytes().min(HEAD_BYTES)).ok()?;
    let labels: Vec<BsdLabel> = PLACES.iter().filter_map(|&at| BsdLabel::find(&head, at)).collect();
    let label = labels.iter().find(|label| label.is_sound()).or(labels.first())?;
    let mut problems = label.problems();
    let sector = label.sector().unwrap_or(sector);
    let counting = if label.is_openbsd() { Counting::Disk } else { counting };
    let slice =
        Slice { at_bytes: slice_at_bytes, length_bytes: disk.length_bytes(), sector, counting };
    let origin_bytes = origin(label, slice, &mut problems);
    let partitions = partitions(label, slice, origin_bytes, &mut problems);
    let value = PartitionTable {
        boot_code: head.iter().take(label.code_length()).any(|&byte| byte != 0),
        ..PartitionTable::new(TableKind::Bsd, sector, partitions)
    };
    Some(Parsed { value, problems })
}

/// Place where the label's container lies on the whole disk, and the sectors in which the label
/// counts.
#[derive(Clone, Copy)]
struct Slice {
    at_bytes: u64,
    length_bytes: u64,
    sector: SectorSize,
    counting: Counting,
}

impl Slice {
    /// Returns whether an entry outside of the slice names a partition of another system.
    fn has_foreign_entries(self) -> bool {
        self.counting == Counting::Disk && self.at_bytes != 0
    }

    /// Returns whether a slot lies within the slice when its start counts from `origin_bytes`.
    fn holds(self, slot: &Slot, origin_bytes: u64) -> bool {
        let start = slot.start_bytes(self.sector).checked_sub(origin_bytes);
        let end = start.map(|start| start.saturating_add(slot.length_bytes(self.sector)));
        end.is_some_and(|end| end <= self.length_bytes)
    }
}

/// The address, in the label's way of counting, of the slice's first byte: 0 when the label counts
/// from the slice.
fn origin(label: &BsdLabel, slice: Slice, problems: &mut Vec<Problem>) -> u64 {
    let c_at = label.slots().get(SLOT_C).map_or(0, |slot| slot.start_bytes(slice.sector));
    match slice.counting {
        Counting::Disk => return slice.at_bytes,
        Counting::FreeBsd => return if c_at == 0 { 0 } else { slice.at_bytes },
        Counting::Unknown => {}
    }
    let all_fit = |origin| {
        let mut used = label
            .slots()
            .iter()
            .enumerate()
            .filter(|(place, slot)| *place != SLOT_C && *place != SLOT_D && slot.is_used());
        used.all(|(_, slot)| slice.holds(slot, origin))
    };
    let mut note = |detail| {
        problems.push(Problem::new(ProblemKind::Field, label.slot_at(SLOT_C), detail));
    };
    match label.slots().get(SLOT_C).filter(|slot| slot.length_sectors != 0) {
        Some(whole) if whole.start_sectors != 0 => {
            let origin = whole.start_bytes(slice.sector);
            if origin != slice.at_bytes {
                note(format!(
                    "slot c says that the slice starts at byte {origin}, but it is at {}",
                    slice.at_bytes
                ));
            }
            origin
        }
        // OpenBSD's whole disk, from before its labels had a version: larger than the slice.
        Some(whole) if !slice.holds(whole, 0) && all_fit(slice.at_bytes) => slice.at_bytes,
        Some(_) => 0,
        None if slice.at_bytes == 0 => 0,
        None => {
            note(
                "slot c is not used, so nothing says what the label's addresses count from".into(),
            );
            if all_fit(0) || !all_fit(slice.at_bytes) { 0 } else { slice.at_bytes }
        }
    }
}

fn partitions(
    label: &BsdLabel,
    slice: Slice,
    origin_bytes: u64,
    problems: &mut Vec<Problem>,
) -> Vec<Partition> {
    let mut partitions = Vec::new();
    for ((number, slot), place) in (1..).zip(label.slots()).zip(0..) {
        let is_whole = is_whole(label, place);
        if slot.length_sectors == 0 || !(slot.is_used() || is_whole) {
            continue;
        }
        let start = slot.start_bytes(slice.sector).checked_sub(origin_bytes);
        let range = start.and_then(|start| ByteRange::new(start, slot.length_bytes(slice.sector)));
        let entry_at_bytes = label.slot_at(place);
        let Some(range) = range else {
            if !is_whole && !slice.has_foreign_entries() {
                let detail =
                    format!("partition {number} starts before the slice or ends beyond 64 bits");
                problems.push(Problem::new(ProblemKind::Outside, entry_at_bytes, detail));
            }
            continue;
        };
        let is_after = range.start_bytes() >= slice.length_bytes && slice.has_foreign_entries();
        if is_after || is_whole && range.end_bytes() > slice.length_bytes {
            continue;
        }
        let role = if is_whole { PartitionRole::Whole } else { PartitionRole::Ordinary };
        partitions.push(Partition {
            number,
            range,
            type_code: slot.code.to_string(),
            type_name: types::bsd_name(slot.code),
            role,
            name: None,
            id: None,
            bootable: false,
            entry_at_bytes,
        });
    }
    problems.extend(misplaced(&partitions, slice.length_bytes));
    partitions
}

/// Returns whether the slot at `place` is not a partition but all of the slice or the disk.
fn is_whole(label: &BsdLabel, place: usize) -> bool {
    let slots = label.slots();
    let is_disk = |slot: &Slot| {
        let within = slots.get(SLOT_C).map_or(0, |whole| whole.length_sectors);
        slot.start_sectors == 0 && slot.length_sectors >= within && !slot.is_used()
    };
    place == SLOT_C || place == SLOT_D && slots.get(SLOT_D).is_some_and(is_disk)
}
