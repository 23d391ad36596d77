//! The first table of a blank disk: a GPT with one partition, on the units of the disk.

use device::disk;
use format::checksum::crc32;
use stack::{LayerId, Stack};
use units::ByteRange;

use crate::new_disk_advice::span;
use crate::new_table_bytes::Region;
use crate::old_table_bytes::{entry_at, header_crc, put};
use crate::refusal::NoPlan;
use crate::table_change::{TableChange, TableWrite};

const ENTRIES: u64 = 128;
const ENTRY_BYTES: u64 = 128;
const HEADER_BYTES: u64 = 92;
/// Linux file system data, 0FC63DAF-8483-4772-8E79-3D69D8477DE4, as it is stored.
///
/// Source: the Discoverable Partitions Specification of the UAPI group.
const LINUX_DATA: [u8; 16] = [
    0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47, 0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
];

/// Random ids of a new table: any bytes, made into version 4 GUIDs.
#[derive(Clone, Copy, Debug)]
pub struct NewIds {
    /// That of the disk.
    pub disk: [u8; 16],
    /// That of the partition.
    pub partition: [u8; 16],
}

/// Returns the writes of a GPT with one partition for the blank disk on layer `disk`, and the
/// partition's range.
///
/// # Errors
/// When the disk is too small, or its length is not known.
pub fn new_table(
    stack: &Stack,
    disk: LayerId,
    ids: NewIds,
) -> Result<(TableChange, ByteRange), NoPlan> {
    let (sector, start, end) = span(stack, disk)?;
    let length = stack.layer(disk).length().unwrap_or(0);
    let small = || NoPlan::new("it is too small for a partition table", None);
    let range = end.checked_sub(start).and_then(|length| ByteRange::new(start, length));
    let range = range.filter(|range| range.length_bytes() >= sector).ok_or_else(small)?;
    let regions = first_regions(sector, length, (start, end), ids).ok_or_else(small)?;
    let bytes = stack.bytes(disk).ok_or_else(|| NoPlan::new("its bytes cannot be read", None))?;
    let write = |Region { what, at_bytes, new, .. }: Region| {
        let old = disk::read_vec(bytes.as_ref(), at_bytes, disk::length_of(&new))
            .map_err(|error| NoPlan::new(error.to_string(), None))?;
        Ok(TableWrite { what, at_bytes, old, new })
    };
    let writes = regions.into_iter().map(write).collect::<Result<Vec<_>, NoPlan>>()?;
    // All else is looked at when it is applied: it must be blank.
    let known = writes.iter().filter_map(TableWrite::range).collect();
    let change = TableChange {
        disk_bytes: length,
        old_sector_bytes: sector,
        new_sector_bytes: sector,
        known,
        writes,
        rebuilt: Vec::new(),
    };
    Ok((change, range))
}

/// Returns the GPT of a disk of `length` bytes with one partition from byte `start` to byte `end`,
/// in the order in which it is written; `None` where it has no room.
pub(crate) fn first_regions(
    sector: u64,
    length: u64,
    (start, end): (u64, u64),
    ids: NewIds,
) -> Option<[Region; 5]> {
    let rows = (ENTRIES * ENTRY_BYTES).div_ceil(sector);
    let last = length.div_euclid(sector).checked_sub(1)?;
    let usable_end = last.checked_sub(rows)?.checked_mul(sector)?;
    let is_within = start >= (2 + rows) * sector && end <= usable_end;
    if !is_within || end < start.checked_add(sector)? || !length.is_multiple_of(sector) {
        return None;
    }
    let index = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut entries = vec![0; index(rows * sector)];
    entries[..16].copy_from_slice(&LINUX_DATA);
    entries[16..32].copy_from_slice(&version_4(ids.partition));
    put(&mut entries, 32, 8, start.div_euclid(sector));
    put(&mut entries, 40, 8, end.div_euclid(sector) - 1);
    let entries_crc = crc32(&entries[..index(ENTRIES * ENTRY_BYTES)]);
    let header = |own: u64, other: u64, entries_at: u64| {
        let mut header = vec![0; index(sector)];
        header[..12].copy_from_slice(b"EFI PART\0\0\x01\0");
        header[56..72].copy_from_slice(&version_4(ids.disk));
        let fields = [(24, own), (32, other), (40, 2 + rows), (48, last - rows - 1)];
        for (at, value) in fields.into_iter().chain([(72, entries_at)]) {
            put(&mut header, at, 8, value);
        }
        let fields = [(12, HEADER_BYTES), (80, ENTRIES), (84, ENTRY_BYTES)];
        for (at, value) in fields.into_iter().chain([(88, entries_crc.into())]) {
            put(&mut header, at, 4, value);
        }
        let crc = header_crc(&header[..index(HEADER_BYTES)]);
        put(&mut header, 16, 4, crc.into());
        header
    };
    let mut mbr = vec![0; 512];
    let at = entry_at(0);
    mbr[at + 1..at + 8].copy_from_slice(&[0, 2, 0, 0xee, 0xff, 0xff, 0xff]);
    put(&mut mbr, at + 8, 4, 1);
    put(&mut mbr, at + 12, 4, last.min(u64::from(u32::MAX)));
    mbr[510..].copy_from_slice(&[0x55, 0xaa]);
    let region = |what: &str, at: u64, new: &[u8]| Region {
        what: what.to_owned(),
        at_bytes: at * sector,
        old: None,
        new: new.to_vec(),
    };
    Some([
        region("backup GPT entries", last - rows, &entries),
        region("backup GPT header", last, &header(last, 1, last - rows)),
        region("primary GPT entries", 2, &entries),
        region("primary GPT header", 1, &header(1, last, 2)),
        region("protective MBR", 0, &mbr),
    ])
}

/// Random bytes as a GUID of version 4, as it is stored.
fn version_4(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[7] = bytes[7] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
