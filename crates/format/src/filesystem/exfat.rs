//! exFAT: a boot region of twelve sectors, the last of which repeats the checksum of the others.
//!
//! Source: Microsoft's exFAT specification, section 3 "Main and Backup Boot Regions" and 7.3
//! "Volume Label Directory Entry".

use device::disk;
use units::DiskText;

use super::field::{bytes_text, holding, not_empty, power, serial_text};
use super::found::Found;
use crate::bytes::{Block, block_at};
use crate::heads::Heads;
use crate::{Problem, ProblemKind};

const MAGIC: &[u8] = b"EXFAT   ";
const SECTOR_BYTES_MAX: u64 = 4096;
const CLUSTER_BYTES_MAX: u64 = 1 << 25;
/// Sectors under the checksum; it stands in the next.
const SUMMED_SECTORS: u64 = 11;
/// Bytes that change while mounted, so the checksum leaves them out: volume flags, percent in use.
const UNSUMMED: [usize; 3] = [106, 107, 112];
/// Bytes of the root directory that are searched for the label: it comes first.
const ROOT_BYTES_MAX: u64 = 4096;

/// The file system whose boot region stands at the start.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(3, MAGIC) {
        return None;
    }
    let block = heads.block::<512>(0)?;
    if !plausible(&block) {
        return None;
    }
    let mut found = Found::of("exfat");
    let [minor, major] = block.array::<104, 2>();
    found.value.variant = Some(format!("{major}.{minor}"));
    found.value.id = serial_text(block.le32::<100>());
    let shift = block.byte::<108>();
    let Some(sector_bytes) = power(shift, 512..=SECTOR_BYTES_MAX) else {
        found.wrong_field(108, format!("sector of 1 << {shift} bytes"));
        return Some(found);
    };
    found.value.sector_bytes = Some(sector_bytes);
    verify(heads, sector_bytes, &mut found);
    read_layout(heads, &block, sector_bytes, &mut found);
    Some(found)
}

/// The name is eight bytes; some of what must stand beside it has to.
fn plausible(block: &Block<512>) -> bool {
    holding(&[
        block.array::<11, 53>().iter().all(|&byte| byte == 0),
        matches!(block.byte::<108>(), 9..=12),
        block.byte::<109>() <= 16,
        matches!(block.byte::<110>(), 1 | 2),
        block.le16::<510>() == 0xaa55,
    ]) >= 3
}

/// Compares the checksum with the first of its copies.
fn verify(heads: &Heads<'_>, sector_bytes: u64, found: &mut Found) {
    let at = SUMMED_SECTORS * sector_bytes;
    let region = match disk::read_vec(heads.disk(), 0, at + sector_bytes) {
        Ok(region) => region,
        Err(error) => {
            found.problems.push(Problem::unreadable("boot region of exFAT", 0, &error));
            return;
        }
    };
    let (summed, stored) = region.split_at(region.len() - region.len().div_ceil(12));
    let stored = block_at::<4>(stored, 0).map_or(0, |stored| stored.le32::<0>());
    found.compare_checksums(at, stored, checksum(summed));
}

/// Section 3.4 of the specification: turn right by one bit, add the next byte.
fn checksum(bytes: &[u8]) -> u32 {
    let summed = bytes.iter().enumerate().filter(|(at, _)| !UNSUMMED.contains(at));
    summed.fold(0, |sum: u32, (_, &byte)| sum.rotate_right(1).wrapping_add(u32::from(byte)))
}

