//! XFS: one superblock at the start, big-endian, a sector long.
//!
//! Source: `libxfs/xfs_format.h` of xfsprogs, `struct xfs_dsb`.

use super::facts::{Beside, FsStripe};
use super::field::{bytes_text, holding, label, power, power_of_two, uuid};
use super::found::Found;
use super::journal;
use super::xfs_stripe::XfsPlaces;
use crate::Problem;
use crate::bytes::Block;
use crate::checksum::CRC32C;
use crate::heads::Heads;

const MAGIC: &[u8] = b"XFSB";
const SECTOR_BYTES_MAX: u64 = 32768;
const BLOCK_BYTES_MAX: u64 = 65536;
/// The bits of the version field that hold the version itself.
const VERSION_MASK: u16 = 0xf;
const VERSION_SECTOR: u16 = 0x800;
const VERSION_STRIPE: u16 = 0x80;
const CRC_AT: usize = 224;
/// Term of [`super::FileSystem::details`] for the length of the realtime section in blocks.
pub const REALTIME: &str = "realtime blocks";

/// The file system whose superblock stands at the start.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(0, MAGIC) {
        return None;
    }
    let block = heads.block::<512>(0)?;
    if !plausible(&block) {
        return None;
    }
    let mut found = Found::of("xfs");
    let version = block.be16::<100>() & VERSION_MASK;
    found.value.variant = Some(version.to_string());
    found.value.label = label(&block.array::<108, 12>());
    found.value.id = uuid(block.array::<32, 16>());
    // A log of its own has a place; its headers have the UUID of the file system.
    if block.be64::<48>() == 0 {
        found.value.beside = found.value.id.clone().map(Beside::LogOn);
    }
    // Files of a realtime section have addresses of their own.
    if block.be64::<16>() != 0 {
        found.note(REALTIME, block.be64::<16>().to_string());
    }
    let sector = block.be16::<102>();
    found.value.sector_bytes = power_of_two(sector, 512..=SECTOR_BYTES_MAX);
    match found.value.sector_bytes {
        None => found.wrong_field(102, format!("sector of {sector} bytes")),
        Some(sector_bytes) if version == 5 => verify(heads, sector_bytes, &mut found),
        Some(_) => {}
    }
    read_layout(&block, heads, &mut found);
    Some(found)
}

/// The magic is four printable bytes, so some of what must agree has to agree.
fn plausible(block: &Block<512>) -> bool {
    let same = |shift: u8, value: u64| power(shift, 1..=u64::MAX) == Some(value);
    holding(&[
        same(block.byte::<120>(), u64::from(block.be32::<4>())),
        same(block.byte::<121>(), u64::from(block.be16::<102>())),
        same(block.byte::<122>(), u64::from(block.be16::<104>())),
        matches!(block.be16::<100>() & VERSION_MASK, 1..=5),
    ]) >= 3
}

/// Compares the CRC, which covers the whole sector with zeros in its own place.
fn verify(heads: &Heads<'_>, sector_bytes: u64, found: &mut Found) {
    let length = usize::try_from(sector_bytes).unwrap_or(512).min(32768);
    let mut sector = vec![0; length];
    if let Err(error) = heads.read(0, &mut sector) {
        found.problems.push(Problem::unreadable("superblock of XFS", 0, &error));
        return;
    }
    let mut stored = [0; 4];
    stored.copy_from_slice(&sector[CRC_AT..CRC_AT + 4]);
    sector[CRC_AT..CRC_AT + 4].fill(0);
    found.compare_checksums(224, u32::from_le_bytes(stored), CRC32C.checksum(&sector));
}

