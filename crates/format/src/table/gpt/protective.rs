//! The MBR before a GPT: one entry of type 0xEE that keeps old tools away, and in a hybrid MBR
//! others beside it, which must list what the GPT lists.
//!
//! Source: UEFI specification 5.2.3; Linux `block/partitions/efi.c` (`is_pmbr_valid`); gptfdisk's
//! check of hybrid MBRs.

use device::Disk;
use units::{Lba, SectorSize};

use crate::table::Partition;
use crate::table::boot::{BootEntry, BootSector};
use crate::table::overlap::outside;
use crate::table::types::PROTECTIVE;
use crate::{Problem, ProblemKind};

/// Facts of the first sector about a GPT.
pub(super) struct Protective {
    /// True if there is an entry of type 0xEE in a signed MBR.
    pub(super) is_present: bool,
    /// True if that is the first entry, and is marked active.
    pub(super) is_active: bool,
    /// True if there is no entry of another type.
    pub(super) is_blank: bool,
    /// The used entries of other types.
    pub(super) hybrid: Vec<Partition>,
    /// True if there is BIOS boot code.
    pub(super) has_code: bool,
    /// Its problems.
    pub(super) problems: Vec<Problem>,
}

/// Reads the protective MBR of a GPT that lists `partitions` on a disk whose last sector is `last`.
pub(super) fn read(
    disk: &dyn Disk,
    sector: SectorSize,
    last: Lba,
    partitions: &[Partition],
) -> Protective {
    let mut found = Protective {
        is_present: false,
        is_active: false,
        is_blank: false,
        hybrid: Vec::new(),
        has_code: false,
        problems: Vec::new(),
    };
    let boot = match BootSector::read(disk, 0) {
        Ok(boot) => boot,
        Err(error) => {
            found.problems.push(Problem::unreadable("protective MBR", 0, &error));
            return found;
        }
    };
    found.has_code = boot.has_code();
    let entries = boot.entries();
    found.is_active = entries[0].code == PROTECTIVE && entries[0].status == 0x80;
    found.is_blank = entries.iter().all(|entry| match entry.code {
        PROTECTIVE => true,
        code => code == 0 && entry.length_sectors == 0,
    });
    let protective = entries.into_iter().find(|entry| entry.code == PROTECTIVE);
    let Some(protective) = protective.filter(|_| boot.is_signed()) else {
        let detail = "no protective MBR: no entry of type 0xee; Linux does not look for a GPT then";
        found.problems.push(Problem::new(ProblemKind::Field, 0, detail));
        return found;
    };
    found.is_present = true;
    found.hybrid = (1..)
        .zip(entries)
        .filter(|(_, entry)| entry.code != PROTECTIVE)
        .filter_map(|(number, entry)| entry.partition(number, Lba(0), sector))
        .collect();
    if found.hybrid.is_empty() {
        found.problems.extend(wrong_extent(protective, last));
    }
    found.problems.extend(mismatches(&found.hybrid, partitions, disk.length_bytes()));
    found
}

/// Problems of a protective entry that does not cover all behind the first sector, as far as 32
/// bits reach. In a hybrid MBR it covers less.
fn wrong_extent(entry: BootEntry, last: Lba) -> Vec<Problem> {
    let mut problems = Vec::new();
    if entry.start_sectors != 1 {
        let start = entry.start_sectors;
        let detail = format!("the protective MBR entry starts at LBA {start}, not 1");
        problems.push(Problem::new(ProblemKind::Field, entry.at_bytes, detail));
    }
    let expected = u32::try_from(last.0).unwrap_or(u32::MAX);
    if entry.length_sectors != expected && entry.length_sectors != u32::MAX {
        let detail = format!(
            "the protective MBR entry has {} sectors, not {expected}: the disk had another length",
            entry.length_sectors
        );
        // Allowed in itself; it contradicts the disk, as the header's place of the backup does.
        problems.push(Problem::new(ProblemKind::Copies, entry.at_bytes, detail));
    }
    problems
}

/// Problems of hybrid entries that no partition of the GPT has the range of.
fn mismatches(hybrid: &[Partition], listed: &[Partition], disk_bytes: u64) -> Vec<Problem> {
    let is_listed = |entry: &&Partition| listed.iter().any(|other| other.range == entry.range);
    let mut problems: Vec<Problem> =
        hybrid.iter().filter_map(|entry| outside(entry, disk_bytes)).collect();
    problems.extend(hybrid.iter().filter(|entry| !is_listed(entry)).map(|entry| {
        let detail = format!(
            "hybrid MBR entry {}, bytes {} to {}, is no partition of the GPT",
            entry.number,
            entry.range.start_bytes(),
            entry.range.end_bytes()
        );
        Problem::new(ProblemKind::Copies, entry.entry_at_bytes, detail)
    }));
    problems
}
