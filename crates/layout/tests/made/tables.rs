//! Disks with tables of every kind, and changes of them that move no data.

use std::rc::Rc;

use device::{Disk, FileIdentity, MemoryDisk, NoFiles, disk};
use format::checksum::crc32;
use layout::{NewIds, TableChange, TableWrite};
use stack::assemble::{Start, StartKind, assemble};
use stack::{Condition, Stack};

use crate::made::crash_model::Sizes;

pub(crate) const DISK_BYTES: u64 = 4 << 20;

const FULL: Sizes = Sizes { logical: 512, physical: 512 };
const EMULATED: Sizes = Sizes { logical: 512, physical: 4096 };
const NATIVE: Sizes = Sizes { logical: 4096, physical: 4096 };

/// A change, the disk before it, and the drives on which it is tried.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) disk: MemoryDisk,
    pub(crate) change: TableChange,
    pub(crate) drives: &'static [Sizes],
    pub(crate) is_mbr: bool,
}

pub(crate) fn stack_of(disk: &MemoryDisk, on: &Condition) -> Stack {
    let identity = FileIdentity { device: 0, inode: 0 };
    let kind = StartKind::File { path: b"disk".to_vec(), identity };
    let bytes: Rc<dyn Disk> = Rc::new(disk.clone());
    let start = Start { kind, name: "disk".to_owned(), bytes: Some(Ok(bytes)) };
    assemble(vec![start], &NoFiles, Some(on)).stack
}

/// The plan's change of `disk`, which must be one.
pub(crate) fn planned(disk: &MemoryDisk, on: &str) -> TableChange {
    let on: Condition = on.parse().expect("a condition");
    let stack = stack_of(disk, &on);
    let judgments = stack::judge::judge_all(&stack);
    let case = stack::rule::RuleInput { stack: &stack, judgments: &judgments, told: Some(&on) };
    let id = layout::disk_of(&stack, None).expect("there is a table");
    let plan = layout::plan(&case, id).expect("there is a plan");
    assert!(!plan.is_empty(), "{plan:#?}");
    TableChange::of(&plan, disk).expect("its bytes are read")
}

fn le(bytes: &mut [u8], at: usize, value: u64, length: usize) {
    bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
}

/// Entries of an MBR, or of a record: slot, type, start and length in sectors.
pub(crate) fn record(disk: &mut MemoryDisk, at: u64, entries: &[(u64, u8, u64, u64)]) {
    for &(slot, code, start, length) in entries {
        let entry = at + 446 + 16 * slot;
        disk.put(entry + 4, &[code]);
        disk.put(entry + 8, &start.to_le_bytes()[..4]);
        disk.put(entry + 12, &length.to_le_bytes()[..4]);
    }
    disk.put(at + 510, &[0x55, 0xaa]);
}

/// A disk whose GPT lists `parts`, each its first and its last sector.
pub(crate) fn gpt(sector: u64, parts: &[(u64, u64)]) -> MemoryDisk {
    let mut disk = MemoryDisk::new(DISK_BYTES);
    let rows = 16384 / sector;
    let last = DISK_BYTES / sector - 1;
    let mut entries = vec![0; 16384];
    for (index, &(first, end)) in parts.iter().enumerate() {
        let entry = &mut entries[index * 128..][..128];
        entry[..32].fill(0x11 + u8::try_from(index).expect("few"));
        le(entry, 32, first, 8);
        le(entry, 40, end, 8);
        entry[56] = b'a';
    }
    for (own, other, at) in [(1, last, 2), (last, 1, last - rows)] {
        let mut header = vec![0; 92];
        header[..12].copy_from_slice(b"EFI PART\0\0\x01\0");
        let fields = [(24, own), (32, other), (40, 2 + rows), (48, last - rows - 1), (72, at)];
        fields.iter().for_each(|&(place, value)| le(&mut header, place, value, 8));
        header[56..72].fill(0x77);
        for (place, value) in [(12, 92), (80, 128), (84, 128), (88, crc32(&entries).into())] {
            le(&mut header, place, value, 4);
        }
        let crc = crc32(&header);
        le(&mut header, 16, crc.into(), 4);
        disk.put(own * sector, &header);
        disk.put(at * sector, &entries);
    }
    record(&mut disk, 0, &[(0, 0xee, 1, last)]);
    disk
}

