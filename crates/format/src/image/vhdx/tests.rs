//! Claims about the reader of `vhdx`, on bytes made by hand.

use super::super::{GuestExtent, ReferenceRole};
use super::*;
use device::MemoryDisk;
use uuid::Uuid;

fn guid(text: &str) -> [u8; 16] {
    Uuid::parse_str(text).unwrap().to_bytes_le()
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crate::checksum::CRC32C.checksum(&bytes);
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn header(sequence: u64, log: u8) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    bytes[..4].copy_from_slice(b"head");
    bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
    bytes[48..64].fill(log);
    bytes[66] = 1;
    sealed(bytes)
}

fn regions() -> Vec<u8> {
    let mut bytes = vec![0; 65536];
    bytes[..4].copy_from_slice(b"regi");
    bytes[8] = 2;
    let entries = [
        ("2dc27766-f623-4200-9d64-115e9bfd4a08", 2 * MIB),
        ("8b7ca206-4790-4b9a-b8fe-575f050f886e", 3 * MIB),
    ];
    for (number, (name, offset)) in entries.iter().enumerate() {
        let at = 16 + 32 * number;
        bytes[at..at + 16].copy_from_slice(&guid(name));
        bytes[at + 16..at + 24].copy_from_slice(&offset.to_le_bytes());
        bytes[at + 24..at + 28].copy_from_slice(&0x10_0000_u32.to_le_bytes());
        bytes[at + 28] = 1;
    }
    sealed(bytes)
}

/// An item of the metadata: its identifier, its place, its bytes.
fn put_item(disk: &mut MemoryDisk, number: u64, name: &str, bytes: &[u8]) {
    let (entry, offset) = (3 * MIB + 32 + 32 * number, 65536 + 4096 * number);
    disk.put(3 * MIB + 10, &[u8::try_from(number + 1).unwrap()]);
    disk.put(entry, &guid(name));
    disk.put(entry + 16, &u32::try_from(offset).unwrap().to_le_bytes());
    disk.put(entry + 20, &u32::try_from(bytes.len()).unwrap().to_le_bytes());
    disk.put(entry + 24, &4_u32.to_le_bytes());
    disk.put(3 * MIB + offset, bytes);
}

/// A differencing disk of 8 GiB with blocks of 1 MiB and sectors of 512 bytes: 4096 blocks to a
/// chunk.
fn differencing() -> MemoryDisk {
    let mut disk = MemoryDisk::new(8 * MIB);
    disk.put(0, IDENTIFIER);
    disk.put(64 << 10, &header(1, 0));
    disk.put(128 << 10, &header(2, 0));
    disk.put(192 << 10, &regions());
    disk.put(256 << 10, &regions());
    disk.put(3 * MIB, b"metadata");
    put_item(
        &mut disk,
        0,
        "caa16737-fa36-4d43-b3b6-33f0aa44e76b",
        &(MIB | (2 << 32)).to_le_bytes(),
    );
    put_item(&mut disk, 1, "2fa54224-cd1b-4876-b211-5dbed83bf4b8", &(8_u64 << 30).to_le_bytes());
    put_item(&mut disk, 2, "8141bf1d-a96f-4709-ba47-f233a8faab5f", &512_u32.to_le_bytes());
    put_item(&mut disk, 3, "cda348c7-445d-4471-9cc9-e9885251c556", &4096_u32.to_le_bytes());
    let mut locator = guid("b04aefb7-d19e-4a81-b789-25b8e9445913").to_vec();
    locator.extend([0, 0, 1, 0]);
    for number in [32_u32, 58] {
        locator.extend(number.to_le_bytes());
    }
    locator.extend([26, 0, 6, 0]);
    locator.extend("relative_pathp.x".encode_utf16().flat_map(u16::to_le_bytes));
    put_item(&mut disk, 4, "a8d35f2d-b30b-454d-abf7-d3d84834ab0c", &locator);
    disk
}

/// Sets entry number `index` of the block table.
fn put_entry(disk: &mut MemoryDisk, index: u64, entry: u64) {
    disk.put(2 * MIB + 8 * index, &entry.to_le_bytes());
}

fn place(disk: &MemoryDisk, address: u64) -> Result<(GuestPlace, u64), device::ReadError> {
    let image = super::super::read(disk).unwrap().value;
    let extent: GuestExtent = image.locate(disk, address)?.unwrap();
    Ok((extent.place, extent.guest.length_bytes()))
}

#[test]
fn the_header_says_sizes_sectors_and_parent() {
    let parsed = super::super::read(&differencing()).unwrap();
    assert_eq!(parsed.problems, []);
    let image = parsed.value;
    assert_eq!((image.virtual_bytes, image.block_bytes), (8 << 30, Some(MIB)));
    assert_eq!(image.logical_sector_bytes, Some(512));
    assert_eq!(image.physical_sector_bytes, Some(4096));
    assert_eq!(image.references[0].role, ReferenceRole::Backing);
    assert_eq!(image.references[0].path.to_string(), "p.x");
}

