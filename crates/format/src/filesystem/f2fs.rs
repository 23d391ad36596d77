//! f2fs: a superblock at 1024 and its copy in the next block.
//!
//! Source: `include/f2fs_fs.h` of f2fs-tools, `struct f2fs_super_block`.

use units::DiskText;

use super::field::{bytes_text, holding, not_empty, power, uuid};
use super::found::Found;
use crate::bytes::Block;
use crate::checksum::seeded_crc32;
use crate::heads::Heads;

/// Place where the first superblock stands.
const AT: u64 = 1024;
const MAGIC: u32 = 0xf2f5_2010;
/// Length of the structure, its checksum included.
const LENGTH: usize = 3072;
const BLOCK_BYTES_MAX: u64 = 65536;
/// Place where its devices are listed: how many at most, what each takes, and its path first.
const DEVICES: usize = 2201;
const DEVICES_MAX: usize = 8;
const DEVICE_BYTES: usize = 68;
const PATH_BYTES: usize = 64;

/// The file system whose first superblock stands at 1024.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(AT, &MAGIC.to_le_bytes()) {
        return None;
    }
    let block = heads.block::<LENGTH>(AT)?;
    if !plausible(&block) {
        return None;
    }
    let mut found = Found::of("f2fs");
    found.value.variant = Some(format!("{}.{}", block.le16::<4>(), block.le16::<6>()));
    found.value.label = not_empty(DiskText::from_utf16le(&block.array::<124, 1024>()));
    found.value.id = uuid(block.array::<108, 16>());
    verify(&block, &mut found);
    read_layout(&block, heads, &mut found);
    Some(found)
}

/// The paths of the devices that it lies on beside its first; `None` where it is none.
pub(super) fn devices(heads: &Heads<'_>) -> Option<Vec<DiskText>> {
    let block = heads.block::<LENGTH>(AT)?;
    if block.le32::<0>() != MAGIC || !plausible(&block) {
        return None;
    }
    let listed = block.0[DEVICES..].chunks_exact(DEVICE_BYTES).take(DEVICES_MAX).skip(1);
    let paths = listed.map(|device| DiskText::from_padded(&device[..PATH_BYTES]));
    Some(paths.filter(|path| !path.is_empty()).collect())
}

/// The magic is four bytes, so the shifts beside it have to make sense too.
fn plausible(block: &Block<LENGTH>) -> bool {
    let sectors_shift = block.le32::<8>().checked_add(block.le32::<12>());
    holding(&[
        matches!(block.le32::<8>(), 9..=16),
        matches!(block.le32::<16>(), 12..=16),
        sectors_shift == Some(block.le32::<16>()),
        block.le32::<20>() <= 16,
    ]) >= 3
}

/// Compares the checksum, which older tools left out.
fn verify(block: &Block<LENGTH>, found: &mut Found) {
    let at = block.le32::<32>();
    if at == 0 {
        return;
    }
    let stored = usize::try_from(at).ok().and_then(|at| block.0.get(at..)?.first_chunk::<4>());
    match (stored, usize::try_from(at)) {
        (Some(stored), Ok(end)) => {
            let computed = seeded_crc32(MAGIC, &[&block.0[..end]]);
            found.compare_checksums(AT + u64::from(at), u32::from_le_bytes(*stored), computed);
        }
        _ => found.wrong_field(AT + 32, format!("checksum at {at} of {LENGTH} bytes")),
    }
}

fn read_layout(block: &Block<LENGTH>, heads: &Heads<'_>, found: &mut Found) {
    let shift = block.le32::<16>();
    let Some(block_bytes) = power(shift, 512..=BLOCK_BYTES_MAX) else {
        found.wrong_field(AT + 16, format!("block of 1 << {shift} bytes"));
        return;
    };
    found.value.block_bytes = Some(block_bytes);
    found.value.sector_bytes = Some(block_bytes);
    let blocks = block.le64::<36>();
    // With several devices, which the superblock lists by path, the count is that of all.
    if block.byte::<DEVICES>() == 0 {
        found.set_size(heads, AT + 36, blocks, block_bytes);
    } else {
        let all = u128::from(blocks) * u128::from(block_bytes);
        found.note("size of all devices", format!("{all} bytes"));
    }
    let segment = power(block.le32::<20>(), 1..=1 << 16).and_then(|n| n.checked_mul(block_bytes));
    let section = segment.and_then(|bytes| bytes.checked_mul(block.le32::<24>().into()));
    let zone = section.and_then(|bytes| bytes.checked_mul(block.le32::<28>().into()));
    for (term, bytes) in [("segment", segment), ("section", section), ("zone", zone)] {
        match bytes {
            Some(bytes) if bytes > 0 => found.note(term, bytes_text(bytes)),
            _ => found.wrong_field(AT + 20, format!("{term} of no possible size")),
        }
    }
    let first = u64::from(block.le32::<72>()) * block_bytes;
    let main = u64::from(block.le32::<92>()) * block_bytes;
    found.note("first segment at", bytes_text(first));
    found.note("main area at", bytes_text(main));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// 1 GiB in blocks of 4096, segments of 512 blocks, sections of two segments.
    fn superblock() -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let fields = [
            (0, MAGIC),
            (4, 1),
            (8, 9),
            (12, 3),
            (16, 12),
            (20, 9),
            (24, 2),
            (28, 1),
            (32, 3068),
            (36, 262_144),
            (72, 512),
            (92, 5120),
        ];
        for (at, value) in fields {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[124..130].copy_from_slice(b"e\0s\0p\0");
        let sum = seeded_crc32(MAGIC, &[&bytes[..3068]]);
        bytes[3068..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Found> {
        let mut disk = MemoryDisk::new(1 << 30);
        disk.put(AT, bytes);
        read(&Heads::new(&disk))
    }

    #[test]
    fn segments_and_areas_are_given_in_bytes() {
        let found = parse(&superblock()).unwrap();
        assert_eq!(found.problems, []);
        assert_eq!(found.value.size_bytes, Some(1 << 30));
        let expected = [
            ("segment", "2097152 bytes"),
            ("section", "4194304 bytes"),
            ("zone", "4194304 bytes"),
            ("first segment at", "2097152 bytes"),
            ("main area at", "20971520 bytes"),
        ];
        assert_eq!(found.value.details, expected.map(|(term, value)| (term, value.to_owned())));
    }

    #[test]
    fn a_changed_byte_breaks_the_checksum_and_a_checksum_outside_is_a_problem() {
        let mut bytes = superblock();
        bytes[2000] ^= 1;
        assert_eq!(parse(&bytes).unwrap().problems[0].kind, ProblemKind::Checksum);
        bytes[32..36].fill(0xff);
        assert_eq!(parse(&bytes).unwrap().problems[0].kind, ProblemKind::Field);
    }

    #[test]
    fn the_magic_alone_is_no_file_system() {
        let mut bytes = [0xa5; LENGTH];
        bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
        assert!(parse(&bytes).is_none());
    }
}