/// Logical partitions in records, each: the record's sector, and the partition's first and count.
fn logical(
    primary: &[(u64, u8, u64, u64)],
    extended: (u64, u64),
    parts: &[[u64; 3]],
) -> MemoryDisk {
    let mut disk = MemoryDisk::new(DISK_BYTES);
    let all = [primary, &[(3, 5, extended.0, extended.1)]].concat();
    record(&mut disk, 0, &all);
    for (index, &[at, first, count]) in parts.iter().enumerate() {
        let mut entries = vec![(0, 0x83, first - at, count)];
        if let Some(&[next, start, length]) = parts.get(index + 1) {
            entries.push((1, 5, next - extended.0, start + length - next));
        }
        record(&mut disk, at * 512, &entries);
    }
    disk
}

/// The first table of a blank disk.
pub(crate) fn first(on: &str) -> (MemoryDisk, TableChange) {
    let disk = MemoryDisk::new(DISK_BYTES);
    let stack = stack_of(&disk, &on.parse().expect("a condition"));
    let id = stack.iter().map(|(id, _)| id).next().expect("one layer");
    let ids = NewIds { disk: [0x21; 16], partition: [0x43; 16] };
    let (change, range) = layout::new_table(&stack, id, ids).expect("there is room");
    assert!(range.length_bytes() > DISK_BYTES / 2, "{range:?}");
    (disk, change)
}

/// A FAT12 of 512-byte sectors with one file of 5000 bytes, 64 KiB long.
pub(crate) fn fat() -> Vec<u8> {
    let mut bytes = vec![0; 64 << 10];
    bytes[..11].copy_from_slice(b"\xeb\x3c\x90straddle");
    let fields = [(11, 512, 2), (13, 1, 1), (14, 1, 2), (16, 2, 1), (17, 16, 2), (19, 128, 2)];
    fields.iter().for_each(|&(at, value, length)| le(&mut bytes, at, value, length));
    [(21, 0xf8, 1), (22, 1, 2)].iter().for_each(|&(at, v, n)| le(&mut bytes, at, v, n));
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    for table in [512, 1024] {
        for cluster in 0..12_usize {
            let value: u64 = match cluster {
                0 => 0xff8,
                1 | 11 => 0xfff,
                _ => cluster as u64 + 1,
            };
            let at = table + cluster + cluster / 2;
            let shift = if cluster % 2 == 0 { 0 } else { 4 };
            let pair = u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
            le(&mut bytes, at, pair | value << shift, 2);
        }
    }
    bytes[1536..1547].copy_from_slice(b"FILE    BIN");
    le(&mut bytes, 1536 + 26, 2, 2);
    le(&mut bytes, 1536 + 28, 5000, 4);
    (0..5000).for_each(|at| bytes[2048 + at] = (at % 251).to_le_bytes()[0]);
    bytes
}

