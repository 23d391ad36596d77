//! Chooses the table in use of those that stand on one disk.
//!
//! An old GPT outlives its disk's new MBR, a boot block of a BSD ends in 0x55AA, a boot loader in a
//! partition brings an empty table with it. What Linux does decides; what it passes over is named
//! among the problems.
//!
//! Source: Linux `block/partitions/{core,efi,msdos}.c`; util-linux `libblkid/src/partitions`.

use device::Disk;
use units::SectorSize;

use super::bsd::{self, Counting};
use super::{PartitionRole, PartitionTable, gpt, half_moved, mbr, sgi_sun};
use crate::{Parsed, Problem, ProblemKind};

/// A table, and the evidence for it.
pub(crate) struct Choice {
    /// The table.
    pub(crate) table: Parsed<PartitionTable>,
    /// Its evidence.
    pub(crate) weight: TableWeight,
}

/// Evidence for a table, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableWeight {
    /// Too little to count beside a file system or a member on the same bytes: an MBR that lists
    /// nothing, a GPT that no MBR protects.
    Weak,
    /// A protected GPT that Linux does not use: its primary copy is damaged, or at the place for
    /// another sector size.
    Doubtful,
    /// Linux makes its partitions.
    Strong,
}

/// The table in use on `disk`, which starts at `slice.0` of the whole disk, where BSD labels count
/// as `slice.1`:
///
/// 1. a GPT, when an MBR entry of type 0xEE protects it;
/// 2. SGI's volume header, whose checksum holds;
/// 3. an MBR that lists partitions; but a BSD label where its only word is a slice from sector 0,
///    as FreeBSD's boot block has it on a disk without slices;
/// 4. Sun's label, whose checksum holds;
/// 5. a BSD label;
/// 6. a GPT that nothing protects: Linux does not see it, other systems and tools do;
/// 7. an MBR that lists nothing.
///
/// An entry of type 0xEE without a GPT is no partition, as for Linux.
pub(crate) fn choose(
    disk: &dyn Disk,
    sector: SectorSize,
    slice: (u64, Counting),
) -> Option<Choice> {
    let mut choice = in_use(disk, sector, slice)?;
    choice.table.problems.extend(half_moved::read(disk));
    Some(choice)
}

fn in_use(disk: &dyn Disk, sector: SectorSize, slice: (u64, Counting)) -> Option<Choice> {
    let gpt = gpt::find(disk, sector);
    let gpt = match gpt {
        Some(found) if found.is_protected => {
            let is_used = found.is_primary_sound && found.table.value.sector == sector;
            let weight = if is_used { TableWeight::Strong } else { TableWeight::Doubtful };
            return Some(Choice { table: found.table, weight });
        }
        other => other,
    };
    if let Some(label) = sgi_sun::sgi(disk) {
        return Some(strong(label));
    }
    let mut mbr = mbr::read(disk, sector);
    if let Some(table) = mbr.as_mut().filter(|table| !table.value.partitions.is_empty()) {
        note_lost_gpt(table, gpt.as_ref());
    }
    let is_listing = mbr.as_ref().is_some_and(|table| lists_more_than_a_boot_block(&table.value));
    if is_listing {
        return mbr.map(strong);
    }
    let label = sgi_sun::sun(disk).or_else(|| bsd::read(disk, sector, slice));
    if let Some(label) = label {
        return Some(strong(label));
    }
    let is_empty = mbr.as_ref().is_none_or(|table| table.value.partitions.is_empty());
    match gpt {
        Some(found) if is_empty => Some(Choice { table: found.table, weight: TableWeight::Weak }),
        _ if is_empty => mbr.map(|table| Choice { table, weight: TableWeight::Weak }),
        _ => mbr.map(strong),
    }
}

fn strong(table: Parsed<PartitionTable>) -> Choice {
    Choice { table, weight: TableWeight::Strong }
}

/// Returns whether an MBR lists anything but a BSD slice that begins with the MBR itself.
fn lists_more_than_a_boot_block(table: &PartitionTable) -> bool {
    table.partitions.iter().any(|partition| {
        partition.role != PartitionRole::BsdSlice || partition.range.start_bytes() != 0
    })
}

/// Names, among an MBR's problems, the GPT beside it that is gone or does not count.
fn note_lost_gpt(table: &mut Parsed<PartitionTable>, gpt: Option<&gpt::WeighedGpt>) {
    if let Some(found) = gpt {
        let detail = "a GPT header is here too, but the MBR has no entry of type 0xee: Linux uses \
                      the MBR";
        table.problems.push(Problem::new(ProblemKind::Overlap, found.at_bytes, detail));
    }
    let protective =
        table.value.partitions.iter().find(|partition| partition.role == PartitionRole::Protective);
    if let Some(entry) = protective {
        let detail = "the GPT is missing: an entry of type 0xee protects one, but no copy is found";
        let at = entry.entry_at_bytes;
        table.problems.push(Problem::new(ProblemKind::Copies, at, detail));
        table.value.partitions.retain(|partition| partition.role != PartitionRole::Protective);
    }
}
