//! The first sector of a disk, a partition or an extended partition's link: four entries before
//! 0x55AA.
//!
//! The same two bytes end the boot sectors of FAT, NTFS and exFAT. What tells them apart is what
//! libblkid and the kernel look at: status bytes that are 0x00 or 0x80 in all four entries, and no
//! sound file system superblock.
//!
//! Source: util-linux `include/pt-mbr.h`, `libblkid/src/partitions/dos.c`,
//! `libblkid/src/superblocks/{vfat,ntfs,exfat}.c`; Linux `block/partitions/msdos.c`; UEFI 5.2.

use device::{Disk, ReadError, disk};
use units::{ByteRange, Lba, SectorSize};

use super::types::MbrType;
use super::{Partition, PartitionRole};
use crate::bytes::{self, Block};

/// The length of the record, whatever the sector size.
pub(super) const RECORD_BYTES: u64 = 512;

const ENTRIES_AT: usize = 446;
const ENTRY_BYTES: usize = 16;

/// The first 512 bytes of a sector that may hold four partition entries.
pub(super) struct BootSector {
    block: Block<512>,
    at_bytes: u64,
}

/// One of the four entries, as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct BootEntry {
    /// 0x80 when active, else 0.
    pub(super) status: u8,
    /// The type code.
    pub(super) code: u8,
    /// The first sector, relative to what the record's place says.
    pub(super) start_sectors: u32,
    /// The number of sectors; 0 for an entry that is not used.
    pub(super) length_sectors: u32,
    /// Place where the entry stands on the disk.
    pub(super) at_bytes: u64,
}

impl BootSector {
    /// The record at `at_bytes`.
    pub(super) fn read(disk: &dyn Disk, at_bytes: u64) -> Result<BootSector, ReadError> {
        Ok(BootSector { block: Block(disk::read_array(disk, at_bytes)?), at_bytes })
    }

    /// Returns whether it ends in 0x55AA.
    pub(super) fn is_signed(&self) -> bool {
        self.block.array::<510, 2>() == [0x55, 0xaa]
    }

    /// Returns whether any of the first 440 bytes, where the BIOS finds its code, is not 0.
    pub(super) fn has_code(&self) -> bool {
        self.block.array::<0, 440>().iter().any(|&byte| byte != 0)
    }

    /// The disk signature that Windows and Linux use as an id; 0 when there is none.
    pub(super) fn disk_id(&self) -> u32 {
        self.block.le32::<440>()
    }

    /// The four entries, used or not.
    pub(super) fn entries(&self) -> [BootEntry; 4] {
        [0, 1, 2, 3].map(|slot| {
            let at = ENTRIES_AT + slot * ENTRY_BYTES;
            let entry: Block<ENTRY_BYTES> =
                bytes::block_at(&self.block.0, at).expect("four entries fit in the record");
            BootEntry {
                status: entry.byte::<0>(),
                code: entry.byte::<4>(),
                start_sectors: entry.le32::<8>(),
                length_sectors: entry.le32::<12>(),
                at_bytes: self.at_bytes.saturating_add(u64::try_from(at).unwrap_or(u64::MAX)),
            }
        })
    }

    /// Returns whether it can be a partition table at all: signed, every status byte 0x00 or 0x80,
    /// and not an AIX physical volume, which begins with `IBMA` in EBCDIC.
    pub(super) fn may_be_table(&self) -> bool {
        self.is_signed()
            && self.entries().iter().all(|entry| matches!(entry.status, 0 | 0x80))
            && self.block.array::<0, 4>() != [0xc9, 0xc2, 0xd4, 0xc1]
    }

    /// The file system whose boot sector it is, or `None`.
    pub(super) fn file_system(&self) -> Option<&'static str> {
        if self.is_exfat() {
            Some("exFAT")
        } else if self.is_ntfs() {
            Some("NTFS")
        } else if self.is_fat() {
            Some("FAT")
        } else {
            None
        }
    }

    fn is_exfat(&self) -> bool {
        // The area of FAT's parameters must be zero, so that nothing mounts it as FAT.
        self.block.array::<3, 8>() == *b"EXFAT   " && self.block.array::<11, 53>() == [0; 53]
    }

    fn is_ntfs(&self) -> bool {
        self.block.array::<3, 8>() == *b"NTFS    "
            && is_sector_size(self.block.le16::<0x0b>())
            && self.block.array::<0x0e, 5>() == [0; 5]
    }

    /// The conditions of libblkid's check: a superblock counts as FAT even without its magic
    /// string.
    fn is_fat(&self) -> bool {
        let magic = self.block.array::<0x36, 8>();
        let (fats, reserved) = (self.block.byte::<0x10>(), self.block.le16::<0x0e>());
        let cluster_sectors = self.block.byte::<0x0d>();
        magic != *b"JFS     "
            && magic != *b"HPFS    "
            && fats != 0
            && reserved != 0
            && matches!(self.block.byte::<0x15>(), 0xf0 | 0xf8..)
            && cluster_sectors.is_power_of_two()
            && is_sector_size(self.block.le16::<0x0b>())
            && self.fat_clusters().is_some_and(|(clusters, most)| clusters <= most)
    }

    /// The number of clusters that FAT's parameters give, and the most that their FAT can number.
    fn fat_clusters(&self) -> Option<(u64, u64)> {
        let sectors = match self.block.le16::<0x13>() {
            0 => u64::from(self.block.le32::<0x20>()),
            small => u64::from(small),
        };
        let (fat_sectors, most) = match self.block.le16::<0x16>() {
            0 => (u64::from(self.block.le32::<0x24>()), 0x0fff_fff6),
            small => (u64::from(small), 0xfff4),
        };
        let sector = u64::from(self.block.le16::<0x0b>());
        let directory = (u64::from(self.block.le16::<0x11>()) * 32).div_ceil(sector.max(1));
        let overhead = u64::from(self.block.le16::<0x0e>())
            + fat_sectors * u64::from(self.block.byte::<0x10>())
            + directory;
        let data = sectors.checked_sub(overhead)?;
        Some((data.checked_div_euclid(u64::from(self.block.byte::<0x0d>()))?, most))
    }
}

fn is_sector_size(bytes: u16) -> bool {
    bytes.is_power_of_two() && (512..=4096).contains(&bytes)
}

impl BootEntry {
    /// Returns whether it lists anything: as for Linux, the length decides, not the type.
    pub(super) fn is_used(self) -> bool {
        self.length_sectors != 0
    }

    /// Returns whether it is a container of logical partitions: the three types that Linux follows.
    pub(super) fn is_extended(self) -> bool {
        MbrType(self.code).role() == PartitionRole::Extended
    }

    /// The bytes it covers, when its start counts from sector `base`; `None` beyond 64 bits.
    pub(super) fn range(self, base: Lba, sector: SectorSize) -> Option<ByteRange> {
        let start = Lba(base.0.checked_add(u64::from(self.start_sectors))?).to_bytes(sector)?;
        ByteRange::new(start, Lba(u64::from(self.length_sectors)).to_bytes(sector)?)
    }

    /// The partition it lists as `number`, when its start counts from sector `base`; `None` when it
    /// is not used.
    pub(super) fn partition(self, number: u32, base: Lba, sector: SectorSize) -> Option<Partition> {
        if !self.is_used() {
            return None;
        }
        let kind = MbrType(self.code);
        Some(Partition {
            number,
            range: self.range(base, sector)?,
            type_code: kind.code(),
            type_name: kind.name(),
            role: kind.role(),
            name: None,
            id: None,
            bootable: self.status == 0x80,
            entry_at_bytes: self.at_bytes,
        })
    }
}