fn read_layout(block: &Block<512>, heads: &Heads<'_>, found: &mut Found) {
    let size = block.be32::<4>();
    let Some(block_bytes) = power_of_two(size, 512..=BLOCK_BYTES_MAX) else {
        found.wrong_field(4, format!("block of {size} bytes"));
        return;
    };
    if found.value.sector_bytes.is_some_and(|sector_bytes| sector_bytes > block_bytes) {
        found.wrong_field(102, format!("sector is larger than the block of {block_bytes} bytes"));
    }
    found.value.block_bytes = Some(block_bytes);
    found.value.journal = journal::of_xfs(block, block_bytes);
    found.set_size(heads, 8, block.be64::<8>(), block_bytes);
    let unit_bytes = u64::from(block.be32::<184>()) * block_bytes;
    let width_bytes = u64::from(block.be32::<188>()) * block_bytes;
    if unit_bytes != 0 || width_bytes != 0 {
        found.value.stripe = Some(FsStripe { unit_bytes, width_bytes });
    }
    let whole = width_bytes.checked_rem(unit_bytes) == Some(0) && width_bytes != 0;
    if unit_bytes != 0 && !whole {
        let detail = format!("stripe width of {width_bytes} bytes over a unit of {unit_bytes}");
        found.wrong_field(188, detail);
    }
    let group_bytes = u64::from(block.be32::<84>()) * block_bytes;
    found.value.xfs = Some(XfsPlaces {
        block_bytes,
        // Inodes of the first group are counted from its start.
        root_at_bytes: (block.be64::<56>().checked_shr(block.byte::<123>().into()).unwrap_or(0))
            .saturating_mul(block_bytes),
        group_bytes,
        has_stripe: block.be16::<100>() & VERSION_STRIPE != 0,
    });
    found.note("allocation group", bytes_text(group_bytes));
    found.note("allocation groups", block.be32::<88>().to_string());
    if block.be16::<100>() & VERSION_SECTOR != 0 && block.be16::<194>() != 0 {
        found.note("log sector", bytes_text(u64::from(block.be16::<194>())));
    }
    // 1 stands for a second version log without a unit.
    if block.be32::<196>() > 1 {
        found.note("log stripe unit", bytes_text(u64::from(block.be32::<196>())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// 1 GiB in blocks of 4096, sectors of 512, four groups; a unit of 16 and a width of 0 blocks.
    fn superblock(version: u8) -> [u8; 512] {
        let mut bytes = [0; 512];
        bytes[..4].copy_from_slice(MAGIC);
        for (at, value) in [(4, 4096_u32), (12, 262_144), (84, 65536), (88, 4), (184, 16)] {
            bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        }
        bytes[101] = version;
        bytes[102] = 2;
        bytes[104] = 2;
        bytes[108..112].copy_from_slice(b"data");
        bytes[120..123].copy_from_slice(&[12, 9, 9]);
        let sum = CRC32C.checksum(&bytes);
        bytes[CRC_AT..CRC_AT + 4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Found> {
        let disk = MemoryDisk::with_head(1 << 30, bytes);
        read(&Heads::new(&disk))
    }

    #[test]
    fn a_unit_without_a_width_stays_visible_and_is_a_problem() {
        let found = parse(&superblock(5)).unwrap();
        let stripe = FsStripe { unit_bytes: 65536, width_bytes: 0 };
        assert_eq!(found.value.stripe, Some(stripe));
        assert_eq!(found.value.size_bytes, Some(1 << 30));
        assert_eq!(found.problems.len(), 1);
        assert_eq!(found.problems[0].kind, ProblemKind::Field);
    }

    #[test]
    fn only_version_5_has_a_checksum() {
        for (version, problems) in [(4, 0), (5, 1)] {
            let mut bytes = superblock(version);
            bytes[108] ^= 1;
            let found = parse(&bytes).unwrap();
            let sums = found.problems.iter().filter(|p| p.kind == ProblemKind::Checksum).count();
            assert_eq!(sums, problems);
        }
    }

    #[test]
    fn the_magic_alone_is_no_file_system() {
        let mut bytes = [0xa5; 512];
        bytes[..4].copy_from_slice(MAGIC);
        assert!(parse(&bytes).is_none());
    }
}
