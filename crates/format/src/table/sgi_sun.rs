//! Labels of workstations: SGI's volume header and Sun's label.
//!
//! Both are one sector of big-endian fields whose words add up to nothing: SGI's as a sum of 32-bit
//! words, Sun's as an exclusive-or of 16-bit words. A label whose sum does not hold is none, as for
//! Linux. Both count in sectors of 512 bytes; Sun's partitions start at whole cylinders.
//!
//! Source: Linux `block/partitions/{sgi,sun}.c`; util-linux `include/pt-{sgi,sun}.h`,
//! `libfdisk/src/{sgi,sun}.c`.

use device::{Disk, disk};
use units::{ByteRange, SectorSize};

use super::overlap::misplaced;
use super::{Partition, PartitionRole, PartitionTable, TableKind};
use crate::Parsed;
use crate::bytes::{self, Block};

/// A label, or one sector of it.
type Sector = Block<512>;

/// Both count in these.
const SECTOR: SectorSize = SectorSize::B512;

/// One entry as it stands: its place among the entries and on the disk, and what it says.
struct VendorEntry {
    slot: u32,
    at_bytes: u64,
    start_sectors: u64,
    length_sectors: u64,
    code: u32,
}

/// A type: its code, its name, what it is for.
type Type = (u32, &'static str, PartitionRole);

const SGI_TYPES: [Type; 18] = [
    (0x00, "SGI volume header", PartitionRole::Reserved),
    (0x01, "SGI track replacements", PartitionRole::Reserved),
    (0x02, "SGI sector replacements", PartitionRole::Reserved),
    (0x03, "SGI raw", PartitionRole::Ordinary),
    (0x04, "SGI BSD", PartitionRole::Ordinary),
    (0x05, "SGI System V", PartitionRole::Ordinary),
    (0x06, "SGI volume", PartitionRole::Whole),
    (0x07, "SGI EFS", PartitionRole::Ordinary),
    (0x08, "SGI lvol", PartitionRole::Ordinary),
    (0x09, "SGI rlvol", PartitionRole::Ordinary),
    (0x0a, "SGI XFS", PartitionRole::Ordinary),
    (0x0b, "SGI XFS log", PartitionRole::Ordinary),
    (0x0c, "SGI XLV", PartitionRole::Ordinary),
    (0x0d, "SGI XVM", PartitionRole::Ordinary),
    LINUX[0],
    LINUX[1],
    LINUX[2],
    LINUX[3],
];

const SUN_TYPES: [Type; 15] = [
    (0x00, "unassigned", PartitionRole::Ordinary),
    (0x01, "Solaris boot", PartitionRole::Ordinary),
    (0x02, "Solaris root", PartitionRole::Ordinary),
    (0x03, "Solaris swap", PartitionRole::Ordinary),
    (0x04, "Solaris usr", PartitionRole::Ordinary),
    (0x05, "whole disk", PartitionRole::Whole),
    (0x06, "Solaris stand", PartitionRole::Ordinary),
    (0x07, "Solaris var", PartitionRole::Ordinary),
    (0x08, "Solaris home", PartitionRole::Ordinary),
    (0x09, "Solaris alternate sectors", PartitionRole::Reserved),
    (0x0a, "Solaris cache", PartitionRole::Ordinary),
    LINUX[0],
    LINUX[1],
    LINUX[2],
    LINUX[3],
];

/// The types that Linux uses in both.
const LINUX: [Type; 4] = [
    (0x82, "Linux swap", PartitionRole::Ordinary),
    (0x83, "Linux", PartitionRole::Ordinary),
    (0x8e, "Linux LVM", PartitionRole::Ordinary),
    (0xfd, "Linux RAID", PartitionRole::Ordinary),
];

/// Reads SGI's volume header at byte 0; `None` when there is none, or its checksum does not hold.
#[must_use]
pub fn sgi(disk: &dyn Disk) -> Option<Parsed<PartitionTable>> {
    const ENTRIES_AT: usize = 312;
    let label = sector(disk)?;
    let (words, _) = label.0.as_chunks::<4>();
    let sum = words.iter().fold(0, |sum: u32, &word| sum.wrapping_add(u32::from_be_bytes(word)));
    if label.be32::<0>() != 0x0be5_a941 || sum != 0 {
        return None;
    }
    let entries = (0..16).filter_map(|slot| {
        let at = ENTRIES_AT + 12 * slot;
        let entry: Block<12> = bytes::block_at(&label.0, at)?;
        Some(VendorEntry {
            slot: u32::try_from(slot).ok()?,
            at_bytes: u64::try_from(at).ok()?,
            start_sectors: entry.be32::<4>().into(),
            length_sectors: entry.be32::<0>().into(),
            code: entry.be32::<8>(),
        })
    });
    Some(table(disk, TableKind::Sgi, entries, &SGI_TYPES))
}

/// Reads Sun's label at byte 0; `None` when there is none, or its checksum does not hold.
#[must_use]
pub fn sun(disk: &dyn Disk) -> Option<Parsed<PartitionTable>> {
    const TAGS_AT: usize = 142;
    const ENTRIES_AT: usize = 444;
    let label = sector(disk)?;
    let (words, _) = label.0.as_chunks::<2>();
    let sum = words.iter().fold(0, |sum, &word| sum ^ u16::from_be_bytes(word));
    if label.be16::<508>() != 0xdabe || sum != 0 {
        return None;
    }
    let cylinder_sectors = u64::from(label.be16::<436>()) * u64::from(label.be16::<438>());
    // Tags count where the table of them says that it is one.
    let is_tagged = label.be32::<188>() == 0x600d_deee && label.be32::<128>() == 1;
    let entries = (0..8).filter_map(|slot| {
        let at = ENTRIES_AT + 8 * slot;
        let entry: Block<8> = bytes::block_at(&label.0, at)?;
        let tag: Block<2> = bytes::block_at(&label.0, TAGS_AT + 4 * slot)?;
        Some(VendorEntry {
            slot: u32::try_from(slot).ok()?,
            at_bytes: u64::try_from(at).ok()?,
            // Both factors have 32 bits.
            start_sectors: u64::from(entry.be32::<0>()).saturating_mul(cylinder_sectors),
            length_sectors: entry.be32::<4>().into(),
            code: if is_tagged { tag.be16::<0>().into() } else { 0 },
        })
    });
    Some(table(disk, TableKind::Sun, entries, &SUN_TYPES))
}

fn sector(disk: &dyn Disk) -> Option<Sector> {
    disk::read_array(disk, 0).ok().map(Block)
}

/// The table of the entries that are used.
fn table(
    disk: &dyn Disk,
    kind: TableKind,
    entries: impl Iterator<Item = VendorEntry>,
    types: &[Type],
) -> Parsed<PartitionTable> {
    let used = entries.filter(|entry| entry.length_sectors != 0);
    let partitions: Vec<Partition> = used.filter_map(|entry| partition(&entry, types)).collect();
    let problems = misplaced(&partitions, disk.length_bytes());
    Parsed { value: PartitionTable::new(kind, SECTOR, partitions), problems }
}

/// The partition of an entry; `None` beyond 64 bits.
fn partition(entry: &VendorEntry, types: &[Type]) -> Option<Partition> {
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR.bytes());
    let known = types.iter().find(|(code, ..)| *code == entry.code);
    Some(Partition {
        number: entry.slot + 1,
        range: ByteRange::new(bytes(entry.start_sectors)?, bytes(entry.length_sectors)?)?,
        type_code: format!("{:#04x}", entry.code),
        type_name: known.map(|(_, name, _)| *name),
        role: known.map_or(PartitionRole::Ordinary, |(.., role)| *role),
        name: None,
        id: None,
        bootable: false,
        entry_at_bytes: entry.at_bytes,
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::ProblemKind;

    /// A label of zeros with these fields, and the sum that makes it hold.
    fn sun_label(fields: &[(u64, &[u8])]) -> MemoryDisk {
        let mut bytes = [0; 512];
        let magic: (u64, &[u8]) = (508, &[0xda, 0xbe]);
        for (at, field) in fields.iter().chain([&magic]) {
            let at = usize::try_from(*at).unwrap();
            bytes[at..at + field.len()].copy_from_slice(field);
        }
        let (words, _) = bytes.as_chunks::<2>();
        let sum = words.iter().fold(0, |sum, &word| sum ^ u16::from_be_bytes(word));
        let mut disk = MemoryDisk::with_head(1 << 30, &bytes);
        disk.put(510, &sum.to_be_bytes());
        disk
    }

    /// One partition of 255 heads and 63 sectors, from cylinder 1 on.
    const ONE: [(u64, &[u8]); 5] =
        [(436, &[0, 255]), (438, &[0, 63]), (444, &[0, 0, 0, 1]), (448, &[0, 0, 16, 0]), (4, b"")];

    #[test]
    fn a_sun_partition_starts_at_its_cylinder() {
        let found = sun(&sun_label(&ONE)).unwrap();
        let [only] = &found.value.partitions[..] else { panic!("one partition") };
        assert_eq!(only.range, ByteRange::new(255 * 63 * 512, 4096 * 512).unwrap());
        assert_eq!((only.number, &*only.type_code), (1, "0x00"));
        assert_eq!(found.problems, []);
    }

    #[test]
    fn a_start_beyond_64_bits_is_left_out_and_one_behind_the_disk_is_a_problem() {
        let absurd: [(u64, &[u8]); 4] =
            [(436, &[0xff; 2]), (438, &[0xff; 2]), (444, &[0xff; 4]), (448, &[0xff; 4])];
        assert_eq!(sun(&sun_label(&absurd)).unwrap().value.partitions, []);
        let behind: [(u64, &[u8]); 4] =
            [(436, &[0, 255]), (438, &[0, 63]), (444, &[0, 1, 0, 0]), (448, &[0, 0, 16, 0])];
        let found = sun(&sun_label(&behind)).unwrap();
        assert_eq!(found.problems[0].kind, ProblemKind::Outside);
    }

    #[test]
    fn a_label_whose_sum_does_not_hold_is_none() {
        let mut disk = sun_label(&ONE);
        disk.put(100, &[1]);
        assert!(sun(&disk).is_none());
        let mut disk = MemoryDisk::with_head(1 << 20, &0x0be5_a941_u32.to_be_bytes());
        assert!(sgi(&disk).is_none());
        disk.put(504, &0x0be5_a941_u32.wrapping_neg().to_be_bytes());
        assert!(sgi(&disk).is_some());
    }
}