#[test]
fn blocks_behind_the_first_chunk_skip_the_entry_of_its_bitmap() {
    let mut disk = differencing();
    put_entry(&mut disk, 4095, 6 | (5 * MIB));
    put_entry(&mut disk, 4097, 6 | (6 * MIB));
    assert_eq!(place(&disk, (4095 << 20) + 9), Ok((GuestPlace::Here(5 * MIB + 9), MIB - 9)));
    assert_eq!(place(&disk, 4096 << 20), Ok((GuestPlace::Here(6 * MIB), MIB)));
}

#[test]
fn sectors_of_a_partly_present_block_are_here_or_in_the_parent() {
    let mut disk = differencing();
    put_entry(&mut disk, 1, 7 | (5 * MIB));
    put_entry(&mut disk, 4096, 6 | (6 * MIB));
    // The second block's bits follow the 2048 of the first; the first sector is the lowest bit.
    disk.put(6 * MIB + 256, &[0b0000_0110]);
    assert_eq!(place(&disk, MIB).unwrap().0, GuestPlace::Backing);
    assert_eq!(place(&disk, MIB + 512), Ok((GuestPlace::Here(5 * MIB + 512), 1024)));
    assert_eq!(place(&disk, MIB + 1536).unwrap().0, GuestPlace::Backing);
    put_entry(&mut disk, 4096, 0);
    assert!(place(&disk, MIB).is_err(), "without its bitmap nothing is known");
}

#[test]
fn states_are_zero_elsewhere_or_errors() {
    let mut disk = differencing();
    for (index, state) in [0, 1, 2, 3, 4, 5, 6].into_iter().enumerate() {
        put_entry(&mut disk, u64::try_from(index).unwrap(), state);
    }
    let places: Vec<_> = (0..7).map(|block| place(&disk, block << 20).ok()).collect();
    let is = |block: usize, expected| places[block].map(|(place, _)| place) == expected;
    assert!(is(0, Some(GuestPlace::Backing)));
    assert!((1..4).all(|block| is(block, Some(GuestPlace::Zero))));
    assert!((4..7).all(|block| is(block, None)), "reserved, or on the headers");
}

#[test]
fn only_the_log_of_the_newest_header_is_replayed() {
    let mut disk = differencing();
    disk.put(64 << 10, &header(1, 7));
    assert_eq!(super::super::read(&disk).unwrap().problems, []);
    disk.put(64 << 10, &header(3, 7));
    assert!(matches!(super::super::read(&disk).unwrap().value.layout, ImageLayout::Unknown(_)));
}

/// An entry of the log of 64 KiB at 1 MiB, at sector `at` of it: its sequence number, the sector of
/// its tail, zeroed ranges, and sectors filled with a byte.
fn put_log(
    disk: &mut MemoryDisk,
    at: u64,
    (number, tail): (u64, u32),
    zeros: &[(u64, u64)],
    filled: &[(u64, u8)],
) {
    let mut entry = vec![0; 4096];
    entry[..4].copy_from_slice(b"loge");
    let sectors = 1 + u32::try_from(filled.len()).unwrap();
    entry[8..12].copy_from_slice(&(sectors * 4096).to_le_bytes());
    entry[12..16].copy_from_slice(&(tail * 4096).to_le_bytes());
    entry[16..24].copy_from_slice(&number.to_le_bytes());
    entry[24] = u8::try_from(zeros.len() + filled.len()).unwrap();
    entry[32..48].fill(7);
    entry[48..56].copy_from_slice(&(8 * MIB).to_le_bytes());
    entry[56..64].copy_from_slice(&(16 * MIB).to_le_bytes());
    let zeros =
        zeros.iter().map(|&(place, length)| (*b"zero", [0; 4], length.to_le_bytes(), place));
    let data = filled.iter().map(|&(place, byte)| (*b"desc", [byte; 4], [byte; 8], place));
    for (index, (mark, end, middle, place)) in zeros.chain(data).enumerate() {
        let from = 64 + 32 * index;
        entry[from..from + 4].copy_from_slice(&mark);
        entry[from + 4..from + 8].copy_from_slice(&end);
        entry[from + 8..from + 16].copy_from_slice(&middle);
        entry[from + 16..from + 24].copy_from_slice(&place.to_le_bytes());
        entry[from + 24..from + 32].copy_from_slice(&number.to_le_bytes());
    }
    for &(_, byte) in filled {
        let mut sector = [byte; 4096];
        sector[..4].copy_from_slice(b"data");
        sector[4..8].fill(0);
        sector[4092..].copy_from_slice(&number.to_le_bytes()[..4]);
        entry.extend(sector);
    }
    let entry = sealed(entry);
    for (index, sector) in entry.chunks(4096).enumerate() {
        let sector_at = (at + u64::try_from(index).unwrap()) % 16;
        disk.put(MIB + 4096 * sector_at, sector);
    }
}