fn read_layout(heads: &Heads<'_>, block: &Block<512>, sector_bytes: u64, found: &mut Found) {
    found.set_size(heads, 72, block.le64::<72>(), sector_bytes);
    let offset = block.le64::<64>().checked_mul(sector_bytes);
    found.value.partition_offset_bytes = offset.filter(|&bytes| bytes != 0);
    if offset.is_none() {
        found.wrong_field(64, format!("partition at sector {}", block.le64::<64>()));
    }
    let heap = u64::from(block.le32::<88>()) * sector_bytes;
    found.value.data_offset_bytes = heap;
    if found.value.size_bytes.is_some_and(|size| heap >= size) {
        let detail = format!("cluster heap at {heap} is past the end of the file system");
        found.problems.push(Problem::new(ProblemKind::Outside, 88, detail));
    }
    let table = u64::from(block.le32::<80>()) * sector_bytes;
    found.note("table of clusters at", bytes_text(table));
    found.note("clusters", block.le32::<92>().to_string());
    let shift = block.byte::<109>();
    let cluster =
        power(shift, 1..=CLUSTER_BYTES_MAX).and_then(|sectors| power_within(sectors, sector_bytes));
    let Some(cluster_bytes) = cluster else {
        found.wrong_field(109, format!("cluster of 1 << {shift} sectors"));
        return;
    };
    found.value.block_bytes = Some(cluster_bytes);
    let before = u64::from(block.le32::<96>()).checked_sub(2);
    match before.and_then(|clusters| clusters.checked_mul(cluster_bytes)?.checked_add(heap)) {
        Some(root) => found.value.label = root_label(heads, root, cluster_bytes),
        None => found.wrong_field(96, format!("root directory in cluster {}", block.le32::<96>())),
    }
}

fn power_within(sectors: u64, sector_bytes: u64) -> Option<u64> {
    sectors.checked_mul(sector_bytes).filter(|&bytes| bytes <= CLUSTER_BYTES_MAX)
}

/// The label, which is an entry of the root directory: a length, then UTF-16.
fn root_label(heads: &Heads<'_>, root: u64, cluster_bytes: u64) -> Option<DiskText> {
    let mut buffer = [0; 4096];
    let length = usize::try_from(cluster_bytes.min(ROOT_BYTES_MAX)).ok()?;
    let entries = buffer.get_mut(..length)?;
    heads.read(root, entries).ok()?;
    let (entries, _) = entries.as_chunks::<32>();
    let mut entries = entries.iter().take_while(|entry| entry[0] != 0);
    let entry = entries.find(|entry| entry[0] == 0x83)?;
    let length = usize::from(entry[1]).min(11);
    not_empty(DiskText::from_utf16le(&entry[2..2 + 2 * length]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryDisk;

    /// 64 MiB in clusters of 32 KiB from 2 MiB on, in a partition at 1 MiB.
    fn region() -> [u8; 12 * 512] {
        let mut bytes = [0; 12 * 512];
        bytes[..11].copy_from_slice(b"\xeb\x76\x90EXFAT   ");
        let fields = [(64, 2048), (72, 131_072), (80, 2048), (84, 64), (88, 4096), (92, 1984)];
        for (at, value) in fields.into_iter().chain([(96, 4), (100, 0x1234_5678)]) {
            let value: u32 = value;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[105] = 1;
        bytes[108..111].copy_from_slice(&[9, 6, 1]);
        bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
        let sum = checksum(&bytes[..11 * 512]);
        bytes[11 * 512..11 * 512 + 4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Found> {
        let mut disk = MemoryDisk::with_head(64 << 20, bytes);
        disk.put((2 << 20) + 65536, b"\x83\x04d\0a\0t\0a\0");
        read(&Heads::new(&disk))
    }

    #[test]
    fn the_cluster_heap_and_the_partition_are_given_in_bytes() {
        let found = parse(&region()).unwrap();
        assert_eq!(found.problems, []);
        let system = found.value;
        assert_eq!((system.data_offset_bytes, system.block_bytes), (2 << 20, Some(32768)));
        assert_eq!(system.partition_offset_bytes, Some(1 << 20));
        assert_eq!(system.id.as_deref(), Some("1234-5678"));
        assert_eq!(system.label, Some(DiskText::from("data")));
        assert_eq!(system.variant.as_deref(), Some("1.0"));
    }

    #[test]
    fn flags_may_change_and_anything_else_breaks_the_checksum() {
        let mut bytes = region();
        bytes[106] = 2;
        bytes[112] = 50;
        assert_eq!(parse(&bytes).unwrap().problems, []);
        bytes[3000] = 1;
        assert_eq!(parse(&bytes).unwrap().problems[0].kind, ProblemKind::Checksum);
    }

    #[test]
    fn shifts_beyond_the_bounds_leave_sizes_unknown() {
        for (at, value) in [(108, 40), (109, 255)] {
            let mut bytes = region();
            bytes[at] = value;
            let found = parse(&bytes).unwrap();
            assert_eq!(found.value.block_bytes, None);
            assert!(found.problems.iter().any(|problem| problem.kind == ProblemKind::Field));
        }
    }
}