/// A disk with that FAT, and its conversion to 4096-byte sectors.
pub(crate) fn converted() -> (MemoryDisk, TableChange) {
    let mut disk = gpt(512, &[(256, 383), (1024, 4095)]);
    disk.put(128 << 10, &fat());
    let on = "512n".parse().expect("a condition");
    let stack = stack_of(&disk, &on);
    let judgments = stack::judge::judge_all(&stack);
    let case = stack::rule::RuleInput { stack: &stack, judgments: &judgments, told: Some(&on) };
    let id = layout::disk_of(&stack, None).expect("there is a table");
    let wanted = layout::WantedTable { sector_bytes: 4096, disk_bytes: DISK_BYTES };
    let plan = layout::rescaled(&case, id, wanted).expect("there is a plan");
    let range = units::ByteRange::new(128 << 10, 64 << 10).expect("a range");
    let volume: Rc<dyn Disk> = Rc::new(device::Window::new(disk.clone(), range));
    let fat = layout::RebuiltFat::new(&volume, 4096).expect("it fits");
    assert_eq!((fat.files, fat.content_bytes), (1, 5000));
    let writes = fat.writes(&volume, 128 << 10, "FAT", 1 << 20).expect("few");
    let change = TableChange::of(&plan, &disk).expect("its bytes are read");
    (disk, change.rebuilding(1, &fat.sources(128 << 10), writes))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut put = |name, (disk, change), drives, is_mbr| {
        all.push(Case { name, disk, change, drives, is_mbr });
    };
    let change = |disk: MemoryDisk, on| {
        let change = planned(&disk, on);
        (disk, change)
    };
    put("a blank disk", first("512e"), &[FULL, EMULATED], false);
    put("a blank disk of 4096-byte sectors", first("4Kn"), &[NATIVE], false);
    let odd = gpt(512, &[(63, 1000), (1001, 3000), (3003, 4001)]);
    put("a GPT whose partitions are empty", change(odd.clone(), "512e"), &[FULL, EMULATED], false);
    let mut hybrid = odd;
    record(&mut hybrid, 0, &[(0, 0xee, 1, 62), (1, 0x83, 63, 938), (2, 0x82, 1001, 2000)]);
    put("a hybrid MBR", change(hybrid, "512e"), &[FULL, EMULATED], false);
    let aligned = gpt(512, &[(256, 1023), (1024, 4095)]);
    put("a table for 4096-byte sectors", change(aligned, "4Kn"), &[NATIVE], false);
    put("a conversion with a FAT", converted(), &[NATIVE], false);
    let native = gpt(4096, &[(33, 100), (120, 800)]);
    put("a GPT of 4096-byte sectors", change(native, "granule=16K"), &[NATIVE], false);
    let mut mbr = MemoryDisk::new(DISK_BYTES);
    record(&mut mbr, 0, &[(0, 0x83, 63, 1000), (1, 0x82, 1063, 2000)]);
    put("an MBR", change(mbr, "512e"), &[FULL, EMULATED], true);
    let chain = logical(
        &[(0, 0x83, 64, 936)],
        (1000, 6000),
        &[[1000, 1063, 1001], [2100, 2163, 1002], [4100, 4163, 1003]],
    );
    put("logical partitions", change(chain, "512e"), &[FULL, EMULATED], true);
    all
}

/// The order of GNU parted, which flushes at the end alone, and that of sgdisk, which does too.
///
/// Source: traces of parted 3.5 and gdisk 1.0.9.
pub(crate) fn other_orders(change: &TableChange) -> [(&'static str, Vec<TableWrite>); 2] {
    let named = |words: &[&str]| -> Vec<TableWrite> {
        let find = |word: &&str| change.writes.iter().find(|one| one.what.contains(*word)).cloned();
        words.iter().filter_map(find).collect()
    };
    [
        (
            "parted",
            named(&["MBR", "primary GPT h", "primary GPT e", "backup GPT h", "backup GPT e"]),
        ),
        (
            "sgdisk",
            named(&["backup GPT e", "backup GPT h", "primary GPT e", "primary GPT h", "MBR"]),
        ),
    ]
}

/// The bytes of the disk that the writes of `change` cover.
pub(crate) fn bytes_of(disk: &dyn Disk, change: &TableChange) -> Vec<Vec<u8>> {
    let read = |one: &TableWrite| {
        disk::read_vec(disk, one.at_bytes, disk::length_of(&one.new)).unwrap_or_default()
    };
    change.writes.iter().map(read).collect()
}

/// True if one copy of a GPT for these sectors is whole by its checksums: damaged ones are shown
/// too, as far as they can be read.
pub(crate) fn has_sound_copy(disk: &dyn Disk, sector: u64) -> bool {
    let last = disk.length_bytes() / sector - 1;
    [1, last].iter().any(|lba| {
        let Ok(mut header) = disk::read_vec(disk, lba * sector, 92) else { return false };
        let number = |bytes: &[u8], at: usize| {
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
        };
        let (sum, at) = (header[16..20].to_vec(), number(&header, 72));
        header[16..20].fill(0);
        let is_whole = header.starts_with(b"EFI PART") && sum == crc32(&header).to_le_bytes();
        let entries = disk::read_vec(disk, at.wrapping_mul(sector), 16384);
        is_whole && entries.is_ok_and(|bytes| header[88..92] == crc32(&bytes).to_le_bytes())
    })
}