fn logged() -> MemoryDisk {
    let mut disk = differencing();
    let mut newest = header(3, 7);
    newest[68..80].copy_from_slice(&[0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0]);
    newest[4..8].fill(0);
    disk.put(64 << 10, &sealed(newest));
    disk
}

fn reason(disk: &MemoryDisk) -> String {
    match super::super::read(disk).unwrap().value.layout {
        ImageLayout::Unknown(reason) => reason,
        _ => String::new(),
    }
}

#[test]
fn entries_of_the_log_are_replayed_in_their_order() {
    let mut disk = logged();
    put_entry(&mut disk, 512, 6 | (5 * MIB));
    put_log(&mut disk, 14, (4, 14), &[(2 * MIB + 4096, 4096)], &[(2 * MIB, 0x66)]);
    put_log(&mut disk, 0, (5, 14), &[(2 * MIB, 8192)], &[(2 * MIB + 8192, 0x06)]);
    let parsed = super::super::read(&disk).unwrap();
    assert_eq!(
        parsed.problems.iter().map(|one| one.kind).collect::<Vec<_>>(),
        [ProblemKind::Unreplayed]
    );
    assert_eq!(place(&disk, 0).unwrap().0, GuestPlace::Backing, "a later entry zeroed it");
    assert_eq!(place(&disk, 512 << 20).unwrap().0, GuestPlace::Backing);
    assert!(place(&disk, 1024 << 20).is_err(), "a block far past the end of the file");
}

#[test]
fn a_replay_makes_the_file_as_long_as_the_log_says() {
    let mut disk = logged();
    put_log(&mut disk, 0, (1, 0), &[], &[(2 * MIB + 4096, 0)]);
    put_entry(&mut disk, 0, 6 | (12 * MIB));
    assert_eq!(place(&disk, 0).unwrap().0, GuestPlace::Here(12 * MIB));
    let image = super::super::read(&disk).unwrap().value;
    let guest = crate::image::guest::Guest::new(&image, &disk, vec![None]);
    assert_eq!(device::disk::read_array::<16>(&guest, 0).unwrap(), [0; 16]);
}

#[test]
fn a_torn_entry_after_the_last_one_is_left_out_as_a_writer_does() {
    let mut disk = logged();
    put_log(&mut disk, 0, (1, 0), &[(2 * MIB, 4096)], &[]);
    put_log(&mut disk, 1, (2, 0), &[], &[(2 * MIB, 0x33)]);
    disk.put(MIB + 4096 * 2 + 100, &[1]);
    assert_eq!(reason(&disk), "");
    assert_eq!(place(&disk, 0).unwrap().0, GuestPlace::Backing);
}

#[test]
fn a_log_that_cannot_be_replayed_makes_places_unknown() {
    let of = |change: &dyn Fn(&mut MemoryDisk)| {
        let mut disk = logged();
        change(&mut disk);
        reason(&disk)
    };
    let empty = of(&|_| ());
    assert_eq!(empty, "the log must be replayed, and holds no complete entry");
    let tailless = of(&|disk| put_log(disk, 3, (9, 1), &[], &[]));
    assert_eq!(tailless, empty, "the entries before it are missing");
    let gap = of(&|disk| {
        put_log(disk, 0, (1, 0), &[], &[]);
        put_log(disk, 2, (3, 0), &[], &[]);
    });
    assert_eq!(gap, "the log must be replayed, and lacks the entries before 3");
    let odd = of(&|disk| put_log(disk, 0, (1, 0), &[(2 * MIB + 512, 4096)], &[]));
    assert_eq!(odd, "the log must be replayed, and its entry 1 is damaged");
    let short = of(&|disk| {
        put_log(disk, 0, (1, 0), &[], &[]);
        *disk = MemoryDisk::with_head(7 * MIB, &device::disk::read_vec(disk, 0, 4 * MIB).unwrap());
    });
    assert_eq!(short, "the log must be replayed, and the file has 7340032 bytes of 8388608");
}

#[test]
fn one_damaged_header_and_one_damaged_region_table_are_told_and_the_others_used() {
    let mut disk = differencing();
    disk.put((128 << 10) + 100, &[1]);
    disk.put((192 << 10) + 100, &[1]);
    let parsed = super::super::read(&disk).unwrap();
    let kinds: Vec<_> = parsed.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Checksum; 2]);
    assert!(matches!(parsed.value.layout, ImageLayout::Vhdx(_)));
    disk.put((256 << 10) + 100, &[1]);
    assert!(matches!(super::super::read(&disk).unwrap().value.layout, ImageLayout::Unknown(_)));
}
