//! Fields of file systems that hold their start, and bytes that tell one content from another.
//!
//! Sources: Microsoft's FAT and exFAT specifications; the NTFS boot sector as ntfs-3g's `layout.h`
//! has it.

use device::{Disk, disk};

use crate::old_table_bytes::{number, put};

/// Bytes of a partition that change with its place, counted from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixUp {
    /// The field, in words.
    pub what: String,
    /// Its first byte, from the start of the partition.
    pub at_bytes: u64,
    /// Bytes that are there now.
    pub old: Vec<u8>,
    /// Bytes that belong there.
    pub new: Vec<u8>,
}

/// Returns the changes in the file system `kind` on `volume` when its start moves from byte `from`
/// of the disk to byte `to`. A field that does not hold the old start is left alone.
pub(crate) fn fix_ups(volume: &dyn Disk, kind: &str, from: u64, to: u64) -> Vec<FixUp> {
    let read = |at: u64, length: u64| disk::read_vec(volume, at, length).ok();
    let Some(boot) = read(0, 512) else { return Vec::new() };
    match kind {
        "vfat" => {
            let sector = number(&boot, 11, 2);
            let spare = number(&boot, 0x32, 2) * sector;
            let copies = if number(&boot, 0x16, 2) == 0 { vec![0, spare] } else { vec![0] };
            hidden(volume, &copies, sector, from, to)
        }
        "ntfs" => {
            let sector = number(&boot, 11, 2);
            let spare = number(&boot, 0x28, 8).saturating_mul(sector);
            hidden(volume, &[0, spare], sector, from, to)
        }
        "exfat" => exfat(volume, &boot, from, to).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The count of hidden sectors in each copy of the boot sector.
fn hidden(volume: &dyn Disk, copies: &[u64], sector: u64, from: u64, to: u64) -> Vec<FixUp> {
    let lba = |bytes: u64| bytes.checked_div(sector).and_then(|lba| u32::try_from(lba).ok());
    let (Some(old), Some(new)) = (lba(from), lba(to)) else { return Vec::new() };
    let mut found: Vec<FixUp> = Vec::new();
    for &copy in copies {
        let Some(at) = copy.checked_add(0x1c) else { continue };
        let Ok(held) = disk::read_array::<4>(volume, at) else { continue };
        let known = found.iter().any(|one| one.at_bytes == at);
        // Where the boot sector says something else, its copy is none of it.
        if old != 0 && held == old.to_le_bytes() && !known {
            let what = format!("hidden sectors {old} -> {new}");
            let (old, new) = (held.to_vec(), new.to_le_bytes().to_vec());
            found.push(FixUp { what, at_bytes: at, old, new });
        }
    }
    found
}

/// The partition's offset in both boot regions, and the checksums of these.
fn exfat(volume: &dyn Disk, boot: &[u8], from: u64, to: u64) -> Option<Vec<FixUp>> {
    let shift = u32::try_from(number(boot, 108, 1)).ok()?;
    let sector = 1_u64.checked_shl(shift).filter(|sector| (512..=4096).contains(sector))?;
    let (old, new) = (from.div_euclid(sector), to.div_euclid(sector));
    let mut found = Vec::new();
    for region in [0, 12 * sector] {
        let mut bytes = disk::read_vec(volume, region, 12 * sector).ok()?;
        if old == 0 || number(&bytes, 64, 8) != old {
            continue;
        }
        let field = bytes[64..72].to_vec();
        put(&mut bytes, 64, 8, new);
        let what = format!("exFAT partition offset {old} -> {new}");
        found.push(FixUp { what, at_bytes: region + 64, old: field, new: bytes[64..72].to_vec() });
        let summed = usize::try_from(11 * sector).ok()?;
        let sum = exfat_checksum(&bytes[..summed]).to_le_bytes();
        let table: Vec<u8> = sum.into_iter().cycle().take(bytes.len() - summed).collect();
        let (what, at_bytes) = ("exFAT boot checksum".to_owned(), region + 11 * sector);
        found.push(FixUp { what, at_bytes, old: bytes[summed..].to_vec(), new: table });
    }
    Some(found)
}

/// The boot checksum: the flags and the percentage in use are left out.
fn exfat_checksum(bytes: &[u8]) -> u32 {
    let summed = bytes.iter().enumerate().filter(|(at, _)| !matches!(at, 106 | 107 | 112));
    summed.fold(0, |sum: u32, (_, &byte)| sum.rotate_right(1).wrapping_add(byte.into()))
}

/// Runs of bytes, from the start of a partition, by which its content is known again: they do not
/// change when it is mounted. (Offset and length of each.)
pub(crate) fn witnesses(kind: &str) -> &'static [(u64, u64)] {
    match kind {
        // Block count and UUID.
        "ext2" | "ext3" | "ext4" => &[(1028, 4), (1080, 2), (1128, 16)],
        // Magic, block size, block count; UUID.
        "xfs" => &[(0, 16), (32, 16)],
        // UUID and magic; the device's size.
        "btrfs" => &[(0x1_0020, 16), (0x1_0040, 8), (0x1_00d1, 8)],
        // The parameter block up to the count of sectors, before the dirty flag.
        "vfat" => &[(11, 25)],
        "ntfs" => &[(3, 21), (40, 40)],
        "exfat" => &[(3, 103)],
        "f2fs" => &[(1024, 4), (1024 + 36, 8), (1024 + 108, 16)],
        "swap" => &[(1024, 28)],
        "LVM physical volume" => &[(512, 32), (544, 32)],
        "LUKS1" => &[(0, 8), (168, 40)],
        "LUKS2" => &[(0, 8), (168, 40)],
        _ => &[],
    }
}
